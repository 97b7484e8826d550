/**
 * A document that looks like another one of its source: entered twice, or copied by a clerk. Whoever copies one keeps its
 * party, reference, amount and day, and gets another id; whoever enters a supplier's bill twice keeps its number. Such a
 * document waits for a person before its first byte leaves; a retry says that it is another one.
 */
import type { Likeness } from "../core/contract.ts";
import type { Fault } from "../core/fault.ts";
import { foldedNumber, sha256 } from "../core/keys.ts";
import type { Likened } from "../store/links.ts";
import type { PendingDelivery } from "../store/deliveries.ts";
import { endpointOf, type Engine, type Flow } from "./engine.ts";

/** By what a copy of this record would be known; none: its mapping tells nothing, or nothing is like it. */
export function likenessesOf(engine: Engine, { mapping, side }: Flow, record: unknown): string[] {
  const alike = mapping.likeness?.(record, engine) ?? null;
  if (alike === null) return [];
  const { party, amount, day, reference, number } = alike;
  const of = (...parts: readonly string[]): string =>
    sha256(JSON.stringify([mapping.kind, side, party, ...parts])).slice(0, 22);
  return [
    ...(reference === null
      ? []
      : [of("copied", amount.plain(), day, ...wordsOf(reference).map(foldedNumber))]),
    ...(number === null ? [] : [of("numbered", foldedNumber(number))]),
  ];
}

const wordsOf = (reference: Likeness["reference"]): readonly string[] =>
  typeof reference === "string" ? [reference] : (reference ?? []);

/**
 * Null: no document that went, or is on its way, is like it; or a person has said that it is another one. Inside a
 * transaction.
 */
export function copied(
  { store }: Engine,
  flow: Flow,
  { delivery, record, recordId }: PendingDelivery,
  number: string,
  likenesses: readonly string[],
): Fault | null {
  if (flow.duplicates === "deliver") return null;
  const all = likenesses
    .flatMap((likeness) => store.likenesses.others(likeness, record))
    .filter((one) => !store.incidents.isDismissed(delivery, one.recordId));
  const others = [...new Map(all.map((one) => [one.recordId, one])).values()];
  return others.length === 0 ? null : faultOf(flow, { number, recordId }, others);
}

const faultOf = (
  flow: Flow,
  { number, recordId }: Pick<Likened, "number" | "recordId">,
  others: readonly Likened[],
): Fault => ({
  code: "duplicate",
  message: `${shown(number, recordId)} looks like ${inWords(others)}, taken from "${endpointOf(flow.from)}" before: the party is the same, and so is the number, or the amount (of goods the gallons), the day and the reference`,
  next: `Compare both in "${endpointOf(flow.from)}". Is it the same document twice? Then remove one there and resolve this. Is it another one? Then retry: it goes as it is. (duplicates: deliver in the flow switches this off.)`,
  candidates: others.map((one) => one.recordId),
});

const SHOWN = 3;
const inWords = (others: readonly Likened[]): string =>
  [
    ...others.slice(0, SHOWN).map((one) => shown(one.number, one.recordId)),
    ...(others.length > SHOWN ? [`${others.length - SHOWN} more`] : []),
  ].join(" and ");

const shown = (number: string, recordId: string): string =>
  number === recordId ? number : `${number} (${recordId})`;
