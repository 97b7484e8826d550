/** What a source tells while it reads, beside its pages. */
import type { Fault } from "./fault.ts";

/** Something that lies there and is not read, and what it holds back. */
export interface Obstacle {
  /** As a person finds it: a file's name. */
  readonly what: string;
  /** Why it is not read, and what to do. */
  readonly fault: Fault;
  /** Whoever writes it is not done yet, and nobody need do anything. */
  readonly awaited: boolean;
  /** What came later and is not read before it, oldest first: how many, and the names of the first ones. */
  readonly behind: { readonly count: number; readonly names: readonly string[] };
}

/** Something that came and was not taken, or not all of it: it stands until a person settles it or it comes whole. */
export interface Refusal {
  /** As a person finds it: a file's name, as it came. */
  readonly what: string;
  /** Of its bytes: the same ones again are no news. */
  readonly id: string;
  readonly fault: Fault;
}

/** Something that came whole, by every name under which it may have been refused before. */
export interface Whole {
  readonly names: readonly string[];
  readonly id: string;
  /** These bytes came before: they settle what other bytes left, and not what they left themselves. */
  readonly again?: true;
}

/** How far a source is with something large that becomes pages only when all of it was read. */
export interface Advance {
  readonly records: number;
  /** Of the whole, 0 to 1. */
  readonly share: number;
}

/** Codes of whole lists that are not believed until a person says that they are right. */
export const heldLists = { grew: "list-grew", shrank: "list-shrunk" } as const;
export const isHeldList = (code: string): boolean =>
  code === heldLists.grew || code === heldLists.shrank;

/** After the name of what is not read, in a sentence: `was refused`. */
export const fateOf = ({
  code,
  lasts,
}: {
  readonly code: string;
  readonly lasts: boolean;
}): string => (isHeldList(code) ? "is not believed" : lasts ? "was refused" : "is not read");
