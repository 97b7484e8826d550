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

/** Every value of a JSON text, or of a CSV text with a header, with its path; anything else is one field. */
export function fieldsOf(text: string): Field[] {
  return (isJson(text) ? fieldsOfJson(text) : fieldsOfCsv(text)) ?? [{ path: "", value: text }];
}

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
