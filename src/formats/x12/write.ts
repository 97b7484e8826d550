/** Documents as interchanges of X12: invoices of ours as 810, orders as 850, and what is said of what was read as 997. */
import { hash } from "node:crypto";
import type { z } from "zod";
import type { Item, Reference, Surroundings } from "../../core/contract.ts";
import type { Decimal } from "../../core/decimal.ts";
import { Refused } from "../../core/errors.ts";
import { textByValue } from "../../core/keys.ts";
import { amountText } from "../../core/text.ts";
import {
  CustomerInvoiceDocument,
  documents,
  endedAs,
  hoursOf,
  OrderDocument,
  taxesByLine,
  onlyPlace,
} from "../documents.ts";
import { type DocumentWriter, doesNotAddUp, expectCents, fileName, sentOf } from "../format.ts";
import { acknowledgementSet, exchangeOf, type ReplyContent, sequenceOf } from "./read.ts";
import type { x12Documents, X12Options } from "./config.ts";
import {
  interchange,
  isOneOf,
  named,
  pieces,
  type Row,
  setControlOf,
  setText,
  type Value,
  Words,
} from "./set-writer.ts";

type Context = Pick<Surroundings, "currency" | "dayOf"> & { readonly options: X12Options };

/* Segments that both sets have. An element without a value makes no segment. */

const reference = (qualifier: string, value: string | null, field: string): Row[] =>
  value === null || value === "" ? [] : [["REF", qualifier, named(field, value)]];

const dated = ({ dayOf }: Context, instant: string | null, row: (day: string) => Row): Row[] =>
  instant === null ? [] : [row(dayOf(instant))];

const partyRow = ({ options }: Context, role: string, code: Value, field: string): Row => [
  "N1",
  role,
  null,
  options.idQualifier,
  named(field, code),
];

/** Characters of a name (N102). */
const NAME_MAX = 60;

/** N1 ST by its name, where that has room: of the invoice where all lines have one place, else of the line. */
function placeRows(place: string | null, field: string): Row[] {
  const name = place?.trim() ?? "";
  const isFit = name !== "" && name.length <= NAME_MAX;
  return isFit ? [["N1", "ST", named(field, new Words(name))]] : [];
}

/** PID: what a line is, for people. */
const described = (text: string, field: string): Row[] =>
  pieces(text).map((piece) => ["PID", "F", null, null, null, named(field, piece)]);

/** @throws Refused where the partner's code of it is not known */
function codeOf(options: X12Options, table: "units" | "taxes", key: string): string {
  // A tax code that looks like one of X12's is one.
  const own = table === "taxes" && /^[A-Z0-9]{2}$/.test(key) ? key : undefined;
  const code = options[table][key] ?? own;
  if (code !== undefined) return code;
  const what = table === "units" ? "unit" : "tax";
  throw new Refused({
    code: "no-x12-code",
    message: `the partner's code of the ${what} "${key}" is not set`,
    next: `Add ${key} to "${table}" in the x12 settings of this sink, then retry.`,
    field: table === "units" ? "unit" : "taxes",
  });
}

type Tax = CustomerInvoiceDocument["taxes"][number];

/** The lines, each rounded to the cent, and the taxes come to TDS01. @throws Refused */
function invoiceRows(context: Context, invoice: CustomerInvoiceDocument): Row[] {
  const { options, currency, dayOf } = context;
  expectSum(invoice);
  const place = onlyPlace(invoice.lines);
  const isOnLines = options.taxesOn === "lines" && invoice.lines.length > 0;
  const taxes = isOnLines ? taxesByLine(invoice) : [];
  const atEnd = isOnLines ? [] : invoice.taxes;
  return [
    [
      "BIG",
      dayOf(invoice.invoiceDate ?? invoice.version),
      named("number", invoice.number),
      null,
      named("poNumber", invoice.poNumber),
    ],
    ...pieces(invoice.notes ?? "").map((piece): Row => ["NTE", "GEN", named("notes", piece)]),
    ["CUR", "SE", currency],
    ...reference("CT", invoice.contractNumber, "contractNumber"),
    ...(options.ourCode === undefined ? [] : [partyRow(context, "SE", options.ourCode, "N104")]),
    partyRow(context, "BT", invoice.customer, "customer"),
    ...placeRows(place, "lines.location"),
    ...dated(context, invoice.dueDate, (due) => ["ITD", "01", "3", null, null, null, due]),
    ...invoice.lines.flatMap((line, at) =>
      invoiceLine(
        context,
        place === null ? line : { ...line, location: null },
        taxes[at] ?? [],
        at,
      ),
    ),
    ["TDS", named("total", invoice.total)],
    ...taxRows(options, atEnd, "the invoice"),
    ["CTT", String(invoice.lines.length)],
  ];
}

function invoiceLine(
  context: Context,
  line: CustomerInvoiceDocument["lines"][number],
  taxes: readonly Tax[],
  at: number,
): Row[] {
  const { options } = context;
  const field = (name: string): string => `lines[${at}].${name}`;
  const isPriced =
    line.gallons !== null &&
    line.rate !== null &&
    line.gallons.sign > 0 &&
    isOneOf(line.gallons.times(line.rate), line.amount);
  const [quantity, unit, price] = isPriced
    ? [line.gallons, codeOf(options, "units", "gal"), named(field("rate"), line.rate)]
    : ["1", "EA", named(field("amount"), line.amount)];
  const product =
    line.item === null ? [] : [null, options.product, named(field("item"), line.item)];
  const measured = (qualifier: string | undefined, gallons: Decimal | null): Row[] =>
    qualifier === undefined || gallons === null
      ? []
      : [["MEA", "PD", qualifier, gallons, codeOf(options, "units", "gal")]];
  const lump = isPriced || line.gallons === null ? "" : ` [${line.gallons.plain()} gal]`;
  const untold = taxes.filter(
    (tax) => tax.authority !== null && authorityOf(options, tax) === null,
  );
  return [
    ["IT1", String(at + 1), named(field("gallons"), quantity), unit, price, ...product],
    ...taxRows(options, taxes, `line ${at + 1}`),
    ...measured(options.gross, line.grossGallons),
    ...measured(options.net, line.netGallons),
    ...described(`${line.description}${lump}`, field("description")),
    ...untold.flatMap(({ taxType, authority }) =>
      described(`${taxType}: ${authority ?? ""}`, "taxes"),
    ),
    ...reference("BM", line.bolNumber, field("bolNumber")),
    ...reference("DJ", line.deliveryTicket, field("deliveryTicket")),
    ...dated(context, line.deliveredDate, (day) => ["DTM", "011", day]),
    ...placeRows(line.location, field("location")),
  ];
}

/** Who levies a tax, as a code that two partners agreed on (data element 955: VD); null: none, or it has no room. */
function authorityOf({ authorities, characters }: X12Options, { authority }: Tax): string | null {
  if (authority === null) return null;
  const code = authorities[authority] ?? authority.trim();
  const isBasic = code === code.toUpperCase() || characters === "extended";
  return /^[A-Za-z0-9 ]{1,10}$/.test(code) && isBasic ? code : null;
}

/** TXI in one place: release 004010 has room for so many. */
const TAXES_MAX = 10;

/** @throws Refused */
function taxRows(options: X12Options, taxes: readonly Tax[], where: string): Row[] {
  if (options.version === "004010" && taxes.length > TAXES_MAX)
    throw new Refused({
      code: "does-not-fit-x12",
      message: `${where} has ${taxes.length} taxes; an 810 of release 004010 has room for ${TAXES_MAX} (TXI)`,
      next: "Send this one to the partner by hand and close it here.",
      field: "taxes",
    });
  return taxes.map((tax): Row => {
    const authority = authorityOf(options, tax);
    return [
      "TXI",
      codeOf(options, "taxes", tax.taxCode),
      named("taxes.amount", tax.amount),
      null,
      authority === null ? null : "VD",
      named("taxes.authority", authority),
    ];
  });
}

/** @throws Refused: whoever reads it adds it up */
function expectSum({ lines, taxes, total }: CustomerInvoiceDocument): void {
  const all = [...lines, ...taxes].map(({ amount }) => amount);
  const off = (sum: string): string =>
    `lines and taxes come to ${sum}, the total is ${amountText(total)}`;
  if (all.length === 0) throw doesNotAddUp(off("nothing"));
  expectCents(all, total, (sum) => off(amountText(sum)));
}

/** A purchase order's number has room for so many characters (BEG03, BAK03, PRF01). */
const PO_NUMBER_MAX = 22;

/**
 * What the partner knows an order by: its number, or one that follows from its id where that is longer. Of a million orders two
 * would have the same one with a probability of 1 in 10^18.
 */
function poNumberOf({ id, number }: Pick<OrderDocument, "id" | "number">): string {
  if (number.length <= PO_NUMBER_MAX) return number;
  const digits = BigInt(`0x${hash("sha256", id, "hex").slice(0, 25)}`).toString(36);
  return `FL${digits.toUpperCase().padStart(PO_NUMBER_MAX - 2, "0")}`;
}

/** An order as transaction set 850. @throws Refused */
function orderRows(context: Context, order: OrderDocument): Row[] {
  const { options, currency, dayOf } = context;
  const notes = pieces(order.notes ?? "");
  const number = poNumberOf(order);
  const day = order.deliveryDate ?? order.requestedDate;
  const window = (qualifier: string, time: string | null): Row[] => {
    const hours = hoursOf(time);
    return day === null || hours === null ? [] : [["DTM", qualifier, dayOf(day), hours]];
  };
  return [
    ["BEG", "00", "SA", named("number", number), null, dayOf(order.version)],
    ["CUR", "BY", currency],
    // The long number: REF02 has no room for it in 004010, REF03 has.
    ...(number === order.number
      ? []
      : [["REF", "IL", null, named("number", order.number)] as const]),
    ...dated(context, order.requestedDate, (day) => ["DTM", "002", day]),
    ...dated(context, order.deliveryDate, (day) => ["DTM", "017", day]),
    // Not before, not after.
    ...window("064", order.deliveryStart),
    ...window("063", order.deliveryEnd),
    ...(notes.length > 0 ? [["N9", "ZZ", "NOTES"] as const] : []),
    // Release 005010 has no MSG in an 850.
    ...notes.map((note): Row =>
      options.version === "005010"
        ? ["MTX", null, named("notes", note)]
        : ["MSG", named("notes", note)],
    ),
    partyRow(context, "BY", options.ourCode ?? order.companyId, "companyId"),
    ...(order.locationId === null ? [] : [partyRow(context, "ST", order.locationId, "locationId")]),
    ...order.lines.flatMap((line, at) => orderLine(options, order, line, at)),
    ["CTT", String(order.lines.length)],
  ];
}

function orderLine(
  options: X12Options,
  { loadingNumber }: OrderDocument,
  line: OrderDocument["lines"][number],
  at: number,
): Row[] {
  const field = (name: string): string => `lines[${at}].${name}`;
  const code = line.terminalCode ?? line.terminal;
  const name = named(field("terminal"), line.terminal === null ? null : new Words(line.terminal));
  const loading = line.lineLoadingNumber === loadingNumber ? null : line.lineLoadingNumber;
  return [
    [
      "PO1",
      String(at + 1),
      named(field("quantity"), line.quantity),
      codeOf(options, "units", line.unit),
      named(field("rate"), line.rate),
      null,
      options.product,
      named(field("item"), line.item),
    ],
    ...described(line.product, field("product")),
    // LO: load planning number.
    ...reference("LO", loading, field("lineLoadingNumber")),
    ...(code === null
      ? []
      : [["N1", "SF", name, options.idQualifier, named(field("terminalCode"), code)] as const]),
  ];
}

/* Documents as interchanges: one group, one transaction set for each document. */

/** `notTold`: fields of the document and of its lines that the set does not have. */
const kindOf = <D extends { readonly status: string }>(
  functionalId: string,
  set: string,
  schema: z.ZodType<D>,
  notTold: string,
  rows: (context: Context, document: D) => Row[],
  /** What the partner calls it. */
  numberOf: (document: Pick<Item, "id" | "number">) => string,
) => ({
  functionalId,
  numberOf,
  /** From ST to SE; `place`: in its group. @throws Refused */
  text(context: Context, document: unknown, place: number): string[] {
    const parsed = schema.parse(document);
    // No set says that a document counts no more.
    if (endedAs(parsed) !== "")
      throw new Refused({
        code: "ended",
        message: `it is ${parsed.status}, and an ${set} cannot say so`,
        next: "Tell the partner by hand if they have it, then close this.",
        field: "status",
      });
    return setText(context.options, set, place, rows(context, parsed));
  },
  /** What the set tells: a version that changes nothing of it is nothing new to the partner. */
  concerns({ dayOf }: Context, document: unknown): unknown {
    const parsed = schema.parse(document);
    return {
      ...sentOf(parsed, notTold, dayOf),
      ended: endedAs(parsed),
    };
  },
});

type X12Document = (typeof x12Documents)[number];

export const x12Sets = {
  "customer-invoices": kindOf(
    "IN",
    "810",
    CustomerInvoiceDocument,
    "id version status orderId payerId paidDate subtotal taxTotal spec carrier",
    invoiceRows,
    ({ number }) => number,
  ),
  orders: kindOf(
    "PO",
    "850",
    OrderDocument,
    `id version status orderType urgency carrierId loadingNumber productCode supplierId gallons
     buyPrice sellPrice`,
    orderRows,
    poNumberOf,
  ),
} as const satisfies Record<X12Document, unknown>;

const BATCH_ITEMS_MAX = 200;
/** The encoding: X12's characters are among those of ASCII. */
const encoding = "latin1";

/** What is written, and how the partner and we have agreed on it. */
interface X12Settings {
  readonly document: X12Document;
  readonly x12: X12Options;
  readonly per: "document" | "batch";
  readonly itemsMax?: number | undefined;
  /** ms; null: acknowledgements are not awaited. */
  readonly acknowledgeWithin: number | null;
}

/**
 * The partner knows a document by its number, so it goes once: a later version that says something else is work for a
 * person, for X12 has no set that corrects one.
 */
export function x12Writer(
  config: X12Settings,
  { currency, dayOf }: Pick<Surroundings, "currency" | "dayOf">,
): DocumentWriter {
  const { x12: options, document: name, per, itemsMax, acknowledgeWithin } = config;
  const set = x12Sets[name];
  const context = { options, currency, dayOf };
  return {
    form: `files.${name}`,
    operation: documents[name].operation,
    writes: "create",
    itemsMax: per === "batch" ? (itemsMax ?? BATCH_ITEMS_MAX) : 1,
    encoding,
    sequence: sequenceOf(options),
    concerns: (document) => set.concerns(context, document),
    acknowledged: {
      withinMs: acknowledgeWithin,
      references: ({ target }, items): Reference[] => {
        const exchange = exchangeOf(options, numberIn(target));
        const sentAs = `${set.functionalId} ${options.version}`;
        return Array.from({ length: items }, (_, at) => ({
          exchange,
          item: setControlOf(at),
          sentAs,
        }));
      },
    },
    nameOf: (items, number = 0) => nameOf(name, items, number),
    textOf: (items, number = 0) =>
      interchange(
        options,
        { functionalId: set.functionalId, control: number, at: newest(items) },
        items.map(({ document }, at) => set.text(context, document, at)),
      ),
    idsOf: ({ items }) => items.map(set.numberOf),
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
    // Nobody answers a 997 but to refuse the whole interchange (TA1).
    acknowledged: {
      withinMs: null,
      references: ({ target }) => [
        { exchange: exchangeOf(options, numberIn(target)), item: setControlOf(0) },
      ],
    },
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
  return versions.map(textByValue).toSorted().at(-1) ?? "";
}

/** `customer-invoices_INV-1_0a1b2c3d_000000117.edi`: the last is the control number, so no name comes twice. */
function nameOf(document: string, items: readonly Item[], number: number): string {
  const [item] = items;
  const content = JSON.stringify(items.map(({ id, revision }) => [id, revision]));
  const rest = `_${hash("sha256", content, "hex").slice(0, 8)}_${String(number).padStart(9, "0")}.edi`;
  return fileName(document, items.length === 1 ? (item?.number ?? "") : String(items.length), rest);
}

/** Of a name that was made here. */
function numberIn(target: string): number {
  return Number(/_(\d{9})\.edi$/.exec(target)?.[1] ?? "0");
}
