import type { Command } from "commander";
import type { Config, FlowConfig } from "../config/config.ts";
import type { TableReport } from "../config/crossref.ts";
import { thisUser } from "../store/user.ts";
import { addCommand } from "./command.ts";
import { loadConfiguration } from "../app/configuration.ts";
import { counted, durationText, table } from "../views/table.ts";

/** Looks at files of this machine only: neither the platform nor an ERP is asked anything. */
export function check(program: Command): void {
  addCommand(program, "check", "is the configuration right? (offline)", async ({ file }) => {
    const config = await loadConfiguration(file, "site");
    const [{ openTables, separatorText }, { expectState, firstStartNote }] = await Promise.all([
      import("../config/crossref.ts"),
      import("../app/examine.ts"),
    ]);
    expectState(config);
    const tables = openTables(config.crossReferences).check();
    const texts = tables.map((table) => tableText(table, separatorText(table.separator)));
    const note = firstStartNote(config, Date.now());
    return {
      data: { ...summary(config, tables), ...(note === null ? {} : { note }) },
      text: inWords(config, texts, note),
    };
  });
}

const summary = (config: Config, tables: readonly TableReport[]) => ({
  file: config.file,
  company: config.company,
  environment: config.platform.environment,
  platform: config.platform.url,
  state: config.state,
  endpoints: config.endpoints.map(({ name, connector }) => ({ name, connector: connector.name })),
  flows: config.flows,
  crossReferences: tables.map(({ name }) => name),
  tables: tables.map(({ name, rows, separator }) => ({ name, rows, separator })),
});

function inWords(config: Config, tables: readonly string[], note: string | null): string {
  const { company, platform, flows } = config;
  return [
    `${config.file} is right.`,
    "",
    `company   ${company}, ${platform.environment} environment at ${platform.url}`,
    `state     ${config.state}`,
    `tables    ${tables.length === 0 ? "none" : tables.join(", ")} in ${config.crossReferences}`,
    `rights    as the user ${thisUser()} has them; the service's user may have others`,
    ...(note === null ? [] : [`note      ${note}`]),
    `flows     ${counted(flows.length, "flow")}`,
    "",
    table(
      ["FLOW", "FROM", "TO", "WHEN", "MAPPING"],
      flows.map((flow) => [flow.name, end(flow.from), target(flow), when(flow), flow.mapping]),
    ),
  ].join("\n");
}

/** `items (24 rows, separated by tabs)`: commas need no word. */
function tableText({ name, rows, separator }: TableReport, separatedBy: string): string {
  const separated = separator === "," ? "" : `, separated by ${separatedBy}`;
  return `${name} (${counted(rows, "row")}${separated})`;
}

const end = ({ endpoint, name }: FlowConfig["from"]): string => `${endpoint}.${name}`;

const target = ({ to, attach }: FlowConfig): string =>
  attach === undefined ? end(to) : `${end(to)} + ${attach}`;

export function when({ schedule, paused }: FlowConfig): string {
  if (paused) return "paused";
  if ("cron" in schedule) return schedule.cron;
  return "auto" in schedule ? "auto" : `every ${durationText(schedule.everyMs)}`;
}
