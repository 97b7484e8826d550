import type { References } from "../../src/core/contract.ts";
import { NotMapped } from "../../src/core/errors.ts";

/** The platform's name of an ERP product, from the table `products`. @throws NotMapped */
export function productOf(references: References, code: string): string {
  const product = references.row("products", code)["product"]?.trim();
  if (product === undefined || product === "") throw new NotMapped("products", code);
  return product;
}
