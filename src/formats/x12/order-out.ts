/** An order as transaction set 850. */
import type { OrderDocument } from "../documents.ts";
import { type Context, isEnded, unitOf } from "./invoice-out.ts";
import { pieces, SetWriter, setControlOf, Words } from "./write.ts";

/** From ST to SE; `place`: in its group. @throws Refused */
export function orderSet(
  { options, currency, dayOf }: Context,
  order: OrderDocument,
  place: number,
): string[] {
  const { idQualifier, product } = options;
  const writer = new SetWriter(options, "850", setControlOf(place));
  writer.add("BEG", ["00", "SA", order.number, null, dayOf(order.version)], { 3: "number" });
  writer.add("CUR", ["BY", currency]);
  if (order.requestedDate !== null) writer.add("DTM", ["002", dayOf(order.requestedDate)]);
  if (order.deliveryDate !== null) writer.add("DTM", ["017", dayOf(order.deliveryDate)]);
  const notes = pieces(order.notes ?? "");
  if (notes.length > 0) writer.add("N9", ["ZZ", "NOTES"]);
  for (const note of notes)
    // Release 005010 has no MSG in an 850.
    if (options.version === "005010") writer.add("MTX", [null, note], { 2: "notes" });
    else writer.add("MSG", [note], { 1: "notes" });
  writer.add("N1", ["BY", null, idQualifier, options.ourCode ?? order.companyId], {
    4: "companyId",
  });
  if (order.locationId !== null)
    writer.add("N1", ["ST", null, idQualifier, order.locationId], { 4: "locationId" });
  for (const [at, line] of order.lines.entries()) {
    const field = (name: string): string => `lines[${at}].${name}`;
    writer.add(
      "PO1",
      [
        String(at + 1),
        line.quantity,
        unitOf(options, line.unit),
        line.rate,
        null,
        product,
        line.item,
      ],
      { 2: field("quantity"), 4: field("rate"), 7: field("item") },
    );
    for (const piece of pieces(line.product))
      writer.add("PID", ["F", null, null, null, piece], { 5: field("product") });
    const terminal = line.terminalCode ?? line.terminal;
    if (terminal !== null)
      writer.add(
        "N1",
        ["SF", line.terminal === null ? null : new Words(line.terminal), idQualifier, terminal],
        { 2: field("terminal"), 4: field("terminalCode") },
      );
  }
  writer.add("CTT", [String(order.lines.length)]);
  return writer.end();
}

/** What of an order an 850 tells. */
export const orderConcerns = ({ dayOf }: Context, order: OrderDocument): unknown => {
  const day = (instant: string | null) => (instant === null ? null : dayOf(instant));
  return {
    ended: isEnded(order.status) ? order.status : "",
    number: order.number,
    requested: day(order.requestedDate),
    delivery: day(order.deliveryDate),
    notes: order.notes,
    companyId: order.companyId,
    locationId: order.locationId,
    lines: order.lines.map(({ item, product, terminal, terminalCode, quantity, unit, rate }) => ({
      item,
      product,
      terminal,
      terminalCode,
      quantity,
      unit,
      rate,
    })),
  };
};
