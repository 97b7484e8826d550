/** Reconciliation of some days with Business Central: what pays a document that lies outside them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Row } from "../../connectors/business-central/company.fixture.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { agreeing } from "../../src/reconcile/case.ts";
import type { CaseRow, Report } from "../../src/reconcile/report.ts";
import { leaveFew } from "../support/books-site.ts";
import { type CentralSite, openCentralSite } from "./site.ts";

const SLOW = 300_000;

describe("payments in Business Central", { timeout: SLOW }, () => {
  let site: CentralSite;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "fuelbridge-central-"));
    site = await openCentralSite(folder);
    const isLater = (id: string) => /^0[de]/.test(id);
    const later = (await site.control.stored("invoices")).filter(({ id }) => isLater(String(id)));
    await leaveFew(site, { invoice: (id) => /^1[0-7]/.test(id), order: /^00/ });
    await site.here("once");
    // Nobody waits any more, and the platform tells none of their payments.
    const config = join(folder, "config", "business-central.yaml");
    const yaml = readFileSync(config, "utf8");
    writeFileSync(config, yaml.replace("settleAfter: 26h", "settleAfter: 0s"));
    for (const { id, status } of later) await site.control.patch("invoices", id, { status });
    await site.here("once");
  }, SLOW);
  afterAll(async () => {
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const reconciled = async (day: string): Promise<readonly CaseRow[]> => {
    const { out } = await site.here("reconcile", "--json", "--from", day, "--to", day);
    const { cases } = (JSON.parse(out) as { data: Report }).data;
    return cases.filter(({ kind }) => kind === "payment" || kind === "bill-payment");
  };
  const wrong = async (day: string) =>
    (await reconciled(day))
      .filter(({ bucket }) => !agreeing.has(bucket))
      .map(({ bucket, differences }) => [bucket, differences.map(({ field }) => field)]);

  /** Entries whose description begins so, one of each payment. */
  const booked = (begins: string): Row[] =>
    site.books
      .rows("generalLedgerEntries")
      .filter(
        (row) =>
          String(row["description"]).startsWith(begins) && (row["debitAmount"] as Decimal).sign > 0,
      );
  /** On another day than its invoice. */
  const settlement = (): { readonly entry: Row; readonly day: string; readonly invoice: Row } => {
    for (const entry of booked("platform:")) {
      const [, id = ""] = /platform:(\S+)/.exec(String(entry["description"])) ?? [];
      const mark = `FB${id.replaceAll("-", "").toUpperCase()}`;
      const invoice = site.books
        .rows("salesInvoices")
        .find((row) => row["externalDocumentNumber"] === mark);
      const day = String(entry["postingDate"]);
      if (invoice !== undefined && invoice["invoiceDate"] !== day) return { entry, day, invoice };
    }
    throw new Error("nothing was settled as one on another day");
  };
  /** Both entries of a payment; what it gives takes that back. */
  const edit = (payment: Row, change: object): (() => void) => {
    const before = site.books
      .rows("generalLedgerEntries")
      .filter((row) => row["documentNumber"] === payment["documentNumber"])
      .map((row) => ({ ...row }));
    for (const { id } of before) site.books.edit("generalLedgerEntries", id, change);
    return () => {
      for (const row of before) site.books.edit("generalLedgerEntries", row.id, row);
    };
  };

  test("what settled an invoice of other days as one is held against that invoice, and so is what somebody changes in it", async () => {
    const { entry, day, invoice } = settlement();
    const told = (await reconciled(day)).find(({ key }) =>
      key.endsWith(String(entry["documentNumber"])),
    );
    expect(told).toMatchObject({
      bucket: "out of scope",
      parties: { books: invoice["customerNumber"] },
      cause: {
        message: `the platform takes no payments; invoice ${/"invoice ([^"]+)"/.exec(JSON.stringify(invoice))?.[1]} is paid on both sides`,
      },
    });
    expect(await wrong(day)).toEqual([]);
    const takeBack = edit(entry, { debitAmount: Decimal.of("1"), creditAmount: Decimal.of("0") });
    expect(await wrong(day)).toEqual([["only in the ERP", []]]);
    takeBack();
  });

  test("a payment whose own day somebody has moved differs in that day, asked from either", async () => {
    const [payment] = booked("payment:") as [Row];
    const day = String(payment["postingDate"]);
    const takeBack = edit(payment, { postingDate: "2026-01-03" });
    for (const asked of [day, "2026-01-03"])
      expect(await wrong(asked)).toEqual([["differs", ["days.date"]]]);
    takeBack();
  });
});
