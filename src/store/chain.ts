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
  readonly chain: Buffer | null;
}

export interface Checked {
  /** Entries that were looked at. */
  readonly entries: number;
  readonly head: Noted | null;
  readonly broken: { readonly entry: number; readonly how: "changed" | "missing" } | null;
}

const ROW = `select audit, at_ms as at, flow, request, delivery, event, detail, parts, who, reason, chain
  from audit where audit > ? order by audit limit ?`;
const STEP = 2_000;

/** Appends one entry inside a transaction, and returns its number. */
export function appending(database: Database.Database): (content: Content) => number {
  const last = database.prepare<[], Pick<Row, "audit" | "chain">>(
    "select audit, chain from audit order by audit desc limit 1",
  );
  const add = database.prepare(
    `insert into audit (audit, at_ms, flow, request, delivery, event, detail, parts, who, reason, chain)
     values (:audit, :at, :flow, :request, :delivery, :event, :detail, :parts, :who, :reason, :chain)`,
  );
  return (content) => {
    const before = last.get();
    const audit = (before?.audit ?? 0) + 1;
    const row = { ...EMPTY, ...content, audit };
    add.run({ ...row, chain: linkOf(before?.chain ?? null, row) });
    return audit;
  };
}

const EMPTY = {
  flow: null,
  request: null,
  delivery: null,
  parts: null,
  who: null,
  reason: null,
} as const;

/** Entries from before there was a chain, as they are now: once, when the store is migrated. */
export function chainUnchained(database: Database.Database): void {
  const unchained = database
    .prepare<[], number>("select exists (select 1 from audit where chain is null)")
    .pluck();
  if (unchained.get() === 0) return;
  const rows = database.prepare<[number, number], Row>(ROW);
  const set = database.prepare("update audit set chain = ? where audit = ?");
  let before: Buffer | null = null;
  for (let after = 0, page = rows.all(0, STEP); page.length > 0; page = rows.all(after, STEP)) {
    for (const row of page) {
      const link = linkOf(before, row);
      if (row.chain === null) set.run(link, row.audit);
      before = row.chain ?? link;
      after = row.audit;
    }
  }
}

/** An entry and its hash (hex), as somebody noted it. */
export interface Noted {
  readonly entry: number;
  readonly hash: string;
}

/** The newest entry and its hash; null: there is none. */
export function newestEntry(database: Database.Database): () => Noted | null {
  const last = database.prepare<[], Pick<Row, "audit" | "chain">>(
    "select audit, chain from audit order by audit desc limit 1",
  );
  return () => headOf(last.get() ?? null);
}

/**
 * Looks at every entry, in steps: `between` runs after each, so that a daemon goes on meanwhile. Whoever chains a changed
 * audit anew, or cuts off its end, is found out by an entry that was `noted` earlier.
 */
export async function checkChain(
  database: Database.Database,
  noted: Noted | null,
  between: () => Promise<void>,
): Promise<Checked> {
  const rows = database.prepare<[number, number], Row>(ROW);
  let last: Row | null = null;
  let entries = 0;
  for (let page = rows.all(0, STEP); page.length > 0; page = rows.all(last?.audit ?? 0, STEP)) {
    for (const row of page) {
      const expected: number = (last?.audit ?? 0) + 1;
      entries++;
      const isKnown = noted?.entry !== row.audit || hashOf(row) === noted.hash;
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
    await between();
  }
  const isCut = noted !== null && noted.entry > (last?.audit ?? 0);
  const broken = isCut ? ({ entry: (last?.audit ?? 0) + 1, how: "missing" } as const) : null;
  return { entries, head: headOf(last), broken };
}

const isLinked = (before: Row | null, row: Row): boolean =>
  row.chain !== null && linkOf(before?.chain ?? null, row).equals(row.chain);

const headOf = (row: Pick<Row, "audit" | "chain"> | null): Checked["head"] =>
  row === null ? null : { entry: row.audit, hash: hashOf(row) };

const hashOf = ({ chain }: Pick<Row, "chain">): string => chain?.toString("hex") ?? "";

function linkOf(before: Buffer | null, row: Omit<Row, "chain">): Buffer {
  const { audit, at, flow, request, delivery, event, detail, parts, who, reason } = row;
  const content = [audit, at, flow, request, delivery, event, detail, parts, who, reason];
  return hash("sha256", `${before?.toString("hex") ?? ""}\n${JSON.stringify(content)}`, "buffer");
}
