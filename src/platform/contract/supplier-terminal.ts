/** Supplier terminals (specification 2.12 and part 4, Locations, terminals, allocations, companies). */
import { z } from "zod";
import { units } from "./order.ts";
import * as p from "./primitives.ts";

export const SupplierTerminal = z.looseObject({
  id: p.id,
  companyId: p.id,
  terminalCode: p.text,
  name: p.text,
  city: p.textOrNull,
  state: p.textOrNull,
  zip: p.textOrNull,
  country: p.textOrNull,
  operatingHours: p.textOrNull,
  lat: p.decimalOrNull,
  lng: p.decimalOrNull,
  products: p.orNull(p.object({})),
  capacity: p.integerOrNull,
  isActive: z.boolean(),
  createdAt: p.timestamp,
  updatedAt: p.timestamp,
});
export type SupplierTerminal = z.infer<typeof SupplierTerminal>;

export const SupplierTerminalQuery = z.object({ search: p.queryText(100), state: p.queryText(2) });

const fields = {
  city: p.optionalOrNull(100),
  state: p.optionalOrNull(100),
  zip: p.optionalOrNull(20),
  country: p.optionalOrNull(120),
  countryCode: p.optionalOrNull(2),
  region: p.optionalOrNull(120),
  lat: p.latitude.nullish(),
  lng: p.longitude.nullish(),
  capacity: p.numeric({ min: 0, integer: true }).nullish(),
  operatingHours: p.optionalOrNull(500),
  taxingAuthority: p.optionalOrNull(200),
};

/** Partial (rule P3): no defaults. */
export const UpdateTerminal = p.object({
  ...fields,
  terminalCode: p.required(50).optional(),
  name: p.required(200).optional(),
  unitSystem: z.enum(units).optional(),
  isActive: z.boolean().optional(),
});
export type UpdateTerminal = z.infer<typeof UpdateTerminal>;

export const UpsertTerminal = z.looseObject({
  ...fields,
  terminalCode: p.required(50),
  name: p.required(200),
  unitSystem: z.enum(units).default("gal"),
  isActive: z.boolean().default(true),
});
export type UpsertTerminal = z.infer<typeof UpsertTerminal>;
