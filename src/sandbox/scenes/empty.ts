import { Book, noRecords, type Records } from "./book.ts";
import { companies, type Company } from "./companies.ts";
import { connection } from "./network.ts";
import { Random } from "./random.ts";

export interface Scene {
  readonly companies: readonly Company[];
  readonly records: Records;
}

/** The companies with a key, and the supplier's connections to his customer and his carrier. */
export function empty(now: Date): Scene {
  const book = new Book(companies.supplier.id, new Random(0xfb_00_00_02), now);
  const records = noRecords();
  records.connections.push(
    connection(book, companies.customer, {
      erpId: "A-1001",
      paymentTerms: "Net 15",
      creditLimit: 250000,
    }),
    connection(book, companies.carrier, { erpId: "V-2001", paymentTerms: "Net 30" }),
  );
  return { companies: Object.values(companies), records };
}
