/** An invoice of ours as transaction set 810. */
import type { Decimal } from "../../core/decimal.ts";
import { Refused } from "../../core/errors.ts";
import type { CustomerInvoiceDocument } from "../documents.ts";
import type { X12Options } from "./config.ts";
import { pieces, SetWriter, setControlOf, type Value } from "./write.ts";
import { isOneOf, roundHalfUp } from "./rounding.ts";

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
export function unitOf({ units }: X12Options, unit: string): string {
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
export const concernsOf = (context: Context, invoice: CustomerInvoiceDocument): unknown => {
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
export const isEnded = (status: string): boolean =>
  status === "VOID" || status === "CANCELLED" || status === "DRAFT";

/** @throws Refused */
export function expectLive(status: string, what: string): void {
  if (!isEnded(status)) return;
  throw new Refused({
    code: "ended",
    message: `it is ${status}, and ${what} cannot say so`,
    next: "Tell the partner by hand if they have it, then resolve this.",
    field: "status",
  });
}
