/**
 * The volume at 60 °F from the volume at another temperature: API MPMS chapter 11.1 (2004), generalized petroleum products
 * (the former ASTM D1250 table 6B), without pressure. With 18 decimal places.
 *
 * - density at 60 °F, kg/m³: 999.016 × 141.5 / (API + 131.5)
 * - α at 60 °F, per °F: K0/ρ² + K1/ρ, in the transition group A + B/ρ²
 * - factor: exp(−αΔT(1 + 0.8αΔT)), ΔT = temperature − 60 °F
 *
 * Left out: the conversion of ITS-90 to IPTS-68 temperatures and the table's steps of rounding (both below 0.00003).
 */
import { Decimal } from "../core/decimal.ts";

const PLACES = 18;

/** By the least density of each group, kg/m³: K0 and K1; of the transition group its coefficient of 1/ρ² and its constant. */
const GROUPS = (
  [
    ["838.3127", "103.8720", "0.2701", "0"],
    ["787.5195", "330.3010", "0", "0"],
    ["770.3520", "1489.0670", "0", "-0.0018684"],
    ["0", "192.4571", "0.2438", "0"],
  ] as const
).map((row) => row.map((digits) => Decimal.of(digits)) as [Decimal, Decimal, Decimal, Decimal]);

const WATER = Decimal.of("999.016").times(Decimal.of("141.5"));
const SHIFT = Decimal.of("131.5");
const BASE = Decimal.of("60");
const CURVE = Decimal.of("0.8");
/** Where the method holds: API gravity at 60 °F, and °F. */
const GRAVITY = [Decimal.zero, Decimal.of("100")] as const;
const TEMPERATURE = [Decimal.of("-58"), Decimal.of("302")] as const;

/**
 * What a gallon at `temperature` (°F) is at 60 °F, with six decimal places. `gravity`: API gravity at 60 °F. Null: the method
 * does not hold there.
 */
export function volumeCorrection(gravity: Decimal, temperature: Decimal): Decimal | null {
  if (!isIn(gravity, GRAVITY) || !isIn(temperature, TEMPERATURE)) return null;
  const density = WATER.over(gravity.plus(SHIFT), PLACES);
  const group = GROUPS.find(([least]) => density.compare(least) >= 0);
  if (group === undefined) return null;
  const [, k0, k1, constant] = group;
  const alpha = k0.over(density, PLACES).plus(k1).over(density, PLACES).plus(constant);
  const growth = alpha.times(temperature.minus(BASE));
  return exponential(growth.times(Decimal.one.plus(CURVE.times(growth))).negated()).round(6);
}

const isIn = (value: Decimal, [from, to]: readonly [Decimal, Decimal]): boolean =>
  value.compare(from) >= 0 && value.compare(to) <= 0;

/** By its series; of what is near 0. */
function exponential(power: Decimal): Decimal {
  let sum = Decimal.one;
  let term = Decimal.one;
  for (let at = 1; term.sign !== 0; at++) {
    term = term.times(power).over(Decimal.of(String(at)), PLACES);
    sum = sum.plus(term);
  }
  return sum;
}
