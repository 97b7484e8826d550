/**
 * Which of many documents made a receiver refuse them all? A search by halves (ADR 0004): the first half is tried, and
 * only its outcome says where the bad one is. While it is accepted, the bad one is in the second half, which is halved
 * at once; when it is refused, nothing is known of the second half, which goes on with the others.
 *
 * A bad document of n so costs about log2 n requests, and the good ones travel in large batches all the while. Where
 * many are bad, batches grow smaller by themselves. The two parts of a refused request r are bisect groups 2r and 2r + 1.
 *
 * A request that only a person can settle is taken apart: its documents go on one by one, each looked for by itself
 * first, so that a person has the one that it is about, with its own cause, and nobody waits for that. They are group -r.
 */
import type { Sink } from "../core/contract.ts";
import type { BisectGroups, Carried } from "../store/deliveries.ts";
import type { Store } from "../store/store.ts";

/** A request with these deliveries was refused. Inside the transaction of its answer. */
export function refused(
  sink: Sink,
  { deliveries, bisectGroups }: Pick<Store, "deliveries" | "bisectGroups">,
  request: number,
  carried: readonly Carried[],
): void {
  const group = groupOf(carried);
  if (group === null) learn(sink, 0.7);
  else if (isApart(group)) return;
  // Of the other half nothing is known now.
  else if (isFirst(group))
    for (const delivery of bisectGroups.pending(group + 1)) bisectGroups.put(delivery, null);
  if (carried.length === 1) return;
  const middle = Math.ceil(carried.length / 2);
  carried.forEach(({ delivery }, index) => {
    deliveries.reopen(delivery, part(request, index < middle));
  });
}

/** A request was accepted: where it was a first half, what is bad is in the other. Inside the same transaction. */
export function accepted(
  sink: Sink,
  bisectGroups: BisectGroups,
  request: number,
  carried: readonly Carried[],
): void {
  const group = groupOf(carried);
  if (group === null) learn(sink, 1.5);
  else if (!isApart(group) && isFirst(group)) {
    const suspects = bisectGroups.pending(group + 1);
    const middle = Math.ceil(suspects.length / 2);
    suspects.forEach((delivery, index) => {
      bisectGroups.put(delivery, part(request, index < middle));
    });
  }
}

/** A second half waits for what the first one shows. */
export const waitsForFirst = (bisectGroups: BisectGroups, group: number | null): boolean =>
  group !== null && !isApart(group) && !isFirst(group) && bisectGroups.isOpen(group - 1);

/** A request of several is a person's, and was given up for that. Inside the transaction of what it met. */
export function tookApart(
  { deliveries, bisectGroups }: Pick<Store, "deliveries" | "bisectGroups">,
  request: number,
  carried: readonly Carried[],
): void {
  for (const { delivery } of carried) {
    deliveries.reopen(delivery);
    bisectGroups.putNewest(delivery, -request);
  }
}

/** The request that was taken apart; null: none was. */
export const takenFrom = (group: number | null): number | null =>
  group !== null && isApart(group) ? -group : null;

/** How many of a group go together at most. */
export const mostOf = (group: number | null, sink: Sink): number =>
  group === null ? shareOf(sink) : isApart(group) ? 1 : sink.itemsMax;

/** How many documents of no group go together now; at least 1. */
const shareOf = (sink: Sink): number => Math.floor(shares.get(sink) ?? sink.itemsMax);

/** By how the last batches fared. A hint for speed, so it is not stored. */
const shares = new WeakMap<Sink, number>();

function learn(sink: Sink, factor: number): void {
  const share = (shares.get(sink) ?? sink.itemsMax) * factor;
  shares.set(sink, Math.min(Math.max(share, 1), sink.itemsMax));
}

/** They are all of the same one; null when they are of none. */
const groupOf = ([first]: readonly Carried[]): number | null => first?.bisectGroup ?? null;

const part = (request: number, first: boolean): number => 2 * request + (first ? 0 : 1);

const isApart = (group: number): boolean => group < 0;

const isFirst = (group: number): boolean => group % 2 === 0;
