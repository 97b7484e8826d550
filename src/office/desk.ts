/** What the console's pages ask beyond status, quarantine, budget and reconciliation. The command line may ask it, too. */
import type { FieldDifference } from "../reconcile/case.ts";
import type { Selector, Trace } from "./office.ts";
import type { Day } from "../core/holdings.ts";

export { LATELY_MAX } from "../store/found.ts";

/** Who decides, and why: both are kept. */
export interface Person {
  readonly by: string;
  readonly note: string;
}

export interface Desk {
  /** Documents, the newest first, a page at a time. */
  documents(asked: Searching): Promise<Found>;
  /** The life of one. `id`: of {@link FoundDocument}. @throws OfficeError when there is none */
  document(id: string): Promise<Life>;
  /** What came within the last hour and where it is now, of the newest {@link LATELY_MAX} documents. */
  lately(): Promise<readonly Lately[]>;
  /** The newest looks of each flow at its source, the newest first. */
  runs(): Promise<readonly Look[]>;
  /** Who sees to them. @throws OfficeError when the selector names nothing, as the next */
  assign(selector: Selector, assignment: Assignment): Promise<{ assigned: number }>;
  /**
   * Corrects a field of one document in quarantine beside what was received; it counts from the next retry on (ADR 0054).
   * @throws OfficeError for a field or value that cannot be corrected here
   */
  edit(delivery: Selector, editing: Editing, person: Person): Promise<Edited>;
  /** What somebody knows about them; it is kept. */
  remark(selector: Selector, person: Person): Promise<{ noted: number }>;
  /** Who did what, when and why: one page, the oldest first. */
  audit(asked: AuditAsked): Promise<AuditPage>;
  /** What people did, the newest first, a page at a time. `before`: of {@link Deeds}; null: from the newest. */
  deeds(before: string | null): Promise<Deeds>;
  /** Nothing is read or sent by a flow until a person lets it go on, also after a restart. @throws OfficeError */
  pause(flow: string, person: Person): Promise<{ flow: string }>;
  goOn(flow: string, person: Person): Promise<{ flow: string }>;
  /** What a flow's source has refused ({@link Unread.lasts}) is seen to. @throws OfficeError where nothing of that name is */
  settleUnread(flow: string, what: string, person: Person): Promise<{ flow: string; what: string }>;
  /**
   * A whole list that was held, because it has lost or grown too much, is right. `told`: what it lacks and a person has now;
   * null: it is taken at the next look. @throws OfficeError where none is held
   */
  acceptList(flow: string, person: Person): Promise<{ flow: string; told: number | null }>;
  /** The cross-reference tables, with the rows that documents wait for. */
  tables(): Promise<readonly ShownTable[]>;
  /** Adds a row to a cross-reference table. It counts at once. @throws OfficeError, ConfigurationError */
  addRow(adding: AddingRow, person: Person): Promise<{ table: string; key: string }>;
  /** Writes down what a person did elsewhere: users, logins. */
  wasDone(
    deed: "user added" | "user removed" | "password changed" | "logged in" | "log-in failed",
    person: Person,
  ): Promise<null>;
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

export interface Searching {
  /** A number or its beginning, an id, a party's code or name, an amount, a day; null: all. */
  readonly text: string | null;
  /** Of the page before: {@link Found.next}. */
  readonly before: string | null;
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

export interface Lately {
  readonly flow: string;
  /** As {@link FlowStatus} counts them. */
  readonly state: string;
  readonly count: number;
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

export interface AddingRow {
  readonly table: string;
  /** By column; the key is the first column. What is left out stays empty. */
  readonly cells: Readonly<Record<string, string>>;
}

export interface Editing {
  /** Members and places from 1: `lines.1.product`. */
  readonly field: string;
  readonly value: string;
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

export interface Assignment extends Person {
  /** Null: nobody any more. */
  readonly to: string | null;
}

export interface AuditAsked {
  /** Calendar days of the company, both included; null: from the first, until now. */
  readonly from: Day | null;
  readonly to: Day | null;
  /** Entries after this one; 0: from the first. */
  readonly after: number;
  /** What people decided alone. */
  readonly people: boolean;
}

export interface AuditPage {
  /** The oldest first. */
  readonly entries: readonly AuditEntry[];
  /** What `after` is for the next page; null: this was the last. */
  readonly next: number | null;
}

export interface AuditEntry {
  readonly entry: number;
  /** ISO 8601 UTC. */
  readonly at: string;
  /** Null: fuelbridge itself, or a decision from before names were kept apart. */
  readonly who: string | null;
  readonly event: string;
  readonly flow: string | null;
  /** Of the document that it is about. */
  readonly number: string | null;
  readonly delivery: number | null;
  readonly request: number | null;
  readonly detail: string;
  /** What the person gave as a reason; null: nothing, or nobody decided it. */
  readonly reason: string | null;
}
