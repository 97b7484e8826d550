/**
 * What people can ask of fuelbridge, whether the daemon runs (then through its admin API) or not (then from the store
 * itself). The CLI, the admin API and the console all speak this interface and no other.
 */
export interface Office {
  status(): Promise<Status>;
  /** Everything known about a number (invoice, ticket, order, party), a platform id or an ERP id. */
  trace(number: string): Promise<Trace>;
  quarantine(): Promise<readonly QuarantineGroup[]>;
  /** One group with its deliveries. @throws OfficeError when there is no such group. */
  quarantineShow(group: string): Promise<QuarantineGroup & { deliveries: readonly Quarantined[] }>;
  /** Back to pending, to be mapped anew; "all" for every group. Returns how many deliveries. */
  retry(selector: Selector): Promise<{ retried: number }>;
  /** Closed by a person who settled it by hand; `note` says how. */
  resolve(selector: Selector, decision: Decision): Promise<{ resolved: number }>;
  /** Makes flows due at once; "all" for every flow. Only a running daemon can. */
  runNow(flow: string): Promise<{ flows: readonly string[] }>;
  /** Clears a stop whose cause a person has removed. @throws OfficeError when there is no such stop. */
  release(breaker: string, by: string): Promise<{ released: string }>;
}

/** A group's id, a delivery's id (digits), or "all". */
export type Selector = string;

export interface Decision {
  readonly by: string;
  readonly note: string;
  /** The receiver's id of the document, when the person found it there: both sides are linked. */
  readonly receiverId?: string;
}

export interface Status {
  readonly version: string;
  readonly company: string;
  readonly environment: "live" | "test";
  /** Null when no daemon runs. */
  readonly daemon: { readonly pid: number; readonly startedAt: string } | null;
  /** True when no flow is stopped, nothing is quarantined and no request waits for a person. */
  readonly healthy: boolean;
  readonly flows: readonly FlowStatus[];
  readonly stops: readonly Stop[];
  /** Requests to the platform in this calendar month (UTC). */
  readonly requests: { readonly month: string; readonly used: number };
}

/** received = pending + delivered + skipped + echoes + quarantined + resolved + superseded, always. */
export interface FlowStatus {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly state: "idle" | "running" | "paused" | "stopped";
  readonly schedule: string;
  /** ISO 8601 UTC. */
  readonly lastRunAt: string | null;
  readonly nextDueAt: string | null;
  /** The last run's error with what to do, null when it went well. */
  readonly lastError: { readonly message: string; readonly next: string } | null;
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
}

/** A breaker: something that pauses work and harms nothing. */
export interface Stop {
  readonly breaker: string;
  readonly scope: string;
  readonly since: string;
  readonly message: string;
  readonly next: string;
}

export interface QuarantineGroup {
  readonly id: string;
  readonly flow: string;
  readonly code: string;
  readonly cause: string;
  readonly next: string;
  readonly count: number;
  readonly since: string;
}

export interface Quarantined {
  readonly delivery: string;
  readonly number: string;
  readonly recordId: string;
  readonly version: string | null;
  readonly origin: string | null;
  readonly field: string | null;
  readonly since: string;
}

export interface Trace {
  readonly number: string;
  readonly steps: readonly TraceStep[];
}

/** One line of a document's story, oldest first. */
export interface TraceStep {
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly flow: string;
  readonly event: string;
  readonly detail: string;
  readonly platformId: string | null;
  readonly erpId: string | null;
}

export class OfficeError extends Error {
  readonly next: string;
  constructor(message: string, next: string) {
    super(message);
    this.name = "OfficeError";
    this.next = next;
  }
}
