/**
 * What must be where when a drill is over, read from the platform's raw records, the ERP's folder and the store's own
 * tables; the numbers in brackets are invariants of reliability 2.12 and 3.8.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { Decimal } from "../../src/core/decimal.ts";
import type { Json } from "../../src/core/json.ts";
import type { Bill, Books } from "./books.ts";
import type { Members, Seen, Site } from "./site.ts";

export interface Findings {
  readonly duplicates: string[];
  readonly lost: string[];
  readonly wrong: string[];
  /** The store, the log and the platform do not say the same. */
  readonly odd: string[];
}

type Holding = readonly [name: string, content: string];

/** Only while no daemon runs. */
export async function audit(site: Site, books: Books): Promise<Findings> {
  const findings: Findings = { duplicates: [], lost: [], wrong: [], odd: [] };
  const { platform } = site;
  const connections = await platform.records("connections");
  const invoices = await platform.records("invoices");
  const prices = await platform.records("rack-prices");
  const companies = new Map(
    connections.map((one) => [written(one["erpId"]), written(one["toCompanyId"])]),
  );
  const parties = new Set(books.customers.map(({ code }) => code));

  compare(
    "customer",
    books.customers.map(({ code }) => [code, "ACCEPTED"]),
    connections
      .filter(({ erpId }) => parties.has(written(erpId)))
      .map(({ erpId, status }) => [written(erpId), written(status)]),
    findings,
  );
  compare(
    "invoice",
    books.bills.map((bill) => [bill.number, contentOf(bill, companies)]),
    invoices.map((invoice) => [written(invoice["invoiceNumber"]), contentOfRaw(invoice)]),
    findings,
  );
  compare(
    "price",
    [...books.prices].map(([name, price]) => [name, Decimal.of(price).plain()]),
    prices.map((row) => [
      `${written(row["terminalId"])} ${written(row["product"])}`,
      plain(row["price"]),
    ]),
    findings,
  );
  const imported = readdirSync(join(site.erp, "import"), { recursive: true, encoding: "utf8" });
  for (const name of imported.filter((name) => name.endsWith(".csv")))
    findings.odd.push(`${name}: our own invoice went back to the ERP (I11)`);
  findings.odd.push(
    ...oddKeys(await platform.requests()),
    ...oddStore(site, books, connections, invoices),
  );
  return findings;
}

/** Exactly one of each that is expected, with that content, and nothing else. */
function compare(
  what: string,
  expected: readonly Holding[],
  found: readonly Holding[],
  { duplicates, lost, wrong }: Findings,
): void {
  const held = Map.groupBy(found, ([name]) => name);
  for (const [name, content] of expected) {
    const contents = (held.get(name) ?? []).map(([, one]) => one);
    const [first] = contents;
    if (first === undefined) lost.push(`${what} ${name}`);
    else if (contents.length > 1) duplicates.push(`${what} ${name}: ${contents.length} times`);
    else if (first !== content) wrong.push(`${what} ${name}: ${first} instead of ${content}`);
  }
  const names = new Set(expected.map(([name]) => name));
  for (const name of held.keys())
    if (!names.has(name)) wrong.push(`${what} ${name}: nobody knows it`);
}

const contentOf = (bill: Bill, companies: ReadonlyMap<string, string>): string =>
  [
    companies.get(bill.customer) ?? bill.customer,
    ...[bill.subtotal, bill.tax, bill.total].map((amount) => amount.plain()),
    ...bill.lines.map(
      ({ gallons, rate, amount }) => `${gallons} × ${Decimal.of(rate).plain()} = ${amount.plain()}`,
    ),
  ].join(", ");

const contentOfRaw = (invoice: Members): string =>
  [
    written(invoice["payerCompanyId"]),
    ...["subtotal", "tax", "total"].map((field) => plain(invoice[field])),
    ...(invoice["lineItems"] as unknown as readonly Members[]).map(
      ({ gallons, rate, amount }) => `${plain(gallons)} × ${plain(rate)} = ${plain(amount)}`,
    ),
  ].join(", ");

/** A member of a raw record as it is written there. */
export const written = (value: Json | undefined): string =>
  value instanceof Decimal ? value.text : typeof value === "string" ? value : typeof value;
const plain = (value: Json | undefined): string => Decimal.of(written(value)).plain();

/** All sends of a key carry the same bytes (O6, O7). */
function oddKeys(requests: readonly Seen[]): string[] {
  const bodies = Map.groupBy(
    requests.filter(({ idempotencyKey }) => idempotencyKey !== null),
    ({ idempotencyKey }) => idempotencyKey,
  );
  return [...bodies].flatMap(([key, sends]) =>
    new Set(sends.map(({ bodyHash }) => bodyHash)).size > 1
      ? [`${key}: ${sends.length} sends with different bytes (O6)`]
      : [],
  );
}

/** Nothing is open, every document is delivered and linked once, amounts add up to the ERP's (O2, O4, O17, O21). */
function oddStore(
  site: Site,
  books: Books,
  connections: readonly Members[],
  invoices: readonly Members[],
): string[] {
  const database = new Database(join(site.state, "fuelbridge.sqlite"));
  const rows = <Row>(sql: string): Row[] => database.prepare<[], Row>(sql).all();
  try {
    const delivered = rows<{ flow: string; records: number; amounts: string }>(
      `select flow.name as flow, count(distinct record) as records,
         json_group_array(amount) filter (where amount is not null) as amounts
       from delivery join flow using (flow) where state = 'delivered' group by flow.name`,
    );
    const recordsOf = (flow: string) => delivered.find((one) => one.flow === flow)?.records ?? 0;
    const links = rows<{ kind: string; number: string; platformId: string }>(
      "select kind, number, platform_id as platformId from link order by kind, number",
    );
    const amounts = JSON.parse(
      delivered.find(({ flow }) => flow === "invoices")?.amounts ?? "[]",
    ) as string[];
    return [
      ...unequal("customers delivered", recordsOf("customers"), books.customers.length),
      ...unequal("invoices delivered", recordsOf("invoices"), books.bills.length),
      ...unequal("prices delivered", recordsOf("rack-prices"), books.prices.size),
      ...unequal(
        "total of the invoices delivered",
        Decimal.sum(amounts.map((amount) => Decimal.of(amount))).plain(),
        Decimal.sum(books.bills.map(({ total }) => total)).plain(),
      ),
      ...unequal(
        "links of customers",
        linkedAs("customer", links),
        sorted(
          connections,
          "erpId",
          "toCompanyId",
          books.customers.map(({ code }) => code),
        ),
      ),
      ...unequal(
        "links of invoices",
        linkedAs("invoice", links),
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
