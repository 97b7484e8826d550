import type { Decimal } from "../src/core/decimal.ts";
import { Refused } from "../src/core/errors.ts";

/** With two decimal places. @throws Refused for fractions of a cent, which no books hold. */
export function inCents(field: string, amount: Decimal): Decimal {
  const cents = amount.round(2);
  if (cents.equals(amount)) return cents;
  throw new Refused({
    code: "no-cents",
    message: `${field}: ${amount.text} is not in cents`,
    next: "Ask whoever issued it to correct it on the platform; the corrected version is delivered by itself.",
    field,
  });
}
