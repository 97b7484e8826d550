/** A line of an ERP invoice as a line item of the platform (specification part 4, rule I1). */
import type { References } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { toDecimal, type Numeric } from "../../src/platform/contract/primitives.ts";
import { needed } from "./limits.ts";
import { productOf } from "./products.ts";

/** As the ERP has it; fields by the ERP's words are in the faults. */
export interface Line {
  readonly product: string | null;
  readonly productName: string | null;
  readonly description: string | null;
  readonly quantity: Decimal | null;
  readonly unit: string | null;
  readonly unitPrice: Decimal | null;
  readonly amount: Decimal | null;
}

const GALLON = "gal";
const BOL = /(?:BOL|B\/L)\s*#?\s*(\d{5,})/gi;
/** How a quantity is written that the platform has no field for: at the end of the description. */
const QUANTITY = /\[(\d+(?:\.\d+)?) gal\]$/;

/**
 * Gallons and rate go out when they are whole gallons and give the amount to the cent; otherwise the amount alone, and
 * the exact quantity in the description: the platform's gallons are integers, and no amount is ever recomputed.
 * @throws Refused, NotMapped
 */
export function lineItem(line: Line, references: References) {
  const amount = notNegative("Amount", cents("Amount", line.amount));
  const { quantity, unitPrice } = line;
  const gallons = line.unit === GALLON ? quantity : null;
  const exact =
    gallons !== null &&
    gallons.sign > 0 &&
    gallons.isInteger &&
    unitPrice !== null &&
    unitPrice.sign >= 0 &&
    unitPrice.times(gallons).round(2).equals(amount);
  const quantified = exact
    ? { gallons: plain(gallons), rate: plain(unitPrice) }
    : ({} as { gallons?: Decimal; rate?: Decimal });
  const text = line.description?.trim() || line.productName;
  const suffix = exact ? "" : quantityOf(line);
  const description = needed(200, "Description", `${text ?? ""}${suffix}`);
  return {
    description,
    amount,
    ...quantified,
    ...(line.product === null ? {} : { product: productOf(references, line.product) }),
    ...bolOf(description),
  };
}

/** The gallons of a line item made here. */
export function gallonsOf(item: {
  description: string;
  gallons?: Numeric | null | undefined;
}): Decimal {
  if (item.gallons !== undefined && item.gallons !== null) return toDecimal(item.gallons);
  const [, written] = QUANTITY.exec(item.description) ?? [];
  return written === undefined ? Decimal.zero : Decimal.of(written);
}

/** Nothing for one piece of something. */
function quantityOf({ quantity, unit }: Line): string {
  if (quantity === null || (unit !== GALLON && quantity.equals(ONE))) return "";
  return ` [${[quantity.plain(), unit].filter((part) => part !== null).join(" ")}]`;
}

const ONE = Decimal.of("1");
const plain = (value: Decimal): Decimal => Decimal.of(value.plain());

/** The bill of lading in the text, with its zeros; when there are two, the text must do. */
/** The bills of lading that a line's text names. */
export const bolsIn = (description: string): string[] =>
  [...description.matchAll(BOL)].flatMap(([, number]) => number ?? []);

function bolOf(description: string): { bolNumber?: string } {
  const [number, second] = bolsIn(description);
  return number === undefined || second !== undefined ? {} : { bolNumber: number };
}

/** With two decimal places, whatever digits it came with. @throws Refused for fractions of a cent. */
export function cents(field: string, amount: Decimal | null): Decimal {
  if (amount !== null && amount.round(2).equals(amount)) return amount.round(2);
  throw new Refused({
    code: "no-cents",
    message: amount === null ? `a line has no ${field}` : `${field} ${amount.text} is not in cents`,
    next: "Look at the invoice in the ERP; once it is corrected there, it is taken when it is read again.",
    field,
  });
}

/** @throws Refused: the platform takes no negative amounts. */
export function notNegative(field: string, amount: Decimal): Decimal {
  if (amount.sign >= 0) return amount;
  throw new Refused({
    code: "negative-line",
    message: `a line has the negative amount ${amount.text}; the platform takes none`,
    next: "An accountant bills the correction another way, or enters the net amount on the platform by hand.",
    field,
  });
}
