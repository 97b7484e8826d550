import { Decimal } from "../../src/core/decimal.ts";

/** Whole numbers of the platform's as documents have them. */
export const counted = <T extends number | null>(value: T): T extends number ? Decimal : null =>
  (value === null ? null : Decimal.of(String(value))) as T extends number ? Decimal : null;

export const activity = (isActive: boolean): string => (isActive ? "ACTIVE" : "INACTIVE");
