/** What a worker is doing just now, for what it calls while it does: whose job it is and how long it may begin. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Purpose } from "../core/budget.ts";

export interface Errand {
  /** The site that the job belongs to: its requests are counted there. */
  readonly site: string;
  /** No first byte leaves later; by `performance.now()`. */
  readonly startByMs: number;
  /** Requests that were admitted. */
  readonly used: Map<Purpose, number>;
}

export const errands = new AsyncLocalStorage<Errand>();
