/**
 * Whole numbers of cents and of millionths of a dollar ("micros"). Divided once, at the end, they print with the digits
 * meant: 1234.56, 2.4315.
 */

/** Halves to the even one, as `Decimal.round` does. Exact below 2^53: a million gallons at 9,000 dollars. */
export function halfEven(units: number, divisor: number): number {
  const whole = Math.floor(units / divisor);
  const twice = (units - whole * divisor) * 2;
  return twice > divisor || (twice === divisor && whole % 2 !== 0) ? whole + 1 : whole;
}

/** What so many whole gallons cost at a rate in micros. */
export const centsFor = (gallons: number, micros: number): number =>
  halfEven(gallons * micros, 10_000);

export const dollars = (cents: number): number => cents / 100;

export const rateOf = (micros: number): number => micros / 1_000_000;

/** Tenths, as meters print them. */
export const tenths = (value: number): number => Math.round(value * 10) / 10;
