/** What an endpoint can be read from and written to, told without opening it. */

/** Sources and sinks by the name that a flow gives them. */
export interface Offers {
  readonly sources: Readonly<Record<string, Offer>>;
  readonly sinks: Readonly<Record<string, Offer>>;
  /** What is wrong with files that the settings name; left out: nothing. */
  readonly complaints?: readonly OfferComplaint[];
}

/** A setting that names something which cannot be used. */
export interface OfferComplaint {
  /** From the endpoint's own: `["sources", "tickets", "profile"]`. */
  readonly setting: readonly string[];
  /** The end of a sentence that begins with the setting. */
  readonly message: string;
  readonly remedy: string;
}

/** A source or a sink. */
export interface Offer {
  /** What its records or documents are (`Mapping.reads`, `Mapping.writes`): `books.parties`, `files.orders`. */
  readonly form: string;
  /** What the service's user must be allowed to do on this machine; left out: nothing. */
  readonly folders?: readonly FolderNeed[];
  /**
   * Of a sink: its receiver gives what is written no id, so a source of the same name cannot tell it from what others
   * wrote. A configuration uses one of the two.
   */
  readonly anonymous?: true;
  /**
   * Of a source: its records have a PDF, and this names how it is fetched (`getInvoicePdf`). Of a sink: a PDF can be
   * attached to what it books, by the endpoint's sink of this name (`invoiceFiles`), which no flow names. Left out: no.
   */
  readonly pdf?: string;
}

export type FolderRight = "r" | "w" | "x";

export interface FolderNeed {
  /** Absolute. */
  readonly path: string;
  /** The rights that the user needs on it: `r` to list it, `w` to create and rename in it, `x` to enter it. */
  readonly rights: readonly FolderRight[];
  /** True: it is created where it is missing, so the nearest folder above it must allow that. */
  readonly created: boolean;
  /** The setting that names it, from the endpoint's own: `["sinks", "orders", "folder"]`. */
  readonly setting: readonly string[];
}
