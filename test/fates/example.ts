/** The example's ledger in the table of fates: over HTTP, by its own rows. */
import {
  type Ledger,
  type Row,
  startLedger,
  TOKEN,
} from "../../connectors/example/ledger.fixture.ts";
import { openBooksSite } from "../support/books-site.ts";
import { today } from "../tryton/ledger.ts";
import { d, NO_NUMBER, PRODUCTS } from "./platform.ts";
import { type Counterpart, NO_COPY, NOT_CARRIED } from "./round.ts";
import type { Actor, Held, Side } from "./table.ts";

const NO_GOODS = "the connector takes no orders and no tickets";

export const example: Counterpart = {
  connector: "example",
  async open(folder, backup) {
    const { ledger, close } = await startLedger();
    for (const account of ["2310", "4100", "5100"]) ledger.accounts.add(account);
    if (backup !== undefined) ledger.restore(backup);
    const site = await openBooksSite(folder, {
      name: "example",
      isCopy: backup !== undefined,
      scenario: "empty",
      change: () => CONFIGURATION,
      secrets: { token: TOKEN },
      env: { LEDGER_URL: ledger.url },
      close,
    });
    return { ...site, side: sideOf(ledger), backup: () => ledger.backup() };
  },
  lacks: {
    ...NOT_CARRIED,
    "order to books": NO_GOODS,
    "purchase to books": NO_GOODS,
    "ticket to books": NO_GOODS,
    "delivery to books": NO_GOODS,
    "payment to platform":
      "the connector tells no payments: only books with a list of paid invoices do",
  },
};

const CONFIGURATION = `version: 1
company: fates
currency: USD
timeZone: America/Chicago
state: ../var/example/state
platform:
  url: \${FUELBRIDGE_PLATFORM_URL}
  environment: live
  apiKey: \${file:../var/example/api-key}
  settle: 1s
endpoints:
  books:
    connector: example
    url: \${LEDGER_URL}
    token: \${file:../var/example/token}
    accounts: { revenue: "4000", expense: "5000" }
    settleMs: 0
crossReferences: ./crossref
flows:
  customers: { mapping: books/customers, from: books.parties, to: platform.customers, every: 10m }
  suppliers: { mapping: books/suppliers, from: books.parties, to: platform.suppliers, every: 10m }
  invoices: { mapping: books/invoices, from: books.invoices, to: platform.invoices, every: 10m }
  rack-prices: { mapping: books/rack-prices, from: books.prices, to: platform.rackPrices, every: 10m }
  invoices-issued: { mapping: books/customer-invoices, from: platform.invoicesIssued, to: books.invoices, every: 10m }
  invoices-payable: { mapping: books/supplier-invoices, from: platform.invoicesPayable, to: books.bills, every: 10m }
  payments-received: { mapping: books/payments-received, from: platform.paymentsReceived, to: books.payments, every: 10m }
`;

let counter = 0;

function sideOf(ledger: Ledger): Side {
  const row = (table: string, { id }: Held): Row => {
    const found = ledger.rows(table).find(({ seq }) => String(seq) === id);
    if (found === undefined) throw new Error(`the ledger has no ${table} ${id}`);
    return found;
  };
  const edit = (table: string, held: Held, values: object): void =>
    ledger.edit(table, row(table, held).id, values);
  /** What people call it changes; `seq` is what it is. */
  const rename = (table: string, held: Held, id: string): void => {
    row(table, held).id = id;
    ledger.edit(table, id, {});
  };
  const recodeParty = (code: string): void => {
    const party = ledger.rows("parties").find(({ id }) => id === code);
    if (party === undefined) throw new Error(`the ledger has no party ${code}`);
    rename("parties", { id: String(party.seq), number: null, stands: true }, `${code}-NEW`);
    for (const table of ["invoices", "bills", "payments"])
      for (const one of ledger.rows(table)) if (one["party"] === code) one["party"] = `${code}-NEW`;
  };
  const cuts = (table: string) => ({
    cutWrite: async (when: "before" | "after") => {
      ledger.cuts = { path: new RegExp(`^/${table}/create`), when };
    },
  });
  const reads = (table: string) => ({
    touch: async (held: Held) => edit(table, held, {}),
    cutList: async () => {
      ledger.cuts = { path: new RegExp(`^/${table}/(?:changed|search)`), when: "after" };
    },
  });
  const partyOf = (code: unknown): string =>
    String(ledger.rows("parties").find(({ id }) => id === code)?.seq ?? code);

  const documents = (table: string, isOurs: boolean): Actor => ({
    list: async () =>
      ledger
        .rows(table)
        .filter((one) => (one["mark"] === null) === !isOurs)
        .map((one) => ({
          id: String(one.seq),
          number: isOurs ? String(one["reference"]) : one.id,
          partner: isOurs ? String(one["mark"]) : undefined,
          party: partyOf(one["party"]),
          stands: one["state"] !== "cancelled",
          names: [one.id, String(one["reference"])],
        }))
        .map(({ partner, ...one }) => (partner === undefined ? one : { ...one, partner })),
    void: async (held) => edit(table, held, { state: "cancelled" }),
    remove: async (held) => ledger.delete(table, row(table, held).id),
  });
  const received = (table: string): Actor => ({
    ...documents(table, true),
    renumber: async (held) => {
      edit(table, held, { reference: `${held.number}-BY-HAND` });
      return `${held.number}-BY-HAND`;
    },
    recode: async (held) => recodeParty(String(row(table, held)["party"])),
    copy: async (held, byHand) => {
      const { id, seq, mark, reference, ...rest } = row(table, held);
      void [id, seq, mark];
      const named = byHand ? { reference: null, order: null } : { reference };
      return heldOf(ledger.enter(table, { ...rest, ...named }));
    },
    ...cuts(table),
  });
  const heldOf = (one: Row): Held => ({ id: String(one.seq), number: one.id, stands: true });
  const heldPrice = (one: Row): Held => ({
    id: String(one.seq),
    number: `T-76-TX-2799 ${PRODUCTS[String(one["product"])] ?? String(one["product"])}`,
    stands: one["price"] !== null,
    names: [one.id, `${String(one["list"])}|${String(one["product"])}`],
  });
  const own: Actor = {
    ...documents("invoices", false),
    make: async () => heldOf(ledger.enter("invoices", ownInvoice(ledger))),
    renumber: async (held) => {
      rename("invoices", held, `${held.number}-NEW`);
      return `${held.number}-NEW`;
    },
    recode: async (held) => recodeParty(String(row("invoices", held)["party"])),
    copy: async (held) => {
      const { reference, party, date, due, order, lines, taxes } = row("invoices", held);
      const copied = { state: "posted", reference, party, date, due, order, lines, taxes };
      return heldOf(ledger.enter("invoices", copied));
    },
    ...reads("invoices"),
  };
  const payments: Actor = {
    list: async () =>
      ledger.rows("payments").map((one) => ({
        id: String(one.seq),
        number: String(one["text"]),
        partner: String(one["mark"]),
        party: partyOf(one["party"]),
        stands: one["state"] === "posted",
        names: [one.id],
      })),
    renumber: async (held) => {
      edit("payments", held, { text: "by hand" });
      return "by hand";
    },
    recode: async (held) => recodeParty(String(row("payments", held)["party"])),
    void: async (held) => {
      edit("payments", held, { state: "cancelled" });
      takeBack(held);
    },
    remove: async (held) => {
      takeBack(held);
      ledger.delete("payments", row("payments", held).id);
    },
    ...cuts("payments"),
    lacks: { copy: NO_COPY },
  };
  const takeBack = (held: Held): void => {
    const { id } = row("payments", held);
    for (const one of ledger.rows("invoices")) {
      const all = one["payments"] as { id: string }[];
      if (all.some((paid) => paid.id === id))
        ledger.edit("invoices", one.id, { payments: all.filter((paid) => paid.id !== id) });
    }
  };
  const parties = (role: "isCustomer" | "isSupplier"): Actor => ({
    list: async () =>
      ledger
        .rows("parties")
        .filter((one) => one[role] === true)
        .map((one) => ({
          id: String(one.seq),
          number: one.id,
          stands: one["active"] === true,
          names: [String(one["name"])],
        })),
    make: async () => {
      const name = `${role === "isCustomer" ? "Farm" : "Supply"} ${++counter}`;
      return heldOf(ledger.enter("parties", { id: `P-${1000 + counter}`, name, [role]: true }));
    },
    recode: async (held) => recodeParty(row("parties", held).id),
    void: async (held) => edit("parties", held, { active: false }),
    remove: async (held) => ledger.delete("parties", row("parties", held).id),
    copy: async (held) => {
      const { name } = row("parties", held);
      return heldOf(ledger.enter("parties", { id: `P-${1000 + ++counter}`, name, [role]: true }));
    },
    ...reads("parties"),
    lacks: { renumber: "the number of a party is its code" },
  });
  const prices: Actor = {
    list: async () => ledger.rows("prices").map(heldPrice),
    make: async () => {
      const there = ledger.rows("prices").map((one) => one["product"]);
      const product = Object.keys(PRODUCTS).find((one) => !there.includes(one)) ?? "";
      return heldPrice(ledger.enter("prices", priceOf(product)));
    },
    recode: async (held) => edit("prices", held, { product: "ULSD-NEW" }),
    void: async (held) => edit("prices", held, { price: null }),
    remove: async (held) => ledger.delete("prices", row("prices", held).id),
    copy: async (held) => {
      const { product } = row("prices", held);
      return heldPrice(ledger.enter("prices", { ...priceOf(String(product)), price: d("2.6") }));
    },
    ...reads("prices"),
    lacks: { renumber: NO_NUMBER },
  };
  return {
    "invoice to books": received("invoices"),
    "bill to books": received("bills"),
    "payment to books": payments,
    "customer to platform": parties("isCustomer"),
    "supplier to platform": parties("isSupplier"),
    "invoice to platform": own,
    "price to platform": prices,
  };
}

const priceOf = (product: string): object => ({
  list: "T-76-TX-2799",
  product,
  price: d("2.5"),
  unit: "gal",
});

/** To the newest of the ledger's own customers, posted. */
function ownInvoice(ledger: Ledger): object {
  const amount = d(1_000 + ++counter);
  const customer = ledger.rows("parties").findLast((one) => one["isCustomer"] === true);
  return {
    state: "posted",
    party: customer?.id,
    date: today(),
    due: today(),
    reference: `REF-${counter}`,
    lines: [
      {
        product: "ULSD-CLR",
        account: "4000",
        quantity: amount,
        unit: "gal",
        unitPrice: d(1),
        amount,
        text: "Diesel",
      },
    ],
    taxes: [],
  };
}
