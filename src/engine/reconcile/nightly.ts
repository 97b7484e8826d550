/**
 * The daemon's own reconciliation (ADR 0011): so many days back every night, everything once a month, and once more a
 * quarter of an hour later where something differs, for a difference is told only when a second run confirms it. Where
 * the month's share does not suffice, the runs are further apart, and it says so. Whatever can be compared, every feed of
 * the platform is read anew each night for what was committed late (plan.ts), and again within the hour where that failed.
 */
import { type AuditPace, auditPace, type Budget } from "../../core/budget.ts";
import { ConfigurationError, FuelbridgeError, SourceUnavailable } from "../../core/errors.ts";
import {
  type Day,
  type Difference,
  type Holdings,
  isProgress,
  type Period,
} from "../../core/holdings.ts";
import type { Fault } from "../../core/record.ts";
import { LATE_MS } from "../../core/watermark.ts";
import { agreeing, type Bucket, isOpen, isPaidInPart, moneyKinds } from "../../reconcile/case.ts";
import type { DifferenceRow, Found, SweepRow } from "../../store/reconciliation.ts";
import { audit, endpointOf, type Engine, type Flow, type Schedule } from "../engine.ts";
import { nextDue, nightsAfter } from "../schedule.ts";
import {
  carriesRole,
  costOf,
  type Endpoints,
  isAskable,
  markWalked,
  monthOf,
  planOf,
  platformWalks,
  sideOf,
  takeLate,
  walkAllDeeply,
} from "./plan.ts";
import { WAIT_MS } from "../../core/contract.ts";
import { type Clock, DAY_MS, isWithin } from "../../core/time.ts";
import type { CaseRow, Report } from "../../reconcile/report.ts";
import {
  type Audit,
  type Question,
  type Reconciled,
  reconcileSides,
  scopeOf,
} from "./reconcile.ts";
import { Decimal } from "../../core/decimal.ts";
import { holdingKindOf } from "../../core/kinds.ts";
import { arrivedAfterAll, moved } from "../deliver.ts";
import { type Compared, digestOf, settleDifferences } from "../delivered.ts";
import type { StoredRequest } from "../../store/requests.ts";

interface NightlyOptions {
  readonly schedule: Schedule;
  /** Company days that a nightly run looks back. */
  readonly days: number;
  /** Its share of the month is how much it may cost. */
  readonly budget: Pick<Budget, "perMonth" | "share">;
  /** How late a record may be committed, ms, and still be found. Left out: 7 days. */
  readonly lateMs?: number;
  /** Compares the papers that are stored by then (engine/match.ts). Left out: they are not. */
  readonly match?: () => Promise<unknown>;
}

/** Who asked, in the store: a run, and the one that confirms it. */
export const DAEMON = "daemon";
export const AGAIN = "daemon, to confirm";
const NIGHTLY = "nightly";
const EVERYTHING = "everything";
const RETRY_MS = 3_600_000;
/** What failed is tried again together: parts that failed one after the other do not each have an hour of their own. */
const TOGETHER_MS = 10 * 60_000;
/** Between two runs, at most ({@link auditPace}). */
const NIGHTS_MAX = 7;
/** Whatever goes wrong, one run does not follow on the heels of another. */
const REST_MS = 60_000;

export class Nightly {
  readonly #engine: Engine;
  readonly #auditor: Auditor;
  readonly #options: NightlyOptions;
  /** The first night is the first one after the store began, though the process may not run in any night. */
  readonly #sinceMs: number;
  #running: Promise<void> | null = null;
  #endedMonoMs = -Infinity;
  /** What was reckoned after these runs: it costs counts over all records. */
  #reckoned: { readonly after: string; readonly dueMs: number } | null = null;

  constructor(engine: Engine, auditor: Auditor, options: NightlyOptions) {
    this.#engine = engine;
    this.#auditor = auditor;
    this.#options = options;
    this.#sinceMs = engine.store.journal.firstAt() ?? engine.clock.now().wallMs;
  }

  /** How often it can run within its share of the month. */
  pace(): AuditPace {
    const [nightly, sweep] = [this.#period(false), this.#period(true)].map((period) =>
      this.#auditor.cost({ period, flow: null }),
    ) as [number, number];
    return auditPace(this.#options.budget, { nightly, sweep, perMonth: nightly * 31 + sweep });
  }

  /** When the next run is due, ms UTC: a comparison, or a feed that is read anew. */
  dueMs(): number {
    const walks = platformWalks(this.#engine).map(({ flow }) => this.#walkDueMs(flow));
    return Math.min(this.#compareDueMs(), ...walks);
  }

  #walkDueMs({ flow }: Flow): number {
    const last = this.#engine.store.sweeps.deepWalk(flow);
    if (last !== null && last.failedMs !== null) return this.#bounded(last.failedMs + RETRY_MS);
    return this.#bounded(nextDue(this.#options.schedule, last?.walkedMs ?? this.#sinceMs));
  }

  #compareDueMs(): number {
    const { sweeps } = this.#engine.store;
    const [last, again] = [sweeps.lastBy(DAEMON), sweeps.lastBy(AGAIN)];
    const after = [last, again].map((row) => `${row?.sweep} ${row?.state}`).join();
    if (this.#reckoned?.after !== after)
      this.#reckoned = { after, dueMs: this.#reckon(last, again) };
    return this.#bounded(this.#reckoned.dueMs, NIGHTS_MAX);
  }

  #reckon(last: SweepRow | null, again: SweepRow | null): number {
    const { schedule } = this.#options;
    if (last === null) return nextDue(schedule, this.#sinceMs);
    const next = nightsAfter(schedule, last.startedMs, this.pace().everyNights);
    if (last.state !== "done") return Math.min(next, last.startedMs + RETRY_MS);
    return this.#isToConfirm(last, again) ? Math.min(next, (last.endedMs ?? 0) + SETTLE_MS) : next;
  }

  /** Differences were seen once, and no run has confirmed them since. */
  #isToConfirm(last: SweepRow, again: SweepRow | null): boolean {
    const { sweeps } = this.#engine.store;
    const isDone = again !== null && again.sweep > last.sweep;
    const isSeen = sweeps.inState("seen").some(({ bucket }) => telling.has(bucket as Bucket));
    return last.state === "done" && isSeen && !isDone;
  }

  /** Runs when due. `ended` is told, with what stops the daemon; `stirred`: deliveries have become possible. */
  start(ended: (error: Error | null, stirred: boolean) => void, signal: AbortSignal): number {
    const { clock } = this.#engine;
    if (this.#running !== null || this.#auditor.isRunning) return Infinity;
    const now = clock.now().wallMs;
    const sinceMs = clock.now().monoMs - this.#endedMonoMs;
    if (sinceMs < REST_MS) return REST_MS - sinceMs;
    const due = this.dueMs();
    if (due > now) return due - now;
    this.#running = this.#run(signal).then(
      (stirred) => this.#end(() => ended(null, stirred)),
      (error: unknown) => this.#end(() => ended(error as Error, false)),
    );
    return Infinity;
  }

  /** A time further off than the schedule ever waits was reckoned from a clock that was ahead: then it is due now. */
  #bounded(dueMs: number, nights = 1): number {
    const now = this.#engine.clock.now().wallMs;
    const mostMs = Math.max(nightsAfter(this.#options.schedule, now, nights), now + RETRY_MS);
    return dueMs <= mostMs ? dueMs : now;
  }

  #isDue(due: number, now: number, hasFailed: boolean): boolean {
    return due <= now + (hasFailed ? TOGETHER_MS : 0);
  }

  /** Resolves when nothing of it is under way any more. */
  async stop(): Promise<void> {
    await this.#auditor.close();
    await this.#running;
  }

  #end(tell: () => void): void {
    this.#running = null;
    this.#endedMonoMs = this.#engine.clock.now().monoMs;
    tell();
  }

  /** The comparison reads most feeds itself, as deep as they need; where it must wait for somebody, they do not wait for it. */
  async #run(signal: AbortSignal): Promise<boolean> {
    const now = this.#engine.clock.now().wallMs;
    const hasFailed = this.#engine.store.sweeps.lastBy(DAEMON)?.state === "failed";
    const isDue = this.#isDue(this.#compareDueMs(), now, hasFailed);
    const waits = this.#auditor.absent().length > 0;
    let received = isDue && !waits ? 0 : await this.#walkDeeply(signal);
    const stirred = isDue && (await this.#compare());
    received += await this.#walkDeeply(signal);
    if (isDue && !signal.aborted) await this.#match();
    return stirred || received > 0;
  }

  async #match(): Promise<void> {
    const { store, note } = this.#engine;
    try {
      await this.#options.match?.();
    } catch (error) {
      const told = store.told(error);
      if (told instanceof FuelbridgeError && !(told instanceof ConfigurationError)) throw told;
      note("matching failed", { error: told });
    }
  }

  async #compare(): Promise<boolean> {
    const { note, store } = this.#engine;
    const last = store.sweeps.lastBy(DAEMON);
    const again = store.sweeps.lastBy(AGAIN);
    const now = this.#engine.clock.now().wallMs;
    const isRecent = last !== null && now - last.startedMs < DAY_MS / 2;
    const confirms = isRecent && this.#isToConfirm(last, again);
    const isSweep = confirms ? last.scope === EVERYTHING : this.#isSweepDue(now);
    const question = {
      period: this.#period(isSweep),
      flow: null,
      askedBy: confirms ? AGAIN : DAEMON,
      name: isSweep ? EVERYTHING : NIGHTLY,
    };
    try {
      const { report, stirred } = await this.#auditor.settle(question);
      const open = store.sweeps.inState("open").length;
      note("reconciled by itself", { agrees: report.agrees, differences: open, again: confirms });
      return stirred;
    } catch (error) {
      const told = store.told(error);
      // A side that cannot be read, or a table that is being edited: the next run begins anew.
      if (told instanceof FuelbridgeError && !(told instanceof ConfigurationError)) throw told;
      note("reconciliation failed", { error: told });
      return false;
    }
  }

  /** Feeds that are due and that no comparison has read. */
  async #walkDeeply(signal: AbortSignal): Promise<number> {
    const engine = this.#engine;
    const now = engine.clock.now().wallMs;
    const due = platformWalks(engine)
      .filter(({ flow }) => {
        const hasFailed = (engine.store.sweeps.deepWalk(flow.flow)?.failedMs ?? null) !== null;
        return this.#isDue(this.#walkDueMs(flow), now, hasFailed);
      })
      .map(({ flow }) => flow);
    return walkAllDeeply(engine, due, this.#options, signal);
  }

  /** A new month has begun since the last one, or as many as its share allows; or a clock was ahead at the last one. */
  #isSweepDue(now: number): boolean {
    const last = this.#engine.store.sweeps.last(EVERYTHING);
    if (last === null) return true;
    const months = monthOf(now) - monthOf(last.startedMs);
    return months < 0 || months >= this.pace().everyMonths;
  }

  /** So many days back, and to the last run that ended well where that is longer. */
  #period(isSweep: boolean): Period | null {
    if (isSweep) return null;
    const { sweeps } = this.#engine.store;
    const to = this.#auditor.today();
    const usual = Date.parse(`${to}T00:00:00Z`) - this.#options.days * DAY_MS;
    const done = [NIGHTLY, EVERYTHING].map((scope) => sweeps.last(scope)?.startedMs ?? 0);
    const last = Math.max(...done);
    const since = last === 0 ? usual : last - (this.#options.lateMs ?? LATE_MS);
    const from = new Date(Math.min(usual, since));
    return { from: from.toISOString().slice(0, 10), to };
  }
}

// Reconciliations of this process, one at a time: for people who ask, and for the daemon's own.

export class Auditor {
  readonly #engine: Engine;
  readonly #audit: Audit;
  readonly #awaiting: Awaiting;
  readonly #stop = new AbortController();
  #running: Promise<unknown> | null = null;
  #askedBy = "";

  constructor(engine: Engine, audit: Audit) {
    this.#engine = engine;
    this.#audit = audit;
    this.#awaiting = new Awaiting(audit.endpoints, engine.clock);
  }

  /** Whom the run under way waits for; null: nobody. */
  get waiting(): Waiting | null {
    return this.#awaiting.state;
  }

  /** Endpoints that call us, that a run would ask and that are not there now. */
  absent(flow: string | null = null): string[] {
    const plans = planOf(this.#engine, this.#audit.endpoints, flow).filter(isAskable);
    return this.#awaiting.absent([
      ...new Set(plans.flatMap(({ books }) => books.map(({ endpoint }) => endpoint))),
    ]);
  }

  /** Who would be waited for, and how long at most. */
  awaited(flow: string | null): { readonly absent: readonly string[]; readonly atMostMs: number } {
    return { absent: this.absent(flow), atMostMs: this.#audit.waitMs ?? WAIT_MS };
  }

  /** An endpoint that calls us is there: who waits for it goes on. */
  arrived(): void {
    this.#awaiting.arrived();
  }

  /** Requests to the platform that it will take, about. */
  cost({ period, flow }: Pick<Question, "period" | "flow">): number {
    return costOf(
      this.#engine,
      planOf(this.#engine, this.#audit.endpoints, flow),
      period?.from ?? null,
    );
  }

  /** The company's calendar day now. */
  today(): Day {
    return this.#engine.dayOf(new Date(this.#engine.clock.now().wallMs).toISOString());
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** @throws SourceUnavailable when a side cannot be read whole, or another one runs */
  async reconcile(question: Question): Promise<Report> {
    return (await this.#run(question, false)).report;
  }

  /** The daemon's own: what it finds has consequences. @throws SourceUnavailable */
  settle(question: Question): Promise<Kept> {
    return this.#run(question, true);
  }

  async #run(question: Question, settles: boolean): Promise<Kept> {
    if (this.#running !== null) throw this.#busy();
    this.#askedBy = question.askedBy;
    const running = this.#reconcile(question, settles).finally(() => (this.#running = null));
    this.#running = running;
    return running;
  }

  /** Whoever is not there is waited for, and what was read of the platform does not grow old meanwhile. */
  async #reconcile(question: Question, settles: boolean): Promise<Kept> {
    const { signal } = this.#stop;
    const { waitMs = WAIT_MS } = this.#audit;
    const untilMs = this.#engine.clock.now().wallMs + waitMs;
    await this.#awaiting.forAll(this.absent(question.flow), untilMs, signal);
    const audit = { ...this.#audit, endpoints: this.#awaiting.patient(untilMs) };
    return keptReconciliation(this.#engine, audit, question, settles, signal);
  }

  #busy(): SourceUnavailable {
    const { waiting } = this;
    return waiting === null
      ? new SourceUnavailable(`Another reconciliation is running (asked by ${this.#askedBy}).`, {
          next: "Wait until it has ended, then ask again.",
        })
      : new SourceUnavailable(
          `A reconciliation (asked by ${this.#askedBy}) waits for "${waiting.endpoint}" since ${waiting.since}, until ${waiting.until} at most: ${waiting.message}`,
          { next: waiting.next },
        );
  }

  /** Stops what is under way between two requests. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running?.catch(() => {});
  }
}

// Books that call us (ADR 0017) are there only while they call. A reconciliation waits for them as sends do: before it
// asks the platform, and where a session ends in the middle of a reading. After a limit it goes on without them.

/** Who is waited for, since when, and how long at most. */
interface Waiting {
  readonly endpoint: string;
  /** ISO 8601 UTC, both. */
  readonly since: string;
  readonly until: string;
  /** What is known of why it is not there, and what a person can do. */
  readonly message: string;
  readonly next: string;
}

/** How often the same is asked that brought nothing: what fails in each session fails for another reason. */
const TRIES = 5;
/** One that announces itself ends the pause; else it is asked again so often. */
const LOOK_MS = 60_000;

class Awaiting {
  readonly #endpoints: Endpoints;
  readonly #clock: Clock;
  #stir = new AbortController();
  #state: Waiting | null = null;

  constructor(endpoints: Endpoints, clock: Clock) {
    this.#endpoints = endpoints;
    this.#clock = clock;
  }

  /** Null: nobody is waited for. */
  get state(): Waiting | null {
    return this.#state;
  }

  /** Endpoints that call us and are not there now. */
  absent(names: readonly string[]): string[] {
    return names.filter((name) => this.#endpoints.get(name)?.presence?.().isHere === false);
  }

  /** An endpoint that calls us is there. */
  arrived(): void {
    this.#stir.abort();
    this.#stir = new AbortController();
  }

  /** Resolves when all of them are there, or at `untilMs` (wall clock); true: they are. */
  async forAll(names: readonly string[], untilMs: number, signal: AbortSignal): Promise<boolean> {
    let isThere = true;
    for (const name of names) isThere = (await this.#for(name, untilMs, signal)) && isThere;
    return isThere;
  }

  /** The same endpoints, whose holdings wait for one that has left and go on where they were. */
  patient(untilMs: number): Endpoints {
    return new Map(
      [...this.#endpoints].map(([name, endpoint]) => [
        name,
        endpoint.presence === undefined || endpoint.holdings === undefined
          ? endpoint
          : { ...endpoint, holdings: this.#patient(name, endpoint.holdings, untilMs) },
      ]),
    );
  }

  #patient(name: string, holdings: Holdings, untilMs: number): Holdings {
    // It may be there again already, in a session that knows nothing of what the one before was asked.
    const back = async (error: unknown, tries: number, signal: AbortSignal): Promise<void> => {
      const isGone = error instanceof SourceUnavailable && tries < TRIES;
      if (!isGone || signal.aborted || !(await this.#for(name, untilMs, signal))) throw error;
    };
    const again = async <Result>(work: () => Promise<Result>, signal: AbortSignal) => {
      for (let tries = 1; ; tries++)
        try {
          return await work();
        } catch (error) {
          await back(error, tries, signal);
        }
    };
    return {
      strength: holdings.strength,
      async *list(kind, scope, from, signal) {
        let tries = 0;
        for (let at = from; ;)
          try {
            for await (const page of holdings.list(kind, scope, at, signal)) {
              yield page;
              at = page.position;
              tries = 0;
            }
            return;
          } catch (error) {
            await back(error, ++tries, signal);
          }
      },
      get: (kind, ids, signal) => again(() => holdings.get(kind, ids, signal), signal),
      expect: (kind, items, signal) => again(() => holdings.expect(kind, items, signal), signal),
      named: (kind, numbers, signal) =>
        again(async () => (await holdings.named?.(kind, numbers, signal)) ?? [], signal),
      control: (kind, signal) =>
        again(async () => (await holdings.control?.(kind, signal)) ?? [], signal),
    };
  }

  async #for(name: string, untilMs: number, signal: AbortSignal): Promise<boolean> {
    const endpoint = this.#endpoints.get(name);
    if (endpoint?.check === undefined) return false;
    const since = this.#iso();
    try {
      while (!signal.aborted) {
        const stirred = this.#stir.signal;
        try {
          await endpoint.check(signal);
          return true;
        } catch (error) {
          if (!(error instanceof SourceUnavailable)) throw error;
          const { message, next } = error;
          const until = new Date(untilMs).toISOString();
          this.#state = { endpoint: name, since, until, message, next };
        }
        const leftMs = untilMs - this.#clock.now().wallMs;
        if (leftMs <= 0) return false;
        await this.#clock.pause(Math.min(LOOK_MS, leftMs), AbortSignal.any([signal, stirred]));
      }
      return false;
    } finally {
      this.#state = null;
    }
  }

  #iso(): string {
    return new Date(this.#clock.now().wallMs).toISOString();
  }
}

// What a run leaves in the store: how it ended, the differences that are known, and which flows agree.

interface Kept {
  readonly report: Report;
  /** Deliveries that have become possible by it: flows look at what they have pending. */
  readonly stirred: boolean;
}

/**
 * A reconciliation whose run the store keeps. A process that ends meanwhile leaves a failed run, and the next one begins
 * anew: nothing was judged. `settles`: confirmed differences go to a person, undecided requests are settled, and records
 * that were committed late are taken in. @throws SourceUnavailable when a side cannot be read whole
 */
export async function keptReconciliation(
  engine: Engine,
  audit: Audit,
  question: Question,
  settles: boolean,
  signal: AbortSignal,
): Promise<Kept> {
  const { store, clock } = engine;
  const at = (): number => clock.now().wallMs;
  const sweep = store.transaction(() =>
    store.sweeps.begin({ ...question, scope: scopeOf(question) }, at()),
  );
  const spent = audit.spent();
  const requests = (): number => Math.max(audit.spent() - spent, 0);
  const walks = platformWalks(engine);
  const beganMs = at();
  let reconciled: Reconciled;
  try {
    reconciled = await reconcileSides(engine, audit, question, signal);
  } catch (error) {
    const detail = (error as Error).message;
    const failed = { state: "failed", counts: null, agrees: null, detail, unasked: null } as const;
    const ended = { sweep, requests: requests(), endedMs: at(), ...failed };
    store.transaction(() => store.sweeps.end(ended));
    throw error;
  }
  const { report, told, walked } = reconciled;
  const settled = store.transaction(() => {
    const counts = report.controls.map(({ side, kind, count }) => ({ side, kind, count }));
    store.sweeps.end({
      sweep,
      state: report.state,
      endedMs: at(),
      counts: JSON.stringify(counts),
      agrees: report.agrees ? 1 : 0,
      detail: report.failures[0] ?? null,
      unasked: JSON.stringify(report.unasked),
      requests: requests(),
    });
    if (report.state === "failed") return 0;
    const earlier = earlierOf(engine, report);
    const seen = keepDifferences(engine, report, sweep, at());
    for (const flow of engine.flows) keepAgreement(engine, flow, report, at());
    if (!settles) return 0;
    const opened = new Set(seen.flatMap(({ row, known }) => (isConfirmed(known) ? [row] : [])));
    for (const { row, known } of seen)
      if (opened.has(row)) store.sweeps.setState(known.difference, "open");
    settleCases(engine, report, opened);
    return settleUndecided(engine, report, earlier);
  });
  const late = settles && report.state === "done" ? takeLate(engine, told, beganMs) : 0;
  if (settles && report.state === "done")
    store.transaction(() =>
      markWalked(engine, audit, { walks, kinds: walked, period: question.period }),
    );
  return { report, stirred: settled + late > 0 };
}

/** What the last run left about the cases of this one. */
function earlierOf({ store }: Engine, { cases }: Report): Map<CaseRow, DifferenceRow> {
  const found = new Map<CaseRow, DifferenceRow>();
  for (const row of cases) {
    if (agreeing.has(row.bucket)) continue;
    const known = store.sweeps.find(row.kind, row.key);
    if (known !== null) found.set(row, known);
  }
  return found;
}

function keepDifferences(
  { store }: Engine,
  report: Report,
  sweep: number,
  at: number,
): { readonly row: CaseRow; readonly known: DifferenceRow }[] {
  const { sweeps } = store;
  const judged = new Set(report.strength.map(({ kind }) => kind as string));
  // What is in no case any more is on neither side.
  const cleared = new Map(
    sweeps
      .standing()
      .filter(({ kind }) => judged.has(kind))
      .map((row) => [`${row.kind} ${row.key}`, row]),
  );
  const wrong = report.cases.filter(({ bucket }) => !agreeing.has(bucket));
  for (const { kind, key } of wrong) cleared.delete(`${kind} ${key}`);
  for (const { difference } of cleared.values()) sweeps.setState(difference, "cleared");
  return wrong.map((row) => {
    const known = sweeps.see(foundIn(row), sweep, at);
    if (row.bucket === "accepted") sweeps.setState(known.difference, "accepted");
    return { row, known };
  });
}

function foundIn(row: CaseRow): Found {
  const { kind, key, bucket, digest, number, cause } = row;
  return {
    kind,
    key,
    bucket,
    digest: digest ?? "",
    number,
    code: cause?.code ?? bucket,
    cause: cause?.message ?? bucket,
    next: cause?.next ?? "",
    row: JSON.stringify(row),
  };
}

/** Every case that began on the side which the flow reads. */
function keepAgreement({ store }: Engine, flow: Flow, { cases }: Report, at: number): void {
  const kind = holdingKindOf(flow.mapping.kind);
  const own = cases.filter(
    ({ kind: its, began, records }) =>
      its === kind &&
      began === sideOf(flow) &&
      records[began].some((record) => carriesRole(flow, record)),
  );
  if (kind === null || own.length === 0 || own.some(isOpen)) return;
  const equal = own.filter(({ bucket }) => bucket === "equal");
  const sum = Decimal.sum(equal.map(({ amount }) => Decimal.of(amount.platform))).fixed(2);
  store.sweeps.agreed(flow.flow, equal.length, moneyKinds.has(kind) ? sum : null, at);
}

// What follows from a run of the daemon's own: a difference that a second run confirms goes to a person, and back when
// both sides agree again; a request of which nobody could tell whether it arrived is settled by what both sides show.

/** The settling time of the slowest sink: a write shows after it. */
export const SETTLE_MS = 15 * 60_000;
/** How long the platform keeps a key whose outcome is unknown (specification part 4, W5), and clocks that differ. */
const KEY_MS = 25 * 3_600_000;

export const telling: ReadonlySet<Bucket> = new Set([
  "twice",
  "differs",
  "only on the platform",
  "only in the ERP",
]);

/** Is a difference that was seen before still the same, long enough after? */
const isConfirmed = ({ state, bucket, firstMs, lastMs }: DifferenceRow): boolean =>
  state === "seen" && telling.has(bucket as Bucket) && !isWithin(firstMs, SETTLE_MS, lastMs);

/** `opened`: cases that are confirmed differences now. Inside a transaction. */
function settleCases(engine: Engine, { cases }: Report, opened: ReadonlySet<CaseRow>): void {
  const { store } = engine;
  for (const flow of engine.flows) {
    const kind = holdingKindOf(flow.mapping.kind);
    const told = new Set(store.disagreements.ofFlow(flow.flow, "reconciliation", MANY));
    const compared = cases.flatMap((row): Compared[] => {
      if (row.kind !== kind || row.began !== sideOf(flow)) return [];
      const records = row.records[row.began].filter((record) => carriesRole(flow, record));
      const isTold = records.some(({ id }) => told.has(id));
      if (!opened.has(row) && !(isTold && row.bucket !== "waiting")) return [];
      const link = records
        .map(({ id }) => store.links.find(flow.mapping.kind, flow.side, id))
        .find((found) => found !== null);
      const fault = isPaidInPart(row) ? (row.cause as Fault) : null;
      return link ? [{ link, differences: differencesOf(row), fault }] : [];
    });
    const opening = settleDifferences(engine, flow, compared, "reconciliation");
    if (opening > 0) engine.note("differs", { flow: flow.name, documents: opening });
  }
}

const MANY = 100_000;

/**
 * A person resolves what a run or a list has told of a record: the difference is accepted with the values that the last
 * run saw. Not with others than those that the person was told: then it is told anew. Inside a transaction.
 */
export function acceptResolved(
  { store }: Engine,
  flow: Flow,
  told: { readonly record: number; readonly recordId: string; readonly delivery: number },
): void {
  const { disagreements, links, sweeps } = store;
  const { kind } = flow.mapping;
  const held = holdingKindOf(kind);
  const ofRun = disagreements.find(told.record, "reconciliation");
  const ofList = disagreements.find(told.record, "list");
  const own = [ofRun, ofList].find((one) => one?.delivery === told.delivery) ?? null;
  const link = own === null ? null : links.find(kind, flow.side, told.recordId);
  if (own === null || link === null || held === null) return;
  const keys = [`platform:${link.platformId}`, `books:${link.erpId}`].flatMap((key) =>
    held === "party" ? [key, key.replace(":", `:${kind} `)] : [key],
  );
  for (const key of keys) {
    const known = sweeps.find(held, key);
    if (known === null || known.state === "cleared" || known.row === null) continue;
    const isAsTold = own !== ofRun || digestOf(differencesOf(JSON.parse(known.row))) === own.digest;
    if (isAsTold) sweeps.setState(known.difference, "accepted");
  }
}

/** Toward the side that received it. */
function differencesOf({ bucket, began, differences }: CaseRow): Difference[] {
  if (agreeing.has(bucket)) return [];
  if (bucket === "only on the platform" || bucket === "only in the ERP" || differences.length === 0)
    return [{ field: "record", expected: "one", held: bucket === "twice" ? "several" : "none" }];
  return differences.map(({ field, platform, books }) =>
    began === "platform"
      ? { field, expected: platform, held: books }
      : { field, expected: books, held: platform },
  );
}

/** What a request that waits for a person turned out to be. Null: both sides contradict each other, or not yet known. */
type Outcome = "arrived" | "absent" | null;

/**
 * `earlier`: what the last run left about a case. Inside a transaction; how many were settled. A document that is not
 * there in two runs after the key's day goes again under its next key, and is looked for before that.
 */
function settleUndecided(
  engine: Engine,
  report: Report,
  earlier: ReadonlyMap<CaseRow, DifferenceRow>,
): number {
  const { store, clock } = engine;
  let settled = 0;
  for (const flow of engine.flows)
    for (const request of store.requests.open(flow.flow)) {
      const carried = store.requests.carried(request.request);
      const [one] = carried;
      if (request.machine.state !== "manual" || one === undefined || carried.length > 1) continue;
      const row = report.cases.find(
        ({ kind, began, records }) =>
          kind === holdingKindOf(flow.mapping.kind) &&
          began === sideOf(flow) &&
          records[began].some((record) => record.id === one.recordId && carriesRole(flow, record)),
      );
      if (row === undefined) continue;
      const outcome = outcomeOf(engine, flow, request, { report, row, earlier: earlier.get(row) });
      if (outcome === null) continue;
      settled++;
      if (outcome === "arrived") {
        const [other] = row.records[row.began === "platform" ? "books" : "platform"];
        const detail = `both sides show it alike at ${report.at} (reconciliation)`;
        arrivedAfterAll(engine, flow, request, [other?.id ?? null], detail);
        continue;
      }
      const detail = `"${endpointOf(flow.to)}" does not have it at ${iso(earlier.get(row)?.lastMs)} and at ${report.at}, more than a day after it was last sent: it goes again under its next key`;
      const at = clock.now();
      moved(engine, flow, request, { type: "decision", at, decision: "cancel" }, detail);
      audit(engine, flow, "absent", detail, { delivery: one.delivery });
      for (const { delivery } of carried) store.deliveries.reopen(delivery);
    }
  return settled;
}

const iso = (ms = 0): string => new Date(ms).toISOString();

function outcomeOf(
  { store, dayOf }: Engine,
  { mapping }: Flow,
  { machine, request }: StoredRequest,
  known: { report: Report; row: CaseRow; earlier: DifferenceRow | undefined },
): Outcome {
  const { report, row, earlier } = known;
  const sentMs = store.sweeps.lastSentMs(request);
  // Never sent: another document has its number. A conflict: somebody else's bytes went under our key.
  if (machine.firstSentWallMs === null || sentMs === null || machine.conflict) return null;
  const there = row.records[row.began === "platform" ? "books" : "platform"];
  if (there.length > 0) {
    const isAlike = row.differences.every(isProgress);
    return there.length === 1 && row.bucket !== "twice" && isAlike ? "arrived" : null;
  }
  const isInReach =
    report.period === null || dayOf(iso(machine.firstSentWallMs)) >= report.period.from;
  const before = earlier?.digest === row.digest ? earlier.lastMs : null;
  const isTwice =
    before !== null && before >= sentMs + KEY_MS && Date.parse(report.at) - before >= SETTLE_MS;
  // A party that shows no code of ours may be this one.
  const mayHide =
    holdingKindOf(mapping.kind) === "party" &&
    report.cases.some(
      ({ kind, records }) =>
        kind === "party" &&
        records.books.length === 0 &&
        records.platform.some(({ number }) => number === null),
    );
  return isInReach && isTwice && !mayHide && row.suspects.length === 0 ? "absent" : null;
}
