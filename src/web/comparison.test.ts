/** The page of a comparison says what the report says: where each row belongs, what a side does not have, and what is not proved. */
import { expect, test } from "vitest";
import { testConsole } from "../../test/support/console.ts";
import { recordingOffice } from "../../test/support/console-offices.ts";
import { askedOf } from "../../test/support/reconciling.ts";
import { tellOf, twoSides } from "../../test/support/two-sides.ts";
import { type Asked, reconcile, type Report } from "../reconcile/report.ts";
import type { CaseRow } from "../reconcile/rows.ts";

/** 40 invoices of October, of which the books lack two, and parties and prices. */
function reportOf(more: Partial<Asked> = {}): Report {
  const sides = twoSides(40);
  const [gone, other] = sides.books.filter(({ kind }) => kind === "invoice");
  const books = sides.books.filter((one) => one !== gone && one !== other);
  return reconcile(askedOf({ ...sides, books }, tellOf(sides.pairs), more));
}

async function pageOf(report: Report): Promise<string> {
  const { office } = recordingOffice();
  const { as } = await testConsole({ ...office, reconcile: async () => report });
  const person = await as("accountant");
  const period = { from: "2026-10-01", to: "2026-10-31", note: "month's end" };
  const { headers } = await person.post("/reconciliation", period);
  const { body } = await person.get(String(headers["location"]));
  return body.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
}

test("a side that has no such document is told as not there, never as an amount of zero", async () => {
  const report = reportOf();
  const row = report.cases.find(({ bucket }) => bucket === "only there");
  expect(row?.records.books).toEqual([]);
  const page = await pageOf(report);
  const at = page.indexOf(`invoice ${row?.number}`);
  expect(page.slice(at, at + 200)).toMatch(/only there \$[\d,]+\.\d\d not there/);
  expect(page).toMatch(/parties equal \d+ – \d+ –/);
});

test("what is not of the period stands apart from it, and both are counted", async () => {
  const within = reportOf({ period: { from: "2026-10-01", to: "2026-10-31" } });
  const outside = reportOf({ period: { from: "2025-01-01", to: "2025-01-31" } });
  expect(await pageOf(within)).toMatch(
    /2 of \d+ records of the period are not the same on both sides\. (?!\d)/,
  );
  const page = await pageOf(outside);
  expect(page).toMatch(/records of the period, none different\. 2 records of other days/);
  expect(page).toContain("Other days");
  expect(page).not.toContain("In the period, not the same on both sides");
});

test("how a side is known stands on the page, and what was only remembered is not said to be asked", async () => {
  const asked = await pageOf(reportOf());
  expect(asked).toContain("Both sides as each says at");
  expect(asked).toContain("Not compared, by the configuration (ignore): nothing.");
  const page = await pageOf(
    reportOf({
      ignore: { invoice: ["notes"] },
      strength: [{ endpoint: "erp", kind: "invoice", strength: "remembered" }],
    }),
  );
  expect(page).not.toContain("Both sides as each says");
  for (const told of [
    "erp, invoices: what was written, not what the ERP did with it.",
    "Not compared, by the configuration (ignore): invoice: notes.",
  ])
    expect(page).toContain(told);
});

test("sums by party and open balances stand on the page, and the parties that differ by their amounts", async () => {
  const report = reportOf();
  const page = await pageOf(report);
  const [differing] = report.months.filter(({ difference }) => difference !== "0.00");
  expect(differing).toBeDefined();
  const parts = page.slice(page.indexOf("By party and month"));
  expect(parts.replaceAll(",", "")).toContain(`$${differing?.difference}`);
  expect(parts).toMatch(/more rows are the same on both sides/);
  expect(parts).toMatch(/by customers platform .* by customers ERP /);
});

test("what only one side has, and rightly, stands under the totals that it makes different, with its reason", async () => {
  const report = reportOf();
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
  const page = await pageOf({ ...report, cases });
  expect(page).toContain("Out of scope in the period: the sides differ by these, and agree");
  expect(page).toMatch(new RegExp(`invoice ${first?.number} [^$]*\\$[\\d,.]+ \\S+ .*?a draft`));
  expect(await pageOf(report)).not.toContain("Out of scope in the period");
});

test("a comparison says when it was, with year, second and time zone, and no amount is broken at the end of a line", async () => {
  const report = reportOf();
  const { office } = recordingOffice();
  const { as } = await testConsole({ ...office, reconcile: async () => report });
  const person = await as("accountant");
  const period = { from: "2026-10-01", to: "2026-10-31", note: "month's end" };
  const { headers } = await person.post("/reconciliation", period);
  const { body } = await person.get(String(headers["location"]));
  expect(body).toMatch(/at\s+<time[^>]*>\w+ \d+, \d{4}, \d\d:\d\d:\d\d C[SD]T<\/time/);
  const { body: known } = await person.get("/reconciliation");
  expect(known).toContain('<span class="whole">q1234567</span></strong');
});
