/**
 * The documents that go to SAP, by message: vendor bills as INVOIC02, orders that we sell as ORDERS05, delivery tickets as
 * DESADV (what is brought to us is announced) and SHPCON (what we brought is confirmed).
 */
import { hash } from "node:crypto";
import type { z } from "zod";
import { OrderDocument, ShipmentDocument } from "../../ledger/documents.ts";
import {
  type Delivered,
  type Inspection,
  type Surroundings,
  thereAsBrought,
} from "../../core/contract.ts";
import { Decimal } from "../../core/decimal.ts";
import { Refused } from "../../core/errors.ts";
import { timeOfDay } from "../../core/time.ts";
import { hoursOf, SupplierInvoiceDocument, taxesByLine } from "../documents.ts";
import { type DocumentWriter, sentOf } from "../format.ts";
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
  unitOf,
} from "./segment-writer.ts";
import { kept, most, segments } from "./segments.ts";

type Site = Pick<Surroundings, "currency" | "dayOf" | "now">;

/** What a message is written with. */
interface Writing<C> {
  readonly writer: SegmentWriter;
  readonly config: C;
  readonly site: Site;
}

const refused = (code: string, message: string, next: string, field: string): Refused =>
  new Refused({ code, message, next, field });

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

/** The data records of a bill. @throws Refused */
function billRecords({ writer, config, site }: Writing<InvoicSink>, bill: Bill): string[] {
  expectPostable(bill, config);
  expectSums(bill);
  const { currency } = site;
  const number = numberFor(bill.number, config);
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
  const items: (readonly LineTax[])[] = taxesByLine(bill).map((own) =>
    own.length === 0 ? untaxed : own,
  );
  const taxed = (segment: "E1EDK04" | "E1EDP04", taxes: readonly LineTax[]): string[] => {
    const codes = [...Map.groupBy(taxes, ({ taxCode }) => taxCode)];
    const room = most.INVOIC[segment];
    if (codes.length > room)
      throw noRoom(`the bill has ${codes.length} tax codes; SAP takes ${room}`, "taxes");
    return codes.map(([MWSKZ, all]) => {
      const told = [...new Set(all.flatMap(({ authority }) => authority ?? []))].join(", ");
      const KTEXT = told.length > segments[segment].KTEXT.length ? null : told;
      const MWSBT = signed(Decimal.sum(all.map(({ amount }) => amount)));
      return writer.of(segment, { MWSKZ, MWSBT, KTEXT }, "tax code");
    });
  };
  const sum = (SUMID: string, amount: Decimal): string =>
    writer.of("E1EDS01", { SUMID, SUMME: signed(amount), WAERQ: currency }, "sum");
  const { code: PARTN, name: NAME1 } = config.companyCode;
  const [order = null, named] = splitOrder(bill.poNumber);
  const keys = bill.lines.map(({ item, description }) => item ?? `charge ${description}`);
  return [
    writer.of(
      "E1EDK01",
      { CURCY: currency, BSART: isCredit ? "CRME" : "INVO", BELNR: number },
      "invoice number",
    ),
    writer.of("E1EDKA1", { PARVW: "RS", PARTN: alpha10(bill.vendor) }, "vendor"),
    writer.of("E1EDKA1", { PARVW: "RE", PARTN, NAME1 }),
    writer.of("E1EDK02", { QUALF: "009", BELNR: number, DATUM: day }, "invoice number"),
    writer.given("E1EDK02", { QUALF: "006", BELNR: bill.contractNumber }, "contract"),
    writer.given("E1EDK03", { IDDAT: "012", DATUM: day }),
    writer.given("E1EDK03", {
      IDDAT: "024",
      DATUM: config.baseline === "due" ? (due ?? day) : day,
    }),
    writer.given("E1EDK03", { IDDAT: "028", DATUM: due }),
    ...taxed("E1EDK04", items.flat()),
    writer.textOf("E1EDKT1", config.headerText, bill.notes ?? "", "notes"),
    ...bill.lines.map((line, at) => {
      const label = `line ${at + 1}`;
      // A charge without gallons is one piece at its amount.
      const gallons = line.gallons?.sign === 0 ? null : line.gallons;
      const place = new Set(keys.slice(0, keys.indexOf(keys[at] ?? "") + 1)).size - 1;
      const ZEILE = named ?? (config.orderItems === "position" ? itemNumber(place) : null);
      const KTEXT = line.description.length > 70 ? null : line.description;
      const sold = line.item === null ? config.chargeItem : line.product;
      return writer.of(
        "E1EDP01",
        {
          POSEX: itemNumber(at),
          MENGE: gallons === null ? ONE : signed(gallons),
          MENEE: gallons === null ? PIECE : unitOf(config.units, "gal"),
          VPREI: gallons === null ? null : line.rate,
          PEINH: gallons === null || line.rate === null ? null : ONE,
        },
        `quantity or price of ${label}`,
        [
          order === null
            ? ""
            : writer.of(
                "E1EDP02",
                { QUALF: "001", BELNR: order, ZEILE },
                `purchase order of ${label}`,
              ),
          writer.given(
            "E1EDP02",
            { QUALF: "016", BELNR: line.deliveryTicket },
            `delivery ticket of ${label}`,
          ),
          writer.given("E1EDP03", { IDDAT: "027", DATUM: dayOrNone(line.deliveredDate) }),
          writer.given("E1EDP19", { QUALF: "001", IDTNR: line.item }, `item of ${label}`),
          sold === null || sold.length > segments.E1EDP19.IDTNR.length
            ? ""
            : writer.of(
                "E1EDP19",
                { QUALF: "002", IDTNR: sold.trim(), KTEXT },
                `product of ${label}`,
              ),
          writer.given(
            "E1EDP26",
            { QUALF: "003", BETRG: signed(line.amount) },
            `amount of ${label}`,
          ),
          ...taxed("E1EDP04", items[at] ?? []),
          writer.textOf("E1EDPT1", config.itemText, describe(line), `description of ${label}`),
        ],
      );
    }),
    sum("010", bill.subtotal),
    sum("005", bill.taxTotal),
    sum("011", bill.total),
  ];
}

/** A purchase order, and its item where the number names one: `4500017823/20`, `4500017823-00020`. */
function splitOrder(poNumber: string | null): [order?: string, item?: string] {
  const text = poNumber ?? "";
  const [, order, item] = /^(\d{10})\s*[-/]\s*(\d{1,6})$/.exec(text) ?? [];
  if (text.trim() === "") return [];
  return order === undefined || item === undefined ? [text] : [order, item.padStart(6, "0")];
}

const ONE = Decimal.of("1");
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
      'Enter bill and payment in SAP by hand, then resolve it here; or set "paid: deliver" where all bills are paid by SAP.',
      "status",
    );
  if (state !== "open")
    throw refused(
      "not-open",
      `the bill is ${bill.status} on the platform, and an IDoc cannot say so: SAP would pay it`,
      "Deal with it in SAP by hand, then resolve it here; it goes out by itself once it is open again.",
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
      'Enter the bill in SAP by hand, then resolve it here; or set "numberTooLong: shorten".',
      "invoiceNumber",
    );
}

/** @throws Refused: SAP posts items, taxes and sums as they stand, and asks nobody */
function expectSums({ lines, taxes, subtotal, taxTotal, total }: Bill): void {
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

/** Its last ten characters, after five of a hash of all of it: two long numbers that end alike stay two. */
function numberFor(number: string, { numberTooLong }: InvoicSink): string {
  if (numberTooLong === "refuse" || number.length <= kept.invoiceNumber) return number;
  const end = number.slice(-10).toWellFormed();
  return `${hash("sha256", number, "hex").slice(0, 5).toUpperCase()}-${end}`;
}

/* Orders that we sell as ORDERS05: sales area, sold-to party, our number as the customer's purchase order, items. */

/** `FL-` and the platform's id without its dashes: 35 characters, as many as SAP's field for a customer's PO has. */
const orderReference = (id: string): string => `FL-${id.replaceAll("-", "").toUpperCase()}`;

/** The data records of an order. @throws Refused */
function orderRecords(
  { writer, config, site }: Writing<OrdersSink>,
  order: OrderDocument,
): string[] {
  expectSale(order);
  const { currency } = site;
  const reference = orderReference(order.id);
  const area = (QUALF: string, ORGID: string): string => writer.of("E1EDK14", { QUALF, ORGID });
  const number = order.number === order.id ? null : order.number;
  const { requestedDate, deliveryDate, deliveryStart = null, deliveryEnd = null } = order;
  const day = deliveryDate ?? requestedDate ?? null;
  const window = [deliveryStart, deliveryEnd].filter((time) => time !== null).join(" to ");
  const notes = [order.description, window === "" ? null : `deliver ${window}`];
  const buyer = alpha10(order.party.code);
  const shipTo = order.shipTo ? alpha10(order.shipTo) : buyer;
  return [
    writer.of("E1EDK01", { CURCY: currency, BELNR: reference }),
    area("008", config.organization),
    area("007", config.channel),
    area("006", config.division),
    area("012", config.orderType),
    writer.given("E1EDK03", { IDDAT: "002", DATUM: day }),
    writer.given("E1EDK03", { IDDAT: "012", DATUM: order.date }),
    writer.of("E1EDKA1", { PARVW: "AG", PARTN: buyer }, "customer"),
    writer.of("E1EDKA1", { PARVW: "WE", PARTN: shipTo }, "ship-to"),
    writer.of("E1EDK02", { QUALF: "001", BELNR: reference, DATUM: order.date }),
    writer.given("E1EDK02", { QUALF: "044", BELNR: number }, "loading number"),
    writer.textOf("E1EDKT1", config.headerText, notes.filter(Boolean).join("\n"), "notes"),
    ...order.lines.map((line, at) => {
      const label = `line ${at + 1}`;
      const unit = unitOf(config.units, line.unit);
      const item = itemNumber(at);
      const loading = line.loadingNumber === number ? null : line.loadingNumber;
      return writer.of(
        "E1EDP01",
        {
          POSEX: item,
          MENGE: line.quantity,
          MENEE: unit,
          WERKS: plantOf(config, line.terminal ?? null),
        },
        `quantity of ${label}`,
        [
          writer.of("E1EDP02", { QUALF: "001", BELNR: reference, ZEILE: item }),
          writer.given("E1EDP02", { QUALF: "044", BELNR: loading }, `loading number of ${label}`),
          priceOf(writer, config.priceCondition, { price: line.unitPrice, unit, label, currency }),
          writer.of(
            "E1EDP20",
            {
              WMENG: line.quantity,
              EDATU: day,
              EZEIT: day === null ? null : clockOf(deliveryStart),
            },
            `quantity of ${label}`,
          ),
          writer.given("E1EDP19", { QUALF: "002", IDTNR: line.product }, `product of ${label}`),
          writer.textOf("E1EDPT1", config.itemText, line.description, `description of ${label}`),
        ],
      );
    }),
  ];
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
        `price of ${label}`,
      );
  }
  throw noRoom(`the price ${price.plain()} of ${label} has more than 6 decimals`, "lines");
}

/** @throws Refused: what SAP's inbound order cannot say */
function expectSale({ type, status }: OrderDocument): void {
  if (type === "purchase")
    throw refused(
      "no-purchases",
      "the order is a purchase of ours, and SAP makes its purchase orders itself",
      "Enter the purchase order in SAP by hand, then resolve it here.",
      "type",
    );
  if (status !== "confirmed")
    throw refused(
      "not-confirmed",
      `the order is ${status}, and ORDERS only makes new orders`,
      "Change or cancel it in SAP by hand, then resolve it here.",
      "status",
    );
}

/**
 * The data records of a ticket, as DELVRY. What we receive is announced (DESADV: an inbound delivery of a purchase order);
 * of what we ship, SAP's own delivery is confirmed (SHPCON). @throws Refused
 */
function ticketRecords(
  { writer, config, site }: Writing<DelvrySink>,
  ticket: ShipmentDocument,
): string[] {
  if (ticket.status === "cancelled")
    throw refused(
      "cancelled",
      "the ticket is void, and DELVRY only makes new deliveries",
      "Cancel the delivery in SAP by hand, then resolve it here.",
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
  const party = isAnnounced ? ["LF"] : ["AG", "WE"];
  const hours = ticket.deliveredAt ? timeOfDay(ticket.deliveredAt, site.dayOf) : null;
  const time = hours === null ? null : `${hours}00`;
  return [
    writer.of(
      "E1EDL20",
      {
        VBELN: isAnnounced ? null : deliveryOf(config, ticket),
        BOLNR: ticket.reference,
        LIFEX: ticket.number,
      },
      "BOL or ticket number",
      [
        writer.of("E1EDL18", { QUALF: isAnnounced ? "ORI" : config.action }),
        ...party.map((PARTNER_Q) =>
          writer.of("E1ADRM1", { PARTNER_Q, PARTNER_ID: alpha10(ticket.party.code) }, "party"),
        ),
        ticket.date === null
          ? ""
          : writer.of(
              "E1EDT13",
              isAnnounced
                ? { QUALF: "007", NTANF: ticket.date, NTANZ: time }
                : { QUALF: "006", ISDD: ticket.date, ISDZ: time },
            ),
        writer.textOf("E1TXTH8", config.headerText, ticket.note ?? "", "note"),
        ...ticket.lines.map((line, at) => {
          const label = `line ${at + 1}`;
          const item = named ?? itemNumber(products.indexOf(line.product));
          return writer.of(
            "E1EDL24",
            {
              POSNR: itemNumber(at),
              MATNR: line.product,
              KDMAT: isAnnounced ? line.product : null,
              LFIMG: line.quantity,
              VRKME: unitOf(config.units, line.unit),
              VOLUM: line.grossGallons,
              VOLEH: line.grossGallons === null ? null : unitOf(config.units, "gal"),
              POSEX: order === null ? null : item,
            },
            `product or quantity of ${label}`,
            [
              isAnnounced ? "" : writer.of("E1EDL19", { QUALF: "QUA" }),
              writer.given(
                "E1EDL41",
                { QUALI: "001", BSTNR: order, POSEX: item },
                `order of ${label}`,
              ),
              writer.textOf("E1TXTH9", config.itemText, measuredText(line), `figures of ${label}`),
            ],
          );
        }),
      ],
    ),
  ];
}

/** @throws Refused where what should be SAP's delivery number is none */
function deliveryOf({ deliveryNumber }: DelvrySink, ticket: ShipmentDocument): string {
  const number = deliveryNumber === "bolNumber" ? ticket.reference : ticket.number;
  if (deliveryNumber !== undefined && /^\d{1,10}$/.test(number)) return alpha10(number);
  throw refused(
    "no-delivery",
    `SHPCON must name SAP's delivery, and the ${deliveryNumber ?? "ticket"} "${number}" is no delivery number of SAP`,
    "Confirm the delivery in SAP by hand, then resolve it here; or enter SAP's delivery number on the platform's ticket.",
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
  /** @throws Refused */
  records(writing: Writing<C>, document: D): readonly string[];
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

const MESSAGES: {
  readonly [M in IdocSink["message"]]: Message<Extract<IdocSink, { message: M }>, DocumentOf[M]>;
} = {
  INVOIC: {
    form: "files.supplier-invoices",
    operation: "idoc.invoic.deliver",
    schema: SupplierInvoiceDocument,
    basicType: () => "INVOIC02",
    day: ({ invoiceDate }, { dayOf }) => (invoiceDate === null ? null : dayOf(invoiceDate)),
    records: billRecords,
    concerns: (bill, { paid }, { dayOf }) => ({
      ...sentOf(bill, NOT_SENT, dayOf),
      state: stateOf(bill.status, paid),
    }),
  },
  ORDERS: {
    form: "books.orders",
    operation: "idoc.orders.deliver",
    schema: OrderDocument,
    basicType: () => "ORDERS05",
    day: ({ date }) => date,
    records: orderRecords,
    skips: endedBefore,
    concerns: (order) => order,
    counterpart: orderReference,
  },
  DELVRY: {
    form: "books.shipments",
    operation: "idoc.delvry.deliver",
    schema: ShipmentDocument,
    type: ({ type }) => (type === "in" ? "DESADV" : "SHPCON"),
    basicType: ({ basicType }) => basicType,
    day: ({ date }) => date,
    records: ticketRecords,
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
  },
};

interface DocumentOf {
  readonly INVOIC: Bill;
  readonly ORDERS: OrderDocument;
  readonly DELVRY: ShipmentDocument;
}

export const idocForm = ({ message }: Pick<IdocSink, "message">): string => MESSAGES[message].form;

/**
 * One IDoc is one file, and one document is one IDoc, ever: SAP makes another document of every IDoc that it gets, so a
 * later version with other content is for a person.
 */
export function idocWriter(config: IdocSink, site: Site): DocumentWriter {
  // Settings and documents of one message go together.
  const message = MESSAGES[config.message] as unknown as Message<IdocSink, unknown>;
  const writing = { writer: new SegmentWriter(config), config, site };
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
      const records = message.records(writing, document).join("");
      return idocXml(config, subject, controlRecord(writing.writer, config, subject) + records);
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
