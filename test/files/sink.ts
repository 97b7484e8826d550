/** Documents and sinks for the tests of this folder. */
import { parse } from "csv-parse/sync";
import { SinkConfig } from "../../connectors/files/config.ts";
import { localDrop } from "../../connectors/files/folder/local.ts";
import type { Site } from "../../connectors/files/pickup.ts";
import { type FileSink, fileSink } from "../../connectors/files/sink.ts";
import { formatOf } from "../../connectors/files/source.ts";
import { calendarOf } from "../../src/core/time.ts";
import type { Item, Outgoing, Sink } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { surroundingsIn } from "../support/surroundings.ts";
import type { CustomerInvoiceDocument } from "../../src/formats/documents.ts";

const START = "2026-03-02T08:00:00.000Z";

export const config = (more: Record<string, unknown> = {}): SinkConfig =>
  SinkConfig.parse({ document: "customer-invoices", folder: "import/invoices", ...more });

/** A sink into `import/invoices` under `folder`, opened at `at`, of a company in `timeZone`. */
export function openIn(
  folder: string,
  { timeZone = "America/Chicago", ...more }: Record<string, unknown> = {},
  at = START,
): FileSink {
  const own = { now: () => new Date(at), dayOf: calendarOf(timeZone as string) };
  return sinkOf(config(more), { ...surroundingsIn(folder, own), drop: localDrop(folder) });
}

export const sinkOf = (settings: SinkConfig, site: Site): FileSink =>
  fileSink(settings, site, formatOf(settings).write(settings, site));

export function request(
  sink: Sink,
  items: readonly Item[],
  firstSentAt: string | null = null,
): Outgoing {
  return { ...sink.freeze(items), key: "fb1_key", items, firstSentAt };
}

export const rowsOf = (body: string): Record<string, string>[] => parse(body, { columns: true });

export const d = (text: string): Decimal => Decimal.of(text);

export function invoice(more: Partial<CustomerInvoiceDocument> = {}): CustomerInvoiceDocument {
  return {
    id: "0b6f7a52-4c1e-4d8a-9f5e-1c2d3e4f5a6b",
    number: "INV-1001",
    version: "2026-03-01T10:00:00.123456Z",
    status: "OUTSTANDING",
    customer: "00042",
    payerId: "5d0f2c7e-9b1a-4c3d-8e5f-6a7b8c9d0e1f",
    orderId: null,
    invoiceDate: "2026-03-01T04:30:00Z",
    dueDate: "2026-03-31T00:00:00.000Z",
    paidDate: null,
    poNumber: "",
    contractNumber: null,
    subtotal: d("18286.70"),
    taxTotal: d("1932.5"),
    total: d("20219.20"),
    notes: 'Gate "B", dock 3\nask for Ann',
    lines: [line("ULSD2", "8000", "2.3457", "18765.60"), line(null, null, null, "-478.90")],
    taxes: [
      {
        taxCode: "FED-EX",
        taxType: "Federal excise",
        authority: "IRS",
        product: "ULSD2",
        gallons: d("8000"),
        rate: d("0.2415625"),
        amount: d("1932.5"),
      },
    ],
    ...more,
  };
}

export function line(
  item: string | null,
  gallons: string | null,
  rate: string | null,
  amount: string,
): CustomerInvoiceDocument["lines"][number] {
  return {
    item,
    product: item,
    description: item ?? "Credit, freight",
    spec: null,
    gallons: gallons === null ? null : d(gallons),
    grossGallons: null,
    netGallons: null,
    rate: rate === null ? null : d(rate),
    amount: d(amount),
    bolNumber: "0004711",
    deliveryTicket: null,
    location: null,
    carrier: null,
    deliveredDate: null,
  };
}

export const item = (document: CustomerInvoiceDocument, revision = "rev-a"): Item => ({
  number: document.number,
  id: document.id,
  revision,
  document,
  counterpart: null,
});
