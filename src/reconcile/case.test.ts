/** What a record counts for. */
import { expect, test } from "vitest";
import { Decimal } from "../core/decimal.ts";
import type { Holding } from "../core/holdings.ts";
import { gallonsOf } from "./case.ts";

const order = (...lines: (readonly [quantity: string | null, unit: string | null])[]): Holding =>
  ({
    kind: "order",
    id: "1",
    facts: {
      state: "posted",
      lines: lines.map(([quantity, unit]) => ({
        product: null,
        quantity: quantity === null ? null : Decimal.of(quantity),
        unit,
        unitPrice: null,
        amount: Decimal.zero,
      })),
    },
  }) as unknown as Holding;

test.each([
  ["gallons", [["7500.25", "gal"]], "7500.25"],
  ["a line without a unit has gallons", [["10", null]], "10"],
  [
    "liters, as either side writes them",
    [
      ["1000", "liter"],
      ["1000", "l"],
    ],
    "528.344",
  ],
  [
    "barrels beside gallons",
    [
      ["2", "BBL"],
      ["1", "gal"],
    ],
    "85",
  ],
  [
    "a unit that gallons cannot be told from",
    [
      ["5", "kg"],
      ["1", "gal"],
    ],
    "1",
  ],
  ["no quantity", [[null, "gal"]], "0"],
] as const)("an order counts with its gallons: %s", (_, lines, gallons) => {
  expect(
    gallonsOf(order(...lines))
      .shortest()
      .plain(),
  ).toBe(gallons);
});
