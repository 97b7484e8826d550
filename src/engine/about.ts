/** What people know a document by, as its flow's mapping reads it off the record: number, party, amount, day. */
import { parse as parseCsv } from "csv-parse/sync";
import type { About } from "../core/contract.ts";
import { type Json, parseExact, stringifyExact } from "../core/json.ts";
import { leavesIn } from "../core/record.ts";
import { distinctly } from "../core/text.ts";
import type { Engine, Flow } from "./engine.ts";

/** A record that its source could not read, or that does not fit, says nothing. */
export function aboutOf(flow: Flow | undefined, text: string | null): About & { number?: string } {
  return flow === undefined ? {} : aboutRecord(flow, readText(text));
}

/** What a record's text says; undefined: it cannot be read, or there is none. */
export function readText(text: string | null): Json | undefined {
  try {
    return text === null ? undefined : parseExact(text);
  } catch {
    return undefined;
  }
}

/** The same of a record that was read already. */
export function aboutRecord(
  flow: Flow | undefined,
  read: Json | undefined,
): About & { number?: string } {
  if (flow === undefined || read === undefined) return {};
  try {
    const record = flow.mapping.input.safeParse(read);
    if (!record.success) return {};
    return { number: flow.mapping.number(record.data), ...flow.mapping.about?.(record.data) };
  } catch {
    return {};
  }
}

/** The day of the document where it tells one. `dayOf`: the company's day of an instant. */
export const dayIn = ({ day = null }: About, dayOf: Engine["dayOf"]): string | null =>
  day === null || day.length === 10 ? day : dayOf(day);

/* The fields of any text, and what of them was changed. */

const FIELDS_MAX = 500;

export interface Field {
  /** `lines.1.quantity` */
  readonly path: string;
  readonly value: string;
}

/** Every value of a JSON text, a CSV text with a header, an X12 interchange or XML, with its path; anything else is one field. */
export function fieldsOf(text: string): Field[] {
  const read = isJson(text) ? fieldsOfJson(text) : (fieldsOfMarks(text) ?? fieldsOfCsv(text));
  return read ?? [{ path: "", value: text }];
}

/** What comes again has its number before its name, as a row of a CSV text: `2.IT1.04`. Null: it is neither X12 nor XML. */
function fieldsOfMarks(text: string): Field[] | null {
  const read = text.startsWith("ISA") ? elementsOf : text.startsWith("<?xml") ? leavesOf : null;
  const seen = new Map<string, number>();
  const fields = Array.from(read?.(text) ?? [], ([name = "", value = ""]) => {
    const at = (seen.get(name) ?? 0) + 1;
    seen.set(name, at);
    return { path: at === 1 ? name : `${at}.${name}`, value };
  });
  return fields.length === 0
    ? null
    : fields.filter(({ value }) => value !== "").slice(0, FIELDS_MAX);
}

// Names and values, in their order. The parts that number and date the sent file itself are left out.

/** Elements of XML with text and nothing else in them. */
const leavesOf = (text: string): Iterable<string[]> =>
  text
    .replaceAll(/<(EDI_DC40)\b.*?<\/\1>/gs, "")
    .matchAll(/<([^\s<>/!?]+)[^<>]*>([^<>]*)<\/\1>/g)
    .map(([, name = "", value = ""]) => [
      name,
      value.replaceAll(/&(\w+);/g, (entity, of: string) => ENTITIES.get(of) ?? entity),
    ]);
const ENTITIES = new Map(Object.entries({ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }));

/** Elements of X12: its head says what separates them, and what ends a segment. */
function elementsOf(text: string): string[][] {
  const [between, end] = [text.charAt(3), text.charAt(105)];
  if (end === "") return [];
  return text
    .split(end)
    .map((segment) => segment.trim().split(between))
    .filter(([id = ""]) => !ENVELOPE.has(id))
    .flatMap(([id, ...elements]) =>
      elements.map((value, at) => [`${id}.${String(at + 1).padStart(2, "0")}`, value]),
    );
}
const ENVELOPE: ReadonlySet<string> = new Set(["ISA", "GS", "ST", "SE", "GE", "IEA"]);

const isJson = (text: string): boolean => /^\s*[[{"]/.test(text) && !/^"[^"\n]*",/.test(text);

/** Null: it has no header with rows of its length. The first row's values stand under the header's names alone. */
function fieldsOfCsv(text: string): Field[] | null {
  let rows: string[][];
  try {
    rows = parseCsv(text, { skip_empty_lines: true });
  } catch {
    return null;
  }
  const [header = [], ...records] = rows;
  if (header.length < 2 || records.length === 0) return null;
  return records
    .flatMap((row, at) =>
      row.flatMap((value, column) => {
        const name = header[column] ?? "";
        return value === "" ? [] : { path: at === 0 ? name : `${at + 1}.${name}`, value };
      }),
    )
    .slice(0, FIELDS_MAX);
}

/** Null: it is no JSON. */
function fieldsOfJson(text: string): Field[] | null {
  try {
    return leavesIn(parseExact(text))
      .filter(({ value }) => value !== null && value !== "")
      .slice(0, FIELDS_MAX)
      .map(({ field, value }) => ({ path: field, value: textOf(value) }));
  } catch {
    return null;
  }
}

/** Numbers with their digits. */
const textOf = (value: Json): string => (typeof value === "string" ? value : stringifyExact(value));

/** Changed fields that a cause shows. */
const SHOWN = 12;

/** A line for each field that one text says otherwise than the one before, `name: Bayou, now Gulf`; "" where none is told. */
export function changesIn(before: string, now: string): string {
  const [old, fresh] = [valuesIn(before), valuesIn(now)];
  const lines = [...new Set([...old.keys(), ...fresh.keys()])].flatMap((path) => {
    const [was, is] = [old.get(path) ?? "nothing", fresh.get(path) ?? "nothing"];
    return path === "" || was === is ? [] : `${path}: ${distinctly(was, is).join(", now ")}`;
  });
  const more = lines.length > SHOWN ? [`and ${lines.length - SHOWN} more`] : [];
  return [...lines.slice(0, SHOWN), ...more].join("\n");
}

const valuesIn = (text: string): Map<string, string> =>
  new Map(fieldsOf(text).map(({ path, value }) => [path, value]));
