/** What follows from tables, over records that a test holds in memory. */
import { expect, test } from "vitest";
import { Refused } from "../core/errors.ts";
import type { InvoiceDocument } from "./documents.ts";
import type { Capabilities, Desired, LedgerAdapter, Step } from "./port.ts";
import { stampedList } from "./stamps.ts";
import { openLedger, rememberedParties, type Table } from "./table.ts";

const call = {
  key: "k",
  signal: new AbortController().signal,
  purpose: "delivery",
  made: new Set<string>(),
} as const;

interface Row {
  readonly id: string;
  readonly mark: string | null;
}

const can: Capabilities = {
  has: ["posted", "cancelled"],
  byUs: "posted",
  amend: {},
  atomic: 1,
  numbered: "once",
};

/** @param shown rows by what they are searched for @param kept whether the books have the codes of documents */
function booksOver(shown: Readonly<Record<"names" | "days", readonly Row[]>>, kept = true) {
  const applied: unknown[] = [];
  const table: Table<"invoice", object, Row> = {
    can,
    records: {
      search: async ({ days }) => (days === undefined ? shown.names : shown.days),
      async *list() {},
      applyAll: async (to, steps) => void applied.push([to, steps.map(({ values }) => values)]),
    },
    write() {
      if (kept) return { written: true };
      throw new Refused({ code: "not-there", message: "the code is not there", next: "Make it." });
    },
    facts: () => ({}),
    read: ({ id, mark }) => ({ id, mark, status: "posted" }),
    dayOf: ({ invoiceDate }: InvoiceDocument) => invoiceDate,
  };
  const { books } = openLedger({
    name: "the ledger",
    tables: { invoice: table },
    errors: [],
    config: { settleMs: 0, settleAfter: 0 },
    surroundings: { now: () => new Date(), ignore: {}, currency: "USD" },
  });
  return { adapter: books.adapters.invoice, applied };
}

const invoice = { id: "id-1", number: "FL-1", invoiceDate: "2026-11-21" } as InvoiceDocument;
const desired = { document: invoice, mark: invoice.id, number: invoice.number, binding: null };
const step = { desired, entry: {}, differences: [] } as unknown as Step<"invoice">;

test("a step that writes no values is taken though a code of the document is no longer there", async () => {
  const { adapter, applied } = booksOver({ names: [], days: [] }, false);
  await adapter?.apply("cancelled", [step], call);
  expect(applied).toEqual([["cancelled", [null]]]);
  await expect(adapter?.apply("amended", [step], call)).rejects.toThrow(Refused);
});

test("where external ids cannot be asked for, those of its day that carry one of ours are found, once", async () => {
  const [own, other, unmarked] = [
    { id: "1", mark: invoice.id },
    { id: "2", mark: "another" },
    { id: "3", mark: null },
  ];
  const { adapter } = booksOver({ names: [unmarked], days: [unmarked, other, own] });
  const found = await adapter?.locate([desired as unknown as Desired<"invoice">], call);
  expect(found?.map(({ id }) => id)).toEqual(["3", "1"]);
});

test("two lists of parties are two sources, and the store remembers for whom one was made", async () => {
  const rows = new Set(["OLD"]);
  const kept = new Map<string, string | null>();
  const notebook = {
    get: (name: string) => kept.get(name) ?? null,
    set: (name: string, text: string | null) => void kept.set(name, text),
  };
  const list = (name: string): Table<"party", object, string> =>
    rememberedParties<object, string>(
      {
        can,
        records: {
          search: async ({ ids = [] }) => ids.filter((id) => rows.has(id)),
          async *list() {},
          create: async ({ desired: { number } }) => (rows.add(number), number),
          changed: stampedList({
            name,
            async *pages() {
              yield [...rows];
            },
            stampOf: () => "2026-11-21T10:00:00Z",
          }),
        },
        write: () => ({}),
        facts: () => ({}),
        read: (code) => ({ id: code, mark: null, number: code, status: "posted" }),
        tell: ({ number, mark }) => ({ id: number ?? "", version: null, text: `${name} ${mark}` }),
      },
      name,
      { notebook },
      ["SHARED"],
    );
  const { books, sources } = openLedger({
    name: "the ledger",
    tables: { party: { sale: list("customers"), purchase: list("vendors") } },
    errors: [],
    config: { settleMs: 0, settleAfter: 0 },
    surroundings: { now: () => new Date(), ignore: {}, currency: "USD" },
  });
  const { sale } = books.adapters.party as Record<"sale", LedgerAdapter<"party">>;
  const of = (code: string, company: string) =>
    ({
      document: { code, name: code, companyId: company },
      mark: company,
      number: code,
    }) as unknown as Desired<"party">;
  await sale.create([of("NEW", "company-1"), of("SHARED", "company-2")], call);
  const marksOf = async (desired: Desired<"party">) =>
    (await sale.locate([desired], call)).map(({ number, mark }) => [number, mark]);
  expect(await marksOf(of("NEW", "company-9"))).toEqual([["NEW", "company-1"]]);
  expect(await marksOf(of("OLD", "company-9"))).toEqual([["OLD", null]]);
  expect(await marksOf(of("SHARED", "company-9"))).toEqual([["SHARED", null]]);
  // Under another code it is found by the company.
  expect(await marksOf(of("OTHER", "company-1"))).toEqual([["NEW", "company-1"]]);
  expect(Object.keys(sources)).toEqual(["customers", "suppliers"]);
  const told: string[] = [];
  for (const source of Object.values(sources))
    for await (const { changes } of source.read(null, { ...reading, signal: call.signal }))
      told.push(...changes.map(({ id, text }) => `${id}: ${text}`));
  expect(told).toContain("NEW: customers company-1");
  expect(told).toContain("NEW: vendors null");
});

const reading = { known: () => null, stored: () => false };
