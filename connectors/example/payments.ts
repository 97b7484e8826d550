/** Payments in the ledger: what customers pay (`sale`), and what we pay (`purchase`). */
import type { BookAdapter, Standing } from "../../src/books/adapter.ts";
import type { PaymentDocument } from "../../src/books/documents.ts";
import { paymentFacts } from "../../src/books/facts.ts";
import { PaymentRow } from "./rows.ts";
import { reading, table } from "./tables.ts";
import type { Wire } from "./wire.ts";

export function paymentAdapter(wire: Wire, currency: string): BookAdapter<"payment", PaymentRow> {
  const rows = table(wire, "payments", PaymentRow);
  const standing = (row: PaymentRow): Standing<PaymentRow> => standingOf(currency, row);
  return {
    ...reading(rows, standing),
    ladder: {
      has: ["posted", "cancelled"],
      byUs: "posted",
      amend: {},
      atomic: 1,
      numbered: "per-party",
    },
    expected: async (documents) => documents.map((one) => paymentFacts(one, currency)),
    locate: async (wanted, { signal }) =>
      (await rows.search({ marks: wanted.map(({ mark }) => mark) }, signal)).map(standing),
    create: (wanted, call) =>
      rows.create(
        wanted.map(({ mark, document }) => ({
          mark,
          side: sideOf(document),
          document: document.invoice,
          date: document.date,
          amount: document.amount,
          text: document.description,
        })),
        call,
      ),
    // It is posted when it is made, and no document of the platform takes a payment back.
    advance: () => Promise.resolve(),
  };
}

const sideOf = ({ type }: PaymentDocument): "sale" | "purchase" =>
  type === "out" ? "sale" : "purchase";

const standingOf = (currency: string, row: PaymentRow): Standing<PaymentRow> => ({
  id: row.id,
  mark: row.mark,
  number: null,
  party: row.party,
  rung: row.state,
  unfinished: false,
  touched: row.touched,
  disputed: false,
  payments: [],
  facts: {
    number: row.id,
    party: row.party,
    days: { date: row.date },
    money: { amount: row.amount },
    words: { side: row.side, currency, document: row.document, reference: row.text },
  },
  paid: null,
  version: row.version,
  native: row,
});
