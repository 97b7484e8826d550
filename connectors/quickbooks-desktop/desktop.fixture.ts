/** A company file of the test's own behind a Web Connector that calls an endpoint of the test's own. */
import { expect, onTestFinished } from "vitest";
import { freePort } from "../../test/support/port.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";
import type { OrderDocument, ShipmentDocument } from "../../src/ledger/documents.ts";
import type { Endpoint, Surroundings } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { guidOf } from "../quickbooks/text.ts";
import { CompanyFile, type Row, type Table } from "./company-file.fixture.ts";
import { DesktopConfig } from "./config.ts";
import { quickbooksDesktop } from "./index.ts";
import { WebConnector } from "./web-connector.fixture.ts";

export const USER = "fuelbridge-prairie";
export const PASSWORD = "web-connector-password";

export const settings = (port: number, more: object = {}): Record<string, unknown> => ({
  url: `http://127.0.0.1:${port}/qbwc`,
  user: USER,
  password: PASSWORD,
  fileId: "a2c7f1d4-0e58-4f5b-8f7d-1d1b3e9c4d22",
  company: "Prairie Fuel",
  chargeItem: "FREIGHT",
  taxCode: "Non",
  bankAccount: "Checking",
  settleMs: 0,
  settleAfter: "0s",
  patienceMs: 60_000,
  lingerMs: 60_000,
  holdMs: 500,
  ...more,
});

/** Of a sale, or of what is bought. */
export function orderDocument(number: string, more: Partial<OrderDocument> = {}): OrderDocument {
  const line = { quantity: Decimal.of("7500"), unit: "gal", unitPrice: Decimal.of("2.413755") };
  return {
    id: `id-${number}`,
    number,
    party:
      more.type === "purchase"
        ? { code: "VEND-1", name: "Sabine Lights", companyId: "company-2" }
        : { code: "CUST-1", name: "Ranch Supply", companyId: "company-1" },
    type: "sale",
    status: "confirmed",
    date: "2026-11-20",
    description: "Gate code 4711",
    lines: [{ product: "ULSD-CLR", ...line, description: "ULSD-CLR, Cowtown North" }],
    ...more,
  };
}

export function ticketDocument(
  number: string,
  more: Partial<ShipmentDocument> = {},
): ShipmentDocument {
  const measured = { netGallons: null, temperature: null, apiGravity: null };
  const grossGallons = Decimal.of("7528.4");
  const line = { product: "ULSD-CLR", quantity: Decimal.of("7499.9"), unit: "gal", grossGallons };
  return {
    id: `id-${number}`,
    number,
    party: { code: "VEND-1", name: "Sabine Lights", companyId: "company-2" },
    type: "in",
    status: "done",
    order: null,
    date: "2026-11-21",
    reference: "BOL 0048240",
    note: "ticket, driver Ana María Cruz\nULSD-CLR, gross 7528.4 gal",
    lines: [{ ...line, ...measured }],
    ...more,
  };
}

export interface Site {
  readonly port: number;
  readonly file: CompanyFile;
  readonly connector: WebConnector;
}

/** The Web Connector calls, whether or not anybody listens. */
export async function openSite({ calls = true } = {}): Promise<Site> {
  const port = await freePort();
  const file = new CompanyFile();
  file.enter("Customer", { Name: "CUST-1", CompanyName: "Ranch Supply" });
  file.enter("Vendor", { Name: "VEND-1", CompanyName: "Sabine Lights" });
  const connector = new WebConnector(`http://127.0.0.1:${port}/qbwc`, file, {
    user: USER,
    password: PASSWORD,
  });
  if (calls) connector.start();
  onTestFinished(() => connector.stop());
  return { port, file, connector };
}

/** The connector at that port, until the test ends. */
export function opened(
  port: number,
  more: object = {},
  given: Partial<Surroundings> = {},
): Endpoint {
  const config = DesktopConfig.parse(settings(port, more));
  const endpoint = quickbooksDesktop.open(config, surroundingsIn(".", given));
  onTestFinished(() => endpoint.close());
  return endpoint;
}

/** Its service answers. */
export const listens = (port: number): Promise<void> =>
  expect
    .poll(
      () =>
        fetch(`http://127.0.0.1:${port}/qbwc`).then(
          ({ ok }) => ok,
          () => false,
        ),
      { timeout: 20_000 },
    )
    .toBe(true);

/** The endpoints that were opened and not closed, by their addresses. */
const open = new Map<string, Endpoint>();

/** The connector, which remembers what it opened: a test reaches the endpoint that QuickBooks calls. */
export const desktop: typeof quickbooksDesktop = {
  ...quickbooksDesktop,
  open(config, surroundings) {
    const endpoint = quickbooksDesktop.open(config, surroundings);
    open.set(config.url, endpoint);
    return endpoint;
  },
};

export const endpointAt = (url: string): Endpoint => open.get(url) as Endpoint;

const TABLES: Readonly<Record<string, Table>> = {
  invoices: "Invoice",
  bills: "Bill",
  payments: "ReceivePayment",
  orders: "SalesOrder",
  shipments: "ItemReceipt",
};

/** What the company file has of a document of ours. */
export const rowsOf = (file: CompanyFile, sink: string, id: string): Row[] =>
  file
    .rows(TABLES[sink] ?? "Invoice")
    .filter(({ fields }) => fields["ExternalGUID"] === guidOf(id));
