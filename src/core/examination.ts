/** What an endpoint is asked before the next document goes, and what it answers, line by line. */
import type { Fault } from "./fault.ts";

/** One thing that was looked at; `fault` says what is wrong with it and what to do. */
export interface Examination {
  /** In a few words: `company "Prairie Fuel"`, `account 4000`, `crossref/items.csv line 7`. */
  readonly what: string;
  readonly fault: Fault | null;
  /** What a person should know though documents go; left out: nothing. */
  readonly note?: string;
}

/** What this site is about to need of an endpoint. */
export interface Needs {
  /** ISO 4217, of the whole configuration. */
  readonly currency: string;
  /** Cells that say which company of the platform we are; none where no flow needs to know. */
  readonly ourselves: readonly Cell[];
  /** Its sources and sinks that a flow names, paused flows too, and the sinks that attach PDFs to what these flows book. */
  readonly parts: ReadonlySet<string>;
  /**
   * The cells of a column of a cross-reference table that are not empty, in their order; none where there is no such
   * table or column.
   */
  column(table: string, column: string): readonly Cell[];
  /** Days that documents which are stored and not delivered yet will be booked on. */
  readonly days: readonly DayToBook[];
}

export interface Cell {
  /** Of the same row: its first cell. */
  readonly key: string;
  readonly value: string;
  /** `crossref/items.csv` */
  readonly file: string;
  readonly line: number;
}

export interface DayToBook {
  /** `YYYY-MM-DD` */
  readonly day: string;
  readonly flow: string;
  /** How many documents. */
  readonly count: number;
}
