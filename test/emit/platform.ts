/** The targets and bodies of every write to the platform: of the cases of the mappings, and of random documents per sink. */
import * as fc from "fast-check";
import { sinks } from "../../src/platform/parts.ts";
import { openSink } from "../../src/platform/sinks/write.ts";
import type { Item, Sink } from "../../src/core/contract.ts";
import { Refused } from "../../src/core/errors.ts";
import { itemsOfCases } from "./cases.ts";
import { anyInvoice, anyParty, day, decimal, optional, text } from "./documents.ts";
import type { Emitted } from "./emitted.ts";

type SinkName = keyof typeof sinks;

export function* platformRequests(seed: number, count: number): Generator<Emitted> {
  const cases = itemsOfCases();
  for (const name of Object.keys(sinks) as SinkName[]) {
    const sink = opened(name);
    const bound = cases.get(`platform.${name}`) ?? [];
    for (const [at, item] of bound.entries()) {
      yield* frozen(`${name}/case-${at + 1}`, sink, [item]);
      yield* frozen(`${name}/case-${at + 1}-again`, sink, [{ ...item, counterpart: COUNTERPART }]);
    }
    const random = documents[name];
    if (random === undefined) continue;
    const items = fc
      .sample(random, { seed, numRuns: count })
      .map((document, at): Item => ({ ...ITEM, id: `r${at + 1}`, document }));
    for (const [at, item] of items.entries())
      yield* frozen(`${name}/random-${at + 1}`, sink, [item]);
    if (sink.itemsMax > 1) yield* frozen(`${name}/batch`, sink, items.slice(0, sink.itemsMax));
  }
}

const COUNTERPART = "5f0c1a2e-0000-4000-8000-00000000abcd";
const ITEM = { number: "1", revision: "r1", counterpart: null } as const;

/** Freezing asks nobody. */
const opened = (name: SinkName): Sink =>
  openSink(sinks[name], {
    client: null as never,
    purpose: "read-back",
    clock: null as never,
    settleMs: null,
    ourselves: () => Promise.resolve(null),
  });

/** What the contract refuses is no request. */
function frozen(path: string, sink: Sink, items: readonly Item[]): Emitted[] {
  try {
    const { target, body } = sink.freeze(items);
    return [{ path: `${path}.txt`, bytes: Buffer.from(`${target}\n${body}\n`) }];
  } catch (error) {
    if (error instanceof Refused) return [];
    throw error;
  }
}

const id = fc.uuid({ version: 4 });
const instant = day.map((one) => `${one}T12:00:00Z`);

const invoice = fc
  .record({ one: anyInvoice("out"), payerCompanyId: id, poNumber: optional(text(20)) })
  .map(({ one, ...more }) => ({
    invoiceNumber: one.number.slice(0, 40),
    subtotal: one.subtotal,
    tax: one.tax,
    total: one.total,
    lineItems: one.lines.map(({ description, amount, product }) => ({
      description: description.slice(0, 150),
      amount,
      ...(product === null ? {} : { product }),
    })),
    dueDate: one.dueDate === null ? null : `${one.dueDate}T12:00:00Z`,
    notes: one.description,
    taxLines: one.taxes.map(({ description, amount }) => ({
      taxType: description.slice(0, 80),
      amount,
    })),
    ...more,
  }));

const party = fc
  .record({ one: anyParty, street: optional(text(40)), city: optional(text(40)) })
  .map(({ one, ...address }) => ({
    name: one.name.slice(0, 120),
    externalId: one.code.slice(0, 60),
    country: "US",
    ...address,
  }));

/** Of the sinks whose documents vary in more than a few words. */
const documents: Partial<Record<SinkName, fc.Arbitrary<object>>> = {
  invoices: invoice,
  customers: party,
  suppliers: party,
  rackPrices: fc.record({
    product: text(20),
    terminalId: text(20),
    price: decimal(9, 6),
    unit: fc.constantFrom("gal", "ltr"),
  }),
  paidInvoices: fc.record({ invoiceId: id, paidAt: instant, notes: optional(text(200)) }),
  orderNotes: fc.record({ orderId: id, content: text(400) }),
  endedFreightRates: fc.record({ freightRateId: id, connectionId: id }),
};
