/** Documents that are at their receiver, where a person has to do the rest (src/engine/unfinished.ts). */
import type Database from "better-sqlite3";
import { resumming } from "./sums.ts";
import type { Fault } from "../core/fault.ts";
import { causes } from "./causes.ts";
import { shownId } from "./ids.ts";
import { moving } from "./moves.ts";

export interface Unfinished {
  readonly delivery: number;
  readonly recordId: string;
  /** Empty: it was never mapped. */
  readonly number: string;
}

export function unfinished(database: Database.Database) {
  const why = causes(database);
  const leave = moving(database, {
    from: ["delivered"],
    to: "quarantined",
    where: `delivery = ? and not exists (select 1 from delivery d where d.record = delivery.record
      and d.state in ('pending', 'quarantined'))`,
  });
  const of = database.prepare<
    [number, string],
    Omit<Unfinished, "recordId"> & { id: Buffer | string }
  >(
    `select delivery, coalesce(number, '') as number, record.id
     from quarantine join delivery using (delivery) join record using (record)
     where delivery.flow = ? and code = ? and delivery.state = 'quarantined' order by delivery`,
  );

  // A newer version was never mapped: its figures are those of the one that went.
  const figures = database.prepare(
    `update delivery set (amount, gallons, content) = (select d.amount, d.gallons, d.content from delivery d
         where d.record = delivery.record and d.content is not null
         order by d.delivery desc limit 1)
     where delivery = ? and content is null`,
  );
  const resum = resumming(database, "delivery");
  const sibling = database
    .prepare<[number], number>(
      `select 1 from delivery d join delivery e on e.record = d.record
       where d.delivery = ? and e.delivery <> d.delivery and e.state = 'delivered' limit 1`,
    )
    .pluck();

  return {
    /**
     * How this one ends once it is finished there: skipped where an earlier version counts as delivered, so that totals
     * count it once. Inside a transaction.
     */
    endOf(delivery: number): "delivered" | "skipped" {
      if (sibling.get(delivery) !== undefined) return "skipped";
      figures.run(delivery);
      resum.run(delivery);
      return "delivered";
    },
    /** A delivered one, whose link stays. When a newer version waits already, that one is judged. Inside a transaction. */
    leave(delivery: number, fault: Fault, atMs: number): void {
      if (leave.run(delivery).changes === 1) why.add(delivery, fault, atMs);
    },
    of(flow: number, code: string): Unfinished[] {
      return of.all(flow, code).map(({ id, ...row }) => ({ ...row, recordId: shownId(id) }));
    },
  };
}
