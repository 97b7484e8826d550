import type { References } from "../../src/core/contract.ts";
import { cellOf } from "../crossref.ts";

/** The platform's name of an ERP product, from the table `products`. @throws NotMapped */
export const productOf = (references: References, code: string): string =>
  cellOf(references, "products", code, "product");
