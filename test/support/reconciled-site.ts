/** A site in step: the sandbox over HTTP, and books of which a test may change anything. */
import { join } from "node:path";
import { beforeEach } from "vitest";
import { customerInvoices, supplierInvoices } from "../../mappings/invoices.ts";
import { openTables } from "../../src/config/crossref.ts";
import type { Source } from "../../src/core/contract.ts";
import type { Holding } from "../../src/core/holdings.ts";
import { root } from "../../src/demo/world.ts";
import type { Flow } from "../../src/engine/engine.ts";
import { keptReconciliation } from "../../src/engine/reconcile/nightly.ts";
import type { Audit, Question } from "../../src/engine/reconcile/reconcile.ts";
import { runFlow } from "../../src/engine/daemon.ts";
import { agreeing } from "../../src/reconcile/case.ts";
import type { CaseRow, Report } from "../../src/reconcile/report.ts";
import { times } from "../conformance/support.ts";
import { never, type usePlatform } from "../platform/support.ts";
import { type Bench, engineOn } from "./engine.ts";
import { tempFolder } from "./folder.ts";
import { type Books, ledgerBooks } from "./ledger-books.ts";

type Platform = ReturnType<typeof usePlatform>;

/** Of config/crossref. */
export const payer = "0942f541-2340-4858-9502-8b0979809fca";
const issuer = "3c32a18c-b781-4efd-afcf-a5e1dcab93fb";

/** Issued in October, one a day; the last ones are paid, and one is void. */
export const issued = (at: number, more: object = {}) => ({
  invoiceNumber: `INV-${at}`,
  payerCompanyId: payer,
  status: at === 8 ? "VOID" : at >= 6 ? "PAID" : "OUTSTANDING",
  subtotal: 100 + at,
  tax: 8.25,
  total: 108.25 + at,
  dueDate: "2026-11-30T18:00:00Z",
  createdAt: `2026-10-0${at}T15:00:00Z`,
  updatedAt: `2026-10-0${at}T16:00:00Z`,
  lineItems: [
    { description: "Diesel", product: "ULSD-CLR", gallons: 50, rate: 2, amount: 100 + at },
  ],
  taxLines: [{ taxType: "AL State Diesel Tax", amount: 8.25 }],
  ...more,
});

export interface Office {
  readonly bench: Bench;
  readonly books: Books;
  readonly flows: readonly Flow[];
  readonly audit: Audit;
  readonly ask: (question?: Partial<Question>, settles?: boolean) => Promise<Report>;
}

/** Brought in step anew before every test. */
export function useOffice(platform: Platform): Office {
  const office = {} as Office;
  const { control } = platform;
  beforeEach(async () => {
    const invoices = times(8, (at) => issued(at + 1));
    await control.records("invoices", invoices);
    const bill = { payerCompanyId: platform.company("supplier"), companyId: issuer };
    await control.records("invoices", [issued(9, { ...bill, invoiceNumber: "B-1" })], "carrier");
    Object.assign(office, await opened(platform));
    for (const flow of office.flows) await runFlow(office.bench.engine, flow, never);
  });
  return office;
}

async function opened(platform: Platform): Promise<Office> {
  const clock = await platform.clock();
  const bench = engineOn(tempFolder(), clock);
  const { dayOf } = bench.engine;
  const endpoint = platform.endpoint({ clock, dayOf });
  const books = ledgerBooks(dayOf);
  const tables = openTables(join(root, "config", "crossref"));
  const engine = { ...bench.engine, tables };
  const audit: Audit = {
    endpoints: new Map([
      ["platform", endpoint],
      ["erp", books],
    ]),
    ignore: {},
    spent: () => 0,
  };
  const flow = (name: string, mapping: Flow["mapping"], from: string, to: "invoices" | "bills") =>
    bench.flow({
      name,
      mapping,
      from: `platform.${from}`,
      to: `erp.${to}`,
      side: "platform",
      source: endpoint.sources[from] as Source,
      sink: books.sinks[to],
    });
  const flows = [
    flow("invoices-issued", customerInvoices, "invoicesIssued", "invoices"),
    flow("invoices-payable", supplierInvoices, "invoicesPayable", "bills"),
  ];
  return {
    bench: { ...bench, engine },
    books,
    flows,
    audit,
    ask: async (question = {}, settles = false) =>
      (
        await keptReconciliation(
          engine,
          audit,
          { period: null, flow: null, askedBy: "test", ...question },
          settles,
          never,
        )
      ).report,
  };
}

export const wrong = ({ cases }: Report): CaseRow[] =>
  cases.filter(({ bucket }) => !agreeing.has(bucket));
export const inWords = (report: Report): string[] =>
  wrong(report).map(({ bucket, number, cause, differences }) =>
    [
      bucket,
      number,
      cause?.code,
      ...differences.map(({ field, platform, books }) => `${field} ${platform} ${books}`),
    ].join(" | "),
  );
/** A case of a kind that is equal on both sides and still open. */
export function one(report: Report, kind = "invoice", at = 0): CaseRow {
  const found = report.cases.filter(
    (row) => row.kind === kind && row.bucket === "equal" && row.records.books[0]?.state === "open",
  )[at];
  if (found === undefined) throw new Error("nothing is equal");
  return found;
}
export const bookOf = ({ records }: CaseRow): string => records.books[0]?.id ?? "";
export const recordOf = ({ records }: CaseRow): string => records.platform[0]?.id ?? "";
/** As a clerk would. */
export const edit = (
  { books: { held } }: Office,
  id: string,
  change: (holding: Holding) => Holding,
): void => {
  held.set(id, change(held.get(id) as Holding));
};
