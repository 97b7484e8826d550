/** A newer version of a record that a person has corrected: the correction ends, and is never lost in silence (ADR 0007). */
import { leavesIn } from "../core/correction.ts";
import type { Fault } from "../core/fault.ts";
import type { Json } from "../core/json.ts";
import type { PendingDelivery } from "../store/deliveries.ts";
import type { Engine, Flow } from "./engine.ts";

/**
 * Null: the newer version says something else in every corrected field, and goes its way. Inside a transaction.
 * `told`: the newer version.
 */
export function correctedBefore(
  { store, clock }: Engine,
  { flow }: Flow,
  { record, delivery, correctedBefore: before }: PendingDelivery,
  told: Json,
): { readonly fault: Fault; readonly also: () => void } | null {
  if (before.length === 0) return null;
  const now = new Map(leavesIn(told).map(({ field, value }) => [field, value]));
  const repeated = before.filter(({ field, was }) => now.get(field) === was);
  const end = (): void => {
    const { wallMs } = clock.now();
    store.corrections.end(record, wallMs);
    for (const { field, value, who } of before)
      store.journal.audit(wallMs, {
        flow,
        delivery,
        event: "correction ended",
        detail: `a newer version came; ${who} had corrected ${field} to "${value}"`,
      });
  };
  const [first] = repeated;
  if (first !== undefined) return { fault: saysAgain(first), also: end };
  end();
  return null;
}

const saysAgain = ({
  field,
  was,
  value,
  who,
}: PendingDelivery["correctedBefore"][number]): Fault => ({
  code: "corrected-before",
  message: `${who} had corrected ${field} to "${value}", and a newer version says ${was === null ? "nothing" : `"${was}"`} there again`,
  next: "Have it corrected where it comes from, and it is taken by itself; or correct it here again (`fuelbridge quarantine edit`). Retry it to send it as it came.",
  field,
});
