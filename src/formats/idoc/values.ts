/** SAP's texts for numbers and days, read. */
import { Decimal } from "../../core/decimal.ts";

/** A point, no separators, the minus on either side. Null: it is no such number. */
export function numberIn(text: string): Decimal | null {
  const [, before, digits, after] = /^(-?)\s*(\d+(?:\.\d+)?)(-?)$/.exec(text.trim()) ?? [];
  if (digits === undefined || (before === "-" && after === "-")) return null;
  // SAP fills numbers with zeros on the left.
  const plain = digits.replace(/^0+(?=\d)/, "");
  const number = Decimal.of(plain);
  return before === "-" || after === "-" ? number.negated() : number;
}

/** `YYYY-MM-DD` of `YYYYMMDD`; null for none (blank or zeros). @throws RangeError as the end of a sentence */
export function dayIn(text: string | null): string | null {
  if (text === null || /^0*$/.test(text)) return null;
  const [, year, month, day] = /^(\d{4})(\d{2})(\d{2})$/.exec(text) ?? [];
  const iso = `${year}-${month}-${day}`;
  const isDay = !Number.isNaN(Date.parse(iso)) && new Date(iso).toISOString().startsWith(iso);
  if (year === undefined || !isDay)
    throw new RangeError(`is "${text}", which is no day (YYYYMMDD)`);
  return iso;
}

/**
 * A number divided by another, with all its digits. Null: it has no end, or the divisor is 0. What is divided by here are
 * pricing units: 1, 100, 1,000.
 */
export function dividedBy(number: Decimal, divisor: Decimal): Decimal | null {
  if (divisor.sign <= 0) return null;
  for (let places = 0; places <= 12; places++) {
    const scaled = Decimal.of(`1e${places}`);
    const quotient = quotientOf(number.times(scaled), divisor);
    if (quotient !== null) return Decimal.of(`${quotient}e-${places}`).round(places);
  }
  return null;
}

/** Null: it is no whole number. */
function quotientOf(number: Decimal, divisor: Decimal): string | null {
  const scale = 12;
  const whole = (value: Decimal): bigint =>
    BigInt(
      value
        .times(Decimal.of(`1e${scale}`))
        .round(0)
        .plain(),
    );
  const [over, under] = [whole(number), whole(divisor)];
  return over % under === 0n ? String(over / under) : null;
}
