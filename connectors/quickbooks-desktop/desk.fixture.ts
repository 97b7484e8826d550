/**
 * A company file in this process, sinks that write into it, and an engine's side of reading it: pages are kept, the position
 * is stored as text.
 */
import { recordsOf, SENT } from "../../test/support/connector.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";
import { InvoiceRecord } from "../../src/ledger/documents.ts";
import type { Page, Source } from "../../src/core/contract.ts";
import { type Json, parseExact } from "../../src/core/json.ts";
import type { LedgerKind } from "../../src/ledger/port.ts";
import { ledgerSink } from "../../src/ledger/driver.ts";
import { CompanyFile, type Row, type Table } from "./company-file.fixture.ts";
import { DesktopConfig } from "./config.ts";
import { settings } from "./desktop.fixture.ts";
import { ledgerOf } from "./index.ts";
import { asking } from "./wire.ts";

const signal = new AbortController().signal;
export const PLATFORM_ID = "0b6f7a52-4c1e-4d8a-9f5e-1c2d3e4f5a6b";

export function desk(more: object = {}) {
  const file = new CompanyFile();
  const customer = file.enter("Customer", { Name: "Acme", CompanyName: "Acme Oil" });
  const clock = { ms: Date.parse(SENT) };
  const surroundings = surroundingsIn(".", { now: () => new Date(clock.ms) });
  const config = DesktopConfig.parse(settings(8447, more));
  /** Done with each document before QuickBooks answers it, and with its answer. */
  const hooks = { before: (_xml: string): void => {}, after: (answer: string): string => answer };
  const visit = { session: 1 };
  /** Those that requests were made with. */
  const signals = new Set<AbortSignal>();
  const direct = asking(async ({ xml }, signal) => {
    signals.add(signal);
    hooks.before(xml);
    return hooks.after(file.answer(xml));
  });
  const wire = {
    ...direct,
    company: { product: file.product, homeCurrency: "US Dollar" } as never,
    get session() {
      return visit.session;
    },
  };
  const { books, sources, holdings } = ledgerOf(wire, config, surroundings);
  const positions: Record<string, Json> = {};
  /** Ids that were ever told. */
  const told: string[] = [];
  const read = async (name: keyof typeof sources): Promise<Page[]> => {
    const pages: Page[] = [];
    const reading = { signal, known: () => null, stored: () => false };
    for await (const page of (sources[name] as Source).read(positions[name] ?? null, reading)) {
      pages.push(page);
      told.push(...page.changes.map(({ id }) => id));
      positions[name] = JSON.parse(JSON.stringify(page.position)) as Json;
    }
    return pages;
  };
  const ids = async (name: keyof typeof sources): Promise<string[]> =>
    (await read(name)).flatMap(({ changes }) => changes.map(({ id }) => id));
  const invoices = async (name: "invoices" | "paidInvoices" = "invoices") =>
    new Map(
      Object.entries(recordsOf(await read(name))).map(([id, text]) => [
        id,
        InvoiceRecord.parse(parseExact(text)),
      ]),
    );
  const invoice = (fields: Record<string, string> = {}, ...amounts: readonly string[]) =>
    file.enter(
      "Invoice",
      { CustomerRef: "Acme", TxnDate: "2026-11-21", RefNumber: "FL-1", ...fields },
      (amounts.length === 0 ? ["100.00"] : amounts).map((Amount) => ({
        ItemRef: "ULSD-CLR",
        Amount,
      })),
    );
  const sinkOf = (kind: LedgerKind) => ledgerSink(books, kind);
  const only = (table: Table): Row => {
    const [row, another] = file.rows(table);
    if (row === undefined || another !== undefined) throw new Error(`not one ${table}`);
    return row;
  };
  /** How many documents have a request of this name. */
  const asked = (name: string): number =>
    file.asked.filter((xml) => xml.includes(`<${name}Rq`)).length;
  const given = { file, customer, clock, hooks, visit, signals, wire, books, holdings };
  return { ...given, told, read, ids, invoices, invoice, sinkOf, only, asked };
}

/** The same, with the parties that the documents of the fixtures name. @param list of invoices and bills */
export function bench(more: object = {}, list: "Customer" | "Vendor" = "Customer") {
  const one = desk(more);
  one.file.enter(list, { Name: "CUST-1" });
  one.file.enter("Vendor", { Name: "VEND-1" });
  return one;
}
