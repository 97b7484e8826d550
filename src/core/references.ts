/** What a mapping can look up: tables of the configuration, and ids as whoever maps knows them. */
import type { References } from "./contract.ts";
import { NotMapped, WaitsFor } from "./errors.ts";

/** What of it lies outside the store. */
interface Around extends Pick<References, "currency" | "dayOf"> {
  readonly tables: {
    /** Null: the table has no such row. */
    row(table: string, key: string): Readonly<Record<string, string>> | null;
  };
}

/** @param find the other side's id of a record, null where there is none yet */
export function referencesBy(
  { tables, currency, dayOf }: Around,
  find: References["find"],
): References {
  return {
    currency,
    dayOf,
    find,
    counterpart(kind, id) {
      const other = find(kind, id);
      if (other === null) throw new WaitsFor(kind, id);
      return other;
    },
    row(table, key) {
      const row = tables.row(table, key);
      if (row === null) throw new NotMapped(table, key);
      return row;
    },
  };
}
