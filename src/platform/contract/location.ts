/** Locations and their assets (specification 2.11 and part 4, rules P3 and L1). */
import { z } from "zod";
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
  id: p.id,
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
  createdAt: p.timestamp,
  updatedAt: p.timestamp,
});
export type Location = z.infer<typeof Location>;

/** A location in a list: only the detail is sure to carry contacts. */
export const ListedLocation = Location.partial({ contacts: true, assets: true });
export type ListedLocation = z.infer<typeof ListedLocation>;

export const LocationQuery = z.object({ search: p.queryText(100), isActive: p.queryFlag });

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
export type UpdateLocation = z.infer<typeof UpdateLocation>;
