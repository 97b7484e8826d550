/** Creation of customers and suppliers (specification 2.15 and part 4, Parties). */
import { z } from "zod";
import * as p from "./primitives.ts";

const partyTypes = ["CUSTOMER", "SUPPLIER"] as const;

export const NetworkParty = z.looseObject({
  id: p.id,
  name: p.text,
  type: p.openEnum(partyTypes),
  connectionId: p.id,
  connectionStatus: p.text,
});
export type NetworkParty = z.infer<typeof NetworkParty>;

export const CreateParty = z.looseObject({
  name: p.required(200),
  contactName: p.optional(200),
  contactEmail: z.email().max(200).optional(),
  contactPhone: p.optional(50),
  /** The company's main line; the platform falls back to `contactPhone`. */
  phone: p.optional(50),
  street: p.optional(200),
  city: p.optional(100),
  state: p.optional(100),
  zip: p.optional(20),
  country: p.optional(120),
  lat: p.latitude.optional(),
  lng: p.longitude.optional(),
  /** The caller's own id of the party. */
  externalId: p.optional(120),
  notes: p.optional(2000),
});
export type CreateParty = z.infer<typeof CreateParty>;
