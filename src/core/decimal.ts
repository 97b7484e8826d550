/**
 * Exact decimal numbers: money, prices, gallons. A Decimal is parsed from the digits its source wrote and is emitted
 * with exactly those digits; it never passes through a double.
 */
export class Decimal {
  static readonly zero = new Decimal("0");
  static readonly one = new Decimal("1");

  /** The digits as written: an optional minus, digits, optionally a point and digits, optionally an exponent. */
  readonly text: string;
  #units: bigint | undefined;
  #scale = 0;

  private constructor(text: string) {
    this.text = text;
  }

  /** @throws RangeError when `text` is not a plain decimal number (JSON's grammar for numbers). */
  static of(text: string): Decimal {
    if (!NUMBER.test(text)) throw new RangeError(`"${text}" is not a decimal number`);
    return new Decimal(text);
  }

  static is(text: string): boolean {
    return NUMBER.test(text);
  }

  static sum(values: Iterable<Decimal>): Decimal {
    let total = Decimal.zero;
    for (const value of values) total = total.plus(value);
    return total;
  }

  plus(other: Decimal): Decimal {
    const scale = Math.max(this.scale, other.scale);
    return Decimal.#from(this.#at(scale) + other.#at(scale), scale);
  }

  minus(other: Decimal): Decimal {
    const scale = Math.max(this.scale, other.scale);
    return Decimal.#from(this.#at(scale) - other.#at(scale), scale);
  }

  times(other: Decimal): Decimal {
    return Decimal.#from(this.units * other.units, this.scale + other.scale);
  }

  /** Divided by what is not 0, rounded to `places` as {@link round} does. @throws RangeError for a division by 0 */
  over(other: Decimal, places: number): Decimal {
    const scale = Math.max(this.scale, places + GUARD);
    const quotient = (this.#at(scale) * powerOfTen(other.scale)) / other.units;
    return Decimal.#from(quotient, scale).round(places);
  }

  negated(): Decimal {
    return Decimal.#from(-this.units, this.scale);
  }

  abs(): Decimal {
    return this.units < 0n ? this.negated() : this;
  }

  /** -1, 0 or 1. `2.50` and `2.5` compare equal. */
  compare(other: Decimal): -1 | 0 | 1 {
    const scale = Math.max(this.scale, other.scale);
    const [one, another] = [this.#at(scale), other.#at(scale)];
    return one < another ? -1 : one > another ? 1 : 0;
  }

  /** Is it at most so far from the other one? */
  isWithin(off: Decimal, other: Decimal): boolean {
    const scale = Math.max(this.scale, other.scale, off.scale);
    const difference = this.#at(scale) - other.#at(scale);
    return (difference < 0n ? -difference : difference) <= off.#at(scale);
  }

  equals(other: Decimal): boolean {
    return this.compare(other) === 0;
  }

  get sign(): -1 | 0 | 1 {
    return this.compare(Decimal.zero);
  }

  get isInteger(): boolean {
    return this.round(0).equals(this);
  }

  /** Rounds to `places` decimal places, halves to the even digit, or away from zero (what an ERP's books do, a connector says). */
  round(places: number, half: "even" | "away" = "even"): Decimal {
    const drop = this.scale - places;
    if (drop <= 0) return Decimal.#from(this.#at(places), places);
    const divisor = powerOfTen(drop);
    let quotient = this.units / divisor;
    const rest = this.units % divisor;
    const twice = (rest < 0n ? -rest : rest) * 2n;
    if (twice > divisor || (twice === divisor && (half === "away" || quotient % 2n !== 0n)))
      quotient += this.units < 0n ? -1n : 1n;
    return Decimal.#from(quotient, places);
  }

  /** Digits with at least `places` decimal places, padded with zeros; nothing is ever cut off. */
  fixed(places: number): string {
    const { text } = this;
    const written = text.includes(".") ? text.length - text.indexOf(".") - 1 : 0;
    if (written >= places && !IN_OTHER_DIGITS.test(text)) return text;
    return digits(this.#at(Math.max(places, this.scale)), Math.max(places, this.scale));
  }

  /** The shortest digits of the same value: `2.50` → `2.5`, `8000.0` → `8000`. */
  plain(): string {
    return SHORTEST.test(this.text) ? this.text : this.#shortened();
  }

  /** The same value with the digits of {@link plain}. */
  shortest(): Decimal {
    const plain = this.plain();
    return plain === this.text ? this : Decimal.of(plain);
  }

  #shortened(): string {
    const { text } = this;
    if (!IN_OTHER_DIGITS.test(text)) return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
    let units = this.units;
    let scale = this.scale;
    while (scale > 0 && units % 10n === 0n) {
      units /= 10n;
      scale -= 1;
    }
    return digits(units, scale);
  }

  /**
   * What a computer that adds in doubles meant: `100.64999999999999` is `100.65`, `5.551115123125783e-17` is `0`. Taken off is what
   * doubles lose (the larger a sum, the more), at most a ten-millionth, and only of what has as many digits as nothing but a double writes.
   */
  withoutNoise(): Decimal {
    if (this.text.length <= DOUBLE_DIGITS.least) return this;
    const { length } = String(this.units).replace(/^-|0+$/g, "");
    if (length < DOUBLE_DIGITS.least || length > DOUBLE_DIGITS.most) return this;
    const meant = this.round(6);
    const lost = this.abs().times(NOISE.share).plus(NOISE.least);
    const noise = lost.compare(NOISE.most) < 0 ? lost : NOISE.most;
    return meant.equals(this) || !meant.isWithin(noise, this) ? this : meant.shortest();
  }

  toString(): string {
    return this.text;
  }

  /** JSON.stringify writes the digits as they are, unquoted. */
  toJSON(): unknown {
    return RAW_JSON.rawJSON(this.text);
  }

  private get units(): bigint {
    if (this.#units === undefined) this.#parse();
    return this.#units as bigint;
  }

  private get scale(): number {
    if (this.#units === undefined) this.#parse();
    return this.#scale;
  }

  #at(scale: number): bigint {
    const more = scale - this.scale;
    return more === 0 ? this.units : this.units * powerOfTen(more);
  }

  #parse(): void {
    const { text } = this;
    const [mantissa = "0", exponent = "0"] = EXPONENT.test(text)
      ? text.toLowerCase().split("e")
      : [text];
    const point = mantissa.indexOf(".");
    const scale = (point < 0 ? 0 : mantissa.length - point - 1) - Number(exponent);
    if (Math.abs(scale) > SCALE_MAX) throw new RangeError(`"${text}" has an exponent out of range`);
    const units = BigInt(
      point < 0 ? mantissa : mantissa.slice(0, point) + mantissa.slice(point + 1),
    );
    this.#units = scale < 0 ? units * 10n ** BigInt(-scale) : units;
    this.#scale = Math.max(scale, 0);
  }

  static #from(units: bigint, scale: number): Decimal {
    const decimal = new Decimal(digits(units, scale));
    decimal.#units = units;
    decimal.#scale = scale;
    return decimal;
  }
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,4})?$/;
/** Neither zeros at the end, nor an exponent, nor a minus before zero. */
const SHORTEST = /^(?:0|-?[1-9]\d*|-?(?:0|[1-9]\d*)\.\d*[1-9])$/;
/** An exponent, or perhaps a minus before zero: what has neither is written as its value is. */
const IN_OTHER_DIGITS = /[eE]|^-0/;
const SCALE_MAX = 1000;
const EXPONENT = /e/i;
const POWERS = Array.from({ length: 64 }, (_, exponent) => 10n ** BigInt(exponent));
const powerOfTen = (exponent: number): bigint => POWERS[exponent] ?? 10n ** BigInt(exponent);
/** Places of a quotient beyond those that are asked for. */
const GUARD = 20;
/** Of a double that is no short decimal number; people, and computers that add in cents, write fewer. */
const DOUBLE_DIGITS = { least: 15, most: 17 };
/** A hundred sums lose so much of a number; where they came back to little, what they lost on the way stays. */
const NOISE = {
  share: Decimal.of("1e-13"),
  least: Decimal.of("1e-9"),
  most: Decimal.of("1e-7"),
};
/** Present since Node 22; not yet in TypeScript's library. */
const RAW_JSON = JSON as unknown as { rawJSON(text: string): unknown };

function digits(units: bigint, scale: number): string {
  const sign = units < 0n ? "-" : "";
  const all = (units < 0n ? -units : units).toString().padStart(scale + 1, "0");
  return scale === 0 ? sign + all : `${sign}${all.slice(0, -scale)}.${all.slice(-scale)}`;
}

/** `-023457` with 3 decimals, which no point marks, is `-23.457`. Zero has no sign, however it is written. */
export const withPoint = (digits: string, decimals: number): string =>
  Decimal.of(`${BigInt(digits)}e-${decimals}`).fixed(decimals);

/** What these come to. */
export const amountOf = (all: readonly { readonly amount: Decimal }[]): Decimal =>
  Decimal.sum(all.map(({ amount }) => amount));
