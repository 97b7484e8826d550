/**
 * One reconciliation: asks both sides as they are now, matches, maps, judges, and confirms what differs by reading it
 * once more. It writes to neither side; the store keeps what was found.
 */
import { compare, type Ignore } from "../../ledger/compare.ts";
import { holdingKindOf, type Kind } from "../../core/kinds.ts";
import {
  type Facts,
  type Holding,
  type HoldingKind,
  identityOf,
  type Lacking,
  type Period,
  roles,
  type Scope,
} from "../../core/holdings.ts";
import {
  both,
  type Case,
  isOnBoth,
  isOpen,
  inCurrency,
  type Link,
  otherSide,
  type Records,
  RESTS_ON,
  type Side,
  type Told,
} from "../../reconcile/case.ts";
import { judgeAll, type Judging } from "../../reconcile/judge.ts";
import { match } from "../../reconcile/match.ts";
import type { Alias } from "../../reconcile/nodes.ts";
import { type ListCount, reconcile, type Report, type Unasked } from "../../reconcile/report.ts";
import type { Link as StoredLink } from "../../store/deliveries.ts";
import { endpointOf, type Engine, type Flow, PLATFORM } from "../engine.ts";
import {
  type Asked,
  beganOf,
  deliveredParties,
  type Endpoints,
  goodsOfBooks,
  isAskable,
  isUntold,
  keyOf,
  type KindPlan,
  planOf,
  pricesOf,
  storedStateOf,
  storeSide,
  tell,
} from "./plan.ts";
import { SourceUnavailable } from "../../core/errors.ts";

/** What reconciliation works with besides the store. */
export interface Audit {
  readonly endpoints: Endpoints;
  readonly ignore: Ignore;
  /** Requests of purpose `audit` in this month so far. */
  readonly spent: () => number;
  /** How late a record may be committed, ms, and still be found by a deep walk. Left out: {@link LATE_MS}. */
  readonly lateMs?: number;
  /** How long it waits for one that calls us, ms. Left out: {@link WAIT_MS}. */
  readonly waitMs?: number;
}

export interface Question {
  /** Calendar days of the company; null: all that both sides hold. */
  readonly period: Period | null;
  /** A flow's name; null: every flow. */
  readonly flow: string | null;
  /** `daemon`, or who asked. */
  readonly askedBy: string;
  /** What the run is called, so that it is compared with the last one of that name; left out: its days and flow. */
  readonly name?: string;
}

/** What a run is called in the store. */
export const scopeOf = ({ period, flow, name }: Omit<Question, "askedBy">): string =>
  name ??
  [period === null ? "everything" : `${period.from}..${period.to}`, flow ?? ""].join(" ").trim();

export interface Reconciled {
  readonly report: Report;
  /** All that the platform told, also of other days. */
  readonly told: readonly Holding[];
  /** Kinds of which the platform's list was read whole within the period. */
  readonly walked: ReadonlySet<HoldingKind>;
}

/** What a side cannot tell is named and not compared. @throws SourceUnavailable when that is everything, or a reading was stopped */
export async function reconcileSides(
  engine: Engine,
  audit: Audit,
  question: Question,
  signal: AbortSignal,
): Promise<Reconciled> {
  const { clock, dayOf, currency, note } = engine;
  const now = (): Date => new Date(clock.now().wallMs);
  const all = planOf(engine, audit.endpoints, question.flow);
  const planned = all.filter(isAskable);
  const parties = partyPlan(engine, audit.endpoints, planned);
  const asking = [...parties, ...planned];
  const reading = await readBoth({ plans: asking, period: question.period, currency, now }, signal);
  const isRead = ({ kind }: KindPlan): boolean => !reading.unread.has(kind);
  const [plans, wanted] = [planned.filter(isRead), asking.filter(isRead)];
  const [nothing] = [...reading.unread.values()];
  if (plans.length === 0 && nothing !== undefined) throw nothing.error;
  const books = reading.rows.of("books");
  const alias = await pricesOf(engine, audit.endpoints, wanted, books, signal);
  const platform = reading.rows.of("platform");
  const delivered = await deliveredParties(engine, audit.endpoints, wanted, platform, signal);
  const shown = shownWith(delivered);
  const run = { engine, audit, plans, wanted, reading, shown, alias, question, signal };
  const { cases, records, judging, left } = await confirmed(run);
  note("reconciled", { scope: scopeOf(question), cases: cases.length });
  const report = reconcile({
    ...judging,
    period: question.period,
    today: dayOf(now().toISOString()),
    currency,
    records,
    cases,
    lists: reading.lists.filter(({ kind }) => plans.some((plan) => plan.kind === kind)),
    previous: previousOf(engine, question).filter(({ kind }) =>
      plans.some((one) => one.kind === kind),
    ),
    strength: plans.flatMap(({ kind, platform, books }) =>
      [platform, ...books].flatMap((asked) => {
        const strength = asked?.holdings.strength[kind];
        return asked && strength ? [{ endpoint: asked.endpoint, kind, strength }] : [];
      }),
    ),
    unasked: [
      ...all.flatMap(cannotBeAsked),
      ...engine.flows.flatMap((flow) => goodsNotTold(flow, audit.endpoints, question)),
      ...notToldIn(reading, planned, left),
    ],
    ledger: await ledgerOf(plans, signal),
  });
  return {
    report,
    told: reading.rows.of("platform"),
    walked: new Set(plans.map(({ kind }) => kind)),
  };
}

const cannotBeAsked = ({ kind, unasked }: KindPlan): Unasked[] =>
  unasked.map((endpoint) => ({ endpoint, kind, why: "its connector does not read them back" }));

/** Goods of books that cannot list them: the report says so, and it keeps nobody from agreeing in the rest. */
function goodsNotTold(flow: Flow, endpoints: Endpoints, { flow: only }: Question): Unasked[] {
  const kind = goodsOfBooks(flow);
  if (kind === null || !isUntold(flow, endpoints) || (only !== null && only !== flow.name))
    return [];
  const why =
    "These books cannot list them. " +
    "Compare the ERP's own list of them with the platform's, by number and gallons, when you close a month.";
  const endpoint = endpointOf(flow.from);
  return [{ endpoint, kind, what: `flow "${flow.name}"`, why, byNature: true }];
}

/** What a side could not tell just now, each with what to do about it. `left`: cases that were left out for it, by kind. */
function notToldIn(
  { unread, lacking }: Reading,
  plans: readonly KindPlan[],
  left: ReadonlyMap<HoldingKind, number>,
): Unasked[] {
  const kinds = plans.flatMap(({ kind, platform, books }): Unasked[] => {
    const found = unread.get(kind);
    if (found === undefined) return [];
    const { endpoint, error } = found;
    const name = endpoint ?? books[0]?.endpoint ?? platform?.endpoint ?? PLATFORM;
    const why =
      endpoint === null ? `their documents cannot be told: ${error.message}` : error.message;
    return [{ endpoint: name, kind, why, next: error.next, ...pausedIn(plans, kind) }];
  });
  const parts = lacking.flatMap(({ endpoint, kind, what, why, next, isTold }): Unasked[] =>
    unread.has(kind) || !plans.some((plan) => plan.kind === kind)
      ? []
      : [
          {
            endpoint,
            kind,
            what,
            why,
            next,
            ...(isTold ? {} : { records: left.get(kind) ?? 0 }),
            ...pausedIn(plans, kind),
          },
        ],
  );
  return [...kinds, ...parts];
}

function pausedIn(plans: readonly KindPlan[], kind: HoldingKind): Pick<Unasked, "paused"> {
  const flows = plans.filter((plan) => plan.kind === kind).flatMap((plan) => plan.flows);
  return flows.every(({ paused }) => paused) ? { paused: true } : {};
}

interface Run {
  readonly engine: Engine;
  readonly audit: Audit;
  /** Kinds to judge; `wanted`: to read. */
  readonly plans: readonly KindPlan[];
  readonly wanted: readonly KindPlan[];
  readonly reading: Reading;
  /** A row with what its side was told and does not show. */
  readonly shown: (row: Holding) => Holding;
  /** Of prices. */
  readonly alias: Alias;
  readonly question: Question;
  readonly signal: AbortSignal;
}

/** Cases, and apart from them the rows as they were read: the sums of both must tie. */
interface Chosen {
  readonly cases: readonly Case[];
  readonly records: Records;
  /** How many of a kind are not compared, for the part of the books that would hold them cannot be told. */
  readonly left: ReadonlyMap<HoldingKind, number>;
}

interface Judged extends Chosen {
  readonly judging: Judging;
}

/** Documents name parties: these are read with them, whether or not a flow carries them. */
function partyPlan(engine: Engine, endpoints: Endpoints, plans: readonly KindPlan[]): KindPlan[] {
  if (plans.length === 0 || plans.some(({ kind }) => kind === "party")) return [];
  return planOf(engine, endpoints, null).filter((plan) => plan.kind === "party" && isAskable(plan));
}

/** What the store knows as differing is asked for again, whatever its day. */
async function lookAtKnown({ engine, wanted, reading, signal }: Run): Promise<void> {
  const { sweeps } = engine.store;
  const known = sweeps.standing();
  for (const plan of wanted)
    for (const side of ["platform", "books"] as const) {
      const ids = known
        .filter(({ kind, key }) => kind === plan.kind && key.startsWith(`${side}:`))
        .map(({ key }) => key.slice(side.length + 1))
        .filter((id) => !reading.rows.has(side, plan.kind, id));
      await readAgain(reading.rows, side, plan, ids, signal);
    }
}

/**
 * First partners that are outside the period are asked for, by mark and link. Then whatever would be told as a
 * difference is read once more on both sides: a record may have been committed late, or changed unseen.
 */
async function confirmed(run: Run): Promise<Judged> {
  await lookAtKnown(run);
  const first = casesIn(run);
  const partners = await lookAgain(
    run,
    first.cases.filter((one) => !isOnBoth(one)),
    partnerIds,
  );
  const before = await judgedOf(run, partners ? casesIn(run) : first);
  const differing = judgeAll(before.cases, before.judging).filter(
    (one) => isOpen(one) && one.bucket !== "waiting",
  );
  const named = await lookByNumber(run, differing);
  const changed = await lookAgain(run, differing, ownIds);
  return withDelivered(run, named || changed ? await judgedOf(run, casesIn(run)) : before);
}

/** What was delivered since both sides were read has its link by now: the partner that it names is read, too. */
async function withDelivered(run: Run, judged: Judged): Promise<Judged> {
  const alone = judged.cases.filter((one) => !isOnBoth(one));
  const open = judgeAll(alone, judged.judging).filter(isOpen);
  if (open.length === 0) return judged;
  const lost = new Map(open.map(({ kind, key, lost: partner }) => [`${kind} ${key}`, partner]));
  const linked = casesIn(run).cases.filter((one) => {
    const before = lost.get(`${one.kind} ${one.key}`);
    return before !== undefined && (isOnBoth(one) || one.lost !== before);
  });
  if (linked.length === 0) return judged;
  await lookAgain(run, linked, partnerIds);
  return judgedOf(run, casesIn(run));
}

/**
 * What is one-sided within a period may have its partner on any other day: it is looked for by its number. A payment's
 * document is read too, on both sides, with all that pays it. True when anything is not as it was read.
 */
async function lookByNumber(run: Run, differing: readonly Case[]): Promise<boolean> {
  const { wanted, reading, question, signal } = run;
  if (question.period === null) return false;
  let changed = false;
  const look = async (side: Side, kind: HoldingKind, numbers: ReadonlySet<string>) => {
    const plan = wanted.find((one) => one.kind === kind);
    if (plan && (await readNamed(reading.rows, side, plan, [...numbers], signal))) changed = true;
  };
  const alone = differing.filter((one) => !isOnBoth(one));
  // What the books hold of the platform's goods has the platform's id written in it.
  for (const kind of ["order", "ticket"] as const) {
    const lacking = alone.filter((one) => one.kind === kind && one.books.length === 0);
    await look("books", kind, new Set(lacking.flatMap((one) => one.platform.flatMap(wordsOf))));
  }
  for (const [kind, payments] of [
    ["invoice", "payment"],
    ["bill", "bill-payment"],
  ] as const) {
    for (const side of ["platform", "books"] as const) {
      const lacking = alone.filter((one) => one.kind === kind && one[side].length === 0);
      await look(
        side,
        kind,
        new Set(lacking.flatMap((one) => one[otherSide(side)].flatMap(wordsOf))),
      );
    }
    const paying = alone.filter((one) => one.kind === payments);
    const plan = wanted.find((one) => one.kind === kind);
    if (paying.length === 0 || plan === undefined) continue;
    const ids = paying.flatMap(({ platform, lost }) => [
      ...platform.flatMap(({ facts }) => facts.words?.document ?? []),
      // A settlement has the platform's id of what it settled.
      ...(platform.length > 0 || lost === null ? [] : [lost]),
    ]);
    const own = paying.flatMap(({ books }) => books);
    const called = own.flatMap(({ pays, facts }) => pays ?? facts.words?.document ?? []);
    await look("books", kind, new Set(called));
    // What is called by no number is called by its id.
    const held = matched(run).flatMap((one) => (one.kind === kind ? one.books : []));
    const known = new Set(held.flatMap(namesOf));
    const lacking = called.filter((name) => !known.has(name));
    if (await readAgain(reading.rows, "books", plan, lacking, signal)) changed = true;
    if (await readAgain(reading.rows, "platform", plan, ids, signal)) changed = true;
    const keys = new Set(paying.map(({ key }) => key));
    const paid = (): Case[] => {
      const cases = matched(run);
      const pays = new Set(cases.flatMap((one) => (keys.has(one.key) ? one.pays : [])));
      return cases.filter((one) => one.kind === kind && pays.has(one.key));
    };
    const lone = paid().filter((one) => !isOnBoth(one));
    if (await lookAgain(run, lone, partnerIds)) changed = true;
    const named = paid().flatMap(({ books }) => books.flatMap(namesOf));
    await look("books", payments, new Set(named));
  }
  return changed;
}

/** What payments may call a document. */
const namesOf = ({ id, aliases = [], facts }: Holding): string[] => [
  id,
  ...aliases,
  ...(facts.number === undefined ? [] : [facts.number]),
];

const wordsOf = ({ facts }: Holding): string[] =>
  [facts.number, facts.words?.reference].filter((word) => word !== undefined && word !== null);

type IdsOf = (one: Case) => Readonly<Record<Side, readonly string[]>>;

const ownIds: IdsOf = (one) => both((side) => one[side].map(({ id }) => id));

const partnerIds: IdsOf = ({ platform, lost }) => {
  const ids = lost === null ? [] : [lost];
  return platform.length > 0 ? { platform: [], books: ids } : { platform: ids, books: [] };
};

/** True when anything is not as it was read. */
async function lookAgain(
  { wanted, reading, signal }: Run,
  cases: readonly Case[],
  idsOf: IdsOf,
): Promise<boolean> {
  let changed = false;
  for (const plan of wanted)
    for (const side of ["platform", "books"] as const) {
      const ids = cases.filter(({ kind }) => kind === plan.kind).flatMap((one) => idsOf(one)[side]);
      if (await readAgain(reading.rows, side, plan, ids, signal)) changed = true;
    }
  return changed;
}

/**
 * Those that the question is about. A list tells more than was asked: what only it has, of other days, is left out, from
 * the rows by the cases that are left out. A row that came into no case, or into two, stays, and the sums show it.
 */
function casesIn(run: Run): Chosen {
  const {
    engine,
    plans,
    question: { period },
  } = run;
  const records = recordsOf(run);
  const cases = matched(run);
  const { sweeps } = engine.store;
  const known = new Set(sweeps.standing().map(({ kind, key }) => `${kind} ${key}`));
  const untold = new Set(run.reading.lacking.flatMap(({ kind, isTold }) => (isTold ? [] : [kind])));
  const isUntold = (one: Case): boolean => {
    const plan = plans.find(({ kind }) => kind === one.kind);
    if (plan === undefined || !untold.has(one.kind) || one.books.length > 0) return false;
    return beganOf(engine, plan, one) === "books";
  };
  const isListed = listedIn(run, records);
  const isMeant = (one: Case): boolean =>
    isListed(one) &&
    plans.some(({ kind }) => kind === one.kind) &&
    (isOnBoth(one) || isAsked(one, period) || known.has(`${one.kind} ${one.key}`));
  const alone = cases.filter((one) => !isOnBoth(one) && isMeant(one));
  const paid = new Set(alone.flatMap(({ pays }) => pays));
  // With what pays the same: only all of it comes to a total.
  const isBeside = ({ pays, platform }: Case): boolean =>
    platform.length === 0 && pays.some((key) => paid.has(key));
  const isWanted = (one: Case): boolean => (isMeant(one) || isBeside(one)) && !isUntold(one);
  const left = cases.filter((one) => !isWanted(one));
  const notTold = Map.groupBy(left.filter(isMeant), ({ kind }) => kind);
  const rest = (side: Side): Holding[] => {
    const out = new Set(left.flatMap((one) => one[side]));
    return records[side].filter((row) => !out.has(row));
  };
  return {
    cases: cases.filter(isWanted),
    records: both(rest),
    left: new Map([...notTold].map(([kind, those]) => [kind, those.length])),
  };
}

/**
 * A list of goods in the books tells of the days from the first to the last in it: what went before is on the platform,
 * and an ERP does not list it for ever. False: a case of the platform alone that the books told once, of another day.
 */
function listedIn({ engine, plans }: Run, { books }: Records): (one: Case) => boolean {
  const days = new Map<HoldingKind, readonly string[]>();
  for (const { kind, flows } of plans)
    if (flows.some((flow) => goodsOfBooks(flow) === kind)) {
      const all = books.filter((row) => row.kind === kind);
      days.set(kind, all.flatMap(({ facts }) => facts.days?.date ?? []).toSorted());
    }
  return (one) => {
    const listed = days.get(one.kind);
    const plan = plans.find(({ kind }) => kind === one.kind);
    if (listed === undefined || plan === undefined || one.books.length > 0) return true;
    if (beganOf(engine, plan, one) !== "books") return true;
    const [first = "", last = ""] = [listed[0], listed.at(-1)];
    return one.platform.some(({ facts: { days: of } }) => {
      const day = of?.date ?? "";
      return day >= first && day <= last;
    });
  };
}

const recordsOf = ({ reading: { rows }, shown }: Run): Records => ({
  platform: rows.of("platform").map(shown),
  books: rows.of("books"),
});

/** Parties with what the platform does not show of them, as it was told last: each row once. */
function shownWith(delivered: ReadonlyMap<string, Facts>): (row: Holding) => Holding {
  const known = new Map<Holding, Holding>();
  return (row) => {
    const told = row.kind === "party" ? delivered.get(row.id)?.words : undefined;
    if (told === undefined) return row;
    const whole = known.get(row) ?? {
      ...row,
      facts: { ...row.facts, words: { ...told, ...row.facts.words } },
    };
    known.set(row, whole);
    return whole;
  };
}

/** Everything that was read. */
function matched(run: Run): Case[] {
  const records = recordsOf(run);
  return match({ records, links: linksOf(run.engine, records), alias: run.alias });
}

function isAsked({ platform, books }: Case, period: Period | null): boolean {
  return [...platform, ...books].some(({ facts: { days, state } }) => {
    const day = days?.date;
    const isOpen = state === "open" || state === "disputed";
    return period === null || !day || isOpen || (day >= period.from && day <= period.to);
  });
}

async function judgedOf(
  { engine, audit, plans, reading: { moved }, signal }: Run,
  { cases, records, left }: Chosen,
): Promise<Judged> {
  const told = await tell(engine, audit.endpoints, plans, cases, signal);
  const known = { engine, plans, moved };
  return {
    cases,
    records,
    left,
    judging: {
      told: (one): Told | null => told.get(one) ?? null,
      stored: (one) => storedStateOf(known, one),
      ignore: audit.ignore,
      now: new Date(engine.clock.now().wallMs).toISOString(),
    },
  };
}

/** What the store remembers of these records and of the parties that they name. */
function linksOf({ store, flows }: Engine, records: Records): Link[] {
  const found = new Map<string, Link>();
  const kinds = Map.groupBy(
    new Set<Kind>([...flows.map(({ mapping }) => mapping.kind), "customer", "supplier"]),
    (kind) => holdingKindOf(kind) ?? "",
  );
  const add = (kind: HoldingKind, side: Side, id: string): void => {
    for (const mapped of kinds.get(kind) ?? []) {
      const link: StoredLink | null = store.links.find(mapped, storeSide(side), id);
      if (link !== null)
        found.set(`${mapped} ${link.platformId} ${link.erpId}`, {
          kind,
          platformId: link.platformId,
          erpId: link.erpId,
          ...(mapped === "customer" || mapped === "supplier" ? { role: mapped } : {}),
        });
    }
  };
  for (const side of ["platform", "books"] as const)
    for (const { kind, id, facts } of records[side]) {
      add(kind, side, id);
      if (kind !== "party" && facts.party) add("party", side, facts.party);
    }
  return [...found.values()];
}

interface Count {
  readonly side: Side;
  readonly kind: HoldingKind;
  readonly count: number;
}

const previousOf = ({ store }: Engine, question: Question): Count[] =>
  JSON.parse(store.sweeps.last(scopeOf(question))?.counts ?? "[]") as Count[];

async function ledgerOf(plans: readonly KindPlan[], signal: AbortSignal) {
  const rows = [];
  for (const { kind, books } of plans) {
    if (kind !== "invoice" && kind !== "bill") continue;
    for (const { holdings } of books)
      for (const row of (await holdings.control?.(kind, signal)) ?? []) rows.push({ kind, ...row });
  }
  return rows;
}

// Both sides as they are now: platform, books, platform again. Versions never return, so what the platform shows before
// and after the books were read was so while they were read. What moved meanwhile is read again, twice at most.

/** Records of both sides by side, kind and id, each once, as last read. */
class Rows {
  readonly #rows = new Map<string, { readonly side: Side; readonly holding: Holding }>();
  readonly #currency: string;

  constructor(currency: string) {
    this.#currency = currency;
  }

  /** False when it is known already, just so. */
  put(side: Side, told: Holding): boolean {
    const holding = inCurrency(this.#currency, told);
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

const identitiesOf = (kind: HoldingKind, id: string): string[] =>
  kind === "party" ? [id, ...roles.map((role) => identityOf({ id, role }))] : [id];

const isSame = (one: Holding, other: Holding): boolean =>
  one.version === other.version && compare(one.kind, one.facts, other.facts).length === 0;

interface Reading {
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
  /** ISO 4217 */
  readonly currency: string;
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

/** A kind that a side cannot tell is left out, and the others are read. @throws SourceUnavailable when it was stopped */
async function readBoth(wanted: Wanted, signal: AbortSignal): Promise<Reading> {
  const { plans, period, currency } = wanted;
  const rows = new Rows(currency);
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
async function readAgain(
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
async function readNamed(
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
