/** Paid means paid with money: what is told of who paid an invoice, and with what (ADR 0010). */
import { expect, test } from "vitest";
import { Decimal } from "../core/decimal.ts";
import { type PaidInvoice, payersOf } from "./entries.ts";

const d = (text: string): Decimal => Decimal.of(text);
type Settling = PaidInvoice["settling"][number];
const part = (amount: string, more: Partial<Settling> = {}): Settling => ({
  isOurs: false,
  amount: d(amount),
  isReconciled: true,
  ...more,
});
const ours = { isOurs: true };
const credit = { instead: "credit note C-7" };

test.for<[what: string, open: string, settling: readonly Settling[], clearedBy: string]>([
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
    "a payment of it and of another invoice that it was reconciled with",
    "0.00",
    [part("150.00"), part("-50.00", { instead: "credit note or other invoice #9" })],
    "money",
  ],
])("an invoice of 100.00 that is settled by %s", ([, open, settling, clearedBy]) => {
  const state = d(open).sign === 0 ? "paid" : "posted";
  const told = payersOf({ state, total: d("100.00"), open: d(open), settling });
  expect(told.clearedBy).toBe(clearedBy);
  const isOurs = settling.length > 0 && settling.every((one) => one.isOurs);
  expect(told.paidByPlatform).toBe(state === "paid" && isOurs && clearedBy === "money");
});

test("an invoice that our payments settle but for a rest was not paid by the platform alone", () => {
  const settling = [part("90.00", ours)];
  const paid = { state: "paid", total: d("100.00"), open: Decimal.zero, settling };
  expect(payersOf(paid)).toMatchObject({ paidByPlatform: false });
});

test("one that is cancelled says nothing of what it was settled by", () => {
  const paid = { state: "cancelled", total: d("100.00"), open: Decimal.zero, settling: [] };
  expect(payersOf(paid)).toEqual({ paidByPlatform: false, paidByOthers: null, clearedBy: "money" });
});
