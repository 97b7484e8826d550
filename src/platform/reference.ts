/** The page of tables that tells people which operations there are and what fuelbridge does with them. */
import type { Operation } from "./contract/operation.ts";
import { groupOf, type OperationId, operations, summaries } from "./contract/operations.ts";
import { readsOf, sinks, type SourcePart, sources } from "./parts.ts";
import type { SinkPart } from "./sinks/write.ts";

/** What each source reads, and each sink writes and reads back. */
const uses: readonly (readonly [part: string, operations: readonly OperationId[]])[] = [
  ...Object.entries<SourcePart>(sources).map(
    ([name, part]) =>
      [name, [...readsOf(part), ...(part.pdf === undefined ? [] : [part.pdf])]] as const,
  ),
  ...Object.entries<SinkPart>(sinks).map(([name, { uses }]) => [name, uses] as const),
];

/** Markdown, laid out as Prettier would. */
export function referencePage(): string {
  const rows = Object.entries(operations) as [OperationId, Operation][];
  const groups = Map.groupBy(rows, ([, operation]) => groupOf(operation));
  const count = Object.keys(operations).length;
  return [
    "# The platform's API, as fuelbridge knows it",
    `The ${count} operations that fuelbridge has a contract of. This page is written by \`fuelbridge openapi --markdown\`\nfrom the table that client and sandbox are built on; \`fuelbridge openapi\` prints the same as OpenAPI 3.1, with every schema.`,
    [
      "- **Scope**: what the API key must hold, where the specification names it.",
      "- **Key**: the request needs an Idempotency-Key.",
      "- **Page**: records on a page, and the most that may be asked for. **Walk**: changes since an instant, by cursor.",
      "- **Used by**: the ends of flows (`platform.NAME` in the configuration) that read, write or look back with it. A source\n  asks for single records only where lists come without their lines, and for PDFs only where a flow attaches them. What\n  nothing uses is there for the typed client.",
    ].join("\n"),
    ...[...groups].flatMap(([group, members]) => [`## ${title(group)}`, table(members)]),
  ]
    .map((block) => `${block}\n`)
    .join("\n");
}

const title = (group: string): string =>
  group.replace(/^./, (letter) => letter.toUpperCase()).replaceAll("-", " ");

const HEAD = ["Method", "Path", "What", "Scope", "Key", "Page", "Used by"];

function table(members: readonly (readonly [OperationId, Operation])[]): string {
  const rows = [HEAD, ...members.map(([id, operation]) => rowOf(id, operation))];
  const widths = HEAD.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const [head = "", ...body] = rows.map((row) =>
    line(row.map((cell, at) => cell.padEnd(widths[at] ?? 0))),
  );
  return [head, line(widths.map((width) => "-".repeat(width))), ...body].join("\n");
}

const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

function rowOf(id: OperationId, operation: Operation): string[] {
  const { method, path, scope, idempotencyKey, pageSize, cursorWalk, inferred } = operation;
  const users = new Set(uses.flatMap(([part, used]) => (used.includes(id) ? [part] : [])));
  return [
    method,
    `\`${path}\``,
    summaries[id] + (inferred ? " Inferred from the rules on it." : ""),
    scope === undefined ? "" : `\`${scope}\``,
    idempotencyKey ? "yes" : "",
    pageSize === undefined
      ? ""
      : `${pageSize.default}, at most ${pageSize.max}${cursorWalk ? "; walk" : ""}`,
    [...users].map((part) => `\`${part}\``).join(", "),
  ];
}
