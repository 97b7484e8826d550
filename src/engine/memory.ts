/** What the store knows that a look at a receiver needs. */
import type { Linked, Memory } from "../core/contract.ts";
import type { Carried } from "../store/deliveries.ts";
import { type Link, otherId, ownId } from "../store/links.ts";
import type { Engine, Flow } from "./engine.ts";

/** Of a request that carries these. Asks the store only when it is asked. */
export function memoryOf(
  { store, flows }: Engine,
  flow: Flow,
  [first]: readonly Carried[],
): Memory {
  const there = flow.side === "platform" ? "erp" : "platform";
  const alike = [flow, ...flows.filter((one) => one !== flow)].filter(
    (one) => one.side === flow.side && namesOf(one) === namesOf(flow),
  );
  const told = (one: Flow, link: Link | null): readonly Linked[] => {
    if (link === null) return [];
    const { kind } = one.mapping;
    const id = ownId(link, flow.side);
    const request = store.losses.lastRequest(one.flow, id);
    return [
      {
        kind,
        counterpart: otherId(link, flow.side),
        number: link.number,
        isOwnKind: kind === flow.mapping.kind,
        isOwnRecord: one.from === flow.from && id === first?.recordId,
        body: request === null ? null : store.requests.get(request)?.body || null,
      },
    ];
  };
  return {
    linked: (counterpart) =>
      alike.flatMap((one) => told(one, store.links.find(one.mapping.kind, there, counterpart))),
    numbered: (number) =>
      alike.flatMap((one) => {
        const { kind } = one.mapping;
        const { links } = store;
        const link = links.numbered(kind, number, flow.side) ?? links.numbered(kind, number, there);
        return told(one, link);
      }),
    isDismissed: (counterpart) =>
      first !== undefined && store.incidents.isDismissed(first.delivery, counterpart),
  };
}

const namesOf = ({ sink }: Flow): string => sink.names ?? sink.operation;
