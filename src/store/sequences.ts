/** The numbers that requests take, where their receiver wants them numbered (ADR 0046). None is ever given twice. */
import type Database from "better-sqlite3";

/** What X12 has room for; after it comes 1 again. */
const LAST = 999_999_999;
/** So many numbers are left out when a store goes on that does not know all that was sent. */
const LEAP = 100_000;

export function sequences(database: Database.Database) {
  const next = database
    .prepare<{ sequence: string; last: number }, number>(
      `insert into sequence (sequence, last) values (:sequence, 1)
       on conflict do update set last = last % :last + 1 returning last`,
    )
    .pluck();
  const leap = database.prepare("update sequence set last = (last + ?) % ?");

  return {
    /** 1 to 999999999. Inside the transaction that stores what is numbered. */
    next: (sequence: string): number => next.get({ sequence, last: LAST }) as number,
    /** A person has released a restored store: what it gave since its backup, nobody knows. */
    leap(): void {
      leap.run(LEAP, LAST);
    },
  };
}
