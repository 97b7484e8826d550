/** The content of a document as a hash: what was delivered is not delivered again. */
import { canonicalOf, stringifyExact } from "../core/json.ts";
import { instantByValue, sha256 } from "../core/keys.ts";

/** By value: a document whose digits, instants, members or white space are written otherwise is the same. */
export const contentOf = (document: unknown): string =>
  hashed(canonicalOf(document, instantByValue));

/** Is the document what was delivered with this content? Stores of older versions have other hashes of it. */
export const isContentOf = (document: unknown, content: string | null): boolean =>
  content !== null &&
  (content === contentOf(document) ||
    content === hashed(canonicalOf(document)) ||
    content === hashed(stringifyExact(document)));

const hashed = (text: string): string => sha256(text).slice(0, 22);
