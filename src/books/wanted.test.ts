import { expect, test } from "vitest";
import { carriedIn } from "./wanted.ts";

const payment = {
  id: "pay-1",
  number: "ACH 4711",
  type: "out",
  invoice: "FL-1",
  amount: 100.1,
  date: "2026-11-21",
  description: "ACH 4711",
};

test("requests that older versions froze are read: a payment alone, an invoice without a time to wait until", () => {
  const one = carriedIn("payment", JSON.stringify(payment));
  expect(one).toMatchObject([
    { document: { id: "pay-1", invoiceId: null }, counterpart: null, until: null },
  ]);
  const again = JSON.stringify([{ document: payment, counterpart: "#12 payment:pay-1" }]);
  expect(carriedIn("payment", again)).toMatchObject([
    { document: { id: "pay-1" }, counterpart: "#12 payment:pay-1", until: null },
  ]);
});
