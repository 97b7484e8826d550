/** What must hold for a company of the books and for its accounts before documents are booked: the same words for every ERP. */
import type { Needs } from "../core/examination.ts";
import type { Fault } from "../core/fault.ts";
import type { Check } from "./examine.ts";

/** A company of the books, as the configuration names it. */
export interface CompanyNamed {
  readonly company: string;
  /** ISO 4217 */
  readonly currency: string;
}

/** @param kept the currency that its books are kept in @throws Refused, a fault of the books */
export const currencyCheck = (
  { company, currency }: CompanyNamed,
  needs: Pick<Needs, "currency">,
  kept: () => Promise<string>,
): Check => [
  `company "${company}" in ${currency}`,
  async () => {
    const its = await kept();
    const wrong = [currency, needs.currency].find((one) => one !== its);
    if (wrong === undefined) return null;
    return {
      code: "wrong-currency",
      message: `the books of ${company} are kept in ${its}, not in ${wrong}`,
      next: "Correct currency in the configuration, or name the company that keeps its books in it. Nothing is converted.",
    };
  },
];

/** Rack prices have six decimal places at the most. */
const PRICE_DECIMALS = 6;

/**
 * @param books what people call the books
 * @param places decimal places of a unit price in them @throws Refused, a fault of the books
 * @param remedy how people give prices {@link PRICE_DECIMALS} decimal places, a sentence
 */
export const pricePlacesCheck = (
  books: string,
  places: () => Promise<number>,
  remedy: (decimals: number) => string,
): Check => [
  `prices with ${PRICE_DECIMALS} decimal places`,
  async () => {
    const kept = await places();
    if (kept >= PRICE_DECIMALS) return null;
    return {
      code: "few-decimals",
      message: `${books} keeps prices with ${kept} decimal places; rack prices have up to ${PRICE_DECIMALS}`,
      next: `${remedy(PRICE_DECIMALS)} Until then invoice lines with such prices are booked as one piece at their amount, and orders with them wait for a person.`,
    };
  },
];

/** An account that documents cannot be booked on. @param is why: `is closed` */
export const wrongAccount = (code: string, is: string, next: string): Fault => ({
  code: "wrong-account",
  message: `account ${code} ${is}`,
  next,
});
