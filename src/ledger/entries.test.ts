/** Where books have a field for the PO number, it stands there alone; elsewhere one text says PO and contract. */
import { expect, test } from "vitest";
import { orderParts, orderText } from "./entries.ts";

const both = { poNumber: "4500017823", description: "contract C-9" };

test.each([
  [both, "PO 4500017823, contract C-9"],
  [{ ...both, poNumber: null }, "contract C-9"],
  [{ ...both, description: null }, "PO 4500017823"],
  [{ description: null }, null],
])("PO and contract are one text where books have no field: %j", (document, text) => {
  expect(orderText(document)).toBe(text);
});

test("a field for the PO number holds it alone, and the text beside it does not repeat it", () => {
  expect(orderParts(both, (poNumber) => poNumber)).toEqual({
    field: "4500017823",
    rest: "contract C-9",
  });
});

test("a PO number that the field cuts stays whole in the text", () => {
  expect(orderParts(both, (poNumber) => poNumber.slice(0, 4))).toEqual({
    field: "4500",
    rest: "PO 4500017823, contract C-9",
  });
});
