/**
 * Platform id ↔ ERP id of the same thing, written in the transaction that records the delivery; and by what copies of
 * documents would be known.
 */
import type Database from "better-sqlite3";
import { comparedNumber, type Kind, kinds } from "../core/kinds.ts";
import { asking, foldedOf, IS_NUMBERED } from "./statements.ts";
import { sumOf, wholeIn } from "./sums.ts";

export type Side = "platform" | "erp";

export interface Link {
  readonly kind: Kind;
  readonly platformId: string;
  readonly erpId: string;
  /** The side where the thing was first. */
  readonly born: Side;
  readonly number: string;
  /** Hash of the document that was last delivered, and its amount. */
  readonly content: string | null;
  readonly amount: string | null;
  /** When it was linked or last delivered, ms UTC; left out where it is about to be. */
  readonly linkedMs?: number;
}

/** What this side calls it. */
export const ownId = (link: Link, side: Side): string =>
  side === "platform" ? link.platformId : link.erpId;

/** What the other side calls it, seen from `side`. */
export const otherId = (link: Link, side: Side): string =>
  side === "platform" ? link.erpId : link.platformId;

/** The kinds are named for the indices: without them SQLite reads every link. */
const among = (kinds: readonly string[]): string =>
  `kind in (${kinds.map((kind) => `'${kind}'`).join(", ")})`;

export function links(database: Database.Database) {
  const { row, rows, run } = asking(database);
  const columns = `kind, platform_id as platformId, ${wholeIn("link")} as erpId, born, number, content, amount,
    linked_ms as linkedMs`;
  const linksWhere = <Bound extends readonly unknown[]>(condition: string) =>
    rows<Bound, Link>(`select ${columns} from link where ${condition}`);
  const bySide = {
    platform: row<[kind: Kind, id: string], Link>(
      `select ${columns} from link where kind = ? and platform_id = ?`,
    ),
    erp: row<[kind: Kind, id: string], Link>(
      `select ${columns} from link where kind = ? and erp_id = ?`,
    ),
  };
  const insert = `insert into link (kind, platform_id, erp_id, born, number, folded, content, amount, linked_ms, sum)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
  const add = database.prepare(`${insert} on conflict do nothing`);
  const save = database.prepare(
    `${insert} on conflict (kind, platform_id) do update set erp_id = excluded.erp_id, number = excluded.number,
       folded = excluded.folded, content = excluded.content, amount = excluded.amount, linked_ms = excluded.linked_ms,
       sum = excluded.sum
     where link.born = excluded.born and not exists (select 1 from link l where l.kind = excluded.kind
       and l.erp_id = excluded.erp_id and l.platform_id <> excluded.platform_id)
     on conflict (kind, erp_id) do nothing`,
  );
  const free = run<[object]>(
    `delete from link where kind = :kind and erp_id = :erpId and platform_id <> :platformId and born = :born`,
  );
  const byNumber = row<[{ number: string; kind: Kind; born: Side }], Link>(
    `select ${columns} from link where ${IS_NUMBERED} and +kind = :kind and born = :born`,
  );
  const drop = {
    platform: run<[kind: Kind, id: string]>("delete from link where kind = ? and platform_id = ?"),
    erp: run<[kind: Kind, id: string]>("delete from link where kind = ? and erp_id = ?"),
  };
  const searching = (isOne: string, isNumbered: string) =>
    rows<[{ text: string }], Link & { linkedMs: number }>(
      `select ${columns} from link
       where (${isNumbered}) or (${isOne} and platform_id = :text) or (${isOne} and erp_id = :text)
       order by kind, platform_id`,
    );
  const anySide = searching(among(Object.keys(kinds)), "number = :text");
  const isParty = among(
    Object.entries(kinds).flatMap(([kind, held]) => (held === "party" ? kind : [])),
  );
  const ofParties = searching(isParty, `number = :text and +${isParty}`);

  return {
    find: (kind: Kind, side: Side, id: string): Link | null => bySide[side](kind, id),
    /** The newest counterpart counts; but what was born on the other side is never taken from it. */
    save(link: Link, atMs: number): void {
      const { kind, platformId, erpId, born, number, content, amount } = link;
      const sum = sumOf([kind, platformId, born, number, content, amount, atMs, erpId]);
      const folded = foldedOf(kind, number);
      const row = [kind, platformId, erpId, born, number, folded, content, amount, atMs, sum];
      if (add.run(row).changes === 1) return;
      free({ kind, platformId, erpId, born });
      save.run(row);
    },
    /** The last ones that were linked, of things that were born on this side. */
    newest: linksWhere<[kind: Kind, born: Side, limit: number, offset: number]>(
      "kind = ? and born = ? order by linked_ms desc, platform_id limit ? offset ?",
    ),
    /** The next ones by platform id, of things that were born on this side. */
    after: linksWhere<[kind: Kind, born: Side, platformId: string, limit: number]>(
      "kind = ? and born = ? and platform_id > ? order by platform_id limit ?",
    ),
    /** The same, of those that were last delivered at that instant (ms UTC) or later. */
    deliveredSince: linksWhere<
      [kind: Kind, born: Side, sinceMs: number, platformId: string, limit: number]
    >("kind = ? and born = ? and linked_ms >= ? and platform_id > ? order by platform_id limit ?"),
    /** One of this number, as numbers are compared, that was born on this side. */
    numbered: (kind: Kind, number: string, born: Side): Link | null =>
      byNumber({ kind, number: comparedNumber(kind, number), born }),
    drop: (kind: Kind, side: Side, id: string): void => void drop[side](kind, id),
    /** Whose number, or whose id on either side, this is; by kind and platform id. */
    search: (text: string): (Link & { linkedMs: number })[] => anySide({ text }),
    /** The same of parties alone. */
    parties: (text: string): Link[] => ofParties({ text }),
  };
}

export interface Likened {
  readonly recordId: string;
  readonly number: string;
}

/** By the first key of its table, and what is known of each record by its own. */
const OTHERS = `select shown_id(record.id) as recordId, coalesce((select number from delivery
     where delivery.record = likeness.record and number is not null order by delivery desc limit 1), '') as number
   from likeness cross join record on record.record = likeness.record
   where likeness.likeness = ? and likeness.record <> ? and exists (
     select 1 from delivery left join request using (request) where delivery.record = likeness.record
       and (delivery.state in ('pending', 'frozen', 'delivered') or request.live = 1))`;

/** By what copies of documents would be known (src/engine/lifecycle.ts), of each document that went or is on its way. */
export function likenesses(database: Database.Database) {
  const { rows, run } = asking(database);
  const others = rows<[likeness: string, record: number], Likened>(OTHERS);
  const drop = run<[record: number]>("delete from likeness where record = ?");
  const add = run<[likeness: string, record: number]>(
    "insert or ignore into likeness (likeness, record) values (?, ?)",
  );
  return {
    /** Other records that are like it and went, or are on their way. */
    others: (likeness: string, record: number): Likened[] =>
      others(likeness, record).map(({ recordId, number }) => ({
        recordId,
        number: number || recordId,
      })),
    /** The record goes: by these its copies are known from now on. Inside a transaction. */
    keep(record: number, all: readonly string[]): void {
      drop(record);
      for (const likeness of all) add(likeness, record);
    },
  };
}
