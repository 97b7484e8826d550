import type { Kind } from "./kinds.ts";

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
