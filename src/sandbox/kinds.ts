/** The resources as the sandbox keeps them, and what of them is kept but not shown. */
import type { Json } from "../core/json.ts";
import type { RawRecord, ResourceName } from "./scenes/index.ts";

export type { RawRecord, ResourceName };
export type Kind = ResourceName | "companies";
export type Fields = Readonly<Record<string, Json>>;

export const resourceNames: readonly ResourceName[] = [
  "orders",
  "order-notes",
  "delivery-tickets",
  "invoices",
  "payments",
  "rack-prices",
  "connections",
  "freight-rates",
  "locations",
  "allocations",
  "supplier-terminals",
];

export function isResource(name: string): name is ResourceName {
  return (resourceNames as readonly string[]).includes(name);
}

/** The fields that the interface has no place for (readings: stored, not shown). */
export const unshown: Readonly<Record<Kind, readonly string[]>> = {
  orders: ["bids", "pickup", "delivery"],
  "order-notes": ["updatedAt"],
  "delivery-tickets": [
    "companyId",
    "bolNumbers",
    "deliveryNotes",
    "receiverName",
    "discrepancies",
    "signedAt",
  ],
  invoices: [],
  payments: ["createdAt", "updatedAt"],
  "rack-prices": [],
  connections: [],
  "freight-rates": ["companyId"],
  locations: ["schedules", "compartments"],
  allocations: [],
  "supplier-terminals": ["countryCode", "region", "taxingAuthority", "unitSystem"],
  companies: ["contact", "sandbox", "updatedAt"],
};

/** The rows that a list leaves out when the reading `listsCarryLines` is off. */
export const lineFields: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  orders: ["lines"],
  invoices: ["lineItems", "taxLines"],
  "delivery-tickets": ["productLines"],
};

export function isFields(value: Json | undefined): value is Fields {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !("toJSON" in value)
  );
}
