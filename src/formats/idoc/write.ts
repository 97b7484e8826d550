/**
 * The documents that go to SAP, by message: vendor bills as INVOIC02, orders that we sell as ORDERS05, delivery tickets as
 * DESADV (what is brought to us is announced) and SHPCON (what we brought is confirmed).
 */
import type { FaultCode } from "../../core/faults.ts";
import { hash } from "node:crypto";
import type { z } from "zod";
import { OrderDocument, ShipmentDocument } from "../../ledger/documents.ts";
import {
  type Delivered,
  type Inspection,
  type Surroundings,
  thereAsBrought,
} from "../../core/contract.ts";
import { amountOf, Decimal } from "../../core/decimal.ts";
import { Refused } from "../../core/errors.ts";
import { timeOfDay } from "../../core/time.ts";
import { hoursOf, onlyPlace, SupplierInvoiceDocument, taxesByLine } from "../documents.ts";
import { type DocumentWriter, doesNotAddUp, sentOf } from "../format.ts";
import { referenceTo, standingOf } from "./read.ts";
import type { DelvrySink, IdocSink, InvoicSink, OrdersSink } from "./config.ts";
import {
  alpha10,
  controlRecord,
  docnumOf,
  idocXml,
  itemNumber,
  kept,
  most,
  noRoom,
  type Row,
  rowsOf,
  type RowValues,
  segments,
  SegmentWriter,
  textLines,
  unitOf,
} from "./segments.ts";

type Site = Pick<Surroundings, "currency" | "dayOf" | "now">;

const refused = (code: FaultCode, message: string, next: string, field: string): Refused =>
  new Refused({ code, message, next, field });

/** Settings that stand in rows of messages under their own names. */
const settingsOf = (config: IdocSink, { currency }: Site): RowValues => ({
  ...Object.fromEntries(Object.entries(config).filter(([, value]) => typeof value === "string")),
  currency,
});

/*
 * Vendor bills as INVOIC02, as logistics invoice verification reads it (process code INVL): vendor, company code, the
 * vendor's number, dates, taxes, one item per line with its purchase order and delivery note, and the three sums.
 */

type Bill = SupplierInvoiceDocument;
type LineTax = Pick<Bill["taxes"][number], "taxCode" | "authority" | "amount">;

/** What no IDoc has; notes go with the first version only, for payments change them. */
const NOT_SENT = "version status paidDate issuerId orderId notes";

/** `OUTSTANDING` and `OVERDUE` are the same to SAP; so is `PAID`, where SAP pays. */
function stateOf(status: string, paid: InvoicSink["paid"]): string {
  if (status === "OUTSTANDING" || status === "OVERDUE") return "open";
  return status === "PAID" && paid === "deliver" ? "open" : status;
}

const INVOIC = rowsOf(`
E1EDK01 CURCY={currency} BSART={type} BELNR={number} # invoice number
E1EDKA1 PARVW=RS PARTN={vendor} # vendor
E1EDKA1 PARVW=RE PARTN={company} NAME1={companyName}
E1EDKA1 PARVW=WE NAME1={place} # ship-to
E1EDK02 QUALF=009 BELNR={number} DATUM={day?} # invoice number
E1EDK02 QUALF=006 BELNR={contract} # contract
E1EDK03 IDDAT=012 DATUM={day}
E1EDK03 IDDAT=024 DATUM={baseline}
E1EDK03 IDDAT=028 DATUM={due}
E1EDK04*taxes MWSKZ={code} MWSBT={amount} KTEXT={authority?} # tax code
E1EDKT1*notes TDID={id} TSSPRAS_ISO=EN
  E1EDKT2*text TDLINE={TDLINE?} TDFORMAT={TDFORMAT?} # notes
E1EDP01*lines POSEX={item} MENGE={quantity} MENEE={unit}
    VPREI={rate?} PEINH={per?} # quantity or price of {line}
  E1EDP02 QUALF=001 BELNR={order} ZEILE={orderItem?} # purchase order of {line}
  E1EDP02 QUALF=016 BELNR={ticket} # delivery ticket of {line}
  E1EDP03 IDDAT=027 DATUM={delivered}
  E1EDP19 QUALF=001 IDTNR={material} # item of {line}
  E1EDP19 QUALF=002 IDTNR={sold} KTEXT={words?} # product of {line}
  E1EDP26 QUALF=003 BETRG={amount} # amount of {line}
  E1EDP04*taxes MWSKZ={code} MWSBT={amount} KTEXT={authority?} # tax code
  E1EDPT1*description TDID={id} TSSPRAS_ISO=EN
    E1EDPT2*text TDLINE={TDLINE?} TDFORMAT={TDFORMAT?} # description of {line}
E1EDS01 SUMID=010 SUMME={net} WAERQ={currency} # sum
E1EDS01 SUMID=005 SUMME={tax} WAERQ={currency} # sum
E1EDS01 SUMID=011 SUMME={total} WAERQ={currency} # sum
`);

/** What INVOIC says of a bill. @throws Refused */
function billValues(config: InvoicSink, site: Site, bill: Bill): RowValues {
  expectPostable(bill, config);
  expectSums(bill);
  const dayOrNone = (instant: string | null) => (instant === null ? null : site.dayOf(instant));
  const day = dayOrNone(bill.invoiceDate);
  const due = dayOrNone(bill.dueDate);
  // A credit memo has its amounts without a sign; its type says what it is.
  const isCredit = bill.total.sign < 0;
  const signed = (amount: Decimal): Decimal => (isCredit ? amount.negated() : amount);
  const untaxed: readonly LineTax[] =
    config.taxCode === undefined
      ? []
      : [{ taxCode: config.taxCode, authority: null, amount: Decimal.zero }];
  const items = taxesByLine(bill).map((own): readonly LineTax[] =>
    own.length === 0 ? untaxed : own,
  );
  const [order = null, named] = splitOrder(bill.poNumber);
  // Charges come after all products: a purchase order has items for these, and rarely for freight.
  const isCharge = ({ item }: Bill["lines"][number]): boolean => item === null;
  const soldAs = ({ item, description }: Bill["lines"][number]): string =>
    item ?? `charge ${description}`;
  const inOrder = bill.lines.toSorted((one, two) => Number(isCharge(one)) - Number(isCharge(two)));
  const places = [...new Set(inOrder.map(soldAs))];
  return {
    day,
    due,
    ...settingsOf(config, site),
    type: isCredit ? "CRME" : "INVO",
    number: numberFor(bill.number, config),
    vendor: alpha10(bill.vendor),
    company: config.companyCode.code,
    companyName: config.companyCode.name,
    place: fitting(onlyPlace(bill.lines), segments.E1EDKA1.NAME1.length),
    contract: bill.contractNumber,
    baseline: config.baseline === "due" ? (due ?? day) : day,
    taxes: taxValues(items.flat(), signed),
    notes: textLines(config.headerText, bill.notes),
    order,
    lines: bill.lines.map((line, at): RowValues => {
      // A charge without gallons is one piece at its amount.
      const gallons = line.gallons?.sign === 0 ? null : line.gallons;
      const place = places.indexOf(soldAs(line));
      const sold = (line.item === null ? config.chargeItem : line.product)?.trim() ?? null;
      return {
        line: `line ${at + 1}`,
        item: itemNumber(at),
        quantity: gallons === null ? Decimal.one : signed(gallons),
        unit: gallons === null ? PIECE : unitOf(config.units, "gal"),
        rate: gallons === null ? null : line.rate,
        per: gallons === null || line.rate === null ? null : Decimal.one,
        orderItem: named ?? (config.orderItems === "position" ? itemNumber(place) : null),
        ticket: line.deliveryTicket,
        delivered: dayOrNone(line.deliveredDate),
        material: line.item,
        sold: fitting(sold, segments.E1EDP19.IDTNR.length),
        words: fitting(line.description, segments.E1EDP19.KTEXT.length),
        amount: signed(line.amount),
        taxes: taxValues(items[at] ?? [], signed),
        description: textLines(config.itemText, describe(line)),
      };
    }),
    net: signed(bill.subtotal),
    tax: signed(bill.taxTotal),
    total: signed(bill.total),
  };
}

/** What helps people and decides nothing is left out where it has no room. */
const fitting = (text: string | null, most: number): string | null =>
  text === null || text.length > most ? null : text;

/** One for each code. @throws Refused */
function taxValues(
  taxes: readonly LineTax[],
  signed: (amount: Decimal) => Decimal,
): readonly RowValues[] {
  const codes = [...Map.groupBy(taxes, ({ taxCode }) => taxCode)];
  if (codes.length > most.INVOIC.E1EDK04)
    throw noRoom(
      `the bill has ${codes.length} tax codes; SAP takes ${most.INVOIC.E1EDK04}`,
      "taxes",
    );
  return codes.map(([code, all]) => {
    const told = [...new Set(all.flatMap(({ authority }) => authority ?? []))].join(", ");
    const authority = fitting(told, segments.E1EDK04.KTEXT.length);
    return { code, amount: signed(amountOf(all)), authority };
  });
}

/** A purchase order, and its item where the number names one: `4500017823/20`, `4500017823-00020`. */
function splitOrder(poNumber: string | null): [order?: string, item?: string] {
  const text = poNumber ?? "";
  const [, order, item] = /^(\d{10})\s*[-/]\s*(\d{1,6})$/.exec(text) ?? [];
  if (text.trim() === "") return [];
  return order === undefined || item === undefined ? [text] : [order, item.padStart(6, "0")];
}

/** UN/ECE Recommendation 20: a piece. */
const PIECE = "C62";

/** What an item has no field for. */
function describe(line: Bill["lines"][number]): string {
  return worded([
    ["", line.description],
    ["BOL ", line.bolNumber],
    ["gross gal ", line.grossGallons?.plain()],
    ["net gal ", line.netGallons?.plain()],
    ["location ", line.location],
    ["carrier ", line.carrier],
  ]);
}

const worded = (parts: readonly (readonly [string, string | null | undefined])[]): string =>
  parts.flatMap(([name, value]) => (value ? [name + value] : [])).join(", ");

/** @throws Refused where SAP would book something else than the platform says */
function expectPostable(bill: Bill, config: InvoicSink): void {
  const state = stateOf(bill.status, config.paid);
  if (state === "PAID")
    throw refused(
      "already-paid",
      "the bill is paid on the platform, and an IDoc cannot say so: SAP would pay it again",
      'Enter bill and payment in SAP by hand, then close it here; or set "paid: deliver" where all bills are paid by SAP.',
      "status",
    );
  if (state !== "open")
    throw refused(
      "not-open",
      `the bill is ${bill.status} on the platform, and an IDoc cannot say so: SAP would pay it`,
      "Deal with it in SAP by hand, then close it here; it goes out by itself once it is open again.",
      "status",
    );
  if (config.withoutOrder === "refuse" && (bill.poNumber ?? "").trim() === "")
    throw refused(
      "no-purchase-order",
      "the bill names no purchase order, and SAP's invoice verification (INVL) posts none without",
      'Enter its PO number on the platform; or set "withoutOrder: send" where SAP posts INVOIC in FI (INVF).',
      "poNumber",
    );
  if (config.numberTooLong === "refuse" && bill.number.length > kept.invoiceNumber)
    throw refused(
      "no-room",
      `the invoice number "${bill.number}" is ${bill.number.length} characters long; SAP keeps ${kept.invoiceNumber} (XBLNR)`,
      'Enter the bill in SAP by hand, then close it here; or set "numberTooLong: shorten".',
      "invoiceNumber",
    );
}

/** @throws Refused: SAP posts items, taxes and sums as they stand, and asks nobody */
function expectSums({ lines, taxes, subtotal, taxTotal, total }: Bill): void {
  const sums = [
    ["the lines come to", amountOf(lines), "subtotal", subtotal],
    ["the taxes come to", amountOf(taxes), "tax", taxTotal],
    ["both come to", subtotal.plus(taxTotal), "total", total],
  ] as const;
  const off = sums.find(([, found, , told]) => !found.equals(told));
  if (off === undefined) return;
  const [what, found, field, told] = off;
  throw doesNotAddUp(`${what} ${found.plain()}, and the ${field} is ${told.plain()}`, field);
}

/** Its last ten characters, after five of a hash of all of it: two long numbers that end alike stay two. */
function numberFor(number: string, { numberTooLong }: InvoicSink): string {
  if (numberTooLong === "refuse" || number.length <= kept.invoiceNumber) return number;
  const end = number.slice(-10).toWellFormed();
  return `${hash("sha256", number, "hex").slice(0, 5).toUpperCase()}-${end}`;
}

/* Orders that we sell as ORDERS05: sales area, sold-to party, our number as the customer's purchase order, items. */

/** `FL-` and the platform's id without its dashes: 35 characters, as many as SAP's field for a customer's PO has. */
const orderReference = (id: string): string => `FL-${id.replaceAll("-", "").toUpperCase()}`;

const ORDERS = rowsOf(`
E1EDK01 CURCY={currency} BELNR={reference}
E1EDK14 QUALF=008 ORGID={organization}
E1EDK14 QUALF=007 ORGID={channel}
E1EDK14 QUALF=006 ORGID={division}
E1EDK14 QUALF=012 ORGID={orderType}
E1EDK03 IDDAT=002 DATUM={day}
E1EDK03 IDDAT=012 DATUM={date}
E1EDKA1 PARVW=AG PARTN={buyer} # customer
E1EDKA1 PARVW=WE PARTN={shipTo} # ship-to
E1EDK02 QUALF=001 BELNR={reference} DATUM={date?}
E1EDK02 QUALF=044 BELNR={number} # loading number
E1EDKT1*notes TDID={id} TSSPRAS_ISO=EN
  E1EDKT2*text TDLINE={TDLINE?} TDFORMAT={TDFORMAT?} # notes
E1EDP01*lines POSEX={item} MENGE={quantity} MENEE={unit} WERKS={plant?} # quantity of {line}
  E1EDP02 QUALF=001 BELNR={reference} ZEILE={item}
  E1EDP02 QUALF=044 BELNR={loading} # loading number of {line}
  E1EDP05 ALCKZ=+ KSCHL={priceCondition} KRATE={rate} UPRBS={per}
    MEAUN={unit} KOEIN={currency} # price of {line}
  E1EDP20 WMENG={quantity} EDATU={day?} EZEIT={time?} # quantity of {line}
  E1EDP19 QUALF=002 IDTNR={product} # product of {line}
  E1EDPT1*description TDID={id} TSSPRAS_ISO=EN
    E1EDPT2*text TDLINE={TDLINE?} TDFORMAT={TDFORMAT?} # description of {line}
`);

/** What ORDERS says of an order. @throws Refused */
function orderValues(config: OrdersSink, site: Site, order: OrderDocument): RowValues {
  expectSale(order);
  const { requestedDate, deliveryDate, deliveryStart = null, deliveryEnd = null } = order;
  const number = order.number === order.id ? null : order.number;
  const day = deliveryDate ?? requestedDate ?? null;
  const window = [deliveryStart, deliveryEnd].filter((time) => time !== null).join(" to ");
  const notes = [order.description, window === "" ? null : `deliver ${window}`];
  return {
    ...settingsOf(config, site),
    day,
    number,
    reference: orderReference(order.id),
    date: order.date,
    buyer: alpha10(order.party.code),
    shipTo: alpha10(order.shipTo || order.party.code),
    notes: textLines(config.headerText, notes.filter(Boolean).join("\n")),
    time: day === null ? null : clockOf(deliveryStart),
    lines: order.lines.map((line, at): RowValues => {
      const label = `line ${at + 1}`;
      return {
        line: label,
        item: itemNumber(at),
        quantity: line.quantity,
        unit: unitOf(config.units, line.unit),
        plant: plantOf(config, line.terminal ?? null),
        loading: line.loadingNumber === number ? null : line.loadingNumber,
        ...(config.priceCondition === undefined ? {} : priceOf(line.unitPrice, label)),
        product: line.product,
        description: textLines(config.itemText, line.description),
      };
    }),
  };
}

/** `HHMMSS` of a time that people wrote (`6:00`, `06:00`); null: it is none. */
const clockOf = (text: string | null): string | null => {
  const digits = hoursOf(text);
  return digits === null ? null : `${digits}00`;
};

/** @throws Refused where plants are set, and not that of this terminal */
function plantOf({ plants }: OrdersSink, terminal: string | null): string | null {
  if (plants === undefined || terminal === null) return null;
  const plant = plants[terminal];
  if (plant !== undefined) return plant;
  throw refused(
    "unknown-plant",
    `SAP's plant of the terminal "${terminal}" is not known here`,
    `Add it under "plants" of this sink (${terminal}: the plant), then retry.`,
    "terminal",
  );
}

/** For how many units a price may be said. */
const PER = ["1", "10", "100", "1000", "10000"].map((one) => Decimal.of(one));

/** SAP keeps two decimals of a price: more of them become a price of 100 or 1,000 units. @throws Refused */
function priceOf(price: Decimal, label: string): { rate: Decimal; per: Decimal } {
  for (const per of PER) {
    const rate = price.times(per);
    if (rate.equals(rate.round(2))) return { rate, per };
  }
  throw noRoom(`the price ${price.plain()} of ${label} has more than 6 decimals`, "lines");
}

/** @throws Refused: what SAP's inbound order cannot say */
function expectSale({ type, status }: OrderDocument): void {
  if (type === "purchase")
    throw refused(
      "no-purchases",
      "the order is a purchase of ours, and SAP makes its purchase orders itself",
      "Enter the purchase order in SAP by hand, then close it here.",
      "type",
    );
  if (status !== "confirmed")
    throw refused(
      "not-confirmed",
      `the order is ${status}, and ORDERS only makes new orders`,
      "Change or cancel it in SAP by hand, then close it here.",
      "status",
    );
}

const DELVRY = rowsOf(`
E1EDL20 VBELN={delivery?} BOLNR={bol} LIFEX={number} # BOL or ticket number
  E1EDL18 QUALF={action}
  E1ADRM1*parties PARTNER_Q={role} PARTNER_ID={party} # party
  E1EDT13 QUALF=007 NTANF={announced} NTANZ={time?}
  E1EDT13 QUALF=006 ISDD={issued} ISDZ={time?}
  E1TXTH8*note TDID={id} LANGUA_ISO=EN
    E1TXTP8*text TDFORMAT={TDFORMAT?} TDLINE={TDLINE?} # note
  E1EDL24*lines POSNR={item} MATNR={product} KDMAT={material?} LFIMG={quantity}
      VRKME={unit} VOLUM={gross?} VOLEH={grossUnit?} POSEX={orderItem?} # product or quantity of {line}
    E1EDL19 QUALF={counts}
    E1EDL41 QUALI=001 BSTNR={order} POSEX={orderItem} # order of {line}
    E1TXTH9*figures TDID={id} LANGUA_ISO=EN
      E1TXTP9*text TDFORMAT={TDFORMAT?} TDLINE={TDLINE?} # figures of {line}
`);

/**
 * What DELVRY says of a ticket. What we receive is announced (DESADV: an inbound delivery of a purchase order); of what we
 * ship, SAP's own delivery is confirmed (SHPCON). @throws Refused
 */
function ticketValues(config: DelvrySink, site: Site, ticket: ShipmentDocument): RowValues {
  if (ticket.status === "cancelled")
    throw refused(
      "cancelled",
      "the ticket is void, and DELVRY only makes new deliveries",
      "Cancel the delivery in SAP by hand, then close it here.",
      "status",
    );
  const isAnnounced = ticket.type === "in";
  const [order = null, named] = splitOrder(ticket.order);
  if (isAnnounced && order === null && config.withoutOrder === "refuse")
    throw refused(
      "no-purchase-order",
      "the ticket names no order, and SAP makes no inbound delivery without a purchase order",
      'Enter its order on the platform; or set "withoutOrder: send" where SAP takes such.',
      "orderId",
    );
  const products = [...new Set(ticket.lines.map(({ product }) => product))];
  const hours = ticket.deliveredAt ? timeOfDay(ticket.deliveredAt, site.dayOf) : null;
  return {
    ...settingsOf(config, site),
    order,
    note: textLines(config.headerText, ticket.note),
    delivery: isAnnounced ? null : deliveryOf(config, ticket),
    bol: ticket.reference,
    number: ticket.number,
    action: isAnnounced ? "ORI" : config.action,
    parties: (isAnnounced ? ["LF"] : ["AG", "WE"]).map((role) => ({ role })),
    party: alpha10(ticket.party.code),
    announced: isAnnounced ? ticket.date : null,
    issued: isAnnounced ? null : ticket.date,
    time: hours === null ? null : `${hours}00`,
    counts: isAnnounced ? null : "QUA",
    lines: ticket.lines.map((line, at): RowValues => {
      const gross = line.grossGallons;
      return {
        line: `line ${at + 1}`,
        item: itemNumber(at),
        product: line.product,
        quantity: line.quantity,
        gross,
        material: isAnnounced ? line.product : null,
        unit: unitOf(config.units, line.unit),
        grossUnit: gross === null ? null : unitOf(config.units, "gal"),
        orderItem: order === null ? null : (named ?? itemNumber(products.indexOf(line.product))),
        figures: textLines(config.itemText, measuredText(line)),
      };
    }),
  };
}

/** @throws Refused where what should be SAP's delivery number is none */
function deliveryOf({ deliveryNumber }: DelvrySink, ticket: ShipmentDocument): string {
  const number = deliveryNumber === "bolNumber" ? ticket.reference : ticket.number;
  if (deliveryNumber !== undefined && /^\d{1,10}$/.test(number)) return alpha10(number);
  throw refused(
    "no-delivery",
    `SHPCON must name SAP's delivery, and the ${deliveryNumber ?? "ticket"} "${number}" is no delivery number of SAP`,
    "Confirm the delivery in SAP by hand, then close it here; or enter SAP's delivery number on the platform's ticket.",
    "ticketNumber",
  );
}

/** What DELVRY has no field for. */
const measuredText = (line: ShipmentDocument["lines"][number]): string =>
  worded([
    ["net gal ", line.netGallons?.plain()],
    ["gross gal ", line.grossGallons?.plain()],
    ["temperature ", line.temperature?.plain()],
    ["API gravity ", line.apiGravity?.plain()],
  ]);

/* The messages as files. */

/** What is written for one message. */
interface Message<C, D> {
  /** The form of the documents that it is made from. */
  readonly form: string;
  /** It enters every key, and never changes. */
  readonly operation: string;
  readonly schema: z.ZodType<D>;
  /** MESTYP; left out: the message of the settings. */
  type?(document: D): string;
  basicType(config: C): string;
  /** The IDoc's own date: it depends on no clock. */
  day(document: D, site: Site): string | null;
  /** Its data records, and what they say of a document. */
  readonly rows: readonly Row[];
  /** @throws Refused */
  values(config: C, site: Site, document: D): RowValues;
  /** Why a document that SAP never had is rightly not told; null: it is. Left out: all are. */
  skips?(document: D, config: C): string | null;
  /** What SAP gets of it: a version that changes nothing else is nothing new to SAP. */
  concerns(document: D, config: C, site: Site): unknown;
  /** What SAP calls it; left out: its IDoc. */
  counterpart?(id: string): string;
}

const endedBefore = ({
  status,
  platformStatus = status,
}: Pick<OrderDocument | ShipmentDocument, "status" | "platformStatus">): string | null =>
  status === "cancelled" || status === "taken-back"
    ? `${platformStatus.toLowerCase()}, and as far as is known here SAP never had it`
    : null;

const message = <C extends IdocSink, D>(one: Message<C, D>): Message<C, D> => one;

const MESSAGES = {
  INVOIC: message<InvoicSink, Bill>({
    form: "files.supplier-invoices",
    operation: "idoc.invoic.deliver",
    schema: SupplierInvoiceDocument,
    basicType: () => "INVOIC02",
    day: ({ invoiceDate }, { dayOf }) => (invoiceDate === null ? null : dayOf(invoiceDate)),
    rows: INVOIC,
    values: billValues,
    concerns: (bill, { paid }, { dayOf }) => ({
      ...sentOf(bill, NOT_SENT, dayOf),
      state: stateOf(bill.status, paid),
    }),
  }),
  ORDERS: message<OrdersSink, OrderDocument>({
    form: "books.orders",
    operation: "idoc.orders.deliver",
    schema: OrderDocument,
    basicType: () => "ORDERS05",
    day: ({ date }) => date,
    rows: ORDERS,
    values: orderValues,
    skips: endedBefore,
    concerns: (order) => order,
    counterpart: orderReference,
  }),
  DELVRY: message<DelvrySink, ShipmentDocument>({
    form: "books.shipments",
    operation: "idoc.delvry.deliver",
    schema: ShipmentDocument,
    type: ({ type }) => (type === "in" ? "DESADV" : "SHPCON"),
    basicType: ({ basicType }) => basicType,
    day: ({ date }) => date,
    rows: DELVRY,
    values: ticketValues,
    skips: (ticket, { deliveryNumber }) =>
      endedBefore(ticket) ??
      (ticket.type === "out" && deliveryNumber === undefined
        ? "SHPCON must name SAP's delivery, and this sink has no deliveryNumber"
        : null),
    // Whether it is signed yet is not in it.
    concerns: (ticket, _, { dayOf }) => ({
      ...sentOf(
        ticket,
        "note status bolNumbers terminal destination carrier driver deliveredAt",
        dayOf,
      ),
      isCancelled: ticket.status === "cancelled",
    }),
  }),
};

export const idocForm = ({ message }: Pick<IdocSink, "message">): string => MESSAGES[message].form;

/**
 * One IDoc is one file, and one document is one IDoc, ever: SAP makes another document of every IDoc that it gets, so a
 * later version with other content is for a person.
 */
export function idocWriter(config: IdocSink, site: Site): DocumentWriter {
  // Settings and documents of one message go together.
  const message = MESSAGES[config.message] as unknown as Message<IdocSink, unknown>;
  const writer = new SegmentWriter(config);
  const typeOf = (document: unknown): string => message.type?.(document) ?? config.message;
  return {
    form: message.form,
    operation: message.operation,
    writes: "create",
    itemsMax: 1,
    encoding: "utf-8",
    concerns: (document) => message.concerns(message.schema.parse(document), config, site),
    skips: (document) => message.skips?.(message.schema.parse(document), config) ?? null,
    /** `INVOIC_FUELBRIDGE_0123456789012345.xml` */
    nameOf(items) {
      const item = only(items);
      const type = typeOf(item.document);
      const sender = config.sender.partner.replace(/[^A-Za-z0-9.-]+/g, "-");
      return `${type}_${sender}_${docnumOf({ ...item, message: type })}.xml`;
    },
    textOf(items) {
      const { id, revision, document: given } = only(items);
      const document = message.schema.parse(given);
      const subject = {
        id,
        revision,
        message: typeOf(document),
        day: message.day(document, site),
        basicType: message.basicType(config),
      };
      const records = writer.rows(message.rows, message.values(config, site, document));
      return idocXml(config, subject, controlRecord(writer, config, subject) + records);
    },
    // An order is known by our reference, which its deliveries name; the others by the IDoc's number.
    idsOf: ({ target, items }) => [
      message.counterpart?.(only(items).id) ?? `IDoc ${docnumIn(target)}`,
    ],
    // Whether answers come or not: where they are set up later, they are about what is delivered now.
    acknowledged: {
      withinMs: null,
      inspected: true,
      references: ({ target }) => [referenceTo(docnumIn(target))],
    },
    ...(config.answers === undefined ? {} : { inspect: inspecting(config.answers, site) }),
  };
}

/** One document is one file. */
const only = <I>([item]: readonly I[]): I => item as I;

/** The number that the name of a file ends in. */
const docnumIn = (target: string): string => /_(\d{16})\.xml$/.exec(target)?.[1] ?? "";

/** What SAP answered last, as differences: what it has not posted is for a person, and closes by itself once it has. */
function inspecting(
  config: NonNullable<IdocSink["answers"]>,
  site: Site,
): (delivered: readonly Delivered[]) => Promise<readonly Inspection[]> {
  return (delivered) => {
    const now = site.now();
    const inspected = delivered.map((one): Inspection => {
      const { body } = one;
      const docnum = /<DOCNUM>(\d{16})<\/DOCNUM>/.exec(body ?? "")?.[1];
      // Without our bytes a person has linked it.
      if (docnum === undefined) return thereAsBrought;
      const standing = standingOf(one, config, now);
      if (standing === null) return thereAsBrought;
      const expected = "delivered, to be posted (status 53)";
      const held = `IDoc ${docnum} ${standing.held}`;
      return { is: "there", differences: [{ ...standing, field: "posting", expected, held }] };
    });
    return Promise.resolve(inspected);
  };
}
