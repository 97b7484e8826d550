/** Where a receiver holds other values than those that a record was brought to (src/engine/differs.ts). */
import type Database from "better-sqlite3";
import type { Fault } from "../core/fault.ts";
import { causes } from "./causes.ts";
import { shownId, storedId } from "./ids.ts";
import { moving } from "./moves.ts";

/** Who compares: each opens and closes its own. `list`: the list that the record came from lacks it (src/engine/lists.ts). */
export type Finder = "inspection" | "reconciliation" | "list";

export interface Disagreement {
  readonly record: number;
  readonly delivery: number;
  /** What the delivery was before, and is again when both sides agree. */
  readonly was: "delivered" | "skipped";
  /** Of the values on both sides: a person's decision is about exactly these. */
  readonly digest: string;
  /** Of the delivery. `quarantined`: a person has it; `resolved`: a person has accepted it. */
  readonly state: string;
}

/** The newest delivery of a record. */
export interface Last {
  readonly record: number;
  readonly delivery: number;
  readonly state: "pending" | "frozen" | "delivered" | "skipped" | "resolved" | "quarantined";
}

/** Deliveries that are looked at for echoes. */
const ECHOES_AMONG = 20_000;

export function disagreements(database: Database.Database) {
  const why = causes(database);
  const columns = "disagreement.record, delivery, was, digest, state";
  const one = database.prepare<[number, Finder], Disagreement>(
    `select ${columns} from disagreement join delivery using (delivery)
     where disagreement.record = ? and finder = ?`,
  );
  const anyOf = database.prepare<[number], Disagreement & Fault & { field: string | null }>(
    `select ${columns}, code, cause as message, next, field
     from disagreement join delivery using (delivery) left join quarantine using (delivery)
     where disagreement.record = ? order by state = 'quarantined' desc limit 1`,
  );
  const save = database.prepare(
    `insert into disagreement (record, finder, delivery, was, digest)
     values (:record, :finder, :delivery, :was, :digest)
     on conflict do update set delivery = excluded.delivery, was = excluded.was, digest = excluded.digest`,
  );
  const take = moving(database, {
    from: ["delivered", "skipped", "resolved", "quarantined"],
    to: "quarantined",
    where: "delivery = ?",
  });
  const carry = database.prepare(
    "update disagreement set delivery = ?, was = 'skipped' where record = ? and delivery <> ?",
  );
  const givingBack = (to: Disagreement["was"]) =>
    moving(database, { from: ["quarantined", "resolved"], to, where: "delivery = ?" });
  const giveBack = { delivered: givingBack("delivered"), skipped: givingBack("skipped") };
  // By the key of deliveries, the newest first: it stops at the first one that is older.
  const echoes = database
    .prepare<[number, number, number, number], Buffer | string>(
      `select r.id from (
         select record, state, received_ms, flow from delivery
         where delivery > (select coalesce(max(delivery), 0) - ? from delivery)
       ) d join record r using (record)
       where d.flow = ? and d.state = 'echo' and d.received_ms > ? group by r.record limit ?`,
    )
    .pluck();
  const drop = database.prepare("delete from disagreement where record = ? and finder = ?");

  return {
    /** Documents of ours that a flow read back since an instant, among the newest deliveries: what its source calls them. */
    echoes: (flow: number, sinceMs: number, most: number): string[] =>
      echoes.all(ECHOES_AMONG, flow, sinceMs, most).map(shownId),
    find: (record: number, finder: Finder): Disagreement | null => one.get(record, finder) ?? null,

    /**
     * What a new delivery of the record that says nothing new is to be: quarantined with the same cause, because a
     * person has the disagreement; `retried` by a person, so that it goes once more; null: there is none.
     */
    standing(record: number, delivery: number): Fault | "retried" | null {
      const row = anyOf.get(record);
      if (row === undefined || row.state === "resolved") return null;
      if (row.delivery === delivery) return "retried";
      const { code, message, next, field } = row;
      // It was taken back from the quarantine since: it is inspected again.
      if (code === null) return null;
      return { code, message, next, ...(field === null ? {} : { field }) };
    },
    /** The disagreement is about this delivery from now on: the newest of the record. Inside a transaction. */
    carry(record: number, delivery: number): void {
      carry.run(delivery, record, delivery);
    },

    /** A person decides; the link stays. Inside a transaction. */
    open(finder: Finder, row: Omit<Disagreement, "state">, fault: Fault, atMs: number): void {
      save.run({ ...row, finder });
      if (take.run(row.delivery).changes !== 1)
        throw new Error(`delivery ${row.delivery} is not in a state that allows this`);
      why.add(row.delivery, fault, atMs);
    },

    /** Both agree again, or the document is gone: the delivery is what it was before. Inside a transaction. */
    close(finder: Finder, { record, delivery, was }: Disagreement): void {
      drop.run(record, finder);
      if (giveBack[was].run(delivery).changes === 1) why.drop(delivery);
    },
    /** The document is gone: whoever disagreed about it. Inside a transaction. */
    forget(record: number): void {
      for (const finder of ["inspection", "reconciliation", "list"] as const) {
        const row = one.get(record, finder);
        if (row !== undefined) this.close(finder, row);
      }
    },
    ...newest(database),
    ...rounds(database),
  };
}

/** The newest deliveries of records, and which of them disagree. */
function newest(database: Database.Database) {
  const recordOf = database
    .prepare<[number, Buffer | string], number>(
      "select record from record where flow = ? and id = ?",
    )
    .pluck();
  const open = database.prepare<[number], Last>(
    "select record, delivery, state from delivery where record = ? and state in ('pending', 'quarantined')",
  );
  // `+?`: see requests.ts.
  const settled = database.prepare<[number], Last>(
    `select record, delivery, state from delivery where record = +?
       and state in ('frozen', 'delivered', 'skipped', 'resolved') order by delivery desc limit 1`,
  );
  const refused = database.prepare<[number], { delivery: number; request: number }>(
    `select delivery, request from quarantine join delivery using (delivery) join request using (request)
     where delivery = ? and code = 'differs' and delivery.state = 'quarantined'
       and request.state = 'rejected'`,
  );
  const ofFlow = database
    .prepare<[{ flow: number; finder: Finder; limit: number }], Buffer | string>(
      `select record.id from record join
         (select record from disagreement where finder = :finder
          union select record from quarantine join delivery using (delivery)
            where code = 'differs' and state = 'quarantined' and delivery.flow = :flow)
         using (record)
       where record.flow = :flow order by record limit :limit`,
    )
    .pluck();
  const lastOf = (flow: number, recordId: string): Last | null => {
    const record = recordOf.get(flow, storedId(recordId));
    if (record === undefined) return null;
    return open.get(record) ?? settled.get(record) ?? null;
  };

  return {
    /** Null: the record is not known, or nothing of it was settled. */
    last: lastOf,

    /** The ids of a flow's records that disagree, whether a person has accepted it or not. */
    ofFlow: (flow: number, finder: Finder, limit: number): string[] =>
      ofFlow.all({ flow, finder, limit }).map(shownId),

    /** The version of a record that is with a person because the receiver refused it with `differs`. */
    refused(
      flow: number,
      recordId: string,
    ): { readonly delivery: number; readonly request: number } | null {
      const last = lastOf(flow, recordId);
      return last?.state === "quarantined" ? (refused.get(last.delivery) ?? null) : null;
    },
  };
}

/** How far each flow's links were inspected in the current round. */
function rounds(database: Database.Database) {
  const find = database
    .prepare<[number], string>("select up_to from inspected where flow = ?")
    .pluck();
  const save = database.prepare(
    "insert into inspected (flow, up_to) values (?, ?) on conflict do update set up_to = excluded.up_to",
  );
  return {
    /** A platform id; empty: a round begins. */
    inspectedUpTo: (flow: number): string => find.get(flow) ?? "",
    inspectTo(flow: number, platformId: string): void {
      save.run(flow, platformId);
    },
  };
}
