/** Every request body that business-central can send: of the cases of mappings/books, and of random documents per kind. */
import { join } from "node:path";
import * as fc from "fast-check";
import { BusinessCentralConfig } from "../../connectors/business-central/config.ts";
import { documents, orders, payments } from "../../connectors/business-central/documents.ts";
import { parties } from "../../connectors/business-central/lists.ts";
import { Refused } from "../../src/core/errors.ts";
import { stringifyExact } from "../../src/core/json.ts";
import { InvoiceDocument, OrderDocument, PaymentDocument } from "../../src/ledger/documents.ts";
import type { Odata } from "../../src/ledger/odata.ts";
import { type Call, type Desired, type Documents, PLAIN_ENTRY } from "../../src/ledger/port.ts";
import { readCases } from "../../src/mapping/cases.ts";
import { surroundingsIn } from "../support/surroundings.ts";
import { anyInvoice, anyOrder, anyParty, anyPayment } from "./documents.ts";
import type { Emitted } from "./emitted.ts";

const CASES = join(import.meta.dirname, "../../mappings/books/cases");

const COMPANY = {
  url: "http://127.0.0.1/api/v2.0",
  company: "Prairie Fuel",
  user: "fuelbridge",
  accessKey: "key-of-44-characters",
  accounts: { revenue: "40100", expense: "50100" },
  journals: { received: "FBIN", made: "FBOUT" },
};
/** Both ways of each setting. */
const configs = [
  COMPANY,
  {
    ...COMPANY,
    taxCode: "NONTAXABLE",
    dimensions: { first: "FUEL", second: "WEST", lines: { "50100": { TERMINAL: "SA" } } },
  },
].map((one) => BusinessCentralConfig.parse(one));
const configOf = (at: number) => configs[at % 2] as BusinessCentralConfig;

const surroundings = surroundingsIn(".");
const call: Call = {
  key: "key",
  signal: new AbortController().signal,
  purpose: "delivery",
  made: new Set(),
};

export async function businessCentralBodies(seed: number, count: number): Promise<Emitted[]> {
  const all: Emitted[] = [];
  for (const [name, type, kind] of [
    ["customer-invoices", "out", "invoice"],
    ["supplier-invoices", "in", "bill"],
  ] as const)
    for (const [path, at, one] of [
      ...named(
        "case",
        casesOf(name).map((each) => InvoiceDocument.parse(each)),
      ),
      ...named("random", fc.sample(anyInvoice(type), { seed, numRuns: count })),
    ])
      all.push(...(await documentFiles(`${kind}/${path}`, at, one, kind)));
  for (const [path, at, one] of [
    ...named(
      "case",
      casesOf("orders").map((each) => OrderDocument.parse(each)),
    ),
    ...named("random-sale", fc.sample(anyOrder("sale"), { seed, numRuns: count })),
    ...named("random-purchase", fc.sample(anyOrder("purchase"), { seed, numRuns: count })),
  ])
    all.push(...(await orderFiles(`order/${path}`, at, one)));
  for (const [name, type] of [
    ["payments-received", "out"],
    ["payments-made", "in"],
  ] as const)
    for (const [path, at, one] of [
      ...named(
        "case",
        casesOf(name).map((each) => PaymentDocument.parse(each)),
      ),
      ...named("random", fc.sample(anyPayment(type), { seed, numRuns: count })),
    ])
      all.push(...(await paymentFiles(`${name}/${path}`, at, one)));
  for (const [path, at, one] of named("random", fc.sample(anyParty, { seed, numRuns: count })))
    all.push(
      ...(await written(`party/${path}`, async (wire) => {
        const table = parties(
          { wire, config: configOf(at), surroundings },
          at % 2 === 0 ? "sale" : "purchase",
        );
        const desired = desiredOf<"party">(one, one.companyId, one.code);
        await table.records.create?.({ desired, values: await table.write(one) }, call);
      })),
    );
  return all;
}

const named = <One>(prefix: string, all: readonly One[]) =>
  all.map((one, at) => [`${prefix}-${at + 1}`, at, one] as const);

const casesOf = (name: string): unknown[] =>
  readCases(join(CASES, `${name}.json`)).cases.flatMap(({ expected }) =>
    "document" in expected ? [expected.document] : [],
  );

const desiredOf = <K extends keyof Documents>(
  document: Documents[K],
  mark: string,
  number: string,
): Desired<K> => ({
  document,
  expected: {},
  mark,
  number,
  party: "CUST-1",
  payer: null,
  target: "posted",
  disputed: false,
  binding: null,
  until: null,
});

async function documentFiles(
  path: string,
  at: number,
  document: InvoiceDocument,
  kind: "invoice" | "bill",
): Promise<Emitted[]> {
  const desired = desiredOf<typeof kind>(document, document.id, document.number);
  const tableOf = (wire: Odata) => documents({ wire, config: configOf(at), surroundings }, kind);
  const made = await written(path, async (wire) => {
    const table = tableOf(wire);
    table.accept?.(document);
    await table.records.create?.({ desired, values: await table.write(document) }, call);
  });
  if (made.length === 0) return [];
  const amended = await written(`${path}-amended`, async (wire) => {
    const table = tableOf(wire);
    const values = await table.write(document);
    const native = { id: "0c", etag: "W/1" } as never;
    const entry = {
      ...PLAIN_ENTRY,
      id: "0c",
      mark: document.id,
      status: "draft",
      facts: {},
      native,
    } as const;
    await table.records.apply?.("amended", { desired, entry, differences: [], values }, call);
  });
  if (kind === "invoice") return [...made, ...amended];
  const credited = await written(`${path}-credited`, async (wire) => {
    const table = tableOf(wire);
    const values = await table.write(document);
    const native = {
      ...values,
      id: "0c",
      etag: "W/1",
      mark: document.id,
      party: "VEND-1",
    } as never;
    const entry = {
      ...PLAIN_ENTRY,
      id: "0c",
      mark: document.id,
      status: "posted",
      facts: {},
      native,
    } as const;
    await table.records.apply?.(
      "cancelled",
      { desired, entry, differences: [], values: null },
      call,
    );
  });
  return [...made, ...amended, ...credited];
}

/** An order without lines is looked for and never written. */
const orderFiles = async (path: string, at: number, order: OrderDocument): Promise<Emitted[]> =>
  order.lines.length === 0
    ? []
    : written(path, async (wire) => {
        const table = orders({ wire, config: configOf(at), surroundings });
        table.accept?.(order);
        await table.create(desiredOf<"order">(order, order.id, order.number), call);
      });

const paymentFiles = (path: string, at: number, payment: PaymentDocument): Promise<Emitted[]> =>
  written(path, async (wire) => {
    const table = payments({ wire, config: configOf(at), surroundings });
    const on = {
      ...PLAIN_ENTRY,
      id: payment.invoice,
      mark: null,
      party: "CUST-1",
      status: "posted",
      facts: {},
      native: null,
    } as const;
    const desired = { ...desiredOf<"payment">(payment, payment.id, payment.number), on };
    await table.records.create?.({ desired, values: await table.write(payment) }, call);
  });

/** What it would send; what these books refuse is no file. */
async function written(path: string, write: (wire: Odata) => Promise<void>): Promise<Emitted[]> {
  const files: Emitted[] = [];
  const keep = (set: string, body: object): void => {
    const text = stringifyExact({ [set]: body });
    files.push({ path: `${path}.json`, bytes: Buffer.from(`${text}\n`) });
  };
  const wire = {
    set: () => ({ search: async () => [], list: async function* () {}, changed: () => ({}) }),
    either: async () => [{ id: "0d", code: "FBIN" }].slice(0, path.startsWith("payments") ? 1 : 0),
    create: async (set: string, body: object) => {
      keep(set, body);
      return { id: "0c", etag: "W/1" };
    },
    change: async (set: string, _: object, body: object) => keep(set, body),
  };
  try {
    await write(wire as unknown as Odata);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
  }
  return files;
}
