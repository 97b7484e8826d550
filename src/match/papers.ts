/**
 * The papers that are compared: orders, delivery tickets, invoices (what we bill, and what we are billed), and beside them
 * prices, freight rates, places and parties. Records of the platform, and documents that were sent to it, are read by the
 * platform's contract; their lines keep its names. Prices are per gallon, temperatures in °F, API gravity at 60 °F.
 */
import { z } from "zod";
import { Decimal } from "../core/decimal.ts";
import { parseExact } from "../core/json.ts";
import { foldedNumber } from "../core/keys.ts";
import { namedDay } from "../core/time.ts";
import { DeliveryTicket } from "../platform/contract/delivery-ticket.ts";
import { Invoice as InvoiceRecord } from "../platform/contract/invoice.ts";
import { Connection, FreightRate as RateRecord } from "../platform/contract/network.ts";
import { Order as OrderRecord } from "../platform/contract/order.ts";
import { SupplierTerminal } from "../platform/contract/place.ts";
import { RackPrice } from "../platform/contract/pricing.ts";
import { decimalOrNull, textOrNull } from "../platform/contract/primitives.ts";

/** `sale`: what we deliver and bill; `purchase`: what we are billed. */
export type Direction = "sale" | "purchase";
/** `YYYY-MM-DD` */
export type Day = string;

// A document that we sent has fewer members than the platform's record of it.
const name = textOrNull.transform((text) => (text?.trim() ? text.trim() : null));
const InvoiceLine = InvoiceRecord.shape.lineItems.element
  .omit({ id: true, invoiceId: true, spec: true, carrier: true })
  .extend({
    amount: decimalOrNull,
    product: name,
    location: name,
    bolNumber: name,
    deliveryTicket: name,
  })
  .strip();
const TaxLine = InvoiceRecord.shape.taxLines.element
  .omit({ id: true, invoiceId: true, rateDisplay: true })
  .strip();
const head = { id: true, status: true, createdAt: true, orderId: true } as const;
const AnyInvoice = InvoiceRecord.pick({
  ...head,
  invoiceNumber: true,
  companyId: true,
  payerCompanyId: true,
})
  .extend({ lineItems: z.array(InvoiceLine), taxLines: z.array(TaxLine) })
  .partial()
  .strip();
const OrderLine = OrderRecord.shape.lines.element
  .omit({ id: true, orderId: true, supplierId: true, loadingNumber: true, lat: true, lng: true })
  .partial()
  .strip();
const AnyOrder = OrderRecord.omit({ companyId: true, updatedAt: true, requirements: true })
  .extend({ lines: z.array(OrderLine) })
  .partial()
  .strip();
const AnyTicket = DeliveryTicket.extend({ bolNumbers: z.array(z.string()) })
  .partial()
  .strip();
/**
 * What a load costs on a lane. A site's own table names the party by id, code or name, the terminal by its code, and may know
 * the miles.
 */
const Lane = RateRecord.partial().extend({
  originTerminalId: textOrNull,
  party: textOrNull,
  miles: decimalOrNull,
  effectiveAt: z.string().optional(),
});

type Read<Kind extends keyof ReturnType<typeof readers>> = NonNullable<
  ReturnType<ReturnType<typeof readers>[Kind]>
>;
export type Order = Read<"order">;
export type Ticket = Read<"ticket">;
export type Invoice = Read<"sale">;
export type AnyPaper = Order | Ticket | Invoice;
export type OrderLine = Order["lines"][number];
export type TicketLine = Ticket["lines"][number];
export type InvoiceLine = z.output<typeof InvoiceLine>;
export type TaxLine = z.output<typeof TaxLine>;
/** One version of a rack price. */
export type Price = Read<"price">;
export type FreightRate = z.output<typeof Lane>;
/** Where something is delivered, or loaded. */
export type Place = Read<"place">;
export type CompanyLink = Read<"connection">;

/** Gallons of a unit. */
const GALLONS: Readonly<Record<string, Decimal>> = {
  gal: Decimal.of("1"),
  liter: Decimal.of("0.264172"),
  ltr: Decimal.of("0.264172"),
  bbl: Decimal.of("42"),
};

/** A reader of records of one contract; it gives null for what does not have the contract's shape. */
const reading =
  <Schema extends z.ZodType, Paper>(schema: Schema, make: (record: z.output<Schema>) => Paper) =>
  (record: object): Paper | null => {
    const read = schema.safeParse(record);
    return read.success ? make(read.data) : null;
  };

/** How records become papers. `dayOf`: the company's calendar day of an instant. */
export function readers(dayOf: (instant: string) => Day) {
  const dayIn = (...instants: (string | null | undefined)[]): Day => {
    const first = instants.find((one) => one !== null && one !== undefined);
    return first ? dayOf(namedDay(first)) : "";
  };
  const invoice = (direction: Direction) =>
    reading(AnyInvoice, (it) => ({
      kind: "invoice" as const,
      id: it.id ?? `sent ${it.invoiceNumber}`,
      number: it.invoiceNumber ?? "",
      status: it.status ?? "OUTSTANDING",
      day: dayIn(it.createdAt, ...(it.lineItems ?? []).map((line) => line.deliveredDate)),
      direction,
      party: (direction === "sale" ? it.payerCompanyId : it.companyId) ?? "",
      order: it.orderId ?? null,
      lines: it.lineItems ?? [],
      taxes: it.taxLines ?? [],
    }));

  return {
    sale: invoice("sale"),
    purchase: invoice("purchase"),

    order: reading(AnyOrder, (it) => ({
      kind: "order" as const,
      id: it.id ?? "",
      number: it.loadingNumber ?? it.id ?? "",
      status: it.status ?? "",
      day: dayIn(it.deliveryDate, it.requestedDate, it.createdAt),
      location: it.locationId ?? null,
      lines: (it.lines ?? []).map((line) => {
        const unit = (line.unitCode ?? line.unit ?? "gal").toLowerCase();
        const [factor, quantity] = [GALLONS[unit], line.quantity ?? line.gallons];
        const agreed = (price: Decimal | null | undefined): Decimal | null =>
          unit === "gal" && price && price.sign !== 0 ? price : null;
        return {
          product: line.product ?? "",
          terminal: line.terminalCode ?? line.terminal ?? null,
          /** Null: in a unit that is not known. */
          gallons: factor && quantity ? quantity.times(factor).shortest() : null,
          /** Null: none, or it was agreed in another unit. */
          purchase: agreed(line.buyPrice),
          sale: agreed(line.sellPrice) ?? agreed(line.rate),
        };
      }),
    })),

    ticket: reading(AnyTicket, (it) => ({
      kind: "ticket" as const,
      id: it.id ?? `sent ${it.ticketNumber}`,
      number: it.ticketNumber ?? "",
      status: it.status ?? "DRAFT",
      day: dayIn(it.deliveryDate, it.createdAt),
      order: it.orderId ?? null,
      supplier: it.supplierCompanyId ?? null,
      receiver: it.receiverCompanyId ?? null,
      // Several numbers in one field are written with commas, semicolons or slashes between them.
      bols: [it.bolNumber ?? "", ...(it.bolNumbers ?? [])].flatMap((one) => one.split(/[,;/]/)),
      terminal: it.loadingTerminalName ?? null,
      lines: (it.productLines ?? []).map((line) => ({
        product: line.product_name ?? "",
        spec: line.spec,
        gross: line.gross_gallons,
        net: line.net_gallons,
        temperature: line.temperature,
        gravity: line.api_gravity,
      })),
    })),

    price: reading(RackPrice.partial(), (it) => {
      const factor = GALLONS[(it.unit ?? "gal").toLowerCase()];
      const perGallon = (price?: Decimal) => (price && factor ? price.over(factor, 6) : null);
      return {
        /** Null: ours. */
        company: it.companyId ?? null,
        terminal: it.terminalId ?? "",
        product: it.product ?? "",
        /** Null: in a unit that gallons cannot be told from. */
        price: perGallon(it.price),
        spread: perGallon(it.spread) ?? Decimal.zero,
        /** From when on, ms UTC, and until when, where that is said. */
        fromMs: Date.parse(it.effectiveAt ?? ""),
        untilMs: it.expiresAt ? Date.parse(it.expiresAt) : null,
      };
    }),

    freightRate: reading(Lane, (it) => it),
    place: reading(SupplierTerminal.partial(), (it) => it),
    connection: reading(Connection.partial(), (it) => it),
  };
}

/** Numbers of a site's own table of freight rates. */
const LANE_NUMBERS = ["ratePerMile", "miles", "flatFee", "minCharge", "fuelSurchargePercent"];

/** A row of a site's own table, as {@link readers} read a rate of the platform: empty cells are left out. */
export const laneOfRow = (row: Readonly<Record<string, string>>): object =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, cell]): [string, unknown][] => {
      if (cell.trim() === "") return [];
      const isNumber = LANE_NUMBERS.includes(name) && Decimal.is(cell.trim());
      return [[name, isNumber ? Decimal.of(cell.trim()) : cell.trim()]];
    }),
  );

/** A record's JSON, its numbers as Decimals. An empty one: it is no record. */
export function recordOf(json: string): Readonly<Record<string, unknown>> {
  try {
    const value = parseExact(json);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Papers that say nothing: not issued, or taken back. */
const OUT: ReadonlySet<string> = new Set(["DRAFT", "VOID", "CANCELLED"]);
export const isLive = ({ status }: AnyPaper): boolean => !OUT.has(status);

/** What a line bills. */
export function lineKind(line: InvoiceLine): "fuel" | "freight" | "surcharge" | "other" {
  const kind = described(line.description);
  const isNamed = (line.product ?? line.bolNumber ?? line.deliveryTicket) !== null;
  if (isNamed && line.gallons !== null && kind !== "surcharge" && kind !== "freight") return "fuel";
  return kind === "with freight" ? "freight" : kind;
}

const SURCHARGE = /surcharge|\bfsc\b/i;
const FREIGHT = /freight|haul|transport|delivery (?:fee|charge)/i;
/** A line of fuel may say that its freight is included. */
const ALL_FREIGHT = new RegExp(`^\\W*(?:${FREIGHT.source})`, "i");
const described = remembered((text) => {
  if (SURCHARGE.test(text)) return "surcharge";
  if (ALL_FREIGHT.test(text)) return "freight";
  return FREIGHT.test(text) ? "with freight" : "other";
});

/** There are few names, and each is asked for a hundred thousand times. */
export function remembered<Made>(make: (text: string) => Made) {
  const known = new Map<string, Made>();
  return (text: string): Made => {
    const made = known.get(text) ?? make(text);
    if (known.size >= 5_000) known.clear();
    known.set(text, made);
    return made;
  };
}

/** As numbers and names are compared everywhere: without case and outer or repeated blanks. */
export const fold = remembered(foldedNumber);
