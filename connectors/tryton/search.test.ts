import { describe, expect, test } from "vitest";
import { Decimal } from "../../src/core/decimal.ts";
import {
  amounts,
  as,
  called,
  either,
  many,
  namesOf,
  oneOrNone,
  rowIn,
  textsOrNone,
  where,
} from "./rows.ts";

describe("a row of Tryton is described once", () => {
  const fields = {
    ...textsOrNone("number comment"),
    ...amounts("total"),
    state: as<"draft" | "posted">(),
    party: called("customer", oneOrNone(textsOrNone("code"))),
    lines: many({ ...amounts("amount"), product: oneOrNone(textsOrNone("code")) }),
  };

  test("the names that are asked for are those that are read, with their types", () => {
    expect(namesOf(fields)).toEqual(
      ["number", "comment", "total", "state", "customer.code"].concat([
        "lines.amount",
        "lines.product.code",
      ]),
    );
    const raw = {
      id: 7,
      number: null,
      comment: "x",
      total: 0,
      state: "draft",
      "customer.": { id: 3, code: "C1" },
      "lines.": [{ id: 1, amount: Decimal.of("2.50"), "product.": null }],
    };
    const row = rowIn(fields, raw);
    expect(row.party).toEqual({ id: 3, code: "C1" });
    expect(row.total.text).toBe("0");
    expect(row.lines).toEqual([{ id: 1, amount: Decimal.of("2.50"), product: null }]);
  });

  test("an OR leaves out what asks for nothing, and never becomes everything", () => {
    expect(either({ "id in": [], "number in": ["A"] })).toEqual(["OR", ["number", "in", ["A"]]]);
    expect(either({ "id in": [] }, ["x", "=", 1])).toEqual(["OR", ["x", "=", 1]]);
    const nothing = either({ "id in": [], "number in": [] });
    expect(nothing).toEqual(["OR", ...where({ "id in": [], "number in": [] })]);
    expect(either({ "id not in": [] })).toEqual(["OR", ["id", "not in", []]]);
    expect(where({ "comment not like": "%a b%" })).toEqual([["comment", "not like", "%a b%"]]);
  });
});
