/** Payments in the ledger: what customers pay (`sale`), and what we pay (`purchase`). */
import {
  type LedgerAdapter,
  type Call,
  PAYMENTS,
  PLAIN_ENTRY,
  type Entry,
} from "../../src/ledger/port.ts";
import type { PaymentDocument } from "../../src/ledger/documents.ts";
import { paymentFacts } from "../../src/ledger/entries.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { coveredAmong, coveringBy, type Notes, paidBy } from "../../src/ledger/notes.ts";
import { NoteRow, PaymentRow } from "./rows.ts";
import { reading, table } from "./tables.ts";
import type { Wire } from "./wire.ts";

export function paymentAdapter(
  wire: Wire,
  currency: string,
): LedgerAdapter<"payment", PaymentRow | null> {
  const rows = table(wire, "payments", PaymentRow);
  const entry = (row: PaymentRow): Entry<PaymentRow> => entryOf(currency, row);
  return {
    ...reading(rows, entry),
    ...PAYMENTS,
    expected: async (documents) => documents.map((one) => paymentFacts(one, currency)),
    async locate(desired, call) {
      const found = await rows.search({ marks: desired.map(({ mark }) => mark) }, call.signal);
      const absent = desired.filter(({ mark }) => found.every((row) => row.mark !== mark));
      const on = absent.map(({ document }) => document.invoice);
      return [...found.map(entry), ...(await coveredAmong(notesIn(wire, call), on, absent))];
    },
    create: (desired, call) =>
      rows.create(
        desired.map(({ mark, document, on }) => ({
          mark,
          side: sideOf(document),
          document: document.invoice,
          date: document.date,
          amount: document.amount,
          text: document.description,
          // What is more than is to pay stays on the party's account; without this word the ledger refuses it.
          onAccount: document.amount.compare(openOf(on)) > 0,
        })),
        call,
      ),
    covering: coveringBy(
      (call) => notesIn(wire, call),
      ({ id }) => id ?? "",
    ),
  };
}

const openOf = (on: Entry | undefined): Decimal => paidBy(on).facts.money?.open ?? Decimal.zero;

/** Notes on the ledger's records, by their ids. */
function notesIn(wire: Wire, call: Call): Notes {
  const rows = table(wire, "notes", NoteRow);
  return {
    async on(resources, beginnings) {
      const all = await rows.search({ numbers: resources }, call.signal);
      return all
        .filter(
          ({ text }) => beginnings.length === 0 || beginnings.some((one) => text.startsWith(one)),
        )
        .map(({ document, text }) => ({ resource: document, message: text }));
    },
    async add(document, text) {
      await rows.create([{ mark: null, document, text }], call);
    },
  };
}

const sideOf = ({ type }: PaymentDocument): "sale" | "purchase" =>
  type === "out" ? "sale" : "purchase";

const entryOf = (currency: string, row: PaymentRow): Entry<PaymentRow> => ({
  ...PLAIN_ENTRY,
  id: row.id,
  mark: row.mark,
  party: row.party,
  status: row.state,
  touched: row.touched,
  facts: {
    number: row.id,
    party: row.party,
    days: { date: row.date },
    money: { amount: row.amount },
    words: { side: row.side, currency, document: row.document, reference: row.text },
  },
  version: row.version,
  native: row,
});
