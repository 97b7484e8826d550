/** What rack prices of any ERP have in common: the terminal they hold at, and the prices that the platform takes. */
import type { References } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { cellOf } from "../crossref.ts";
import { needed } from "./limits.ts";

const PRICE_MAX = Decimal.of("999999");
/** The form of an IRS terminal control number: the platform knows terminals by it. */
const CONTROL_NUMBER = /^T-\d\d-[A-Z]{2}-\d{4}$/;

/** A list named by the control number alone is that terminal; any other name is looked up. @throws NotMapped */
export function terminalOf(references: References, list: string): string {
  const name = list.trim();
  if (CONTROL_NUMBER.test(name)) return name;
  return needed(50, "terminal", cellOf(references, "terminals", name, "terminal"));
}

/** Its shortest digits. @throws Refused: the platform takes prices above 0 and up to 999,999 */
export function priceWithin(written: Decimal, field: string): Decimal {
  const price = Decimal.of(written.plain());
  const refused = (code: string, message: string, next: string): Refused =>
    new Refused({ code, message, next, field });
  if (price.sign === 0)
    throw refused(
      "zero-price",
      "the price is 0",
      "Enter the price in the ERP, or remove the line.",
    );
  if (price.sign < 0)
    throw refused(
      "negative-price",
      `the price ${price.text} is negative`,
      "Correct the price in the ERP; the platform takes none below zero.",
    );
  if (price.compare(PRICE_MAX) > 0)
    throw refused(
      "price-too-high",
      `the price ${price.text} is above ${PRICE_MAX.text}`,
      "Correct the price in the ERP; the platform takes none that high.",
    );
  return price;
}
