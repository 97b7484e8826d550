/** What the ledger keeps of each kind of document, how it is written and how it is read. */
import type { z } from "zod";
import { Decimal } from "../../src/core/decimal.ts";
import type { InvoiceDocument, Party, PaymentDocument } from "../../src/ledger/documents.ts";
import {
  documentFacts,
  expectFits,
  orderText,
  partiesOnce,
  partyChange,
  partyFacts,
  paymentFacts,
  toldInvoice,
} from "../../src/ledger/entries.ts";
import { PAYMENTS, sideOf } from "../../src/ledger/port.ts";
import type { Rest } from "../../src/ledger/rest.ts";
import type { PriceTable, Table } from "../../src/ledger/table.ts";
import type { ExampleConfig } from "./config.ts";
import { InvoiceRow, notesIn, PartyRow, PaymentRow, PriceRow, recordsOf } from "./records.ts";

export const tablesOf = (wire: Rest, config: ExampleConfig) => ({
  invoice: documents(wire, config, "invoice"),
  bill: documents(wire, config, "bill"),
  payment: payments(wire),
  party: parties(wire),
  price: prices(wire),
});

/** What people call it in a message. */
export const BOOKS = "the ledger";

/** The ledger keeps texts up to this length. */
const TEXT_MAX = 200;

/** How far a record has come, in the words of the floor. */
const STATUSES = {
  draft: "draft",
  posted: "posted",
  paid: "settled",
  cancelled: "cancelled",
} as const;

type InvoiceRow = z.infer<typeof InvoiceRow>;
type Invoice = Pick<InvoiceRow, "reference" | "date" | "due" | "order" | "lines" | "taxes">;

/** The ledger adds up by itself: what it makes of a document is compared before it is posted. */
const documents = <K extends "invoice" | "bill">(
  wire: Rest,
  { posting, batch, accounts }: ExampleConfig,
  kind: K,
): Table<K, Invoice, InvoiceRow> => ({
  can: {
    has: ["draft", "posted", "settled", "cancelled"],
    byUs: posting === "post" ? "settled" : "draft",
    amend: { "days.due": "posted", order: "posted", state: "posted" },
    atomic: batch,
    numbered: kind === "invoice" ? "once" : "per-party",
  },
  records: recordsOf<K, Invoice, InvoiceRow>(wire, `${kind}s`, InvoiceRow, {
    created: ({ party, disputed }) => ({ party, disputed }),
    amended: ({ due, order }, { disputed }) => ({ due, order, disputed }),
  }),
  accept({ lines }: InvoiceDocument) {
    for (const { description } of lines)
      expectFits(BOOKS, "a line's text", description, TEXT_MAX, ["lines.description"]);
  },
  write: (document: InvoiceDocument) => ({
    reference: document.number,
    date: document.invoiceDate,
    due: document.dueDate,
    order: orderText(document),
    lines: document.lines.map(({ description: text, account, ...line }) => ({
      ...line,
      account: account ?? (kind === "invoice" ? accounts.revenue : accounts.expense),
      text,
    })),
    taxes: document.taxes.map(({ description: text, ...tax }) => ({ ...tax, text })),
  }),
  facts: ({ taxes, ...kept }) =>
    documentFacts({ ...kept, taxes: taxes.map(({ account: code, ...tax }) => ({ code, ...tax })) }),
  read: ({ id, mark, reference, party, state, disputed, payments, paid, ...row }) => ({
    id,
    mark,
    number: reference,
    party,
    status: STATUSES[state],
    touched: row.touched,
    disputed,
    payments,
    paid,
    version: row.version,
    // The number is the ledger's, and not known before.
    facts: {
      number: id,
      money: { untaxed: row.untaxed, tax: row.tax, total: row.total, open: row.open },
    },
  }),
  // Flows read customer invoices only.
  ...(kind === "invoice" ? { tell: (entry) => toldInvoice(entry) } : {}),
});

type PaymentRow = z.infer<typeof PaymentRow>;
type Payment = Pick<PaymentRow, "side" | "document" | "date" | "amount" | "text">;

/** What customers pay (`sale`), and what we pay (`purchase`). */
const payments = (wire: Rest): Table<"payment", Payment, PaymentRow> => ({
  ...PAYMENTS,
  records: recordsOf<"payment", Payment, PaymentRow>(wire, "payments", PaymentRow, {
    // What is more than is to pay stays on the party's account; without this word the ledger refuses it.
    created: ({ document, on }) => ({
      onAccount: document.amount.compare(on?.facts.money?.open ?? Decimal.zero) > 0,
    }),
  }),
  write: ({ type, invoice, date, amount, description }: PaymentDocument) => ({
    side: sideOf({ type }),
    document: invoice,
    date,
    amount,
    text: description,
  }),
  facts: paymentFacts,
  read: ({ id, mark, party, state, touched, version }) => ({
    id,
    mark,
    party,
    status: state,
    touched,
    version,
    facts: { number: id },
  }),
  notes: (call) => notesIn(wire, call),
});

type PartyRow = z.infer<typeof PartyRow>;

/** A code, a name, and the platform's id of the company. */
const parties = (wire: Rest): Table<"party", Pick<PartyRow, "id" | "name">, PartyRow> => ({
  ...partiesOnce(["posted", "cancelled"], 100),
  records: recordsOf(wire, "parties", PartyRow),
  write: ({ code, name }: Party) => ({ id: code, name }),
  facts: ({ id, name }) => partyFacts(id, name),
  read: ({ id, mark, active, touched, version }) => ({
    id,
    mark,
    number: id,
    status: active ? "posted" : "cancelled",
    touched,
    version,
  }),
  tell: ({ native: { id: code, mark: companyId, name, isCustomer, isSupplier, email, active } }) =>
    partyChange(BOOKS, { code, name, isCustomer, isSupplier, companyId, email, active }),
});

const prices = (wire: Rest): PriceTable<z.infer<typeof PriceRow>> => ({
  records: recordsOf(wire, "prices", PriceRow, { shared: ({ product }) => product }),
  line: ({ list, product: code, price, unit }) => ({
    list,
    code,
    name: code,
    unit,
    formula: price?.text ?? "",
  }),
});
