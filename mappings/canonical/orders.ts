import { OrderDocument } from "../../src/formats/documents.ts";
import { defineMapping, type Likeness, type References } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Order, type OrderLine } from "../../src/platform/contract/order.ts";
import { codeOf } from "./codes.ts";
import { unfinished } from "./unfinished.ts";
import { HAUL } from "../leaves.ts";

/**
 * Whoever copies an order keeps its site, its day, its gallons and its loading number. Several trucks of one day are
 * common: an order without a loading number is like one that asks for the same lines at the same times.
 */
export function orderLikeness(order: Order, { dayOf }: Pick<References, "dayOf">): Likeness | null {
  const { status, companyId, locationId, loadingNumber, lines, createdAt } = order;
  if (status === "DRAFT" || status === "CANCELLED") return null;
  const times = [
    order.requestedDate,
    order.deliveryDate,
    order.deliveryStart,
    order.deliveryEnd,
  ].map((time) => time ?? "");
  const goods = lines.flatMap((line) => [
    line.product,
    line.terminal ?? "",
    line.supplierId ?? "",
    (line.quantity ?? line.gallons).plain(),
    line.unitCode ?? line.unit,
    line.loadingNumber ?? "",
  ]);
  return {
    party: `${companyId} ${locationId ?? ""}`,
    amount: Decimal.sum(lines.map((line) => line.quantity ?? line.gallons)),
    day: dayOf(createdAt),
    reference: loadingNumber?.trim() ? loadingNumber : [...times, ...goods],
    number: null,
  };
}

/** Orders, for planning and dispatch in an ERP. A status that is new to us is delivered as it is written. */
export const orders = defineMapping({
  name: "canonical/orders",
  kind: "order",
  reads: "platform.orders",
  writes: "files.orders",
  tables: {
    items: ["product", "item"],
  },
  // The version is the last change.
  leaves: { record: ["createdAt", ...HAUL] },
  input: Order,
  output: OrderDocument,
  number: (order) => order.loadingNumber || order.id,
  map(order, references) {
    const withheld = unfinished(references, "order", order);
    if (withheld !== null) return withheld;
    return {
      id: order.id,
      number: order.loadingNumber || order.id,
      version: order.updatedAt,
      status: order.status,
      orderType: order.orderType,
      urgency: order.urgency,
      companyId: order.companyId,
      locationId: order.locationId,
      carrierId: order.carrierCompanyId,
      loadingNumber: order.loadingNumber,
      requestedDate: order.requestedDate,
      deliveryDate: order.deliveryDate,
      deliveryStart: order.deliveryStart,
      deliveryEnd: order.deliveryEnd,
      notes: order.notes,
      lines: order.lines.map((line) => orderLine(line, references)),
    };
  },
  // An order is a plan: its prices are not amounts yet.
  figures: ({ lines }) => ({
    amount: null,
    gallons: Decimal.sum(lines.map((line) => line.gallons ?? Decimal.zero)),
  }),
  likeness: orderLikeness,
  about: ({ companyId }) => ({ party: companyId }),
});

/** `quantity` and `unitCode` are the current names; the aliases stand in where they are missing (part 9, rule 2). */
function orderLine(line: OrderLine, references: References): OrderDocument["lines"][number] {
  const quantity = line.quantity ?? line.gallons;
  const unit = line.unitCode ?? line.unit;
  return {
    item: codeOf(references, "items", line.product),
    product: line.product,
    productCode: line.productCode,
    terminal: line.terminal,
    terminalCode: line.terminalCode,
    supplierId: line.supplierId,
    quantity,
    unit,
    gallons: unit === "gal" ? quantity : null,
    rate: line.rate,
    buyPrice: line.buyPrice,
    sellPrice: line.sellPrice,
    lineLoadingNumber: line.loadingNumber,
  };
}
