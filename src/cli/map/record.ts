/** `fuelbridge map FLOW FILE|NUMBER`: one record, field by field. */
import { readFileSync, statSync } from "node:fs";
import { ConfigurationError } from "../../core/errors.ts";
import { type Json, parseExact } from "../../core/json.ts";
import { explain, type Coverage, type Explanation } from "../../mapping/explain.ts";
import type { Office } from "../../office/questions.ts";
import type { Answer } from "../answer.ts";
import { table } from "../../views/table.ts";
import { fromStore, type OpenMapping, withLinks } from "./mapping.ts";

interface Told {
  /** File and line, file, or the source's id. */
  readonly origin: string;
  readonly record: Json;
}

/** @param what a file of JSON with one record or a list of them, or the number or id of a stored one. */
export async function mapRecord(file: string, opened: OpenMapping, what: string): Promise<Answer> {
  const { config, flow, mapping, references } = opened;
  return fromStore(file, config, async (office) => {
    const told = isFile(what) ? recordsIn(what) : await storedAs(office, opened, what);
    const records = await withLinks(office, opened, (find) =>
      told.map(({ origin, record }) => ({
        origin,
        ...explain(mapping, record, { references: references(find), options: flow.options }),
      })),
    );
    const data = { flow: flow.name, mapping: mapping.name, records };
    return { data, text: records.map((one) => inWords(data, one)).join("\n\n") };
  });
}

const isFile = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** @throws ConfigurationError */
function recordsIn(file: string): Told[] {
  try {
    const value = parseExact(readFileSync(file, "utf8"));
    const all = Array.isArray(value) ? (value as Json[]) : [value];
    const origin = (at: number): string => (all.length === 1 ? file : `${file}, record ${at + 1}`);
    return all.map((record, at) => ({ origin: origin(at), record }));
  } catch (error) {
    throw new ConfigurationError(
      `${file} is not JSON: ${(error as Error).message}.`,
      "Give a file with one record as the source tells it, or with a list of records.",
      error,
    );
  }
}

/** @throws ConfigurationError when nothing is stored under it */
async function storedAs(
  office: Office | null,
  { config, flow }: OpenMapping,
  text: string,
): Promise<Told[]> {
  const found = (await office?.samples({ flow: flow.name, text, last: 1 })) ?? [];
  if (found.length === 0)
    throw new ConfigurationError(
      `${text} is no file, and ${office === null ? `there is no store in ${config.state} yet` : `no record that the flow ${flow.name} has stored`}.`,
      "Give a JSON file with the record, or a number or id that `fuelbridge trace` knows.",
    );
  return found.map(({ id, origin, version, text }) => ({
    origin: `${origin ?? id}${version === null ? "" : `, version ${version}`}`,
    record: parseExact(text),
  }));
}

function inWords(
  { flow, mapping }: { flow: string; mapping: string },
  { origin, number, outcome, fields, empty, unread }: Explanation & { origin: string },
): string {
  const head = `${number ?? "A record without a number"}, flow ${flow}, mapping ${mapping}\nfrom ${origin}`;
  if (outcome.is === "skipped") return `${head}\n\nIt would be skipped: ${outcome.reason}.`;
  if (outcome.is === "refused") {
    const { code, message, next } = outcome.fault;
    return `${head}\n\nIt would be quarantined (${code}): ${message}.\n  ${next}`;
  }
  const { amount, gallons } = outcome.figures;
  const rows = fields.map(({ path, value, how, from }) => [
    path,
    value,
    `${how === "copied" ? "" : how}${how === "made of" ? " " : ""}${from.join("; ")}`,
  ]);
  return [
    head,
    "",
    table(["FIELD", "VALUE", "FROM"], rows),
    "",
    `amount ${amount?.plain() ?? "-"}, gallons ${gallons?.plain() ?? "-"}`,
    ...covered("Fields of the record that nothing reads", unread),
    ...covered("Fields of the document that stay empty", empty),
  ].join("\n");
}

function covered(what: string, { warned, onPurpose }: Coverage): string[] {
  return [
    `${what}: ${warned.length === 0 ? "none" : warned.join(", ")}`,
    ...(onPurpose.length === 0 ? [] : [`  left out on purpose: ${onPurpose.join(", ")}`]),
  ];
}
