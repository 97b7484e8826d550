/**
 * What must be where when a drill is over, read from the platform's raw records, the ERP's folder and the store's own
 * tables.
 */
import { join } from "node:path";
import Database from "better-sqlite3";
import { compare, inWords } from "../../src/ledger/compare.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { Facts, HoldingKind } from "../../src/core/holdings.ts";
import type { Json } from "../../src/core/json.ts";
import { deliveredTotal } from "../support/delivered-total.ts";
import type { Bill, Books } from "./books.ts";
import { imported, platformName, saleFacts } from "./sales.ts";
import type { Members, Platform, Seen, Site } from "./site.ts";

export interface Findings {
  readonly duplicates: string[];
  readonly lost: string[];
  /** One line per field that differs. */
  readonly wrong: string[];
  /** Documents of those above that neither wait nor are with a person. */
  readonly silent: string[];
  /** The store, the log and the platform do not say the same. */
  readonly odd: string[];
}

type Held = readonly [name: string, facts: Facts];

/** Only while no daemon runs. */
export async function audit(site: Site, books: Books): Promise<Findings> {
  const findings: Findings = { duplicates: [], lost: [], wrong: [], silent: [], odd: [] };
  const { platform } = site;
  const companies = await companiesOf(platform);
  const invoices = await platform.records("invoices");
  const ours = invoices.filter(
    ({ invoiceNumber }) => !written(invoiceNumber).startsWith("PLATFORM"),
  );
  const prices = await platform.records("rack-prices");
  const known = new Set(openNumbers(site));
  const against = (kind: HoldingKind, expected: readonly Held[], found: readonly Held[]): void =>
    compareAll(kind, expected, found, known, findings);

  against(
    "party",
    [
      ...books.customers.map((one) => ({ ...one, kind: "customer" })),
      ...books.suppliers.map((one) => ({ ...one, kind: "supplier" })),
    ].map(({ kind, code, name }) => [
      `${kind} ${code}`,
      { number: code, state: "open", words: { name } },
    ]),
    companies.map(({ kind, code, name, status }) => [
      `${kind} ${code}`,
      { number: code, state: status === "ACCEPTED" ? "open" : "ended", words: { name } },
    ]),
  );
  const idOf = new Map(
    companies.flatMap(({ kind, code, id }) => (kind === "customer" ? [[code, id]] : [])),
  );
  against(
    "invoice",
    books.bills.map((bill) => [bill.number, billFacts(bill, idOf)]),
    ours.map((invoice) => [written(invoice["invoiceNumber"]), rawFacts(invoice)]),
  );
  against(
    "price",
    [...books.prices].map(([name, price]) => [name, priceFacts(Decimal.of(price), "gal")]),
    prices.map((row) => [
      `${written(row["terminalId"])} ${written(row["product"])}`,
      priceFacts(Decimal.of(written(row["price"])), written(row["unit"])),
    ]),
  );
  against(
    "invoice",
    books.sales.map((sale) => [sale.number, saleFacts(sale)]),
    imported(site.erp),
  );
  findings.odd.push(
    ...oddKeys(await platform.requests()),
    ...oddStore(site, books, companies, ours),
  );
  return findings;
}

interface Company {
  readonly kind: "customer" | "supplier";
  readonly code: string;
  readonly id: string;
  readonly name: string;
  readonly status: string;
}

/** Companies that were made from a party of the books, each with its connection to us. */
async function companiesOf(platform: Platform): Promise<Company[]> {
  const connections = await platform.records("connections");
  return (await platform.records("companies")).flatMap((company): Company[] => {
    const id = written(company["id"]);
    const code = (company["contact"] as Members | undefined)?.["externalId"];
    if (typeof code !== "string") return [];
    const connection = connections.find(({ fromCompanyId: from, toCompanyId: to }) =>
      [from, to].includes(id),
    );
    const status = written(connection?.["status"]);
    const kind = company["type"] === "SUPPLIER" ? "supplier" : "customer";
    return [{ kind, code, id, name: written(company["name"]), status }];
  });
}

/** Exactly one of each that is expected, equal in every field, and nothing else. */
function compareAll(
  kind: HoldingKind,
  expected: readonly Held[],
  found: readonly Held[],
  known: ReadonlySet<string>,
  { duplicates, lost, wrong, silent }: Findings,
): void {
  const held = Map.groupBy(found, ([name]) => name);
  for (const [name, facts] of expected) {
    const copies = (held.get(name) ?? []).map(([, one]) => one);
    const [first] = copies;
    const differences = first === undefined ? [] : compare(kind, facts, first);
    if (first === undefined) lost.push(`${kind} ${name}`);
    if (copies.length > 1) duplicates.push(`${kind} ${name}: ${copies.length} times`);
    const sides = { expected: "expected", held: "held" };
    for (const difference of differences)
      wrong.push(`${kind} ${name}: ${inWords(kind, difference, sides)}`);
    const isOff = copies.length !== 1 || differences.length > 0;
    if (isOff && !known.has(name.replace(/^(?:customer|supplier) /, "")))
      silent.push(`${kind} ${name}`);
  }
  const names = new Set(expected.map(([name]) => name));
  for (const name of held.keys())
    if (!names.has(name)) wrong.push(`${kind} ${name}: nobody knows it`);
}

const priceFacts = (price: Decimal, unit: string): Facts => ({
  money: { price },
  words: { unit },
});

const billFacts = (bill: Bill, idOf: ReadonlyMap<string, string>): Facts => ({
  number: bill.number,
  party: idOf.get(bill.customer) ?? bill.customer,
  state: "open",
  days: { due: null },
  money: { untaxed: bill.subtotal, tax: bill.tax, total: bill.total },
  words: { order: null, notes: null },
  lines: bill.lines.map(({ product, gallons, rate, amount }, at) => ({
    product: platformName(product),
    quantity: Decimal.of(String(gallons)),
    unit: "gal",
    unitPrice: Decimal.of(rate),
    amount,
    text: `Fuel ${at}`,
  })),
  taxes: [{ code: "State Tax", amount: bill.tax }],
});

const rawFacts = (invoice: Members): Facts => ({
  number: written(invoice["invoiceNumber"]),
  party: textIn(invoice, "payerCompanyId"),
  state: invoice["status"] === "OUTSTANDING" ? "open" : "draft",
  days: { due: textIn(invoice, "dueDate") },
  money: {
    untaxed: amountIn(invoice, "subtotal"),
    tax: amountIn(invoice, "tax"),
    total: amountIn(invoice, "total"),
  },
  words: { order: textIn(invoice, "poNumber"), notes: textIn(invoice, "notes") },
  lines: rowsIn(invoice, "lineItems").map((line) => ({
    product: textIn(line, "product"),
    quantity: amountIn(line, "gallons"),
    unit: "gal",
    unitPrice: amountIn(line, "rate"),
    amount: amountIn(line, "amount") ?? Decimal.zero,
    text: textIn(line, "description"),
  })),
  taxes: rowsIn(invoice, "taxLines").map((tax) => ({
    code: written(tax["taxType"]),
    amount: amountIn(tax, "amount") ?? Decimal.zero,
  })),
});

const textIn = (record: Members, field: string): string | null => {
  const value = record[field];
  return typeof value === "string" ? value : null;
};
const amountIn = (record: Members, field: string): Decimal | null => {
  const value = record[field];
  return value instanceof Decimal ? Decimal.of(value.plain()) : null;
};
/** Nested rows of a raw record. */
export const rowsIn = (record: Members, field: string): readonly Members[] =>
  record[field] as unknown as readonly Members[];

/** What waits, is under way, or is with a person. */
function openNumbers(site: Site): string[] {
  const database = new Database(join(site.state, "fuelbridge.sqlite"));
  try {
    return database
      .prepare<[], string | null>(
        `select number from delivery where state in ('pending', 'frozen', 'quarantined')`,
      )
      .pluck()
      .all()
      .filter((number) => number !== null);
  } finally {
    database.close();
  }
}

/** A member of a raw record as it is written there. */
export const written = (value: Json | undefined): string =>
  value instanceof Decimal ? value.text : typeof value === "string" ? value : typeof value;

/** All sends of a key carry the same bytes. */
function oddKeys(requests: readonly Seen[]): string[] {
  const bodies = Map.groupBy(
    requests.filter(({ idempotencyKey }) => idempotencyKey !== null),
    ({ idempotencyKey }) => idempotencyKey,
  );
  return [...bodies].flatMap(([key, sends]) =>
    new Set(sends.map(({ bodyHash }) => bodyHash)).size > 1
      ? [`${key}: ${sends.length} sends with different bytes`]
      : [],
  );
}

/** Nothing is open, every document is delivered and linked once, amounts add up to the ERP's. */
function oddStore(
  site: Site,
  books: Books,
  companies: readonly Company[],
  invoices: readonly Members[],
): string[] {
  const database = new Database(join(site.state, "fuelbridge.sqlite"));
  const rows = <Row>(sql: string): Row[] => database.prepare<[], Row>(sql).all();
  try {
    const delivered = rows<{ flow: string; records: number }>(
      `select flow.name as flow, count(distinct record) as records
       from delivery join flow using (flow) where state = 'delivered' group by flow.name`,
    );
    const recordsOf = (flow: string) => delivered.find((one) => one.flow === flow)?.records ?? 0;
    const links = rows<{ kind: string; number: string; platformId: string }>(
      "select kind, number, platform_id as platformId from link order by kind, number",
    );
    return [
      ...unequal("customers delivered", recordsOf("customers"), books.customers.length),
      ...unequal("suppliers delivered", recordsOf("suppliers"), books.suppliers.length),
      ...unequal("sales delivered", recordsOf("invoices-issued"), books.sales.length),
      ...unequal("invoices delivered", recordsOf("invoices"), books.bills.length),
      ...unequal("prices delivered", recordsOf("rack-prices"), books.prices.size),
      ...unequal(
        "total of the invoices delivered",
        deliveredTotal(site.state, "invoices"),
        Decimal.sum(books.bills.map(({ total }) => total)).plain(),
      ),
      ...unequal(
        "links of parties",
        [linkedAs("customer", links), linkedAs("supplier", links)].join("\n"),
        [companiesAs("customer", companies), companiesAs("supplier", companies)].join("\n"),
      ),
      ...unequal(
        "links of invoices",
        linkedAs(
          "invoice",
          links.filter(({ number }) => !number.startsWith("PLATFORM")),
        ),
        sorted(
          invoices,
          "invoiceNumber",
          "id",
          books.bills.map(({ number }) => number),
        ),
      ),
      ...unequal("our invoices that came by as such", echoes(rows), books.bills.length),
      ...rows<{ what: string }>(
        `select 'delivery ' || coalesce(number, delivery) || ' is ' || state as what from delivery
           where state in ('pending', 'frozen', 'quarantined')
         union all select 'request ' || number || ' is ' || state from request
           where state not in ('done', 'rejected', 'cancelled')
         union all select event || ': ' || detail from audit
           where event in ('stopped: split-brain', 'stopped: doubled')`,
      ).map(({ what }) => what),
    ];
  } finally {
    database.close();
  }
}

const echoes = (rows: <Row>(sql: string) => Row[]): number =>
  rows<{ count: number }>(
    "select count(distinct record) as count from delivery where state = 'echo'",
  )[0]?.count ?? 0;

const companiesAs = (kind: Company["kind"], companies: readonly Company[]): string =>
  companies
    .filter((one) => one.kind === kind)
    .map(({ code, id }) => `${code} ${id}`)
    .sort()
    .join("\n");

const linkedAs = (
  kind: string,
  links: readonly { kind: string; number: string; platformId: string }[],
): string =>
  links
    .filter((link) => link.kind === kind)
    .map(({ number, platformId }) => `${number} ${platformId}`)
    .sort()
    .join("\n");

function sorted(
  records: readonly Members[],
  name: string,
  id: string,
  names: readonly string[],
): string {
  const known = new Set(names);
  return records
    .filter((record) => known.has(written(record[name])))
    .map((record) => `${written(record[name])} ${written(record[id])}`)
    .sort()
    .join("\n");
}

/** Of long texts, the first lines that differ. */
function unequal(what: string, found: string | number, expected: string | number): string[] {
  if (found === expected) return [];
  const [ours, theirs] = [found, expected].map((value) => String(value).split("\n"));
  const missing = theirs?.filter((line) => !ours?.includes(line)) ?? [];
  const strange = ours?.filter((line) => !theirs?.includes(line)) ?? [];
  return [
    `${what}: ${strange.slice(0, 3).join("; ")} instead of ${missing.slice(0, 3).join("; ")}`,
  ];
}
