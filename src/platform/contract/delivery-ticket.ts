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

export const ticketFields = {
  ticketNumber: p.required(64).optional(),
  orderId: p.id.nullish(),
  supplierCompanyId: p.id.nullish(),
  receiverCompanyId: p.id.nullish(),
  status: z.enum(ticketStatuses).optional(),
  bolNumber: p.optionalOrNull(64),
  bolNumbers: z.array(z.string()).optional(),
  deliveryDate: p.timestamp.nullish(),
  driverName: p.optionalOrNull(120),
  carrierCompanyName: p.optionalOrNull(200),
  loadingTerminalName: p.optionalOrNull(200),
  destinationName: p.optionalOrNull(200),
  productLines: z.array(ProductLineInput).max(50).nullish(),
  deliveryNotes: p.optional(2000),
};

/** Partial (rule P3): no defaults. */
export const UpdateDeliveryTicket = p.object(ticketFields);

/** A ticket number is generated when none is given. */
export const CreateDeliveryTicket = p.object({
  ...ticketFields,
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
