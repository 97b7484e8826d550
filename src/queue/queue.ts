/**
 * Who carries a request to its receiver: this process (embedded), or any worker that shares the API key (bullmq). The
 * queue decides nothing and remembers nothing that matters: the store is the truth before a job is handed over and
 * after its answer has come home.
 */
import type { Outgoing, Sink } from "../core/contract.ts";
import { type Answer, nothingDone } from "../core/outcome.ts";

import { randomUUID } from "node:crypto";
import { SourceUnavailable } from "../core/errors.ts";

import { AsyncLocalStorage } from "node:async_hooks";
import type { Purpose } from "../core/budget.ts";

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

/* Carries jobs out in this process: no further software, and nothing to go wrong between a job and its answer. */

/** By the names that jobs call them by. A sink that throws is a programming error: `carry` rejects with it. */
export type Sinks = Readonly<Record<string, Pick<Sink, "send">>>;

export function embeddedQueue(sinks: Sinks): Queue {
  return {
    async carry({ sink: name, request }) {
      const sink = Object.hasOwn(sinks, name) ? sinks[name] : undefined;
      if (sink === undefined) return nothingDone(unknownSink(name, sinks));
      return sink.send(request, never);
    },
    trouble: () => null,
    close: async () => {},
  };
}

export const unknownSink = (name: string, sinks: Sinks): string =>
  `there is no sink "${name}" here; there are: ${Object.keys(sinks).join(", ") || "none"}`;

/** Sends are not torn off when we stop: each has a deadline of its own. */
const never = new AbortController().signal;

/* An endpoint's sinks, sending through a queue. The engine knows nothing of it: a sink is a sink. */

/** While the queue is in trouble nothing counts as sent: the endpoint waits, and says why. */
const TROUBLE_WAITS_MS = 5_000;

export function carriedBy(
  queue: Queue,
  sinks: Readonly<Record<string, Sink>>,
): Record<string, Sink> {
  return Object.fromEntries(
    Object.entries(sinks).map(([name, sink]) => [name, { ...sink, ...through(queue, name, sink) }]),
  );
}

function through(queue: Queue, name: string, sink: Sink): Pick<Sink, "prepare" | "send"> {
  return {
    async prepare(request, signal) {
      const trouble = queue.trouble();
      if (trouble !== null)
        throw new SourceUnavailable(trouble.message, {
          next: trouble.next,
          waitMs: TROUBLE_WAITS_MS,
        });
      await sink.prepare?.(request, signal);
    },
    send: (request) =>
      queue.carry({ id: `${request.key}-${randomUUID().slice(0, 8)}`, sink: name, request }),
  };
}

/* What a worker is doing just now, for what it calls while it does: whose job it is and how long it may begin. */

export interface Errand {
  /** The site that the job belongs to: its requests are counted there. */
  readonly site: string;
  /** No first byte leaves later; by `performance.now()`. */
  readonly startByMs: number;
  /** Requests that were admitted. */
  readonly used: Map<Purpose, number>;
}

export const errands = new AsyncLocalStorage<Errand>();
