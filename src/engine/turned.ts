/**
 * A sale that turned into a purchase, or back: a record of the platform that was booked by one flow comes by in the flow
 * of the other kind, under the same id. The first document would stay and a second one be booked, so a person decides
 * (ADR 0009). Orders and tickets are of one kind each: their sinks see it (src/ledger/goods.ts).
 */
import type { Fault } from "../core/fault.ts";
import type { Kind } from "../core/kinds.ts";
import type { Link } from "../store/links.ts";
import type { PendingDelivery } from "../store/deliveries.ts";
import { endpointOf, type Engine, type Flow } from "./engine.ts";

interface Turning {
  readonly word: string;
  /** Kinds that the same record of the platform can turn into. */
  readonly turns: readonly Kind[];
}

const KINDS: Readonly<Partial<Record<Kind, Turning>>> = {
  invoice: { word: "sale", turns: ["bill"] },
  bill: { word: "purchase", turns: ["invoice"] },
  payment: { word: "payment received", turns: ["bill-payment"] },
  "bill-payment": { word: "payment made", turns: ["payment"] },
};

/** Only ids of the platform name the same thing in two flows; an ERP may count each kind from 1. */
const turnsOf = ({ side, mapping }: Flow): readonly Kind[] =>
  side === "platform" ? (KINDS[mapping.kind]?.turns ?? []) : [];

/** Ids of the platform's records that are on their way as the other kind: their outcome is waited for. */
export function turning({ store, flows }: Engine, flow: Flow): ReadonlySet<string> {
  const home = new Set(flows.filter(({ side }) => side === "platform").map((one) => one.flow));
  const live = turnsOf(flow).flatMap((kind) => store.underWay.records(kind));
  return new Set(live.filter((row) => home.has(row.flow)).map(({ recordId }) => recordId));
}

/** Null: it did not turn, or a person has seen to it and said so with a retry. Inside a transaction. */
export function turned(
  engine: Engine,
  flow: Flow,
  { record, recordId, delivery }: PendingDelivery,
  number: string,
): { readonly fault: Fault; readonly also: () => void } | null {
  const { store, clock } = engine;
  const links = turnsOf(flow).flatMap((kind) => store.links.find(kind, "platform", recordId) ?? []);
  const [booked] = links;
  if (booked === undefined) return null;
  const note = (event: string): void =>
    store.journal.audit(clock.now().wallMs, {
      flow: flow.flow,
      delivery,
      event,
      detail: `${booked.kind} ${booked.number}, ${booked.erpId}`,
    });
  const told = (): void => {
    note("turned");
    store.incidents.open(delivery, "turned");
  };
  if (store.incidents.state(record, "turned") !== "retried")
    return { fault: faultOf(flow, booked, number), also: told };
  note("turned over");
  store.incidents.end(delivery, "turned");
  // What began in the ERP stays known as its own.
  for (const { kind, born } of links)
    if (born === "platform") store.links.drop(kind, "platform", recordId);
  return null;
}

function faultOf(flow: Flow, { kind, number: booked, erpId }: Link, number: string): Fault {
  const endpoint = endpointOf(flow.to);
  const [was, is] = [KINDS[kind]?.word ?? kind, KINDS[flow.mapping.kind]?.word ?? ""];
  return {
    code: "turned",
    message: `${was} ${booked} is booked in "${endpoint}" as ${erpId}; the platform now says ${is} ${number}`,
    next: `If the platform is right, cancel ${erpId} in "${endpoint}", then retry: it is booked as ${is}. If not, correct it on the platform, and resolve this.`,
  };
}
