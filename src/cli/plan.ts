import type { Command } from "commander";
import { ConfigurationError } from "../core/errors.ts";
import type { Answer } from "./answer.ts";
import { askOf } from "../app/ask.ts";
import { addCommand } from "./command.ts";
import { loadConfiguration } from "../app/configuration.ts";
import type { DryRun, FlowPlan, Planned } from "../app/dry-run.ts";
import { counted, table } from "../views/table.ts";

/** A dry run: what would be written to both sides; nothing is sent, and no position moves. */
export function plan(program: Command): void {
  addCommand(
    program,
    "plan [flow]",
    "what the next run would write to both sides, field by field; nothing is sent",
    ({ file, args: [flow], options }) =>
      planned(file, flow ?? null, options["stored"] === undefined),
  ).option("--stored", "read no source: only what is stored and waits");
}

/** @throws ConfigurationError when there is no such flow */
async function planned(file: string, flow: string | null, read: boolean): Promise<Answer> {
  const config = await loadConfiguration(file);
  if (flow !== null && !config.flows.some(({ name }) => name === flow))
    throw new ConfigurationError(
      `${config.file} has no flow "${flow}".`,
      `Flows: ${config.flows.map(({ name }) => name).join(", ")}.`,
    );
  const { dryRun } = await import("../app/dry-run.ts");
  const found = await askOf(
    config,
    async (office) => dryRun(config, office, (await office.backup()).file, { flow, read }),
    "plan",
  );
  return { data: found, text: inWords(found, read) };
}

/** Documents that are shown with all their fields; `--json` has all. */
const SHOWN_MAX = 50;

function inWords({ flows, writes, requests }: DryRun, read: boolean): string {
  const rows = flows.map((flow) => [
    flow.flow,
    flow.to,
    String(flow.creates),
    String(flow.changes),
    String(flow.nothing),
    String(flow.quarantined.reduce((sum, { count }) => sum + count, 0)),
  ]);
  const shown = writes.slice(0, SHOWN_MAX);
  return [
    "Nothing was sent, and nothing is stored of this.",
    read
      ? `The sources were read, for ${counted(requests, "request")} to the platform.`
      : "No source was read: this is about what is stored and waits.",
    "",
    table(["FLOW", "TO", "NEW", "CHANGED", "NOTHING", "PERSON"], rows),
    ...(rows.some(([, , creates]) => creates !== "0")
      ? [
          "NEW: not delivered by fuelbridge yet. What its receiver has already is found there and linked.",
        ]
      : []),
    ...flows.flatMap(reasons),
    ...shown.flatMap(documentInWords),
    ...(writes.length > SHOWN_MAX
      ? ["", `${writes.length - SHOWN_MAX} more documents; --json has them all.`]
      : []),
  ].join("\n");
}

const reasons = ({ flow, trouble, quarantined }: FlowPlan): string[] => [
  ...(trouble === null ? [] : ["", `${flow} could not be read: ${trouble}`]),
  ...(quarantined.length === 0 ? [] : [""]),
  ...quarantined.map(({ cause, count }) => `${flow}: ${count} would be with a person: ${cause}`),
];

function documentInWords({ flow, to, number, what, fields }: Planned): string[] {
  const side = to === "erp" ? "the ERP" : "the platform";
  const head = `${flow} ${number}: ${what} on ${side}`;
  if (fields === null) return ["", `${head}, as a file or together with others`];
  if (fields.length === 0) return ["", `${head}: no field differs`];
  const rows = fields.map(({ field, before, now }) =>
    what === "create" ? [field, now ?? "-"] : [field, before ?? "-", now ?? "-"],
  );
  const titles = what === "create" ? ["FIELD", "NEW"] : ["FIELD", "LAST DELIVERED", "NOW"];
  return ["", head, table(titles, rows)];
}
