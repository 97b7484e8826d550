/** The documents that go to SAP, by message: what they are made of, and how they are written. */
import {
  type Delivered,
  type Frozen,
  type Inspection,
  type Item,
  type Outgoing,
  thereAsBrought,
} from "../../core/contract.ts";
import { OrderDocument, ShipmentDocument } from "../../ledger/documents.ts";
import { SupplierInvoiceDocument } from "../documents.ts";
import type { Site } from "../../../connectors/files/folder/port.ts";
import type { DocumentWriter } from "../format.ts";
import { referenceTo, standingOf } from "./answers.ts";
import type { IdocSink } from "./config.ts";
import { ticketConcerns, ticketMessage, ticketRecords } from "./delvry.ts";
import { billConcerns, billRecords } from "./invoic.ts";
import { orderRecords, orderReference } from "./orders.ts";
import { controlRecord, docnumOf, idocXml, SegmentWriter, type Subject } from "./write.ts";

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
