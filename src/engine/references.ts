/** What a mapping can look up: tables of the configuration, and ids as whoever maps knows them. */
import type { References } from "../core/contract.ts";
import { NotMapped, WaitsFor } from "../core/errors.ts";
import type { Engine } from "./engine.ts";

/** @param find the other side's id of a record, null where there is none yet */
export function referencesBy(
  { tables, currency, dayOf }: Engine,
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
