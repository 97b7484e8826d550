/** Where a value of a document was read is told by what was read, and not by the words that name it. */
import { expect, test } from "vitest";
import { Decimal } from "../core/decimal.ts";
import { referencesBy } from "../core/contract.ts";
import { explain } from "./explain.ts";
import { defineMapping, z } from "./index.ts";

const key = "No. 2 [1], column item.grade";
const mapping = defineMapping({
  name: "site/said",
  kind: "order-note",
  reads: "test.notes",
  writes: "test.notes",
  input: z.object({ grade: z.string(), "option item": z.string() }),
  output: z.object({ item: z.string(), prefix: z.string() }),
  options: z.object({ item: z.string().default("PF") }),
  number: ({ grade }) => grade,
  map: ({ grade }, references, { item }) => ({
    item: references.row("items", grade)["item"] ?? "",
    prefix: item,
  }),
  figures: () => ({ amount: null, gallons: Decimal.zero }),
});

test("a key that reads like a place, and a field that reads like an option, are not taken for them", () => {
  const rows: Readonly<Record<string, string>> = { product: key, item: key };
  const references = referencesBy(
    { tables: { row: () => rows }, currency: "USD", dayOf: (instant) => instant },
    () => null,
  );
  const told = { grade: key, "option item": "unused" };
  const { fields, unread } = explain(mapping, told, { references, options: { item: "PF" } });
  expect(fields).toMatchObject([
    { path: "item", how: "copied", from: [`items.csv, row ${key}, column item`] },
    { path: "prefix", how: "copied", from: ["option item"] },
  ]);
  expect(unread.warned).toEqual(["option item"]);
});
