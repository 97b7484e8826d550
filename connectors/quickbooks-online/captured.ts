/** Answers of change data capture, and the clock that every answer of QuickBooks tells. */
import { z } from "zod";
import { LedgerError } from "../../src/ledger/port.ts";
import type { Entity } from "./wire.ts";

/** An answer of change data capture. */
export interface Changed {
  /** QuickBooks' clock when it answered, ISO 8601 UTC. */
  readonly time: string;
  readonly rows: readonly ChangedRow[];
}

/** A record as it is now, or what is left of a deleted one: its id, and as a rule when it was deleted. */
export interface ChangedRow {
  readonly entity: Entity;
  readonly id: string;
  readonly deleted: boolean;
  readonly syncToken: string;
  /** ISO 8601 with an offset; null: it is not told. */
  readonly at: string | null;
  /** All of it, as it was answered. */
  readonly row: unknown;
}

/** Objects of one answer of change data capture: with as many, the answer may be cut off. */
export const CHANGES_MOST = 1000;

const instant = z.iso.datetime({ offset: true });
const utc = (text: string): string => new Date(text).toISOString();

const ChangedHead = z.looseObject({
  Id: z.string().min(1),
  status: z.string().optional(),
  SyncToken: z.string().default(""),
  MetaData: z.looseObject({ LastUpdatedTime: instant.optional() }).optional(),
});
/** One answer lists its entities one by one; beside the rows stand their counts. */
const ChangesBody = z.object({
  time: instant,
  CDCResponse: z.array(
    z.object({
      QueryResponse: z
        .array(
          z
            .record(z.string(), z.unknown())
            .transform((one) =>
              Object.fromEntries(Object.entries(one).filter(([, rows]) => Array.isArray(rows))),
            )
            .pipe(z.record(z.string(), z.array(ChangedHead))),
        )
        .default([]),
    }),
  ),
});

/** @param what was asked, for people @throws LedgerError */
export function changedIn(what: string, json: unknown, entities: readonly Entity[]): Changed {
  const answer = ChangesBody.safeParse(json);
  if (!answer.success) throw unreadable(what, answer.error);
  const rows = answer.data.CDCResponse.flatMap(({ QueryResponse }) => QueryResponse).flatMap(
    (one) => entities.flatMap((entity) => (one[entity] ?? []).map((row) => changed(entity, row))),
  );
  return { time: utc(answer.data.time), rows };
}

/** ISO 8601 UTC. @throws LedgerError */
export function timeIn(what: string, json: unknown): string {
  const answer = z.object({ time: instant }).safeParse(json);
  if (!answer.success) throw unreadable(what, answer.error);
  return utc(answer.data.time);
}

const changed = (entity: Entity, row: z.infer<typeof ChangedHead>): ChangedRow => ({
  entity,
  id: row.Id,
  deleted: row.status === "Deleted",
  syncToken: row.SyncToken,
  at: row.MetaData?.LastUpdatedTime ?? null,
  row,
});

export const unreadable = (what: string, error: z.ZodError | undefined): LedgerError =>
  new LedgerError(
    "torn",
    `${what}: the answer does not have QuickBooks' form: ${error?.issues[0]?.path.join(".") ?? ""} ${error?.issues[0]?.message ?? ""}`,
  );
