/** Delivery tickets as DELVRY: what is brought to us is announced (DESADV), what we brought is confirmed (SHPCON). */
import type { ShipmentDocument } from "../../ledger/documents.ts";
import { Refused } from "../../core/errors.ts";
import type { DelvrySink } from "./config.ts";
import { alpha10, itemNumber, type SegmentWriter, unitOf } from "./write.ts";

export const ticketMessage = ({ type }: Pick<ShipmentDocument, "type">): "DESADV" | "SHPCON" =>
  type === "in" ? "DESADV" : "SHPCON";

/** What SAP gets of a ticket: whether it is signed yet is not in it. */
export function ticketConcerns(ticket: ShipmentDocument): unknown {
  const { note: _, status, ...rest } = ticket;
  return { ...rest, isCancelled: status === "cancelled" };
}

/** The data records of a ticket. @throws Refused */
export function ticketRecords(
  writer: SegmentWriter,
  config: DelvrySink,
  ticket: ShipmentDocument,
): string {
  if (ticket.status === "cancelled")
    throw new Refused({
      code: "cancelled",
      message: "the ticket is void, and DELVRY only makes new deliveries",
      next: "Cancel the delivery in SAP by hand, then resolve it here.",
      field: "status",
    });
  const partner = { PARTNER_Q: ticket.type === "in" ? "LF" : "WE" };
  const below = [
    writer.of(
      "E1ADRM1",
      { ...partner, PARTNER_ID: alpha10(ticket.party.code) },
      { label: "party" },
    ),
    ticket.date === null ? "" : writer.of("E1EDT13", { QUALF: "007", NTANF: ticket.date }),
    ...ticket.lines.map((line, at) => itemOf(writer, config, ticket, line, at)),
  ];
  return writer.of(
    "E1EDL20",
    { BOLNR: ticket.reference, LIFEX: ticket.number },
    { below: below.join(""), label: "BOL or ticket number" },
  );
}

function itemOf(
  writer: SegmentWriter,
  config: DelvrySink,
  { order }: ShipmentDocument,
  line: ShipmentDocument["lines"][number],
  at: number,
): string {
  const label = `line ${at + 1}`;
  const unit = unitOf(config.units, line.unit);
  return writer.of(
    "E1EDL24",
    {
      POSNR: itemNumber(at),
      MATNR: line.product,
      LFIMG: line.quantity,
      VRKME: unit,
      VOLUM: line.grossGallons,
      VOLEH: line.grossGallons === null ? null : unitOf(config.units, "gal"),
    },
    {
      below:
        order === null
          ? ""
          : writer.of("E1EDL41", { QUALF: "001", BSTNR: order }, { label: `order of ${label}` }),
      label: `product or quantity of ${label}`,
    },
  );
}
