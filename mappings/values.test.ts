import { expect, test } from "vitest";
import { cellOf } from "./values.ts";
import { referencesBy } from "../src/core/contract.ts";

const rows: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ULSD: { product: "ULSD", item: " " },
};
const references = referencesBy(
  { tables: { row: (_, key) => rows[key] ?? null }, currency: "USD", dayOf: (instant) => instant },
  () => null,
);

test.each([
  [
    "a row that is missing",
    "E85",
    {
      message: "crossref/items.csv has no row `E85`",
      next: 'Add a row for E85 to the cross-reference table "items" and retry.',
      lookup: { table: "items", key: "E85" },
    },
  ],
  [
    "a cell that is empty",
    "ULSD",
    {
      message: "crossref/items.csv has nothing in the column item of the row `ULSD`",
      next: 'Fill the column item of the row ULSD in the cross-reference table "items" and retry.',
      reason: "crossref/items.csv: item of ULSD",
    },
  ],
])("%s is told by file, row and column, with what to write there", (_, key, fault) => {
  expect(() => cellOf(references, "items", key, "item")).toThrow(
    expect.objectContaining({ fault: { code: "not-mapped", ...fault } }),
  );
});
