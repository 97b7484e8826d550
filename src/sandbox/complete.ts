/** What a record has when nobody says otherwise, in the order of the specification's tables (part 2). */
import { randomUUID } from "node:crypto";
import type { Json } from "../core/json.ts";
import { type Fields, isFields, type RawRecord, type ResourceName } from "./kinds.ts";
import { rows } from "./rows.ts";
import { companies } from "./scenes/index.ts";

/** What a new record is made of besides what is given. */
export interface Birth {
  readonly owner: string;
  /** Now, ISO 8601. */
  readonly at: string;
  /** A number for people, unique in this sandbox. */
  readonly next: number;
}

/**
 * A whole record: every field of its kind, given or by default, and whatever else is given. Nested rows get ids
 * and point to their record.
 */
export function complete(kind: ResourceName, given: Fields, birth: Birth): RawRecord {
  const id = typeof given.id === "string" ? given.id : randomUUID();
  const record: Record<string, Json> = { ...templates[kind](birth), ...given, id };
  for (const [field, row] of Object.entries(rows[kind] ?? {})) {
    const list = record[field];
    if (Array.isArray(list))
      record[field] = list.map((item) => (isFields(item) ? row(item, id) : item));
  }
  const { createdAt = birth.at, updatedAt = birth.at, ...rest } = record;
  return { ...rest, id, createdAt, updatedAt };
}

const templates: Readonly<Record<ResourceName, (birth: Birth) => Record<string, Json>>> = {
  orders: ({ owner }) => ({
    id: "",
    companyId: owner,
    locationId: null,
    status: "POSTED",
    orderType: "direct",
    pricingType: "fixed",
    urgency: "routine",
    notes: null,
    requirements: null,
    requestedDate: null,
    deliveryDate: null,
    deliveryStart: null,
    deliveryEnd: null,
    carrierCompanyId: null,
    maxRate: null,
    bidDeadline: null,
    loadingNumber: null,
    lines: [],
  }),
  "order-notes": () => ({ id: "", orderId: randomUUID(), content: "", authorName: null }),
  "delivery-tickets": ({ next }) => ({
    id: "",
    ticketNumber: `DT-${String(next).padStart(6, "0")}`,
    orderId: null,
    supplierCompanyId: null,
    receiverCompanyId: null,
    status: "DRAFT",
    bolNumber: null,
    driverName: null,
    carrierCompanyName: null,
    loadingTerminalName: null,
    destinationName: null,
    deliveryDate: null,
    productLines: null,
  }),
  invoices: ({ owner, next }) => ({
    id: "",
    companyId: owner,
    orderId: null,
    invoiceNumber: `INV-${String(next).padStart(6, "0")}`,
    status: "OUTSTANDING",
    subtotal: 0,
    tax: 0,
    total: 0,
    dueDate: null,
    paidAt: null,
    notes: null,
    payerCompanyId: null,
    contractNumber: null,
    poNumber: null,
    lineItems: [],
    taxLines: [],
  }),
  payments: ({ at }) => ({
    id: "",
    invoiceId: randomUUID(),
    amount: 0,
    method: "ach",
    reference: null,
    processorChargeId: null,
    status: "SUCCEEDED",
    failureReason: null,
    surchargeAmount: null,
    paidAt: at,
  }),
  "rack-prices": ({ owner, at }) => ({
    id: "",
    companyId: owner,
    terminalId: "T-1",
    product: "ULSD",
    price: 1,
    unit: "gal",
    spread: 0,
    indexSource: null,
    effectiveAt: at,
    expiresAt: null,
  }),
  connections: ({ owner }) => ({
    id: "",
    fromCompanyId: owner,
    toCompanyId: companies.customer.id,
    status: "ACCEPTED",
    message: null,
    erpId: null,
    paymentTerms: null,
    creditLimit: null,
  }),
  "freight-rates": ({ at }) => ({
    id: "",
    connectionId: randomUUID(),
    originTerminalId: null,
    originCity: null,
    originState: null,
    destinationZipPrefix: null,
    destinationZip: null,
    destinationCity: null,
    destinationState: null,
    product: null,
    notes: null,
    ratePerMile: null,
    flatFee: null,
    minCharge: null,
    fuelSurchargePercent: null,
    distanceUnit: "MILES",
    effectiveAt: at,
    customFees: null,
  }),
  locations: ({ owner, next }) => ({
    id: "",
    companyId: owner,
    name: `Location ${next}`,
    locationType: null,
    street: null,
    city: null,
    state: null,
    zip: null,
    gateCode: null,
    country: "US",
    lat: null,
    lng: null,
    isActive: true,
    contacts: [],
    assets: [],
  }),
  allocations: ({ owner }) => ({
    id: "",
    companyId: owner,
    connectionId: randomUUID(),
    terminalId: "T-1",
    product: "ULSD",
    dailyAllocation: null,
    weeklyAllocation: null,
    monthlyAllocation: null,
    dailyUsed: 0,
    weeklyUsed: 0,
    monthlyUsed: 0,
    period: "daily",
    brand: "",
    supplierId: null,
  }),
  "supplier-terminals": ({ owner, next }) => ({
    id: "",
    companyId: owner,
    terminalCode: `T-${next}`,
    name: `Terminal ${next}`,
    city: null,
    state: null,
    zip: null,
    country: null,
    operatingHours: null,
    lat: null,
    lng: null,
    products: null,
    capacity: null,
    isActive: true,
  }),
};
