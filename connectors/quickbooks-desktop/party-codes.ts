/** Customers and vendors as sources and links call them: by ids, which no rename changes. */
import type { Side } from "../quickbooks/names.ts";

const LETTER: Readonly<Record<Side, string>> = { customer: "C", vendor: "V" };

/** `C-80000001-1699900000`. */
export const partyCode = (side: Side, listId: string): string => `${LETTER[side]}-${listId}`;

/** The ListID in a code of that side; null: it is a name. */
export function listIdIn(side: Side, code: string): string | null {
  const [, letter, id = ""] = /^([CV])-([0-9A-F]{1,8}-\d{1,10})$/.exec(code) ?? [];
  return letter === LETTER[side] ? id : null;
}
