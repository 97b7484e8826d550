/** A document of 100.00, and a record of it in the books. */
import { Decimal } from "../core/decimal.ts";
import type { Facts } from "../core/holdings.ts";
import type { Books, Capabilities, Desired, Entry } from "./port.ts";
import type { InvoiceDocument } from "./documents.ts";

const AMOUNT = Decimal.of("100.00");
const facts: Facts = {
  days: { due: "2026-12-08" },
  money: { total: AMOUNT },
  words: { order: "PO 1" },
};

export const can: Capabilities = {
  has: ["draft", "posted", "settled", "cancelled"],
  byUs: "settled",
  amend: { order: "posted", state: "posted" },
  atomic: 20,
  numbered: "per-party",
};

export const books: Pick<Books, "name" | "surroundings"> = {
  name: "the ledger",
  surroundings: { now: () => new Date("2026-11-21T12:00:00Z"), ignore: {} },
};

export const desired = (more: Partial<Desired>): Desired => ({
  document: { number: "FL-1", paidDate: "2026-11-20" } as InvoiceDocument,
  expected: facts,
  mark: "id-1",
  number: "FL-1",
  party: "C-1",
  payer: null,
  target: "posted",
  disputed: false,
  binding: null,
  until: null,
  ...more,
});

export const entry = (more: Partial<Entry>): Entry => ({
  id: "S-1",
  mark: "id-1",
  number: "FL-1",
  party: "C-1",
  status: "posted",
  unfinished: false,
  touched: false,
  disputed: false,
  payments: [],
  facts: { ...facts, money: { ...facts.money, open: AMOUNT } },
  paid: null,
  version: null,
  native: null,
  ...more,
});
