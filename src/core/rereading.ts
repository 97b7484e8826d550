/** What a source offers that can be read anew from a moment of the past on, beside its live position. */
import type { Json } from "./json.ts";
import type { Page, Reading } from "./contract.ts";

export interface Rereading {
  /** The position from which {@link read} yields every record that changed at or after this instant (ISO 8601 UTC). */
  from(instant: string): Json;
  /**
   * How many records that is, as the source counts them now; null: it does not say. It takes one request.
   * @throws SourceUnavailable
   */
  count(instant: string, reading: Reading): Promise<number | null>;
  /** Records on a page; a page is a request, and so is each record that a page shows only in part. */
  readonly pageSize: number;
  /**
   * The pages from there on, with versions that sort by age, and nothing that was told besides.
   * @throws SourceUnavailable
   */
  read(position: Json, reading: Reading): AsyncIterable<Page>;
}
