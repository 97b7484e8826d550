/** Delivery tickets (specification part 4, Delivery tickets). Both named companies see them (readings). */
import { invalid } from "../answer.ts";
import { ticketDocument } from "../document.ts";
import type { Fields } from "../kinds.ts";
import {
  amend,
  type Call,
  create,
  type Handlers,
  known,
  list,
  one,
  requireCompany,
  requireRecord,
  seen,
} from "./call.ts";

export const deliveryTickets: Handlers<
  | "listDeliveryTickets"
  | "createDeliveryTicket"
  | "getDeliveryTicket"
  | "updateDeliveryTicket"
  | "getDeliveryTicketPdf"
  | "signDeliveryTicket"
> = {
  listDeliveryTickets(call) {
    const { status, orderId } = call.query;
    return list(call, "delivery-tickets", "own", { status, parent: orderId });
  },

  createDeliveryTicket(call) {
    const body = known(call);
    checkReferences(call, body);
    return one(201, create(call, "delivery-tickets", body));
  },

  getDeliveryTicket(call) {
    return one(200, seen(call, "delivery-tickets", "The delivery ticket"));
  },

  updateDeliveryTicket(call) {
    const ticket = seen(call, "delivery-tickets", "The delivery ticket");
    const body = known(call);
    checkReferences(call, body);
    return one(200, amend(call, "delivery-tickets", ticket, body));
  },

  getDeliveryTicketPdf(call) {
    const { record } = seen(call, "delivery-tickets", "The delivery ticket");
    return ticketDocument(record, call.world.records.companyName);
  },

  signDeliveryTicket(call) {
    const ticket = seen(call, "delivery-tickets", "The delivery ticket");
    if (ticket.record.status === "VOID") throw invalid("A void delivery ticket cannot be signed.");
    const changes = { ...known(call), status: "SIGNED", signedAt: call.at };
    return one(200, amend(call, "delivery-tickets", ticket, changes));
  },
};

function checkReferences(call: Call, body: Fields): void {
  requireRecord(call, "orders", "orderId", body.orderId);
  requireCompany(call, "supplierCompanyId", body.supplierCompanyId);
  requireCompany(call, "receiverCompanyId", body.receiverCompanyId);
}
