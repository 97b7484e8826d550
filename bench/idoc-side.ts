/**
 * One side of the comparison in a process of its own: fast-xml-parser's builder makes XML of bills that are ready-made
 * trees of an IDoc, with nothing checked; or the files connector writes the same IDocs from the bills, with every schema,
 * length and character checked.
 */
import { XMLBuilder, XMLParser } from "fast-xml-parser";
import { report } from "./usage.ts";
import type { Item } from "../src/core/contract.ts";
import { Decimal } from "../src/core/decimal.ts";
import type { SupplierInvoiceDocument } from "../src/formats/documents.ts";
import { InvoicSink } from "../src/formats/idoc/config.ts";
import { idocWriter } from "../src/formats/idoc/write.ts";
import { surroundingsIn } from "../test/support/surroundings.ts";

const { FUELBRIDGE_SIDE: side = "", FUELBRIDGE_DOCUMENTS: documents = "0" } = process.env;
const LINES = 8;

const line = (at: number): SupplierInvoiceDocument["lines"][number] => ({
  item: `ULSD${at}`,
  product: `ULSD${at}`,
  description: "ULSD no. 2 dyed",
  spec: null,
  gallons: Decimal.of(`${7500 + at}.5`),
  grossGallons: null,
  netGallons: null,
  rate: Decimal.of("2.435167"),
  amount: Decimal.of(`${18_263 + at}.78`),
  bolNumber: "5512009",
  deliveryTicket: `DT-2026-${at}`,
  location: null,
  carrier: null,
  deliveredDate: "2026-08-12T18:00:00Z",
});

/** Amounts are texts to be read anew for each document, as they are when one comes from the store. */
function itemOf(at: number): Item {
  const id = `7c9e6679-7425-40de-944b-${String(at).padStart(12, "0")}`;
  const lines = Array.from({ length: LINES }, (_, index) => line(index));
  const total = Decimal.of("146138.24");
  const document: SupplierInvoiceDocument = {
    id,
    number: `F-2026-${at}`,
    version: "2026-08-14T15:02:11.123456Z",
    status: "OUTSTANDING",
    vendor: "104711",
    issuerId: id,
    orderId: null,
    invoiceDate: "2026-08-14T03:30:00Z",
    dueDate: "2026-09-12T12:00:00Z",
    paidDate: null,
    poNumber: "4500017823",
    contractNumber: "C & D",
    subtotal: total,
    taxTotal: Decimal.zero,
    total,
    notes: null,
    lines,
    taxes: [],
  };
  return { number: document.number, id, revision: `r${at}`, document, counterpart: null };
}

const writer = idocWriter(
  InvoicSink.parse({
    message: "INVOIC",
    sender: { port: "FUELBRIDGE", partner: "FUELBRIDGE" },
    receiver: { port: "SAPS4P", partner: "S4PCLNT100" },
    companyCode: { code: "1710", name: "Example Fuels" },
  }),
  surroundingsIn("."),
);

const names = { ignoreAttributes: false, attributeNamePrefix: "@" };
const builder = new XMLBuilder(names);
const parser = new XMLParser({ ...names, parseTagValue: false });

const many = Number(documents);
const items = Array.from({ length: many }, (_, at) => itemOf(at));
/** What is ready before the time counts. */
const ready: readonly (() => string)[] =
  side === "builder"
    ? items.map((item) => {
        const tree: unknown = parser.parse(writer.textOf([item]));
        return () => builder.build(tree);
      })
    : items.map((item) => () => writer.textOf([item]));

await report(() => {
  let written = 0;
  for (const write of ready) if (write().length > 1000) written++;
  return Promise.resolve(written);
});
