import { storeFile } from "../../src/store/database.ts";
import Database from "better-sqlite3";
import { Decimal } from "../../src/core/decimal.ts";

/** What a flow has delivered comes to: of each record the version that was delivered last. Of the store in that folder. */
export function deliveredTotal(folder: string, flow: string): string {
  const database = new Database(storeFile(folder), { readonly: true });
  try {
    const amounts = database
      .prepare<[string], string>(
        `select amount from delivery where amount is not null and delivery in (
           select max(delivery) from delivery join flow using (flow)
           where state = 'delivered' and flow.name = ? group by record)`,
      )
      .pluck()
      .all(flow);
    return Decimal.sum(amounts.map((amount) => Decimal.of(amount))).plain();
  } finally {
    database.close();
  }
}
