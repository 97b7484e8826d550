/** A document's story from the record to the other side's number, out of what the store kept. */
import { batch } from "./batch.ts";
import type { AuditRow } from "../store/questions.ts";
import type { Store } from "../store/store.ts";
import type { TraceStep } from "./office.ts";

/** Oldest first; empty when nothing is known under this number or id. */
export function trace(store: Store, text: string): TraceStep[] {
  const links = store.links.search(text);
  const texts = new Set([text, ...links.flatMap(({ platformId, erpId }) => [platformId, erpId])]);
  const seen = new Set<number>();
  const numbers = new Set<string>();
  const steps: TraceStep[] = [];
  for (const one of texts) {
    for (const row of store.questions.deliveries(one)) {
      if (seen.has(row.delivery)) continue;
      seen.add(row.delivery);
      const ids = idsOf(links, row.recordId);
      const audit = store.questions.audit(row.delivery, row.request);
      const ownPart = batch(store, row);
      const step = (atMs: number, event: string, detail: string): void => {
        const at = new Date(atMs).toISOString();
        steps.push({ at, flow: row.flow, event, detail, own: ownPart(detail), ...ids });
      };
      const version = row.version === null ? "" : `, version ${row.version}`;
      step(row.receivedMs, "received", `${row.origin ?? row.recordId}${version}`);
      for (const { atMs, event, detail } of givenUp(store, row.number, numbers))
        step(atMs, event, detail);
      for (const { atMs, event, detail } of audit) step(atMs, event, detail);
      const last = row.sinceMs ?? audit.at(-1)?.atMs ?? row.receivedMs;
      step(last, row.state, row.cause ?? row.note ?? "");
    }
  }
  for (const link of links)
    steps.push({
      at: new Date(link.linkedMs).toISOString(),
      flow: link.kind,
      event: "linked",
      detail: `${link.number}, born ${link.born === "erp" ? "in the ERP" : "on the platform"}${link.amount === null ? "" : `, amount ${link.amount}`}`,
      own: null,
      platformId: link.platformId,
      erpId: link.erpId,
    });
  return steps.sort((one, other) => one.at.localeCompare(other.at));
}

/** What was tried for this number and given up belongs to its story, once. */
function givenUp(store: Store, number: string | null, told: Set<string>): AuditRow[] {
  if (number === null || told.has(number)) return [];
  told.add(number);
  return store.questions.givenUp(number);
}

function idsOf(
  links: readonly { platformId: string; erpId: string }[],
  recordId: string,
): Pick<TraceStep, "platformId" | "erpId"> {
  const link = links.find(({ platformId, erpId }) => platformId === recordId || erpId === recordId);
  return { platformId: link?.platformId ?? null, erpId: link?.erpId ?? null };
}
