import { present } from "./present.ts";
import { defineMapping } from "../../src/core/contract.ts";
import { ticketSignatures as layout } from "../../src/formats/table/layouts.ts";
import { SignedTicket } from "../../src/platform/contract/documents.ts";
import { id } from "../../src/platform/contract/primitives.ts";

/** Signatures of receivers. One for a ticket of the ERP's own waits until that ticket is on the platform. */
export const ticketSignatures = defineMapping({
  name: "plain/ticket-signatures",
  kind: "ticket-signature",
  reads: "plain/ticket-signatures",
  writes: "platform.ticketSignatures",
  input: layout.record,
  output: SignedTicket,
  number: ({ ticket }) => ticket,
  map: ({ ticket, receiverName, discrepancies }, references) => ({
    ticketId: id.safeParse(ticket).success
      ? ticket
      : references.counterpart("delivery-ticket", ticket),
    receiverName,
    ...present({ discrepancies }),
  }),
  figures: () => ({ amount: null, gallons: null }),
  about: ({ receiverName }) => ({ name: receiverName }),
});
