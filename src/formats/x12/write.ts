/** An invoice of ours as transaction set 810. */
import { hash } from "node:crypto";
import type { Item, Reference, Surroundings } from "../../core/contract.ts";
import type { Decimal } from "../../core/decimal.ts";
import { Refused } from "../../core/errors.ts";
import { sortableInstant } from "../../core/keys.ts";
import { CustomerInvoiceDocument, documents, OrderDocument } from "../documents.ts";
import type { DocumentWriter } from "../format.ts";
import {
  acknowledgementSet,
  exchangeOf,
  type ReplyContent,
  sequenceOf,
} from "./acknowledgement.ts";
import type { X12Options, x12Documents } from "./config.ts";
import {
  interchange,
  isOneOf,
  pieces,
  roundHalfUp,
  setControlOf,
  SetWriter,
  type Value,
  Words,
} from "./set-writer.ts";

export interface Context {
  readonly options: X12Options;
  /** ISO 4217. */
  readonly currency: string;
  /** The company's calendar day of an instant. */
  readonly dayOf: (instant: string) => string;
}

type Line = CustomerInvoiceDocument["lines"][number];

/**
 * From ST to SE; `place`: in its group. The lines, each rounded to the cent, and the taxes come to TDS01.
 * @throws Refused
 */
export function invoiceSet(
  { options, currency, dayOf }: Context,
  invoice: CustomerInvoiceDocument,
  place: number,
): string[] {
  expectSum(invoice);
  expectRoom(options, invoice);
  const writer = new SetWriter(options, "810", setControlOf(place));
  const day = (instant: string | null): string | null => (instant === null ? null : dayOf(instant));
  writer.add(
    "BIG",
    [dayOf(invoice.invoiceDate ?? invoice.version), invoice.number, null, invoice.poNumber],
    { 2: "number", 4: "poNumber" },
  );
  for (const piece of pieces(invoice.notes ?? ""))
    writer.add("NTE", ["GEN", piece], { 2: "notes" });
  writer.add("CUR", ["SE", currency]);
  reference(writer, "CT", invoice.contractNumber, "contractNumber");
  if (options.ourCode !== undefined)
    writer.add("N1", ["SE", null, options.idQualifier, options.ourCode]);
  writer.add("N1", ["BT", null, options.idQualifier, invoice.customer], { 4: "customer" });
  const due = day(invoice.dueDate);
  if (due !== null) writer.add("ITD", ["01", "3", null, null, null, due]);
  for (const [at, line] of invoice.lines.entries()) addLine(writer, options, line, at, day);
  writer.add("TDS", [invoice.total], { 1: "total" });
  for (const [at, { taxCode, amount }] of invoice.taxes.entries())
    writer.add("TXI", [taxOf(options, taxCode), amount], { 2: `taxes[${at}].amount` });
  writer.add("CTT", [String(invoice.lines.length)]);
  return writer.end();
}

function addLine(
  writer: SetWriter,
  options: X12Options,
  line: Line,
  at: number,
  day: (instant: string | null) => string | null,
): void {
  const field = (name: string): string => `lines[${at}].${name}`;
  const isPriced =
    line.gallons !== null &&
    line.rate !== null &&
    line.gallons.sign > 0 &&
    isOneOf(line.gallons.times(line.rate), line.amount);
  const amounts: Value[] = isPriced
    ? [line.gallons, unitOf(options, "gal"), line.rate]
    : ["1", "EA", line.amount];
  const product = line.item === null ? [] : [null, options.product, line.item];
  writer.add("IT1", [String(at + 1), ...amounts, ...product], {
    2: field("gallons"),
    4: field(isPriced ? "rate" : "amount"),
    7: field("item"),
  });
  const measured = [
    [options.gross, line.grossGallons],
    [options.net, line.netGallons],
  ] as const;
  for (const [qualifier, gallons] of measured)
    if (qualifier !== undefined && gallons !== null)
      writer.add("MEA", ["PD", qualifier, gallons, unitOf(options, "gal")]);
  const lump = isPriced || line.gallons === null ? "" : ` [${line.gallons.plain()} gal]`;
  for (const piece of pieces(`${line.description}${lump}`))
    writer.add("PID", ["F", null, null, null, piece], { 5: field("description") });
  reference(writer, "BM", line.bolNumber, field("bolNumber"));
  reference(writer, "DJ", line.deliveryTicket, field("deliveryTicket"));
  const delivered = day(line.deliveredDate);
  if (delivered !== null) writer.add("DTM", ["011", delivered]);
}

function reference(
  writer: SetWriter,
  qualifier: string,
  value: string | null,
  field: string,
): void {
  if (value !== null && value !== "") writer.add("REF", [qualifier, value], { 2: field });
}

/** @throws Refused where the partner's name of it is not known */
function unitOf({ units }: X12Options, unit: string): string {
  const code = units[unit];
  if (code !== undefined) return code;
  throw new Refused({
    code: "no-x12-code",
    message: `the partner's code of the unit "${unit}" is not set`,
    next: `Add ${unit} to "units" in the x12 settings of this sink, then retry.`,
    field: "unit",
  });
}

function taxOf({ taxes }: X12Options, tax: string): string {
  const code = taxes[tax] ?? (/^[A-Z0-9]{2}$/.test(tax) ? tax : undefined);
  if (code !== undefined) return code;
  throw new Refused({
    code: "no-x12-code",
    message: `the partner's code of the tax "${tax}" is not set`,
    next: `Add ${tax} to "taxes" in the x12 settings of this sink, then retry.`,
    field: "taxes",
  });
}

/** TXI after TDS in release 004010; 005010 has no such limit. */
const TAXES_MAX = 10;

/** @throws Refused */
function expectRoom({ version }: X12Options, { taxes }: CustomerInvoiceDocument): void {
  if (version !== "004010" || taxes.length <= TAXES_MAX) return;
  throw new Refused({
    code: "does-not-fit-x12",
    message: `it has ${taxes.length} taxes; an 810 of release 004010 has room for ${TAXES_MAX} (TXI)`,
    next: "Send this one to the partner by hand and resolve it here.",
    field: "taxes",
  });
}

/** @throws Refused: whoever reads it adds it up */
function expectSum({ lines, taxes, total }: CustomerInvoiceDocument): void {
  const all = [...lines, ...taxes].map(({ amount }) => amount);
  const cents = all.find((amount) => !roundHalfUp(amount).equals(amount));
  const sum = all.reduce<Decimal | null>((one, two) => one?.plus(two) ?? two, null);
  if (cents === undefined && sum?.equals(total) === true) return;
  throw new Refused({
    code: "does-not-add-up",
    message:
      cents === undefined
        ? `lines and taxes come to ${sum?.fixed(2) ?? "nothing"}, the total is ${total.fixed(2)}`
        : `the amount ${cents.text} is not in cents`,
    next: "Ask whoever issued it to correct it on the platform; the corrected version is delivered by itself.",
    field: "total",
  });
}

/** What of an invoice an 810 tells: a version that changes nothing of it is nothing new to the partner. */
const concernsOf = (context: Context, invoice: CustomerInvoiceDocument): unknown => {
  const ended = isEnded(invoice.status) ? invoice.status : "";
  const { invoiceDate, dueDate, lines, taxes, number, customer, total, notes } = invoice;
  const day = (instant: string | null) => (instant === null ? null : context.dayOf(instant));
  return {
    ended,
    number,
    customer,
    total,
    notes,
    poNumber: invoice.poNumber,
    contractNumber: invoice.contractNumber,
    date: day(invoiceDate),
    due: day(dueDate),
    lines: lines.map(({ deliveredDate, ...line }) => ({ ...line, delivered: day(deliveredDate) })),
    taxes,
  };
};

/** No 810 says that an invoice counts no more. */
const isEnded = (status: string): boolean =>
  status === "VOID" || status === "CANCELLED" || status === "DRAFT";

/** @throws Refused */
function expectLive(status: string, what: string): void {
  if (!isEnded(status)) return;
  throw new Refused({
    code: "ended",
    message: `it is ${status}, and ${what} cannot say so`,
    next: "Tell the partner by hand if they have it, then resolve this.",
    field: "status",
  });
}

/* An order as transaction set 850. */

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
const orderConcerns = ({ dayOf }: Context, order: OrderDocument): unknown => {
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

/* Documents as interchanges: one group, one transaction set for each document. */

const BATCH_ITEMS_MAX = 200;
const NAME_MAX = 100;
/** The encoding: X12's characters are among those of ASCII. */
const encoding = "latin1";

interface Kind {
  readonly functionalId: string;
  readonly set: (context: Context, document: unknown, place: number) => string[];
  readonly concerns: (context: Context, document: unknown) => unknown;
}

type X12Document = (typeof x12Documents)[number];

/** What is written, and how the partner and we have agreed on it. */
interface X12Settings {
  readonly document: X12Document;
  readonly x12: X12Options;
  readonly per: "document" | "batch";
  readonly itemsMax?: number | undefined;
  /** ms; null: acknowledgements are not awaited. */
  readonly acknowledgeWithin: number | null;
}

const KINDS: Readonly<Record<X12Document, Kind>> = {
  "customer-invoices": {
    functionalId: "IN",
    set(context, document, place) {
      const invoice = CustomerInvoiceDocument.parse(document);
      expectLive(invoice.status, "an 810");
      return invoiceSet(context, invoice, place);
    },
    concerns: (context, document) => concernsOf(context, CustomerInvoiceDocument.parse(document)),
  },
  orders: {
    functionalId: "PO",
    set(context, document, place) {
      const order = OrderDocument.parse(document);
      expectLive(order.status, "an 850");
      return orderSet(context, order, place);
    },
    concerns: (context, document) => orderConcerns(context, OrderDocument.parse(document)),
  },
};

/**
 * The partner knows a document by its number, so it goes once: a later version that says something else is work for a
 * person, for X12 has no set that corrects one.
 */
export function x12Writer(
  config: X12Settings,
  { currency, dayOf }: Pick<Surroundings, "currency" | "dayOf">,
): DocumentWriter {
  const { x12: options, document: name, per, itemsMax, acknowledgeWithin } = config;
  const { functionalId, set, concerns } = KINDS[name];
  const context = { options, currency, dayOf };
  return {
    form: `files.${name}`,
    operation: documents[name].operation,
    writes: "create",
    itemsMax: per === "batch" ? (itemsMax ?? BATCH_ITEMS_MAX) : 1,
    encoding,
    sequence: sequenceOf(options),
    concerns: (document) => concerns(context, document),
    acknowledged: {
      withinMs: acknowledgeWithin,
      references: ({ target }, items): Reference[] => {
        const exchange = exchangeOf(options, numberIn(target));
        return Array.from({ length: items }, (_, at) => ({ exchange, item: setControlOf(at) }));
      },
    },
    nameOf: (items, number = 0) => nameOf(name, items, number),
    textOf: (items, number = 0) =>
      interchange(
        options,
        { functionalId, control: number, at: newest(items) },
        items.map(({ document }, at) => set(context, document, at)),
      ),
    idsOf: ({ items }) => items.map(({ number }) => number),
  };
}

/** Writes what the reader of this folder has to say of what it read. */
export function replyWriter(options: X12Options): DocumentWriter {
  return {
    form: "x12.997",
    operation: "file.x12-997.deliver",
    writes: "create",
    itemsMax: 1,
    encoding,
    sequence: sequenceOf(options),
    nameOf: (items, number = 0) => nameOf("997", items, number),
    textOf(items, number = 0) {
      const [content] = items.map(
        ({ document }) => (document as { content: ReplyContent }).content,
      );
      if (content === undefined) throw new TypeError("a 997 of nothing");
      const sets = [acknowledgementSet(options, content)];
      return interchange(options, { functionalId: "FA", control: number, at: content.at }, sets);
    },
  };
}

/** The interchange is dated by the newest version in it: the same documents give the same bytes. */
function newest(items: readonly Item[]): string {
  const versions = items.map(({ document }) => (document as { version: string }).version);
  return (
    versions
      .map((version) => sortableInstant(version) ?? version)
      .toSorted()
      .at(-1) ?? ""
  );
}

/** `customer-invoices_INV-1_0a1b2c3d_000000117.edi`: the last is the control number, so no name comes twice. */
function nameOf(document: string, items: readonly Item[], number: number): string {
  const [item] = items;
  const content = JSON.stringify(items.map(({ id, revision }) => [id, revision]));
  const rest = `_${hash("sha256", content, "hex").slice(0, 8)}_${String(number).padStart(9, "0")}.edi`;
  const named = items.length === 1 ? (item?.number ?? "") : String(items.length);
  const safe = named.replace(/[^A-Za-z0-9.-]+/g, "-");
  return `${`${document}_${safe}`.slice(0, NAME_MAX - rest.length)}${rest}`;
}

/** Of a name that was made here. */
function numberIn(target: string): number {
  return Number(/_(\d{9})\.edi$/.exec(target)?.[1] ?? "0");
}
