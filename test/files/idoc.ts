/** Documents, settings and sites for the tests of this folder. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { FilesConfig, SinkConfig, SourceConfig } from "../../connectors/files/config.ts";
import { localDrop } from "../../connectors/files/folder/local.ts";
import type { Site } from "../../connectors/files/pickup.ts";
import type { FileSink } from "../../connectors/files/sink.ts";
import { sinkOf } from "./sink.ts";
import { formatOf, openSource } from "../../connectors/files/source.ts";
import { calendarOf } from "../../src/core/time.ts";
import type { Item, Outgoing } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Fault } from "../../src/core/record.ts";
import type { SupplierInvoiceDocument } from "../../src/formats/documents.ts";
import type { OrderDocument, ShipmentDocument } from "../../src/ledger/documents.ts";
import { toldOf } from "./source.ts";

const ID = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
const NOW = "2026-08-14T15:02:11.000Z";

export const golden = (name: string): string =>
  readFileSync(join(import.meta.dirname, "idoc", `${name}.xml`), "utf8");

/** As it is written: without comments, and without the white space between elements. */
export const compact = (xml: string): string =>
  `${xml
    .replaceAll(/<!--[^]*?-->/g, "")
    .replaceAll(/>\s+</g, "><")
    .replace("?><", "?>\n<")
    .trim()}\n`;

const parties = {
  client: "100",
  sender: { port: "FUELBRIDGE", partner: "FUELBRIDGE" },
  receiver: { port: "SAPS4P", partner: "S4PCLNT100" },
};

const own = {
  INVOIC: { companyCode: { code: "1710", name: "Example Fuels & Sons" }, headerText: "0001" },
  ORDERS: {
    organization: "1710",
    channel: "10",
    division: "00",
    orderType: "OR",
    priceCondition: "PR00",
    plants: { "T-76-TX-2780": "HOU1" },
  },
  DELVRY: { deliveryNumber: "ticketNumber" },
} as const;

export const sinkConfig = (
  message: keyof typeof own,
  more: Record<string, unknown> = {},
): SinkConfig =>
  SinkConfig.parse({
    format: "idoc",
    message,
    folder: "to-sap",
    ...parties,
    ...own[message],
    ...more,
  });

export const siteIn = (folder: string, more: Partial<Site> = {}): Site => ({
  folder,
  drop: localDrop(folder),
  now: () => new Date(NOW),
  pause: () => Promise.resolve(),
  currency: "USD",
  dayOf: calendarOf("America/Chicago"),
  ignore: {},
  note: () => {},
  ...more,
});

export function openSap(
  message: keyof typeof own,
  more: Record<string, unknown> = {},
  site: Site = siteIn("/nowhere", { looking: true }),
): FileSink {
  return sinkOf(sinkConfig(message, more), site);
}

export const itemOf = (document: { id: string; number: string }, revision = "rev-a"): Item => ({
  number: document.number,
  id: document.id,
  revision,
  document,
  counterpart: null,
});

export const outgoing = (sink: FileSink, item: Item): Outgoing => ({
  ...sink.freeze([item]),
  key: "fb1_key",
  items: [item],
  firstSentAt: null,
});

/** Why it is refused. @throws Error when it is not */
export function faultOf(work: () => unknown): Fault {
  try {
    work();
  } catch (error) {
    if (error instanceof Refused) return error.fault;
    throw error;
  }
  throw new Error("it was not refused");
}

/** Reads all files of a folder as a source of IDocs does. */
export async function readAll(folder: string, config: Record<string, unknown>) {
  const source = SourceConfig.parse({ format: "idoc", pick: "*.xml", ...config });
  const files = FilesConfig.parse({ folder, settleMs: 0 });
  const changes = [];
  const notices: string[] = [];
  const { signal } = new AbortController();
  const reading = { signal, known: () => null, stored: () => false };
  const site = siteIn(folder);
  const reader = formatOf(source).read(source, site);
  for await (const page of openSource(reader, source, files, site).read(null, reading)) {
    changes.push(...page.changes);
    notices.push(...toldOf(page));
  }
  return { changes, notices };
}

export const emptyFolder = (parent: string, name: string): string => {
  const folder = join(parent, name);
  mkdirSync(folder, { recursive: true });
  return folder;
};

const d = (text: string): Decimal => Decimal.of(text);

export function bill(more: Partial<SupplierInvoiceDocument> = {}): SupplierInvoiceDocument {
  return {
    id: ID,
    number: "F-2026-00731",
    version: "2026-08-14T15:02:11.123456Z",
    status: "OUTSTANDING",
    vendor: "104711",
    issuerId: "5d0f2c7e-9b1a-4c3d-8e5f-6a7b8c9d0e1f",
    orderId: null,
    invoiceDate: "2026-08-14T03:30:00Z",
    dueDate: "2026-09-12T12:00:00Z",
    paidDate: null,
    poNumber: "4500017823",
    contractNumber: "C-77",
    subtotal: d("18237.00"),
    taxTotal: d("1500.25"),
    total: d("19737.25"),
    notes: "Gate B\nask for Ann",
    lines: [
      billLine("000417", "7500", "2.435167", "18263.75"),
      billLine(null, null, null, "-26.75"),
    ],
    taxes: [billTax("1500.00"), billTax("0.25")],
    ...more,
  };
}

export const billLine = (
  item: string | null,
  gallons: string | null,
  rate: string | null,
  amount: string,
): SupplierInvoiceDocument["lines"][number] => ({
  item,
  product: item === null ? null : "ULSD-2 DYED",
  description: item === null ? "Discount" : "ULSD no. 2 dyed",
  spec: null,
  gallons: gallons === null ? null : d(gallons),
  grossGallons: null,
  netGallons: null,
  rate: rate === null ? null : d(rate),
  amount: d(amount),
  bolNumber: "5512009",
  deliveryTicket: item === null ? null : "DT-2026-00918",
  location: null,
  carrier: null,
  deliveredDate: item === null ? null : "2026-08-12T18:00:00Z",
});

export const billTax = (amount: string): SupplierInvoiceDocument["taxes"][number] => ({
  taxCode: "I1",
  taxType: "State excise",
  authority: "TX",
  product: null,
  gallons: null,
  rate: null,
  amount: d(amount),
});

export const order = (more: Partial<OrderDocument> = {}): OrderDocument => ({
  id: ID,
  number: "LD-5512",
  party: { code: "12000", name: "Hill & Sons", companyId: "5d0f2c7e-9b1a-4c3d-8e5f-6a7b8c9d0e1f" },
  type: "sale",
  status: "confirmed",
  date: "2026-08-14",
  description: null,
  shipTo: "12077",
  requestedDate: "2026-08-18",
  deliveryDate: null,
  deliveryStart: "6:00",
  deliveryEnd: "10:00",
  lines: [
    {
      product: "ULSD2",
      quantity: d("7500"),
      unit: "gal",
      unitPrice: d("2.435167"),
      description: "ULSD2, Houston",
      terminal: "T-76-TX-2780",
      loadingNumber: "LD-5512-1",
    },
  ],
  ...more,
});

export const ticket = (more: Partial<ShipmentDocument> = {}): ShipmentDocument => ({
  id: ID,
  number: "DT-2026-00918",
  party: { code: "104711", name: "Gulf Coast", companyId: "5d0f2c7e-9b1a-4c3d-8e5f-6a7b8c9d0e1f" },
  type: "in",
  status: "waiting",
  order: "4500017823",
  date: "2026-08-14",
  reference: "5512009",
  note: "driver Ann",
  lines: [
    {
      product: "ULSD2",
      quantity: d("7480.5"),
      unit: "gal",
      grossGallons: d("7500"),
      netGallons: d("7480.5"),
      temperature: null,
      apiGravity: null,
    },
  ],
  ...more,
});

/** An ALEAUD about one IDoc of ours. */
export const aleaud = (
  docnum: string,
  status: string,
  { text = "Vendor &amp; is not defined", at = "20260814160000" } = {},
): string =>
  golden("ALEAUD")
    .replace("@DOCNUM@", docnum)
    .replace("@STATUS@", status)
    .replace("@TEXT@", text)
    .replace("@DATE@", at.slice(0, 8))
    .replace("@TIME@", at.slice(8));
