/** A record on its way through the engine: as its source tells it, and as a document that goes into a request. */

import type { Kind } from "./kinds.ts";

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

/** Why a record or document cannot go on. Shown to people: a code, a sentence, and the next action. */
export interface Fault {
  /** Stable, kebab-case: what tests and scripts look for. */
  readonly code: string;
  /** One sentence with the bad value in it. */
  readonly message: string;
  /** What a person should do about it. */
  readonly next: string;
  /** The field or column, in the words of the side it came from. */
  readonly field?: string;
  /** The document that it waits for: `id` as the record names it. Left out: it waits for none. */
  readonly awaits?: { readonly kind: Kind; readonly id: string };
  /** The row of a cross-reference table that is missing. Left out: none is. */
  readonly lookup?: { readonly table: string; readonly key: string };
  /** Ids of what may be the same document, at its receiver or where it comes from: a person who retries says that none is. Left out: none. */
  readonly candidates?: readonly string[];
  /**
   * What the receiver made of it comes to, as digits, where that is another amount than was sent; the message has it, too. A
   * person who links the two names it. Left out: the amount is not what is wrong.
   */
  readonly amount?: string;
}
