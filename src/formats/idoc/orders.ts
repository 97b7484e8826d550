/** Orders that we sell as ORDERS05: sales area, sold-to party, our number as the customer's purchase order, items. */
import { Decimal } from "../../core/decimal.ts";
import { Refused } from "../../core/errors.ts";
import type { OrderDocument } from "../../ledger/documents.ts";
import type { OrdersSink } from "./config.ts";
import type { Site } from "./invoic.ts";
import { most } from "./segments.ts";
import { alpha10, itemNumber, noRoom, type SegmentWriter, unitOf } from "./write.ts";

/** `FL-` and the platform's id without its dashes: 35 characters, as many as SAP's field for a customer's PO has. */
export const orderReference = (id: string): string => `FL-${id.replaceAll("-", "").toUpperCase()}`;

/** The data records of an order. @throws Refused */
export function orderRecords(
  writer: SegmentWriter,
  config: OrdersSink,
  order: OrderDocument,
  { currency }: Site,
): string {
  expectSale(order);
  const reference = orderReference(order.id);
  const area = (QUALF: string, ORGID: string | undefined): string =>
    ORGID === undefined ? "" : writer.of("E1EDK14", { QUALF, ORGID });
  return [
    writer.of("E1EDK01", { CURCY: currency, BELNR: reference }),
    area("008", config.organization),
    area("007", config.channel),
    area("006", config.division),
    area("012", config.orderType),
    order.date === null ? "" : writer.of("E1EDK03", { IDDAT: "012", DATUM: order.date }),
    writer.of("E1EDKA1", { PARVW: "AG", PARTN: alpha10(order.party.code) }, { label: "customer" }),
    writer.of("E1EDK02", { QUALF: "001", BELNR: reference, DATUM: order.date }),
    order.number === order.id
      ? ""
      : writer.of("E1EDK02", { QUALF: "044", BELNR: order.number }, { label: "loading number" }),
    writer.textOf("E1EDKT1", config.headerText, order.description ?? "", {
      most: most.ORDERS.E1EDKT2,
      label: "notes",
    }),
    ...order.lines.map((line, at) => itemOf(writer, config, line, at, currency)),
  ].join("");
}

function itemOf(
  writer: SegmentWriter,
  config: OrdersSink,
  line: OrderDocument["lines"][number],
  at: number,
  currency: string,
): string {
  const label = `line ${at + 1}`;
  const unit = unitOf(config.units, line.unit);
  const below = [
    priceOf(writer, config.priceCondition, { price: line.unitPrice, unit, label, currency }),
    writer.of("E1EDP20", { WMENG: line.quantity }, { label: `quantity of ${label}` }),
    writer.of("E1EDP19", { QUALF: "002", IDTNR: line.product }, { label: `product of ${label}` }),
    writer.textOf("E1EDPT1", config.itemText, line.description, {
      most: most.ORDERS.E1EDPT2,
      label: `description of ${label}`,
    }),
  ];
  return writer.of(
    "E1EDP01",
    { POSEX: itemNumber(at), MENGE: line.quantity, MENEE: unit },
    { below: below.join(""), label: `quantity of ${label}` },
  );
}

interface Priced {
  readonly price: Decimal;
  readonly unit: string;
  readonly label: string;
  readonly currency: string;
}

/** For how many units a price may be said. */
const PER = ["1", "10", "100", "1000", "10000"];

/** SAP keeps two decimals of a price: more of them become a price of 100 or 1,000 units. @throws Refused */
function priceOf(
  writer: SegmentWriter,
  condition: string | undefined,
  { price, unit, label, currency }: Priced,
): string {
  if (condition === undefined) return "";
  for (const per of PER.map((one) => Decimal.of(one))) {
    const rate = price.times(per);
    if (rate.equals(rate.round(2)))
      return writer.of(
        "E1EDP05",
        { ALCKZ: "+", KSCHL: condition, KRATE: rate, UPRBS: per, MEAUN: unit, KOEIN: currency },
        { label: `price of ${label}` },
      );
  }
  throw noRoom(`the price ${price.plain()} of ${label} has more than 6 decimals`, "lines");
}

/** @throws Refused: what SAP's inbound order cannot say */
function expectSale({ type, status }: OrderDocument): void {
  if (type === "purchase")
    throw new Refused({
      code: "no-purchases",
      message: "the order is a purchase of ours, and SAP makes its purchase orders itself",
      next: "Enter the purchase order in SAP by hand, then resolve it here.",
      field: "type",
    });
  if (status === "confirmed") return;
  throw new Refused({
    code: "not-confirmed",
    message: `the order is ${status}, and ORDERS only makes new orders`,
    next: "Change or cancel it in SAP by hand, then resolve it here.",
    field: "status",
  });
}
