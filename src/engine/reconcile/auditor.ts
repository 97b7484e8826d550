/** Reconciliations of this process, one at a time: for people who ask, and for the daemon's own. */
import { WAIT_MS } from "../../core/contract.ts";
import { SourceUnavailable } from "../../core/errors.ts";
import type { Day, Holdings } from "../../core/holdings.ts";
import type { Clock } from "../../core/time.ts";
import type { Engine } from "../engine.ts";
import type { Report } from "../../reconcile/report.ts";
import { costOf, type Endpoints, isAskable, planOf } from "./plan.ts";
import { type Kept, keptReconciliation } from "./keep.ts";
import type { Audit, Question } from "./reconcile.ts";

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
    const running = this.#reconcile(question, settles);
    this.#running = running;
    this.#askedBy = question.askedBy;
    try {
      return await running;
    } finally {
      this.#running = null;
    }
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

export class Awaiting {
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
