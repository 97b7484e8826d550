/** The connector kit: its receiver is a little company file behind the Web Connector's protocol, not a QuickBooks. */
import { stringifyExact } from "../../src/core/json.ts";
import { connectorSuite, type Ground } from "../../test/connector.suite.ts";
import { type Clerk, never } from "../../test/support/connector.ts";
import { freePort } from "../../test/support/port.ts";
import {
  billDocument,
  invoiceDocument,
  itemOf,
  paymentDocument,
  withProduct,
} from "../example/example.fixture.ts";
import type { CompanyFile } from "./company-file.fixture.ts";
import {
  desktop,
  endpointAt,
  openSite,
  orderDocument,
  rowsOf,
  settings,
  ticketDocument,
} from "./desktop.fixture.ts";

/** The third record of every ground. */
const INVOICE = "3-1700000000";
const bill = (number: string, more: object = {}) =>
  billDocument(number, {
    party: { code: "VEND-1", name: "Sabine Lights", companyId: "company-2" },
    ...more,
  });
const ONE = "QuickBooks takes one document per request";
const lacks = { batches: ONE, "batches-cut-off": ONE };

connectorSuite({
  connector: desktop,
  ground,
  bad: [
    { field: "url", config: (good) => ({ ...good, url: "http://books.example.com:8447/qbwc" }) },
    { field: "password", config: (good) => ({ ...good, password: undefined }) },
    { field: "certificate", config: (good) => ({ ...good, url: "https://localhost:8447/qbwc" }) },
    { field: "chargeItem", config: (good) => ({ ...good, chargeItem: "Fracht für Öl" }) },
    { field: "colour", config: (good) => ({ ...good, colour: "blue" }) },
  ],
  sources: ["parties", "invoices", "paidInvoices", "prices"],
  hasClerk: true,
  sinks: {
    invoices: {
      good: itemOf(invoiceDocument("FL-2026-000118-ACME")),
      voided: itemOf(invoiceDocument("FL-2026-000118-ACME", { status: "void" })),
      refused: itemOf(withProduct(invoiceDocument("FL-GOLD"), "GOLD")),
      lacks,
    },
    bills: {
      good: itemOf(bill("R-1")),
      voided: itemOf(bill("R-1", { status: "void" })),
      refused: itemOf(withProduct(bill("R-GOLD"), "GOLD")),
      lacks,
    },
    orders: {
      good: itemOf(orderDocument("LD-1")),
      voided: itemOf(orderDocument("LD-1", { status: "cancelled" })),
      refused: itemOf(withProduct(orderDocument("LD-GOLD"), "GOLD")),
      lacks: { ...lacks, restored: "restored books give it another id: goods.test.ts" },
    },
    shipments: {
      good: itemOf(ticketDocument("DT-1")),
      refused: itemOf(withProduct(ticketDocument("DT-GOLD"), "GOLD")),
      lacks: { ...lacks, cancellation: "its id says what it was brought to: goods.test.ts" },
    },
    payments: {
      good: itemOf(paymentDocument("pay-1", INVOICE)),
      refused: itemOf(paymentDocument("pay-2", "404-1700000000")),
      lacks: {
        ...lacks,
        cancellation: "the platform voids no payment",
        codes: "a payment names no code",
      },
    },
  },
});

async function ground(): Promise<Ground> {
  const { port, file, connector } = await openSite();
  const total = { ItemRef: "ULSD-CLR", Amount: "19934.08" };
  file.enter("Invoice", { CustomerRef: "CUST-1", TxnDate: "2026-11-21", RefNumber: "FL-0" }, [
    total,
  ]);
  const prices = { list: "T-1" };
  const config = settings(port, { prices });
  const url = String(config["url"]);
  return {
    folder: ".",
    config,
    unreachable: settings(await freePort(), { prices, patienceMs: 20 }),
    wrongCredentials: { ...config, password: "another-password" },
    fill: (source) => fill(file, source),
    effects: (sink, { id }) =>
      rowsOf(file, sink, id).map((row) => stringifyExact({ ...row, id: 0, sequence: 0 })),
    backup: () => {
      const backup = file.backup();
      return () => file.restore(backup);
    },
    change: (sink, { id }) => {
      const fields = rowsOf(file, sink, id)[0]?.fields ?? {};
      if (sink === "payments") fields["TxnDate"] = "2026-11-30";
      else
        fields[sink === "bills" || sink === "shipments" ? "VendorRef" : "CustomerRef"] =
          "Somebody Else";
    },
    vanish: () => {
      file.items.delete("ULSD-CLR");
      return () => void file.items.add("ULSD-CLR");
    },
    clerk: clerkOf(file),
    clock: (aheadMs) => {
      file.now = new Date(Date.now() + aheadMs).toISOString().slice(0, 19);
    },
    async interrupt(sink, request, step) {
      const found = endpointAt(url).sinks[sink];
      await found?.expect?.(never);
      connector.killAt = step;
      const answer = (await found?.send(request, never)) ?? null;
      const over = connector.killAt > 0;
      connector.killAt = 0;
      return { over, answer };
    },
  };
}

/** A name that is changed is changed in all that names it. */
function clerkOf(file: CompanyFile): Clerk {
  const idOf = (name: string): string =>
    file.rows("Customer").find(({ fields }) => fields["Name"] === name)?.id ?? "";
  return {
    enter: (Name) => file.enter("Customer", { Name }),
    recode(name, Name) {
      file.edit("Customer", idOf(name), { Name });
      for (const { id, fields } of file.rows("Invoice"))
        if (fields["CustomerRef"] === name) file.edit("Invoice", id, { CustomerRef: Name });
    },
    remove: (name) => file.remove("Customer", idOf(name)),
    codes: () => file.rows("Customer").map(({ fields }) => fields["Name"] ?? ""),
  };
}

/** Three pages. */
function fill(file: CompanyFile, source: string): void {
  for (let number = 0; number < 110; number++)
    if (source === "parties") file.enter("Customer", { Name: `Party ${number}` });
    else if (source === "prices")
      file.enter("Item", {
        Name: `P-${number}`,
        "*": "<SalesOrPurchase><Price>2.25</Price></SalesOrPurchase>",
      });
    else
      file.enter(
        "Invoice",
        { CustomerRef: "CUST-1", TxnDate: "2026-11-21", RefNumber: `FL-${number}` },
        [{ ItemRef: "ULSD-CLR", Amount: "1.00" }],
      );
}
