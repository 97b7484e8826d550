/** Documents that were delivered and wait for what settles them (src/engine/waits.ts). */
import type Database from "better-sqlite3";
import { storedId } from "./ids.ts";
import { moving } from "./moves.ts";

export interface Wait {
  readonly delivery: number;
  readonly sinceMs: number;
  readonly untilMs: number;
}

export interface DueWait {
  readonly record: number;
  /** The newest delivery of the record, and its state. */
  readonly delivery: number;
  readonly state: string;
}

export interface WaitingOfFlow {
  readonly count: number;
  /** The last of them, at the latest. */
  readonly untilMs: number;
}

/** The newest delivery that was mapped; none of the record is still to be decided or on its way. */
const NEWEST = `wait join delivery on delivery.delivery = (
    select max(d.delivery) from delivery d where d.number is not null and d.record = wait.record)
  where wait.flow = ? and delivery.state <> 'frozen' and not exists (
    select 1 from delivery d where d.record = wait.record and d.state in ('pending', 'quarantined'))`;

export function waits(database: Database.Database) {
  const save = database.prepare(
    `insert into wait (record, flow, number, delivery, since_ms, until_ms, due_ms)
     select record, delivery.flow, delivery.number, delivery, created_ms, :until, :until
     from delivery join request using (request) where delivery = :delivery
     on conflict (record) do update set number = excluded.number, delivery = excluded.delivery,
       until_ms = excluded.until_ms, due_ms = excluded.due_ms`,
  );
  const columns = "delivery, since_ms as sinceMs, until_ms as untilMs";
  const one = database.prepare<[number], Wait>(`select ${columns} from wait where record = ?`);
  const ofDocument = database.prepare<[number, Buffer | string], Wait>(
    `select ${columns} from wait where record = (select record from record where flow = ? and id = ?)`,
  );
  const end = database.prepare("delete from wait where record = ?");
  const endOf = database.prepare(
    "delete from wait where record = (select record from delivery where delivery = ?)",
  );
  const due = database.prepare<[number, number], DueWait>(
    `select wait.record, delivery.delivery, delivery.state from ${NEWEST} and wait.due_ms <= ?`,
  );
  const next = database
    .prepare<[number], number | null>(`select min(wait.due_ms) from ${NEWEST}`)
    .pluck();
  const point = database.prepare("update wait set delivery = ? where record = ?");
  const reopen = moving(database, {
    from: ["delivered", "skipped"],
    to: "pending",
    set: "request = null, bisect_group = null",
    where: "delivery = ?",
  });
  const unbound = database
    .prepare<[number, number], number>(
      "select 1 from wait where flow = ? and until_ms <> since_ms + ? limit 1",
    )
    .pluck();
  // What was hastened is due as soon as it was.
  const bind = database.prepare(
    `update wait set until_ms = since_ms + :bound,
       due_ms = iif(due_ms < until_ms, min(due_ms, since_ms + :bound), since_ms + :bound)
     where flow = :flow and until_ms <> since_ms + :bound`,
  );
  const hasten = database.prepare(
    `update wait set due_ms = min(due_ms, ?)
     where record = (select record from record where flow = ? and id = ?)`,
  );
  const text = database
    .prepare<[number], string>(
      "select text from delivery join record using (record) where delivery = ?",
    )
    .pluck();
  const ofFlow = database.prepare<[number], { count: number; untilMs: number | null }>(
    `select count(*) as count, max(wait.until_ms) as untilMs from ${NEWEST}
       and delivery.state in ('delivered', 'skipped')`,
  );

  return {
    /** It waits since the request that carries it was made; another version goes on with the same wait. */
    keep(delivery: number, untilMs: number): void {
      save.run({ delivery, until: untilMs });
    },
    /** All that this delivery's record says is done. */
    end(delivery: number): void {
      endOf.run(delivery);
    },
    of(record: number): Wait | null {
      return one.get(record) ?? null;
    },
    /** By what the source calls it. */
    ofDocument(flow: number, id: string): Wait | null {
      return ofDocument.get(flow, storedId(id)) ?? null;
    },
    due(flow: number, nowMs: number): DueWait[] {
      return due.all(flow, nowMs);
    },
    /** When the next one is due; null: none is. */
    nextMs(flow: number): number | null {
      return next.get(flow) ?? null;
    },
    /** To be mapped and sent again. False: a person has settled it by hand, and it waits no longer. */
    reopen({ record, delivery }: DueWait): boolean {
      if (reopen.run(delivery).changes === 0) {
        end.run(record);
        return false;
      }
      point.run(delivery, record);
      return true;
    },
    /** Does everything of a flow wait for so long, ms? */
    isBound: (flow: number, boundMs: number): boolean => unbound.get(flow, boundMs) === undefined,
    /** It does from now on; each since it began to wait. */
    bind(flow: number, boundMs: number): void {
      bind.run({ flow, bound: boundMs });
    },
    /** Something came that may settle it. */
    hasten(flow: number, id: string, atMs: number): void {
      hasten.run(atMs, flow, storedId(id));
    },
    /** The record of a delivery, as its source told it. */
    text(delivery: number): string | null {
      return text.get(delivery) ?? null;
    },
    ofFlow(flow: number): WaitingOfFlow | null {
      const row = ofFlow.get(flow);
      return row === undefined || row.untilMs === null
        ? null
        : { count: row.count, untilMs: row.untilMs };
    },
  };
}
