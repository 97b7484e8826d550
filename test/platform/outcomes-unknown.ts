/** Faults after which nobody can tell at once whether a write took place, driven to their end. */
import type { Sink } from "../../src/core/contract.ts";
import type { Row } from "../conformance/support.ts";
import { delivery } from "./deliver.ts";
import type { usePlatform } from "./support.ts";

export const unknownOutcomes: readonly Row[] = [
  ...[500, 503, 504].flatMap((status) =>
    ["before", "after"].map((when) => ({ kind: "status", status, when })),
  ),
  { kind: "reset", when: "before" },
  { kind: "reset", when: "after" },
  { kind: "truncate" },
  { kind: "garbage" },
].flatMap((fault) => [
  fault,
  { ...fault, readings: { failingWritesCommitLateSeconds: 120, readLagSeconds: 60 } },
]);

/** Delivers a document whose write meets the fault; how many deliveries ended how. */
export async function deliverThrough(
  platform: ReturnType<typeof usePlatform>,
  sink: Sink,
  document: object,
  { readings = {}, ...fault }: Row,
  write: { readonly method: string; readonly path: string },
): Promise<Record<string, number>> {
  await platform.control.readings(readings as Row);
  await platform.control.fault({ ...write, ...fault });
  return delivery(sink, await platform.clock(), [JSON.stringify(document)]).settled();
}
