/**
 * The audit as a chain (ADR 0056): each entry holds a SHA-256 over the hash of the one before it and its own content, so
 * that an entry that is changed, removed or put in between is found. Every entry is written here.
 */
import type Database from "better-sqlite3";
import { hash } from "node:crypto";

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

interface Row extends Required<Content> {
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

/** An entry and its hash (hex), as somebody noted it. */
export interface Noted {
  readonly entry: number;
  readonly hash: string;
}

/** The newest entry and its hash; null: there is none. */
export function newestEntry(database: Database.Database): () => Noted | null {
  const last = database.prepare<[], Noted>(
    "select audit as entry, lower(hex(chain)) as hash from audit order by audit desc limit 1",
  );
  return () => last.get() ?? null;
}

/**
 * Looks at every entry, in steps. Whoever chains a changed audit anew, or cuts off its end, is found out by an entry that was
 * `noted` earlier.
 */
export function* checkedChain(
  database: Database.Database,
  noted: Noted | null,
): Generator<void, Checked> {
  const rows = database.prepare<[number, number], Row>(ROW);
  let last: Row | null = null;
  let entries = 0;
  for (let page = rows.all(0, STEP); page.length > 0; page = rows.all(last?.audit ?? 0, STEP)) {
    for (const row of page) {
      const expected: number = (last?.audit ?? 0) + 1;
      entries++;
      const isKnown = noted?.entry !== row.audit || row.chain === noted.hash;
      const isWhole = isKnown && isLinked(last, row);
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

const isLinked = (before: Row | null, row: Row): boolean =>
  row.chain === linkOf(before?.chain ?? "", row);

const headOf = (row: Row | null): Noted | null =>
  row === null ? null : { entry: row.audit, hash: row.chain };

function linkOf(before: string, row: Omit<Row, "chain">): string {
  const { audit, at, flow, request, delivery, event, detail, parts, who, reason } = row;
  const content = [audit, at, flow, request, delivery, event, detail, parts, who, reason];
  return hash("sha256", `${before}\n${JSON.stringify(content)}`);
}
