/** QuickBooks' tables as every part of this connector reads them. */
import type { z } from "zod";
import type { Scope } from "../../src/core/holdings.ts";
import { among, type Entity, quoted, type Wire } from "./wire.ts";

/** Rows of one answer: Intuit gives up to 1000. */
const PAGE = 200;
/** A page with fewer rows is the last one. One with more may have been cut short by a server that gives fewer than asked. */
const FEW = 10;
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
      const asked = all.slice(at, at + AMONG);
      const where = `WHERE ${field} IN ${among(asked)}${more}`;
      const of = { entity, schema, where, stamp: "CreateTime" } as const;
      const most = field === "Id" ? { most: asked.length } : {};
      for await (const { rows } of walk(wire, { ...of, ...most }, null, signal))
        for (const row of rows) found.set(row.Id, row);
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
  /** So many there can be. Left out: nobody knows. */
  readonly most?: number;
}

interface Stamped {
  readonly Id: string;
  readonly MetaData?: { readonly CreateTime: string; readonly LastUpdatedTime: string };
}

/** In the order of a stamp, from `from` on (ISO 8601 with an offset); rows of that very second come again. */
export async function* walk<Row extends Stamped>(
  wire: Wire,
  { entity, schema, where, stamp, most }: Walk<Row>,
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
    goesOn = rows.length >= FEW && rows.length !== most;
    const last = rows.at(-1)?.MetaData?.[stamp] ?? after;
    const ofLast = rows.filter((row) => isSame(row.MetaData?.[stamp] ?? null, last)).length;
    // After a whole page that second is read again: a row of it may have left meanwhile.
    if (isSame(last, after)) start += rows.length;
    else start = rows.length === PAGE ? 1 : ofLast + 1;
    after = last;
    yield { rows, last };
  }
}

/** Of rows without stamps (accounts) all are of one second. */
const isSame = (one: string | null, other: string | null): boolean =>
  one === other || Date.parse(one ?? "") === Date.parse(other ?? "");

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
