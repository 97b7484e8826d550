/**
 * The resources as the sandbox keeps them: what a record has when nobody says otherwise, in the order of the
 * specification's tables (part 2), and what is kept but not shown.
 */
import { randomUUID } from "node:crypto";
import type { Json } from "../core/json.ts";
import { companies, type RawRecord, type ResourceName } from "./scenes/index.ts";

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
  const { createdAt, updatedAt, ...rest } = record;
  return {
    ...rest,
    id,
    createdAt: createdAt ?? updatedAt ?? birth.at,
    updatedAt: updatedAt ?? createdAt ?? birth.at,
  };
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

type Row = (given: Fields, recordId: string) => Fields;

const rows: Readonly<Partial<Record<ResourceName, Readonly<Record<string, Row>>>>> = {
  orders: { lines: orderLine },
  invoices: {
    lineItems: (given, invoiceId) => ({
      id: randomUUID(),
      invoiceId,
      description: "",
      product: null,
      location: null,
      spec: null,
      bolNumber: null,
      deliveryTicket: null,
      carrier: null,
      gallons: null,
      grossGallons: null,
      netGallons: null,
      rate: null,
      rackPrice: null,
      margin: null,
      amount: 0,
      deliveredDate: null,
      ...given,
    }),
    taxLines: (given, invoiceId) => ({
      id: randomUUID(),
      invoiceId,
      taxType: "",
      authority: null,
      productRef: null,
      rateDisplay: null,
      rate: null,
      gallons: null,
      amount: 0,
      ...given,
    }),
  },
  "freight-rates": {
    customFees: (given) => ({ id: randomUUID(), label: "", amount: null, unit: null, ...given }),
  },
  locations: {
    contacts: (given) => ({
      name: "",
      title: null,
      email: null,
      phone: null,
      isPrimary: false,
      ...given,
    }),
    assets: (given, locationId) => ({
      id: randomUUID(),
      locationId,
      name: "",
      assetType: "TANK",
      product: null,
      capacity: 0,
      currentLevel: 0,
      unit: "gal",
      fillMethod: null,
      maxFillPct: 90,
      autoReorderPct: null,
      ...given,
    }),
  },
};

/** Both names of quantity and unit are shown, whichever was given (specification 2.2). */
function orderLine(given: Fields, orderId: string): Fields {
  const quantity = given.quantity ?? given.gallons ?? 1;
  const unit = given.unitCode ?? given.unit ?? "gal";
  return {
    id: randomUUID(),
    orderId,
    product: "",
    terminal: null,
    supplierId: null,
    rate: 0,
    buyPrice: null,
    sellPrice: null,
    loadingNumber: null,
    lat: null,
    lng: null,
    productCode: null,
    terminalCode: null,
    ...given,
    gallons: quantity,
    unit,
    quantity,
    unitCode: unit,
  };
}
