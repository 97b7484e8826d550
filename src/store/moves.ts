/** The one place that writes the state of a delivery; the trigger `delivery_moves` refuses what is not in the table. */
import type Database from "better-sqlite3";
import { type DeliveryState, mayMove } from "../core/delivery-state.ts";

export interface Move {
  /** The states that the delivery may be in; in any other nothing is changed. */
  readonly from: readonly DeliveryState[];
  readonly to: DeliveryState;
  /** Other columns, as SQL: `request = null, bisect_group = :group`. */
  readonly set?: string;
  /** Which deliveries, as SQL. */
  readonly where: string;
}

/** A statement that makes this move. @throws Error when the table of moves does not have it: a programming error */
export function moving(
  database: Database.Database,
  { from, to, set, where }: Move,
): Database.Statement {
  for (const state of from)
    if (!mayMove(state, to)) throw new Error(`a delivery does not move from ${state} to ${to}`);
  // One by one: SQLite makes a table of a list after `in`, anew for each delivery.
  const isThere = from.map((state) => `state = '${state}'`).join(" or ");
  return database.prepare(
    `update delivery set state = '${to}'${set === undefined ? "" : `, ${set}`}
     where ${where} and (${isThere})`,
  );
}
