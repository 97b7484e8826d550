/** What a drill can switch at the platform and in the books (docs/sandbox.md), and sets of switches in which every two meet. */
import type { Random } from "../../src/sandbox/scenes/random.ts";

type Fault = Readonly<Record<string, unknown>>;

/** Of both sides. */
export interface Habits {
  /** Customers and suppliers have ranges of codes of their own, which overlap. */
  readonly sharedCodes: boolean;
  /** Now and then a list of parties or prices ends behind its first rows; the next one is whole again. */
  readonly shrinkingLists: boolean;
  /** Invoices are given another number after they were exported, or made on the platform. */
  readonly renumbering: boolean;
  /** Some invoices of the platform are committed three days late. */
  readonly lateCommits: boolean;
  /** The daemon's nights come every minute: it walks deeply and compares. */
  readonly nights: boolean;
}

interface Switch {
  /** Readings that stand for the whole drill. */
  readonly readings?: Readonly<Record<string, unknown>>;
  /** What else is so on both sides. */
  readonly habits?: Partial<Habits>;
  /** A fault that may be armed before a daemon starts; `nth`: how often it was drawn before. */
  readonly fault?: (random: Random, nth: number) => Fault | null;
}

const WRITES = ["/invoices", "/customers", "/suppliers", "/pricing/bulk/rack"] as const;
/** Three such answers within a day are a second installation to fuelbridge, rightly. */
const TWICE_MAX = 2;

/** By the name of the reading or the kind of fault. Times are longer than the settling time of a drill, or shorter than its overlap. */
export const switches: Readonly<Record<string, Switch>> = {
  updatedSinceInclusive: { readings: { updatedSinceInclusive: false } },
  walkOrder: { readings: { walkOrder: "createdAtDesc" } },
  listsCarryLines: { readings: { listsCarryLines: false } },
  cursorLifeSeconds: { readings: { cursorLifeSeconds: 1 } },
  externalIdBecomesErpId: { readings: { externalIdBecomesErpId: false } },
  failingWritesCommitLateSeconds: { readings: { failingWritesCommitLateSeconds: 0.6 } },
  readLagSeconds: { readings: { readLagSeconds: 0.3 } },
  deduplicateInvoiceNumbers: { readings: { deduplicateInvoiceNumbers: true } },
  supplierConnectionRuns: { readings: { supplierConnectionRuns: "toUs" } },
  createdInvoiceStatus: { readings: { createdInvoiceStatus: "DRAFT" } },
  timesWritten: { readings: { timesWritten: "alternating" } },
  idsWritten: { readings: { idsWritten: "alternating" } },
  emptyPages: { readings: { emptyPages: true } },
  numbersWritten: { readings: { numbersWritten: "alternating" } },
  lateCommitSeconds: { readings: { lateCommitSeconds: 3 } },
  replayShown: { readings: { replayShown: false } },
  twice: {
    fault: (random, nth) =>
      nth >= TWICE_MAX ? null : { method: "POST", kind: "twice", path: random.pick(WRITES) },
  },
  held: {
    fault: (random) => ({
      method: "POST",
      kind: "held",
      path: random.pick(WRITES),
      seconds: random.int(25, 60) / 10,
      times: random.int(1, 8),
    }),
  },
  bulkPrices: { readings: { bulkPrices: "changesCounted" } },
  pageSizeMost: { readings: { pageSizeMost: 7 } },
  sharedCodes: { habits: { sharedCodes: true } },
  shrinkingLists: { habits: { shrinkingLists: true } },
  renumbering: { habits: { renumbering: true } },
  lateCommits: { habits: { lateCommits: true, nights: true } },
  // A night reads all that a walk reads, and more: a platform that answers no list fails it, and the walks of that life.
  failingNights: {
    habits: { nights: true },
    fault: (random) => ({
      method: "GET",
      kind: "status",
      status: random.pick([500, 503]),
      path: random.pick(["/invoices", "/connections"]),
      times: random.int(10, 60),
    }),
  },
};

const NONE: Habits = {
  sharedCodes: false,
  shrinkingLists: false,
  renumbering: false,
  lateCommits: false,
  nights: false,
};

export const habitsOf = (names: readonly string[]): Habits =>
  names.reduce<Habits>((habits, name) => ({ ...habits, ...switches[name]?.habits }), NONE);

/**
 * So few sets that any two names are, in one of them each, both in it, both not, and either of them alone. (A name
 * stands for the sets that it is in: equally many for each, never the first, and more than half of the others.)
 */
export function covering(names: readonly string[]): string[][] {
  let sets = 2;
  while (choose(sets - 1, Math.ceil(sets / 2)) < names.length) sets++;
  const rows: string[][] = Array.from({ length: sets }, () => []);
  const places = subsets(sets - 1, Math.ceil(sets / 2));
  for (const [at, name] of names.entries())
    for (const row of places[at] ?? []) rows[row + 1]?.push(name);
  return rows;
}

const choose = (from: number, count: number): number => subsets(from, count).length;

/** All subsets of 0..from-1 with so many members. */
function subsets(from: number, count: number): number[][] {
  if (count === 0) return [[]];
  if (from < count) return [];
  const last = from - 1;
  return [...subsets(last, count), ...subsets(last, count - 1).map((one) => [...one, last])];
}
