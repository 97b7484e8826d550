/** Orders, their lines and notes (specification 2.1 to 2.3 and part 4, Orders). */
import { z } from "zod";
import { all, one, post, put, walk } from "./operation.ts";
import * as p from "./primitives.ts";

export const orderStatuses = [
  "DRAFT",
  "POSTED",
  "BIDDING",
  "ASSIGNED",
  "CONFIRMED",
  "IN_TRANSIT",
  "DELIVERED",
  "PENDING_VERIFICATION",
  "INVOICED",
  "CANCELLED",
] as const;
const orderTypes = ["direct", "bid"] as const;
const pricingTypes = ["fixed", "bid"] as const;
const urgencies = ["routine", "urgent", "emergency"] as const;
export const units = ["gal", "liter", "bbl"] as const;

export const OrderLine = z.looseObject({
  id: p.id,
  orderId: p.id,
  product: p.text,
  terminal: p.textOrNull,
  supplierId: p.idOrNull,
  /** Alias of `quantity`; not always whole since lines accept fractional quantities (part 9, rule 7). */
  gallons: p.decimal,
  unit: p.openEnum(units),
  /** The current names of `gallons` and `unit`; `unitCode` may be any unit of the catalog. */
  quantity: p.decimal.optional(),
  unitCode: p.text.optional(),
  rate: p.decimal,
  buyPrice: p.decimalOrNull,
  sellPrice: p.decimalOrNull,
  loadingNumber: p.textOrNull,
  lat: p.decimalOrNull,
  lng: p.decimalOrNull,
  /** Both are exact matches or null, never guesses. */
  productCode: p.textOrNull,
  terminalCode: p.textOrNull,
});
export type OrderLine = z.infer<typeof OrderLine>;

const Requirements = p.object({
  truckType: z.string().optional(),
  hazmat: z.boolean().optional(),
  twic: z.boolean().optional(),
  tankerEndorsement: z.boolean().optional(),
  pumpOff: z.boolean().optional(),
});

/** The detail answer also carries `bids`, `pickup` and `delivery`, whose fields are not specified (2.16). */
export const Order = z.looseObject({
  ...p.record,
  companyId: p.id,
  locationId: p.idOrNull,
  status: p.openEnum(orderStatuses),
  orderType: p.openEnum(orderTypes),
  pricingType: p.openEnum(pricingTypes),
  urgency: p.openEnum(urgencies),
  notes: p.textOrNull,
  requirements: p.orNull(p.object({})),
  requestedDate: p.timestampOrNull,
  deliveryDate: p.timestampOrNull,
  deliveryStart: p.textOrNull,
  deliveryEnd: p.textOrNull,
  carrierCompanyId: p.idOrNull,
  maxRate: p.decimalOrNull,
  bidDeadline: p.timestampOrNull,
  loadingNumber: p.textOrNull,
  lines: z.array(OrderLine),
});
export type Order = z.infer<typeof Order>;

/** An order in a list. Whether lists carry lines is not specified: without them, read the detail. */
export const ListedOrder = Order.partial({ lines: true });

export const OrderNote = z.looseObject({
  id: p.id,
  orderId: p.id,
  content: p.text,
  authorName: p.textOrNull,
  createdAt: p.timestamp,
});

const OrderQuery = z.object({
  status: p.queryEnum(orderStatuses),
  product: p.queryText(50),
  search: p.queryText(100),
  sortBy: p.queryChoice(["createdAt", "requestedDate", "status", "updatedAt"], "createdAt"),
  sortOrder: p.queryChoice(["asc", "desc"], "desc"),
  ...p.paging(p.pages),
  ...p.walk,
});

/** `quantity` and `unitCode` may stand in place of `gallons` and `unit`; `unit` means nothing beside `unitCode`. */
const OrderLineInput = z
  .looseObject({
    product: p.required(100),
    gallons: p.numeric({ min: 1, integer: true }).optional(),
    quantity: p.numeric({ gt: 0 }).optional(),
    unit: z.enum(units).default("gal"),
    unitCode: z.string().min(1).optional(),
    terminal: p.optionalOrNull(200),
    supplierId: p.id.nullish(),
    rate: p.numeric({ min: 0 }).default(0),
    buyPrice: p.numeric().nullish(),
    sellPrice: p.numeric().nullish(),
    loadingNumber: p.optionalOrNull(120),
    lat: p.latitude.nullish(),
    lng: p.longitude.nullish(),
  })
  .refine((line) => line.gallons !== undefined || line.quantity !== undefined, {
    path: ["gallons"],
    error: "gallons (or quantity) is required",
  });

const lines = z.array(OrderLineInput).min(1).max(20);

export const CreateOrder = z.looseObject({
  lines,
  locationId: p.id.nullish(),
  orderType: z.enum(orderTypes).default("direct"),
  pricingType: z.enum(pricingTypes).default("fixed"),
  urgency: z.enum(urgencies).default("routine"),
  notes: p.optionalOrNull(2000),
  requirements: Requirements.nullish(),
  requestedDate: p.timestamp.nullish(),
  deliveryDate: p.timestamp.nullish(),
  bidDeadline: p.timestamp.nullish(),
  deliveryStart: p.optionalOrNull(10),
  deliveryEnd: p.optionalOrNull(10),
  carrierCompanyId: p.id.nullish(),
  maxRate: p.numeric({ min: 0 }).nullish(),
  loadingNumber: p.optionalOrNull(120),
});

/** Partial (rule P3): no defaults, except inside `lines`, which replace the lines as a whole. */
export const UpdateOrder = p.object({
  locationId: p.id.nullish(),
  orderType: z.enum(orderTypes).optional(),
  urgency: z.enum(urgencies).optional(),
  notes: p.optionalOrNull(2000),
  requestedDate: p.timestamp.nullish(),
  deliveryDate: p.timestamp.nullish(),
  carrierCompanyId: p.id.nullish(),
  lines: lines.optional(),
});

export const OrderNoteInput = z.looseObject({ content: p.required(2000) });

export const orderOperations = {
  listOrders: walk("/orders", OrderQuery, ListedOrder),
  createOrder: post("/orders", CreateOrder, Order),
  getOrder: one("/orders/{id}", Order),
  updateOrder: put("/orders/{id}", UpdateOrder, Order),
  listOrderNotes: all("/orders/{id}/notes", OrderNote),
  addOrderNote: { ...post("/orders/{id}/notes", OrderNoteInput, OrderNote), errors: [400, 404] },
} as const;
