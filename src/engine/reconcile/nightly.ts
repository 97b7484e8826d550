/**
 * The daemon's own reconciliation (ADR 0011): so many days back every night, everything once a month, and once more a
 * quarter of an hour later where something differs, for a difference is told only when a second run confirms it. Where
 * the month's share does not suffice, the runs are further apart, and it says so. Whatever can be compared, every feed of
 * the platform is read anew each night for what was committed late (late.ts), and again within the hour where that failed.
 */
import { type AuditPace, auditPace, type Budget } from "../../core/budget.ts";
import { ConfigurationError, FuelbridgeError } from "../../core/errors.ts";
import type { Period } from "../../core/holdings.ts";
import { LATE_MS } from "../../core/watermark.ts";
import type { Bucket } from "../../reconcile/case.ts";
import type { SweepRow } from "../../store/reconciliation.ts";
import type { Engine, Flow, Schedule } from "../engine.ts";
import { nextDue } from "../schedule.ts";
import type { Auditor } from "./auditor.ts";
import { monthOf, platformWalks, walkAllDeeply } from "./late.ts";
import { SETTLE_MS, telling } from "./keep.ts";

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
/** Whatever goes wrong, one run does not follow on the heels of another. */
const REST_MS = 60_000;
const DAY_MS = 86_400_000;

export class Nightly {
  readonly #engine: Engine;
  readonly #auditor: Auditor;
  readonly #options: NightlyOptions;
  readonly #startedMs: number;
  #running: Promise<void> | null = null;
  #endedMonoMs = -Infinity;
  /** What was reckoned after these runs: it costs counts over all records. */
  #reckoned: { readonly after: string; readonly dueMs: number } | null = null;

  constructor(engine: Engine, auditor: Auditor, options: NightlyOptions) {
    this.#engine = engine;
    this.#auditor = auditor;
    this.#options = options;
    this.#startedMs = engine.clock.now().wallMs;
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
    if (last !== null && last.failedMs !== null) return last.failedMs + RETRY_MS;
    return nextDue(this.#options.schedule, last?.walkedMs ?? this.#startedMs);
  }

  #compareDueMs(): number {
    const { sweeps } = this.#engine.store;
    const [last, again] = [sweeps.lastBy(DAEMON), sweeps.lastBy(AGAIN)];
    const after = [last, again].map((row) => `${row?.sweep} ${row?.state}`).join();
    if (this.#reckoned?.after !== after)
      this.#reckoned = { after, dueMs: this.#reckon(last, again) };
    return this.#reckoned.dueMs;
  }

  #reckon(last: SweepRow | null, again: SweepRow | null): number {
    const { schedule } = this.#options;
    if (last === null) return nextDue(schedule, this.#startedMs);
    const next = nextDue(schedule, last.startedMs + (this.pace().everyNights - 1) * DAY_MS);
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
    const due = this.#bounded(this.dueMs(), now);
    if (due > now) return due - now;
    this.#running = this.#run(signal).then(
      (stirred) => this.#end(() => ended(null, stirred)),
      (error: unknown) => this.#end(() => ended(error as Error, false)),
    );
    return Infinity;
  }

  /** A wall clock that was ahead once delays no run for longer than its schedule does. */
  #bounded(due: number, now: number): number {
    return due <= now + 7 * DAY_MS
      ? due
      : Math.min(due, nextDue(this.#options.schedule, now) + 7 * DAY_MS);
  }

  #isDue(due: number, now: number, hasFailed: boolean): boolean {
    return this.#bounded(due, now) <= now + (hasFailed ? TOGETHER_MS : 0);
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

  /** A new month has begun since the last one, or as many as its share allows. */
  #isSweepDue(now: number): boolean {
    const last = this.#engine.store.sweeps.last(EVERYTHING);
    if (last === null) return true;
    return monthOf(now) - monthOf(last.startedMs) >= this.pace().everyMonths;
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
