/**
 * A connector as tables: one {@link Table} for each kind of document says what an ERP keeps of it, how it is written and how
 * a record is read; {@link Records} are the ERP's calls for that kind. The driver's adapters (port.ts), the sources, the
 * sinks and what reconciliation reads follow from both, so a connector compares and decides nothing.
 */
import type {
  Acknowledged,
  Change,
  Examination,
  Needs,
  Notebook,
  Offer,
  Sink,
  Source,
  Surroundings,
} from "../core/contract.ts";
import { amountOf } from "../core/decimal.ts";
import { defined } from "../core/defined.ts";
import { SourceUnavailable } from "../core/errors.ts";
import type { Day, Facts, Holdings, Scope } from "../core/holdings.ts";
import { spellingsOf, writingsOf } from "../core/keys.ts";
import {
  coveredAmong,
  coveringBy,
  exactly,
  type Notes,
  orRefused,
  priceChanges,
  type PriceLine,
} from "./entries.ts";
import { carriedIn } from "./desired.ts";
import { reading, unavailable } from "./errors.ts";
import { ledgerHoldings, ledgerSink } from "./driver.ts";
import { type Check, examined, UNSEEN } from "./examine.ts";
import { fileSinks, type FileTable } from "./files.ts";
import { goodsAdapter, type GoodsTable } from "./goods.ts";
import { listHoldings, partyHoldings, priceHoldings } from "./lists.ts";
import {
  type Books,
  type Call,
  type Capabilities,
  type Covering,
  type Desired,
  type Documents,
  type Entry,
  type GoodsKind,
  type LedgerAdapter,
  type LedgerKind,
  type LedgerSide,
  PLAIN_ENTRY,
  type RowPage,
  type Step,
  type StepTo,
} from "./port.ts";
import { isAlike } from "./plan.ts";
import type { Telling } from "./stamps.ts";

/** Orders and tickets have tables of their own (goods.ts). */
export type TableKind = Exclude<LedgerKind, GoodsKind>;

/** What is looked for: every record that one of these names; more may be found. Left out: none. */
interface Where<K extends TableKind = TableKind> {
  /** External ids: the platform's ids that records carry. */
  readonly marks?: readonly string[];
  /** What links call them; of parties, their codes. */
  readonly ids?: readonly string[];
  /** The platform's numbers or the books' own; of payments, those of the documents that they pay. */
  readonly numbers?: readonly string[];
  /** Of payments: what links call the documents that they pay. */
  readonly documents?: readonly string[];
  /** Days of documents: see {@link Table.dayOf}. */
  readonly days?: readonly Day[];
  /** The documents that the rest names. Left out: none, records are looked for by their ids or numbers alone. */
  readonly desired?: readonly Desired<K>[];
}

/** A record that is to be made: the document's values, and what the ERP takes besides of it (mark, party, payer). */
export interface Writing<K extends TableKind, Values> {
  readonly desired: Desired<K>;
  readonly values: Values;
}

/**
 * The calls of an ERP for the records of one kind: one function of the connector makes them for all kinds that are alike.
 * A row is complete: what a record needs of other records (the payments of an invoice) is read with it.
 * Every method @throws LedgerError, Refused
 */
export interface Records<K extends TableKind, Values, Row> {
  search(where: Where<K>, call: Call): Promise<readonly Row[]>;
  /** Everything in the scope after `from`, in pages; the position of a page resumes after it. */
  list(scope: Scope, from: string | null, signal: AbortSignal): AsyncIterable<RowPage<Row>>;
  /** Its id, null where the answer has none. */
  create?(one: Writing<K, Values>, call: Call): Promise<string | null>;
  /** Where one call makes several: at most {@link Capabilities.atomic}, all or none. */
  createAll?(all: readonly Writing<K, Values>[], call: Call): Promise<readonly (string | null)[]>;
  /** Only to `amended` it has values. Left out, as the next one: a record is never changed (payments, parties). */
  apply?(to: StepTo, step: WrittenStep<K, Values, Row>, call: Call): Promise<unknown>;
  /** Where one call takes a step for several. */
  applyAll?(to: StepTo, steps: readonly WrittenStep<K, Values, Row>[], call: Call): Promise<void>;
  /** Of payments: see {@link LedgerAdapter.idle}. */
  idle?(desired: Desired<K>, since: Day, call: Call): Promise<readonly Row[]>;
  /** A source of what changed: by stamps (stamps.ts), or another walk. Left out: no source reads this kind. */
  changed?(telling: Telling<Row>): Source;
}

type WrittenStep<K extends TableKind, Values, Row> = Step<K, Row> & {
  readonly values: Values | null;
};

/** The fields of an entry that a record shows; the rest is {@link PLAIN_ENTRY}. `facts`: what values do not say. */
export type Read<Row> = Pick<Entry, "id" | "mark" | "status"> &
  Partial<Omit<Entry<Row>, "native">> & {
    /** What settles more of it than its payments: see {@link PaymentOn.instead}. Left out: that is not known. */
    readonly unseen?: string | null;
  };

/** One kind of document in an ERP. `Values`: what is written of one; a row has these fields, too. */
export interface Table<K extends TableKind, Values, Row> {
  readonly can: Capabilities;
  readonly records: Records<K, Values, Row>;
  /** Refuses, before a request is made of it, a document that can never be kept. Pure. @throws Refused */
  accept?(document: Documents[K]): void;
  /** Loads what {@link write} needs to know of the ERP, in few calls for all. Left out: nothing. */
  codes?(documents: readonly Documents[K][], call: Call): Promise<void>;
  /** What the ERP keeps of a document: rounded, in its codes and lengths. @throws Refused when it cannot keep it */
  write(document: Documents[K]): Values | Promise<Values>;
  /**
   * What values or a row say in neutral words. One function reads what is to be written and what is there, so nothing can
   * differ but what the ERP has made of it. Number, party, sums, side and currency are not repeated here. Left out: values
   * are such facts, and {@link read} tells those of a row.
   */
  facts?(values: Values): Facts;
  /** The rest of a record. @param desired documents that are looked for, where there are any */
  read(row: Row, desired: readonly Desired<K>[]): Read<Row>;
  /**
   * Where the ERP cannot be asked for external ids: the day of the document, whose records are all read when none of those
   * that its number or its link names carries its external id.
   */
  readonly dayOf?: (document: Documents[K]) => Day | null;
  /** Of payments: notes on documents, by what links call these. With them payments after a settlement are covered (ADR 0010). */
  readonly notes?: (call: Call) => Notes;
  /** The same where `search` tells what is covered by itself. */
  readonly covering?: Covering<K>;
  /** What a source tells of an entry; null: nothing. Left out: no source reads this kind. */
  tell?(entry: Entry<Row>): Change | null;
  /** Where a document is taken now, and what the ERP made of it is told later. Left out: a record that is there counts. */
  readonly answers?: Omit<Acknowledged, "references"> & {
    /** What an answer names beside the document's id: which version it is of. */
    versionOf(document: Documents[K]): string;
  };
}

/**
 * Parties in books that have no field for the platform's id of a company: the store remembers for which company one was
 * made, by its code until it was seen, then by what no change of its code changes. One that people made is nobody's: whoever
 * has its code may use it.
 * @param list its name, kept in the store @param shared codes that are several companies' of the platform
 */
export function rememberedParties<Values, Row>(
  table: Table<"party", Values, Row>,
  list: string,
  { notebook = notes() }: Pick<Surroundings, "notebook">,
  shared: readonly string[] = [],
): Table<"party", Values, Row> {
  const { records } = table;
  const companyOf = (name: string): string => `company of ${list} ${name}`;
  const nameOf = (company: string): string => `${list} of company ${company}`;
  return {
    ...table,
    records: {
      ...records,
      async search({ ids = [], marks = [], ...where }, call) {
        const known = marks.flatMap((mark) => notebook.get(nameOf(mark)) ?? []);
        const names = [...new Set([...ids, ...known])];
        const rows = await records.search({ ...where, marks, ids: names }, call);
        for (const row of rows) {
          const { number, lasting } = table.read(row, []);
          const mark = notebook.get(companyOf(number ?? ""));
          if (mark === null || lasting === undefined) continue;
          notebook.set(companyOf(lasting), mark);
          notebook.set(nameOf(mark), lasting);
          // Another one may have this code from now on.
          notebook.set(companyOf(number ?? ""), null);
        }
        return rows;
      },
      async create(one, call) {
        // Before it is made: an answer that is lost would leave it nobody's.
        const { mark, number } = one.desired;
        notebook.set(companyOf(number), mark);
        notebook.set(nameOf(mark), number);
        return (await records.create?.(one, call)) ?? null;
      },
    },
    read(row, desired) {
      const read = table.read(row, desired);
      const { number, lasting = "" } = read;
      const code = number ?? "";
      const company = notebook.get(companyOf(lasting)) ?? notebook.get(companyOf(code));
      return { ...read, mark: shared.includes(code) ? null : company };
    },
  };
}

/** What is kept until the process ends. */
export function notes(): Notebook {
  const kept = new Map<string, string | null>();
  return { get: (name) => kept.get(name) ?? null, set: (name, text) => void kept.set(name, text) };
}

/** Prices, which are only read. */
export interface PriceTable<Row> {
  /** What it tells of a product's price in a list, it tells with all rows of that product in that list. */
  readonly records: { changed(telling: Telling<Row>): Source };
  /** Null: the row has no price. */
  line(row: Row): PriceLine | null;
}

type Company = Pick<Surroundings, "currency">;

const SIDES = { invoice: "sale", bill: "purchase" } as const;

/** The adapter that the driver works with. */
function tableAdapter<K extends TableKind, Values, Row>(
  kind: K,
  table: Table<K, Values, Row>,
  company: Company,
): LedgerAdapter<K, Row> {
  const { can, records, notes, dayOf } = table;
  const covering = notes
    ? (coveringBy(notes, ({ id }) => id ?? "") as Covering<K>)
    : table.covering;
  const search = async (where: Where<K>, call: Call): Promise<Entry<Row>[]> =>
    (await records.search(where, call)).map((row) => entryOf(kind, table, company, row, where));
  const written = async (desired: readonly Desired<K>[], call: Call) => {
    const all: Writing<K, Values>[] = [];
    await table.codes?.(
      desired.map(({ document }) => document),
      call,
    );
    for (const one of desired) all.push({ desired: one, values: await table.write(one.document) });
    return all;
  };
  return {
    can,
    accept: (document) => table.accept?.(document),
    async expected(documents, call) {
      await table.codes?.(documents, call);
      return orRefused(documents, async (document) => {
        const values = await table.write(document);
        const facts = table.facts?.(values) ?? (values as Facts);
        return inWords(kind, company, { money: sumsOf(document) }, facts);
      });
    },
    async locate(desired, call) {
      const found = await search(whereOf(kind, desired), call);
      const absent = desired.filter(({ mark }) => found.every((one) => one.mark !== mark));
      const days = absent.flatMap(({ document }) => dayOf?.(document) ?? []);
      const marks = new Set<string | null>(absent.map(({ mark }) => mark));
      const others = days.length === 0 ? [] : await search({ days, desired: absent }, call);
      const marked = others.filter(
        (other) =>
          (marks.has(other.mark) || absent.some((one) => isAlike(one, other))) &&
          found.every((one) => one.id !== other.id),
      );
      const on = paidBy(absent);
      const covered =
        notes === undefined ? [] : await coveredAmong(notes(call), on, paying(absent));
      return [...found, ...marked, ...(covered as unknown as Entry<Row>[])];
    },
    async create(desired, call) {
      const all = await written(desired, call);
      if (records.createAll !== undefined) return records.createAll(all, call);
      const ids: (string | null)[] = [];
      for (const one of all) ids.push((await records.create?.(one, call)) ?? null);
      return ids;
    },
    async apply(to, steps, call) {
      const desired = steps.map((step) => step.desired);
      // What is cancelled may name a code that is no longer there.
      const all = to === "amended" ? await written(desired, call) : [];
      const changed = steps.map((step, at) => ({ ...step, values: all[at]?.values ?? null }));
      await records.applyAll?.(to, changed, call);
      for (const one of changed) await records.apply?.(to, one, call);
    },
    get: (ids, call) => search({ ids }, call),
    named: (numbers, signal) => search({ numbers }, { ...READ, signal }),
    async *list(scope, from, signal) {
      for await (const { rows, ...page } of records.list(scope, from, signal))
        yield { ...page, entries: rows.map((row) => entryOf(kind, table, company, row)) };
    },
    ...(records.idle === undefined
      ? {}
      : {
          idle: async (one, since, call) =>
            ((await records.idle?.(one, since, call)) ?? []).map((row) =>
              entryOf(kind, table, company, row, { desired: [one] }),
            ),
        }),
    ...defined({ covering }),
  };
}

/** Of a call that only reads; its signal is besides. */
export const READ = { key: "read", purpose: "inspection", made: new Set<string>() } as const;

const paying = (desired: readonly Desired[]): Desired<"payment">[] =>
  desired.filter((one): one is Desired<"payment"> => "invoiceId" in one.document);

const paidBy = (desired: readonly Desired[]): string[] =>
  paying(desired).map(({ document }) => document.invoice);

/** A document is found by its external id, by its link and by its number as people write it; a payment has no number of its own. */
function whereOf<K extends TableKind>(kind: K, desired: readonly Desired<K>[]): Where<K> {
  const marks = desired.map(({ mark }) => mark);
  if (kind === "party") return { marks, ids: desired.map(({ number }) => number), desired };
  // What has a link is found by it; what has none may have been entered by hand.
  const numbers = desired.flatMap(({ number, binding }) =>
    binding === null ? writingsOf(number) : spellingsOf(number),
  );
  const ids = desired.flatMap(({ binding }) => binding ?? []);
  return kind === "payment"
    ? { marks, ids, documents: paidBy(desired), desired }
    : { marks, ids, numbers, desired };
}

/** A sum that the ERP does not show is not compared. */
function sumsOf(document: object): NonNullable<Facts["money"]> {
  if (!("subtotal" in document)) return {};
  const { subtotal: untaxed, tax, total } = document as Documents["invoice"];
  return { untaxed, tax, total };
}

/** @param more counts before `facts` */
function inWords(kind: TableKind, { currency }: Company, more: Facts, facts: Facts): Facts {
  const own = {
    side: SIDES[kind as keyof typeof SIDES],
    currency: kind === "party" ? undefined : currency,
  };
  return {
    ...facts,
    ...more,
    money: { ...facts.money, ...more.money },
    words: { ...defined(own), ...facts.words, ...more.words },
  };
}

function entryOf<K extends TableKind, Values, Row>(
  kind: K,
  table: Table<K, Values, Row>,
  company: Company,
  row: Row,
  { desired = [] }: Where<K> = {},
): Entry<Row> {
  const { facts: more = {}, unseen, ...read } = table.read(row, desired);
  const own = { ...defined({ party: read.party }), ...more };
  const facts = inWords(kind, company, own, table.facts?.(row as unknown as Values) ?? {});
  const { total, open } = facts.money ?? {};
  const { payments: all = [] } = read;
  const known = total && open ? exactly(all, total.minus(open)) : all;
  const isSettling = read.status === "posted" || read.status === "settled";
  const payments = [...known];
  if (unseen !== undefined && isSettling && total && open) {
    const amount = total.minus(open).minus(amountOf(known));
    if (amount.sign === 1) payments.push({ mark: null, amount, instead: unseen });
  }
  const entry = { ...PLAIN_ENTRY, ...read, payments, facts, native: row };
  return { ...entry, ...defined({ change: table.tell?.(entry) }) };
}

/** A table whose rows and values are of its own. */
// oxlint-disable-next-line typescript/no-explicit-any
type AnyTable<K extends TableKind> = Table<K, any, any>;

/** The books of one company by tables. */
interface LedgerOptions extends Pick<
  Books,
  "name" | "errors" | "service" | "onAccount" | "expect"
> {
  readonly config: { readonly settleMs: number; readonly settleAfter: number };
  readonly surroundings: Pick<Surroundings, "now" | "ignore" | "currency" | "notebook">;
  /** Whole lists of what the ERP has of its own, by their names as sources. Left out: its tables tell them. */
  readonly lists?: Readonly<Record<string, Source>>;
  /** PDFs on what is booked, by their names as sinks. */
  readonly files?: Readonly<Record<string, FileTable>>;
  /** What must hold before anything is booked. Left out: nothing. @throws SourceUnavailable, a fault of the books */
  check?(signal: AbortSignal): Promise<unknown>;
  /** That of the books, which must be the company's. Left out: {@link check} sees to it. @throws a fault of the books */
  currency?(signal: AbortSignal): Promise<string | undefined>;
  /** What must hold before the next document goes, one thing after the other. Left out: nothing is looked at, and `doctor` says so. */
  checks?(needs: Needs, signal: AbortSignal): readonly (Check | Examination)[];
  readonly tables: {
    readonly [K in Exclude<TableKind, "party">]?: AnyTable<K>;
  } & {
    /** Where customers and vendors are two lists, one for each. */
    readonly party?: AnyTable<"party"> | Readonly<Record<LedgerSide, AnyTable<"party">>>;
    /** Both lists as one source, `parties`. Left out: a source for each that tells what changed in it. */
    readonly parties?: { changed(telling: Telling<never>): Source };
    /** Invoices as the source of what was paid tells them. Left out: as `invoice` does, with a position of its own. */
    readonly paidInvoice?: AnyTable<"invoice">;
    // oxlint-disable-next-line typescript/no-explicit-any
    readonly price?: PriceTable<any>;
    // oxlint-disable-next-line typescript/no-explicit-any
    readonly order?: GoodsTable<"order", any>;
    // oxlint-disable-next-line typescript/no-explicit-any
    readonly shipment?: GoodsTable<"shipment", any>;
  };
}

/**
 * Sources and sinks by the names that a configuration gives after the endpoint; each name is a form of its own, but both
 * lists of parties have one. @param names false: it has none @param more what one offers besides
 */
export const offered = (
  names: readonly (string | false)[],
  more: Readonly<Record<string, Partial<Offer>>> = {},
): Record<string, Offer> =>
  Object.fromEntries(
    names
      .filter((name) => name !== false)
      .map((name) => {
        const form = PARTY_LISTS.includes(name) ? "parties" : name;
        return [name, { form: `books.${form}`, ...more[name] }];
      }),
  );
const PARTY_LISTS: readonly string[] = ["customers", "suppliers"];

export interface Ledger {
  readonly books: Books;
  /** By the names that a configuration gives them: `invoices`. */
  readonly sinks: Readonly<Record<string, Sink>>;
  /** `parties`; of two lists `customers` and `suppliers`, which may have the same numbers. */
  readonly sources: Readonly<Record<string, Source>>;
  readonly holdings: Holdings;
  check(signal: AbortSignal): Promise<void>;
  examine(signal: AbortSignal, needs: Needs): Promise<readonly Examination[]>;
}

const SINKS = {
  invoices: "invoice",
  bills: "bill",
  payments: "payment",
  orders: "order",
  shipments: "shipment",
} as const;

export function openLedger({ tables, config, lists: own = {}, ...options }: LedgerOptions): Ledger {
  const { name, files = {} } = options;
  const surroundings = { notebook: notes(), ...options.surroundings };
  const { settleMs, settleAfter: settleAfterMs } = config;
  const { party, parties, price, paidInvoice, order, shipment, ...documents } = tables;
  const adapterOf = <K extends TableKind>(kind: K, table: AnyTable<K>): LedgerAdapter<K> =>
    tableAdapter(kind, table, surroundings);
  const isOneList = party !== undefined && "can" in party;
  const adapters = {
    ...mapped(documents, (table, kind) =>
      adapterOf(kind as TableKind, table as AnyTable<TableKind>),
    ),
    ...mapped({ order, shipment }, (table, kind) => goodsAdapter(kind as GoodsKind, table)),
    ...(isOneList ? { party: adapterOf("party", party) } : {}),
    ...(party === undefined || isOneList
      ? {}
      : { party: mapped(party, (table) => adapterOf("party", table)) }),
  } as Books["adapters"];
  const books: Books = { ...options, surroundings, settleMs, settleAfterMs, adapters };
  async function check(signal: AbortSignal): Promise<void> {
    await options.check?.(signal);
    const { currency } = surroundings;
    const its = options.currency === undefined ? currency : await options.currency(signal);
    if (its === currency) return;
    throw new SourceUnavailable(`${name} keeps ${its}, not ${currency}`, {
      next: `Correct the company's currency in the configuration, or name the company that keeps its books in it.`,
    });
  }
  const sourceOf = <Row>(
    records: { changed?(telling: Telling<Row>): Source } | undefined,
    tell: (rows: readonly Row[]) => Change[],
  ): Source | undefined =>
    records?.changed?.({
      tell,
      now: () => surroundings.now(),
      unavailable: (error) => unavailable(error, books),
    });
  const told = <K extends TableKind>(kind: K, table?: AnyTable<K>): Source | undefined =>
    sourceOf(table?.records, (rows) =>
      table === undefined
        ? []
        : rows.flatMap((row) => entryOf(kind, table, surroundings, row).change ?? []),
    );
  const prices = sourceOf(price?.records, (rows) =>
    priceChanges(
      name,
      rows.flatMap((row) => price?.line(row) ?? []),
    ),
  );
  const lists = party === undefined || isOneList ? undefined : party;
  const sources = {
    parties: isOneList ? told("party", party) : sourceOf(parties, () => []),
    customers: told("party", lists?.sale),
    suppliers: told("party", lists?.purchase),
    invoices: told("invoice", tables.invoice),
    paidInvoices: told("invoice", paidInvoice ?? tables.invoice),
    prices,
    ...own,
  };
  const isListed = lists?.sale.tell !== undefined;
  const sinks = mapped(SINKS, (kind) => {
    if (books.adapters[kind] === undefined) return undefined;
    const answers = (documents as Readonly<Record<string, AnyTable<TableKind>>>)[kind]?.answers;
    return {
      ...ledgerSink(books, kind),
      ...defined({ acknowledged: answers && answered(kind, answers) }),
    };
  });
  return {
    books,
    sinks: { ...(defined(sinks) as Record<string, Sink>), ...fileSinks(books, files) },
    sources: defined(sources),
    holdings: ledgerHoldings(books, {
      ...(isListed ? { party: partyHoldings(books) } : {}),
      ...mapped({ party: own["parties"], invoice: own["invoices"] }, (source, kind) =>
        listHoldings(books, kind as "party" | "invoice", source),
      ),
      ...mapped({ price: sources.prices }, (source) =>
        priceHoldings(name, surroundings.currency, source),
      ),
    }),
    check: (signal) => reading(books, () => check(signal)),
    examine: (signal, needs) =>
      examined(books, options.checks?.(needs, signal) ?? [UNSEEN], signal),
  };
}

/** An answer names a document by its kind and id, and the version that it is of. */
const answered = (
  kind: LedgerKind,
  answers: NonNullable<AnyTable<TableKind>["answers"]>,
): Acknowledged => ({
  ...answers,
  references: ({ body }) =>
    carriedIn(kind, body).map(({ document }) => ({
      exchange: `${kind}/${(document as { readonly id: string }).id}`,
      item: answers.versionOf(document as Documents[TableKind]),
    })),
});

/** Of each that is given, by its name. */
const mapped = <T, Made>(
  all: Readonly<Record<string, T | undefined>>,
  make: (one: T, name: string) => Made,
): Record<string, Made> =>
  Object.fromEntries(
    Object.entries(all).flatMap(([name, one]) =>
      one === undefined ? [] : [[name, make(one, name)]],
    ),
  );
