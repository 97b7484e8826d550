/** Deliveries: which wait to be mapped, what became of each, and which go together after a refused batch. */
import type Database from "better-sqlite3";
import { corrected } from "../core/correction.ts";
import type { DeliveryState } from "../core/delivery-state.ts";
import type { Fault } from "../core/record.ts";
import { causes, type Correction, corrections } from "./quarantine.ts";
import { asking, moving, NOTHING_NEWER } from "./statements.ts";
import { sumIn, wholeIn } from "./sums.ts";

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

/** As {@link Carried}; of a delivery that is joined with its record. */
export const CARRIED = `delivery, shown_id(record.id) as recordId, ${wholeIn("delivery")} as revision,
  coalesce(number, '') as number, delivery.content, amount, bisect_group as bisectGroup`;

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

type PendingRow = Omit<PendingDelivery, "fault" | "correctedBefore"> & {
  fault: string | null;
  corrected: 0 | 1;
};

export function deliveries(database: Database.Database) {
  const { row, rows } = asking(database);
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
      if (quarantine.run(number, request ?? null, delivery).changes === 0)
        changed(outdate.run(delivery), delivery);
      else why.add(delivery, fault, atMs);
    },

    /**
     * Back to pending, to be mapped anew; with a bisect group it goes together with the others of that. When a newer
     * version of the record is already on its way, that one goes instead.
     */
    reopen(delivery: number, group: number | null = null): void {
      if (reopen.run(group, delivery).changes === 0) changed(outdate.run(delivery), delivery);
      why.drop(delivery);
    },

    /** How many deliveries of a flow are in each state: the table is held by triggers (schema.ts). */
    counts: (flow: number): Map<string, number> =>
      new Map(counts(flow).map(({ state, count }) => [state, count])),
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

export type BisectGroups = ReturnType<typeof bisectGroups>;

/** Deliveries of a refused batch that go together next (src/engine/deliver.ts). */
export function bisectGroups(database: Database.Database) {
  const { is, run, values } = asking(database);
  const put = run<[group: number | null, delivery: number]>(
    "update delivery set bisect_group = ? where delivery = ?",
  );
  const putNewest = run<[group: number, delivery: number]>(
    `update delivery set bisect_group = ? where state = 'pending'
       and record = (select record from delivery where delivery = ?)`,
  );
  return {
    /** What of this delivery's record is pending: itself, or the version that has taken its place. */
    putNewest: (delivery: number, group: number): void => void putNewest(group, delivery),
    /** Is any delivery of this group still to be tried? */
    isOpen: is<[group: number]>(
      "select 1 from delivery where bisect_group = ? and state in ('pending', 'frozen') limit 1",
    ),
    /** Oldest first. */
    pending: values<[group: number], number>(
      "select delivery from delivery where bisect_group = ? and state = 'pending' order by delivery",
    ),
    /** Null: free to share a request with any. */
    put: (delivery: number, group: number | null): void => void put(group, delivery),
  };
}
