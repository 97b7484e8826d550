import { defineMapping } from "../../src/core/contract.ts";
import { orderNotes as layout } from "../../src/formats/table/layouts.ts";
import { NoteOnOrder } from "../../src/platform/contract/documents.ts";

/** Notes on orders, such as the number of the order in the ERP. The platform takes no change of a note. */
export const orderNotes = defineMapping({
  name: "plain/order-notes",
  kind: "order-note",
  reads: "plain/order-notes",
  writes: "platform.orderNotes",
  input: layout.record,
  output: NoteOnOrder,
  number: ({ id }) => id,
  map: ({ orderId, note }) => ({ orderId, content: note }),
  figures: () => ({ amount: null, gallons: null }),
});
