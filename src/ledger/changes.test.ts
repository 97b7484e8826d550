/** Paid means paid with money: what is told of who paid an invoice, and with what (ADR 0010). */
import { expect, test } from "vitest";
import { Decimal } from "../core/decimal.ts";
import { payersOfEntry } from "./entries.ts";
import type { PaymentOn } from "./port.ts";

const d = (text: string): Decimal => Decimal.of(text);
const part = (amount: string, more: Partial<PaymentOn> = {}): PaymentOn => ({
  mark: null,
  amount: d(amount),
  ...more,
});
const ours = { mark: "payment-1" };
const credit = { instead: "credit note C-7" };

test.for<[what: string, open: string, settling: readonly PaymentOn[], clearedBy: string]>([
  ["nothing", "100.00", [], "money"],
  ["a payment", "0.00", [part("100.00")], "money"],
  ["two payments, one of ours", "0.00", [part("60.00"), part("40.00", ours)], "money"],
  ["more than is to pay", "0.00", [part("120.00")], "money"],
  ["a credit note", "0.00", [part("100.00", credit)], "credit note C-7 of 100.00"],
  [
    "a payment and a credit note",
    "0.00",
    [part("60.00"), part("40.00", credit)],
    "credit note C-7 of 40.00",
  ],
  [
    "a payment of ours and a write-off",
    "0.00",
    [part("99.50", ours), part("0.50", { instead: "write-off #3" })],
    "write-off #3 of 0.50",
  ],
  ["a part, by a credit note", "60.00", [part("40.00", credit)], "credit note C-7 of 40.00"],
  ["nothing that is told", "0.00", [], "100.00 without a payment"],
  ["a payment of a part, and nothing else", "0.00", [part("90.00")], "10.00 without a payment"],
  [
    "a credit note of it and of another invoice",
    "0.00",
    [part("150.00", credit), part("-50.00", { instead: "credit note or other invoice #9" })],
    "credit note C-7 of 100.00",
  ],
  [
    "a payment of ours and a greater credit note",
    "0.00",
    [part("60.00", ours), part("150.00", credit)],
    "credit note C-7 of 40.00",
  ],
  [
    "a payment of it and of another invoice that it was reconciled with",
    "0.00",
    [part("150.00"), part("-50.00", { instead: "credit note or other invoice #9" })],
    "money",
  ],
])("an invoice of 100.00 that is settled by %s", ([, open, settling, clearedBy]) => {
  const status = d(open).sign === 0 ? "settled" : "posted";
  const told = payersOfEntry({ status, payments: settling }, d("100.00"), d(open));
  expect(told.clearedBy).toBe(clearedBy);
  const isOurs = settling.length > 0 && settling.every(({ mark }) => mark !== null);
  expect(told.paidByPlatform).toBe(status === "settled" && isOurs && clearedBy === "money");
});

test("an invoice that our payments settle but for a rest was not paid by the platform alone", () => {
  const entry = { status: "settled", payments: [part("90.00", ours)] } as const;
  expect(payersOfEntry(entry, d("100.00"), Decimal.zero)).toMatchObject({ paidByPlatform: false });
});

test("an invoice of which a payment waits for its settlement was not paid by that one", () => {
  const payments = [part("100.00", ours), part("100.00", { isPending: true })];
  const told = payersOfEntry({ status: "settled", payments }, d("100.00"), Decimal.zero);
  expect(told).toMatchObject({ paidByPlatform: true });
});

test("one that is cancelled says nothing of what it was settled by", () => {
  const told = payersOfEntry({ status: "cancelled", payments: [] }, d("100.00"), Decimal.zero);
  expect(told).toEqual({ paidByPlatform: false, paidByOthers: null, clearedBy: "money" });
});
