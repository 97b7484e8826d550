/** An entity of QuickBooks as a feed of a source: its rows, as change data capture and as queries tell them. */
import type { z } from "zod";
import { LedgerError } from "../../src/ledger/port.ts";
import type { Feed } from "./changes.ts";
import type { Online } from "./online.ts";
import { stampOf } from "./rows.ts";
import { walk } from "./tables.ts";
import type { Entity } from "./wire.ts";

interface Stamped {
  readonly Id: string;
  readonly MetaData: { readonly CreateTime: string; readonly LastUpdatedTime: string };
}

interface Of<Captured> {
  /** What must be told of a change: all of a record is read by its id. */
  readonly captured: z.ZodType<Captured>;
  readonly recordsOf: (row: Captured) => readonly number[];
  readonly gone: Feed["gone"];
  /** Left out: none that is there counts as gone. */
  readonly isGone?: (row: Captured) => boolean;
}

/** @param more a further condition */
export function feed<Captured, Row extends Stamped & Captured>(
  online: Online,
  entity: Entity,
  more: string,
  schema: z.ZodType<Row>,
  { captured, recordsOf, gone, isGone }: Of<Captured>,
): Feed {
  const rowOf = (row: unknown): Captured => {
    const parsed = captured.safeParse(row);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    const where = `${entity} ${issue?.path.join(".") ?? ""}`;
    throw new LedgerError("torn", `changes: ${where}: ${issue?.message ?? "has another form"}`);
  };
  return {
    entity,
    stamps: stampsOf(online, entity, more, schema, recordsOf),
    recordsOf: (row) => recordsOf(rowOf(row)),
    gone,
    ...(isGone === undefined ? {} : { isGone: (row) => isGone(rowOf(row)) }),
  };
}

/** @param more a further condition @param recordsOf the records that a row is, or is a part of */
function stampsOf<Row extends Stamped>(
  { wire }: Online,
  entity: Entity,
  more: string,
  schema: z.ZodType<Row>,
  recordsOf: (row: Row) => readonly number[],
): Feed["stamps"] {
  const where = more === "" ? "" : `WHERE ${more.replace(/^ AND /, "")}`;
  const of = { entity, schema, where, stamp: "LastUpdatedTime" } as const;
  return {
    name: entity,
    once: true,
    async newest(signal) {
      const order = "ORDERBY MetaData.LastUpdatedTime DESC STARTPOSITION 1 MAXRESULTS 1";
      const [row] = await wire.query(entity, `${where} ${order}`.trim(), schema, signal);
      return row === undefined ? null : stampOf(row.MetaData.LastUpdatedTime);
    },
    async page({ at, id }, until, most, signal) {
      const rows = new Map<string, { at: string; id: number; record: number }>();
      for await (const page of walk(wire, of, `${at.slice(0, 19)}+00:00`, signal)) {
        for (const row of page.rows) {
          const place = { at: stampOf(row.MetaData.LastUpdatedTime), id: Number(row.Id) };
          const isAfter =
            place.at > at.slice(0, 19) || (place.at === at.slice(0, 19) && place.id > id);
          if (isAfter && place.at <= until)
            for (const record of recordsOf(row))
              rows.set(`${row.Id} ${record}`, { ...place, record });
        }
        // Rows of the last second may not all be here yet.
        const last = page.last === null ? "" : stampOf(page.last);
        const whole = [...rows.values()].filter((row) => row.at < last);
        if (last > until || whole.length >= most) break;
      }
      return [...rows.values()].toSorted(inOrder).slice(0, most);
    },
  };
}

const inOrder = (
  one: { readonly at: string; readonly id: number },
  other: { readonly at: string; readonly id: number },
): number => (one.at < other.at ? -1 : one.at > other.at ? 1 : one.id - other.id);
