/**
 * Vendor bills as INVOIC02, as logistics invoice verification reads it (process code INVL): vendor, company code, the
 * vendor's number, dates, taxes, one item per line with its purchase order and delivery note, and the three sums.
 */
import { hash } from "node:crypto";
import { OrderDocument, ShipmentDocument } from "../../ledger/documents.ts";
import {
  type Delivered,
  type Frozen,
  type Inspection,
  type Item,
  type Outgoing,
  thereAsBrought,
  type Surroundings,
} from "../../core/contract.ts";
import { Decimal } from "../../core/decimal.ts";
import { Refused } from "../../core/errors.ts";
import { SupplierInvoiceDocument } from "../documents.ts";
import type { DocumentWriter } from "../format.ts";
import { referenceTo, standingOf } from "./answers.ts";
import type { DelvrySink, IdocSink, InvoicSink, OrdersSink } from "./config.ts";
import {
  alpha10,
  controlRecord,
  docnumOf,
  idocXml,
  itemNumber,
  noRoom,
  SegmentWriter,
  type Subject,
  unitOf,
} from "./segment-writer.ts";
import { kept, most } from "./segments.ts";

export interface Company {
  /** ISO 4217. */
  readonly currency: string;
  /** The calendar day of an instant where the company is. */
  readonly dayOf: (instant: string) => string;
}

type Line = SupplierInvoiceDocument["lines"][number];

/** What SAP gets of a bill; a version that changes nothing else is nothing new to it. */
function billConcerns(bill: SupplierInvoiceDocument, { paid }: InvoicSink): unknown {
  const sent = Object.entries(bill).filter(([name]) => !NOT_SENT.has(name));
  return { ...Object.fromEntries(sent), state: stateOf(bill.status, paid) };
}

/** What no IDoc has; notes go with the first version only, for payments change them. */
const NOT_SENT: ReadonlySet<string> = new Set<keyof SupplierInvoiceDocument>([
  "version",
  "status",
  "paidDate",
  "issuerId",
  "orderId",
  "notes",
]);

/** `OUTSTANDING` and `OVERDUE` are the same to SAP; so is `PAID`, where SAP pays. */
function stateOf(status: string, paid: InvoicSink["paid"]): string {
  if (status === "OUTSTANDING" || status === "OVERDUE") return "open";
  return status === "PAID" && paid === "deliver" ? "open" : status;
}

/** The data records of a bill. @throws Refused */
function billRecords(
  writer: SegmentWriter,
  config: InvoicSink,
  bill: SupplierInvoiceDocument,
  { currency, dayOf }: Company,
): string {
  expectPostable(bill, config);
  const number = numberFor(bill.number, config);
  const day = dayOrNone(bill.invoiceDate, dayOf);
  const due = dayOrNone(bill.dueDate, dayOf);
  // A credit memo has its amounts without a sign; its type says what it is.
  const isCredit = bill.total.sign < 0;
  const signed = (amount: Decimal): Decimal => (isCredit ? amount.negated() : amount);
  const taxes = [...Map.groupBy(bill.taxes, ({ taxCode }) => taxCode)];
  if (taxes.length > most.INVOIC.E1EDK04)
    throw noRoom(
      `the bill has ${taxes.length} tax codes; SAP takes ${most.INVOIC.E1EDK04}`,
      "taxes",
    );
  expectSums(bill);
  const dated = (qualifier: string, DATUM: string | null): string =>
    DATUM === null ? "" : writer.of("E1EDK03", { IDDAT: qualifier, DATUM });
  const sum = (SUMID: string, amount: Decimal): string =>
    writer.of("E1EDS01", { SUMID, SUMME: signed(amount), WAERQ: currency }, { label: "sum" });
  return [
    writer.of(
      "E1EDK01",
      { CURCY: currency, BSART: isCredit ? "CRME" : "INVO", BELNR: number },
      { label: "invoice number" },
    ),
    writer.of("E1EDKA1", { PARVW: "RS", PARTN: alpha10(bill.vendor) }, { label: "vendor" }),
    writer.of("E1EDKA1", {
      PARVW: "RE",
      PARTN: config.companyCode.code,
      NAME1: config.companyCode.name,
    }),
    writer.of("E1EDK02", { QUALF: "009", BELNR: number, DATUM: day }, { label: "invoice number" }),
    bill.contractNumber === null || bill.contractNumber === ""
      ? ""
      : writer.of("E1EDK02", { QUALF: "006", BELNR: bill.contractNumber }, { label: "contract" }),
    dated("012", day),
    dated("024", config.baseline === "due" ? (due ?? day) : day),
    dated("028", due),
    ...taxes.map(([MWSKZ, lines]) =>
      writer.of(
        "E1EDK04",
        { MWSKZ, MWSBT: signed(Decimal.sum(lines.map(({ amount }) => amount))) },
        { label: "tax code" },
      ),
    ),
    writer.textOf("E1EDKT1", config.headerText, bill.notes ?? "", {
      most: most.INVOIC.E1EDKT2,
      label: "notes",
    }),
    ...bill.lines.map((line, at) => billItem(writer, config, { bill, line, at, signed, dayOf })),
    sum("010", bill.subtotal),
    sum("005", bill.taxTotal),
    sum("011", bill.total),
  ].join("");
}

interface BillItem extends Pick<Company, "dayOf"> {
  readonly bill: SupplierInvoiceDocument;
  readonly line: Line;
  readonly at: number;
  readonly signed: (amount: Decimal) => Decimal;
}

const ONE = Decimal.of("1");
/** UN/ECE Recommendation 20: a piece. */
const PIECE = "C62";

/** A charge without gallons is one piece at its amount. */
function billItem(writer: SegmentWriter, config: InvoicSink, item: BillItem): string {
  const { bill, line, at, signed, dayOf } = item;
  const isByGallon = line.gallons !== null && line.gallons.sign !== 0;
  const delivered = dayOrNone(line.deliveredDate, dayOf);
  const label = `line ${at + 1}`;
  const reference = (QUALF: string, BELNR: string | null, what: string): string =>
    BELNR === null || BELNR === ""
      ? ""
      : writer.of("E1EDP02", { QUALF, BELNR }, { label: `${what} of ${label}` });
  const below = [
    reference("001", bill.poNumber, "purchase order"),
    reference("016", line.deliveryTicket, "delivery ticket"),
    delivered === null ? "" : writer.of("E1EDP03", { IDDAT: "027", DATUM: delivered }),
    line.item === null
      ? ""
      : writer.of("E1EDP19", { QUALF: "002", IDTNR: line.item }, { label: `item of ${label}` }),
    writer.of(
      "E1EDP26",
      { QUALF: "003", BETRG: signed(line.amount) },
      { label: `amount of ${label}` },
    ),
    config.taxCode === undefined ? "" : writer.of("E1EDP04", { MWSKZ: config.taxCode }),
    writer.textOf("E1EDPT1", config.itemText, describe(line), {
      most: most.INVOIC.E1EDPT2,
      label: `description of ${label}`,
    }),
  ];
  return writer.of(
    "E1EDP01",
    {
      POSEX: itemNumber(at),
      MENGE: line.gallons !== null && isByGallon ? signed(line.gallons) : ONE,
      MENEE: isByGallon ? unitOf(config.units, "gal") : PIECE,
      VPREI: isByGallon ? line.rate : null,
      PEINH: isByGallon && line.rate !== null ? ONE : null,
    },
    { below: below.join(""), label: `quantity or price of ${label}` },
  );
}

/** What an item has no field for. */
function describe({
  description,
  bolNumber,
  grossGallons,
  netGallons,
  location,
  carrier,
}: Line): string {
  const parts: readonly (readonly [string, string | null | undefined])[] = [
    ["", description],
    ["BOL ", bolNumber],
    ["gross gal ", grossGallons?.plain()],
    ["net gal ", netGallons?.plain()],
    ["location ", location],
    ["carrier ", carrier],
  ];
  return parts
    .flatMap(([name, value]) =>
      value === null || value === undefined || value === "" ? [] : [name + value],
    )
    .join(", ");
}

/** @throws Refused where SAP would book something else than the platform says */
function expectPostable(bill: SupplierInvoiceDocument, config: InvoicSink): void {
  const state = stateOf(bill.status, config.paid);
  if (state === "PAID")
    throw notPostable(
      "already-paid",
      "the bill is paid on the platform, and an IDoc cannot say so: SAP would pay it again",
      'Enter bill and payment in SAP by hand, then resolve it here; or set "paid: deliver" where all bills are paid by SAP.',
    );
  if (state !== "open")
    throw notPostable(
      "not-open",
      `the bill is ${bill.status} on the platform, and an IDoc cannot say so: SAP would pay it`,
      "Deal with it in SAP by hand, then resolve it here; it goes out by itself once it is open again.",
    );
  if (config.withoutOrder === "refuse" && (bill.poNumber ?? "").trim() === "")
    throw notPostable(
      "no-purchase-order",
      "the bill names no purchase order, and SAP's invoice verification (INVL) posts none without",
      'Enter its PO number on the platform; or set "withoutOrder: send" where SAP posts INVOIC in FI (INVF).',
      "poNumber",
    );
  if (config.numberTooLong === "refuse" && bill.number.length > kept.invoiceNumber)
    throw notPostable(
      "no-room",
      `the invoice number "${bill.number}" is ${bill.number.length} characters long; SAP keeps ${kept.invoiceNumber} (XBLNR)`,
      'Enter the bill in SAP by hand, then resolve it here; or set "numberTooLong: shorten".',
      "invoiceNumber",
    );
}

/** @throws Refused: SAP posts items, taxes and sums as they stand, and asks nobody */
function expectSums({ lines, taxes, subtotal, taxTotal, total }: SupplierInvoiceDocument): void {
  const sums = [
    ["the lines come to", Decimal.sum(lines.map(({ amount }) => amount)), "subtotal", subtotal],
    ["the taxes come to", Decimal.sum(taxes.map(({ amount }) => amount)), "tax", taxTotal],
    ["both come to", subtotal.plus(taxTotal), "total", total],
  ] as const;
  const off = sums.find(([, found, , told]) => !found.equals(told));
  if (off === undefined) return;
  const [what, found, field, told] = off;
  throw new Refused({
    code: "does-not-add-up",
    message: `${what} ${found.plain()}, and the ${field} is ${told.plain()}`,
    next: "Ask whoever issued it to correct it on the platform; the corrected version is delivered by itself.",
    field,
  });
}

const notPostable = (code: string, message: string, next: string, field = "status"): Refused =>
  new Refused({ code, message, next, field });

/** Its last ten characters, after five of a hash of all of it: two long numbers that end alike stay two. */
function numberFor(number: string, { numberTooLong }: InvoicSink): string {
  if (numberTooLong === "refuse" || number.length <= kept.invoiceNumber) return number;
  const end = number.slice(-10).toWellFormed();
  return `${hash("sha256", number, "hex").slice(0, 5).toUpperCase()}-${end}`;
}

const dayOrNone = (instant: string | null, dayOf: Company["dayOf"]): string | null =>
  instant === null ? null : dayOf(instant);

/* Orders that we sell as ORDERS05: sales area, sold-to party, our number as the customer's purchase order, items. */

/** `FL-` and the platform's id without its dashes: 35 characters, as many as SAP's field for a customer's PO has. */
const orderReference = (id: string): string => `FL-${id.replaceAll("-", "").toUpperCase()}`;

/** The data records of an order. @throws Refused */
function orderRecords(
  writer: SegmentWriter,
  config: OrdersSink,
  order: OrderDocument,
  { currency }: Company,
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
    ...order.lines.map((line, at) => orderItem(writer, config, line, at, currency)),
  ].join("");
}

function orderItem(
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

/* Delivery tickets as DELVRY: what is brought to us is announced (DESADV), what we brought is confirmed (SHPCON). */

const ticketMessage = ({ type }: Pick<ShipmentDocument, "type">): "DESADV" | "SHPCON" =>
  type === "in" ? "DESADV" : "SHPCON";

/** What SAP gets of a ticket: whether it is signed yet is not in it. */
function ticketConcerns(ticket: ShipmentDocument): unknown {
  const { note: _, status, ...rest } = ticket;
  return { ...rest, isCancelled: status === "cancelled" };
}

/** The data records of a ticket. @throws Refused */
function ticketRecords(
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
    ...ticket.lines.map((line, at) => ticketItem(writer, config, ticket, line, at)),
  ];
  return writer.of(
    "E1EDL20",
    { BOLNR: ticket.reference, LIFEX: ticket.number },
    { below: below.join(""), label: "BOL or ticket number" },
  );
}

function ticketItem(
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

/* The documents that go to SAP, by message: what they are made of, and how they are written. */

type Site = Pick<Surroundings, "currency" | "dayOf" | "now">;

/** The form of what a message is made from, and the operation, which never changes. */
const MESSAGES = {
  INVOIC: { form: "files.supplier-invoices", operation: "idoc.invoic.deliver" },
  ORDERS: { form: "books.orders", operation: "idoc.orders.deliver" },
  DELVRY: { form: "books.shipments", operation: "idoc.delvry.deliver" },
} as const satisfies Record<IdocSink["message"], { form: string; operation: string }>;

export const idocForm = ({ message }: Pick<IdocSink, "message">): string => MESSAGES[message].form;

/**
 * One IDoc is one file, and one document is one IDoc, ever: SAP makes another document of every IDoc that it gets, so a
 * later version with other content is for a person.
 */
export function idocWriter(config: IdocSink, site: Site): DocumentWriter {
  const writer = new SegmentWriter(config);
  return {
    ...MESSAGES[config.message],
    writes: "create",
    itemsMax: 1,
    encoding: "utf-8",
    concerns: (document) => concernsOf(config, document),
    nameOf: ([item]) => fileName(config, item as Item),
    textOf: ([item]) => textOf(writer, config, item as Item, site),
    idsOf: (request) => [counterpartOf(config, request)],
    // Whether answers come or not: where they are set up later, they are about what is delivered now.
    acknowledged: {
      withinMs: null,
      inspected: true,
      references: ({ target }) => [referenceTo(docnumIn(target))],
    },
    ...(config.answers === undefined ? {} : { inspect: inspecting(config.answers, site) }),
  };
}

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
      const held = standingOf(one, config, now);
      if (held === null) return thereAsBrought;
      const expected = "delivered, to be posted (status 53)";
      return {
        is: "there",
        differences: [{ field: "posting", expected, held: `IDoc ${docnum} ${held}` }],
      };
    });
    return Promise.resolve(inspected);
  };
}

/** `INVOIC_FUELBRIDGE_0123456789012345.xml` */
function fileName(config: IdocSink, item: Item): string {
  const message = messageOf(config, item.document);
  const sender = config.sender.partner.replace(/[^A-Za-z0-9.-]+/g, "-");
  return `${message}_${sender}_${docnumOf({ ...item, message })}.xml`;
}

const messageOf = ({ message }: IdocSink, document: unknown): string =>
  message === "DELVRY" ? ticketMessage(document as ShipmentDocument) : message;

/** The number that the name of a file ends in. */
const docnumIn = (target: string): string => /_(\d{16})\.xml$/.exec(target)?.[1] ?? "";

/** An order is known by our reference, which its deliveries name; the others by the IDoc's number. */
function counterpartOf(
  config: IdocSink,
  { target, items }: Frozen & Pick<Outgoing, "items">,
): string {
  const [item] = items;
  return config.message === "ORDERS" && item !== undefined
    ? orderReference(item.id)
    : `IDoc ${docnumIn(target)}`;
}

function concernsOf(config: IdocSink, document: unknown): unknown {
  if (config.message === "INVOIC")
    return billConcerns(SupplierInvoiceDocument.parse(document), config);
  return config.message === "DELVRY" ? ticketConcerns(ShipmentDocument.parse(document)) : document;
}

/** @throws Refused */
function textOf(writer: SegmentWriter, config: IdocSink, item: Item, site: Site): string {
  const { id, revision, document } = item;
  const of = { id, revision, message: messageOf(config, document) };
  const written = (subject: Subject, records: string): string =>
    idocXml(config, subject, controlRecord(writer, config, subject) + records);
  if (config.message === "INVOIC") {
    const bill = SupplierInvoiceDocument.parse(document);
    const day = bill.invoiceDate === null ? null : site.dayOf(bill.invoiceDate);
    const subject = { ...of, day, basicType: "INVOIC02" };
    return written(subject, billRecords(writer, config, bill, site));
  }
  if (config.message === "ORDERS") {
    const order = OrderDocument.parse(document);
    const subject = { ...of, day: order.date, basicType: "ORDERS05" };
    return written(subject, orderRecords(writer, config, order, site));
  }
  const ticket = ShipmentDocument.parse(document);
  const subject = { ...of, day: ticket.date, basicType: config.basicType };
  return written(subject, ticketRecords(writer, config, ticket));
}
