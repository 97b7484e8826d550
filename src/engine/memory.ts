/** What the store knows that a look at a receiver needs. */
import type { Memory } from "../core/contract.ts";
import type { Carried } from "../store/deliveries.ts";
import type { Engine, Flow } from "./engine.ts";

/** Of a request that carries these. Asks the store only when it is asked. */
export function memoryOf(
  { store, flows }: Engine,
  flow: Flow,
  [first]: readonly Carried[],
): Memory {
  const there = flow.side === "platform" ? "erp" : "platform";
  const kinds = new Set(
    [flow, ...flows]
      .filter((one) => one.side === flow.side && namesOf(one) === namesOf(flow))
      .map(({ mapping }) => mapping.kind),
  );
  return {
    linked(counterpart) {
      for (const kind of kinds) {
        const link = store.links.find(kind, there, counterpart);
        if (link !== null) return link.number;
      }
      return null;
    },
    isDismissed: (counterpart) =>
      first !== undefined && store.incidents.isDismissed(first.delivery, first.number, counterpart),
  };
}

const namesOf = ({ sink }: Flow): string => sink.names ?? sink.operation;
