/**
 * Both sides as they are now: platform, books, platform again. Versions never return, so what the platform shows before
 * and after the books were read was so while they were read. What moved meanwhile is read again, twice at most.
 */
import { compare } from "../../ledger/compare.ts";
import { SourceUnavailable } from "../../core/errors.ts";
import {
  type Holding,
  type HoldingKind,
  identityOf,
  type Lacking,
  type Period,
  roles,
  type Scope,
} from "../../core/holdings.ts";
import type { Side } from "../../reconcile/case.ts";
import type { ListCount } from "../../reconcile/judge.ts";
import type { Asked, KindPlan } from "./plan.ts";

/** Records of both sides by side, kind and id, each once, as last read. */
export class Rows {
  readonly #rows = new Map<string, { readonly side: Side; readonly holding: Holding }>();

  /** False when it is known already, just so. */
  put(side: Side, holding: Holding): boolean {
    const key = keyOf(side, holding.kind, identityOf(holding));
    const known = this.#rows.get(key)?.holding;
    // A list may show an older version after a newer one.
    if (known?.version && holding.version && holding.version < known.version) return false;
    this.#rows.set(key, { side, holding });
    return known === undefined || !isSame(known, holding);
  }

  /** What the side calls so, but for these; how many there were. */
  dropBut(side: Side, kind: HoldingKind, id: string, found: ReadonlySet<string>): number {
    const gone = identitiesOf(kind, id).filter(
      (one) => !found.has(one) && this.#rows.delete(keyOf(side, kind, one)),
    );
    return gone.length;
  }

  dropKind(kind: HoldingKind): void {
    for (const [key, { holding }] of this.#rows) if (holding.kind === kind) this.#rows.delete(key);
  }

  /** @param id or the identity */
  has(side: Side, kind: HoldingKind, id: string): boolean {
    return identitiesOf(kind, id).some((one) => this.#rows.has(keyOf(side, kind, one)));
  }

  of(side: Side): Holding[] {
    return [...this.#rows.values()].flatMap((row) => (row.side === side ? [row.holding] : []));
  }
}

/** @param id what {@link identityOf} tells */
export const keyOf = (side: Side, kind: HoldingKind, id: string): string => `${side} ${kind} ${id}`;

const identitiesOf = (kind: HoldingKind, id: string): string[] =>
  kind === "party" ? [id, ...roles.map((role) => identityOf({ id, role }))] : [id];

const isSame = (one: Holding, other: Holding): boolean =>
  one.version === other.version && compare(one.kind, one.facts, other.facts).length === 0;

export interface Reading {
  readonly rows: Rows;
  /** {@link keyOf} records that changed while they were read, and went on changing. */
  readonly moved: ReadonlySet<string>;
  readonly lists: readonly ListCount[];
  /** Kinds that a side could not tell, each with its first reason; the others were read. */
  readonly unread: ReadonlyMap<HoldingKind, Unread>;
  /** Parts of lists that could not be read, though the rest could. */
  readonly lacking: readonly (Lacking & {
    readonly endpoint: string;
    readonly kind: HoldingKind;
  })[];
}

interface Unread {
  /** The endpoint that could not tell; null: another kind, without which this one cannot be matched. */
  readonly endpoint: string | null;
  readonly error: SourceUnavailable;
}

interface Wanted {
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

/** What is matched by records of another kind cannot be compared without them. */
const RESTS_ON: Readonly<Partial<Record<HoldingKind, HoldingKind>>> = {
  payment: "invoice",
  "bill-payment": "bill",
};

/** A kind that a side cannot tell is left out, and the others are read. @throws SourceUnavailable when it was stopped */
export async function readBoth(wanted: Wanted, signal: AbortSignal): Promise<Reading> {
  const { plans, period } = wanted;
  const rows = new Rows();
  const lists: ListCount[] = [];
  const unread = new Map<HoldingKind, Unread>();
  const lacking = new Map<string, Reading["lacking"][number]>();
  const leave = (kind: HoldingKind, endpoint: string, error: SourceUnavailable): void => {
    unread.set(kind, { endpoint, error });
    rows.dropKind(kind);
    for (const { kind: other } of plans) {
      if (RESTS_ON[other] !== kind || unread.has(other)) continue;
      unread.set(other, { endpoint: null, error });
      rows.dropKind(other);
    }
  };
  const read = async (side: Side, kinds: readonly KindPlan[], scope: Scope, count: boolean) => {
    const began = wanted.now().toISOString();
    const changed = new Set<string>();
    let from: string | null = null;
    for (const plan of kinds) {
      for (const one of askedOn(side, plan)) {
        if (unread.has(plan.kind)) break;
        const list = { side, kind: plan.kind, scope, rows, changed };
        try {
          let read = await readList(list, one, wanted, signal);
          // Records may slide past while a list is read; what is missing twice is said.
          if (count && isShort(read)) read = await readList(list, one, wanted, signal);
          if (count) lists.push(read);
          for (const part of read.lacking)
            lacking.set(`${plan.kind} ${one.endpoint} ${part.what}`, {
              ...part,
              kind: plan.kind,
              endpoint: one.endpoint,
            });
          if (from === null || (read.serverTime !== null && read.serverTime < from))
            from = read.serverTime;
        } catch (error) {
          if (!(error instanceof SourceUnavailable) || signal.aborted) throw error;
          leave(plan.kind, one.endpoint, error);
        }
      }
    }
    return { changed, since: earlier(from ?? began) };
  };

  let platform = await read("platform", plans, wholeOf(period), true);
  let books = await read("books", plans, wholeOf(period), true);
  const bounded = plans.filter(({ kind }) => !UNBOUNDED.has(kind));
  for (let round = 1; ; round++) {
    platform = await read("platform", bounded, changedSince(platform.since), false);
    if (platform.changed.size === 0 || round === ROUNDS)
      return { rows, moved: platform.changed, lists, unread, lacking: [...lacking.values()] };
    books = await read("books", plans, changedSince(books.since), false);
  }
}

const wholeOf = (period: Period | null): Scope =>
  period === null ? changedSince(EPOCH) : { dated: period, changedSince: null, open: true };

const changedSince = (since: string): Scope => ({ dated: null, changedSince: since, open: false });

const earlier = (instant: string): string =>
  new Date(Date.parse(instant) - OVERLAP_MS).toISOString();

const askedOn = (side: Side, { platform, books }: KindPlan): readonly Asked[] =>
  side === "books" ? books : platform === null ? [] : [platform];

interface Into {
  readonly side: Side;
  readonly kind: HoldingKind;
  readonly scope: Scope;
  readonly rows: Rows;
  readonly changed: Set<string>;
}

interface Read extends ListCount {
  /** At its first page. */
  readonly serverTime: string | null;
  readonly lacking: readonly Lacking[];
}

const isShort = ({ total, distinct }: Read): boolean => total !== null && total !== distinct;

async function readList(
  { side, kind, scope, rows, changed }: Into,
  { endpoint, holdings }: Asked,
  { progress }: Wanted,
  signal: AbortSignal,
): Promise<Read> {
  const ids = new Set<string>();
  let total: number | null = null;
  let serverTime: string | null = null;
  const lacking: Lacking[] = [];
  for await (const page of holdings.list(kind, scope, null, signal)) {
    lacking.push(...(page.lacking ?? []));
    total = page.total ?? total;
    serverTime ??= page.serverTime;
    for (const holding of page.holdings) {
      ids.add(identityOf(holding));
      if (rows.put(side, holding)) changed.add(keyOf(side, kind, identityOf(holding)));
    }
    progress?.(side, kind, ids.size);
  }
  return { side, kind, what: `of "${endpoint}"`, total, distinct: ids.size, serverTime, lacking };
}

/**
 * Single records as they are now: what is not there any more is taken out. More than {@link SINGLE_MAX} at once are read
 * as a list again. @throws SourceUnavailable
 */
export async function readAgain(
  rows: Rows,
  side: Side,
  plan: KindPlan,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const { kind } = plan;
  const asked = askedOn(side, plan);
  if (asked.length === 0 || ids.length === 0) return false;
  const found = new Set<string>();
  let changed = false;
  const take = (holding: Holding): void => {
    found.add(identityOf(holding));
    if (rows.put(side, holding)) changed = true;
  };
  for (const { holdings } of asked) {
    if (side === "books" || ids.length <= SINGLE_MAX)
      for (const holding of await holdings.get(kind, ids, signal)) take(holding);
    else {
      for await (const page of holdings.list(kind, changedSince(EPOCH), null, signal))
        for (const holding of page.holdings) if (ids.includes(holding.id)) take(holding);
    }
  }
  for (const id of ids) if (rows.dropBut(side, kind, id, found) > 0) changed = true;
  return changed;
}

/** Records of any day by their numbers. True when any is not as it was read. @throws SourceUnavailable */
export async function readNamed(
  rows: Rows,
  side: Side,
  plan: KindPlan,
  numbers: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  let changed = false;
  if (numbers.length === 0) return changed;
  for (const { holdings } of askedOn(side, plan))
    for (const holding of (await holdings.named?.(plan.kind, numbers, signal)) ?? [])
      if (rows.put(side, holding)) changed = true;
  return changed;
}

/** Single reads of the platform in one run, of a kind. */
const SINGLE_MAX = 200;
