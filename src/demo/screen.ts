/** What the demo shows while it works and when both sides are in step. A terminal is redrawn, a file gets lines. */
import type { Status } from "../office/answers.ts";
import { instant, table } from "../views/table.ts";
import type { Comparison, Totals } from "./totals.ts";

export interface Screen {
  /** Shows where every flow stands; cheap to call often. */
  progress(status: Status): void;
  say(text: string): void;
}

const REDRAW_MS = 200;
const LINE_MS = 1_000;

export function openScreen(stream: NodeJS.WriteStream, startedMs: number): Screen {
  let drawn = 0;
  let lastMs = 0;
  let lastText = "";
  const elapsed = (): number => (performance.now() - startedMs) / 1_000;
  const clear = (): string => (drawn === 0 ? "" : `\u001B[${drawn}A\u001B[J`);

  return {
    progress(status) {
      const now = performance.now();
      if (now - lastMs < (stream.isTTY ? REDRAW_MS : LINE_MS)) return;
      lastMs = now;
      const text = stream.isTTY ? fitted(panel(status, elapsed()), stream) : line(status);
      if (text === lastText && !stream.isTTY) return;
      lastText = text;
      stream.write(stream.isTTY ? `${clear()}${text}\n` : `${elapsed().toFixed(1)} s  ${text}\n`);
      drawn = stream.isTTY ? text.split("\n").length : 0;
    },
    say(text) {
      stream.write(`${clear()}${text}\n`);
      drawn = 0;
    },
  };
}

/** A line that goes on in the next one would be left behind when the panel is drawn again. */
const fitted = (text: string, { columns }: NodeJS.WriteStream): string =>
  text
    .split("\n")
    .map((line) => line.slice(0, Math.max((columns ?? 80) - 1, 1)))
    .join("\n");

function panel(status: Status, seconds: number): string {
  const rows = status.flows.map((flow) => [
    flow.name,
    `${flow.from} → ${flow.to}`,
    String(flow.received),
    String(flow.delivered),
    String(flow.quarantined),
    String(flow.pending),
    rate(flow.delivered, seconds),
  ]);
  const head = [
    "FLOW",
    "FROM → TO",
    "RECEIVED",
    "DELIVERED",
    "QUARANTINED",
    "PENDING",
    "PER SECOND",
  ];
  return `${table(head, rows)}\n\n${seconds.toFixed(1)} s, ${status.requests.used} requests to the platform`;
}

/** Only what moves: one line per second at most. */
function line(status: Status): string {
  const flows = status.flows
    .filter(({ received }) => received > 0)
    .map(({ name, delivered, received }) => `${name} ${delivered}/${received}`);
  return `${flows.join(", ") || "reading"}; ${status.requests.used} requests`;
}

const rate = (count: number, seconds: number): string =>
  seconds < 0.1 ? "-" : (count / seconds).toFixed(0);

export function summary(status: Status, sides: readonly Comparison[], seconds: number): string {
  const flows = status.flows.map((flow) => [
    flow.name,
    String(flow.received),
    String(flow.delivered),
    String(flow.skipped),
    String(flow.echoes),
    String(flow.quarantined),
    rate(flow.delivered, seconds),
  ]);
  const totals = sides.flatMap(({ flow, platform, erp, equal }) => [
    [flow, "platform", ...cells(platform), equal ? "equal" : "DIFFERENT"],
    ["", "ERP", ...cells(erp), ""],
  ]);
  return [
    table(
      ["FLOW", "RECEIVED", "DELIVERED", "SKIPPED", "OWN ECHO", "QUARANTINED", "PER SECOND"],
      flows,
    ),
    "",
    "Control totals of what was delivered, counted on each side by itself:",
    table(["FLOW", "SIDE", "DOCUMENTS", "AMOUNT", "GALLONS", ""], totals),
  ].join("\n");
}

function cells({ documents, amount, gallons }: Totals): string[] {
  return [String(documents), amount?.fixed(2) ?? "-", gallons?.plain() ?? "-"];
}

export function whereToLook(folder: string, config: string, status: Status): string {
  const quarantined = status.flows.reduce((sum, flow) => sum + flow.quarantined, 0);
  const dues = status.flows.flatMap(({ nextDueAt }) => (nextDueAt === null ? [] : [nextDueAt]));
  const next = dues.toSorted((one, other) => one.localeCompare(other))[0] ?? null;
  return [
    `Where to look:`,
    `  ${folder}/erp/import  what the ERP gets, one CSV file per document`,
    `  ${folder}/erp/export  what the ERP gives; read files are in archive/`,
    `  export FUELBRIDGE_CONFIG=${config}, then`,
    "  node src/launch.mjs status                 the same flows, any time",
    "  node src/launch.mjs trace INV-2026-00007   one document's way",
    ...(quarantined > 0
      ? [
          `  node src/launch.mjs quarantine list        ${quarantined} that a person must decide, each with its reason`,
        ]
      : []),
    ...(next === null ? [] : [`Next look at ${instant(next)}.`]),
  ].join("\n");
}
