/**
 * What goes when its time is over, in small steps. Links, keys, hashes, states and the audit stay, and so do the bytes
 * that a document was last delivered by, and all of what is still open, waits, or differs.
 */
import type Database from "better-sqlite3";
import { asking } from "./statements.ts";

export interface Removed {
  /** Requests whose bytes went, and how many bytes. */
  readonly requests: number;
  readonly bytes: number;
}

export interface StoreSize {
  /** Of the file. */
  readonly bytes: number;
  /** In it, free for what comes next. */
  readonly freeBytes: number;
}

/** Requests that one step looks at, and pages that one step gives back. */
const STEP = 500;
const PAGES = 256;

export function retention(database: Database.Database) {
  const { rows, run, value } = asking(database);
  const last = value<[], number>("select max(request) from request");
  // Every document of it was delivered anew since, and nothing of it is open, waits or differs.
  const replaced = rows<
    [{ after: number; upTo: number; before: number }],
    { request: number; bytes: number }
  >(
    `select request, length(cast(body as blob)) as bytes from request r
     where request > :after and request <= :upTo and live is null and body_gone_ms is null and updated_ms < :before
       and exists (select 1 from delivery d where d.request = r.request)
       and not exists (select 1 from delivery d where d.request = r.request and (
         d.state in ('pending', 'frozen', 'quarantined')
         or exists (select 1 from wait w where w.record = d.record)
         or exists (select 1 from disagreement g where g.record = d.record)
         or not exists (select 1 from delivery n where n.record = d.record and n.delivery > d.delivery
           and n.state = 'delivered' and n.content is not null and n.request <> d.request)))
       and not exists (select 1 from carried_before c join delivery d using (delivery)
         where c.request = r.request and d.state in ('pending', 'frozen', 'quarantined'))`,
  );
  const remove = run<[atMs: number, request: number]>(
    "update request set body = '', body_gone_ms = ? where request = ?",
  );
  const pragma = (name: string): number => database.pragma(name, { simple: true }) as number;

  return {
    /** The last request there is: a pass goes up to it. */
    lastRequest: (): number => last() ?? 0,
    /** One step of a pass, inside a transaction: the next requests after `after`, of those before that time. */
    removeBytes(
      after: number,
      beforeMs: number,
      atMs: number,
    ): Removed & { readonly upTo: number } {
      const upTo = after + STEP;
      const found = replaced({ after, upTo, before: beforeMs });
      for (const { request } of found) remove(atMs, request);
      return {
        requests: found.length,
        bytes: found.reduce((sum, { bytes }) => sum + bytes, 0),
        upTo,
      };
    },
    /** The fields of differences that were settled before that time; how many. One step, inside a transaction. */
    removeSettled: run<[beforeMs: number]>(
      `update difference set case_row = null where difference in (
         select difference from difference
         where state = 'cleared' and case_row is not null and last_ms < ? limit ${STEP})`,
    ),
    /** Gives some free pages back to the disk; false: there is none. Outside a transaction. */
    giveBack(): boolean {
      if (pragma("freelist_count") === 0) return false;
      database.pragma(`incremental_vacuum(${PAGES})`);
      return true;
    },
    /** The file has its new length once the log is written into it. */
    settle: (): void => void database.pragma("wal_checkpoint(passive)"),
    size(): StoreSize {
      const page = pragma("page_size");
      return { bytes: pragma("page_count") * page, freeBytes: pragma("freelist_count") * page };
    },
  };
}
