import { parse } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import { Ground } from "../../test/support/planted.ts";
import { askedOf } from "../../test/support/reconciling.ts";
import { tellOf, twoSides } from "../../test/support/two-sides.ts";
import { table } from "../views/table.ts";
import { Decimal } from "../core/decimal.ts";
import type { Facts } from "../core/holdings.ts";
import { asCsv } from "./evidence.ts";
import { type Asked, reconcile, type Report } from "./report.ts";
import { asText } from "./text.ts";

const reportOf = ({ sides }: Ground, more: Partial<Asked> = {}): Report =>
  reconcile(askedOf(sides, tellOf(sides.pairs), more));

const cent = (facts: Facts): Facts => ({
  ...facts,
  money: { ...facts.money, total: (facts.money?.total ?? Decimal.zero).plus(Decimal.of("0.01")) },
});

const textOf = (report: Report): string =>
  asText(report, (header, rows) => table(header, rows, 120));

/** A payer that differs, one that waits for long, one invoice without partner, one equal one that changed elsewhere. */
function planted(): Ground {
  const ground = new Ground(twoSides(8));
  const payer = ground.take("invoice", (pair) => pair.by === "mark" && !pair.books.endsWith("3"));
  ground.facts("books", payer, (facts) => ({ ...facts, party: "A-00003" }));
  const gone = ground.take("invoice");
  ground.remove("books", gone);
  return ground;
}

describe("terminal text", () => {
  test("tells differences first, each with both values, its cause and next step", () => {
    const text = textOf(reportOf(planted()));
    const [head, verdict, ...rest] = text.split("\n");
    expect(head).toBe(
      "Reconciliation of 2026-10-01 to 2026-10-31, both sides as of 2026-11-22T05:00:00Z. Amounts in USD.",
    );
    expect(verdict).toMatch(/^Both sides DO NOT AGREE: 2 of \d+ cases\.$/);
    expect(rest[1]).toMatch(
      /^c1 invoice FL-\d+ \(A-0000\d, 2026-10-\d\d\): differs, books [\d.]+, platform [\d.]+$/,
    );
    expect(rest.slice(2, 5)).toEqual([
      expect.stringMatching(/^ {2}payer: books A-00003, platform A-0000\d$/),
      "  cause: different on the two sides: payer",
      expect.stringMatching(/^ {2}next: Correct the side that is wrong/),
    ]);
    expect(text.indexOf("only there")).toBeLessThan(text.indexOf("\nCases\n"));
  });

  test("shows counts and sums of buckets, the bridge, party and month, open balances by age", () => {
    const ledger = [{ kind: "invoice", party: "A-00001", open: Decimal.of("7") }] as const;
    const text = textOf(reportOf(planted(), { ledger }));
    for (const line of [
      /^invoice {2,}differs {2,}1 {2,}1 {2,}[\d.]+ {2,}1 {2,}[\d.]+$/m,
      /^invoice {2,}less only there {2,}[\d.]+$/m,
      /^invoice {2,}A-00003 {2,}2026-10 {2,}[\d.]+ {2,}[\d.]+ {2,}-[\d.]+$/m,
      /^OPEN {2,}PARTY {2,}SIDE {2,}CURRENT {2,}1-30 {2,}31-60 {2,}61-90 {2,}OLDER {2,}TOTAL$/m,
      /^receivable {2,}A-0000\d {2,}difference( {2,}-?[\d.]+){6}$/m,
      /^Note: A-00001: the books' ledger has 7\.00 receivable/m,
    ])
      expect(text).toMatch(line);
  });

  test("prints what it does not prove: ignored fields, files, kinds that were not asked", () => {
    const text = textOf(
      reportOf(new Ground(twoSides(8)), {
        ignore: { invoice: ["notes"] },
        strength: [
          { endpoint: "erp", kind: "invoice", strength: "remembered" },
          { endpoint: "erp", kind: "party", strength: "exported" },
          { endpoint: "platform", kind: "invoice", strength: "asked" },
        ],
        unasked: [{ endpoint: "erp", kind: "price", why: "its files hold none" }],
      }),
    );
    expect(text).toMatch("NOT COMPARED: erp: prices: its files hold none");
    expect(text).toMatch("Not compared, by the configuration (ignore): invoice: notes.");
    expect(text).toMatch("erp, invoices: what was written, not what the ERP did with it.");
    expect(text).toMatch("erp, parties: as of the last file that was read, not as they are now.");
    expect(text).not.toMatch("platform, invoices");
  });

  test("tells a storm once, what waits only when it is overdue, and why a run failed", () => {
    const ground = new Ground(twoSides(120));
    for (let n = 0; n < 25; n++) ground.facts("books", ground.take("invoice"), cent);
    const [fresh, late] = [ground.take("bill"), ground.take("bill")];
    const since = {
      [fresh.platform]: "2026-11-22T01:00:00Z",
      [late.platform]: "2026-11-01T01:00:00Z",
    };
    const text = textOf(
      reportOf(ground, {
        stored: ({ platform: [first] }) =>
          first && since[first.id]
            ? { waits: { for: "delivery 7", since: since[first.id] ?? null } }
            : {},
      }),
    );
    expect(text.match(/^MISMATCH: 25 invoices are "differs" alike in total: .*$/gm)).toHaveLength(
      1,
    );
    expect(text.match(/^c\d+ /gm)).toHaveLength(1);
    expect(text).toMatch(/^c\d+ bill .* waiting for longer than a day/m);
    const lists = [{ side: "books", kind: "bill", what: "all", total: 9, distinct: 8 }] as const;
    expect(textOf(reportOf(ground, { lists }))).toMatch(
      /FAILED, nothing was judged:\n {2}the books list of bills/,
    );
  });
});

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
    expect(rows[1]).toMatchObject({ bucket: "only there", books_amount: "0.00", books_ids: "" });
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
