/** The connector kit over `example`: its ledger is a server of the test's own. */
import { connectorSuite, type Ground } from "../../test/connector.suite.ts";
import { losing } from "../../test/support/connector.ts";
import { Decimal } from "../../src/core/decimal.ts";
import {
  billDocument,
  enterInvoice,
  invoiceDocument,
  itemOf,
  opened,
  openLedger,
  paymentDocument,
  settings,
  withProduct,
} from "./example.fixture.ts";
import { example } from "./index.ts";
import type { Ledger } from "./ledger.fixture.ts";

/** The only invoice of every ground. */
const INVOICE = "S-1";

connectorSuite({
  connector: example,
  ground,
  bad: [
    { field: "url", config: (good) => ({ ...good, url: "ledger" }) },
    { field: "token", config: (good) => ({ ...good, token: undefined }) },
    { field: "accounts.expense", config: (good) => ({ ...good, accounts: { revenue: "4000" } }) },
    { field: "colour", config: (good) => ({ ...good, colour: "blue" }) },
  ],
  sources: ["parties", "invoices", "prices"],
  sinks: {
    invoices: {
      good: itemOf(invoiceDocument("FL-1")),
      others: [itemOf(invoiceDocument("FL-2")), itemOf(invoiceDocument("FL-3"))],
      voided: itemOf(invoiceDocument("FL-1", { status: "void" })),
      refused: itemOf(withProduct(invoiceDocument("FL-GOLD"), "GOLD")),
    },
    bills: {
      good: itemOf(billDocument("R-1")),
      others: [itemOf(billDocument("R-2")), itemOf(billDocument("R-3"))],
      voided: itemOf(billDocument("R-1", { status: "void" })),
      refused: itemOf(withProduct(billDocument("R-GOLD"), "GOLD")),
    },
    payments: {
      good: itemOf(paymentDocument("pay-1", INVOICE)),
      refused: itemOf(paymentDocument("pay-2", "S-404")),
      lacks: {
        batches: "the ledger takes one payment per call",
        "batches-cut-off": "the ledger takes one payment per call",
        cancellation: "the platform voids no payment",
        codes: "a payment names no code",
      },
    },
  },
  paying: {
    open: itemOf(invoiceDocument("FL-1")),
    paid: itemOf(invoiceDocument("FL-1", { status: "paid", paidDate: "2026-11-21" })),
    total: "19934.08",
    payment: (id, invoice, amount) =>
      itemOf(paymentDocument(id, invoice, { amount: Decimal.of(amount) })),
  },
});

async function ground(): Promise<Ground> {
  const ledger = await openLedger();
  enterInvoice(ledger);
  const config = settings(ledger);
  return {
    folder: ".",
    config,
    unreachable: { ...config, url: "http://127.0.0.1:9" },
    wrongCredentials: { ...config, token: "wrong-token" },
    fill: (source) => fill(ledger, source),
    effects: (sink, { id }) =>
      ledger
        .rows(sink)
        .filter(({ mark }) => mark === id)
        .map((row) => JSON.stringify({ ...row, id: 0, seq: 0, version: 0, stamp: 0 })),
    backup: () => {
      const backup = ledger.backup();
      return () => ledger.restore(backup);
    },
    change: (sink, { id }) => {
      const row = ledger.rows(sink).find(({ mark }) => mark === id);
      const values = sink === "payments" ? { date: "2026-11-30" } : { party: "CUST-2" };
      ledger.edit(sink, row?.id ?? "", values);
    },
    vanish: () => {
      ledger.products.delete("ULSD-CLR");
      return () => void ledger.products.add("ULSD-CLR");
    },
    money: () => moneyOf(ledger),
    clock: (aheadMs) => void (ledger.clockMs = aheadMs),
    interrupt: losing(ledger, () => opened(ledger)),
  };
}

/** Of the platform's invoice. */
function moneyOf(ledger: Ledger): { open: string; onAccount: string } {
  const invoice = ledger.rows("invoices").find(({ mark }) => mark !== null);
  const [open, total] = [invoice?.["open"], invoice?.["total"]] as [Decimal, Decimal];
  const paid = ledger
    .rows("payments")
    .filter(({ document }) => document === invoice?.id)
    .map(({ amount }) => amount as Decimal);
  const onAccount = Decimal.sum(paid).minus(total.minus(open));
  return { open: open.fixed(2), onAccount: onAccount.fixed(2) };
}

/** Three pages. */
function fill(ledger: Ledger, source: string): void {
  for (let number = 0; number < 250; number++)
    if (source === "invoices") enterInvoice(ledger, { reference: `FL-${number}` });
    else if (source === "parties") ledger.enter("parties", { name: `Party ${number}` });
    else ledger.enter("prices", { list: "T-1", product: `P-${number}`, price: null, unit: "gal" });
}
