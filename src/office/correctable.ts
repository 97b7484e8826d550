/** Which fields of a record a person may correct here (ADR 0054): texts that say no amount, no state and no name. */
import { type Leaf, leavesIn } from "../core/correction.ts";
import type { Json } from "../core/json.ts";

/**
 * Why a field may not be corrected here; null: it may, so far as its name and value tell. Sources write amounts as texts,
 * too, so the words of the name count. `names`: what the document is known by.
 */
export function whyNotCorrected(
  { field, value }: Leaf,
  names: readonly (string | null)[],
): string | null {
  if (typeof value === "boolean") return "a yes or no decides what the document is";
  if (value !== null && typeof value !== "string")
    return "it is a number, and an amount or quantity is never changed on the way";
  const last = field.split(".").at(-1) ?? "";
  const words = last.split(/(?=[A-Z])|[_\s-]/).map((word) => word.toLowerCase());
  if (words.some((word) => STATES.has(word)) && !PLACE.test(field))
    return "it says what the document is and how far it has come";
  if (words.some((word) => AMOUNTS.has(word)))
    return "it says an amount, a quantity or their unit, and those are never changed on the way";
  if (value !== null && FRACTION.test(value))
    return "it is a number with a fraction, and an amount or quantity is never changed on the way";
  if (OWN.has(last) || words.some((word) => STAMPS.has(word)) || names.includes(value ?? ""))
    return "it names the document, one of its parts or its version";
  return null;
}

/** The fields of a received record, as it was read, that may be corrected. */
export const correctableIn = (read: Json, names: readonly (string | null)[]): readonly Leaf[] =>
  leavesIn(read).filter((leaf) => whyNotCorrected(leaf, names) === null);

const wordsOf = (words: string): ReadonlySet<string> => new Set(words.split(" "));

const AMOUNTS = wordsOf(
  "amount amounts total totals subtotal untaxed sum quantity quantities qty gallons volume net gross price prices " +
    "rate rates cost costs fee fees margin balance percent discount unit units uom currency",
);
const STATES = wordsOf(
  "status state type kind posted cancelled voided paid reconciled settled formula",
);
/** A state of the United States is a text like any other. */
const PLACE = /address|location/i;
const OWN = wordsOf("id number version revision");
const STAMPS = wordsOf("updated edited created modified");
const FRACTION = /^[-+]?\d*[.,]\d+$/;
