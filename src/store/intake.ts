/**
 * What a source told: records, their deliveries and the position, one transaction a page. A position never passes a
 * change that is not stored (promise 1).
 */
import type Database from "better-sqlite3";
import type { Arrival, Change, Page } from "../core/contract.ts";
import type { Fault } from "../core/fault.ts";
import { canonical } from "../core/json.ts";
import { instantByValue, revisionOf, sha256 } from "../core/keys.ts";
import { storedId } from "./ids.ts";
import { moving } from "./moves.ts";
import { newcomers } from "./newcomers.ts";
import { rhythms } from "./rhythms.ts";
import { sumOf, wholeIn } from "./sums.ts";

export interface Taken {
  /** Deliveries created. */
  readonly received: number;
  readonly unchanged: number;
  /** Older than what is stored. */
  readonly stale: number;
}

type See = (record: number) => void;

interface StoredVersion {
  record: number;
  version: string | null;
  revision: string;
  content: string | null;
}

export function intake(database: Database.Database) {
  const arrivals = arrivalsOf(database);
  const rhythm = rhythms(database);
  const fresh = newcomers(database);
  const current = database.prepare<[number, Buffer | string], StoredVersion>(
    "select record, version, revision, content from record where flow = ? and id = ?",
  );
  const told = database.prepare<[number], { fault: string | null; text: string }>(
    `select fault, ${wholeIn("record")} as text from record where record = ?`,
  );
  const addRecord = database.prepare(
    `insert into record (flow, id, version, revision, content, origin, fault, text, sum)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const replaceRecord = database.prepare(
    `update record set version = ?, revision = ?, content = ?, origin = ?, fault = ?, text = ?, sum = ?
     where record = ?`,
  );
  const supersede = moving(database, {
    from: ["pending", "quarantined"],
    to: "superseded",
    where: "record = ?",
  });
  const addDelivery = database.prepare(
    `insert into delivery (flow, record, revision, received_ms, version, origin)
     values (?, ?, ?, ?, ?, ?)`,
  );
  const savePosition = database.prepare("update flow set position = ? where flow = ?");
  /** Is it what is stored, perhaps written otherwise? */
  function isSame(record: number, fault: string | null, text: string): boolean {
    const stored = told.get(record);
    return stored?.fault === fault && byValue(stored.text) === byValue(text);
  }

  /** True when a delivery was made of it, null when it is older than what is stored. */
  function take(flow: number, change: Change, atMs: number, see: See): boolean | null {
    const id = storedId(change.id);
    const known = current.get(flow, id);
    if (known !== undefined) see(known.record);
    const fault = change.fault === undefined ? null : JSON.stringify(change.fault satisfies Fault);
    // The same text without its fault is another content: now it can be delivered.
    const whole = `${fault ?? ""}${change.text}`;
    const content = change.version === null ? sha256(whole).slice(0, 22) : null;
    if (known !== undefined && content !== null && known.content === content) return false;
    const revision = revisionOf(change.version, known?.revision ?? null, whole);
    if (known !== undefined && change.version !== null && known.version !== null) {
      if (change.version < known.version) return null;
      if (change.version === known.version && known.revision === revision) return false;
    }
    // Only now, for it costs: the same value may come written otherwise.
    if (known?.version === change.version && isSame(known.record, fault, change.text)) return false;
    const origin = change.origin ?? null;
    const { version, text } = change;
    const sum = sumOf([flow, id, version, revision, content, origin, fault, text]);
    if (known === undefined) {
      const row = [flow, id, version, revision, content, origin, fault, text, sum] as const;
      const added = addRecord.run(row);
      fresh.record(added.lastInsertRowid, version);
      see(Number(added.lastInsertRowid));
      return true;
    }
    // What moves now may have come with this page, and deliveries are in the order of arrival.
    fresh.save(flow, atMs);
    replaceRecord.run(version, revision, content, origin, fault, text, sum, known.record);
    supersede.run(known.record);
    addDelivery.run(flow, known.record, revision, atMs, version, origin);
    fresh.delivery();
    return true;
  }

  function takeAll(
    flow: number,
    changes: readonly Change[],
    atMs: number,
    see: See = () => {},
  ): Taken {
    fresh.forget();
    const taken = changes.map((change) => take(flow, change, atMs, see));
    fresh.save(flow, atMs);
    return counted(taken);
  }

  return {
    /** Changes that were read beside the position, which stays. Call it inside a transaction. */
    beside: takeAll,

    /** Stores a page. `see`: takes the record of each change. Call it inside a transaction. */
    page(flow: number, page: Page, atMs: number, see?: See): Taken {
      const taken = takeAll(flow, page.changes, atMs, see);
      savePosition.run(JSON.stringify(page.position), flow);
      if (page.arrival) arrivals.add(flow, page.arrival, atMs);
      if (page.cameAt !== undefined) rhythm.came(flow, Date.parse(page.cameAt), atMs);
      return taken;
    },

    stored(flow: number, id: string, version: string): boolean {
      return current.get(flow, storedId(id))?.version === version;
    },
    known: (flow: number, arrival: string) => arrivals.known(flow, arrival),
  };
}

/** As `take` tells of each change. */
function counted(taken: readonly (boolean | null)[]): Taken {
  const count = (what: boolean | null): number => taken.filter((one) => one === what).length;
  return { received: count(true), unchanged: count(false), stale: count(null) };
}

const byValue = (text: string): string => canonical(text, instantByValue);

/** Which files came before: the same bytes are the same arrival whatever the name. */
function arrivalsOf(database: Database.Database) {
  const addArrival = database.prepare(
    `insert into receipt (flow, id, name, received_ms, turn)
     values (:flow, :id, :name, :at, (select coalesce(max(turn), 0) + 1 from receipt where flow = :flow))
     on conflict do update set name = excluded.name, received_ms = excluded.received_ms, turn = excluded.turn`,
  );
  const findArrival = database.prepare<
    [number, string],
    { name: string; received_ms: number; latest: 0 | 1 }
  >(
    `select name, received_ms, turn = (select max(turn) from receipt r where r.flow = receipt.flow) as latest
     from receipt where flow = ? and id = ?`,
  );

  return {
    /** Its bytes last, for the latest arrival is known by them. */
    add(flow: number, { id, name, numbers = [] }: Arrival, at: number): void {
      for (const known of [...numbers, id]) addArrival.run({ flow, id: known, name, at });
    },
    known(flow: number, arrival: string): { name: string; at: string; latest: boolean } | null {
      const row = findArrival.get(flow, arrival);
      if (row === undefined) return null;
      return {
        name: row.name,
        at: new Date(row.received_ms).toISOString(),
        latest: row.latest === 1,
      };
    },
  };
}
