/**
 * Invoices and bills of books that have drafts, numbers of their own, notes and credit notes: how links call them, which of
 * those that books show may be the one of a document, and what an ERP adds so that the driver can bring them there.
 */
import type { Change } from "../core/contract.ts";
import type { Refused } from "../core/errors.ts";
import type { Facts, Scope } from "../core/holdings.ts";
import { spellingsOf } from "../core/keys.ts";
import type { LedgerAdapter, Call, Capabilities, Entry, Step, StepTo, Desired } from "./port.ts";
import {
  type Beside,
  besidesOf,
  type BookedInvoice,
  type Credit,
  invoiceEntry,
  isCreditedInFull,
  numberIn,
} from "./entries.ts";
import type { InvoiceDocument } from "./documents.ts";
import type { Guard } from "./guard.ts";
import { inPages } from "./holdings.ts";
import { disputedOf, type Notes } from "./notes.ts";

type Kind = "invoice" | "bill";

/** With the database's id of it. */
type Row = BookedInvoice & { readonly id: number };

/** What is looked for: everything that one of these names. Left out: none. */
export interface InvoiceNames {
  readonly marks?: readonly string[];
  /** The platform's numbers, where the books give numbers of their own. */
  readonly references?: readonly string[];
  /** Of those the numbers that a person may have typed in any case: what has no link yet. */
  readonly typed?: readonly string[];
  readonly numbers?: readonly string[];
  readonly ids?: readonly number[];
  /** Marks of what may stand on the other side: a sale that became a purchase. What is cancelled there does not count. */
  readonly turned?: readonly string[];
}

/** What an ERP adds for one side. Every method @throws Refused, LedgerError */
export interface InvoiceDesk<K extends Kind, Native extends Row> {
  readonly can: Capabilities;
  /** Documents of this side get the platform's number in the books. */
  readonly givesNumber: boolean;
  readonly guard: Guard;
  readonly notes: Notes;
  /** What a note on one is on. */
  readonly resourceOf: (row: Pick<Row, "id">) => string;
  /** See {@link Entry.fixed}. */
  fixedIn(row: Native): readonly string[];
  expected(documents: readonly InvoiceDocument[]): Promise<readonly (Facts | Refused)[]>;
  /** @param compared some of them as {@link Call.compared} has them; left out: none */
  search(
    names: InvoiceNames,
    signal: AbortSignal,
    compared?: readonly Native[],
  ): Promise<readonly Native[]>;
  /** The first rows in a scope after an id, in the order of ids: `most` of {@link inPages}. */
  page(scope: Scope, after: number, signal: AbortSignal): Promise<readonly Native[]>;
  count(scope: Scope, signal: AbortSignal): Promise<number>;
  /** Credit notes that count, by the ids of the rows. */
  credits(
    rows: readonly Native[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<number, readonly Credit[]>>;
  /** All that have one of these numbers. */
  owners(
    numbers: readonly string[],
    signal: AbortSignal,
  ): Promise<
    readonly { readonly id: number; readonly number: string; readonly isCancelled: boolean }[]
  >;
  /** What the sources tell of these; none where no source reads this side. */
  changes(ids: readonly number[], signal: AbortSignal): Promise<readonly Change[]>;
  /** All is looked up that they need; what it returns makes them, all or none: their ids in order. */
  prepare(desired: readonly Desired<K>[]): Promise<() => Promise<readonly number[]>>;
  /** It may be taken again after anything. */
  step(to: StepTo, steps: readonly Step<K, Native>[]): Promise<void>;
}

/** What links call one without a number. */
export const draftName = (id: number): string => `#${id}`;

/** Database ids of those that links call so. */
export const draftsIn = (names: readonly string[]): number[] =>
  names.flatMap((name) => (/^#\d+$/.test(name) ? [Number(name.slice(1))] : []));

export function invoiceAdapter<K extends Kind, Native extends Row>(
  desk: InvoiceDesk<K, Native>,
): LedgerAdapter<K, Native> {
  const { guard } = desk;
  return {
    can: desk.can,
    expected: (documents) => desk.expected(documents),
    locate: (desired, call) => locate(desk, desired, call),
    async create(desired) {
      const make = await desk.prepare(desired);
      const made = await guard.create(marksOf(desired), make);
      return made.map(draftName);
    },
    async apply(to, steps) {
      await desk.step(to, steps);
      if (to === "retracted") await guard.release(marksOf(steps.map(({ desired }) => desired)));
    },
    async get(ids, { purpose, signal }) {
      const rows = await desk.search({ numbers: ids, ids: draftsIn(ids) }, signal);
      if (purpose === "inspection") return toldAs(desk, rows, signal);
      return rows.map((row) => entryOf(desk, row));
    },
    async named(numbers, signal) {
      return toldAs(desk, await desk.search({ numbers, references: numbers }, signal), signal);
    },
    // In the order of database ids: what is made meanwhile comes last.
    async *list(scope, from, signal) {
      const read = (after: number) => desk.page(scope, after, signal);
      for await (const page of inPages(Number(from ?? 0), ({ id }: Native) => id, read)) {
        const entries = await toldAs(desk, page.rows, signal);
        const total = page.isEnd ? { total: await desk.count(scope, signal) } : {};
        yield { entries, position: String(page.last), ...total };
      }
    },
  };
}

const marksOf = (desired: readonly Pick<Desired, "mark">[]): string[] =>
  desired.map(({ mark }) => mark);

const entryOf = <K extends Kind, Native extends Row>(
  desk: InvoiceDesk<K, Native>,
  row: Native,
  more: Beside = {},
): Entry<Native> => invoiceEntry(row, { ...more, fixed: desk.fixedIn(row) });

async function locate<K extends Kind, Native extends Row>(
  desk: InvoiceDesk<K, Native>,
  desired: readonly Desired<K>[],
  { made, compared = new Map(), purpose, signal }: Call,
): Promise<Entry<Native>[]> {
  const { guard, notes, resourceOf } = desk;
  const older = desired.filter(({ mark }) => !made.has(mark));
  const known = await guard.known(marksOf(older));
  const owners = new Map([...known].map(([mark, id]) => [id, mark]));
  const references = [...new Set(desired.flatMap(({ number }) => spellingsOf(number)))];
  const bindings = desired.flatMap(({ binding }) => binding ?? []);
  const isInspected = purpose === "inspection";
  const names = {
    marks: marksOf(desired),
    references,
    typed: isInspected ? [] : desired.flatMap(({ binding, number }) => (binding ? [] : number)),
    numbers: [...references, ...bindings],
    ids: [...owners.keys(), ...draftsIn(bindings)],
    // What stands on the other side is told by its mark, and nothing is booked beside it, also by a store that has lost its
    // link. What is void asks for its own side only.
    turned: isInspected ? [] : marksOf(older.filter(({ target }) => target !== "cancelled")),
  };
  const before = [...compared.values()].map(({ native }) => native as Native);
  const rows = await desk.search(names, signal, before);
  // Nothing is decided by half of a document.
  for (const { untold } of rows) if (untold !== undefined) throw untold;
  // Nobody has noted a dispute on what this send has just made.
  const disputes = new Set(marksOf(desired.filter(({ disputed }) => disputed)));
  const noted = rows.filter(
    ({ platformId: mark }) => mark === null || !made.has(mark) || disputes.has(mark),
  );
  const disputed = await disputedOf(notes, noted.map(resourceOf));
  const credits = isInspected ? await desk.credits(rows, signal) : null;
  return rows.map((row) => {
    const mark = row.platformId ?? owners.get(row.id) ?? null;
    const its = credits?.get(row.id) ?? [];
    const more = { disputed: disputed.has(resourceOf(row)), credits: its };
    const entry = entryOf(desk, row, more);
    const { number: own, ...rest } = entry.facts;
    return {
      ...entry,
      mark,
      besides: isInspected ? besidesOf(row, mark, its) : [],
      ...(desk.givesNumber ? { number: numberIn(row, desired) } : {}),
      // What a person entered has the books' number, and ours as its reference.
      facts: row.made && own !== undefined ? { ...rest, number: own } : rest,
    };
  });
}

/** For reconciliation: by the names that links have, with what sources tell of them. One credited in full has ended. */
async function toldAs<K extends Kind, Native extends Row>(
  desk: InvoiceDesk<K, Native>,
  rows: readonly Native[],
  signal: AbortSignal,
): Promise<Entry<Native>[]> {
  if (rows.length === 0) return [];
  const credits = await desk.credits(rows, signal);
  const disputed = await disputedOf(desk.notes, rows.map(desk.resourceOf));
  const names = await namesOf(desk, rows, signal);
  // What was born here tells what its source does.
  const own = rows.filter(({ platformId, number }) => platformId === null && number !== null);
  const ids = own.map(({ id }) => id);
  const told = ids.length === 0 ? [] : await desk.changes(ids, signal);
  const changes = new Map(told.map((change) => [change.id, change]));
  return rows.map((row) => {
    const id = names.get(row.id) ?? row.draftName;
    const its = credits.get(row.id) ?? [];
    const change = changes.get(id) ?? null;
    const more = { id, disputed: disputed.has(desk.resourceOf(row)), credits: its, change };
    const isOver = isCreditedInFull(row, its);
    return { ...entryOf(desk, row, more), ...(isOver ? { status: "cancelled" } : {}) };
  });
}

/**
 * What links call them: the number; but where several have one number, it is the first that is not cancelled that has
 * it, and the others are named as drafts are.
 */
async function namesOf<K extends Kind, Native extends Row>(
  desk: InvoiceDesk<K, Native>,
  rows: readonly Native[],
  signal: AbortSignal,
): Promise<ReadonlyMap<number, string>> {
  const all = await desk.owners(
    rows.flatMap(({ number }) => number ?? []),
    signal,
  );
  return new Map(
    [...Map.groupBy(all, ({ number }) => number)].map(([number, same]) => {
      const owner = same.find(({ isCancelled }) => !isCancelled) ?? same[0];
      return [owner?.id ?? 0, number] as const;
    }),
  );
}
