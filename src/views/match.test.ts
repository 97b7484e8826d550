/** Findings as people see them: a sentence, tables of a terminal, CSV, and the claim for one party. */
import { expect, test } from "vitest";
import { type MatchReport, summed } from "../match/report.ts";
import type { Finding } from "../match/situation.ts";
import { asCsv } from "./csv.ts";
import { asHtml } from "./html.ts";
import { claimOf, findingsCsv, findingsView, headOf, matchView, partiesView } from "./match.ts";
import { asText } from "./text.ts";

const finding: Finding = {
  key: "order-price b1 0",
  digest: "d",
  rule: "order-price",
  certainty: "certain",
  direction: "purchase",
  party: "seller",
  partyName: "=Seller",
  day: "2026-11-11",
  papers: [
    { kind: "invoice", id: "b1", number: "BILL-1" },
    { kind: "ticket", id: "t1", number: "TK-1" },
    { kind: "order", id: "o1", number: "LD-1" },
  ],
  compared: "the rate and the order's price",
  billed: "2.45",
  expected: "2.4",
  gallons: "-1800",
  worth: "27950",
  amount: "1397.50",
  favour: "us",
  joined: "bill of lading",
  cause: "2.45 a gallon is billed, 2.4 was ordered.",
  next: "Dispute it with the supplier, with both papers.",
};
const open: Finding = {
  ...finding,
  key: "not-billed t2",
  rule: "not-billed",
  direction: "sale",
  party: "buyer",
  partyName: "Buyer",
  billed: null,
  amount: null,
  favour: null,
};
const findings = [finding, open];
const report: MatchReport = {
  from: "2026-11-01",
  to: "2026-11-24",
  filter: { party: null, direction: null },
  invoices: { all: 3, match: 1, differ: 1, wait: 1, alone: 0, left: 0 },
  ...summed(findings),
  findings,
  accepted: [],
  notCompared: ["the rack price in force: no flow brings rack prices"],
};

test("one sentence says how it stands; what waits or cannot be compared is named where something does", () => {
  const head =
    "Of 3 invoices 1 match; 1 differ: 1,397.50 for us, 0.00 against us; 1 wait for a paper; 1 delivery not billed: about 0.00.";
  expect(headOf(report)).toBe(head);
  const invoices = { ...report.invoices, all: 5, alone: 2 };
  expect(headOf({ ...report, invoices })).toContain(
    "wait for a paper; 2 cannot be compared: no ticket, order or price of theirs is here;",
  );
});

test("a terminal has the sums by party, each finding with its papers and both values, and what is not compared", () => {
  const text = asText(matchView(report));
  expect(text).toMatch(/^2026-11-01 to 2026-11-24\. Of 3 invoices/);
  expect(text).toContain("1 finding in what we are billed");
  expect(text).toContain("order-price: =Seller");
  expect(text).toContain("invoice BILL-1, ticket TK-1, order LD-1, =Seller, 2026-11-11");
  expect(text).toContain(
    "2.45 instead of 2.4; off by -1800 gallons Put together by bill of lading.",
  );
  expect(text).toMatch(/1397\.50 +for us +2\.45 a gallon is billed/);
  expect(text).toContain("none instead of");
  expect(text).toMatch(/Not compared\n +the rack price in force/);
});

test("twenty findings are a table; more are folded by what was found with count and sum, and the CSV has all", () => {
  const reading = { site: { timeZone: "UTC" }, nowMs: 0 };
  const many = (count: number) => [
    open,
    ...Array.from({ length: count }, (_, at) => ({ ...finding, key: `k${at}`, party: `p${at}` })),
  ];
  const shown = (count: number): string =>
    String(
      asHtml(
        findingsView("Differs", many(count), "USD", () => null),
        reading,
      ),
    );
  expect(shown(19)).not.toContain("<summary>");
  expect(shown(19).match(/<tr>/g)).toHaveLength(1 + 20);
  expect(shown(60).replaceAll(/<[^>]*>|\s+/g, " ")).toMatch(
    /not billed: 1 +finding.* order price: 60 +findings, +\$83,850\.00 .* 10 +more +in the CSV/,
  );
  expect(shown(60).match(/<tr>/g)).toHaveLength(1 + 1 + 1 + 50);
  expect(findingsCsv(many(60)).trim().split("\n")).toHaveLength(1 + 61);
  const parties = String(asHtml(partiesView(summed(many(60)).parties, "USD", {}), reading));
  expect(parties).toMatch(/<summary>\s*40 further parties/);
  expect(parties.match(/Claim it/g)).toHaveLength(60);
});

test("CSV has one row a finding: names are guarded against formulas, figures are bare digits", () => {
  const [head, first, second] = findingsCsv(findings).split("\n");
  expect(head).toBe(
    "rule,certainty,direction,party,day,invoices,tickets,orders,compared,billed,expected,gallons,amount,favour,joined_by,cause,next",
  );
  expect(first).toContain(",'=Seller,2026-11-11,BILL-1,TK-1,LD-1,");
  expect(first).toContain(",2.45,2.4,-1800,1397.50,us,bill of lading,");
  expect(second).toContain(",,2.4,-1800,,,bill of lading,");
  expect(findingsCsv([])).toBe(`${head}\n`);
});

test("a claim is for what one party owes us, and its total is the sum of its rows", () => {
  const other = { ...finding, key: "order-price b0 0", amount: "2.50" };
  const theirs = { ...finding, favour: "them" as const };
  const claim = claimOf([finding, open, other, theirs], "seller", "USD");
  expect(claim).toMatchObject({ partyName: "=Seller", differences: 2, total: "1400.00" });
  const lines = asCsv(claim.table).trim().split("\n");
  expect(lines[0]).toBe("bill,day,ticket,differs,amount");
  expect(lines[1]).toMatch(/^BILL-1,2026-11-11,TK-1,.* It is so on 27,950 gallons\.",2\.50$/);
  expect(lines.slice(2)).toEqual([expect.stringMatching(/,1397\.50$/), "Total,,,,1400.00"]);
  expect(claimOf(findings, "buyer", "USD")).toMatchObject({ differences: 0, total: "0.00" });
});
