/**
 * What the daemon tells about itself: the audit, the breakers, and what people were told is wrong.
 *
 * The audit is a chain (ADR 0021): each entry holds a SHA-256 over the hash of the one before it and its own content, so that
 * an entry that is changed, removed or put in between is found. Every entry is written here.
 */
import type Database from "better-sqlite3";
import { hash } from "node:crypto";
import { spending } from "./budget.ts";
import { asking } from "./statements.ts";

export interface Content {
  readonly at: number;
  readonly flow?: number | null;
  readonly request?: number | null;
  readonly delivery?: number | null;
  readonly event: string;
  readonly detail: string;
  /** JSON. */
  readonly parts?: string | null;
  readonly who?: string | null;
  readonly reason?: string | null;
}

interface ChainedRow extends Required<Content> {
  readonly audit: number;
  /** Hex. */
  readonly chain: string;
}

export interface Checked {
  /** Entries that were looked at. */
  readonly entries: number;
  readonly head: Noted | null;
  readonly broken: { readonly entry: number; readonly how: "changed" | "missing" } | null;
}

/** An entry and its hash (hex), as somebody noted it. */
export interface Noted {
  readonly entry: number;
  readonly hash: string;
}

export interface Entry {
  readonly flow?: number;
  readonly request?: number;
  readonly delivery?: number;
  readonly event: string;
  readonly detail: string;
  /** What it says of each delivery, where it is about a request that carries several. */
  readonly parts?: Readonly<Record<number, string>> | undefined;
  /** The person who decided it, and why; left out: fuelbridge itself. */
  readonly person?: { readonly by: string; readonly note: string } | undefined;
}

export interface BreakerRow {
  readonly breaker: string;
  readonly scope: string;
  readonly sinceMs: number;
  /** When one try is made all the same; null: only a person clears it. */
  readonly retryMs: number | null;
  readonly message: string;
  readonly next: string;
}

export function journal(database: Database.Database) {
  const { run, rows, value } = asking(database);
  const append = appending(database);
  const trip = run<[BreakerRow]>(
    `insert into breaker (breaker, scope, since_ms, retry_ms, message, next)
     values (:breaker, :scope, :sinceMs, :retryMs, :message, :next)
     on conflict do update set retry_ms = excluded.retry_ms, message = excluded.message, next = excluded.next`,
  );
  const clear = run<[scope: string]>(
    "delete from breaker where scope = ? and retry_ms is not null",
  );
  const drop = run<[breaker: string]>("delete from breaker where breaker = ?");
  const release = run<[breaker: string, atMs: number, by: string]>(
    `insert into released (breaker, at_ms, released_by) values (?, ?, ?)
     on conflict do update set at_ms = excluded.at_ms, released_by = excluded.released_by`,
  );
  const redate = run<[{ breaker: string; scope: string; at: number }]>(
    `update breaker set since_ms = min(since_ms, :at), retry_ms = iif(retry_ms is null, null, :at)
     where breaker = :breaker and scope = :scope`,
  );
  const replays = value<[sinceMs: number], number>("select count(*) from replay where at_ms > ?");
  const breakers = rows<[], BreakerRow>(
    `select breaker, scope, since_ms as sinceMs, retry_ms as retryMs, message, next
     from breaker order by since_ms`,
  );

  /** As committed; they are asked for several times in each step of a request. */
  let standing: readonly BreakerRow[] | null = null;

  return {
    audit(atMs: number, entry: Entry): void {
      const { detail, parts, person, ...about } = entry;
      append({
        ...about,
        at: atMs,
        detail: shortened(detail),
        parts: parts === undefined ? null : JSON.stringify(parts),
        who: person?.by ?? null,
        reason: person?.note ?? null,
      });
    },
    /** Is every entry as it was written? */
    check: (noted: Noted | null, between: () => Promise<void>): Promise<Checked> =>
      checkChain(database, noted, between),
    /** The newest entry of the audit and its hash. */
    head: newestEntry(database),
    trip(breaker: BreakerRow): void {
      standing = null;
      trip({ ...breaker });
    },
    /** Work in this scope went well again: breakers that clear by themselves are cleared. */
    clear(scope: string): boolean {
      standing = null;
      return clear(scope) > 0;
    },
    /** It began at `atMs` at the latest and, unless only a person clears it, is tried again then. */
    redate({ breaker, scope }: Pick<BreakerRow, "breaker" | "scope">, atMs: number): void {
      standing = null;
      redate({ breaker, scope, at: atMs });
    },
    /** The wall clock when something was last written down here, ms UTC; null: nothing was. */
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
      const said = { event: `released: ${breaker}`, detail: `by ${by}` };
      append({ at: atMs, ...said, who: by, reason: note });
      return true;
    },
    /** When a person last cleared it, ms UTC; null when nobody ever did. */
    releasedAt: value<[breaker: string], number>("select at_ms from released where breaker = ?"),
    /** The first send of this request was answered with a replay. Inside a transaction. */
    replayed: run<[atMs: number, request: number]>(
      "insert into replay (at_ms, request) values (?, ?)",
    ),
    /** How many first sends were answered with a replay after this time (ms UTC). */
    replaysSince: (atMs: number): number => replays(atMs) ?? 0,
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
export const shortened = (detail: string): string => detail.slice(0, 2_000);

const ROW = `select audit, at_ms as at, flow, request, delivery, event, detail, parts, who, reason,
  lower(hex(chain)) as chain from audit where audit > ? order by audit limit ?`;
const STEP = 2_000;

/**
 * Appends one entry inside a transaction, and returns its number. The newest entry is remembered, and one is added only
 * where that is the newest still: after a transaction that did not happen, or an entry by another hand, it is read again.
 */
export function appending(database: Database.Database): (content: Content) => number {
  const newest = newestEntry(database);
  // Behind any other entry the time is null, which it may not be: nothing is added.
  const add = database.prepare(
    `insert or ignore into audit (audit, at_ms, flow, request, delivery, event, detail, parts, who, reason, chain)
     values (?, iif((select chain from audit order by audit desc limit 1) is unhex(?), ?, null),
       ?, ?, ?, ?, ?, ?, ?, ?, unhex(?))`,
  );
  let known: Noted | null = null;

  function addAfter(last: Noted | null, content: Content): Noted | null {
    const entry = (last?.entry ?? 0) + 1;
    const { flow = null, request = null, delivery = null, parts = null } = content;
    const { at, event, detail, who = null, reason = null } = content;
    const row = { audit: entry, at, flow, request, delivery, event, detail, parts, who, reason };
    const hash = linkOf(last?.hash ?? "", row);
    const before = last?.hash ?? null;
    const said = [event, detail, parts, who, reason];
    const { changes } = add.run(entry, before, at, flow, request, delivery, ...said, hash);
    return changes === 0 ? null : { entry, hash };
  }

  return (content) => {
    known = addAfter(known, content) ?? addAfter(newest(), content);
    if (known === null) throw new Error(`nothing can be added to the audit: ${content.event}`);
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
export type AlertState = "new" | "told" | "over";

export interface AlertRow extends Condition {
  readonly state: AlertState;
  /** When it was first seen, and when its state last changed, ms UTC. */
  readonly sinceMs: number;
  readonly changedMs: number;
}

export interface Message {
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
  const queue = run<[object]>(
    `insert into alert_message (channel, id, body, created_ms, next_ms)
     values (:channel, :id, :body, :atMs, :atMs) on conflict do nothing`,
  );
  const postpone = run<[untilMs: number, message: number]>(
    "update alert_message set attempts = attempts + 1, next_ms = ? where message = ?",
  );

  return {
    all: (): AlertRow[] => all().map((row) => ({ ...row, urgent: row.urgent === 1 })),
    /** Inside a transaction, as the next ones. */
    put: (row: AlertRow): void => void put({ ...row, urgent: row.urgent ? 1 : 0 }),
    drop: run<[key: string]>("delete from alert where condition = ?"),
    queue: (message: Pick<Message, "channel" | "id" | "body">, atMs: number): void =>
      void queue({ ...message, atMs }),
    postpone: (message: number, untilMs: number): void => void postpone(untilMs, message),
    done: run<[message: number]>("delete from alert_message where message = ?"),
    /** Messages whose next attempt is due. */
    due: rows<[atMs: number], Message>(
      `select message, channel, id, body, created_ms as createdMs, attempts
       from alert_message where next_ms <= ? order by message`,
    ),
  };
}
