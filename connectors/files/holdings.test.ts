import {
  copyFile,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compare } from "../../src/ledger/compare.ts";
import { calendarOf } from "../../src/core/time.ts";
import { defineMapping, type Remembered } from "../../src/core/contract.ts";
import type { Facts, Holding, HoldingKind, HoldingPage } from "../../src/core/holdings.ts";
import { stringifyExact } from "../../src/core/json.ts";
import { Daemon } from "../../src/engine/daemon.ts";
import { engineOn, pagesOf } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { CustomerInvoiceDocument } from "../../src/formats/documents.ts";
import { files } from "./index.ts";
import { d, invoice, item, line } from "../../test/files/sink.ts";
import { picks } from "../../test/files/source.ts";

const signal = new AbortController().signal;
const EXPORTS = join(import.meta.dirname, "../../test/data/tryton-export");
const IMPORT = { document: "customer-invoices", folder: "import", per: "batch" };

function openIn(
  folder: string,
  config: object,
  remembered?: (operation: string) => Iterable<Remembered>,
) {
  const endpoint = files.open(files.config.parse({ folder: ".", settleMs: 0, ...config }), {
    folder,
    now: () => new Date("2026-11-21T12:00:00Z"),
    pause: async () => {},
    currency: "USD",
    dayOf: calendarOf("America/Chicago"),
    ignore: {},
    note: () => {},
    ...(remembered === undefined ? {} : { remembered }),
  });
  if (endpoint.holdings === undefined) throw new Error("no holdings");
  return { ...endpoint, holdings: endpoint.holdings };
}

type Opened = ReturnType<typeof openIn>;

async function allOf({ holdings }: Opened, kind: HoldingKind): Promise<Holding[]> {
  const scope = { dated: null, changedSince: null, open: true };
  const found: Holding[] = [];
  for await (const page of holdings.list(kind, scope, null, signal)) found.push(...page.holdings);
  return found;
}

async function expectedOf({ holdings }: Opened, document: CustomerInvoiceDocument): Promise<Facts> {
  const [one] = await holdings.expect("invoice", [item(document)], signal);
  if (one === undefined || !("facts" in one)) throw new Error("no facts");
  return one.facts;
}

const bills = defineMapping({
  name: "test/invoices",
  kind: "invoice",
  input: CustomerInvoiceDocument,
  output: CustomerInvoiceDocument,
  number: ({ number }) => number,
  map: (document) => document,
  figures: ({ total }) => ({ amount: total, gallons: null }),
});

test("what was written is told by its links, whether its file is still there or the ERP took it", async () => {
  const folder = tempFolder();
  const bench = engineOn(join(folder, "state"));
  const opened = openIn(folder, { sinks: { books: IMPORT } }, (operation) =>
    bench.store.remembered.of(operation),
  );
  const first = invoice();
  const second = invoice({ id: "5d0f2c7e-9b1a-4c3d-8e5f-6a7b8c9d0e1f", number: "INV-1002" });
  const later = { ...second, version: "2026-03-02T10:00:00Z", total: d("20219.21") };
  const change = (document: CustomerInvoiceDocument) => ({
    id: document.id,
    version: document.version,
    text: stringifyExact(document),
  });
  const sink = opened.sinks["books"];
  if (sink === undefined) throw new Error("no sink");
  const flow = bench.flow({
    name: "books",
    from: "platform.invoices",
    to: "erp.books",
    side: "platform",
    mapping: bills,
    sink,
    source: pagesOf(
      [{ changes: [change(first), change(second)], position: 1 }],
      [{ changes: [change(later)], position: 2 }],
    ),
  });
  for (let run = 0; run < 2; run++) {
    bench.clock.advance(60_000);
    await new Daemon(bench.engine, [flow]).once(signal);
  }
  const names = await readdir(join(folder, "import"));
  expect(names).toHaveLength(2);

  const expected = [await expectedOf(opened, first), await expectedOf(opened, later)];
  const told = async () => {
    const all = await allOf(opened, "invoice");
    expect(all.map(({ mark }) => mark)).toEqual([first.id, second.id]);
    expect(all.map(({ id }) => id)).toEqual(
      [first, second].map(({ id }) => bench.store.links.find("invoice", "platform", id)?.erpId),
    );
    expect(await opened.holdings.get("invoice", [all[1]?.id ?? ""], signal)).toEqual([all[1]]);
    return all.map(({ facts }, at) => compare("invoice", expected[at] ?? {}, facts));
  };
  expect(opened.holdings.strength).toEqual({ invoice: "remembered" });
  expect(await told()).toEqual([[], []]);

  // Somebody has edited what still lies there.
  const name = names.find((one) => one.startsWith("customer-invoices_2_")) ?? "";
  const path = join(folder, "import", name);
  const text = await readFile(path, "utf8");
  await writeFile(path, text.replace('"00042"', '"00043"'));
  expect((await told())[0]).toEqual([{ field: "party", expected: "00042", held: "00043" }]);
  await writeFile(path, `${text}"`);
  await expect(allOf(opened, "invoice")).rejects.toThrow(
    `The file import/${name} is not as it was`,
  );
  // A store that was lost knows of no request, and the files are still there.
  await writeFile(path, text);
  const forgetful = openIn(folder, { sinks: { books: IMPORT } });
  expect((await allOf(forgetful, "invoice")).map(({ mark }) => mark)).toEqual(
    expect.arrayContaining([first.id, second.id]),
  );
  // The ERP takes them.
  for (const one of names) await rm(join(folder, "import", one));
  expect(await told()).toEqual([[], []]);
  expect(await allOf(forgetful, "invoice")).toEqual([]);
  bench.store.close();
});

/** As its mapping makes one. */
const goodsDocument = (kind: "order" | "ticket", more: object) => {
  const none = null;
  const head = { id: "id-1", number: "N-1", version: "2026-11-20T03:00:00Z" };
  const product = { item: "087", product: "UNL-87" };
  return kind === "order"
    ? {
        ...head,
        orderType: "direct",
        urgency: "routine",
        companyId: "c-1",
        locationId: none,
        carrierId: none,
        requestedDate: none,
        deliveryDate: none,
        deliveryStart: none,
        deliveryEnd: none,
        notes: none,
        lines: [
          {
            ...product,
            productCode: none,
            terminal: none,
            terminalCode: none,
            supplierId: none,
            quantity: d("8000.5"),
            unit: "gal",
            gallons: d("8000.5"),
            rate: d("2"),
            buyPrice: none,
            sellPrice: none,
            lineLoadingNumber: none,
          },
        ],
        ...more,
      }
    : {
        ...head,
        orderId: none,
        supplierId: "s-1",
        receiverId: "r-1",
        deliveryDate: none,
        driver: none,
        carrier: none,
        terminal: none,
        destination: none,
        lines: [
          {
            ...product,
            spec: none,
            grossGallons: none,
            netGallons: d("8000.5"),
            temperature: none,
            apiGravity: none,
          },
        ],
        ...more,
      };
};

/** Columns that the README lists as not compared. */
const LEFT_OUT = ["version", "payerId", "orderId", "taxes.taxType", "taxes.gallons", "taxes.rate"];

test("every field of an import file is compared, but those that the README lists", async () => {
  const folder = tempFolder();
  const opened = openIn(folder, { sinks: { books: { ...IMPORT, per: "document" } } });
  const [one] = invoice().lines;
  const full = invoice({
    lines: [{ ...(one ?? line(null, null, null, "1")), bolNumber: null }],
    orderId: "0b6f7a52-4c1e-4d8a-9f5e-1c2d3e4f5a6c",
  });
  const plain = await expectedOf(opened, full);
  const fields: (readonly [string, CustomerInvoiceDocument])[] = [];
  const changed = (name: string, value: unknown): unknown => {
    if (name === "status") return "DISPUTED";
    if (name.endsWith("Date")) return "2026-07-01T12:00:00Z";
    if (name === "version") return "2026-07-01T12:00:00Z";
    return /gallons|rate|amount|subtotal|total/i.test(name) ? d("7.77") : `${String(value)}x`;
  };
  for (const [name, value] of Object.entries(full)) {
    if (name === "lines" || name === "taxes")
      for (const [column, cell] of Object.entries(full[name][0] ?? {}))
        fields.push([
          `${name}.${column}`,
          { ...full, [name]: [{ ...full[name][0], [column]: changed(column, cell) }] },
        ]);
    else fields.push([name, { ...full, [name]: changed(name, value) }]);
  }
  expect(fields.length).toBeGreaterThan(30);
  const silent = [];
  for (const [name, document] of fields)
    if (compare("invoice", plain, await expectedOf(opened, document)).length === 0)
      silent.push(name);
  // The id is the mark.
  expect(silent.filter((name) => name !== "id")).toEqual(LEFT_OUT);
  const readme = await readFile(join(import.meta.dirname, "README.md"), "utf8");
  const listed = readme.split("## What is not compared")[1] ?? "";
  for (const name of LEFT_OUT)
    expect(listed).toContain(
      `\`${name.replace(/^.*\./, "").replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`)}\``,
    );
});

test("gallons are compared by their value, however the platform writes them", async () => {
  const opened = openIn(tempFolder(), { sinks: { books: { ...IMPORT, per: "document" } } });
  const metered = (gross: string, net: string) => {
    const [one = line(null, null, null, "1")] = invoice().lines;
    return expectedOf(
      opened,
      invoice({ lines: [{ ...one, grossGallons: d(gross), netGallons: d(net) }] }),
    );
  };
  const plain = await metered("7314", "7311");
  expect(compare("invoice", plain, await metered("7314.0", "7.311e3"))).toEqual([]);
  expect(compare("invoice", plain, await metered("7314", "7311.1"))).not.toEqual([]);
});

test("a text that kept from running as a formula is told as it was", async () => {
  const opened = openIn(tempFolder(), { sinks: { books: { ...IMPORT, per: "document" } } });
  const { words } = await expectedOf(opened, invoice({ notes: "=1+1" }));
  expect(words?.notes).toBe("=1+1");
});

test("many documents are expected in their order, and one that cannot be written is refused alone", async () => {
  const { holdings } = openIn(tempFolder(), { sinks: { books: IMPORT } });
  const documents = Array.from({ length: 3 }, (_, at) =>
    invoice({ id: `id-${at}`, number: `N-${at}`, notes: at === 1 ? "a\u0000b" : `note ${at}` }),
  );
  const told = await holdings.expect(
    "invoice",
    documents.map((one) => item(one)),
    signal,
  );
  expect(told).toMatchObject([
    { facts: { number: "N-0", words: { notes: "note 0" } } },
    { fault: { message: expect.stringContaining("notes") } },
    { facts: { number: "N-2", words: { notes: "note 2" } } },
  ]);
  const twice = await holdings.expect(
    "invoice",
    [0, 0, 2].map((at) => item(documents[at] as CustomerInvoiceDocument)),
    signal,
  );
  expect(twice).toEqual([told[0], told[0], told[2]]);
});

test.each([
  ["order", "orders", { loadingNumber: "LD-1", status: "CONFIRMED" }, "posted"],
  ["order", "orders", { loadingNumber: "LD-1", status: "CANCELLED" }, "ended"],
  ["ticket", "delivery-tickets", { bolNumber: "BOL-7", status: "SIGNED" }, "posted"],
  ["ticket", "delivery-tickets", { bolNumber: "BOL-7", status: "ISSUED" }, "draft"],
] as const)(
  "an %s of a file of %s is told with its number, day, lines, gallons and state: %j",
  async (kind, document, more, state) => {
    const sinks = { goods: { document, folder: "import", per: "document" } };
    const { holdings } = openIn(tempFolder(), { sinks });
    expect(holdings.strength).toEqual({ [kind]: "remembered" });
    const goods = { number: "N-1", id: "id-1", document: goodsDocument(kind, more) };
    const [one] = await holdings.expect(
      kind,
      [{ ...goods, revision: "rev-a", counterpart: null }],
      signal,
    );
    expect(one).toMatchObject({
      facts: {
        number: "N-1",
        state,
        // In the company's zone: in UTC it is the day after.
        days: { date: "2026-11-19" },
        lines: [{ product: "087", quantity: d("8000.5") }],
      },
    });
  },
);

test("exports are told as of the newest file that was read", async () => {
  const folder = tempFolder();
  const sources = {
    customers: picks.customers,
    prices: picks.priceLists,
    invoices: picks.invoices,
  };
  const opened = openIn(folder, { sources });
  expect(opened.holdings.strength).toEqual({
    invoice: "exported",
    party: "exported",
    price: "exported",
  });
  // A list of what changed does not say what there is.
  const changes = { customers: { ...picks.customers, holds: "changes" } };
  expect(openIn(folder, { sources: changes }).holdings.strength).toEqual({});
  await expect(allOf(opened, "party")).rejects.toThrow("There is no export of tryton-export/cust");
  const names = ["customers", "price-lists", "customer-invoices", "customer-invoice-lines"];
  for (const name of [...names, "customer-invoice-taxes"])
    await copyFile(join(EXPORTS, `${name}.csv`), join(folder, `${name}.csv`));
  const unread = await allOf(opened, "invoice");
  expect(unread.length).toBeGreaterThan(100);
  // Read: it is in the archive, under a name with a hash; an older one of the same name is there too.
  await mkdir(join(folder, "archive"));
  const archived = async (name: string, to: string, at: number) => {
    await rename(join(folder, name), join(folder, "archive", to));
    await utimes(join(folder, "archive", to), at, at);
  };
  for (const name of ["customer-invoices", "customer-invoice-lines", "customer-invoice-taxes"])
    await archived(`${name}.csv`, `${name}.0badcafe.csv`, 1_790_000_000);
  await archived("customers.csv", "customers.0badcafe.2.csv", 1_790_000_000);
  const customers = await readFile(join(folder, "archive/customers.0badcafe.2.csv"), "utf8");
  await writeFile(join(folder, "old.csv"), customers.split("\n").slice(0, 2).join("\n") + "\n");
  await archived("old.csv", "customers.0badcaff.csv", 1_780_000_000);
  await writeFile(join(folder, "customers.csv"), customers.split("\n").slice(0, 3).join("\n"));

  expect(await allOf(opened, "invoice")).toEqual(
    unread.map((one) => ({ ...one, change: expect.objectContaining({ id: one.id }) as object })),
  );
  const parties = await allOf(opened, "party");
  expect(parties.length).toBeGreaterThan(20);
  expect(parties[0]).toMatchObject({ mark: null, version: null, facts: { state: "open" } });
  const paid = unread.find(({ facts }) => facts.state === "paid");
  expect(paid?.facts.number).toBe(`INV-2026-${paid?.id.padStart(5, "0")}`);
  expect(paid?.facts.money?.open?.sign).toBe(0);
  expect(paid?.change?.text).toContain('"lines":[{');
  // The heads once more, newer, for what is paid: the lines stay what a mapping takes.
  await mkdir(join(folder, "heads"));
  await copyFile(
    join(EXPORTS, "customer-invoices.csv"),
    join(folder, "heads/customer-invoices.csv"),
  );
  const heads = { ...picks.invoiceHeads, folder: "heads" };
  const both = openIn(folder, { sources: { heads, ...sources } });
  expect(await allOf(both, "invoice")).toEqual(await allOf(opened, "invoice"));
  const [price] = await allOf(opened, "price");
  expect(price?.facts.number).toBe(price?.id);
});

test("a list of what is paid says no lines: what a mapping takes stays the invoice, whichever came last", async () => {
  const folder = tempFolder();
  const head = "direction,invoice_number,status,payer_external_id,currency,invoice_date,subtotal";
  const cells = "issuer,E-1,OUTSTANDING,C1,USD,2026-11-20,25.50";
  await writeFile(
    join(folder, "invoices.csv"),
    `${head},tax_total,invoice_total,line_kind,product,description,gallons,unit,rate,amount,tax_type,base\r\n` +
      `${cells},0,25.50,product,P1,Diesel,10,gal,2.55,25.50,,\r\n`,
  );
  await writeFile(
    join(folder, "paid.csv"),
    "invoice_number,state,payer_external_id,currency,invoice_date,subtotal,tax_total,invoice_total,open_amount,paid_at\r\n" +
      "E-1,paid,C1,USD,2026-11-20,25.50,0,25.50,0.00,2026-11-27\r\n",
  );
  const invoices = {
    layout: "books.invoices",
    profile: "canonical/invoices",
    pick: "invoices*.csv",
  };
  const paid = {
    layout: "books.paidInvoices",
    profile: "canonical/paid-invoices",
    pick: "paid*.csv",
  };
  for (const [at, name] of ["invoices.csv", "paid.csv"].entries())
    await utimes(join(folder, name), 1_790_000_000, 1_790_000_000 + at * 60);
  for (const sources of [
    { invoices, paid },
    { paid, invoices },
  ]) {
    const [told] = await allOf(openIn(folder, { sources }), "invoice");
    expect(told?.facts.state).toBe("paid");
    expect(told?.change?.text).toContain('"lines":[{');
  }
});

test("a source without an export is named with its files and what to do, and the others are told", async () => {
  const folder = tempFolder();
  const sources = {
    customers: {
      layout: "books.parties",
      profile: "tryton-export/customers",
      folder: "export",
      pick: "customers*.csv",
    },
    suppliers: {
      layout: "books.parties",
      profile: "tryton-export/suppliers",
      folder: "export",
      pick: "suppliers*.csv",
    },
    invoices: { ...picks.invoices, folder: "export" },
    paid: {
      layout: "books.invoices",
      profile: "tryton-export/customer-invoices",
      folder: "export",
      pick: { heads: "paid-invoices*.csv" },
    },
  };
  await mkdir(join(folder, "export"));
  const names = [
    "suppliers",
    "customer-invoices",
    "customer-invoice-lines",
    "customer-invoice-taxes",
  ];
  for (const name of names)
    await copyFile(join(EXPORTS, `${name}.csv`), join(folder, "export", `${name}.csv`));
  const { holdings } = openIn(folder, { sources });
  const told = async (kind: HoldingKind) => {
    const scope = { dated: null, changedSince: null, open: true };
    const pages: HoldingPage[] = [];
    for await (const page of holdings.list(kind, scope, null, signal)) pages.push(page);
    return {
      records: pages.flatMap((page) => page.holdings).length,
      lacking: pages.flatMap((page) => page.lacking ?? []),
    };
  };
  const parties = await told("party");
  expect(parties.records).toBeGreaterThan(10);
  expect(parties.lacking).toEqual([
    {
      what: 'source "customers"',
      why: `There is no export of tryton-export/customers in ${join(folder, "export")}, read or unread (customers*.csv).`,
      next: "Export it in the ERP, and leave the newest file in the archive folder.",
      isTold: false,
    },
  ]);
  const invoices = await told("invoice");
  expect(invoices.records).toBeGreaterThan(100);
  // The other list has the same invoices: none of them is missing.
  expect(invoices.lacking).toMatchObject([{ what: 'source "paid"', isTold: true }]);
});

test("a document that an export shows after it was written is told once, as exported", async () => {
  const folder = tempFolder();
  const rows = (await readFile(join(EXPORTS, "customer-invoices.csv"), "utf8")).split("\n");
  await writeFile(join(folder, "customer-invoices.csv"), rows.join("\n"));
  const sources = { invoices: picks.invoiceHeads };
  const shown = (await allOf(openIn(folder, { sources }), "invoice")).find(
    ({ facts }) => facts.state === "paid",
  );
  if (shown === undefined) throw new Error("none is paid");
  const document = invoice({
    number: shown.facts.number ?? "",
    customer: shown.facts.party ?? "",
  });
  const sinks = { books: { ...IMPORT, per: "document" } };
  const writer = openIn(folder, { sinks }).sinks["books"];
  const frozen = writer?.freeze([item(document)]);
  if (frozen === undefined) throw new Error("no sink");
  const after = (deliveredAt: string) =>
    openIn(folder, { sources, sinks }, () => [{ ...frozen, items: [item(document)], deliveredAt }]);
  const tell = async (deliveredAt: string) => {
    const all = await allOf(after(deliveredAt), "invoice");
    expect(all.filter(({ facts }) => facts.number === document.number)).toHaveLength(1);
    return all.find(({ mark }) => mark === document.id);
  };
  expect(await tell("2020-01-01T00:00:00.000Z")).toMatchObject({
    id: frozen.target,
    facts: { state: "paid", money: { total: shown.facts.money?.total }, lines: [{}, {}] },
  });
  expect(await tell("2099-01-01T00:00:00.000Z")).toMatchObject({
    facts: { state: "open", money: { total: document.total } },
  });
});
