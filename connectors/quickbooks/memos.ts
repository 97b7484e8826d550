/**
 * What a document says of where it came from, in a field that people read: Desktop's `Memo`, Online's `PrivateNote`.
 * `INV-2026-000118 platform:0b6f… PO 4711`: the platform's whole number, our mark, and text for people.
 */
import { markOf, platformIdIn } from "../../src/ledger/marks.ts";
import { cut } from "./text.ts";

/** Characters of the field: Desktop by its schema, Online by what we dare. */
export const MEMO_MOST = { desktop: 4095, online: 1000 } as const;

/** @param held how these books change text */
export const memoOf = (
  {
    number,
    mark,
    text,
  }: { readonly number: string; readonly mark: string; readonly text: string | null },
  most: number,
  held: (text: string) => string,
): string => cut(held(`${number} ${markOf(mark)} ${text ?? ""}`), most);

export interface Memo {
  /** The platform's id. */
  readonly mark: string;
  /** The platform's number. */
  readonly number: string;
  /** What follows, null: nothing. */
  readonly text: string | null;
}

/** Null: the document did not come from the platform, or somebody took the mark out. */
export function memoIn(memo: string | null): Memo | null {
  const mark = platformIdIn(memo);
  if (memo === null || mark === null) return null;
  const [number = "", text = ""] = memo.split(markOf(mark));
  return { mark, number: number.trim(), text: text.trim() === "" ? null : text.trim() };
}
