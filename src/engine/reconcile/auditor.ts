/** Reconciliations of this process, one at a time: for people who ask, and for the daemon's own. */
import { SourceUnavailable } from "../../core/errors.ts";
import type { Day } from "../../core/holdings.ts";
import type { Report } from "../../reconcile/report.ts";
import type { Engine } from "../engine.ts";
import { costOf } from "./cost.ts";
import { type Kept, keptReconciliation } from "./keep.ts";
import { planOf } from "./plan.ts";
import type { Audit, Question } from "./reconcile.ts";

export class Auditor {
  readonly #engine: Engine;
  readonly #audit: Audit;
  readonly #stop = new AbortController();
  #running: Promise<unknown> | null = null;

  constructor(engine: Engine, audit: Audit) {
    this.#engine = engine;
    this.#audit = audit;
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
    if (this.#running !== null)
      throw new SourceUnavailable("Another reconciliation is running.", {
        next: "Wait until it has ended, then ask again.",
      });
    const running = keptReconciliation(
      this.#engine,
      this.#audit,
      question,
      settles,
      this.#stop.signal,
    );
    this.#running = running;
    try {
      return await running;
    } finally {
      this.#running = null;
    }
  }

  /** Stops what is under way between two requests. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running?.catch(() => {});
  }
}
