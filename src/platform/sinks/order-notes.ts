/** Notes on orders, such as the number of the order's document in the ERP (specification part 4, Orders). */
import { z } from "zod";
import type { Outgoing, Sink } from "../../core/contract.ts";
import { parseExact } from "../../core/json.ts";
import type { Finding } from "../../core/outcome.ts";
import { NoteOnOrder } from "../contract/documents.ts";
import { OrderNote, OrderNoteInput } from "../contract/order.ts";
import { pathOf, targetOf } from "../contract/operations.ts";
import { notes, settledIn } from "./policy.ts";
import { foundIn, isSince, reading, recordAt } from "./read-back.ts";
import { accepted, idIn, type Surroundings, writeSink } from "./write.ts";

export function orderNotes(surroundings: Surroundings): Sink {
  return writeSink(surroundings, {
    operation: "order-note.create",
    writes: "create",
    itemsMax: 1,
    policy: settledIn(notes, surroundings.settleMs),
    write([item]) {
      const { orderId, ...body } = accepted(NoteOnOrder, item?.document);
      return { target: targetOf("addOrderNote", orderId), body };
    },
    find: (request) => reading(() => find(surroundings, request)),
  });
}

/** By its words, among the notes since the first send: the same words may rightly stand there from before. */
async function find(surroundings: Surroundings, request: Outgoing): Promise<Finding> {
  const { content } = OrderNoteInput.parse(parseExact(request.body));
  const path = pathOf("listOrderNotes", idIn(request));
  const there = (await recordAt(surroundings, path, z.array(OrderNote))) ?? [];
  // Before a first send we look because the store was restored: then any such note may be ours.
  const mayBeOurs = (createdAt: string): boolean =>
    request.firstSentAt === null || isSince(createdAt, request);
  const ours = there.filter((note) => note.content === content && mayBeOurs(note.createdAt));
  return foundIn(new Set(ours.map(({ id }) => id)), `such a note on order ${idIn(request)}`);
}
