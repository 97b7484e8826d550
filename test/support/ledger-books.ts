/** Books in memory that take canonical invoices and tell what they hold: an ERP of which a test may change anything. */
import type { CustomerInvoiceDocument } from "../../src/formats/documents.ts";
import type { Endpoint, Sink } from "../../src/core/contract.ts";
import type { Facts, Holding, HoldingKind, Scope } from "../../src/core/holdings.ts";
import { parseExact, stringifyExact } from "../../src/core/json.ts";
import { quickPolicy } from "./engine.ts";

type Document = CustomerInvoiceDocument;

export interface Books extends Endpoint {
  readonly sinks: Readonly<Record<"invoices" | "bills", Sink>>;
  /** What they hold, by kind and id; a test changes it as a clerk would. */
  readonly held: Map<string, Holding>;
  /** Before a list is told. */
  onList: () => Promise<void>;
}

const STATES = {
  OUTSTANDING: "open",
  OVERDUE: "open",
  PAID: "paid",
  DISPUTED: "disputed",
  VOID: "ended",
} as const;

export function ledgerBooks(dayOf: (instant: string) => string): Books {
  const held = new Map<string, Holding>();
  const day = (at: string | null): string | null => (at === null ? null : dayOf(at));

  const factsOf = (document: Document): Facts => ({
    number: document.number,
    party:
      (document as { customer?: string; vendor?: string }).customer ??
      (document as { vendor?: string }).vendor ??
      null,
    state: STATES[document.status as keyof typeof STATES],
    days: { date: day(document.invoiceDate), due: day(document.dueDate) },
    money: { untaxed: document.subtotal, tax: document.taxTotal, total: document.total },
    lines: document.lines.map((line) => ({
      product: line.item,
      quantity: line.gallons,
      unit: null,
      unitPrice: line.rate,
      amount: line.amount,
    })),
    taxes: document.taxes.map(({ taxCode, amount }) => ({ code: taxCode, amount })),
  });

  const sink = (kind: HoldingKind): Sink => ({
    operation: `book.${kind}`,
    writes: "upsert",
    itemsMax: 1,
    policy: quickPolicy,
    freeze: ([item]) => ({ target: kind, body: stringifyExact(item?.document) }),
    async send({ body }) {
      const document = parseExact(body) as unknown as Document;
      const id = `${kind} ${document.id}`;
      held.set(id, {
        kind,
        id,
        version: null,
        mark: document.id,
        change: null,
        facts: factsOf(document),
      });
      return { outcome: "done", detail: "booked", ids: [id] };
    },
    find: async () => ({ found: "none", detail: "not asked" }),
  });

  const isIn = (
    { facts: { days, state } }: Holding,
    { dated, open, changedSince }: Scope,
  ): boolean =>
    changedSince !== null ||
    (open && (state === "open" || state === "disputed")) ||
    (dated !== null && (days?.date ?? "") >= dated.from && (days?.date ?? "") <= dated.to);

  const books: Books = {
    held,
    onList: async () => {},
    sources: {},
    sinks: { invoices: sink("invoice"), bills: sink("bill") },
    async check() {},
    async close() {},
    holdings: {
      strength: { invoice: "asked", bill: "asked", payment: "asked" },
      async *list(kind, scope) {
        await books.onList();
        const holdings = [...held.values()].filter((one) => one.kind === kind && isIn(one, scope));
        yield { holdings, position: null, total: holdings.length, serverTime: null };
      },
      get: async (kind, ids) =>
        [...held.values()].filter((one) => one.kind === kind && ids.includes(one.id)),
      // By numbers alone, as QuickBooks: it knows ids by another question.
      named: async (kind, numbers) =>
        [...held.values()].filter(
          ({ kind: of, facts: { words, number = "" } }) =>
            of === kind && numbers.includes(words?.document ?? number),
        ),
      expect: async (_kind, items) =>
        items.map(({ document }) => ({ facts: factsOf(document as Document) })),
    },
  };
  return books;
}
