/** Reconciliations that somebody asked for in the console: they take as long as their requests do. */
import { randomUUID } from "node:crypto";
import type { Report } from "../reconcile/report.ts";
import type { AuditHead } from "../office/asked.ts";
import type { Reconciling } from "../office/asked.ts";

export interface Compared {
  readonly report: Report;
  /** The newest entry of the audit just after it. */
  readonly audit: AuditHead | null;
}

export interface Job {
  readonly id: string;
  readonly asked: Reconciling;
  readonly startedMs: number;
  /** About so many to the platform. */
  readonly requests: number;
  state:
    | { readonly is: "running" }
    | ({ readonly is: "done" } & Compared)
    | { readonly is: "failed"; readonly message: string; readonly next: string };
}

/** The newest ones are kept, in memory: a report can be made again. */
const KEPT = 5;

export class Jobs {
  readonly #jobs = new Map<string, Job>();

  list(): readonly Job[] {
    return [...this.#jobs.values()].toReversed();
  }

  find(id: string): Job | null {
    return this.#jobs.get(id) ?? null;
  }

  /** `failed`: what a failure is told as. */
  start(
    about: Pick<Job, "asked" | "startedMs" | "requests">,
    work: Promise<Compared>,
    failed: (error: unknown) => { message: string; next: string },
  ): Job {
    const job: Job = { id: randomUUID(), ...about, state: { is: "running" } };
    this.#jobs.set(job.id, job);
    const [oldest] = this.#jobs.keys();
    if (this.#jobs.size > KEPT && oldest !== undefined) this.#jobs.delete(oldest);
    work.then(
      (compared) => (job.state = { is: "done", ...compared }),
      (error: unknown) => (job.state = { is: "failed", ...failed(error) }),
    );
    return job;
  }
}
