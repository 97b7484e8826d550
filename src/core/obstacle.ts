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

/** How far a source is with something large that becomes pages only when all of it was read. */
export interface Advance {
  readonly records: number;
  /** Of the whole, 0 to 1. */
  readonly share: number;
}
