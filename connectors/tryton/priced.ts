/**
 * A line in Tryton, which computes its amount as quantity × unit price, rounded to the cent. Where that is not the amount of the
 * document's line, or Tryton would not keep its digits, the amount stands: the line is booked as 1 × amount, without
 * product and unit, and its quantity, unit and price are in its text. The total is right to the cent, no cent hides in
 * another line, and no figure counts a gallon that was not there.
 */
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { InvoiceDocument } from "../../src/ledger/documents.ts";

type Line = InvoiceDocument["lines"][number];

interface Priced {
  /** It is 1 × its amount: without product and unit. */
  readonly lump: boolean;
  readonly quantity: Decimal;
  readonly unitPrice: Decimal;
  readonly text: string;
}

/** What Tryton keeps: decimal places of quantities in the line's unit (null: it has none), and of unit prices. */
interface Places {
  readonly quantity: number | null;
  readonly unitPrice: number;
}

/** @throws Refused when a product's quantity has more digits than its unit takes */
export function pricedLine(line: Line, { quantity: digits, unitPrice: most }: Places): Priced {
  const { product, quantity, unitPrice, amount, description } = line;
  const counted = quantity.times(unitPrice).round(CENTS).equals(amount);
  const fits = quantity.round(digits ?? PLACES_WITHOUT_UNIT).equals(quantity);
  const priced = unitPrice.round(most).equals(unitPrice);
  if (!fits && digits !== null && product !== null) throw tooFine(line, digits);
  return !fits || !counted || !priced || (product !== null && digits === null)
    ? { lump: true, quantity: ONE, unitPrice: amount, text: described(line) }
    : { lump: false, quantity, unitPrice, text: description };
}

/** `ULSD (7500.5 gal × 2.413755 = 18104.38)` */
const described = ({ description, quantity, unit, unitPrice, amount }: Line): string =>
  `${description} (${quantity.text}${unit === null ? "" : ` ${unit}`} × ${unitPrice.text} = ${amount.text})`;

const tooFine = ({ quantity, unit }: Line, digits: number): Refused =>
  new Refused({
    code: "too-many-digits",
    message: `the quantity ${quantity.text} ${unit} has more than the ${digits} decimal places that Tryton's unit ${unit} takes`,
    next: `Give the unit ${unit} more digits and a finer rounding in Tryton (Product > Units of Measure), then retry.`,
    field: "quantity",
  });

const ONE = Decimal.of("1");
/** Of the company's currency. */
const CENTS = 2;
/** What Tryton takes of a quantity without a unit. */
const PLACES_WITHOUT_UNIT = 2;
