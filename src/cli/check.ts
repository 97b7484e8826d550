import type { Command } from "commander";
import type { Config, FlowConfig } from "../config/config.ts";
import { durationText } from "../config/duration.ts";
import { addCommand, configured } from "./command.ts";
import { loadConfiguration } from "./configuration.ts";
import { counted, table } from "./table.ts";

/** Looks at files of this machine only: neither the platform nor an ERP is asked anything. */
export function check(program: Command): void {
  configured(
    addCommand(program, "check", "is the configuration right? (offline)", async ({ file }) => {
      const config = await loadConfiguration(file);
      const [{ openTables }, { expectState }] = await Promise.all([
        import("../config/crossref.ts"),
        import("./state.ts"),
      ]);
      expectState(config);
      const tables = openTables(config.crossReferences).check();
      return { data: summary(config, tables), text: inWords(config, tables) };
    }),
  );
}

const summary = (config: Config, tables: readonly string[]) => ({
  file: config.file,
  company: config.company,
  environment: config.platform.environment,
  platform: config.platform.url,
  state: config.state,
  endpoints: config.endpoints.map(({ name, connector }) => ({ name, connector: connector.name })),
  flows: config.flows,
  crossReferences: tables,
});

function inWords(config: Config, tables: readonly string[]): string {
  const { company, platform, flows } = config;
  return [
    `${config.file} is right.`,
    "",
    `company   ${company}, ${platform.environment} environment at ${platform.url}`,
    `state     ${config.state}`,
    `tables    ${tables.length === 0 ? "none" : tables.join(", ")} in ${config.crossReferences}`,
    `flows     ${counted(flows.length, "flow")}`,
    "",
    table(
      ["FLOW", "FROM", "TO", "WHEN", "MAPPING"],
      flows.map((flow) => [flow.name, end(flow.from), end(flow.to), when(flow), flow.mapping]),
    ),
  ].join("\n");
}

const end = ({ endpoint, name }: FlowConfig["from"]): string => `${endpoint}.${name}`;

export function when({ schedule, paused }: FlowConfig): string {
  if (paused) return "paused";
  return "cron" in schedule ? schedule.cron : `every ${durationText(schedule.everyMs)}`;
}
