/** An endpoint's sinks, sending through a queue. The engine knows nothing of it: a sink is a sink. */
import { randomUUID } from "node:crypto";
import type { Sink } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import type { Queue } from "./queue.ts";

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
