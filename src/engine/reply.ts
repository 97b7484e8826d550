/**
 * What is written back for what was read, such as X12's functional acknowledgement (ADR 0019). A flow whose source has
 * replies has a second flow beside it: the page that brings a reply stores it there, and it goes the road of every
 * document, so that each is written once.
 */
import { z } from "zod";
import type { Mapping, Reply, Sink, Source } from "../core/contract.ts";
import { type Json, stringifyExact } from "../core/json.ts";
import type { Store } from "../store/store.ts";
import { endpointOf, type Engine, type Flow } from "./engine.ts";

const ReplyRecord = z.object({
  id: z.string().min(1),
  content: z.custom<Json>((value) => value !== undefined),
});
type ReplyRecord = z.infer<typeof ReplyRecord>;

const mapping: Mapping<ReplyRecord, ReplyRecord> = {
  name: "reply",
  kind: "reply",
  input: ReplyRecord,
  output: ReplyRecord,
  number: ({ id }) => id,
  map: (record) => record,
  figures: () => ({ amount: null, gallons: null }),
};

const nothing: Source = {
  async *read() {
    // Its records come with the pages of the other flow.
  },
};

/** A flow named `prices` replies by one named `prices.replies`: no configuration can name another one so. */
export function replyFlow(store: Store, flow: Flow, sink: Sink): Flow {
  const name = `${flow.name}.replies`;
  return {
    ...flow,
    flow: store.flows.open(name).flow,
    name,
    repliesTo: flow.name,
    silenceMs: Infinity,
    get paused() {
      return flow.paused;
    },
    to: `${endpointOf(flow.from)}.${name}`,
    mapping,
    source: nothing,
    sink: withoutIds(sink),
  };
}

/** Nobody gives a reply an id, so nothing is linked. */
const withoutIds = (sink: Sink): Sink => ({
  ...sink,
  async send(request, signal) {
    const answer = await sink.send(request, signal);
    return answer.outcome === "done" ? { ...answer, ids: request.items.map(() => null) } : answer;
  },
  async find(request, signal) {
    const finding = await sink.find(request, signal);
    return finding.found === "exact" ? { ...finding, ids: request.items.map(() => null) } : finding;
  },
});

/** Inside the transaction of the page. */
export function storeReplies(
  { store, flows }: Engine,
  flow: Flow,
  replies: readonly Reply[],
  atMs: number,
): void {
  if (replies.length === 0) return;
  const replying = flows.find(({ repliesTo }) => repliesTo === flow.name);
  if (replying === undefined) throw new TypeError(`flow ${flow.name} replies nowhere`);
  const changes = replies.map(({ id, content }) => ({
    id,
    version: null,
    text: stringifyExact({ id, content }),
  }));
  store.intake.page(replying.flow, { changes, position: null }, atMs);
}
