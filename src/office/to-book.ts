/** The days that documents which are stored and not delivered yet will be booked on. */
import type { DayToBook } from "../core/examination.ts";
import { parseExact } from "../core/json.ts";
import type { Engine, Flow } from "../engine/engine.ts";

/** Of flows that book; what cannot be read has no day. */
export function toBook({ store, dayOf }: Engine, flows: readonly Flow[]): DayToBook[] {
  return flows.flatMap((flow) => {
    const { name, mapping } = flow;
    const counts = new Map<string, number>();
    if (mapping.bookedOn === undefined) return [];
    for (const text of store.openRecords.waiting(flow.flow)) {
      const record = mapping.input.safeParse(parseExact(text));
      const day = record.success ? mapping.bookedOn(record.data, { dayOf }) : null;
      if (day !== null) counts.set(day, (counts.get(day) ?? 0) + 1);
    }
    return [...counts].map(([day, count]) => ({ day, flow: name, count }));
  });
}
