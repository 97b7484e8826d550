/**
 * Both sides as they are now: platform, books, platform again. Versions never return, so what the platform shows before
 * and after the books were read was so while they were read. What moved meanwhile is read again, twice at most.
 */
import { compare } from "../../books/compare.ts";
import type { Holding, HoldingKind, Period, Scope } from "../../core/holdings.ts";
import type { Side } from "../../reconcile/case.ts";
import type { Asked, KindPlan } from "./plan.ts";

export interface Counted {
  readonly side: Side;
  readonly kind: HoldingKind;
  /** How many the list said that it has; null: it did not say. */
  readonly total: number | null;
  /** Distinct records that came. */
  readonly count: number;
}

/** Records of both sides by side, kind and id, each once, as last read. */
export class Rows {
  readonly #rows = new Map<string, { readonly side: Side; readonly holding: Holding }>();

  /** False when it is known already, just so. */
  put(side: Side, holding: Holding): boolean {
    const key = keyOf(side, holding.kind, holding.id);
    const known = this.#rows.get(key)?.holding;
    // A list may show an older version after a newer one.
    if (known?.version && holding.version && holding.version < known.version) return false;
    this.#rows.set(key, { side, holding });
    return known === undefined || !isSame(known, holding);
  }

  drop(side: Side, kind: HoldingKind, id: string): void {
    this.#rows.delete(keyOf(side, kind, id));
  }

  has(side: Side, kind: HoldingKind, id: string): boolean {
    return this.#rows.has(keyOf(side, kind, id));
  }

  of(side: Side): Holding[] {
    return [...this.#rows.values()].flatMap((row) => (row.side === side ? [row.holding] : []));
  }
}

export const keyOf = (side: Side, kind: HoldingKind, id: string): string => `${side} ${kind} ${id}`;

const isSame = (one: Holding, other: Holding): boolean =>
  one.version === other.version && compare(one.kind, one.facts, other.facts).length === 0;

export interface Reading {
  readonly rows: Rows;
  /** {@link keyOf} records that changed while they were read, and went on changing. */
  readonly moved: ReadonlySet<string>;
  readonly lists: readonly Counted[];
}

export interface Wanted {
  readonly plans: readonly KindPlan[];
  /** Null: everything that the sides hold. */
  readonly period: Period | null;
  readonly now: () => Date;
  /** Told as a list goes on. */
  readonly progress?: (side: Side, kind: HoldingKind, records: number) => void;
}

const EPOCH = "1970-01-01T00:00:00.000Z";
/** A closing walk reaches back this far: a bound may be exclusive, and what is written may show a little later. */
const OVERLAP_MS = 300_000;
const ROUNDS = 3;
/** These lists take no bound: what moved in them shows when differences are confirmed one by one. */
const UNBOUNDED: ReadonlySet<HoldingKind> = new Set(["payment", "bill-payment"]);

/** @throws SourceUnavailable */
export async function readBoth(wanted: Wanted, signal: AbortSignal): Promise<Reading> {
  const { plans, period } = wanted;
  const rows = new Rows();
  const lists: Counted[] = [];
  const whole: Scope =
    period === null
      ? { dated: null, changedSince: EPOCH, open: true }
      : { dated: period, changedSince: null, open: true };
  const read = async (side: Side, kinds: readonly KindPlan[], scope: Scope, count: boolean) => {
    const began = wanted.now();
    const changed = new Set<string>();
    for (const plan of kinds) {
      const asked = side === "platform" ? [plan.platform].flatMap((one) => one ?? []) : plan.books;
      for (const one of asked) {
        const counted = await readList({ side, kind: plan.kind, scope, rows, changed }, one, wanted, signal);
        if (count) lists.push(counted);
      }
    }
    return { changed, since: new Date(began.getTime() - OVERLAP_MS).toISOString() };
  };
  const since = (changedSince: string): Scope => ({ dated: null, changedSince, open: false });

  let platform = await read("platform", plans, whole, true);
  let books = await read("books", plans, whole, true);
  const bounded = plans.filter(({ kind }) => !UNBOUNDED.has(kind));
  for (let round = 1; ; round++) {
    platform = await read("platform", bounded, since(platform.since), false);
    if (platform.changed.size === 0 || round === ROUNDS)
      return { rows, moved: platform.changed, lists };
    books = await read("books", plans, since(books.since), false);
  }
}

interface Into {
  readonly side: Side;
  readonly kind: HoldingKind;
  readonly scope: Scope;
  readonly rows: Rows;
  readonly changed: Set<string>;
}

async function readList(
  { side, kind, scope, rows, changed }: Into,
  { holdings }: Asked,
  { progress }: Wanted,
  signal: AbortSignal,
): Promise<Counted> {
  const ids = new Set<string>();
  let total: number | null = null;
  for await (const page of holdings.list(kind, scope, null, signal)) {
    total = page.total ?? total;
    for (const holding of page.holdings) {
      ids.add(holding.id);
      if (rows.put(side, holding)) changed.add(keyOf(side, kind, holding.id));
    }
    progress?.(side, kind, ids.size);
  }
  return { side, kind, total, count: ids.size };
}

/**
 * Single records as they are now: what is not there any more is taken out. More than {@link SINGLE_MAX} at once are read
 * as a list again. @throws SourceUnavailable
 */
export async function readAgain(
  rows: Rows,
  side: Side,
  { kind, platform, books }: KindPlan,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const asked = side === "platform" ? [platform].flatMap((one) => one ?? []) : books;
  if (asked.length === 0 || ids.length === 0) return false;
  const found = new Set<string>();
  let changed = false;
  const take = (holding: Holding): void => {
    found.add(holding.id);
    if (rows.put(side, holding)) changed = true;
  };
  for (const { holdings } of asked) {
    if (side === "books" || ids.length <= SINGLE_MAX)
      for (const holding of await holdings.get(kind, ids, signal)) take(holding);
    else {
      const all: Scope = { dated: null, changedSince: EPOCH, open: true };
      for await (const page of holdings.list(kind, all, null, signal))
        for (const holding of page.holdings) if (ids.includes(holding.id)) take(holding);
    }
  }
  for (const id of ids) {
    if (found.has(id) || !rows.has(side, kind, id)) continue;
    rows.drop(side, kind, id);
    changed = true;
  }
  return changed;
}

/** Single reads of the platform in one run, of a kind. */
const SINGLE_MAX = 200;
