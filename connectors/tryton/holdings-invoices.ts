/** Invoices and bills as the books hold them now: what reconciliation compares with the platform. */
import { z } from "zod";
import type { Change, Item } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Expected, Holding, HoldingPage, Scope } from "../../src/core/holdings.ts";
import type { Json } from "../../src/core/json.ts";
import type { Books } from "./books.ts";
import { disputedOf } from "./disputes.ts";
import { InvoiceDocument } from "../../src/books/documents.ts";
import { type KindHoldings, LOT } from "../../src/books/holdings.ts";
import { creditsOf } from "./invoice-credits.ts";
import { expectedOf, loadCodes, partyCode } from "./invoice-expected.ts";
import { draftsIn, NO_CREDIT_NOTE, readInvoices } from "./invoice-facts.ts";
import {
  expectedInvoice,
  invoiceFacts,
  invoiceTypeOf,
  type Progressed,
} from "../../src/books/invoices.ts";
import { invoiceChanges } from "./sources/invoices.ts";
import { reading } from "./fault.ts";
import type { Wanted } from "./standing.ts";
import { day, exact, stamp } from "./values.ts";

type Kind = "invoice" | "bill";

export const invoiceHoldings = (books: Books, kind: Kind): KindHoldings => ({
  list: (scope, from, signal) => list(books, kind, scope, from, signal),
  get: (ids, signal) =>
    reading(async () => {
      const clause = ["OR", ["number", "in", ids], ["id", "in", draftsIn(ids)]];
      const rows = await read(books, kind, [clause], null, signal);
      return holdingsIn(books, kind, rows, signal);
    }),
  named: (numbers, signal) =>
    reading(async () => {
      const clause = ["OR", ["number", "in", numbers], ["reference", "in", numbers]];
      const rows = await read(books, kind, [clause], null, signal);
      return holdingsIn(books, kind, rows, signal);
    }),
  expect: (items) => reading(() => expectAll(books, items)),
});

/** Read in the order of database ids: what is made meanwhile comes last. @throws SourceUnavailable */
async function* list(
  books: Books,
  kind: Kind,
  scope: Scope,
  from: Json | null,
  signal: AbortSignal,
): AsyncGenerator<HoldingPage> {
  const within = scopeDomain(scope);
  let last = z.int().catch(0).parse(Number(from));
  for (let goesOn = true; goesOn;) {
    const rows = await reading(() => read(books, kind, [within, ["id", ">", last]], LOT, signal));
    goesOn = rows.length === LOT;
    last = rows.at(-1)?.id ?? last;
    const holdings = await reading(() => holdingsIn(books, kind, rows, signal));
    const total = goesOn ? null : await reading(() => count(books, kind, within, signal));
    yield { holdings, position: last, total, serverTime: null };
  }
}

/** What is dated within, or changed since, or still open. */
function scopeDomain({ dated, changedSince, open }: Scope): unknown[] {
  const parts: unknown[] = [];
  if (dated !== null)
    parts.push([
      ["invoice_date", ">=", day(dated.from)],
      ["invoice_date", "<=", day(dated.to)],
    ]);
  if (changedSince !== null) {
    const since = stamp(changedSince);
    parts.push(["write_date", ">=", since], ["create_date", ">=", since]);
  }
  if (open) parts.push(["state", "in", ["draft", "validated", "posted"]]);
  return parts.length === 0 ? ["id", "=", -1] : ["OR", ...parts];
}

async function domainOf({ tryton }: Books, kind: Kind): Promise<unknown[]> {
  const { company } = await tryton.session();
  return [["company", "=", company], ["type", "=", invoiceTypeOf(kind)], NO_CREDIT_NOTE];
}

async function read(
  books: Books,
  kind: Kind,
  domain: readonly unknown[],
  most: number | null,
  signal: AbortSignal,
): Promise<Progressed[]> {
  const order = [["id", "ASC"]];
  const whole = [...(await domainOf(books, kind)), ...domain];
  return readInvoices(books, whole, "progress", { most, order, signal });
}

async function count(
  books: Books,
  kind: Kind,
  within: unknown,
  signal: AbortSignal,
): Promise<number> {
  const domain = [...(await domainOf(books, kind)), within];
  return books.tryton.call<number>("model.account.invoice.search_count", [domain], { signal });
}

async function holdingsIn(
  books: Books,
  kind: Kind,
  rows: readonly Progressed[],
  signal: AbortSignal,
): Promise<Holding[]> {
  if (rows.length === 0) return [];
  const credits = await creditsOf(books, rows, signal);
  const ids = rows.map(({ id }) => id);
  const disputed = await disputedOf(books, ids);
  const names = await namesOf(books, kind, rows, signal);
  const changes = await changesOf(books, kind, rows, signal);
  return rows.map((row): Holding => {
    const id = names.get(row.id) ?? `#${row.id}`;
    return {
      kind,
      id,
      version: row.stamp,
      mark: row.platformId,
      // Links call it so until its next version comes: it was brought there as a draft.
      aliases: [`#${row.id}`],
      change: changes.get(id) ?? null,
      facts: invoiceFacts(row, disputed.has(row.id), credits.get(row.id) ?? []),
    };
  });
}

/**
 * What links call them: the number; but where several have one number, it is the first that is not cancelled that has
 * it, and the others are named as drafts are.
 */
async function namesOf(
  { tryton }: Books,
  kind: Kind,
  rows: readonly Progressed[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, string>> {
  const numbers = rows.flatMap(({ number }) => number ?? []);
  const { company } = await tryton.session();
  const domain = [
    ["company", "=", company],
    ["type", "=", invoiceTypeOf(kind)],
    ["number", "in", numbers],
  ];
  const all = await tryton.call<{ id: number; number: string; state: string }[]>(
    "model.account.invoice.search_read",
    [domain, 0, null, [["id", "ASC"]], ["number", "state"]],
    { signal },
  );
  const owners = [...Map.groupBy(all, ({ number }) => number)].map(([number, same]) => {
    const owner = same.find(({ state }) => state !== "cancelled") ?? same[0];
    return [owner?.id ?? 0, number] as const;
  });
  return new Map(owners);
}

/** What the sources tell of those that were born here; flows read customer invoices only. */
async function changesOf(
  books: Books,
  kind: Kind,
  rows: readonly Progressed[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Change>> {
  const own = rows.filter(({ platformId, number }) => platformId === null && number !== null);
  if (kind === "bill" || own.length === 0) return new Map();
  const ids = own.map(({ id }) => id);
  const changes = await invoiceChanges(books, ids, signal);
  return new Map(changes.map((change) => [change.id, change]));
}

/** @throws TrytonFault */
async function expectAll(books: Books, items: readonly Item[]): Promise<Expected[]> {
  const expected: Expected[] = [];
  for (let at = 0; at < items.length; at += LOT) {
    const lot = items.slice(at, at + LOT).map(({ document, counterpart }) => ({
      document: InvoiceDocument.parse(document),
      counterpart,
    }));
    const documents = lot.map(({ document }) => document);
    await loadCodes(books, documents);
    const codes = new Set(documents.map(({ party }) => party.code));
    const there = await books.lookup.findParties([...codes]);
    for (const one of lot)
      expected.push(await expectOne(books, one, (code) => there.has(code)).catch(faultIn));
  }
  return expected;
}

/** @param isThere is there a party of this code? */
async function expectOne(
  books: Books,
  { document, counterpart }: Omit<Wanted, "until">,
  isThere: (code: string) => boolean,
): Promise<Expected> {
  const { code } = document.party;
  const party = isThere(code) ? code : await partyCode(books, document.party);
  const facts = await expectedOf(books, document, party);
  return expectedInvoice(document, facts, counterpart, books.config.posting === "post");
}

function faultIn(error: unknown): Expected {
  if (error instanceof Refused) return { fault: error.fault };
  throw error;
}

/**
 * What parties owe us (`invoice`), or we owe them (`bill`), by the lines of the ledger's receivable or payable accounts
 * that are not reconciled. @throws SourceUnavailable
 */
export function controlOf(
  books: Books,
  kind: Kind,
  signal: AbortSignal,
): Promise<{ readonly party: string; readonly open: Decimal }[]> {
  return reading(async () => {
    const { company } = await books.tryton.session();
    const account = kind === "invoice" ? "account.type.receivable" : "account.type.payable";
    const sums = new Map<string, Decimal>();
    let last = 0;
    for (let goesOn = true; goesOn;) {
      const domain = [
        ["move.company", "=", company],
        ["move.state", "=", "posted"],
        [account, "=", true],
        ["reconciliation", "=", null],
        ["id", ">", last],
      ];
      const rows = await books.tryton.call<LedgerRow[]>(
        "model.account.move.line.search_read",
        [domain, 0, LEDGER_LOT, [["id", "ASC"]], ["debit", "credit", "party.code"]],
        { signal },
      );
      for (const row of rows) {
        const party = row["party."]?.code ?? "";
        const debit = exact(row.debit).minus(exact(row.credit));
        const open = kind === "invoice" ? debit : debit.negated();
        sums.set(party, (sums.get(party) ?? Decimal.zero).plus(open));
      }
      goesOn = rows.length === LEDGER_LOT;
      last = rows.at(-1)?.id ?? last;
    }
    return [...sums]
      .map(([party, open]) => ({ party, open }))
      .filter(({ open }) => open.sign !== 0);
  });
}

const LEDGER_LOT = 1_000;

interface LedgerRow {
  readonly id: number;
  readonly debit: unknown;
  readonly credit: unknown;
  readonly "party.": { readonly code: string } | null;
}
