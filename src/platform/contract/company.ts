/** Company profiles (specification 2.14 and part 4). */
import { z } from "zod";
import * as p from "./primitives.ts";

const companyTypes = ["SUPPLIER", "BROKER", "CARRIER", "CUSTOMER"] as const;

export const CompanyProfile = z.looseObject({
  id: p.id,
  name: p.text,
  type: p.openEnum(companyTypes),
  dba: p.textOrNull,
  phone: p.textOrNull,
  website: p.textOrNull,
  logoUrl: p.textOrNull,
  billingStreet: p.textOrNull,
  billingCity: p.textOrNull,
  billingState: p.textOrNull,
  billingZip: p.textOrNull,
  createdAt: p.timestamp,
});
export type CompanyProfile = z.infer<typeof CompanyProfile>;
