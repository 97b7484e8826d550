/** What every document here has in common: marks, references, the statements of QuickBooks about a transaction. */
import { createHash } from "node:crypto";
import { LedgerError, type PaymentOn } from "../../src/ledger/port.ts";
import type { FactLine } from "../../src/core/holdings.ts";
import { spellingsOf } from "../../src/core/keys.ts";
import { MEMO_MOST, memoIn, memoOf } from "../quickbooks/memos.ts";
import { documentNumber, numberHeld } from "../quickbooks/numbers.ts";
import { ascii, cut } from "../quickbooks/text.ts";
import type { Values } from "./write.ts";
import { type Element, textOf } from "./xml.ts";

/** Of this connector: under it our marks become GUIDs. */
const NAMESPACE = "8f0a2d3c4b5e4f60917283a4b5c6d7e8";

/** What QuickBooks keeps as `ExternalGUID` of a record of ours: a UUID of version 5 of our mark, in braces. */
export function guidOf(mark: string): string {
  const bytes = createHash("sha1")
    .update(Buffer.from(NAMESPACE, "hex"))
    .update(mark)
    .digest()
    .subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return `{${[hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-")}}`;
}

/** The memo of a transaction of ours. */
export const desktopMemo = (one: {
  readonly number: string;
  readonly mark: string;
  readonly text: string | null;
}): string => memoOf(one, MEMO_MOST.desktop, ascii);

export interface Marked {
  /** The platform's id; null: it did not come from the platform, or somebody took it out of the memo. */
  readonly mark: string | null;
  /** The platform's number where the memo says it; else QuickBooks' own. */
  readonly number: string | null;
  /** What the memo says besides. */
  readonly text: string | null;
}

/** @param desired marks that are looked for: the GUID tells one whose memo somebody wrote anew */
export function markedBy(row: Element, desired: readonly string[]): Marked {
  const number = textOf(row, "RefNumber");
  const memo = textOf(row, "Memo")?.replace(/^VOID:\s*/i, "") ?? null;
  const found = memoIn(memo);
  if (found !== null) return found;
  const guid = textOf(row, "ExternalGUID")?.toLowerCase() ?? null;
  const mark = guid === null ? null : (desired.find((one) => guidOf(one) === guid) ?? null);
  return { mark, number, text: memo };
}

/** See {@link numberHeld}. @param number by the memo @param most characters of the number of this kind */
export function heldNumber(row: Element, number: string | null, most: number): string | null {
  const own = textOf(row, "RefNumber");
  return number === null ? own : numberHeld(own, number, documentNumber(number, number, most));
}

/** Queries for documents with one of these numbers, as QuickBooks keeps them and as people may have typed them. */
export const numbered = (numbers: readonly string[], most: number): Values[] => {
  const kept = numbers.flatMap(spellingsOf).map((number) => documentNumber(number, number, most));
  return kept.length === 0 ? [] : [{ RefNumberCaseSensitive: [...new Set(kept)] }];
};

/** Queries for all documents of these days (`YYYY-MM-DD`). */
export const ofDays = (days: readonly string[]): Values[] =>
  [...new Set(days)].map((day) => ({
    TxnDateRangeFilter: { FromTxnDate: day, ToTxnDate: day },
  }));

/** Text that QuickBooks would keep of it; null: nothing. */
export function heldText(text: string | null, most: number): string | null {
  const held = cut(ascii(text ?? ""), most);
  return held === "" ? null : held;
}

/** The only one of what QuickBooks answered to a change. @throws LedgerError */
export function only(rets: readonly Element[]): Element {
  const [ret] = rets;
  if (ret === undefined)
    throw new LedgerError("torn", "QuickBooks' answer does not have the record");
  return ret;
}

/** A row with its lines, each amount once, and the payments that are linked with it. */
export interface Row {
  readonly row: Element;
  readonly lines: readonly FactLine[];
  readonly payments: readonly (PaymentOn & { readonly date: string })[];
}
