import { Decimal } from "../../core/decimal.ts";

/** To the cent, halves away from zero, as most partners do. */
export function roundHalfUp(value: Decimal): Decimal {
  const even = value.round(2);
  const rest = value.minus(even).abs();
  if (!rest.equals(HALF)) return even;
  const step = value.sign < 0 ? CENT.negated() : CENT;
  return even.abs().compare(value.abs()) < 0 ? even.plus(step) : even;
}

const HALF = Decimal.of("0.005");
const CENT = Decimal.of("0.01");

/** Does a product come to this amount, however halves are rounded? */
export const isOneOf = (product: Decimal, amount: Decimal): boolean =>
  product.round(2).equals(amount) && roundHalfUp(product).equals(amount);
