/** Locations, terminals, allocations, companies (specification 2.11 to 2.14 and part 4, rules P3 and L1). */
import { z } from "zod";
import { units } from "./order.ts";
import { all, list, one, post, put } from "./operation.ts";
import * as p from "./primitives.ts";

const assetTypes = ["TANK", "GENERATOR", "EQUIPMENT", "VEHICLE", "OTHER"] as const;

/** `capacity` and `currentLevel` in `unit`, percentages 0 to 100. */
const Asset = z.looseObject({
  id: p.id,
  locationId: p.id,
  name: p.text,
  assetType: p.openEnum(assetTypes),
  product: p.textOrNull,
  capacity: p.integer,
  currentLevel: p.integer,
  unit: p.text,
  fillMethod: p.textOrNull,
  maxFillPct: p.integer,
  autoReorderPct: p.integerOrNull,
});

export const Location = z.looseObject({
  ...p.record,
  companyId: p.id,
  name: p.text,
  locationType: p.textOrNull,
  street: p.textOrNull,
  city: p.textOrNull,
  state: p.textOrNull,
  zip: p.textOrNull,
  gateCode: p.textOrNull,
  country: p.text,
  lat: p.decimalOrNull,
  lng: p.decimalOrNull,
  isActive: z.boolean(),
  contacts: z.array(
    z.looseObject({
      name: p.text,
      title: p.textOrNull,
      email: p.textOrNull,
      phone: p.textOrNull,
      isPrimary: z.boolean(),
    }),
  ),
  assets: z.array(Asset),
});

/** A location in a list: only the detail is sure to carry contacts. */
export const ListedLocation = Location.partial({ contacts: true, assets: true });

const LocationQuery = z.object({
  search: p.queryText(100),
  isActive: p.queryFlag,
  ...p.paging(p.pages),
});

const ScheduleDay = p
  .object({
    isOpen: z.boolean().optional(),
    openTime: z.string().nullish(),
    closeTime: z.string().nullish(),
  })
  .refine((day) => day.isOpen !== true || (day.openTime && day.closeTime), {
    path: ["openTime"],
    error: "a day that is open needs openTime and closeTime",
  });

/**
 * Inferred from rules L1 and P3: the specification names the update and its rules, not its body. Field names and the
 * rest are those of the answer.
 */
export const UpdateLocation = p.object({
  name: z.string().min(1).optional(),
  locationType: z.string().nullish(),
  street: z.string().nullish(),
  city: z.string().nullish(),
  state: z.string().nullish(),
  zip: z.string().nullish(),
  gateCode: z.string().nullish(),
  country: z.string().optional(),
  lat: p.latitude.nullish(),
  lng: p.longitude.nullish(),
  isActive: z.boolean().optional(),
  contacts: z
    .array(
      z.looseObject({
        name: z.string().min(1),
        title: z.string().nullish(),
        email: z.string().nullish(),
        phone: z.string().nullish(),
        isPrimary: z.boolean().default(false),
      }),
    )
    .min(1)
    .optional(),
  schedules: z.array(ScheduleDay).min(1).optional(),
  compartments: z.array(p.object({})).min(1).optional(),
});

/** Allocations are read only. Rows of one terminal, product and period are told apart by `brand` and `supplierId`. */
export const Allocation = z.looseObject({
  ...p.record,
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
});

export const SupplierTerminal = z.looseObject({
  ...p.record,
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
});

const SupplierTerminalQuery = z.object({
  search: p.queryText(100),
  state: p.queryText(2),
  ...p.paging(p.terminalPages),
});

const terminalFields = {
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
  ...terminalFields,
  terminalCode: p.required(50).optional(),
  name: p.required(200).optional(),
  unitSystem: z.enum(units).optional(),
  isActive: z.boolean().optional(),
});

export const UpsertTerminal = z.looseObject({
  ...terminalFields,
  terminalCode: p.required(50),
  name: p.required(200),
  unitSystem: z.enum(units).default("gal"),
  isActive: z.boolean().default(true),
});

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

export const placeOperations = {
  listLocations: list("/locations", LocationQuery, ListedLocation, p.pages),
  getLocation: one("/locations/{id}", Location),
  updateLocation: { ...put("/locations/{id}", UpdateLocation, Location), inferred: true },
  listAllocations: { ...all("/allocations", Allocation), errors: [] },
  listSupplierTerminals: list(
    "/supplier-terminals",
    SupplierTerminalQuery,
    SupplierTerminal,
    p.terminalPages,
  ),
  createSupplierTerminal: {
    ...post("/supplier-terminals", UpsertTerminal, SupplierTerminal),
    scope: "supplier_terminals:write",
  },
  getSupplierTerminal: one("/supplier-terminals/{id}", SupplierTerminal),
  updateSupplierTerminal: {
    ...put("/supplier-terminals/{id}", UpdateTerminal, SupplierTerminal),
    scope: "supplier_terminals:write",
  },
  getCompanyProfile: one("/companies/{id}/profile", CompanyProfile),
} as const;
