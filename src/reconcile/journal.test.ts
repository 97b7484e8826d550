import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { isThere } from "../../test/support/machine.ts";
import { Ground } from "../../test/support/planted.ts";
import { askedOf } from "../../test/support/reconciling.ts";
import { tellOf, type TwoSides, twoSides } from "../../test/support/two-sides.ts";
import { Decimal } from "../core/decimal.ts";
import type { Facts } from "../core/holdings.ts";
import { agreementJournal, periodJournal } from "./evidence.ts";
import { type Asked, reconcile, type Report } from "./report.ts";

const reportOf = (sides: TwoSides, more: Partial<Asked> = {}): Report =>
  reconcile(askedOf(sides, tellOf(sides.pairs), more));

/** What hledger says of both journals: null where it accepts one, else its complaint. */
function checked(report: Report, tamper = (journal: string): string => journal) {
  const folder = mkdtempSync(join(tmpdir(), "fuelbridge-hledger-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "period.journal"), tamper(periodJournal(report)));
  writeFileSync(join(folder, "agreement.journal"), agreementJournal(report, "period.journal"));
  return { period: check(folder, "period"), agreement: check(folder, "agreement") };
}

function check(folder: string, name: string): string | null {
  try {
    const args = ["-f", join(folder, `${name}.journal`), "check", "-s", "ordereddates"];
    execFileSync("hledger", args, { stdio: "pipe" });
    return null;
  } catch (error) {
    return String((error as { stderr?: Buffer }).stderr ?? error);
  }
}

const cents = (by: string) => (facts: Facts) => ({
  ...facts,
  money: { ...facts.money, total: (facts.money?.total ?? Decimal.zero).plus(Decimal.of(by)) },
});

describe.runIf(isThere("hledger"))("hledger", () => {
  test("accepts both journals when the sides agree", () => {
    const report = reportOf(twoSides(40));
    expect(report.agrees).toBe(true);
    expect(checked(report)).toEqual({ period: null, agreement: null });
  });

  test("refuses the agreement at one cent, and accepts the period", () => {
    const ground = new Ground(twoSides(40));
    ground.facts("books", ground.take("invoice"), cents("0.01"));
    const { period, agreement } = checked(reportOf(ground.sides));
    expect(period).toBeNull();
    expect(agreement).toMatch(/balance assertion/);
  });

  test("accepts both where a person accepted the cent, and the cent stands on an account of its own", () => {
    const ground = new Ground(twoSides(40));
    ground.facts("books", ground.take("invoice"), cents("0.01"));
    const row = reportOf(ground.sides).cases.find(({ bucket }) => bucket === "differs");
    const report = reportOf(ground.sides, {
      stored: ({ key }) => (key === row?.key ? { accepted: row.digest ?? "" } : {}),
    });
    expect(checked(report)).toEqual({ period: null, agreement: null });
    expect(periodJournal(report)).toMatch(/^ {4}accepted:\S+ {2}0\.01 USD$/m);
  });

  test("refuses +0.01 and -0.01 of one party, which cancel in every sum", () => {
    const ground = new Ground(twoSides(40));
    const one = ground.take("invoice");
    const { party } = ground.of("books", one).facts;
    const twin = ground.take("invoice", (pair) => ground.of("books", pair).facts.party === party);
    ground.facts("books", one, cents("0.01"));
    ground.facts("books", twin, cents("-0.01"));
    const report = reportOf(ground.sides);
    expect(report.months.every(({ difference }) => difference === "0.00")).toBe(true);
    const { period, agreement } = checked(report);
    expect(period).toBeNull();
    expect(agreement).toMatch(/difference:/);
  });

  test("refuses a difference without money: a payer", () => {
    const ground = new Ground(twoSides(40));
    const marked = ground.take("invoice", ({ by }) => by === "mark");
    ground.facts("books", marked, (facts) => ({ ...facts, party: "A-00004" }));
    const { period, agreement } = checked(reportOf(ground.sides));
    expect(period).toBeNull();
    expect(agreement).toMatch(/unequal:differs/);
  });

  test("refuses a journal with an amount changed, and one that lacks an entry", () => {
    const report = reportOf(twoSides(8));
    const changed = checked(report, (journal) =>
      journal.replace(/(platform:receivable:\S+ {2})\d/, "$19"),
    );
    expect(changed.period).toMatch(/unbalanced|could not balance/i);
    const lacking = checked(report, (journal) =>
      journal.replace(/^2026-10-\d\d \* \(FL-.*\n(?: .*\n)+/m, ""),
    );
    expect(lacking.period).toMatch(/balance assertion/);
  });

  test("takes numbers and codes with its own signs in them", () => {
    const ground = new Ground(twoSides(8));
    const pair = ground.take("invoice", ({ by }) => by === "mark");
    for (const side of ["platform", "books"] as const)
      ground.facts(side, pair, (facts) => ({
        ...facts,
        number: "FL 1;(2):é  = 5 USD\n2026-01-01 x",
        words: { ...facts.words, reference: null },
      }));
    const report = reportOf(ground.sides);
    expect(report.agrees).toBe(true);
    expect(checked(report)).toEqual({ period: null, agreement: null });
  });

  test("takes documents of other months that one side dates into the period", () => {
    const ground = new Ground(twoSides(8));
    ground.facts("books", ground.take("invoice"), (facts) => ({
      ...facts,
      days: { ...facts.days, date: "2026-12-03" },
    }));
    const { period, agreement } = checked(reportOf(ground.sides));
    expect(period).toBeNull();
    expect(agreement).toMatch(/unequal:differs/);
  });

  test("is not asked about what is finer than cents, nor about a reconciliation that failed", () => {
    const ground = new Ground(twoSides(8));
    const pair = ground.take("invoice", ({ began }) => began === "platform");
    ground.facts("books", pair, cents("0.004"));
    expect(() => periodJournal(reportOf(ground.sides))).toThrow(
      /invoice FL-\d+ has \d+\.\d{3} on the side "books", which is finer than cents/,
    );
    const lists = [{ side: "books", kind: "invoice", what: "all", total: 9, distinct: 8 }] as const;
    expect(() => periodJournal(reportOf(twoSides(8), { lists }))).toThrow(/says 9 records/);
  });
});
