/** The requests that were sent, by month, by day and by purpose, and the month as a governor asks for it. */
import type Database from "better-sqlite3";
import type { DaySpent, Purpose, Spent } from "../core/budget.ts";
import { asking } from "./statements.ts";

/** The purpose under which requests stand that were leased and have none yet. */
const LEASED = "leased";

/** The month of a day: `2026-11` of `2026-11-23`. */
const monthOf = (day: string): string => day.slice(0, 7);

interface Unsaved {
  readonly day: string;
  readonly purpose: Purpose;
  requests: number;
}

/**
 * Requests of each month (`2026-11`, UTC) by purpose. They are leased in blocks, durably and before they are sent, and
 * move to their purposes and days with whatever transaction comes next. So of a process that dies purposes and days are
 * lost, never a request: what it had leased and not written down counts as sent. Days are kept of this month and the last.
 */
export function spending(database: Database.Database) {
  const { run, rows } = asking(database);
  const add = run<[month: string, purpose: string, requests: number]>(
    `insert into usage (month, purpose, requests) values (?, ?, ?)
     on conflict do update set requests = requests + excluded.requests`,
  );
  const addDay = run<[day: string, purpose: string, requests: number]>(
    `insert into usage_day (day, purpose, requests) values (?, ?, ?)
     on conflict do update set requests = requests + excluded.requests`,
  );
  const forget = run<[day: string]>("delete from usage_day where day < ?");
  const monthRows = rows<[month: string], { purpose: string; requests: number }>(
    "select purpose, requests from usage where month = ?",
  );
  const dayRows = rows<[from: string, to: string], Unsaved>(
    "select day, purpose, requests from usage_day where day between ? and ? order by day",
  );
  let unsaved: Unsaved[] = [];
  let lease = { month: "", left: 0 };

  function saveSpending(): void {
    for (const { day, purpose, requests } of unsaved) {
      add(lease.month, purpose, requests);
      add(lease.month, LEASED, -requests);
      addDay(day, purpose, requests);
    }
    unsaved = [];
  }

  /** What was leased and not sent is free again. Inside a transaction. */
  function giveBack(): void {
    saveSpending();
    if (lease.left > 0) add(lease.month, LEASED, -lease.left);
    lease = { month: "", left: 0 };
  }

  return {
    saveSpending,
    giveBack,
    /** How many requests of this month may be sent before more must be leased. */
    leased: (month: string): number => (lease.month === month ? lease.left : 0),
    /** Inside a transaction that is durable before the first of them is sent. */
    lease(month: string, requests: number): void {
      if (lease.month !== month) forget(`${monthBefore(month)}-01`);
      giveBack();
      add(month, LEASED, requests);
      lease = { month, left: requests };
    },
    /** One more request on this day (`2026-11-23`, UTC), out of the lease of its month. */
    spend(day: string, purpose: Purpose): void {
      lease.left--;
      const row = unsaved.find((one) => one.day === day && one.purpose === purpose);
      if (row === undefined) unsaved.push({ day, purpose, requests: 1 });
      else row.requests++;
    },
    spent(month: string): Spent {
      const spent = new Map(monthRows(month).map(({ purpose, requests }) => [purpose, requests]));
      let lost = spent.get(LEASED) ?? 0;
      spent.delete(LEASED);
      if (lease.month === month) {
        lost -= lease.left;
        for (const { purpose, requests } of unsaved) {
          lost -= requests;
          spent.set(purpose, (spent.get(purpose) ?? 0) + requests);
        }
      }
      if (lost > 0) spent.set("lost", lost);
      return Object.fromEntries(spent);
    },
    /** Days of this month on which requests were sent, the oldest first. Empty where days are not kept any more. */
    spentByDay(month: string): readonly DaySpent[] {
      const saved = dayRows(`${month}-01`, `${month}-31`);
      const all = [...saved, ...unsaved.filter(({ day }) => monthOf(day) === month)];
      return [...Map.groupBy(all, ({ day }) => day)].map(([day, those]) => {
        const spent: Partial<Record<Purpose, number>> = {};
        for (const { purpose, requests } of those)
          spent[purpose] = (spent[purpose] ?? 0) + requests;
        return { day, spent };
      });
    },
  };
}

function monthBefore(month: string): string {
  const at = new Date(`${month}-01T00:00:00Z`);
  at.setUTCMonth(at.getUTCMonth() - 1);
  return at.toISOString().slice(0, 7);
}

/** Requests that are made durable at once: so many a killed process may count without having sent them. */
const BLOCK = 20;

/** The month for a governor: what was spent of it, and whether the platform has closed it. */
export interface StoreLedger {
  spent(month: string): Spent;
  /** One more request on that day (`2026-11-23`, UTC). @throws StorageError, EnvironmentError */
  spend(day: string, purpose: Purpose): void;
  closedUntil(nowMs: number): number | null;
  /** At the end of a process: what was leased and not sent is free again. */
  close(): void;
}

/** Of a store what the month is kept in. */
interface MonthStore {
  readonly journal: ReturnType<typeof spending> & {
    breakers(): readonly { breaker: string; scope: string; retryMs: number | null }[];
  };
  readonly transaction: (work: () => void) => void;
}

export function ledger({ journal, transaction }: MonthStore): StoreLedger {
  let leased = false;
  return {
    spent: (month) => journal.spent(month),
    spend(day, purpose) {
      const month = monthOf(day);
      if (journal.leased(month) === 0) {
        transaction(() => journal.lease(month, BLOCK));
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
      if (leased) transaction(() => journal.giveBack());
      leased = false;
    },
  };
}
