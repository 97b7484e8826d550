/**
 * The values of every call by which the connector for Tryton makes a record: of the cases of mappings/books, and of random
 * documents. Tryton itself is a stub that knows every code: its database ids follow from the codes.
 */
import * as fc from "fast-check";
import { type Books, openLookup } from "../../connectors/tryton/books.ts";
import { TrytonConfig } from "../../connectors/tryton/config.ts";
import { pay } from "../../connectors/tryton/payments.ts";
import { releaseOf, type Tryton } from "../../connectors/tryton/wire.ts";
import { ledgerOf } from "../../connectors/tryton/index.ts";
import { encode } from "../../connectors/tryton/rows.ts";
import { type Documents, type Entry, type LedgerKind, PLAIN_ENTRY } from "../../src/ledger/port.ts";
import { InvoiceDocument, OrderDocument, ShipmentDocument } from "../../src/ledger/documents.ts";
import { payingMark } from "../../src/ledger/entries.ts";
import { Refused } from "../../src/core/errors.ts";
import { surroundingsIn } from "../support/surroundings.ts";
import { anyInvoice, anyOrder, anyPayment, documentsOfCases } from "./documents.ts";
import type { Emitted } from "./emitted.ts";

const never = new AbortController().signal;
const BOTH = ["out", "in"] as const;
const SERIES = ["6.0", "8.0"] as const;

export async function trytonCalls(seed: number, count: number): Promise<readonly Emitted[]> {
  const files: Emitted[] = [];
  const drawn = <D>(one: fc.Arbitrary<D>): D[] => fc.sample(one, { seed, numRuns: count });
  const bought = (["sale", "purchase"] as const).flatMap((type) => drawn(anyOrder(type)));
  for (const series of SERIES) {
    const { books, made, asks } = stubOf(series);
    const write = async (path: string, make: () => Promise<unknown>): Promise<void> => {
      made.length = 0;
      try {
        await make();
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        return;
      }
      const text = made.map(([method, params]) => `${method} ${encode(params)}\n`).join("");
      files.push({ path: `${series}/${path}.txt`, bytes: Buffer.from(text) });
    };
    const invoices = [
      ...named("case", documentsOfCases(InvoiceDocument, ["open", "paid", "disputed", "void"])),
      ...named(
        "random",
        BOTH.flatMap((type) => drawn(anyInvoice(type))),
      ),
    ];
    for (const [name, document] of invoices) {
      const kind = document.type === "out" ? "invoice" : "bill";
      await write(`${kind}/${name}`, () => create(books, kind, document));
    }
    const orders = [
      ...named("case", documentsOfCases(OrderDocument, ["draft", "confirmed"])),
      ...named("random", bought),
    ];
    for (const [name, document] of orders)
      await write(`${document.type}/${name}`, () => create(books, "order", document));
    const tickets = [
      ...named("case", documentsOfCases(ShipmentDocument, ["waiting", "done"])),
      ...named("random", bought.map(ticketOf)),
    ];
    for (const [name, document] of tickets)
      await write(`shipment-${document.type}/${name}`, () => create(books, "shipment", document));
    for (const [name, { id, amount, date, description }] of named(
      "random",
      drawn(anyPayment("out")),
    ))
      for (const how of ["all", "part", "over"] as const)
        await write(`payment/${name}-${how}`, () => {
          asks.view = how !== "all";
          const described = `${payingMark(id)} ${description}`;
          return pay(books, { invoice: 7, amount, date, description: described, how });
        });
    for (const [name, { party }] of invoices)
      await write(`party/${name}`, () => create(books, "party", party));
  }
  return files;
}

const named = <D>(what: string, all: readonly D[]): (readonly [string, D])[] =>
  all.map((one, at) => [`${what}-${at + 1}`, one]);

/** A delivery of what was ordered, with a note. */
const ticketOf = ({ id, number, party, type, date, description, lines }: OrderDocument) =>
  ShipmentDocument.parse({
    id: `ticket-of-${id}`,
    number: `T${number}`,
    party,
    type: type === "sale" ? "out" : "in",
    status: "done",
    order: null,
    date,
    reference: `BOL ${number}`,
    note: description ?? `driver of ${number}`,
    lines: lines.map(({ product, quantity, unit }) => ({
      product,
      quantity,
      unit,
      grossGallons: null,
      netGallons: quantity,
      temperature: null,
      apiGravity: null,
    })),
  });

async function create<K extends LedgerKind>(
  books: Books,
  kind: K,
  document: Documents[K],
): Promise<void> {
  const adapter = ledgerOf(books).books.adapters[kind];
  if (adapter === undefined) throw new Error(`there is no adapter for ${kind}`);
  const call = { key: "k", signal: never, purpose: "delivery", made: new Set<string>() } as const;
  const { id, number } = { id: "", number: "", ...document } as { id: string; number: string };
  const own = adapter as unknown as {
    expected(all: readonly Documents[K][], with_: typeof call): Promise<readonly object[]>;
    create(all: readonly object[], with_: typeof call): Promise<unknown>;
  };
  const [expected] = await own.expected([document], call);
  if (expected instanceof Refused) throw expected;
  const desired = {
    document,
    expected,
    mark: id,
    number,
    party: "CUST-1",
    payer: PAYER,
    target: "posted",
    disputed: false,
    binding: null,
    until: null,
  };
  await own.create([desired], call);
}

const PAYER: Entry = {
  ...PLAIN_ENTRY,
  id: "CUST-1",
  mark: null,
  number: "CUST-1",
  status: "posted",
  facts: {},
  native: { id: 41, address: 42 },
} as unknown as Entry;

type Call = readonly [method: string, params: readonly unknown[]];

/** Every code names one record; whatever is made is kept in `made`. */
function stubOf(series: string): {
  readonly books: Books;
  readonly made: Call[];
  readonly asks: { view: boolean };
} {
  const made: Call[] = [];
  // The pay wizard asks only about what is not the whole amount.
  const asks = { view: true };
  const call = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    if (method.endsWith(".fields_get")) return { unit_price: { digits: "[16, 6]" } };
    if (method.endsWith(".search_read")) return rowsOf(params);
    if (method.endsWith(".search")) return [];
    if (method.endsWith(".read")) return [rowOf(params[1] as readonly string[])];
    made.push([method, params]);
    if (method.endsWith(".create")) return [9];
    return asks.view ? { view: { defaults: { lines_to_pay: [3, 4] } } } : {};
  };
  const tryton = {
    call,
    session: async () => ({ user: 2, company: 1 }),
    release: async () => releaseOf(series),
    close: async () => {},
  } as unknown as Tryton;
  const surroundings = {
    ...surroundingsIn("."),
    now: () => new Date("2026-11-21T12:00:00Z"),
  };
  const config = TrytonConfig.parse({
    url: "http://127.0.0.1:8000",
    database: "fuel",
    user: "fuelbridge",
    password: "not-a-secret",
    company: "Prairie Fuel",
    accounts: { receivable: "1200", payable: "2100", revenue: "4000", expense: "5000" },
    paymentMethod: "Bank transfer",
  });
  const books: Books = {
    config: { ...config, currency: "USD" },
    tryton,
    lookup: openLookup(tryton, surroundings),
    surroundings,
  };
  return { books, made, asks };
}

/** One row for each value that a clause `in` lists. */
function rowsOf([domain, , , , names]: readonly unknown[]): object[] {
  const clause = (domain as readonly (readonly [string, string, unknown])[]).find(
    ([, operator]) => operator === "in",
  );
  if (clause === undefined) return [];
  const [field, , values] = clause;
  return (values as readonly string[]).map((value) => ({
    ...rowOf(names as readonly string[]),
    id: idOf(value),
    [field]: value,
  }));
}

/** What a record that is read says: of each number field an id of its name. */
const rowOf = (names: readonly string[]): object => ({
  id: 1,
  ...Object.fromEntries(names.map((name) => [name, name === "digits" ? 2 : idOf(name)])),
  "account_category.": null,
  "lines_to_pay.": [],
});

const idOf = (code: string): number =>
  Array.from(code, (character) => character.codePointAt(0) ?? 0).reduce(
    (sum, point) => (sum * 31 + point) % 99_991,
    7,
  );
