import { parse } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import { Ground } from "../../test/support/planted.ts";
import { askedOf } from "../../test/support/reconciling.ts";
import { tellOf, twoSides } from "../../test/support/two-sides.ts";
import { Decimal } from "../core/decimal.ts";
import { asCsv } from "./evidence.ts";
import { type Asked, reconcile, type Report } from "./report.ts";

const reportOf = ({ sides }: Ground, more: Partial<Asked> = {}): Report =>
  reconcile(askedOf(sides, tellOf(sides.pairs), more));

/** A payer that differs, one that waits for long, one invoice without partner, one equal one that changed elsewhere. */
function planted(): Ground {
  const ground = new Ground(twoSides(8));
  const payer = ground.take("invoice", (pair) => pair.by === "mark" && !pair.books.endsWith("3"));
  ground.facts("books", payer, (facts) => ({ ...facts, party: "A-00003" }));
  const gone = ground.take("invoice");
  ground.remove("books", gone);
  return ground;
}

describe("CSV", () => {
  test("has a row per case in the order of the report, with both values", () => {
    const report = reportOf(planted());
    const rows: Record<string, string>[] = parse(asCsv(report), { columns: true });
    expect(rows.map((row) => row["case"])).toEqual(report.cases.map((row) => row.case));
    expect(rows[0]).toMatchObject({
      bucket: "differs",
      differences: expect.stringMatching(/^payer: books A-00003, platform A-0000\d$/),
      cause: "fields",
    });
    expect(rows[1]).toMatchObject({
      bucket: "only on the platform",
      books_amount: "0.00",
      books_ids: "",
    });
  });

  test("keeps a spreadsheet from computing what a record says, and amounts from becoming text", () => {
    const ground = new Ground(twoSides(8));
    const pair = ground.take("invoice", ({ by }) => by === "mark");
    for (const side of ["platform", "books"] as const)
      ground.facts(side, pair, (facts) => ({
        ...facts,
        number: "=1+1",
        money: { total: Decimal.of("-5") },
        words: {},
      }));
    const rows: Record<string, string>[] = parse(asCsv(reportOf(ground)), { columns: true });
    expect(rows.find((row) => row["number"] === "'=1+1")).toMatchObject({
      bucket: "equal",
      platform_amount: "-5.00",
    });
  });
});
