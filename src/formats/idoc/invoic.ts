/**
 * Vendor bills as INVOIC02, as logistics invoice verification reads it (process code INVL): vendor, company code, the
 * vendor's number, dates, taxes, one item per line with its purchase order and delivery note, and the three sums.
 */
import { hash } from "node:crypto";
import { Decimal } from "../../core/decimal.ts";
import { Refused } from "../../core/errors.ts";
import type { SupplierInvoiceDocument } from "../documents.ts";
import type { InvoicSink } from "./config.ts";
import { kept, most } from "./segments.ts";
import { alpha10, itemNumber, noRoom, type SegmentWriter, unitOf } from "./write.ts";

export interface Site {
  /** ISO 4217. */
  readonly currency: string;
  /** The calendar day of an instant where the company is. */
  readonly dayOf: (instant: string) => string;
}

type Line = SupplierInvoiceDocument["lines"][number];

/** What SAP gets of a bill; a version that changes nothing else is nothing new to it. */
export function billConcerns(bill: SupplierInvoiceDocument, { paid }: InvoicSink): unknown {
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
export function billRecords(
  writer: SegmentWriter,
  config: InvoicSink,
  bill: SupplierInvoiceDocument,
  { currency, dayOf }: Site,
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
    ...bill.lines.map((line, at) => itemOf(writer, config, { bill, line, at, signed, dayOf })),
    sum("010", bill.subtotal),
    sum("005", bill.taxTotal),
    sum("011", bill.total),
  ].join("");
}

interface Item extends Pick<Site, "dayOf"> {
  readonly bill: SupplierInvoiceDocument;
  readonly line: Line;
  readonly at: number;
  readonly signed: (amount: Decimal) => Decimal;
}

const ONE = Decimal.of("1");
/** UN/ECE Recommendation 20: a piece. */
const PIECE = "C62";

/** A charge without gallons is one piece at its amount. */
function itemOf(writer: SegmentWriter, config: InvoicSink, item: Item): string {
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

const dayOrNone = (instant: string | null, dayOf: Site["dayOf"]): string | null =>
  instant === null ? null : dayOf(instant);
