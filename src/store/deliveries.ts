/** Deliveries: which wait to be mapped, and what became of each. */
import type Database from "better-sqlite3";
import type { DeliveryState } from "../core/delivery-state.ts";
import type { Fault } from "../core/fault.ts";
import { corrected } from "../core/correction.ts";
import { causes } from "./causes.ts";
import { type Correction, corrections } from "./corrections.ts";
import { shownId } from "./ids.ts";
import { sumIn, wholeIn } from "./sums.ts";
import { moving } from "./moves.ts";

export interface PendingDelivery {
  readonly delivery: number;
  readonly record: number;
  readonly recordId: string;
  readonly revision: string;
  readonly version: string | null;
  readonly origin: string | null;
  readonly fault: Fault | null;
  /** As it was received, with the corrections of people (ADR 0054). */
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
  readonly gallons: string | null;
  /** Hash of the document. */
  readonly content: string;
}

/** A delivery as a request carries it, or as a person links it. */
export interface Carried {
  readonly delivery: number;
  readonly recordId: string;
  readonly revision: string;
  readonly number: string;
  /** Null when it was never mapped. */
  readonly content: string | null;
  readonly amount: string | null;
  /** Part of a refused batch; null: of none. */
  readonly bisectGroup: number | null;
}

export interface Quarantining {
  readonly fault: Fault;
  /** Null: as it is known already. */
  readonly number: string | null;
  /** The request that a decision is about; as it is when left out. */
  readonly request?: number | undefined;
}

export type Ended = "delivered" | "skipped" | "echo" | "resolved";

const ENDS_FROM: Readonly<Record<Ended, readonly DeliveryState[]>> = {
  delivered: ["frozen", "quarantined", "superseded"],
  skipped: ["pending", "quarantined"],
  echo: ["pending"],
  resolved: ["quarantined"],
};

type PendingRow = Omit<PendingDelivery, "recordId" | "fault" | "correctedBefore"> & {
  id: Buffer | string;
  fault: string | null;
  corrected: 0 | 1;
};

/** The same record has no other delivery that is still to be decided. */
const NOTHING_NEWER = `not exists (select 1 from delivery d where d.record = delivery.record
  and d.state in ('pending', 'quarantined') and d.delivery <> delivery.delivery)`;

export function deliveries(database: Database.Database) {
  const why = causes(database);
  const fields = corrections(database);
  const pending = database.prepare<[number, number, number], PendingRow>(
    `select delivery.delivery, record.record, record.id, record.revision, record.version, record.origin,
            record.fault, ${wholeIn("record")} as text, delivery.bisect_group as bisectGroup,
            exists (select 1 from correction where correction.record = record.record and ended_ms is null) as corrected
     from delivery indexed by delivery_pending join record using (record)
     where delivery.flow = ? and delivery.state = 'pending' and delivery.delivery > ?
     order by delivery.delivery limit ?`,
  );
  const freeze = moving(database, {
    from: ["pending"],
    to: "frozen",
    set: `request = ?, number = ?, folded = ?, amount = ?, gallons = ?, content = ?,
      sum = ${sumIn("delivery", ["amount", "gallons", "content"])}`,
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
  const outdate = moving(database, {
    from: ["frozen", "quarantined"],
    to: "superseded",
    where: "delivery = ?",
  });
  const carried = database.prepare<[number], Carried & { id: Buffer | string }>(
    `select delivery, record.id, ${wholeIn("delivery")} as revision, coalesce(number, '') as number, delivery.content, amount, bisect_group as bisectGroup
     from delivery join record using (record) where delivery = ?`,
  );

  return {
    carried(delivery: number): Carried | null {
      const row = carried.get(delivery);
      if (row === undefined) return null;
      const { id, ...rest } = row;
      return { ...rest, recordId: shownId(id) };
    },

    /** The oldest pending deliveries of a flow with their current content. */
    pending(flow: number, after: number, limit: number): PendingDelivery[] {
      return pending
        .all(flow, after, limit)
        .map(({ id, fault, corrected: isCorrected, ...row }) => ({
          ...row,
          text: isCorrected === 1 ? corrected(row.text, fields.standing(row.record)) : row.text,
          correctedBefore: isCorrected === 1 ? fields.outdated(row.record) : [],
          recordId: shownId(id),
          fault: fault === null ? null : (JSON.parse(fault) as Fault),
        }));
    },

    freeze(delivery: number, request: number, mapped: Mapped): void {
      const { number, folded, amount, gallons, content } = mapped;
      const figures = [amount, gallons, content];
      changed(freeze.run(request, number, folded, ...figures, ...figures, delivery), delivery);
    },

    /**
     * A version that was superseded while its outcome was unknown may turn out to be delivered. `number`: null when it
     * is known already.
     */
    end(delivery: number, state: Ended, note: string, number: string | null = null): void {
      const result =
        number === null
          ? end[state].run(note, note, delivery)
          : endNumbered[state].run(note, note, number, delivery);
      changed(result, delivery);
      why.drop(delivery);
    },

    /** A newer version of the record that is on its way already makes this one's fate nobody's business. */
    quarantine(delivery: number, { number, fault, request }: Quarantining, atMs: number): void {
      if (quarantine.run(number, request ?? null, delivery).changes === 0) {
        changed(outdate.run(delivery), delivery);
        return;
      }
      why.add(delivery, fault, atMs);
    },

    /**
     * Back to pending, to be mapped anew; with a bisect group it goes together with the others of that. When a newer version of
     * the record is already on its way, that one goes instead.
     */
    reopen(delivery: number, group: number | null = null): void {
      if (reopen.run(group, delivery).changes === 0) changed(outdate.run(delivery), delivery);
      why.drop(delivery);
    },

    ...counting(database),
  };
}

/** Of each end the statement that makes it. */
function endings(
  database: Database.Database,
  set: string,
): Readonly<Record<Ended, Database.Statement>> {
  const to = (to: Ended): Database.Statement =>
    moving(database, { from: ENDS_FROM[to], to, set, where: "delivery = ?" });
  return {
    delivered: to("delivered"),
    skipped: to("skipped"),
    echo: to("echo"),
    resolved: to("resolved"),
  };
}

function changed(result: Database.RunResult, delivery: number): void {
  if (result.changes !== 1)
    throw new Error(`delivery ${delivery} is not in a state that allows this`);
}

/** How many deliveries of a flow are in each state: the table is held by triggers (schema.ts). */
function counting(database: Database.Database) {
  const counts = database.prepare<[number], { state: string; count: number }>(
    "select state, count from delivery_count where flow = ? and count > 0",
  );
  return {
    counts: (flow: number): Map<string, number> =>
      new Map(counts.all(flow).map(({ state, count }) => [state, count])),
  };
}
