/** QuickBooks' tables as every part of this connector reads them. */
import type { z } from "zod";
import type { Scope } from "../../src/core/holdings.ts";
import { among, type Entity, quoted, type Wire } from "./wire.ts";

/** Rows of one answer: Intuit gives up to 1000. */
const PAGE = 200;
/** Values of one `IN`. */
const AMONG = 50;

/** Those that have one of these values, each once. */
export async function having<Row extends { readonly Id: string }>(
  wire: Wire,
  entity: Entity,
  schema: z.ZodType<Row>,
  fields: Readonly<Record<string, readonly string[]>>,
  signal: AbortSignal,
  more = "",
): Promise<Row[]> {
  const found = new Map<string, Row>();
  for (const [field, values] of Object.entries(fields)) {
    const all = [...new Set(values)];
    for (let at = 0; at < all.length; at += AMONG) {
      const where = `WHERE ${field} IN ${among(all.slice(at, at + AMONG))}${more}`;
      for await (const rows of walk(
        wire,
        { entity, schema, where, stamp: "CreateTime" },
        null,
        signal,
      ))
        for (const row of rows.rows) found.set(row.Id, row);
    }
  }
  return [...found.values()];
}

interface Walk<Row> {
  readonly entity: Entity;
  readonly schema: z.ZodType<Row>;
  /** `WHERE …`, or nothing. */
  readonly where: string;
  /** The order: what is made meanwhile comes last, and nothing is passed over when rows leave. */
  readonly stamp: "CreateTime" | "LastUpdatedTime";
}

interface Stamped {
  readonly Id: string;
  readonly MetaData?: { readonly CreateTime: string; readonly LastUpdatedTime: string };
}

/** In the order of a stamp, from `from` on (ISO 8601 with an offset); rows of that very second come again. */
export async function* walk<Row extends Stamped>(
  wire: Wire,
  { entity, schema, where, stamp }: Walk<Row>,
  from: string | null,
  signal: AbortSignal,
): AsyncGenerator<{ readonly rows: readonly Row[]; readonly last: string | null }> {
  let after = from;
  /** Rows of this second that were read: several pages may share one. */
  let start = 1;
  for (let goesOn = true; goesOn;) {
    const since = after === null ? "" : `MetaData.${stamp} >= ${quoted(after)}`;
    const both = [where.replace(/^WHERE /, ""), since].filter((part) => part !== "").join(" AND ");
    const rest = `${both === "" ? "" : `WHERE ${both} `}ORDERBY MetaData.${stamp} STARTPOSITION ${start} MAXRESULTS ${PAGE}`;
    const rows = await wire.query(entity, rest, schema, signal);
    goesOn = rows.length === PAGE;
    const last = rows.at(-1)?.MetaData?.[stamp] ?? after;
    const isSame = last !== null && after !== null && Date.parse(last) === Date.parse(after);
    start = isSame ? start + PAGE : 1;
    after = last;
    yield { rows, last };
  }
}

/** A union of conditions, each a walk of its own: the query language has no OR. */
export function conditionsOf(scope: Scope): string[] {
  const { dated, changedSince, open } = scope;
  return [
    ...(dated === null
      ? []
      : [`WHERE TxnDate >= ${quoted(dated.from)} AND TxnDate <= ${quoted(dated.to)}`]),
    ...(changedSince === null
      ? []
      : [`WHERE MetaData.LastUpdatedTime >= ${quoted(`${changedSince.slice(0, 19)}+00:00`)}`]),
    ...(open ? ["WHERE Balance > '0'"] : []),
  ];
}

/** A list in pages; the position says which condition, and where in it. */
export async function* listed<Row extends Stamped>(
  wire: Wire,
  of: { readonly entity: Entity; readonly schema: z.ZodType<Row> },
  conditions: readonly string[],
  from: string | null,
  signal: AbortSignal,
): AsyncGenerator<{ readonly rows: readonly Row[]; readonly position: string }> {
  const [, at = "0", since = ""] = /^(\d+) (.*)$/.exec(from ?? "") ?? [];
  for (const [index, where] of conditions.entries()) {
    if (index < Number(at)) continue;
    const start = index === Number(at) && since !== "" ? since : null;
    for await (const { rows, last } of walk(
      wire,
      { ...of, where, stamp: "CreateTime" },
      start,
      signal,
    ))
      yield { rows, position: `${index} ${last ?? ""}` };
  }
}

/** Ids of QuickBooks are counted. */
export const isId = (id: string | null): id is string => id !== null && /^\d{1,15}$/.test(id);
