/** Connections and their freight rates (specification 2.8, 2.9 and part 4, Connections and freight rates). */
import { z } from "zod";
import * as p from "./primitives.ts";

const connectionStatuses = [
  "PENDING",
  "INFO_REQUESTED",
  "RESUBMITTED",
  "ACCEPTED",
  "DECLINED",
] as const;
const distanceUnits = ["MILES", "KILOMETERS"] as const;

export const Connection = z.looseObject({
  id: p.id,
  fromCompanyId: p.id,
  toCompanyId: p.id,
  status: p.openEnum(connectionStatuses),
  message: p.textOrNull,
  erpId: p.textOrNull,
  paymentTerms: p.textOrNull,
  creditLimit: p.decimalOrNull,
  createdAt: p.timestamp,
  updatedAt: p.timestamp,
});
export type Connection = z.infer<typeof Connection>;

export const FreightRate = z.looseObject({
  id: p.id,
  connectionId: p.id,
  originTerminalId: p.idOrNull,
  originCity: p.textOrNull,
  originState: p.textOrNull,
  destinationZipPrefix: p.textOrNull,
  destinationZip: p.textOrNull,
  destinationCity: p.textOrNull,
  destinationState: p.textOrNull,
  product: p.textOrNull,
  notes: p.textOrNull,
  ratePerMile: p.decimalOrNull,
  flatFee: p.decimalOrNull,
  minCharge: p.decimalOrNull,
  fuelSurchargePercent: p.decimalOrNull,
  distanceUnit: p.openEnum(distanceUnits),
  effectiveAt: p.timestamp,
  customFees: p.orNull(
    z.array(
      z.looseObject({
        id: p.text,
        label: p.text,
        amount: p.decimalOrNull,
        unit: p.textOrNull,
      }),
    ),
  ),
  createdAt: p.timestamp,
  updatedAt: p.timestamp,
});
export type FreightRate = z.infer<typeof FreightRate>;

export const ConnectionQuery = z.object({
  direction: p.queryChoice(["inbound", "outbound", "all"], "all"),
  status: p.queryEnum(connectionStatuses),
  search: p.queryText(100),
});

const lane = {
  originTerminalId: p.id.nullish(),
  originCity: p.optionalOrNull(120),
  originState: p.optionalOrNull(2),
  destinationZipPrefix: z
    .string()
    .regex(/^\d{3}$/, { error: "must be exactly three digits" })
    .nullish(),
  destinationZip: z
    .string()
    .regex(/^\d{5}$/, { error: "must be exactly five digits" })
    .nullish(),
  product: p.optionalOrNull(100),
  ratePerMile: p.numeric({ min: 0 }).nullish(),
  flatFee: p.numeric({ min: 0 }).nullish(),
  minCharge: p.numeric({ min: 0 }).nullish(),
  fuelSurchargePercent: p.percent.nullish(),
  effectiveAt: p.timestamp.optional(),
  notes: p.optionalOrNull(1000),
};

export const CreateFreightRate = z
  .looseObject({
    ...lane,
    connectionId: p.id,
    destinationCity: p.optionalOrNull(120),
    destinationState: p.optionalOrNull(2),
    distanceUnit: z.enum(distanceUnits).default("MILES"),
    customFees: z
      .array(
        z.looseObject({
          label: p.required(100),
          amount: p.numeric({ min: 0 }).nullish(),
          unit: p.optionalOrNull(20),
        }),
      )
      .max(20)
      .nullish(),
  })
  .refine(
    (rate) =>
      [rate.ratePerMile, rate.flatFee, rate.minCharge, rate.fuelSurchargePercent].some(
        (value) => value !== null && value !== undefined,
      ) || (rate.customFees ?? []).length > 0,
    {
      error:
        "at least one of ratePerMile, flatFee, minCharge, fuelSurchargePercent, customFees is required",
    },
  );
export type CreateFreightRate = z.infer<typeof CreateFreightRate>;

/** Partial; the connection of a rate cannot be changed. */
export const UpdateFreightRate = p.object({
  ...lane,
  connectionId: z.undefined({ error: "connectionId is immutable" }).optional(),
});
export type UpdateFreightRate = z.infer<typeof UpdateFreightRate>;
