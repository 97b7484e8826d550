/** Allocations (specification 2.13 and part 4). Allocations are read only. */
import { z } from "zod";
import * as p from "./primitives.ts";

/** Rows of one terminal, product and period are told apart by `brand` and `supplierId`. */
export const Allocation = z.looseObject({
  id: p.id,
  companyId: p.id,
  connectionId: p.id,
  terminalId: p.text,
  product: p.text,
  dailyAllocation: p.integerOrNull,
  weeklyAllocation: p.integerOrNull,
  monthlyAllocation: p.integerOrNull,
  dailyUsed: p.integer,
  weeklyUsed: p.integer,
  monthlyUsed: p.integer,
  period: p.text,
  /** Empty means unbranded; rows older than the field have none. */
  brand: p.text.default(""),
  /** Null on the caller's own row. */
  supplierId: p.idOrNull,
  createdAt: p.timestamp,
  updatedAt: p.timestamp,
});
export type Allocation = z.infer<typeof Allocation>;
