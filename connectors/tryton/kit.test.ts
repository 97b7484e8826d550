/** The connector kit over `tryton`: a real server, and before it one that cuts off the answer to the nth change. */
import { describe, onTestFinished } from "vitest";
import type { Outgoing } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { type Config, connectorSuite, type Ground } from "../../test/connector.suite.ts";
import type { Kit } from "../../test/support/connector.ts";
import { serving } from "../../test/support/http.ts";
import { itemOf, withProduct } from "../../test/support/ledger-documents.ts";
import { isLongRun } from "../../test/support/runs.ts";
import { trytonIsThere, type TrytonServer, useTryton } from "../../test/support/tryton.ts";
import { isHalf } from "../../test/support/tryton-releases.ts";
import type { OrderDocument, ShipmentDocument } from "../../src/ledger/documents.ts";
import { wizard } from "./clerk.fixture.ts";
import { tryton } from "./index.ts";
import { invoiceDocument, paymentDocument, settings } from "./sink.fixture.ts";
import { type Desk, deskIn, deskOf } from "./sources/source.fixture.ts";
import { exact } from "./rows.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";

const d = (text: string) => Decimal.of(text);
const PRODUCT = "ULSD-CLR";
const party = {
  code: "CUST-7",
  name: "Ranch Supply",
  companyId: "0a000000-0000-4000-8000-00000000c007",
};

const invoice = invoiceDocument();
const order: OrderDocument = {
  id: "0b6f7a52-4c1e-4d8a-9f5e-1c2d3e4f5a6b",
  number: "LD-1001",
  party,
  type: "sale",
  status: "confirmed",
  date: "2026-11-20",
  description: null,
  lines: [
    {
      product: PRODUCT,
      quantity: d("8000.5"),
      unit: "gal",
      unitPrice: d("2.413755"),
      description: "ULSD",
    },
  ],
};
const ticket: ShipmentDocument = {
  id: "1c2d3e4f-4c1e-4d8a-9f5e-1c2d3e4f5a6b",
  number: "DT-1001",
  party,
  type: "out",
  status: "done",
  order: null,
  date: "2026-11-20",
  reference: "BOL-4711",
  note: "gross 7990.1 gal",
  lines: [
    {
      product: PRODUCT,
      quantity: d("7987.4"),
      unit: "gal",
      grossGallons: d("7990.1"),
      netGallons: d("7987.4"),
      temperature: null,
      apiGravity: null,
    },
  ],
};

const CLOCK = "a running Tryton's clock cannot be set; sources/feed.test.ts moves its stamps";
/** The ordinary run shows the same in invoices.test.ts and invoice-states.test.ts. */
const LONG = ["batches", "batches-cut-off", "cancellation"] as const;
const IN_LONG_RUN = Object.fromEntries(LONG.map((trait) => [trait, "in the long run"]));
/** Of orders and deliveries. */
const SINGLE = {
  batches: "one document per call",
  "batches-cut-off": "one document per call",
  restored: "orders.test.ts and shipments.test.ts restore books",
  cancellation: "orders.test.ts and shipments.test.ts cancel them",
  codes: "products are looked up as those of invoices are",
  clock: CLOCK,
  ...(isLongRun
    ? {}
    : { "shared-code": "in the long run; parties are found as those of invoices are" }),
};

describe.skipIf(!trytonIsThere)("the kit", () => {
  // One answer of each sink is lost, and each one of them in the long run.
  suite(useTryton(), isLongRun ? {} : { steps: [2] });
});

describe.runIf(trytonIsThere && isLongRun)("the kit, over Tryton's server unchanged", () => {
  suite(useTryton({ unchanged: true }), { steps: [2] }, LONG);
});

/** @param long what is asked of invoices beyond the rest */
function suite(
  server: TrytonServer,
  steps: Pick<Kit, "steps">,
  long: readonly (typeof LONG)[number][] = [],
): void {
  connectorSuite({
    connector: tryton,
    ground: () => ground(server, deskIn(server)),
    bad: [
      { field: "url", config: (good) => ({ ...good, url: "books.example" }) },
      { field: "password", config: (good) => ({ ...good, password: undefined }) },
      {
        field: "accounts.payable",
        config: (good) => ({
          ...good,
          accounts: { receivable: "1200", revenue: "1", expense: "1" },
        }),
      },
      { field: "timeZone", config: (good) => ({ ...good, timeZone: "Texas" }) },
      { field: "colour", config: (good) => ({ ...good, colour: "blue" }) },
    ],
    ...steps,
    sources: ["parties", "prices"],
    lacksClock:
      "the tests cannot set the clock of a Tryton that runs; sources/feed.test.ts moves stamps",
    // Of the second release the story books invoices and payments.
    ...(isHalf
      ? {}
      : {
          paying: {
            open: itemOf(invoice),
            paid: itemOf(invoiceDocument({ ...invoice, status: "paid", paidDate: "2026-11-21" })),
            total: invoice.total.text,
            payment: (id, on, amount) =>
              itemOf(paymentDocument({ id, invoice: on, amount: d(amount) })),
          },
          hasClerk: true,
        }),
    sinks: {
      // Of the second release the story books the others.
      ...(isHalf
        ? {}
        : {
            invoices: {
              good: itemOf(invoice),
              others: [itemOf(invoiceDocument()), itemOf(invoiceDocument())],
              voided: itemOf(invoiceDocument({ ...invoice, status: "void" })),
              lacks: {
                clock: CLOCK,
                ...(long.length === 0 ? IN_LONG_RUN : {}),
              },
              long,
              refused: itemOf(withProduct(invoiceDocument({ number: "FL-GOLD" }), "GOLD")),
            },
            orders: {
              good: itemOf(order),
              lacks: SINGLE,
              long: ["shared-code"],
              refused: itemOf(withProduct({ ...order, id: "gold", number: "LD-GOLD" }, "GOLD")),
            },
          }),
      shipments: {
        good: itemOf(ticket),
        lacks: SINGLE,
        long: ["shared-code"],
        refused: itemOf(withProduct({ ...ticket, id: "gold", number: "DT-GOLD" }, "GOLD")),
      },
    },
  });
}

async function ground(server: TrytonServer, desk: Desk): Promise<Ground> {
  const config = settings(desk.database);
  return {
    folder: ".",
    config,
    unreachable: { ...config, url: "http://127.0.0.1:9" },
    wrongCredentials: { ...config, password: "wrong-password" },
    fill: async (source) => desk.database.restore(await filledFor(server, source)),
    effects: (sink, { number }) => effects(desk, sink, number),
    backup: () => {
      const kept = desk.database.keep();
      return () => desk.database.restore(kept);
    },
    vanish: async () => {
      const product = await desk.one("product.product", "code", PRODUCT);
      await desk.write("product.product", product, { active: false });
      return () => desk.write("product.product", product, { active: true });
    },
    change: (sink, { number }) => changeAsClerk(desk, sink, number),
    money: () => moneyOf(desk),
    clerk: {
      enter: (code) => desk.create("party.party", { code, name: "Ranch Supply" }),
      recode: async (code, now) =>
        desk.write("party.party", await desk.one("party.party", "code", code), { code: now }),
      codes: async () => (await partiesIn(desk)).map(({ code }) => code),
    },
    interrupt: (sink, request, step) => interrupt(config, sink, request, step),
  };
}

const partiesIn = ({ clerk }: Desk) =>
  clerk.call<{ readonly code: string }[]>("model.party.party.search_read", [
    [],
    0,
    null,
    null,
    ["code"],
  ]);

/** Books that have what this source reads; it is entered once in a test run. */
const filledFor = (server: TrytonServer, source: string): Promise<string> =>
  server.filled(`the kit's ${source}`, (database) => {
    const desk = deskOf(database);
    return source === "parties" ? fillParties(desk) : fillPrices(desk);
  });

async function fillParties(desk: Desk): Promise<void> {
  for (const code of ["A", "B", "C"])
    await desk.create("party.party", {
      code,
      name: `Party ${code}`,
      addresses: [["create", [{ city: "Waco" }]]],
      contact_mechanisms: [["create", [{ type: "email", value: `${code}@example.com` }]]],
    });
}

async function fillPrices(desk: Desk): Promise<void> {
  const { company } = await desk.clerk.session();
  const product = await desk.one("product.product", "code", PRODUCT);
  for (const name of ["T-1", "T-2"]) {
    const lines = [["create", [{ product, formula: "2.10" }]]];
    await desk.create("product.price_list", { name, company, lines });
  }
  const list = await desk.one("product.price_list", "name", "T-2");
  const line = await desk.one("product.price_list.line", "price_list", list);
  await desk.write("product.price_list.line", line, { formula: "2.20" });
}

const LOOKS: Readonly<Record<string, { model: string; field: string; fields: readonly string[] }>> =
  {
    invoices: {
      model: "account.invoice",
      field: "reference",
      fields: ["number", "state", "total_amount", "lines.amount", "taxes.amount"],
    },
    orders: {
      model: "sale.sale",
      field: "reference",
      fields: ["state", "untaxed_amount", "lines.quantity", "lines.moves.state"],
    },
    shipments: {
      model: "stock.shipment.out",
      field: "number",
      fields: ["state", "reference", "moves.quantity", "moves.state"],
    },
  };

/** What Tryton lets a clerk change on a document that is posted, confirmed or done. */
async function changeAsClerk(desk: Desk, sink: string, number: string): Promise<void> {
  const { model, field } = LOOKS[sink] as (typeof LOOKS)[string];
  const id = await desk.one(model, field, number);
  if (sink === "shipments") return desk.write(model, id, { reference: "BOL-9999" });
  if (sink === "orders") {
    const line = await desk.one("sale.line", "sale", id);
    return desk.write("sale.line", line, { quantity: 7500 });
  }
  const start = { with_refund: true, invoice_date: null };
  await wizard(desk, "account.invoice.credit", "credit", { start }, ["account.invoice", id]);
}

async function effects(desk: Desk, sink: string, number: string): Promise<string[]> {
  const { model, field, fields } = LOOKS[sink] as (typeof LOOKS)[string];
  const search = (name: string, domain: unknown, names: readonly string[]) =>
    desk.clerk.call<{ readonly id: number }[]>(`model.${name}.search_read`, [
      domain,
      0,
      null,
      [["id", "ASC"]],
      names,
    ]);
  const found: string[] = [];
  for (const row of await search(model, [[field, "=", number]], fields)) {
    const notes = await search("ir.note", [["resource", "=", `${model},${row.id}`]], ["message"]);
    found.push(
      JSON.stringify({ ...row, notes }, (key, value: unknown) => (key === "id" ? 0 : value)),
    );
  }
  return found;
}

/** What its ledger says: the receivables are what is open, less what is on account. */
async function moneyOf({ clerk }: Desk): Promise<{ open: string; onAccount: string }> {
  const read = <Row>(model: string, domain: unknown, fields: readonly string[]) =>
    clerk.call<Row[]>(`model.${model}.search_read`, [domain, 0, null, null, fields]);
  const [row] = await read<{ amount_to_pay: unknown }>("account.invoice", [], ["amount_to_pay"]);
  const unreconciled = [
    ["account.type.receivable", "=", true],
    ["reconciliation", "=", null],
  ];
  const lines = await read<{ debit: unknown; credit: unknown }>("account.move.line", unreconciled, [
    "debit",
    "credit",
  ]);
  const owed = lines.map(({ debit, credit }) => exact(debit).minus(exact(credit)));
  const open = exact(row?.amount_to_pay);
  return { open: open.fixed(2), onAccount: open.minus(Decimal.sum(owed)).fixed(2) };
}

/** What only looks is no step: its answer may be lost without anything being in doubt. */
const LOOKING = /\.(search\w*|read|get_\w+|login|logout)$/;

async function interrupt(
  config: Config,
  sink: string,
  request: Outgoing,
  step: number,
): ReturnType<Ground["interrupt"]> {
  let steps = 0;
  const { url, close } = await serving(async (asked, answer) => {
    const body = Buffer.concat(await asked.toArray()).toString();
    const { "content-type": type = "", authorization = "" } = asked.headers;
    const headers = { "content-type": type, ...(authorization === "" ? {} : { authorization }) };
    const to = `${String(config["url"])}${asked.url}`;
    const told = await fetch(to, { method: "POST", headers, body });
    const text = await told.text();
    const { method } = JSON.parse(body) as { method: string };
    if (!LOOKING.test(method) && ++steps === step) asked.socket.destroy();
    else answer.writeHead(told.status, { "content-type": "application/json" }).end(text);
  });
  onTestFinished(close);
  const endpoint = tryton.open(tryton.config.parse({ ...config, url }), surroundingsIn("."));
  const answer = await endpoint.sinks[sink]?.send(request, new AbortController().signal);
  await endpoint.close();
  return { over: steps < step, answer: answer ?? null };
}
