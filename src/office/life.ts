/** The life of one document: versions, story, the bytes that were sent, and what differs now. */
import { parse as parseCsv } from "csv-parse/sync";
import { Decimal } from "../core/decimal.ts";
import { type Json, parseExact, stringifyExact } from "../core/json.ts";
import type { Engine, Flow } from "../engine/engine.ts";
import type { CaseRow } from "../reconcile/rows.ts";
import { standing } from "./about.ts";
import type { Field, Life } from "./desk.ts";
import { correctionsOf } from "./groups.ts";
import { OfficeError } from "./office.ts";
import { documentOf } from "./searching.ts";
import { trace } from "./trace.ts";

const VERSIONS_MAX = 50;
const REQUESTS_MAX = 10;
const FIELDS_MAX = 500;

/** @throws OfficeError when there is no such document */
export function lifeOf(engine: Engine, flows: readonly Flow[], id: string): Life {
  const { store } = engine;
  const row = /^\d{1,15}$/.test(id) ? store.found.row(Number(id)) : null;
  if (row === null)
    throw new OfficeError(`There is no document ${id}.`, "Search for its number, party or amount.");
  const flow = flows.find(({ name }) => name === row.flow);
  const told = trace(store, row.recordId);
  const linked = told.steps.find(({ platformId }) => platformId !== null);
  const document = documentOf(engine, flows, row);
  return {
    ...document,
    recordId: row.recordId,
    from: flow?.from ?? "",
    to: flow?.to ?? "",
    mapping: flow?.mapping.name ?? "",
    platformId: linked?.platformId ?? null,
    erpId: linked?.erpId ?? null,
    versions: store.found.versions(row.record, VERSIONS_MAX).map((one) => ({
      version: one.version,
      origin: one.origin,
      receivedAt: iso(one.receivedMs),
      stands: standing(one.state, one),
    })),
    story: told.steps,
    groups: told.groups,
    record: fieldsOf(row.text),
    corrections: correctionsOf(store, row.record),
    requests: store.found.sent(row.record, REQUESTS_MAX).map((one) => ({
      operation: one.operation,
      key: one.key,
      target: one.target,
      body: one.body,
      sha256: one.sha256,
      state: one.state,
      frozenAt: iso(one.createdMs),
      sentAt: one.sentMs === null ? null : iso(one.sentMs),
      removedAt: one.goneMs === null ? null : iso(one.goneMs),
    })),
    differences: differencesOf(engine, document.number),
  };
}

function differencesOf({ store: { sweeps } }: Engine, number: string): Life["differences"] {
  const rows = [...sweeps.inState("open"), ...sweeps.inState("seen")];
  return rows.flatMap((one) =>
    one.number !== number || one.row === null ? [] : (JSON.parse(one.row) as CaseRow).differences,
  );
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
        return value === "" ? [] : { path: at === 0 ? name : join(String(at + 1), name), value };
      }),
    )
    .slice(0, FIELDS_MAX);
}

/** Null: it is no JSON. */
function fieldsOfJson(text: string): Field[] | null {
  const fields: Field[] = [];
  const walk = (value: Json, path: string): void => {
    if (fields.length >= FIELDS_MAX) return;
    if (Array.isArray(value))
      for (const [at, one] of value.entries()) walk(one, join(path, `${at + 1}`));
    else if (isGroup(value))
      for (const [name, one] of Object.entries(value)) walk(one, join(path, name));
    else if (value !== null && value !== "") fields.push({ path, value: textOf(value) });
  };
  try {
    walk(parseExact(text), "");
  } catch {
    return null;
  }
  return fields;
}

/** Numbers with their digits. */
const textOf = (value: Json): string => (typeof value === "string" ? value : stringifyExact(value));

const isGroup = (value: Json): value is Readonly<Record<string, Json>> =>
  typeof value === "object" && value !== null && !(value instanceof Decimal);

const join = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

const iso = (ms: number): string => new Date(ms).toISOString();
