import { expect, test } from "vitest";
import type { Books, LedgerAdapter } from "./port.ts";
import { Decimal } from "../core/decimal.ts";
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
