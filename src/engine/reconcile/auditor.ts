/** Reconciliations of this process, one at a time: for people who ask, and for the daemon's own. */
import { SourceUnavailable } from "../../core/errors.ts";
import type { Day } from "../../core/holdings.ts";
import { WAIT_MS } from "../../core/contract.ts";
import type { Report } from "../../reconcile/report.ts";
import type { Engine } from "../engine.ts";
import { Awaiting, type Waiting } from "./awaiting.ts";
import { costOf } from "./cost.ts";
import { type Kept, keptReconciliation } from "./keep.ts";
import { isAskable, planOf } from "./plan.ts";
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
