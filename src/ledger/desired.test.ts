import { expect, test } from "vitest";
import type { Books, LedgerAdapter } from "./port.ts";
import { Decimal } from "../core/decimal.ts";
import { defined } from "../core/defined.ts";
import { bodyOf, carriedIn } from "./desired.ts";

const head = { id: "id-1", number: "1", party: { code: "C", name: "C", companyId: "c" } };
const order = {
  ...head,
  type: "sale",
  status: "draft",
  date: null,
  description: null,
  lines: [
    {
      product: "P",
      quantity: Decimal.of("1"),
      unit: "gal",
      unitPrice: Decimal.of("2"),
      description: "P",
    },
  ],
};
const ticket = {
  ...head,
  type: "out",
  status: "done",
  order: null,
  date: null,
  reference: "BOL",
  note: null,
  lines: [
    {
      product: "P",
      quantity: Decimal.of("1"),
      unit: "gal",
      grossGallons: null,
      netGallons: null,
      temperature: null,
      apiGravity: null,
    },
  ],
};

test("what is frozen of an order and of a ticket is read again: an order with its link, a ticket without", () => {
  const adapters = {
    order: {} as LedgerAdapter<"order">,
    shipment: {} as LedgerAdapter<"shipment">,
  };
  const books = { name: "books", adapters } as unknown as Books;
  const itemOf = (document: object) => ({
    id: "id-1",
    number: "1",
    revision: "r",
    document,
    counterpart: "sale 1",
  });
  expect(carriedIn("order", bodyOf(books, "order", [itemOf(order)]))).toEqual([
    { document: order, counterpart: "sale 1", until: null },
  ]);
  expect(carriedIn("shipment", bodyOf(books, "shipment", [itemOf(ticket)]))).toEqual([
    { document: ticket, counterpart: null, until: null },
  ]);
});

test("a paid invoice waits for its payments where these books wait and a flow brings payments, else not", () => {
  const none = Decimal.of("0");
  const sums = { lines: [{ ...order.lines[0], account: null, amount: none }], taxes: [] };
  const dates = { invoiceDate: "2026-11-21", dueDate: null, paidDate: "2026-11-21" };
  const paid = { ...head, type: "out", status: "paid", description: null, ...dates, ...sums };
  const document = { ...paid, subtotal: none, tax: none, total: none };
  const untilOf = (settleAfterMs: number, settledSince?: string) => {
    const books = { name: "books", adapters: { invoice: {} }, settleAfterMs } as unknown as Books;
    const item = { id: "id-1", number: "1", revision: "r", document, counterpart: null };
    const body = bodyOf(books, "invoice", [{ ...item, ...defined({ settledSince }) }]);
    return carriedIn("invoice", body)[0]?.until;
  };
  const since = "2026-11-21T11:00:00.000Z";
  expect(untilOf(3_600_000, since)).toBe("2026-11-21T12:00:00.000Z");
  expect([untilOf(0, since), untilOf(3_600_000)]).toEqual([null, null]);
});
