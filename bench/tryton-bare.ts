/** The bare client: invoices are created and posted 20 at a time and read back, and that is all. */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { openBooks } from "./tryton-books.ts";
import { InvoiceDocument } from "../src/ledger/documents.ts";
import { factsOf, invoiceValues } from "../connectors/tryton/invoices.ts";
import { partyFor } from "../connectors/tryton/party.fixture.ts";
import { parseExact } from "../src/core/json.ts";
import { report } from "./usage.ts";

const BATCH = 20;
const books = await openBooks();
const text = readFileSync(process.env["FUELBRIDGE_DOCUMENTS"] ?? "", "utf8");
const documents = z.array(InvoiceDocument).parse(parseExact(text));
// What the values need of Tryton (ids of accounts, products, parties) is looked up before the clock runs.
const values: object[] = [];
for (const document of documents) {
  const kept = await factsOf(books, document);
  const party = await partyFor(books, document.party);
  values.push(await invoiceValues(books, { document, mark: document.id }, kept, party));
}

await report(async () => {
  const { tryton } = books;
  let posted = 0;
  for (let at = 0; at < values.length; at += BATCH) {
    const batch = values.slice(at, at + BATCH);
    const ids = await tryton.call<number[]>("model.account.invoice.create", [batch]);
    await tryton.call("model.account.invoice.post", [ids]);
    const fields = ["number", "state", "untaxed_amount", "tax_amount", "total_amount"];
    const rows = await tryton.call<{ state: string }[]>("model.account.invoice.read", [
      ids,
      fields,
    ]);
    posted += rows.filter(({ state }) => state === "posted").length;
  }
  return posted;
});
await books.tryton.close();
