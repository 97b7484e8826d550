import { type Product, products, type Terminal } from "./catalog.ts";
import { tenths } from "./money.ts";
import type { Random } from "./random.ts";

/** What one compartment of a truck held: the order line, the ticket line and the invoice line all tell of it. */
export interface Load {
  readonly product: Product;
  readonly ordered: number;
  /** Gallons as metered, and as they would be at 60 °F. */
  readonly gross: number;
  readonly net: number;
  readonly temperature: number;
  readonly apiGravity: number;
  /** Micros per gallon: what the supplier pays and what he charges. */
  readonly cost: number;
  readonly price: number;
  readonly bol: string;
}

/** The products a rack sells: most of them, always the same. */
export const soldAt = (terminal: Terminal): readonly Product[] =>
  products.filter((_, index) => (index * 5 + Number(terminal.code.slice(-2))) % 6 !== 0);

/** The rack's price of a product in micros: a regional difference that depends on both. */
export const rackPrice = (terminal: Terminal, product: Product): number =>
  product.price +
  ((Number(terminal.code.slice(-4)) * 37 + product.name.length * 11) % 900) * 125 -
  45_000;

/** A truck: one bill of lading, its gallons shared out over the compartments. Now and then it is a small one. */
export function loads(random: Random, terminal: Terminal, compartments: number): Load[] {
  const sold = soldAt(terminal);
  const bol = random.digits(7);
  const total = random.chance(0.8) ? random.int(28, 38) * 250 : random.int(4, 18) * 150;
  const ordered = Math.ceil(total / compartments / 50) * 50;
  return Array.from({ length: compartments }, () => {
    const product = random.pick(sold);
    const gross = tenths(ordered + random.int(-160, 160) / 10);
    const temperature = random.int(580, 962) / 10;
    const expansion = product.family === "gasoline" ? 0.00069 : 0.00046;
    const cost = rackPrice(terminal, product) + random.int(-400, 400) * 25;
    return {
      product,
      ordered,
      gross,
      net: tenths(gross * (1 - expansion * (temperature - 60))),
      temperature,
      apiGravity: tenths(product.apiGravity + random.int(-8, 8) / 10),
      cost,
      price: cost + random.int(300, 1400) * 50 + random.int(0, 49),
      bol,
    };
  });
}
