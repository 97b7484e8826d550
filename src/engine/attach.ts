/**
 * PDFs of delivered documents (ADR 0020). A flow that attaches them has a second flow beside it: the transaction that
 * records a document as delivered stores the record of its attachment, and that goes the road of every document. A PDF
 * that cannot be fetched never holds back its document.
 */
import { attachmentKind, attachmentMapping, attachmentText, NoFile } from "../core/attachment.ts";
import type { Outgoing, Sink, Source } from "../core/contract.ts";
import { type Answer, nothingDone, refused } from "../core/outcome.ts";
import { type Carried, type Link, otherId, ownId } from "../store/deliveries.ts";
import type { Store } from "../store/store.ts";
import type { Engine, Flow } from "./engine.ts";

/** Fetching a file fails this often before a person is asked: with the back-off, about an hour. */
export const FETCHES_MAX = 20;

export interface Attaching {
  /** Attaches to the documents that the flow's own sink books. */
  readonly sink: Sink;
  /** The PDF of a document, by its id on the platform. @throws NoFile */
  readonly fetch: (id: string) => Promise<Uint8Array>;
  /** Documents that were last delivered before the option was switched on count from here, ms UTC; null: none do. */
  readonly sinceMs: number | null;
}

/** A flow named `invoices` attaches by one named `invoices.pdf`: no configuration can name another one so. */
const attachingName = (flow: string): string => `${flow}.pdf`;

/** The flow that attaches PDFs to what `flow` delivers. @throws TypeError for a kind of document that has none */
export function attachmentFlow(
  store: Store,
  flow: Flow,
  { sink, fetch, sinceMs }: Attaching,
): Flow {
  const kind = attachmentKind(flow.mapping.kind);
  if (kind === null) throw new TypeError(`flow ${flow.name}: a ${flow.mapping.kind} has no PDF`);
  const name = attachingName(flow.name);
  return {
    ...flow,
    flow: store.flows.open(name).flow,
    name,
    attachesTo: flow.name,
    silenceMs: Infinity,
    get paused() {
      return flow.paused;
    },
    mapping: attachmentMapping(kind, flow.mapping.kind),
    source: olderDocuments(store, flow, sinceMs),
    sink: {
      ...sink,
      async send(request, signal) {
        const file = () => fetch(request.items[0]?.id ?? "");
        try {
          return await sink.send({ ...request, file }, signal);
        } catch (error) {
          if (!(error instanceof NoFile)) throw error;
          const before = store.requests.live(kind, request.items[0]?.number ?? "");
          return withoutFile(error, request, (before?.machine.failures ?? 0) + 1);
        }
      },
    },
  };
}

/** Stores the record of a delivered document's attachment, where its flow attaches. Inside the same transaction. */
export function wantAttachment(
  { store, flows }: Engine,
  flow: Flow,
  { recordId, number }: Pick<Carried, "recordId" | "number">,
  counterpart: string | null,
  atMs: number,
): void {
  const attaching = flows.find(({ attachesTo }) => attachesTo === flow.name);
  if (attaching === undefined || counterpart === null) return;
  const change = changeOf({ id: recordId, number, counterpart });
  const position = store.flows.position(attaching.name);
  store.intake.page(attaching.flow, { changes: [change], position }, atMs);
}

const changeOf = (document: Parameters<typeof attachmentText>[0]) => ({
  id: document.id,
  version: null,
  text: attachmentText(document),
});

/** The file did not come, so nothing was written. @param failures of this request, with this one */
function withoutFile(error: NoFile, { items }: Outgoing, failures: number): Answer {
  const { sort, message, waitMs } = error;
  if (sort === "passing") return nothingDone(message, { waitMs });
  if (sort === "failed" && failures < FETCHES_MAX) return nothingDone(message);
  const number = items[0]?.number ?? "";
  const tries = failures === 1 ? "" : `, ${failures} times`;
  return refused({
    code: "no-pdf",
    message: `the PDF of ${number} could not be fetched from the platform${tries}: ${message}`,
    next: `${number} itself is booked. Open its PDF on the platform: when it can be seen there, retry this; else resolve it, and ${number} stays without one.`,
  });
}

/** Links that are read in one page. */
const LINKS_AT_ONCE = 200;

/** How far the reading of older documents has got: all since `sinceMs` up to the platform's id `after`; null: all. */
interface Position {
  readonly sinceMs: number;
  readonly after: string | null;
}

/** Documents that were delivered before the option was switched on, each once; none unless it is asked for. */
function olderDocuments(store: Store, flow: Flow, sinceMs: number | null): Source {
  return {
    async *read(position, { signal }) {
      if (sinceMs === null) return;
      const stored = position as Position | null;
      let after = stored?.sinceMs === sinceMs ? stored.after : "";
      while (after !== null && !signal.aborted) {
        const { kind } = flow.mapping;
        const links = store.links.deliveredSince(kind, flow.side, sinceMs, after, LINKS_AT_ONCE);
        after = links.length < LINKS_AT_ONCE ? null : (links.at(-1)?.platformId ?? null);
        yield { changes: links.map(changeIn(flow)), position: { sinceMs, after } };
      }
    },
  };
}

const changeIn =
  ({ side }: Flow) =>
  (link: Link) =>
    changeOf({ id: ownId(link, side), number: link.number, counterpart: otherId(link, side) });
