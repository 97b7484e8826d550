/** Values of fields that differ, as people write them: amounts as on every page, prices with their own digits. */
import { Decimal } from "../core/decimal.ts";
import { inCents, money } from "../office/about.ts";

const PRICE = /^(?:money\.price|lines\.\d+\.unitPrice)$/;
const AMOUNT = /^(?:money\.\w+|taxes\..+|lines\.\d+\.amount)$/;

/** @param field as a difference names it (`money.total`) @param value its text; what is no number stays as it is */
export function valueIn(field: string, value: string, currency: string): string {
  if (!Decimal.is(value)) return value;
  if (PRICE.test(field)) return money(value, currency);
  return AMOUNT.test(field) ? money(inCents(Decimal.of(value)), currency) : value;
}
