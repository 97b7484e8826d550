/**
 * Every HTTP write of every document is cut off once before QuickBooks carries it out and once after, and the process that
 * sent it is gone: the next one finds or sends it, and the books have exactly one.
 *
 * @module-tag numbers
 */
import { expect, test } from "vitest";
import type { OrderDocument } from "../../src/ledger/documents.ts";
import type { Item, Sink } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { runs } from "../../test/support/runs.ts";
import {
  billDocument,
  invoiceDocument,
  itemOf,
  paymentDocument,
} from "../example/example.fixture.ts";
import type { Company } from "./company.fixture.ts";
import { openCompany } from "./company-server.fixture.ts";
import {
  deliver,
  never,
  newNotebook,
  opened,
  orderDocument,
  requestOf,
  settings,
} from "./quickbooks-online.fixture.ts";

type Make = (id: string, books: { invoice: string; bill: string }) => Item;
interface Case {
  readonly sink: string;
  /** Writes of its send. */
  readonly writes: number;
  readonly effects: ReturnType<typeof effectsOf>;
  readonly first?: Make;
  readonly item: Make;
}

/** Half of each quantity. */
const halved = ({ lines }: OrderDocument): OrderDocument["lines"] =>
  lines.map((line) => ({ ...line, quantity: line.quantity.times(Decimal.of("0.5")) }));

const paid = { status: "paid", paidDate: "2026-11-21" } as const;
const ofParty = (id: string) => ({ party: { code: id, name: id, companyId: `company-${id}` } });

const ofOrder = (id: string, more: Partial<OrderDocument> = {}): Item =>
  itemOf(orderDocument(id, { ...ofParty(id), ...more }));

const CASES: Readonly<Record<string, Case>> = {
  "an invoice of a new customer": {
    sink: "invoices",
    effects: { documents: 1, settlements: 0, parties: 1 },
    writes: 2,
    item: (id) => itemOf(invoiceDocument(id, ofParty(id))),
  },
  "an invoice that is settled as one": {
    sink: "invoices",
    effects: { documents: 1, settlements: 1, parties: 0 },
    writes: 2,
    item: (id) => itemOf(invoiceDocument(id, paid)),
  },
  "another due date": {
    sink: "invoices",
    effects: { documents: 1, settlements: 0, parties: 0 },
    writes: 1,
    first: (id) => itemOf(invoiceDocument(id)),
    item: (id) => itemOf(invoiceDocument(id, { dueDate: "2026-12-31" })),
  },
  "a void invoice": {
    sink: "invoices",
    effects: { documents: 1, settlements: 0, parties: 0 },
    writes: 1,
    first: (id) => itemOf(invoiceDocument(id)),
    item: (id) => itemOf(invoiceDocument(id, { status: "void" })),
  },
  "a bill of a new vendor": {
    sink: "bills",
    effects: { documents: 1, settlements: 0, parties: 1 },
    writes: 2,
    item: (id) => itemOf(billDocument(id, ofParty(id))),
  },
  "an estimate of a new customer": {
    sink: "orders",
    effects: { documents: 1, settlements: 0, parties: 1 },
    writes: 2,
    item: (id) => ofOrder(id),
  },
  "a purchase order of a new vendor": {
    sink: "orders",
    effects: { documents: 1, settlements: 0, parties: 1 },
    writes: 2,
    item: (id) => ofOrder(id, { type: "purchase" }),
  },
  "an estimate that is confirmed with other lines": {
    sink: "orders",
    effects: { documents: 1, settlements: 0, parties: 1 },
    writes: 2,
    first: (id) => ofOrder(id, { status: "draft", lines: halved(orderDocument(id)) }),
    item: (id) => ofOrder(id),
  },
  "a payment of a customer": {
    sink: "payments",
    effects: { documents: 1, settlements: 0, parties: 0 },
    writes: 1,
    item: (id, { invoice }) => itemOf(paymentDocument(id, invoice)),
  },
  "a payment of a bill": {
    sink: "payments",
    effects: { documents: 1, settlements: 0, parties: 0 },
    writes: 1,
    item: (id, { bill }) => itemOf(paymentDocument(id, bill, { type: "in" })),
  },
};

/** How often all cuts are made: in the long run with and without what QuickBooks keeps of request ids. */
const ROUNDS = runs(1, 4, 20);

for (const [name, one] of Object.entries(CASES))
  test(`${name}: cut off at every write, and sent by the next process, it is in the books exactly once`, async () => {
    const company = await openCompany();
    const config = settings(company);
    // The store's, which outlives a process.
    const notebook = newNotebook();
    const sinkOf = (sink: string): Sink => opened(config, { notebook }).sinks[sink] as Sink;
    let number = 0;
    for (let round = 0; round < ROUNDS; round++)
      for (let write = 1; write <= one.writes; write++)
        for (const moment of ["before", "after"] as const) {
          // QuickBooks keeps request ids for a time that nobody published: with and without them.
          company.forgets = round % 2 === 0;
          const books = await paidDocuments(sinkOf, company);
          const id = `K-${++number}`;
          if (one.first !== undefined) await deliver(sinkOf(one.sink), one.first(id, books));
          const item = one.item(id, books);
          await killedAt(company, sinkOf(one.sink), item, write, moment);
          const next = sinkOf(one.sink);
          const found = await next.find(requestOf(next, [item]), never);
          expect(["none", "exact"], `${id} ${JSON.stringify(found)}`).toContain(found.found);
          expect(await deliver(next, item)).toMatchObject({ outcome: "done" });
          const read = await next.find(requestOf(next, [item]), never);
          expect(read).toMatchObject({ found: "exact" });
          const told = `${id} at write ${write}, ${moment}`;
          expect(effectsOf(company, one.sink, id), told).toEqual(one.effects);
        }
  });

/** The send ends without the answer of its nth write; what the process knew is gone with it. */
async function killedAt(
  company: Company,
  sink: Sink,
  item: Item,
  write: number,
  moment: "before" | "after",
): Promise<void> {
  let seen = 0;
  company.cuts = () => (++seen === write ? moment : null);
  const answer = await deliver(sink, item);
  company.cuts = null;
  expect(seen, "the write was made").toBe(write);
  expect(answer.outcome).toBe("unknown");
}

/** An invoice and a bill with enough open. */
async function paidDocuments(sinkOf: (name: string) => Sink, company: Company) {
  const number = `P-${company.rows("Invoice").length}`;
  const invoice = await deliver(sinkOf("invoices"), itemOf(invoiceDocument(number)));
  const bill = await deliver(sinkOf("bills"), itemOf(billDocument(number)));
  return { invoice: invoice.ids?.[0] ?? "", bill: bill.ids?.[0] ?? "" };
}

const TABLES: Readonly<Record<string, readonly string[]>> = {
  invoices: ["Invoice"],
  bills: ["Bill"],
  orders: ["Estimate", "PurchaseOrder"],
  payments: ["Payment", "BillPayment"],
};

/** How many there are of a document, of the payments that settle it as one, and of its party. */
function effectsOf(company: Company, sink: string, id: string) {
  const count = (tables: readonly string[], field: string, mark: RegExp) =>
    tables.flatMap((table) => company.rows(table)).filter((row) => mark.test(String(row[field])))
      .length;
  return {
    documents: count(TABLES[sink] ?? [], "PrivateNote", new RegExp(`:(?:id-)?${id}(?: |$)`)),
    settlements: count(["Payment"], "PrivateNote", new RegExp(`platform:id-${id}(?: |$)`)),
    parties: count(["Customer", "Vendor"], "CompanyName", new RegExp(`^${id}$`)),
  };
}
