import { expect, test } from "vitest";
import type { LedgerAdapter, Books } from "./port.ts";
import { Decimal } from "../core/decimal.ts";
import { bodyOf, carriedIn } from "./desired.ts";

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

test("orders and tickets are frozen as before they were kinds of the driver: an order with its link, a ticket alone", () => {
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
  const orders = bodyOf(books, "order", [itemOf(order)]);
  expect(JSON.parse(orders)).toEqual([
    { document: JSON.parse(JSON.stringify(order)), counterpart: "sale 1" },
  ]);
  expect(carriedIn("order", orders)).toEqual([
    { document: order, counterpart: "sale 1", until: null },
  ]);
  const tickets = bodyOf(books, "shipment", [itemOf(ticket)]);
  expect(JSON.parse(tickets)).toEqual([JSON.parse(JSON.stringify(ticket))]);
  expect(carriedIn("shipment", tickets)).toEqual([
    { document: ticket, counterpart: null, until: null },
  ]);
});
