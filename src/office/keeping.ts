/** What people ask about the store itself: past periods that are read anew, and whether the audit is as it was written. */
import type { Day } from "../core/holdings.ts";
import type { Person } from "./desk.ts";

export interface Keeping {
  /** What a backfill will take; it makes one request. @throws OfficeError, SourceUnavailable when it cannot be done */
  backfillCost(asked: Backfilling): Promise<BackfillCost>;
  /**
   * Reads a past period anew beside the live position, until it is done or paused. An unfinished one of the same flow and
   * period goes on where it was.
   * @throws OfficeError, SourceUnavailable when it cannot be begun
   */
  backfill(asked: Backfilling): Promise<BackfillState>;
  /**
   * The same, and the daemon carries it out: returns what it will take once it is written down. It makes one request.
   * @throws OfficeError, SourceUnavailable when it cannot be begun
   */
  backfillBegin(asked: Backfilling): Promise<BackfillCost>;
  /** The newest first. */
  backfills(): Promise<readonly BackfillState[]>;
  /**
   * Whether the audit is as it was written: every entry holds a hash over the one before it and its own content. `noted`:
   * an entry and its hash as somebody noted it earlier; null: nobody did.
   */
  checkAudit(noted: AuditHead | null): Promise<AuditCheck>;
  /** The newest entry of the audit, which is not checked here; null: there is none. */
  auditHead(): Promise<AuditHead | null>;
}

/** An entry of the audit and its hash (SHA-256, hex). Who knows it finds out that the audit was changed or cut off before it. */
export interface AuditHead {
  readonly entry: number;
  readonly hash: string;
}

export interface AuditCheck {
  readonly entries: number;
  /** The newest entry, to be noted elsewhere; null: there is none. */
  readonly head: AuditHead | null;
  /**
   * The first entry that is not as it was written. `changed`: its content or its hash; `missing`: entries were removed
   * before it, or it is newer than any that is left; null: all are as they were.
   */
  readonly broken: { readonly entry: number; readonly how: "changed" | "missing" } | null;
}

export interface Backfilling extends Person {
  readonly flow: string;
  /** Days of the company, both included. */
  readonly from: Day;
  readonly to: Day;
  /** Percent of the month's requests that backfills may use, this one included. */
  readonly share: number;
}

/** Percent of the month's requests that backfills may use unless somebody says otherwise. */
export const BACKFILL_SHARE = 5;

export interface BackfillCost {
  /** To be gone through: what changed since the first day; null: the platform does not say. */
  readonly records: number | null;
  /** About; each record of the period that the list shows only in part takes one more. */
  readonly requests: number | null;
  /** What the share still allows this month. */
  readonly left: number;
  readonly goesOn: boolean;
}

export interface BackfillState {
  readonly flow: string;
  readonly from: Day;
  readonly to: Day;
  /** `reading` also when the process that read has ended: the daemon goes on with it. */
  readonly state: "reading" | "paused" | "done";
  readonly share: number;
  readonly by: string;
  /** ISO 8601 UTC: when it began, and when it last got on. */
  readonly beganAt: string;
  readonly changedAt: string;
  /** Of what it goes through, 0 to 1; null: nobody knows. */
  readonly done: number | null;
  /** Records of the period so far; `received`: those that were new. */
  readonly records: number;
  readonly received: number;
  readonly requests: number;
  /** Why it is paused; null: it is not. */
  readonly trouble: {
    readonly code: string;
    readonly message: string;
    readonly next: string;
  } | null;
}
