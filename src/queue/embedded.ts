/** Carries jobs out in this process: no further software, and nothing to go wrong between a job and its answer. */
import type { Sink } from "../core/contract.ts";
import { nothingDone } from "../core/outcome.ts";
import type { Queue } from "./queue.ts";

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
