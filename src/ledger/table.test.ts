/** What follows from tables, over records that a test holds in memory. */
import { expect, test } from "vitest";
import { Refused } from "../core/errors.ts";
import type { InvoiceDocument } from "./documents.ts";
import type { Capabilities, Desired, Step } from "./port.ts";
import { openLedger, type Table } from "./table.ts";

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
      create: async () => [],
      apply: async (to, steps) => void applied.push([to, steps.map(({ values }) => values)]),
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
    settleMs: 0,
    settleAfterMs: 0,
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
