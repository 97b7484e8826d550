/**
 * The volume at 60 °F from the volume at another temperature: API MPMS chapter 11.1 (2004), generalized petroleum products
 * (the former ASTM D1250 table 6B), without pressure. Fixed-point integers with 18 decimal places.
 *
 * - density at 60 °F, kg/m³: 999.016 × 141.5 / (API + 131.5)
 * - α at 60 °F, per °F: K0/ρ² + K1/ρ, in the transition group A + B/ρ²
 * - factor: exp(−αΔT(1 + 0.8αΔT)), ΔT = temperature − 60 °F
 *
 * Left out: the conversion of ITS-90 to IPTS-68 temperatures and the table's steps of rounding (both below 0.00003).
 */
import { Decimal } from "../core/decimal.ts";

const PLACES = 18;
const ONE = 10n ** BigInt(PLACES);
const fixed = (digits: string): bigint =>
  BigInt(Decimal.of(digits).round(PLACES).fixed(PLACES).replace(".", ""));
const times = (one: bigint, other: bigint): bigint => (one * other) / ONE;
const over = (one: bigint, other: bigint): bigint => (one * ONE) / other;

/** By the least density of each group, kg/m³: K0 and K1; of the transition group its coefficient of 1/ρ² and its constant. */
const GROUPS = (
  [
    ["838.3127", "103.8720", "0.2701", "0"],
    ["787.5195", "330.3010", "0", "0"],
    ["770.3520", "1489.0670", "0", "-0.0018684"],
    ["0", "192.4571", "0.2438", "0"],
  ] as const
).map((row) => row.map(fixed) as [bigint, bigint, bigint, bigint]);

const WATER = times(fixed("999.016"), fixed("141.5"));
const SHIFT = fixed("131.5");
const BASE = fixed("60");
const CURVE = fixed("0.8");
/** Where the method holds: API gravity at 60 °F, and °F. */
const GRAVITY = { from: fixed("0"), to: fixed("100") };
const TEMPERATURE = { from: fixed("-58"), to: fixed("302") };

/**
 * What a gallon at `temperature` (°F) is at 60 °F, with six decimal places. `gravity`: API gravity at 60 °F. Null: the method
 * does not hold there.
 */
export function volumeCorrection(gravity: Decimal, temperature: Decimal): Decimal | null {
  const [api, degrees] = [fixed(gravity.text), fixed(temperature.text)];
  if (!isIn(api, GRAVITY) || !isIn(degrees, TEMPERATURE)) return null;
  const density = over(WATER, api + SHIFT);
  const group = GROUPS.find(([least]) => density >= least);
  if (group === undefined) return null;
  const [, k0, k1, constant] = group;
  const alpha = over(over(k0, density), density) + over(k1, density) + constant;
  const growth = times(alpha, degrees - BASE);
  const factor = exponential(-times(growth, ONE + times(CURVE, growth)));
  return Decimal.of(`${factor}e-${PLACES}`).round(6);
}

const isIn = (value: bigint, { from, to }: typeof GRAVITY): boolean => value >= from && value <= to;

/** By its series; of what is near 0. */
function exponential(power: bigint): bigint {
  let sum = ONE;
  let term = ONE;
  for (let at = 1n; term !== 0n; at++) {
    term = times(term, power) / at;
    sum += term;
  }
  return sum;
}
