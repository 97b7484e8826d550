/** What a receiver tells later of what was delivered to it, and what is written back for what was read. */
import type { Json } from "./json.ts";

/** What a receiver calls something that was sent to it, for the time when it tells what came of it. */
export interface Reference {
  /** The whole that went: an interchange by its number, an IDoc by its own. */
  readonly exchange: string;
  /** The document in it; empty: there is one only. */
  readonly item: string;
}

/** What a receiver tells later of documents that were delivered to it. */
export interface Acknowledgement {
  readonly exchange: string;
  /** As in {@link Reference}; null: every document of the exchange of which it does not speak by itself. */
  readonly item: string | null;
  /** `awaited`: it is on its way there, and nothing is decided. */
  readonly verdict: "accepted" | "refused" | "awaited";
  /** In words for people, with its codes. */
  readonly detail: string;
  /**
   * When the receiver said so, by its clock, as text that sorts by age: of several the latest counts. Left out: the one
   * that came last counts.
   */
  readonly at?: string;
}

/** Something that is written back for what was read. */
export interface Reply {
  /** Stable: the same reading gives the same reply again. 1 to 200 characters. */
  readonly id: string;
  /** For the sink: as JSON. */
  readonly content: Json;
}
