/** Parties through the whole product: the exports of an ERP that numbers debtors and creditors from one range each. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isOpen } from "../src/reconcile/case.ts";
import type { Status, Trace } from "../src/office/answers.ts";
import type { Report } from "../src/reconcile/report.ts";
import { atWork, only, type Site } from "./support/site.ts";

const SLOW = 300_000;
/** All parties, whichever flow brings them. */
const RECONCILED = ["reconcile", "--flow", "customers", "--from", "2020-01-01"];

/** Changes a file that was exported and not yet read. */
function rewrite(site: Site, name: string, change: (text: string) => string): void {
  const path = join(site.demo, "erp", "export", name);
  const before = readFileSync(path, "utf8");
  const after = change(before);
  expect(after).not.toBe(before);
  writeFileSync(`${path}.tmp`, after);
  renameSync(`${path}.tmp`, path);
}

test(
  "a customer and a supplier of one code are two companies, and a reconciliation tells neither as doubled",
  async () => {
    const site = await atWork(only("customers", "suppliers"));
    // A supplier has the code of a customer, another firm.
    rewrite(site, "suppliers.csv", (text) => text.replace("000105", "000101"));
    await site.here("once");
    const companies = (await site.world.records("connections")).filter(
      ({ erpId }) => erpId === "000101",
    );
    expect(companies).toHaveLength(2);
    const report = await site.ask<Report>(...RECONCILED);
    const cases = report.cases.filter(({ kind }) => kind === "party");
    const told = cases.filter(({ number }) => number === "000101");
    expect(
      told.map(({ bucket, records }) => [bucket, records.books.map(({ role }) => role)]),
    ).toEqual(
      expect.arrayContaining([
        ["equal", ["customer"]],
        ["equal", ["supplier"]],
      ]),
    );
    expect(cases.filter(({ bucket }) => bucket === "twice" || bucket === "differs")).toEqual([]);
    // One customer has a bad address: suppliers agree all the same, and only they are counted.
    const { flows } = await site.ask<Status>("status");
    const agreed = flows.flatMap((flow) => (flow.agreed === null ? [] : [flow]));
    expect(agreed.map((flow) => [flow.name, flow.agreed?.documents])).toEqual([["suppliers", 22]]);
  },
  SLOW,
);

test(
  "`reconcile` ends with 0 once a person has accepted what differs, and names it apart; what was only resolved is told",
  async () => {
    const site = await atWork(only("customers", "suppliers"));
    await site.here("once");
    const told = async () => {
      const { cases } = await site.ask<Report>(...RECONCILED);
      return cases.filter(isOpen).map(({ bucket, number }) => [bucket, number]);
    };
    const [[, number = ""] = []] = await told();
    expect(await told()).toEqual([["in quarantine", number]]);
    await site.here("quarantine", "resolve", "all", "--note", "not a customer any more");
    // Nobody has been asked about the difference yet: it stays told, however often it is found.
    for (const night of [1, 2, 3])
      expect([night, await told()]).toEqual([night, [["only in the ERP", number]]]);
    expect((await site.here(...RECONCILED)).code).toBe(1);
    const note = ["--note", "it is closing"];
    expect((await site.here("accept", "customers", number, ...note)).code).toBe(0);
    for (const question of [RECONCILED, ["reconcile", "--last"]]) {
      const { code, out } = await site.here(...question);
      expect(out).toMatch(new RegExp(`^Accepted by a person.*\\n+(?:c\\d+ )?party ${number}`, "m"));
      expect(code).toBe(0);
    }
    expect((await site.here("status")).out).toContain("1 difference that a person accepted");
  },
  SLOW,
);

test(
  "a name and an address that changed in the ERP after delivery are told by a reconciliation with both values",
  async () => {
    const site = await atWork(only("customers"));
    const exported = join(site.demo, "erp", "export", "customers.csv");
    const before = readFileSync(exported, "utf8");
    await site.here("once");
    const after = before
      .replace("+Plus Energy Marketing", "+Plus\u00A0Energy Marketing")
      .replace("7901 Dock St", "8000 Dock St");
    writeFileSync(exported, after);
    await site.here("once");
    const { cases } = await site.ask<Report>(...RECONCILED);
    const told = cases.filter(
      ({ kind, differences }) => kind === "party" && differences.length > 0,
    );
    expect(
      told.map(({ number, bucket, differences }) => ({ number, bucket, differences })),
    ).toEqual([
      {
        number: "000101",
        bucket: "in quarantine",
        differences: [
          {
            field: "address",
            platform: expect.stringContaining("7901 Dock St") as string,
            books: expect.stringContaining("8000 Dock St") as string,
          },
        ],
      },
      {
        number: "000110",
        bucket: "in quarantine",
        differences: [
          {
            field: "name",
            platform: '"+Plus<space>Energy Marketing"',
            books: '"+Plus<no-break space>Energy Marketing"',
          },
        ],
      },
    ]);
  },
  SLOW,
);

test.each([
  ["code", "000110"],
  ["name", "+PLUS Energy marketing"],
])(
  "a customer whom the cross-reference names by its %s is that company, and no second one is made",
  async (_, account) => {
    const site = await atWork(only("customers"));
    const connections = () => site.world.records("connections");
    const before = await connections();
    const [known] = before.map(({ toCompanyId }) => toCompanyId as string);
    const table = join(site.folder, "config", "crossref", "customers.csv");
    writeFileSync(table, `company,account\n${known},${account}\n`);
    await site.here("once");
    const { steps } = await site.ask<Trace>("trace", "000110");
    expect(steps.find(({ event }) => event === "linked")).toMatchObject({ platformId: known });
    const made = (await connections()).slice(before.length).map(({ erpId }) => erpId);
    expect(made).toContain("000101");
    expect(made).not.toContain("000110");
  },
  SLOW,
);

test(
  "a customer whom the cross-reference names as a company without a connection is for a person, and nothing is made",
  async () => {
    const site = await atWork(only("customers"));
    const table = join(site.folder, "config", "crossref", "customers.csv");
    writeFileSync(table, "company,account\n11111111-2222-4333-8444-555555555555,000110\n");
    await site.here("once");
    expect((await site.here("quarantine", "list")).out).toContain(
      'names company 11111111-2222-4333-8444-555555555555 for "+Plus Energy Marketing" (000110)',
    );
    const made = (await site.world.records("connections")).map(({ erpId }) => erpId);
    expect(made).not.toContain("000110");
  },
  SLOW,
);
