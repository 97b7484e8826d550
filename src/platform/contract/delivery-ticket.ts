/** Delivery tickets (specification 2.10 and part 4, Delivery tickets). */
import { z } from "zod";
import { ok, one, pdf, post, put, walk } from "./operation.ts";
import * as p from "./primitives.ts";

export const ticketStatuses = ["DRAFT", "ISSUED", "SIGNED", "VOID"] as const;

/** Every figure of a line may be missing: tickets are saved as drafts, piece by piece. */
const ProductLine = p.object({
  product_name: p.textOrNull,
  spec: p.textOrNull,
  gross_gallons: p.decimalOrNull,
  net_gallons: p.decimalOrNull,
  temperature: p.decimalOrNull,
  api_gravity: p.decimalOrNull,
});

export const DeliveryTicket = z.looseObject({
  ...p.record,
  ticketNumber: p.text,
  orderId: p.idOrNull,
  supplierCompanyId: p.idOrNull,
  receiverCompanyId: p.idOrNull,
  status: p.openEnum(ticketStatuses),
  bolNumber: p.textOrNull,
  driverName: p.textOrNull,
  carrierCompanyName: p.textOrNull,
  loadingTerminalName: p.textOrNull,
  destinationName: p.textOrNull,
  deliveryDate: p.timestampOrNull,
  productLines: p.orNull(z.array(ProductLine)),
});
export type DeliveryTicket = z.infer<typeof DeliveryTicket>;

const DeliveryTicketQuery = z.object({
  status: p.queryEnum(ticketStatuses),
  orderId: p.queryId,
  ...p.paging(p.pages),
  ...p.walk,
});

const ProductLineInput = p.object({
  product_name: p.optional(120),
  spec: p.optional(120),
  gross_gallons: p.numeric().optional(),
  net_gallons: p.numeric().optional(),
  temperature: p.numeric().optional(),
  api_gravity: p.numeric().optional(),
});

/** None of them may be null where a ticket is made: the specification says so of no field (part 4, CreateDeliveryTicket). */
const given = {
  ticketNumber: p.required(64).optional(),
  orderId: p.id.optional(),
  supplierCompanyId: p.id.optional(),
  receiverCompanyId: p.id.optional(),
  status: z.enum(ticketStatuses).optional(),
  bolNumber: p.optional(64),
  bolNumbers: z.array(z.string()).optional(),
  deliveryDate: p.timestamp.optional(),
  driverName: p.optional(120),
  carrierCompanyName: p.optional(200),
  loadingTerminalName: p.optional(200),
  destinationName: p.optional(200),
  productLines: z.array(ProductLineInput).max(50).optional(),
  deliveryNotes: p.optional(2000),
};

/** In a change null empties a field that may be empty: a reading, for nothing else is said that could. */
export const ticketFields = {
  ...given,
  orderId: given.orderId.nullable(),
  supplierCompanyId: given.supplierCompanyId.nullable(),
  receiverCompanyId: given.receiverCompanyId.nullable(),
  bolNumber: given.bolNumber.nullable(),
  deliveryDate: given.deliveryDate.nullable(),
  driverName: given.driverName.nullable(),
  carrierCompanyName: given.carrierCompanyName.nullable(),
  loadingTerminalName: given.loadingTerminalName.nullable(),
  destinationName: given.destinationName.nullable(),
  productLines: given.productLines.nullable(),
};

/** Partial (rule P3): no defaults. */
export const UpdateDeliveryTicket = p.object(ticketFields);

/** A ticket number is generated when none is given. */
export const CreateDeliveryTicket = p.object({
  ...given,
  status: z.enum(ticketStatuses).default("DRAFT"),
});

export const SignDeliveryTicket = z.looseObject({
  receiverName: p.required(120),
  discrepancies: p.optional(2000),
});

export const ticketOperations = {
  listDeliveryTickets: walk("/delivery-tickets", DeliveryTicketQuery, DeliveryTicket),
  createDeliveryTicket: post("/delivery-tickets", CreateDeliveryTicket, DeliveryTicket),
  getDeliveryTicket: one("/delivery-tickets/{id}", DeliveryTicket),
  updateDeliveryTicket: put("/delivery-tickets/{id}", UpdateDeliveryTicket, DeliveryTicket),
  getDeliveryTicketPdf: pdf("/delivery-tickets/{id}/pdf"),
  signDeliveryTicket: {
    ...post("/delivery-tickets/{id}/sign", SignDeliveryTicket, DeliveryTicket),
    success: ok(DeliveryTicket),
    errors: [400, 404],
  },
} as const;
