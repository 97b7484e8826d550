/** A record on its way through the engine: as its source tells it, and as a document that goes into a request. */
import type { Fault } from "./fault.ts";

/** One record at one version, as its source told it. */
export interface Change {
  /** Stable in its source, 1 to 200 characters. */
  readonly id: string;
  /**
   * Orders the versions of a record: text that sorts by age (see `sortableInstant`). Null when the source keeps none;
   * then the order of arrival decides.
   */
  readonly version: string | null;
  /** The record as JSON text, every number with the digits its source wrote. */
  readonly text: string;
  /** Where a person finds it: `customers.csv line 12`. Not part of the record's content. */
  readonly origin?: string;
  /** Set when it could not be read whole: it is stored and quarantined, and the rest of the page goes on. */
  readonly fault?: Fault;
}

/** A mapped document on its way into a request. */
export interface Item {
  /** The number people know it by; with the sink's operation it is the natural key. */
  readonly number: string;
  /** What its source calls it (ERP code, platform id). */
  readonly id: string;
  /** Changes when, and only when, the content changes: it enters the idempotency key and file names. */
  readonly revision: string;
  readonly document: unknown;
  /** The id the receiver knows it by, when it has one already. */
  readonly counterpart: string | null;
  /**
   * Since when this document waits for what settles it, ISO 8601 UTC: another flow brings that to the same endpoint
   * (`settles` of its mapping). Left out: no flow does.
   */
  readonly settledSince?: string;
}
