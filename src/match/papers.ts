/**
 * The papers that are compared: orders, delivery tickets, invoices (what we bill, and what we are billed), and beside them
 * prices, freight rates, places and parties. They are read from records of the platform, as they are stored. Numbers stay the
 * digits that were written until they are compared.
 */
import { foldedNumber } from "../core/keys.ts";
import { Decimal } from "../core/decimal.ts";
import { parseWith } from "../core/json.ts";
import { namedDay } from "../core/time.ts";

/** `sale`: what we deliver and bill; `purchase`: what we are billed. */
export type Direction = "sale" | "purchase";
/** `YYYY-MM-DD` */
export type Day = string;
/** A number as its sender wrote it; null: none. */
export type Digits = string | null;

interface Paper {
  readonly id: string;
  /** What people call it. */
  readonly number: string;
  readonly status: string;
  readonly day: Day;
}

export interface OrderLine {
  readonly product: string;
  readonly terminal: string | null;
  /** In gallons; null: in a unit that is not known. */
  readonly gallons: Digits;
  /** Per gallon; null: none, or it was agreed in another unit. */
  readonly buy: Digits;
  readonly sell: Digits;
}

export interface Order extends Paper {
  readonly kind: "order";
  readonly location: string | null;
  readonly lines: readonly OrderLine[];
}

export interface TicketLine {
  readonly product: string;
  readonly spec: string;
  readonly gross: Digits;
  readonly net: Digits;
  /** °F, and API gravity at 60 °F. */
  readonly temperature: Digits;
  readonly gravity: Digits;
}

export interface Ticket extends Paper {
  readonly kind: "ticket";
  readonly order: string | null;
  readonly supplier: string | null;
  readonly receiver: string | null;
  readonly bols: readonly string[];
  readonly terminal: string | null;
  readonly lines: readonly TicketLine[];
}

export interface InvoiceLine {
  readonly text: string;
  readonly product: string | null;
  readonly location: string | null;
  readonly bol: string | null;
  readonly ticket: string | null;
  readonly gallons: Digits;
  readonly gross: Digits;
  readonly net: Digits;
  readonly rate: Digits;
  readonly rack: Digits;
  readonly margin: Digits;
  readonly amount: Digits;
  /** An instant, or a day alone; null: not told. */
  readonly delivered: string | null;
}

export interface TaxLine {
  readonly tax: string;
  readonly authority: string;
  readonly product: string | null;
  readonly rate: Digits;
  /** Null: a tax in percent. */
  readonly gallons: Digits;
  readonly amount: Digits;
}

export interface Invoice extends Paper {
  readonly kind: "invoice";
  readonly direction: Direction;
  readonly party: string;
  readonly order: string | null;
  readonly lines: readonly InvoiceLine[];
  readonly taxes: readonly TaxLine[];
}

export type AnyPaper = Order | Ticket | Invoice;

/** One version of a rack price, per gallon. */
export interface Price {
  readonly company: string | null;
  readonly terminal: string;
  readonly product: string;
  readonly price: Decimal;
  readonly spread: Decimal;
  /** From when on, ms UTC; and until when, where that is said. */
  readonly fromMs: number;
  readonly untilMs: number | null;
}

export interface FreightRate {
  readonly id: string;
  readonly connection: string;
  readonly terminal: string | null;
  readonly city: string | null;
  readonly state: string | null;
  readonly zip: string | null;
  readonly zipPrefix: string | null;
  readonly toCity: string | null;
  readonly toState: string | null;
  readonly product: string | null;
  readonly perMile: Digits;
  readonly flat: Digits;
  readonly least: Digits;
  readonly surcharge: Digits;
  readonly fromDay: Day;
}

/** Where something is delivered, or loaded. */
export interface Place {
  readonly id: string;
  readonly code: string | null;
  readonly name: string;
  readonly city: string | null;
  readonly state: string | null;
  readonly zip: string | null;
}

export interface Connection {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** The other party's code in the ERP; null: none. */
  readonly code: string | null;
}

/** Whatever a record says; a member that is missing is undefined. */
type Raw = Readonly<Record<string, unknown>>;

const text = (value: unknown): string | null =>
  typeof value === "string" && value.trim() !== "" ? value.trim() : null;
const rows = (value: unknown): readonly Raw[] =>
  Array.isArray(value)
    ? value.filter((one): one is Raw => typeof one === "object" && one !== null)
    : [];

/** A number that a document can mean; anything else is no number. */
function digits(value: unknown): Digits {
  if (typeof value !== "string" || !SANE.test(value)) return null;
  return /e/i.test(value) ? Decimal.of(value).round(6).plain() : value;
}

const SANE = /^-?\d{1,15}(?:\.\d{1,20})?(?:[eE][+-]?\d)?$/;

/** There are few names and figures, and each is asked for a hundred thousand times. */
export function remembered<Value>(make: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    if (known.size >= REMEMBERED) known.clear();
    const made = make(text);
    known.set(text, made);
    return made;
  };
}

const REMEMBERED = 5_000;
const decimalOf = remembered((digits) => Decimal.of(digits));

export const decimal = (value: Digits): Decimal | null =>
  value === null ? null : decimalOf(value);

/** Gallons of a unit. */
const GALLONS: Readonly<Record<string, Decimal>> = {
  gal: Decimal.of("1"),
  liter: Decimal.of("0.264172"),
  ltr: Decimal.of("0.264172"),
  bbl: Decimal.of("42"),
};

/** Null: its price is of no unit that gallons can be told from, or it cannot be read. */
const readPrice = (raw: Raw, sentMs: number | null = null): Price | null => {
  const [terminal, product] = [text(raw["terminalId"]), text(raw["product"])];
  const factor = GALLONS[(text(raw["unit"]) ?? "gal").toLowerCase()];
  const price = decimal(digits(raw["price"]));
  const fromMs = sentMs ?? Date.parse(text(raw["effectiveAt"]) ?? "");
  if (terminal === null || product === null || factor === undefined || price === null) return null;
  if (Number.isNaN(fromMs)) return null;
  const until = text(raw["expiresAt"]);
  return {
    company: text(raw["companyId"]),
    terminal,
    product,
    price: price.over(factor, 6),
    spread: (decimal(digits(raw["spread"])) ?? Decimal.zero).over(factor, 6),
    fromMs,
    untilMs: until === null ? null : Date.parse(until),
  };
};

const readPlace = (raw: Raw): Place => ({
  id: text(raw["id"]) ?? "",
  code: text(raw["terminalCode"]),
  name: text(raw["name"]) ?? "",
  city: text(raw["city"]),
  state: text(raw["state"]),
  zip: text(raw["zip"]),
});

const readConnection = (raw: Raw): Connection => ({
  id: text(raw["id"]) ?? "",
  from: text(raw["fromCompanyId"]) ?? "",
  to: text(raw["toCompanyId"]) ?? "",
  code: text(raw["erpId"]),
});

const taxLineOf = (line: Raw): TaxLine => ({
  tax: text(line["taxType"]) ?? "",
  authority: text(line["authority"]) ?? "",
  product: text(line["productRef"]),
  rate: digits(line["rate"]),
  gallons: digits(line["gallons"]),
  amount: digits(line["amount"]),
});

/** How records become papers. `dayOf`: the company's calendar day of an instant. */
export function readers(dayOf: (instant: string) => Day) {
  const dayIn = (...instants: unknown[]): Day => {
    const first = instants.map(text).find((one) => one !== null && !Number.isNaN(Date.parse(one)));
    return first === undefined || first === null ? "" : dayOf(namedDay(first));
  };

  const readOrder = (raw: Raw): Order => ({
    kind: "order",
    id: text(raw["id"]) ?? "",
    number: text(raw["loadingNumber"]) ?? text(raw["id"]) ?? "",
    status: text(raw["status"]) ?? "",
    day: dayIn(raw["deliveryDate"], raw["requestedDate"], raw["createdAt"]),
    location: text(raw["locationId"]),
    lines: rows(raw["lines"]).map((line) => {
      const unit = text(line["unitCode"]) ?? text(line["unit"]) ?? "gal";
      const quantity = decimal(digits(line["quantity"] ?? line["gallons"]));
      const factor = GALLONS[unit.toLowerCase()];
      const isGallons = unit.toLowerCase() === "gal";
      const rate = digits(line["rate"]);
      return {
        product: text(line["product"]) ?? "",
        terminal: text(line["terminalCode"]) ?? text(line["terminal"]),
        gallons: quantity === null || factor === undefined ? null : quantity.times(factor).plain(),
        buy: isGallons ? digits(line["buyPrice"]) : null,
        sell: isGallons
          ? (digits(line["sellPrice"]) ?? (rate === null || Number(rate) === 0 ? null : rate))
          : null,
      };
    }),
  });

  const readTicket = (raw: Raw): Ticket => {
    const more = Array.isArray(raw["bolNumbers"]) ? raw["bolNumbers"].map(text) : [];
    // Several numbers in one field are written with commas, semicolons or slashes between them.
    const bols = [text(raw["bolNumber"]), ...more].flatMap(
      (one) => one?.split(/\s*[,;/]\s*/) ?? [],
    );
    const number = text(raw["ticketNumber"]) ?? "";
    return {
      kind: "ticket",
      id: text(raw["id"]) ?? `sent ${number}`,
      number,
      status: text(raw["status"]) ?? "DRAFT",
      day: dayIn(raw["deliveryDate"], raw["createdAt"]),
      order: text(raw["orderId"]),
      supplier: text(raw["supplierCompanyId"]),
      receiver: text(raw["receiverCompanyId"]),
      bols: [...new Set(bols.filter((one) => one !== ""))],
      terminal: text(raw["loadingTerminalName"]),
      lines: rows(raw["productLines"]).map((line) => ({
        product: text(line["product_name"]) ?? "",
        spec: text(line["spec"]) ?? "",
        gross: digits(line["gross_gallons"]),
        net: digits(line["net_gallons"]),
        temperature: digits(line["temperature"]),
        gravity: digits(line["api_gravity"]),
      })),
    };
  };

  const readInvoice = (raw: Raw, direction: Direction): Invoice => {
    const number = text(raw["invoiceNumber"]) ?? "";
    return {
      kind: "invoice",
      id: text(raw["id"]) ?? `sent ${number}`,
      number,
      status: text(raw["status"]) ?? "OUTSTANDING",
      day: dayIn(raw["createdAt"], ...rows(raw["lineItems"]).map((line) => line["deliveredDate"])),
      direction,
      party: text(raw[direction === "sale" ? "payerCompanyId" : "companyId"]) ?? "",
      order: text(raw["orderId"]),
      lines: rows(raw["lineItems"]).map((line) => {
        const delivered = text(line["deliveredDate"]);
        return {
          text: text(line["description"]) ?? "",
          product: text(line["product"]),
          location: text(line["location"]),
          bol: text(line["bolNumber"]),
          ticket: text(line["deliveryTicket"]),
          gallons: digits(line["gallons"]),
          gross: digits(line["grossGallons"]),
          net: digits(line["netGallons"]),
          rate: digits(line["rate"]),
          rack: digits(line["rackPrice"]),
          margin: digits(line["margin"]),
          amount: digits(line["amount"]),
          delivered: delivered === null ? null : namedDay(delivered),
        };
      }),
      taxes: rows(raw["taxLines"]).map(taxLineOf),
    };
  };

  const readFreightRate = (raw: Raw): FreightRate => ({
    id: text(raw["id"]) ?? text(raw["freightRateId"]) ?? "",
    connection: text(raw["connectionId"]) ?? "",
    terminal: text(raw["originTerminalId"]),
    city: text(raw["originCity"]),
    state: text(raw["originState"]),
    zip: text(raw["destinationZip"]),
    zipPrefix: text(raw["destinationZipPrefix"]),
    toCity: text(raw["destinationCity"]),
    toState: text(raw["destinationState"]),
    product: text(raw["product"]),
    perMile: digits(raw["ratePerMile"]),
    flat: digits(raw["flatFee"]),
    least: digits(raw["minCharge"]),
    surcharge: digits(raw["fuelSurchargePercent"]),
    fromDay: dayIn(raw["effectiveAt"]),
  });

  return {
    order: readOrder,
    ticket: readTicket,
    invoice: readInvoice,
    price: readPrice,
    freightRate: readFreightRate,
    place: readPlace,
    connection: readConnection,
  };
}

/** A record's JSON, its numbers as the digits that were written. Null: it is none. */
export function rawOf(json: string): Raw | null {
  try {
    const value = parseWith(
      json,
      (written) => written,
      (object) => object,
    );
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Raw)
      : null;
  } catch {
    return null;
  }
}

/** Papers that say nothing: not issued, or taken back. */
const OUT: ReadonlySet<string> = new Set(["DRAFT", "VOID", "CANCELLED"]);

export const isLive = ({ status }: AnyPaper): boolean => !OUT.has(status);

/** What a line bills. */
type LineKind = "fuel" | "freight" | "surcharge" | "other";

export function lineKind(line: InvoiceLine): LineKind {
  if (line.gallons !== null && (line.product ?? line.bol ?? line.ticket) !== null) return "fuel";
  if (SURCHARGE.test(line.text)) return "surcharge";
  return FREIGHT.test(line.text) ? "freight" : "other";
}

const FREIGHT = /freight|haul|transport|delivery (?:fee|charge)/i;
const SURCHARGE = /surcharge|\bfsc\b/i;

/** As numbers and names are compared everywhere: without case and outer or repeated blanks. */
export const fold = remembered(foldedNumber);
