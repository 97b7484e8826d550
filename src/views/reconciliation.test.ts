/** A report on a terminal and in the console: both tell the same of it, each in its own way. */
import { expect, test } from "vitest";
import { Ground } from "../../test/support/planted.ts";
import { askedOf } from "../../test/support/reconciling.ts";
import { tellOf, twoSides } from "../../test/support/two-sides.ts";
import { Decimal } from "../core/decimal.ts";
import type { Facts } from "../core/holdings.ts";
import { type Asked, type CaseRow, reconcile, type Report } from "../reconcile/report.ts";
import { asHtml } from "./html.ts";
import { detailView, reportText, verdictView } from "./reconciliation.ts";

const reportOf = ({ sides }: Ground, more: Partial<Asked> = {}): Report =>
  reconcile(askedOf(sides, tellOf(sides.pairs), more));

const READING = { site: { timeZone: "America/Chicago" }, nowMs: Date.parse("2026-11-22") };

/** What the page says, without its markup. */
const pageOf = (report: Report): string =>
  String(asHtml([verdictView(report), detailView(report, false)], READING))
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ");

const cent = (facts: Facts): Facts => ({
  ...facts,
  money: { ...facts.money, total: (facts.money?.total ?? Decimal.zero).plus(Decimal.of("0.01")) },
});

/** A payer that differs, one that waits for long, one invoice without partner, one equal one that changed elsewhere. */
function planted(): Ground {
  const ground = new Ground(twoSides(8));
  const payer = ground.take("invoice", (pair) => pair.by === "mark" && !pair.books.endsWith("3"));
  ground.facts("books", payer, (facts) => ({ ...facts, party: "A-00003" }));
  ground.remove("books", ground.take("invoice"));
  return ground;
}

/** 40 invoices of October, of which the books lack two, and parties and prices. */
function lacking(more: Partial<Asked> = {}): Report {
  const sides = twoSides(40);
  const [gone, other] = sides.books.filter(({ kind }) => kind === "invoice");
  const books = sides.books.filter((one) => one !== gone && one !== other);
  return reconcile(askedOf({ ...sides, books }, tellOf(sides.pairs), more));
}

test("differences come first, each with both values, its cause and next step", () => {
  const report = reportOf(planted());
  const text = reportText(report);
  const [head, verdict, ...rest] = text.split("\n");
  expect(head).toBe(
    "Reconciliation of 2026-10-01 to 2026-10-31, both sides as of 2026-11-22T05:00:00Z. Amounts in USD.",
  );
  expect(verdict).toMatch(/^Both sides DO NOT AGREE: 2 of \d+ cases\.$/);
  expect(rest[2]).toMatch(
    /^c1 invoice FL-\d+ \(A-0000\d Ranch Supply \d, 2026-10-\d\d\): differs, platform [\d.]+, ERP [\d.]+$/,
  );
  expect(rest.slice(3, 6)).toEqual([
    expect.stringMatching(
      /^ {2}payer: platform A-0000(\d) Ranch Supply \1, ERP A-00003 Ranch Supply 3$/,
    ),
    "  cause: different on the two sides: payer",
    expect.stringMatching(/^ {2}next: Correct the side that is wrong/),
  ]);
  expect(text.indexOf("only on the platform")).toBeLessThan(text.indexOf("\nCounts and sums\n"));
  const page = pageOf(report);
  expect(page).toMatch(/payer: platform A-0000\d Ranch Supply \d, ERP A-00003 Ranch/);
  expect(page).toMatch(/different on the two sides: payer Next: Correct the side that is wrong/);
});

test("where invoices are paid in part and nothing else differs, it says so, and not that the sides do not agree", () => {
  const ground = new Ground(twoSides(8));
  const part = Decimal.of("1");
  ground.facts("books", ground.take("invoice"), ({ money, ...facts }) => ({
    ...facts,
    money: { ...money, open: (money?.total ?? part).minus(part) },
  }));
  const alone = reportOf(ground);
  expect(reportText(alone)).toMatch(
    /\nBoth sides differ by 1 invoice paid in part, and in nothing else: 1 of \d+ cases\.\n/,
  );
  expect(alone.agrees).toBe(false);
  ground.remove("books", ground.take("invoice"));
  expect(reportText(reportOf(ground))).toContain("Both sides DO NOT AGREE: 2 of");
});

test("counts and sums of buckets, the bridge, party and month, open balances by age", () => {
  const ledger = [{ kind: "invoice", party: "A-00001", open: Decimal.of("7") }] as const;
  const text = reportText(reportOf(planted(), { ledger }));
  for (const told of [
    /^invoices {2,}differs {2,}1 {2,}1 {2,}[\d.]+ {2,}1 {2,}[\d.]+$/m,
    /^invoices {2,}less only on the platform {2,}[\d.]+$/m,
    /^A-00003 Ranch Supply 3 {2,}invoices {2,}2026-10 {2,}[\d.]+ {2,}[\d.]+ {2,}-[\d.]+$/m,
    /^PARTY {2,}OWED {2,}SIDE {2,}NOT DUE {2,}1 TO 30 {2,}31 TO 60 {2,}61 TO 90 {2,}OLDER {2,}TOTAL$/m,
    /^A-0000\d Ranch Supply \d {2,}by customers {2,}platform less ERP( {2,}-?[\d.]+){6}$/m,
    /^ {2}A-00001: the books' ledger has 7\.00 receivable/m,
  ])
    expect(text).toMatch(told);
  const report = lacking();
  const [differing] = report.months.filter(({ difference }) => difference !== "0.00");
  const page = pageOf(report);
  const parts = page.slice(page.indexOf("By party and month"));
  expect(parts.replaceAll(",", "")).toContain(`$${differing?.difference}`);
  expect(parts).toMatch(/more rows are the same on both sides/);
  expect(parts).toMatch(/by customers platform .* by customers ERP /);
});

test("sums stand by account and by tax of what both sides tell, parties by code and name", () => {
  const same = reportOf(new Ground(twoSides(8)));
  expect(new Set(same.codes.map(({ what }) => what))).toEqual(new Set(["account", "tax"]));
  expect(same.codes.filter(({ difference }) => difference !== "0.00")).toEqual([]);
  for (const shown of [pageOf(same), reportText(same)])
    expect(shown.replaceAll(/\s+/g, " ")).toMatch(
      /By account .*erp acc DYED invoices \$?([\d,.]+) \$?\1 \$?0\.00 .*By tax .*erp FEDERAL invoices/,
    );
  const ground = new Ground(twoSides(8));
  const invoice = ground.take("invoice");
  ground.facts("books", invoice, ({ lines = [], ...facts }) => ({
    ...facts,
    lines: lines.map((line, at) => ({
      ...line,
      amount: line.amount.plus(Decimal.of(at === 0 ? "2.00" : "0")),
    })),
  }));
  const report = reportOf(ground);
  const [differing, another] = report.codes.filter(({ difference }) => difference !== "0.00");
  expect([differing, another]).toMatchObject([{ what: "account", difference: "-2.00" }, undefined]);
  const line = new RegExp(`^${differing?.code} {2,}invoices {2,}.* {2,}-2\\.00$`, "m");
  expect(reportText(report)).toMatch(line);
  // What is in none of these sums is told, so that they tie to the invoices.
  const untold = new Ground(twoSides(8));
  untold.facts("books", untold.take("invoice"), ({ taxes: _taxes, ...facts }) => facts);
  const left = reportOf(untold);
  const [silent] = left.cases.filter(
    ({ kind, records }) => kind === "invoice" && records.books.some(({ tax }) => !tax),
  );
  const amount = silent?.amount.books;
  expect(reportText(left)).toContain(
    `Not in these sums, for one side does not tell it: 1 invoices, platform ${amount}, ERP ${amount} in all.`,
  );
  expect(reportText(same)).not.toContain("Not in these sums");
  const [code = "", name = ""] = Object.entries(report.names)[0] ?? [];
  expect(name).not.toBe("");
  expect(reportText(report)).toContain(`${code} ${name}`);
});

test("what it does not prove is told: ignored fields, files, kinds that were not asked", () => {
  const report = reportOf(new Ground(twoSides(8)), {
    ignore: { invoice: ["notes"] },
    strength: [
      { endpoint: "erp", kind: "invoice", strength: "remembered" },
      { endpoint: "erp", kind: "party", strength: "exported" },
      { endpoint: "platform", kind: "invoice", strength: "asked" },
    ],
    unasked: [{ endpoint: "erp", kind: "price", why: "its files hold none" }],
  });
  for (const text of [reportText(report), pageOf(report)]) {
    expect(text).toMatch(/NOT COMPARED:\s+erp: prices: its files hold none/);
    expect(text).toMatch("Not compared, by the configuration (ignore): invoice: notes.");
    expect(text).toMatch("erp, invoices: what was written, not what the ERP did with it.");
    expect(text).toMatch("erp, parties: as of the last file that was read, not as they are now.");
    expect(text).not.toMatch("platform, invoices");
  }
  expect(pageOf(lacking())).toContain("Not compared, by the configuration (ignore): nothing.");
});

test("a storm is told once on a terminal, what waits only when it is overdue, and why a run failed", () => {
  const ground = new Ground(twoSides(120));
  for (let n = 0; n < 25; n++) ground.facts("books", ground.take("invoice"), cent);
  const [fresh, late] = [ground.take("bill"), ground.take("bill")];
  const since = {
    [fresh.platform]: "2026-11-22T01:00:00Z",
    [late.platform]: "2026-11-01T01:00:00Z",
  };
  const text = reportText(
    reportOf(ground, {
      stored: ({ platform: [first] }) =>
        first && since[first.id]
          ? { waits: { for: "delivery 7", since: since[first.id] ?? null } }
          : {},
    }),
  );
  expect(text.match(/^MISMATCH: 25 invoices are "differs" alike in total: .*$/gm)).toHaveLength(1);
  expect(text.match(/^c\d+ /gm)).toHaveLength(1);
  expect(text).toMatch(/^c\d+ bill .* waiting for longer than a day/m);
  const lists = [{ side: "books", kind: "bill", what: "all", total: 9, distinct: 8 }] as const;
  expect(reportText(reportOf(ground, { lists }))).toMatch(
    /It cannot be trusted, and nothing was judged:\n {2}the books list of bills/,
  );
});

test("a side that has no such document is told as not there, never as an amount of zero", () => {
  const report = lacking();
  const row = report.cases.find(({ bucket }) => bucket === "only on the platform");
  expect(row?.records.books).toEqual([]);
  const page = pageOf(report);
  const at = page.indexOf(`invoice ${row?.number}`);
  expect(page.slice(at, at + 200)).toMatch(
    /only on the platform, platform \$[\d,]+\.\d\d , ERP not there/,
  );
  expect(page).toMatch(/parties equal \d+ – \d+ –/);
  expect(reportText(report)).toMatch(/: only on the platform, platform [\d.]+, ERP not there$/m);
});

test("what is not of the period is named as that, and counted apart", () => {
  const within = reportText(lacking({ period: { from: "2026-10-01", to: "2026-10-31" } }));
  expect(within).not.toContain("outside of the period");
  const outside = reportText(lacking({ period: { from: "2025-01-01", to: "2025-01-31" } }));
  expect(outside.match(/outside of the period\): only on the platform/g)).toHaveLength(2);
  expect(outside).toContain("Not of the period, but open or changed:");
});

test("what only one side has, and rightly, stands under the totals that it makes different, with its reason", () => {
  const report = lacking();
  const [first] = report.cases.filter(
    ({ bucket, kind }) => bucket === "equal" && kind === "invoice",
  );
  const out = {
    ...(first as CaseRow),
    bucket: "out of scope" as const,
    amount: { platform: first?.amount.platform ?? "", books: "0.00" },
    cause: { code: "out-of-scope", message: "a draft", next: "" },
  };
  const cases = report.cases.map((row) => (row === first ? out : row));
  const page = pageOf({ ...report, cases });
  expect(page).toContain("Out of scope in the period: the sides differ by these, and agree");
  expect(page).toMatch(new RegExp(`invoice ${first?.number} .*?out of scope, .*?Cause: a draft`));
  expect(pageOf(report)).not.toContain("Out of scope in the period");
});
