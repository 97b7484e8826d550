/** The month for a governor: what was spent of it, and whether the platform has closed it. */
import type { Purpose, Spent } from "../core/budget.ts";
import type { Store } from "./store.ts";
import { monthOf } from "./usage.ts";

/** Requests that are made durable at once: so many a killed process may count without having sent them. */
const BLOCK = 20;

export interface StoreLedger {
  spent(month: string): Spent;
  /** One more request on that day (`2026-11-23`, UTC). @throws StorageError, EnvironmentError */
  spend(day: string, purpose: Purpose): void;
  closedUntil(nowMs: number): number | null;
  /** At the end of a process: what was leased and not sent is free again. */
  close(): void;
}

export function ledger(store: Store): StoreLedger {
  const { journal } = store;
  let leased = false;
  return {
    spent: (month) => journal.spent(month),
    spend(day, purpose) {
      const month = monthOf(day);
      if (journal.leased(month) === 0) {
        store.transaction(() => journal.lease(month, BLOCK));
        leased = true;
      }
      journal.spend(day, purpose);
    },
    closedUntil(nowMs) {
      const stop = journal
        .breakers()
        .find(({ breaker, scope }) => breaker === "quota" && scope === "platform");
      const until = stop?.retryMs ?? 0;
      return until > nowMs ? until : null;
    },
    close() {
      if (leased) store.transaction(() => journal.giveBack());
      leased = false;
    },
  };
}
