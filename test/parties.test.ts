/** Parties through the whole product: the exports of an ERP that numbers debtors and creditors from one range each. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Report } from "../src/reconcile/report.ts";
import { atWork, only, type Site } from "./support/site.ts";

const SLOW = 300_000;

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
    const report = await site.ask<Report>("reconcile", "--from", "2020-01-01");
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
    const { cases } = await site.ask<Report>("reconcile", "--from", "2020-01-01");
    const told = cases.filter(
      ({ kind, differences }) => kind === "party" && differences.length > 0,
    );
    expect(
      told.map(({ number, bucket, differences }) => ({ number, bucket, differences })),
    ).toEqual([
      {
        number: "000101",
        bucket: "with a person",
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
        bucket: "with a person",
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
