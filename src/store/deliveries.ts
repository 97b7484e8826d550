/** Deliveries: which wait to be mapped, what became of each, and which go together after a refused batch. */
import type Database from "better-sqlite3";
import { corrected, type DeliveryState, type Fault } from "../core/record.ts";
import { comparedNumber, type Kind, kinds } from "../core/kinds.ts";
import { EVERY_SITE } from "../core/sites.ts";
import { causes, type Correction, corrections } from "./quarantine.ts";
import {
  asking,
  foldedOf,
  IS_NUMBERED,
  moving,
  NOTHING_NEWER,
  sumIn,
  sumOf,
  wholeIn,
} from "./statements.ts";

export interface PendingDelivery {
  readonly delivery: number;
  readonly record: number;
  readonly recordId: string;
  readonly revision: string;
  readonly version: string | null;
  readonly origin: string | null;
  readonly fault: Fault | null;
  /** As it was received, with the corrections of people (ADR 0007). */
  readonly text: string;
  /** Corrections of the version before: this one has replaced it. */
  readonly correctedBefore: readonly Correction[];
  /** Shares its request with those of the same group only: parts of a refused batch. Null: with any. */
  readonly bisectGroup: number | null;
}

/** What mapping a delivery gave: kept for control totals and for noticing that nothing changed. */
export interface Mapped {
  readonly number: string;
  /** As numbers of its kind are compared; null: as it is written. */
  readonly folded: string | null;
  readonly amount: string | null;
  /** Null: its mapping names none ({@link Figures.party}). */
  readonly party: string | null;
  /** Hash of the document. */
  readonly content: string;
}

/** A delivery as a request carries it, or as a person links it. */
export interface Carried {
  readonly delivery: number;
  readonly recordId: string;
  readonly revision: string;
  readonly version: string | null;
  readonly number: string;
  /** Null when it was never mapped. */
  readonly content: string | null;
  readonly amount: string | null;
  readonly party: string | null;
  /** Part of a refused batch; null: of none. */
  readonly bisectGroup: number | null;
}

/** As {@link Carried}; of a delivery that is joined with its record. */
export const CARRIED = `delivery, shown_id(record.id) as recordId, ${wholeIn("delivery")} as revision, delivery.version,
  coalesce(number, '') as number, delivery.content, amount, party, bisect_group as bisectGroup`;

interface Quarantining {
  readonly fault: Fault;
  /** Null: as it is known already. */
  readonly number: string | null;
  /** The request that a decision is about; as it is when left out. */
  readonly request?: number | undefined;
}

type Ended = "delivered" | "skipped" | "echo" | "resolved";

const ENDS_FROM: Readonly<Record<Ended, readonly DeliveryState[]>> = {
  delivered: ["frozen", "quarantined", "superseded"],
  skipped: ["pending", "quarantined"],
  echo: ["pending"],
  resolved: ["quarantined"],
};

type PendingRow = Omit<PendingDelivery, "fault" | "correctedBefore"> & {
  fault: string | null;
  corrected: 0 | 1;
};

export function deliveries(database: Database.Database) {
  const { row, rows, run, value } = asking(database);
  const why = causes(database);
  const fields = corrections(database);
  const pending = rows<[flow: number, after: number, limit: number], PendingRow>(
    `select delivery.delivery, record.record, shown_id(record.id) as recordId, record.revision, record.version,
            record.origin, record.fault, ${wholeIn("record")} as text, delivery.bisect_group as bisectGroup,
            exists (select 1 from correction where correction.record = record.record and ended_ms is null) as corrected
     from delivery indexed by delivery_pending join record using (record)
     where delivery.flow = ? and delivery.state = 'pending' and delivery.delivery > ?
     order by delivery.delivery limit ?`,
  );
  const received = row<[delivery: number], { record: number; text: string }>(
    `select record.record, ${wholeIn("record")} as text
     from delivery join record using (record) where delivery = ?`,
  );
  const freeze = moving(database, {
    from: ["pending"],
    to: "frozen",
    set: `request = ?, number = ?, folded = ?, amount = ?, party = ?, content = ?,
      sum = ${sumIn("delivery", ["amount", "party", "content"])}`,
    where: "delivery = ?",
  });
  const noted = `note = ?, sum = ${sumIn("delivery", ["note"])}`;
  const end = endings(database, noted);
  const endNumbered = endings(database, `${noted}, number = ?`);
  const quarantine = moving(database, {
    from: ["pending", "frozen"],
    to: "quarantined",
    set: "number = coalesce(?, number), request = coalesce(?, request)",
    where: `delivery = ? and ${NOTHING_NEWER}`,
  });
  const reopen = moving(database, {
    from: ["frozen", "quarantined"],
    to: "pending",
    set: "request = null, bisect_group = ?",
    where: `delivery = ? and ${NOTHING_NEWER}`,
  });
  const setAmount = run<[amount: string, amount: string, delivery: number]>(
    `update delivery set amount = ?, sum = ${sumIn("delivery", ["amount"])} where delivery = ?`,
  );
  const outdate = moving(database, {
    from: ["frozen", "quarantined"],
    to: "superseded",
    where: "delivery = ?",
  });
  const setSite = run<[site: string, site: string, delivery: number]>(
    `update delivery set site = ?, sum = ${sumIn("delivery", ["site"])} where delivery = ?`,
  );
  const left = value<[flow: number, others: string], number>(
    `select count(*) from delivery join record using (record)
     where delivery.flow = ?1 and (state = 'pending' or state = 'quarantined') and not exists
       (select 1 from json_each(?2) other join record known on known.flow = other.value and known.id = record.id)`,
  );
  const counts = rows<[flow: number], { state: string; count: number }>(
    "select state, count from delivery_count where flow = ? and count > 0",
  );

  return {
    carried: row<[delivery: number], Carried>(
      `select ${CARRIED} from delivery join record using (record) where delivery = ?`,
    ),

    /** The oldest pending deliveries of a flow with their current content. */
    pending: (flow: number, after: number, limit: number): PendingDelivery[] =>
      pending(flow, after, limit).map(({ fault, corrected: isCorrected, ...row }) => ({
        ...row,
        text: isCorrected === 1 ? corrected(row.text, fields.standing(row.record)) : row.text,
        correctedBefore: isCorrected === 1 ? fields.outdated(row.record) : [],
        fault: fault === null ? null : (JSON.parse(fault) as Fault),
      })),

    /** Its record as it is now, with the corrections of people. */
    text(delivery: number): string {
      const { record, text } = received(delivery) ?? { record: 0, text: "null" };
      return corrected(text, fields.standing(record));
    },

    freeze(delivery: number, request: number, mapped: Mapped): void {
      const { number, folded, amount, party, content } = mapped;
      const told = [amount, party, content] as const;
      changed(freeze(request, number, folded, ...told, ...told, delivery), delivery);
    },

    /**
     * A version that was superseded while its outcome was unknown may turn out to be delivered. `number`: null when it
     * is known already.
     */
    end(delivery: number, state: Ended, note: string, number: string | null = null): void {
      const ended =
        number === null
          ? end[state](note, note, delivery)
          : endNumbered[state](note, note, number, delivery);
      changed(ended, delivery);
      why.drop(delivery);
    },

    /** A newer version of the record that is on its way already makes this one's fate nobody's business. */
    quarantine(delivery: number, { number, fault, request }: Quarantining, atMs: number): void {
      if (quarantine(number, request ?? null, delivery) === 0) changed(outdate(delivery), delivery);
      else why.add(delivery, fault, atMs);
    },

    /** What a document that a person has linked comes to. */
    setAmount: (delivery: number, amount: string): void => void setAmount(amount, amount, delivery),

    /**
     * Back to pending, to be mapped anew; with a bisect group it goes together with the others of that. When a newer
     * version of the record is already on its way, that one goes instead.
     */
    reopen(delivery: number, group: number | null = null): void {
      if (reopen(group, delivery) === 0) changed(outdate(delivery), delivery);
      why.drop(delivery);
    },

    /** How many deliveries of a flow are in each state: the table is held by triggers (schema.ts). */
    counts: (flow: number): Map<string, number> =>
      new Map(counts(flow).map(({ state, count }) => [state, count])),
    /** Of a flow that is configured no more: what was not delivered, and none of the other flows has read. */
    left: (flow: number, others: readonly number[]): number =>
      left(flow, JSON.stringify(others)) ?? 0,
    /** The other site that a document which was skipped belongs to. */
    setSite: (delivery: number, site: string): void => void setSite(site, site, delivery),
    /** How many records of a flow are other sites', by site. */
    elsewhere: rows<[flow: number], { site: string; count: number }>(
      `select site, count(distinct record) as count from delivery
       where flow = ? and site is not null group by site`,
    ),
  };
}

/** Of each end the statement that makes it. */
function endings(database: Database.Database, set: string) {
  const to = (to: Ended) =>
    moving(database, { from: ENDS_FROM[to], to, set, where: "delivery = ?" });
  return {
    delivered: to("delivered"),
    skipped: to("skipped"),
    echo: to("echo"),
    resolved: to("resolved"),
  };
}

function changed(count: number, delivery: number): void {
  if (count !== 1) throw new Error(`delivery ${delivery} is not in a state that allows this`);
}

interface Routed {
  readonly routed: number;
  readonly atMs: number;
  readonly record: number;
  readonly text: string;
  /** JSON: later versions of it that its source has put back. */
  readonly takenBack: string;
}

/** Decisions for a site (`?2`) and for every one after a place, each in its order: SQLite merges them by `order by`. */
const decided = ["?2", `'${EVERY_SITE}'`]
  .map((site) => `select * from routed where flow = ?1 and site = ${site} and routed > ?3`)
  .join(" union all ");

/** The newest decision of each record that stands; one that is open again comes with its next decision. */
const standing = (isWhole: boolean): string =>
  `not exists (select 1 from routed n where n.record = routed.record and n.site = routed.site and n.routed > routed.routed)
   and not exists (${
     isWhole
       ? "select 1 from unlisted u where u.record = routed.record and u.concluded = 1"
       : "select 1 from delivery d where d.record = routed.record and d.state in ('pending', 'quarantined')"
   })`;

/** Which site gets a record, as a hub has decided (engine/sites.ts). A place is where a site's reading of a flow has got to. */
export function routes(database: Database.Database) {
  const { is, rows, run, sure } = asking(database);
  const fields = corrections(database);
  const add = run<[flow: number, record: number, site: string, atMs: number]>(
    "insert into routed (flow, record, site, at_ms) values (?, ?, ?, ?)",
  );
  const others = rows<[record: number, site: string | null], { site: string }>(
    "select distinct site from routed where record = ? and site is not ?",
  );
  const isRow = is<[routed: number, atMs: number, record: number, flow: number]>(
    "select 1 from routed where routed = ? and at_ms = ? and record = ? and flow = ?",
  );
  const page = (isWhole: boolean) =>
    rows<[flow: number, site: string, after: number, limit: number], Routed>(
      `select routed, at_ms as atMs, record, ${wholeIn("record")} as text,
         (select json_group_array(d.version) from delivery d where d.record = record.record and d.version > record.version) as takenBack
       from (${decided}) as routed join record using (record) where ${standing(isWhole)} order by routed limit ?4`,
    );
  const pages = { list: page(true), changes: page(false) };
  const count = sure<[flow: number, site: string], number>(
    `select count(distinct record) from routed where flow = ? and site in (?, '${EVERY_SITE}') and ${standing(true)}`,
  );
  return {
    /** `site`: whose it is; null: a person has dealt with it. Each site that had it before hears of its newest version, too. Inside a transaction. */
    add(flow: number, record: number, site: string | null, atMs: number): void {
      for (const other of others(record, site)) add(flow, record, other.site, atMs);
      if (site !== null) add(flow, record, site, atMs);
    },
    /** What a site has not read, oldest first, with the corrections of people; of a whole list all that stands in it. */
    next: (flow: number, site: string, after: number, what: keyof typeof pages, limit: number) =>
      pages[what](flow, site, after, limit).map(({ routed, atMs, record, text, takenBack }) => ({
        routed,
        takenBack: JSON.parse(takenBack) as readonly string[],
        place: `${routed}-${atMs}-${record}`,
        text: corrected(text, fields.standing(record)),
      })),
    /** How many records a site's part of a whole list has. */
    count,
    /** The decision that a place names. Null: it was none of this store's, which is another one or was restored. */
    at(flow: number, place: string): number | null {
      const [, routed, atMs, record] = PLACE.exec(place) ?? [];
      const isKnown =
        routed !== undefined && isRow(Number(routed), Number(atMs), Number(record), flow);
      return isKnown ? Number(routed) : null;
    },
  };
}

const PLACE = /^(\d{1,15})-(\d{1,15})-(\d{1,15})$/;

export type BisectGroups = ReturnType<typeof bisectGroups>;

/** Deliveries of a refused batch that go together next (src/engine/deliver.ts). */
export function bisectGroups(database: Database.Database) {
  const { is, run, values } = asking(database);
  return {
    /** What of this delivery's record is pending: itself, or the version that has taken its place. */
    putNewest: run<[delivery: number, group: number]>(
      `update delivery set bisect_group = ?2 where state = 'pending'
         and record = (select record from delivery where delivery = ?1)`,
    ),
    /** Is any delivery of this group still to be tried? */
    isOpen: is<[group: number]>(
      "select 1 from delivery where bisect_group = ? and state in ('pending', 'frozen') limit 1",
    ),
    /** Oldest first. */
    pending: values<[group: number], number>(
      "select delivery from delivery where bisect_group = ? and state = 'pending' order by delivery",
    ),
    /** Null: free to share a request with any. */
    put: run<[delivery: number, group: number | null]>(
      "update delivery set bisect_group = ?2 where delivery = ?1",
    ),
  };
}

// Platform id ↔ ERP id of the same thing, written in the transaction that records the delivery; and by what copies of
// documents would be known.

export type Side = "platform" | "erp";

export interface Link {
  readonly kind: Kind;
  readonly platformId: string;
  readonly erpId: string;
  /** The side where the thing was first. */
  readonly born: Side;
  readonly number: string;
  /** Hash of the document that was last delivered, its amount and its party. */
  readonly content: string | null;
  readonly amount: string | null;
  readonly party?: string | null;
  /** When it was linked or last delivered, ms UTC; left out where it is about to be. */
  readonly linkedMs?: number;
}

export const otherSide = (side: Side): Side => (side === "platform" ? "erp" : "platform");

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
    party, linked_ms as linkedMs`;
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
  const insert = `insert into link (kind, platform_id, erp_id, born, number, folded, content, amount, party, linked_ms, sum)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
  const add = database.prepare(`${insert} on conflict do nothing`);
  const save = database.prepare(
    `${insert} on conflict (kind, platform_id) do update set erp_id = excluded.erp_id, number = excluded.number,
       folded = excluded.folded, content = excluded.content, amount = excluded.amount, party = excluded.party,
       linked_ms = excluded.linked_ms, sum = excluded.sum
     where link.born = excluded.born and not exists (select 1 from link l where l.kind = excluded.kind
       and l.erp_id = excluded.erp_id and l.platform_id <> excluded.platform_id)
     on conflict (kind, erp_id) do nothing`,
  );
  const free = run<[object]>(
    `delete from link where kind = :kind and erp_id = :erpId and platform_id <> :platformId and born = :born`,
  );
  const byNumber = row<[number: string, kind: Kind, born: Side], Link>(
    `select ${columns} from link where ${IS_NUMBERED} and +kind = ?2 and born = ?3`,
  );
  const drop = {
    platform: run<[kind: Kind, id: string]>("delete from link where kind = ? and platform_id = ?"),
    erp: run<[kind: Kind, id: string]>("delete from link where kind = ? and erp_id = ?"),
  };
  const searching = (isOne: string, isNumbered: string) =>
    rows<[text: string], Link & { linkedMs: number }>(
      `select ${columns} from link
       where (${isNumbered}) or (${isOne} and platform_id = ?1) or (${isOne} and erp_id = ?1)
       order by kind, platform_id`,
    );
  const several = (id: "platform_id" | "erp_id") =>
    rows<[ids: string, kind: Kind], Link>(
      `select ${columns} from json_each(?) asked cross join link on link.${id} = asked.value where link.kind = ?`,
    );
  const severalBySide = { platform: several("platform_id"), erp: several("erp_id") };
  /** What was found within the transaction, while no link changed in it. */
  const found = new Map<string, Link | null>();
  const nameOf = (kind: Kind, side: Side, id: string): string => `${kind} ${side} ${id}`;
  const isParty = among(
    Object.entries(kinds).flatMap(([kind, held]) => (held === "party" ? kind : [])),
  );

  return {
    find(kind: Kind, side: Side, id: string): Link | null {
      if (!database.inTransaction) return bySide[side](kind, id);
      const name = nameOf(kind, side, id);
      const known = found.get(name);
      if (known !== undefined) return known;
      const link = bySide[side](kind, id);
      found.set(name, link);
      return link;
    },
    /** What {@link find} is about to be asked within this transaction, in one query. */
    ahead(kind: Kind, side: Side, ids: readonly string[]): void {
      for (const id of ids) found.set(nameOf(kind, side, id), null);
      for (const link of severalBySide[side](JSON.stringify(ids), kind))
        found.set(nameOf(kind, side, ownId(link, side)), link);
    },
    /** Before and after a transaction: another one may have been taken back. */
    forget: (): void => found.clear(),
    /** The newest counterpart counts; but what was born on the other side is never taken from it. */
    save(link: Link, atMs: number): void {
      found.clear();
      const { kind, platformId, erpId, born, number, content, amount, party = null } = link;
      const told = [content, amount, party, atMs] as const;
      const sum = sumOf([kind, platformId, born, number, ...told, erpId]);
      const row = [kind, platformId, erpId, born, number, foldedOf(kind, number), ...told, sum];
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
      byNumber(comparedNumber(kind, number), kind, born),
    drop(kind: Kind, side: Side, id: string): void {
      found.clear();
      drop[side](kind, id);
    },
    /** Whose number, or whose id on either side, this is; by kind and platform id. */
    search: searching(among(Object.keys(kinds)), "number = ?1"),
    /** The same of parties alone. */
    parties: searching(isParty, `number = ?1 and +${isParty}`),
  };
}

/** Where documents of a kind that are born on a side go, and went before. */
export function receivers(database: Database.Database) {
  const { run, value } = asking(database);
  const at = value<[kind: Kind, born: Side, atMs: number], string>(
    `select receiver from receiver where kind = ? and born = ? and since_ms <= ?
     order by since_ms desc limit 1`,
  );
  const newestMs = value<[kind: Kind, born: Side], number>(
    `select max(at_ms) from (
       select max(since_ms) as at_ms from receiver where kind = ?1 and born = ?2
       union all select max(linked_ms) from link where kind = ?1 and born = ?2)`,
  );
  const add = run<[kind: Kind, born: Side, sinceMs: number, receiver: string]>(
    "insert into receiver (kind, born, since_ms, receiver) values (?, ?, ?, ?)",
  );
  const now = (kind: Kind, born: Side): string | null => at(kind, born, Number.MAX_SAFE_INTEGER);
  return {
    /** Who got what was linked then (ms UTC); null: nobody has written it down. */
    at,
    /** Who gets them now; null: nobody has written it down. */
    now,
    /**
     * From now on they go there. Whatever the clock showed, what is linked already went where they went before. Returns that;
     * null: nothing changes. Inside a transaction.
     */
    lead(kind: Kind, born: Side, receiver: string, nowMs: number): string | null {
      const before = now(kind, born);
      if (before === receiver) return null;
      const sinceMs = before === null ? 0 : Math.max(nowMs, (newestMs(kind, born) ?? 0) + 1);
      add(kind, born, sinceMs, receiver);
      return before;
    },
  };
}

export interface Likened {
  readonly recordId: string;
  readonly number: string;
  /** Whose record it is, and what it says. */
  readonly flow: number;
  readonly text: string;
}

/** Rows of these likenesses that are another record's, as SQL of the likenesses (JSON) and the record. */
const ALIKE = `json_each(?1) asked cross join likeness on likeness.likeness = asked.value where record <> ?2`;

/**
 * By the first key of its table, each record once, and what is known of it by its own. A person may have said of either of two
 * that it is not the other.
 */
const othersIn = (states: readonly DeliveryState[]): string =>
  `select shown_id(record.id) as recordId, coalesce((select number from delivery
     where delivery.record = alike.record and number is not null order by delivery desc limit 1), '') as number,
     record.flow, ${wholeIn("record")} as text
   from (select distinct likeness.record from ${ALIKE}) alike
     cross join record on record.record = alike.record
   where exists (
     select 1 from delivery left join request using (request) where delivery.record = alike.record
       and (delivery.state in (${states.map((state) => `'${state}'`).join(", ")}) or request.live = 1))
   and not exists (select 1 from dismissed where dismissed.record = ?2 and counterpart = shown_id(record.id))
   and not exists (select 1 from dismissed join record own on own.record = ?2
     where dismissed.record = record.record and counterpart = shown_id(own.id))`;

type Bound = [likenesses: string, record: number];

/** By what copies of documents would be known (src/engine/lifecycle.ts), of each document that went or is on its way. */
export function likenesses(database: Database.Database) {
  const { is, rows, run, values } = asking(database);
  const isAny = is<Bound>(`select 1 from ${ALIKE} limit 1`);
  const sent = rows<Bound, Likened>(othersIn(["pending", "frozen", "delivered"]));
  // What one side cannot take is entered there by hand, as its person was told.
  const known = rows<Bound, Likened>(
    othersIn(["pending", "frozen", "delivered", "quarantined", "resolved"]),
  );
  const ofRecord = values<[record: number], string>(
    "select likeness from likeness where record = ?",
  );
  const drop = run<[record: number, likeness: string]>(
    "delete from likeness where record = ? and likeness = ?",
  );
  const add = run<[likeness: string, record: number]>(
    "insert or ignore into likeness (likeness, record) values (?, ?)",
  );
  return {
    /** Has any other record one of these, whatever became of it? */
    isAny: (all: readonly string[], record: number): boolean => isAny(JSON.stringify(all), record),
    /** Each once, the other records that are like it in one of these ways and went, or are on their way; `isEach`: those that a person has, too. */
    others: (all: readonly string[], record: number, isEach: boolean): Likened[] =>
      (isEach ? known : sent)(JSON.stringify(all), record).map((one) => ({
        ...one,
        number: one.number || one.recordId,
      })),
    /** Of a flow: what is pending goes by no likeness any more. Inside a transaction. */
    forget: run<[flow: number]>(
      "delete from likeness where record in (select record from delivery where flow = ? and state = 'pending')",
    ),
    /** The record goes: by these its copies are known from now on. Inside a transaction. */
    keep(record: number, all: readonly string[]): void {
      const before = ofRecord(record);
      for (const one of before) if (!all.includes(one)) drop(record, one);
      for (const one of all) if (!before.includes(one)) add(one, record);
    },
  };
}
