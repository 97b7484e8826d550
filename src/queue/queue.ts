/**
 * Who carries a request to its receiver: this process (embedded), or any worker that shares the API key (bullmq). The
 * queue decides nothing and remembers nothing that matters: the store is the truth before a job is handed over and
 * after its answer has come home.
 */
import type { Outgoing } from "../core/contract.ts";
import type { Answer } from "../core/outcome.ts";

export interface Job {
  /** One send of one request: it is never used again. Not only digits, no colon. */
  readonly id: string;
  /** `rackPrices`: the sink's name at its endpoint. */
  readonly sink: string;
  readonly request: Outgoing;
}

export interface Queue {
  /**
   * Has the job carried out at most once and brings its answer home. It never rejects for what a receiver, a worker or
   * the queue itself does: what nobody took is `not-sent`, what somebody took and nobody answered is `torn`.
   */
  carry(job: Job): Promise<Answer>;
  /** Why nothing can be carried just now, and what to do; null when all is well. `since`: ISO 8601 UTC. */
  trouble(): { readonly since: string; readonly message: string; readonly next: string } | null;
  close(): Promise<void>;
}
