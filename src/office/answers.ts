/** What the office is asked with, and what it answers; the questions themselves are one table ({@link questions}). */
import type { DaySpent, Forecast, PAUSED, Purpose } from "../core/budget.ts";
import type { Day } from "../core/holdings.ts";
import type { Presence } from "../core/contract.ts";
import type { Quiet } from "../core/silence.ts";
import type { LateCode, Reason } from "../engine/schedule.ts";
import type { FieldDifference } from "../reconcile/case.ts";
import type { CaseRow } from "../reconcile/rows.ts";
import type { AuditRow } from "../store/quarantine.ts";
import type { StoreSize } from "../store/requests.ts";
import type { Editing } from "./asked.ts";
import type { Action } from "./remedies.ts";

export class OfficeError extends Error {
  readonly next: string;
  constructor(message: string, next: string) {
    super(message);
    this.name = "OfficeError";
    this.next = next;
  }
}

export interface ReconcileCost {
  /** Endpoints that call us and are not there: the run waits for their next session, so long at most, ms. */
  readonly waits: { readonly endpoints: readonly string[]; readonly atMostMs: number } | null;
  readonly from: Day;
  readonly to: Day;
  /** To the platform, about: single reads of what differs come on top. */
  readonly requests: number;
  /** What the month still allows for this purpose. */
  readonly left: number;
}

export interface Retried {
  readonly retried: number;
  /** In quarantine as before: their record, or what they wait for, must change. */
  readonly left: number;
}

/** The process that works on the store. */
export interface RunningDaemon {
  readonly pid: number;
  /** ISO 8601 UTC */
  readonly startedAt: string;
  /** Left out: it is `fuelbridge run`. */
  readonly command?: string;
}

/** An endpoint will stop unless a person acts before. */
export interface Warning {
  readonly endpoint: string;
  /** Stable, kebab-case. */
  readonly code: string;
  readonly message: string;
  readonly next: string;
}

export interface Status {
  readonly version: string;
  readonly company: string;
  readonly environment: "live" | "test";
  /** Null when no daemon runs. */
  readonly daemon: RunningDaemon | null;
  /** Why both sides are not in step, as far as the store knows; empty: they are. */
  readonly outOfStep: readonly Reason[];
  /**
   * True when no flow is stopped (one that waits for budget is not), nothing is quarantined, no request waits for a
   * person, nothing stands still for longer than it may, nothing lies unread (what is still being written may), nobody who calls us is silent for too long, the sides have no confirmed difference, the
   * last night could compare everything and read every feed anew, and the month has requests left.
   */
  readonly healthy: boolean;
  readonly flows: readonly FlowStatus[];
  readonly stops: readonly Stop[];
  /** What a person should do before something stops; nothing of it makes this unhealthy yet. */
  readonly warnings: readonly Warning[];
  /** Endpoints that call us. */
  readonly callers: readonly Caller[];
  /** All groups, the largest first; the flows' `quarantined` are their deliveries. */
  readonly quarantine: readonly QuarantineGroup[];
  readonly reconciliation: ReconciliationStatus;
  /** The last time that the daemon found this machine's clock set, and by how much (ms, negative: back). */
  readonly clockJump: { readonly at: string; readonly byMs: number } | null;
  readonly store: StoreSize;
  /** Requests to the platform in this calendar month (UTC). */
  readonly requests: Pick<MonthStatus, "month" | "used" | "perMonth" | "forecast">;
}

/** An endpoint that calls us, and what waits for its next call. */
export interface Caller extends Presence {
  readonly endpoint: string;
  /** Documents that are not delivered to it yet. */
  readonly waiting: number;
}

/** What is known of both sides' agreement: by the last run, whoever asked for it. */
export interface ReconciliationStatus {
  /** When the daemon last compared both sides whole, ISO 8601 UTC; null: never. */
  readonly lastAt: string | null;
  /** Why the last run ended without an answer; null: it did not. */
  readonly trouble: string | null;
  /** Whom a run waits for, since when and until when at most (ISO 8601 UTC); null: nobody. */
  readonly waits: {
    readonly endpoint: string;
    readonly since: string;
    readonly until: string;
    readonly message: string;
    readonly next: string;
  } | null;
  /** What the daemon's last run could not compare, and what to do. What a connector can never tell is not named. */
  readonly notCompared: readonly {
    readonly endpoint: string;
    /** Left out: all that there is. */
    readonly kind?: string;
    readonly what?: string;
    readonly why: string;
    readonly next: string;
  }[];
  /** Feeds that could not be read anew for what was committed late; it is tried again within the hour. */
  readonly notWalked: readonly {
    readonly flow: string;
    /** Since when what was committed late is not known, ISO 8601 UTC; null: it was never read anew. */
    readonly since: string | null;
    readonly message: string;
    readonly next: string;
  }[];
  /** Null: the daemon does not do it by itself. */
  readonly nextDueAt: string | null;
  /** Nights between two runs, so that they fit into their share of the month; 1: every night. */
  readonly everyNights: number;
  /** The share of the month that would do, percent; null: it suffices. */
  readonly wantsShare: number | null;
  /**
   * Those that a second run has confirmed, and those `seen` by one; `first` of both. Beside them: `clears`, by themselves,
   * and `accepted` by a person.
   */
  readonly differences: {
    readonly confirmed: number;
    readonly seen: number;
    readonly clears: number;
    readonly accepted: number;
    readonly first: readonly Pick<KnownDifference, "kind" | "number" | "bucket" | "cause">[];
  };
}

export interface KnownDifferences {
  /** When both sides were last compared, ISO 8601 UTC; null: never. */
  readonly lastAt: string | null;
  /** Confirmed ones first, then as they were first seen. */
  readonly differences: readonly KnownDifference[];
  /** What a person has accepted as it is, until its values change. */
  readonly accepted: readonly KnownDifference[];
}

/** A record that keeps both sides from agreeing, as the last run that asked for it found it. */
export interface KnownDifference {
  readonly kind: string;
  /** The flow by which a person may accept it; null: it is not theirs to accept, or no flow carries it. */
  readonly flow: string | null;
  /** What people know it by. */
  readonly number: string;
  readonly bucket: string;
  readonly cause: string;
  readonly next: string;
  /** A second run, the settling time later, found it just so. */
  readonly confirmed: boolean;
  /** ISO 8601 UTC: when it was first and last found with these values. */
  readonly since: string;
  readonly last: string;
  /** With both values of every field; null: an older version of fuelbridge found it. */
  readonly row: CaseRow | null;
}

/** When both sides of a flow last agreed. */
export interface Agreement {
  /** ISO 8601 UTC */
  readonly at: string;
  readonly documents: number;
  /** In the company's currency; null: they have no amounts. */
  readonly amount: string | null;
}

/** Requests of the calendar month (UTC), as this store has counted them: all that were sent, billed or not. */
export interface MonthStatus {
  /** `2026-11` */
  readonly month: string;
  readonly used: number;
  readonly perMonth: number;
  readonly purposes: readonly {
    /** `lost`: sent, or not, by a process that was killed before it had written down what for. */
    readonly purpose: Purpose | "lost";
    readonly used: number;
    /** What nobody else may use. */
    readonly reserve: number;
    readonly left: number;
  }[];
  readonly forecast: Forecast;
  /** As this store has counted them, the oldest first; what it has no day for is in `purposes` alone. */
  readonly days: readonly DaySpent[];
  /** Flows that read all of a list each time: what that costs, and how much seldomer than configured they are read. */
  readonly lists: readonly {
    readonly flow: string;
    readonly pages: number;
    readonly slowing: number;
  }[];
  readonly polls: readonly PollCost[];
  /** Null when no daemon runs. */
  readonly minute: {
    readonly used: number;
    readonly limit: number;
    /** How long nothing is sent because the minute is used up. */
    readonly opensInMs: number;
  } | null;
}

/** received = pending + delivered + skipped + echoes + quarantined + resolved + superseded, always. */
export interface FlowStatus {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  /** `paused: budget`: it goes on when the month allows it. */
  readonly state: "idle" | "running" | "paused" | typeof PAUSED | "stopped";
  readonly schedule: string;
  /** ISO 8601 UTC. */
  readonly lastRunAt: string | null;
  /** When its source was last read; null: never. ISO 8601 UTC, as the next. */
  readonly lastSuccessAt: string | null;
  /** Since when its source cannot be read; null: it can. */
  readonly failingSince: string | null;
  readonly nextDueAt: string | null;
  /**
   * Why the last run did not read its source, with what to do; null when it did. `code`: a stop's name, `budget`,
   * `configuration`, `failed` (a fault in fuelbridge or a mapping), else `unavailable`.
   */
  readonly lastError: {
    readonly code: string;
    readonly message: string;
    readonly next: string;
  } | null;
  readonly received: number;
  readonly pending: number;
  readonly delivered: number;
  /** Rightly not delivered: drafts, cancelled documents, content that did not change what was sent. */
  readonly skipped: number;
  /** Our own documents, read back. */
  readonly echoes: number;
  readonly quarantined: number;
  readonly resolved: number;
  /** Replaced by a newer version before it went out. */
  readonly superseded: number;
  /** Delivered, and waiting for what settles them (an invoice for its payments), the last of them until `until`. */
  readonly waits: { readonly count: number; readonly until: string } | null;
  /** What its source cannot read though it lies there, or has refused, the oldest first; and what that holds back. */
  readonly unread: readonly Unread[];
  /** Nothing came into its source for longer than ever before, or than is set; null: no such silence is known. */
  readonly silence: Quiet | null;
  /** What has not gone on for too long, by its reason. */
  readonly late: readonly LateDocuments[];
  /** Null: never, as far as anybody has looked. */
  readonly agreed: Agreement | null;
}

/** On its way for longer than the flow's interval and its receiver's settling, or waiting for another for as long. */
export interface LateDocuments {
  readonly code: LateCode;
  readonly count: number;
  /** Of the oldest, ISO 8601 UTC. */
  readonly since: string;
  readonly message: string;
  readonly next: string;
  /** It is told as a stop or a pause, or its turn comes while others go out: nobody is alarmed by it. */
  readonly expected: boolean;
}

export interface Unread {
  /** A file's name, or the names of files that belong together. */
  readonly what: string;
  /** ISO 8601 UTC: since when it is known and not read. */
  readonly since: string;
  readonly code: string;
  readonly message: string;
  readonly next: string;
  /** Whoever writes it is not done yet: nobody need do anything. */
  readonly awaited: boolean;
  /** It came and was refused: it stands until a person settles it or it comes whole. */
  readonly lasts: boolean;
  /** Newer ones that are not read before it, oldest first: all are counted, the first 20 are named. */
  readonly behind: { readonly count: number; readonly names: readonly string[] };
}

/** A breaker: something that pauses work and harms nothing. */
export interface Stop {
  readonly breaker: string;
  readonly scope: string;
  readonly since: string;
  readonly message: string;
  readonly next: string;
}

export type ShownGroup = QuarantineGroup & { readonly deliveries: readonly Quarantined[] };

export interface QuarantineGroup {
  readonly id: string;
  readonly flow: string;
  readonly code: string;
  readonly cause: string;
  readonly next: string;
  readonly count: number;
  /** Of the oldest one, ISO 8601 UTC, and how long ago that is. */
  readonly since: string;
  readonly ageMs: number;
  /** What a person can do about it with success. */
  readonly helps: readonly Action[];
  /** `12 invoices wait for one row of products: ULSD-DYED` */
  readonly title: string;
  /** What it means to who keeps the books, and to who runs fuelbridge. */
  readonly accountant: string;
  readonly operator: string;
  /** The row of a cross-reference table that all of them wait for; null: it is another cause. */
  readonly lookup: { readonly table: string; readonly key: string } | null;
}

export interface Quarantined {
  readonly delivery: string;
  /** As the question `document` takes it. */
  readonly document: string;
  /** `INV-118 · Prairie Fuel · $20,712.42 · waits for customer 000113` */
  readonly summary: string;
  readonly number: string;
  readonly recordId: string;
  readonly version: string | null;
  readonly origin: string | null;
  readonly field: string | null;
  readonly since: string;
  readonly ageMs: number;
  /** What people call it, where `number` is an id: a payment's reference. */
  readonly name: string | null;
  /** The other party, by its code in the ERP and its name so far as they are known. */
  readonly party: string | null;
  /** Decimal digits, in `currency` (ISO 4217); null: it has none, or it cannot be read. */
  readonly amount: string | null;
  readonly currency: string | null;
  /** Its own, with the values that the group's leaves out. */
  readonly cause: string;
  /** The number, else the id, of the document that it waits for. */
  readonly awaits: string | null;
  /** What people corrected in it; until a newer version comes. */
  readonly corrections: readonly ShownCorrection[];
  /** Fields that may be corrected here, as they were received; none where it was sent. */
  readonly correctable: readonly { readonly field: string; readonly value: string }[];
  /** Who sees to it; null: nobody. */
  readonly assignee: string | null;
  /** The oldest first; `at`: ISO 8601 UTC. */
  readonly notes: readonly { readonly at: string; readonly who: string; readonly text: string }[];
}

export interface Trace {
  readonly number: string;
  readonly steps: readonly TraceStep[];
  /** The quarantine groups that it is in now. */
  readonly groups: readonly string[];
}

/** One line of a document's story, oldest first. */
export interface TraceStep {
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly flow: string;
  readonly event: string;
  /** The whole of it, also of an answer that lists every document of a batch. */
  readonly detail: string;
  /** What an answer about several documents says of this one, and of how many others; null: it is no such answer. */
  readonly own: { readonly detail: string; readonly others: number } | null;
  readonly platformId: string | null;
  readonly erpId: string | null;
}

/** What a flow that reads from the platform costs there. */
export interface PollCost {
  readonly flow: string;
  /** Requests of a look that finds nothing new. */
  readonly perLook: number;
  /** So many times as far apart as configured it looks, to save requests. */
  readonly times: number;
  /** Requests in a month of 31 days, at least: as often as it looks now, and nothing new. */
  readonly perMonth: number;
}

/** One look of a flow at its source. */
export interface Look {
  readonly flow: string;
  /** When it ended, ISO 8601 UTC. */
  readonly at: string;
  readonly tookMs: number;
  /** Changes that were new. */
  readonly received: number;
  /** Why the source was not read to its end; null: it was. */
  readonly trouble: string | null;
}

export interface Found {
  readonly documents: readonly FoundDocument[];
  /** For the next page; null: this is the last one. */
  readonly next: string | null;
  /** Documents that cannot be found by party, amount and day yet, about. */
  readonly unsearched: number;
}

export interface FoundDocument {
  readonly id: string;
  readonly flow: string;
  readonly kind: string;
  /** `INV-118 · Prairie Fuel · $20,712.42 · waits for customer 000113` */
  readonly summary: string;
  readonly number: string;
  readonly state: string;
  /** In quarantine, and nobody has to do anything. */
  readonly clears: boolean;
  /** ISO 8601 UTC */
  readonly receivedAt: string;
}

export interface Life extends FoundDocument {
  readonly recordId: string;
  readonly from: string;
  readonly to: string;
  readonly mapping: string;
  readonly platformId: string | null;
  readonly erpId: string | null;
  /** The newest first. */
  readonly versions: readonly {
    readonly version: string | null;
    readonly origin: string | null;
    readonly receivedAt: string;
    readonly stands: string;
  }[];
  readonly story: Trace["steps"];
  /** The quarantine groups that it is in now. */
  readonly groups: readonly string[];
  /** Its newest version, field by field, as it was received. */
  readonly record: readonly Field[];
  /** What people corrected in it; until a newer version comes. */
  readonly corrections: readonly ShownCorrection[];
  /** The newest first. */
  readonly requests: readonly SentRequest[];
  /** What the last reconciliation found to differ. */
  readonly differences: readonly FieldDifference[];
}

export interface Field {
  /** `lines.1.quantity` */
  readonly path: string;
  readonly value: string;
}

export interface SentRequest {
  readonly operation: string;
  readonly key: string;
  readonly target: string;
  readonly body: string;
  readonly sha256: string;
  readonly state: string;
  /** ISO 8601 UTC */
  readonly frozenAt: string;
  readonly sentAt: string | null;
  /** When its bytes went, for they had been kept for long enough; null: they are here. */
  readonly removedAt: string | null;
}

export interface Deeds {
  readonly deeds: readonly Deed[];
  readonly next: string | null;
}

export interface Deed {
  readonly id: string;
  /** ISO 8601 UTC */
  readonly at: string;
  readonly by: string;
  readonly event: string;
  readonly detail: string;
  /** Null: none was given. */
  readonly reason: string | null;
  readonly flow: string | null;
  /** What it was about, and where that is shown. */
  readonly document: { readonly id: string; readonly number: string } | null;
}

export interface ShownTable {
  readonly name: string;
  readonly file: string;
  /** The key first. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Rows that are there beyond those shown. */
  readonly more: number;
  /** Why it cannot be used now. */
  readonly faults: readonly string[];
  /**
   * Rows that no document has asked for since uses are counted (`since`, ISO 8601 UTC); null: that cannot be told, for
   * no flow reads the table, it cannot be used, or nothing was counted yet.
   */
  readonly unused: {
    readonly since: string;
    readonly keys: readonly string[];
    /** Beyond those. */
    readonly more: number;
  } | null;
  /** Rows that documents wait for. */
  readonly missing: readonly {
    readonly key: string;
    readonly count: number;
    readonly group: string;
  }[];
}

export interface Edited extends Editing {
  readonly delivery: string;
  /** What it was until now. */
  readonly was: string;
  /** The record's revision with it. */
  readonly revision: string;
  /** What keeps the document from going out even so, as far as can be told; null: nothing. */
  readonly still: string | null;
}

/** A field that a person has corrected, and that still stands. */
export interface ShownCorrection {
  readonly field: string;
  /** What was received; null: the field was empty. */
  readonly was: string | null;
  readonly value: string;
  readonly by: string;
  readonly reason: string;
  /** ISO 8601 UTC */
  readonly at: string;
}

export interface AuditPage {
  /** The oldest first. */
  readonly entries: readonly AuditEntry[];
  /** What `after` is for the next page; null: this was the last. */
  readonly next: number | null;
}

export interface AuditEntry extends Omit<AuditRow, "audit" | "atMs" | "record"> {
  readonly entry: number;
  /** ISO 8601 UTC. */
  readonly at: string;
}

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
