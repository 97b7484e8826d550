/**
 * What the daemon tells about itself: the audit, the breakers, and what people were told is wrong.
 *
 * The audit is a chain (ADR 0021): each entry holds a SHA-256 over the hash of the one before it and its own content, so that
 * an entry that is changed, removed or put in between is found. Every entry is written here.
 */
import type Database from "better-sqlite3";
import { AsyncLocalStorage } from "node:async_hooks";
import { hash } from "node:crypto";
import {
  type Budget,
  type DaySpent,
  type Haste,
  hasteAt,
  isForWrites,
  type Purpose,
  type Spent,
  usualBudget,
} from "../core/budget.ts";
import { dayAt } from "../core/time.ts";
import { asking } from "./statements.ts";

interface ChainedRow {
  readonly audit: number;
  readonly at: number;
  readonly flow: number | null;
  readonly request: number | null;
  readonly delivery: number | null;
  readonly event: string;
  readonly detail: string;
  /** JSON. */
  readonly parts: string | null;
  readonly who: string | null;
  readonly reason: string | null;
  /** Hex. */
  readonly chain: string;
}

interface Checked {
  /** Entries that were looked at. */
  readonly entries: number;
  readonly head: Noted | null;
  readonly broken: { readonly entry: number; readonly how: "changed" | "missing" } | null;
}

/** An entry and its hash (hex), as somebody noted it. */
interface Noted {
  readonly entry: number;
  readonly hash: string;
}

export interface Entry {
  readonly flow?: number | null;
  readonly request?: number;
  readonly delivery?: number;
  readonly event: string;
  readonly detail: string;
  /** What it says of each delivery, where it is about a request that carries several. */
  readonly parts?: Readonly<Record<number, string>> | undefined;
  /** The person who decided it, and why, where that was asked for; left out: fuelbridge itself. */
  readonly person?: { readonly by: string; readonly note: string | null } | undefined;
}

interface BreakerRow {
  readonly breaker: string;
  readonly scope: string;
  readonly sinceMs: number;
  /** When one try is made all the same; null: only a person clears it. */
  readonly retryMs: number | null;
  readonly message: string;
  readonly next: string;
}

export function journal(database: Database.Database) {
  const { run, rows, sure, value } = asking(database);
  const append = appending(database);
  const trip = run<[BreakerRow]>(
    `insert into breaker (breaker, scope, since_ms, retry_ms, message, next)
     values (:breaker, :scope, :sinceMs, :retryMs, :message, :next)
     on conflict do update set retry_ms = excluded.retry_ms, message = excluded.message, next = excluded.next`,
  );
  const clear = run<[scope: string, kept: string]>(
    "delete from breaker where scope = ? and retry_ms is not null and breaker <> ?",
  );
  const drop = run<[breaker: string]>("delete from breaker where breaker = ?");
  const release = run<[breaker: string, atMs: number, by: string]>(
    `insert into released (breaker, at_ms, released_by) values (?, ?, ?)
     on conflict do update set at_ms = excluded.at_ms, released_by = excluded.released_by`,
  );
  const redate = run<[breaker: string, scope: string, atMs: number]>(
    `update breaker set since_ms = min(since_ms, ?3), retry_ms = iif(retry_ms is null, null, ?3)
     where breaker = ?1 and scope = ?2`,
  );
  const breakers = rows<[], BreakerRow>(
    `select breaker, scope, since_ms as sinceMs, retry_ms as retryMs, message, next
     from breaker order by since_ms`,
  );

  /** As committed; they are asked for several times in each step of a request. */
  let standing: readonly BreakerRow[] | null = null;

  return {
    audit: (atMs: number, entry: Entry): void => void append(atMs, entry),
    /** Is every entry as it was written? */
    check: (noted: Noted | null, between: () => Promise<void>): Promise<Checked> =>
      checkChain(database, noted, between),
    /** The newest entry of the audit and its hash. */
    head: newestEntry(database),
    trip(breaker: BreakerRow): void {
      standing = null;
      trip({ ...breaker });
    },
    /** Work in this scope went well again: breakers that clear by themselves are cleared, but for `kept`. */
    clear(scope: string, kept = ""): boolean {
      standing = null;
      return clear(scope, kept) > 0;
    },
    /** It began at `atMs` at the latest and, unless only a person clears it, is tried again then. */
    redate({ breaker, scope }: Pick<BreakerRow, "breaker" | "scope">, atMs: number): void {
      standing = null;
      redate(breaker, scope, atMs);
    },
    /** The wall clock when something was first written down here, ms UTC; null: nothing was. */
    firstAt: value<[], number>(
      "select at_ms from audit where audit = (select min(audit) from audit)",
    ),
    /** The same, when it was last. */
    lastAt: value<[], number>(
      `select max(at_ms) from (
         select at_ms from (select at_ms from audit order by audit desc limit 1)
         union all select last_run_ms from flow)`,
    ),
    /** A person cleared it. Call it inside a transaction. */
    release(breaker: string, by: string, atMs: number, note: string | null = null): boolean {
      standing = null;
      if (drop(breaker) === 0) return false;
      release(breaker, atMs, by);
      append(atMs, { event: `released: ${breaker}`, detail: "", person: { by, note } });
      return true;
    },
    /** When a person last cleared it, ms UTC; null when nobody ever did. */
    releasedAt: value<[breaker: string], number>("select at_ms from released where breaker = ?"),
    /** The first send of this request was answered with a replay. Inside a transaction. */
    replayed: run<[atMs: number, request: number]>(
      "insert into replay (at_ms, request) values (?, ?)",
    ),
    /** How many first sends were answered with a replay after this time (ms UTC). */
    replaysSince: sure<[sinceMs: number], number>("select count(*) from replay where at_ms > ?"),
    breakers(): readonly BreakerRow[] {
      // What is seen inside a transaction may be rolled back yet.
      if (database.inTransaction) return breakers();
      standing ??= breakers();
      return standing;
    },
    ...spending(database),
  };
}

/** A receiver may answer with a page. */
const shortened = (detail: string): string => detail.slice(0, 2_000);

const ROW = `select audit, at_ms as at, flow, request, delivery, event, detail, parts, who, reason,
  lower(hex(chain)) as chain from audit where audit > ? order by audit limit ?`;
const STEP = 2_000;

/**
 * Appends one entry inside a transaction, and returns its number. The newest entry is remembered, and one is added only
 * where that is the newest still: after a transaction that did not happen, or an entry by another hand, it is read again.
 */
export function appending(database: Database.Database): (atMs: number, entry: Entry) => number {
  const newest = newestEntry(database);
  // Behind any other entry the time is null, which it may not be: nothing is added.
  const add = database.prepare(
    `insert or ignore into audit (audit, at_ms, flow, request, delivery, event, detail, parts, who, reason, chain)
     values (?, iif((select chain from audit order by audit desc limit 1) is unhex(?), ?, null),
       ?, ?, ?, ?, ?, ?, ?, ?, unhex(?))`,
  );
  let known: Noted | null = null;

  function addAfter(last: Noted | null, at: number, about: Entry): Noted | null {
    const entry = (last?.entry ?? 0) + 1;
    const { flow = null, request = null, delivery = null, event, person } = about;
    const detail = shortened(about.detail);
    const parts = about.parts === undefined ? null : JSON.stringify(about.parts);
    const { by: who = null, note: reason = null } = person ?? {};
    const row = { audit: entry, at, flow, request, delivery, event, detail, parts, who, reason };
    const hash = linkOf(last?.hash ?? "", row);
    const before = last?.hash ?? null;
    const said = [event, detail, parts, who, reason];
    const { changes } = add.run(entry, before, at, flow, request, delivery, ...said, hash);
    return changes === 0 ? null : { entry, hash };
  }

  return (atMs, entry) => {
    known = addAfter(known, atMs, entry) ?? addAfter(newest(), atMs, entry);
    if (known === null) throw new Error(`nothing can be added to the audit: ${entry.event}`);
    return known.entry;
  };
}

/** The newest entry and its hash; null: there is none. */
const newestEntry = (database: Database.Database): (() => Noted | null) =>
  asking(database).row<[], Noted>(
    "select audit as entry, lower(hex(chain)) as hash from audit order by audit desc limit 1",
  );

/**
 * Looks at every entry, in steps. Whoever chains a changed audit anew, or cuts off its end, is found out by an entry that was
 * `noted` earlier.
 */
export function* checkedChain(
  database: Database.Database,
  noted: Noted | null,
): Generator<void, Checked> {
  const rows = database.prepare<[number, number], ChainedRow>(ROW);
  let last: ChainedRow | null = null;
  let entries = 0;
  for (let page = rows.all(0, STEP); page.length > 0; page = rows.all(last?.audit ?? 0, STEP)) {
    for (const row of page) {
      const expected: number = (last?.audit ?? 0) + 1;
      entries++;
      const isKnown = noted?.entry !== row.audit || row.chain === noted.hash;
      const isWhole = isKnown && row.chain === linkOf(last?.chain ?? "", row);
      const how = row.audit !== expected ? "missing" : isWhole ? null : "changed";
      if (how !== null)
        return {
          entries,
          head: headOf(last),
          broken: { entry: how === "missing" ? expected : row.audit, how },
        };
      last = row;
    }
    yield;
  }
  const isCut = noted !== null && noted.entry > (last?.audit ?? 0);
  const broken = isCut ? ({ entry: (last?.audit ?? 0) + 1, how: "missing" } as const) : null;
  return { entries, head: headOf(last), broken };
}

/** The same; `between` runs after each step, so that a daemon goes on meanwhile. */
export async function checkChain(
  database: Database.Database,
  noted: Noted | null,
  between: () => Promise<void>,
): Promise<Checked> {
  const steps = checkedChain(database, noted);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await between();
  }
}

const headOf = (row: ChainedRow | null): Noted | null =>
  row === null ? null : { entry: row.audit, hash: row.chain };

function linkOf(before: string, row: Omit<ChainedRow, "chain">): string {
  const { audit, at, flow, request, delivery, event, detail, parts, who, reason } = row;
  const content = [audit, at, flow, request, delivery, event, detail, parts, who, reason];
  return hash("sha256", `${before}\n${JSON.stringify(content)}`);
}

/** Something that is wrong now and that somebody should know. */
export interface Condition {
  /** Stable while it lasts; another one is another change. */
  readonly key: string;
  /** It is told in quiet hours, too. */
  readonly urgent: boolean;
  readonly title: string;
  readonly detail: string;
  readonly next: string;
}

/** `new` and `over` wait to be told; `told` stands. */
type AlertState = "new" | "told" | "over";

export interface AlertRow extends Condition {
  readonly state: AlertState;
  /** When it was first seen, and when its state last changed, ms UTC. */
  readonly sinceMs: number;
  readonly changedMs: number;
}

interface Message {
  readonly message: number;
  readonly channel: string;
  /** The same for all attempts, and on all channels. */
  readonly id: string;
  /** JSON. */
  readonly body: string;
  readonly createdMs: number;
  readonly attempts: number;
}

/** What people were told is wrong, and the messages about it that no channel has taken yet. */
export function alerts(database: Database.Database) {
  const { run, rows } = asking(database);
  const all = rows<[], Omit<AlertRow, "urgent"> & { urgent: 0 | 1 }>(
    `select condition as key, state, urgent, title, detail, next, since_ms as sinceMs, changed_ms as changedMs
     from alert order by since_ms, condition`,
  );
  const put = run<[Omit<AlertRow, "urgent"> & { urgent: 0 | 1 }]>(
    `insert into alert (condition, state, urgent, title, detail, next, since_ms, changed_ms)
     values (:key, :state, :urgent, :title, :detail, :next, :sinceMs, :changedMs)
     on conflict do update set state = excluded.state, urgent = excluded.urgent, title = excluded.title,
       detail = excluded.detail, next = excluded.next, changed_ms = excluded.changed_ms`,
  );

  return {
    all: (): AlertRow[] => all().map((row) => ({ ...row, urgent: row.urgent === 1 })),
    /** Inside a transaction, as the next ones. */
    put: (row: AlertRow): void => void put({ ...row, urgent: row.urgent ? 1 : 0 }),
    drop: run<[key: string]>("delete from alert where condition = ?"),
    queue: run<[Pick<Message, "channel" | "id" | "body"> & { atMs: number }]>(
      `insert into alert_message (channel, id, body, created_ms, next_ms)
       values (:channel, :id, :body, :atMs, :atMs) on conflict do nothing`,
    ),
    postpone: run<[message: number, untilMs: number]>(
      "update alert_message set attempts = attempts + 1, next_ms = ?2 where message = ?1",
    ),
    done: run<[message: number]>("delete from alert_message where message = ?"),
    /** Messages whose next attempt is due. */
    due: rows<[atMs: number], Message>(
      `select message, channel, id, body, created_ms as createdMs, attempts
       from alert_message where next_ms <= ? order by message`,
    ),
  };
}

// The requests that were sent, by month, by day and by purpose, and the month as a governor asks for it.

/** The purpose under which requests stand that were leased and have none yet. */
const LEASED = "leased";

/** The month of a day: `2026-11` of `2026-11-23`. */
const monthOf = (day: string): string => day.slice(0, 7);

interface Unsaved {
  readonly day: string;
  readonly flow: number;
  readonly purpose: Purpose;
  requests: number;
}

/**
 * Requests of each month (`2026-11`, UTC) by purpose. They are leased in blocks, durably and before they are sent, and
 * move to their purposes and days with whatever transaction comes next. So of a process that dies purposes and days are
 * lost, never a request: what it had leased and not written down counts as sent. Days are kept of this month and the last.
 */
function spending(database: Database.Database) {
  const { row, run, rows } = asking(database);
  const add = run<[month: string, purpose: string, requests: number]>(
    `insert into usage (month, purpose, requests) values (?, ?, ?)
     on conflict do update set requests = requests + excluded.requests`,
  );
  const addDay = run<[day: string, flow: number, purpose: string, requests: number]>(
    `insert into usage_day (day, flow, purpose, requests) values (?, ?, ?, ?)
     on conflict do update set requests = requests + excluded.requests`,
  );
  const forget = run<[day: string]>("delete from usage_day where day < ?");
  const forgetWaits = run<[month: string]>("delete from staleness where month < ?");
  const addWaits = run<[Counted & { month: string; flow: number }]>(
    `insert into staleness (month, flow, step, worked, length, count)
     values (:month, :flow, :step, :worked, :length, :count)
     on conflict do update set count = count + excluded.count`,
  );
  const monthRows = rows<[month: string], { purpose: string; requests: number }>(
    "select purpose, requests from usage where month = ?",
  );
  const dayRows = rows<[from: string, to: string], Unsaved>(
    "select day, flow, purpose, requests from usage_day where day between ? and ? order by day",
  );
  const spender = new AsyncLocalStorage<number>();
  const keptHaste = row<[], Haste>("select requests, at_ms as atMs from haste");
  const keepHaste = run<[Haste]>(
    "insert or replace into haste (row, requests, at_ms) values (1, :requests, :atMs)",
  );
  let haste: Haste | null = null;
  let unsaved: Unsaved[] = [];
  let lease = { month: "", left: 0 };

  function saveSpending(): void {
    if (unsaved.length > 0 && haste !== null) keepHaste(haste);
    for (const { day, flow, purpose, requests } of unsaved) {
      add(lease.month, purpose, requests);
      add(lease.month, LEASED, -requests);
      addDay(day, flow, purpose, requests);
    }
    unsaved = [];
  }

  /** What was leased and not sent is free again. Inside a transaction. */
  function giveBack(): void {
    saveSpending();
    if (lease.left > 0) add(lease.month, LEASED, -lease.left);
    lease = { month: "", left: 0 };
  }

  /** Those of a month, by day, flow and purpose. */
  const inMonth = (month: string): Unsaved[] => [
    ...dayRows(`${month}-01`, `${month}-31`),
    ...unsaved.filter(({ day }) => monthOf(day) === month),
  ];

  return {
    saveSpending,
    giveBack,
    /** What the work asks of the platform is counted as this flow's. */
    spending: <Result>(flow: number, work: () => Result): Result => spender.run(flow, work),
    /** How many requests of this month may be sent before more must be leased. */
    leased: (month: string): number => (lease.month === month ? lease.left : 0),
    /** Inside a transaction that is durable before the first of them is sent. */
    lease(month: string, requests: number): void {
      if (lease.month !== month) {
        forget(`${monthBefore(month)}-01`);
        forgetWaits(monthBefore(month));
      }
      giveBack();
      add(month, LEASED, requests);
      lease = { month, left: requests };
    },
    /** One more request on this day (`2026-11-23`, UTC), out of the lease of its month. */
    spend(day: string, purpose: Purpose): void {
      lease.left--;
      const flow = spender.getStore() ?? 0;
      const row = unsaved.find(
        (one) => one.day === day && one.purpose === purpose && one.flow === flow,
      );
      if (row === undefined) unsaved.push({ day, flow, purpose, requests: 1 });
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
      const byDay = Map.groupBy(inMonth(month), ({ day }) => day);
      return [...byDay].map(([day, those]) => ({ day, spent: byPurpose(those) }));
    },
    /** How far looks are ahead of the month: kept with what is spent. */
    haste: (): Haste => (haste ??= keptHaste() ?? { requests: 0, atMs: 0 }),
    hasten: (now: Haste): void => void (haste = now),
    /** Requests of a month, or of a day in it, by the flow whose work asked for them. Empty where days are not kept any more. */
    spentByFlow(period: string): ReadonlyMap<number, Spent> {
      const those = inMonth(monthOf(period)).filter(({ day }) => day.startsWith(period));
      const byFlow = Map.groupBy(those, ({ flow }) => flow);
      return new Map([...byFlow].map(([flow, those]) => [flow, byPurpose(those)]));
    },
    /** Changes of a flow were stored or delivered. Inside a transaction. */
    waited: (month: string, flow: number, counted: Counted): void =>
      void addWaits({ ...counted, month, flow }),
    waits: rows<[month: string], Counted & { readonly flow: number }>(
      "select flow, step, worked, length, count from staleness where month = ?",
    ),
  };
}

function byPurpose(those: readonly Unsaved[]): Spent {
  const spent: Partial<Record<Purpose, number>> = {};
  for (const { purpose, requests } of those) spent[purpose] = (spent[purpose] ?? 0) + requests;
  return spent;
}

/** So many changes, by how long they had waited: a length (src/core/pace.ts), 0 where nobody knows. */
export interface Counted {
  readonly step: "stored" | "delivered";
  /** 1: they were made in office hours. */
  readonly worked: 0 | 1;
  readonly length: number;
  readonly count: number;
}

function monthBefore(month: string): string {
  const at = new Date(`${month}-01T00:00:00Z`);
  at.setUTCMonth(at.getUTCMonth() - 1);
  return at.toISOString().slice(0, 7);
}

/**
 * Requests that are made durable at once, at most: so many a killed process may count without having sent them. The first block of a
 * process is one and each twice the last: of many companies in one that is killed none counts more than it had sent.
 */
const BLOCK_MOST = 20;

/** Of a store what the month is kept in. */
interface MonthStore {
  readonly journal: ReturnType<typeof spending> & {
    breakers(): readonly { breaker: string; scope: string; retryMs: number | null }[];
  };
  readonly transaction: (work: () => void) => void;
}

/**
 * The month for a governor: what was spent of it, and whether the platform has closed it. `share`: the part of the month that
 * the site of this store has beside others, 0 to 1.
 */
export function ledger(
  { journal, transaction }: MonthStore,
  budget: Budget = usualBudget,
  share = (): number => 1,
) {
  let block = 0;
  const hasteOf = (nowMs: number) => {
    const spent = journal.spent(monthOf(dayAt(nowMs)));
    const kept = journal.haste();
    // Kept by a clock that was ahead, it would not pass before that time comes.
    if (kept.atMs > nowMs) journal.hasten({ requests: kept.requests, atMs: nowMs });
    return hasteAt({ budget, spent, haste: journal.haste(), share: share() }, nowMs);
  };
  return {
    spent: (month: string): Spent => journal.spent(month),
    /** How far looks are ahead of the month. */
    haste: hasteOf,
    /** One more request at that instant, ms UTC. @throws StorageError, EnvironmentError */
    spend(atMs: number, purpose: Purpose): void {
      const day = dayAt(atMs);
      const month = monthOf(day);
      if (!isForWrites(purpose)) journal.hasten({ requests: hasteOf(atMs).requests + 1, atMs });
      if (journal.leased(month) === 0) {
        block = Math.min(Math.max(2 * block, 1), BLOCK_MOST);
        transaction(() => journal.lease(month, block));
      }
      journal.spend(day, purpose);
    },
    closedUntil(nowMs: number): number | null {
      const stop = journal
        .breakers()
        .find(({ breaker, scope }) => breaker === "quota" && scope === "platform");
      const until = stop?.retryMs ?? 0;
      return until > nowMs ? until : null;
    },
    /** At the end of a process: what was leased and not sent is free again. */
    close(): void {
      if (block > 0) transaction(() => journal.giveBack());
      block = 0;
    },
  };
}

export type StoreLedger = ReturnType<typeof ledger>;
