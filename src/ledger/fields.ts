/** Fields that documents and records have in common. Nothing is empty text; what there is not is null. */
import { z } from "zod";
import { Decimal } from "../core/decimal.ts";

export const text = z.string().min(1);
export const textOrNone = text.nullable();
/** Money and quantities are exact. */
export const decimal = z.custom<Decimal>(
  (value) => value instanceof Decimal,
  "not an exact decimal",
);
export const decimalOrNone = decimal.nullable();
/** `YYYY-MM-DD` */
export const day = z.string().regex(/^\d{4}-\d{2}-\d{2}$/, "not a day (YYYY-MM-DD)");
export const dayOrNone = day.nullable();
