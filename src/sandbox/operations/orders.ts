/** Orders and their notes (specification part 4, Orders). */
import { stringifyExact } from "../../core/json.ts";
import { success } from "../answer.ts";
import { type Fields, isFields } from "../kinds.ts";
import {
  all,
  amend,
  bornAt,
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

export const orders: Handlers<
  "listOrders" | "createOrder" | "getOrder" | "updateOrder" | "listOrderNotes" | "addOrderNote"
> = {
  listOrders(call) {
    const { status, product, search, sortBy, sortOrder } = call.query;
    const sort = { by: sortBy, order: sortOrder };
    return list(call, "orders", "own", { status, product, search }, sort);
  },

  createOrder(call) {
    const body = known(call);
    checkReferences(call, body);
    return one(201, create(call, "orders", body));
  },

  /** The detail carries the sub-records, whose fields nobody knows: none, unless they were put there raw. */
  getOrder(call) {
    const { record } = seen(call, "orders", "The order");
    return success(200, stringifyExact({ bids: [], pickup: null, delivery: null, ...record }));
  },

  updateOrder(call) {
    const order = seen(call, "orders", "The order");
    const body = known(call);
    checkReferences(call, body);
    return one(200, amend(call, "orders", order, body));
  },

  listOrderNotes(call) {
    const order = seen(call, "orders", "The order");
    const notes = call.world.records.children("order-notes", order.record.id);
    return all(notes.sort((one, other) => bornAt(one) - bornAt(other)));
  },

  /** In any status; the order itself does not change. */
  addOrderNote(call) {
    const order = seen(call, "orders", "The order");
    const authorName = call.world.records.companyName(call.key.company);
    const note = { ...known(call), orderId: order.record.id, authorName };
    return one(201, create(call, "order-notes", note));
  },
};

function checkReferences(call: Call, body: Fields): void {
  requireRecord(call, "locations", "locationId", body.locationId);
  requireCompany(call, "carrierCompanyId", body.carrierCompanyId);
  const lines = Array.isArray(body.lines) ? body.lines : [];
  for (const [at, line] of lines.entries())
    if (isFields(line)) requireCompany(call, `lines.${at}.supplierId`, line.supplierId);
}
