import { expect, test } from "vitest";
import { mappings } from "../../mappings/index.ts";
import { holdingKindOf } from "./kinds.ts";

test("every kind of a mapping is a kind of holding, or is known to be none", () => {
  const kinds = [...new Set(mappings.map(({ kind }) => kind))].toSorted();
  expect(Object.fromEntries(kinds.map((kind) => [kind, holdingKindOf(kind)]))).toEqual({
    bill: "bill",
    "bill-payment": "bill-payment",
    customer: "party",
    "delivery-ticket": null,
    invoice: "invoice",
    "invoice-payment": null,
    order: null,
    payment: "payment",
    "rack-price": "price",
    supplier: "party",
    "supplier-invoice": "bill",
  });
});
