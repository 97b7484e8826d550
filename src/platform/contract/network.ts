/** Connections, their freight rates, and parties (specification 2.8, 2.9, 2.15 and part 4). */
import { z } from "zod";
import { all, list, one, post, put } from "./operation.ts";
import * as p from "./primitives.ts";

const connectionStatuses = [
  "PENDING",
  "INFO_REQUESTED",
  "RESUBMITTED",
  "ACCEPTED",
  "DECLINED",
] as const;

export const Connection = z.looseObject({
  ...p.record,
  fromCompanyId: p.id,
  toCompanyId: p.id,
  status: p.openEnum(connectionStatuses),
  message: p.textOrNull,
  erpId: p.textOrNull,
  paymentTerms: p.textOrNull,
  creditLimit: p.decimalOrNull,
});
export type Connection = z.infer<typeof Connection>;

const ConnectionQuery = z.object({
  direction: p.queryChoice(["inbound", "outbound", "all"], "all"),
  status: p.queryEnum(connectionStatuses),
  search: p.queryText(100),
  ...p.paging(p.widePages),
});

const distanceUnits = ["MILES", "KILOMETERS"] as const;

export const FreightRate = z.looseObject({
  ...p.record,
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
});
export type FreightRate = z.infer<typeof FreightRate>;

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

/** Partial; the connection of a rate cannot be changed. */
export const UpdateFreightRate = p.object({
  ...lane,
  connectionId: z.undefined({ error: "connectionId is immutable" }).optional(),
});

const partyTypes = ["CUSTOMER", "SUPPLIER"] as const;

export const NetworkParty = z.looseObject({
  id: p.id,
  name: p.text,
  type: p.openEnum(partyTypes),
  connectionId: p.id,
  connectionStatus: p.text,
});

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

export const networkOperations = {
  listConnections: list("/connections", ConnectionQuery, Connection, p.widePages),
  getConnection: one("/connections/{id}", Connection),
  listFreightRates: all("/connections/{id}/freight-rates", FreightRate),
  createFreightRate: post("/connections/{id}/freight-rates", CreateFreightRate, FreightRate),
  updateFreightRate: put("/freight-rates/{id}", UpdateFreightRate, FreightRate),
  deleteFreightRate: {
    method: "DELETE",
    path: "/freight-rates/{id}",
    success: { status: 204, kind: "none" },
    errors: [404],
    idempotencyKey: true,
  },
  createCustomer: post("/customers", CreateParty, NetworkParty),
  createSupplier: post("/suppliers", CreateParty, NetworkParty),
} as const;
