import { expect, test } from "vitest";
import { mappings } from "../../mappings/index.ts";
import { holdingKindOf, kinds } from "./kinds.ts";

test("every kind of a mapping is a kind of holding, or is known to be none", () => {
  const used = [...new Set(mappings.map(({ kind }) => kind))].toSorted();
  expect(used.filter((kind) => !Object.hasOwn(kinds, kind))).toEqual([]);
  expect(Object.fromEntries(used.map((kind) => [kind, holdingKindOf(kind)]))).toMatchObject({
    bill: "bill",
    "bill-payment": "bill-payment",
    customer: "party",
    "delivery-ticket": "ticket",
    invoice: "invoice",
    "invoice-payment": null,
    order: "order",
    payment: "payment",
    "rack-price": "price",
    supplier: "party",
  });
});
