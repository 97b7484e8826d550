/**
 * The papers that are compared: orders, delivery tickets, invoices (what we bill, and what we are billed), and beside them
 * prices, freight rates, places and parties. Records of the platform, and documents that were sent to it, are read by the
 * platform's contract; their lines keep its names. Prices are per gallon, temperatures in °F, API gravity at 60 °F.
 *
 * Which belong together: a line of an invoice finds its ticket by the ticket's number, by the bill of lading, by the order and
 * the product, and last by party, product, day and gallons, which is a guess. What is connected is one case; every paper is in
 * exactly one, and the order in which they came changes nothing.
 */
import { z } from "zod";
import { Decimal } from "../core/decimal.ts";
import { connected, push, Unions } from "../core/groups.ts";
import { gallonsIn } from "../core/holdings.ts";
import { parseExact, stringifyExact } from "../core/json.ts";
import { bareNumber, foldedNumber } from "../core/keys.ts";
import { remembered } from "../core/remembered.ts";
import type { Scratch } from "../core/scratch.ts";
import { byText } from "../core/text.ts";
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
const names = { product: name, location: name, bolNumber: name, deliveryTicket: name };
const LineRecord = InvoiceRecord.shape.lineItems.element
  .omit({ id: true, invoiceId: true, spec: true, carrier: true })
  .extend({ ...names, amount: decimalOrNull })
  .strip();
const TaxLine = InvoiceRecord.shape.taxLines.element
  .omit({ id: true, invoiceId: true, rateDisplay: true })
  .strip();
const invoiceLines = { lineItems: z.array(LineRecord), taxLines: z.array(TaxLine) };
const AnyInvoice = InvoiceRecord.extend(invoiceLines).partial();
const OrderLine = OrderRecord.shape.lines.element.partial();
const AnyOrder = OrderRecord.extend({ lines: z.array(OrderLine) }).partial();
const AnyTicket = DeliveryTicket.extend({ bolNumbers: z.array(z.string()) }).partial();
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
/** `isOfErp`: it began in the ERP, and was sent to the platform; left out: it began there. */
type Paper<Kind extends "order" | "ticket" | "sale"> = Read<Kind> & { readonly isOfErp?: boolean };
export type Order = Paper<"order">;
export type Ticket = Paper<"ticket">;
export type Invoice = Paper<"sale">;
export type AnyPaper = Order | Ticket | Invoice;
export type TicketLine = Ticket["lines"][number];
export type InvoiceLine = Invoice["lines"][number];
export type TaxLine = z.output<typeof TaxLine>;
/** One version of a rack price. */
export type Price = Read<"price">;
export type FreightRate = z.output<typeof Lane>;
/** Where something is delivered, or loaded. */
export type Place = Read<"place">;
export type CompanyLink = Read<"connection">;

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
      lines: withKinds(it.lineItems ?? []),
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
        const [factor, quantity] = [gallonsIn(unit), line.quantity ?? line.gallons];
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
      /** Each may be several ({@link numbersIn}). */
      bols: [it.bolNumber ?? "", ...(it.bolNumbers ?? [])],
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
      const factor = gallonsIn(it.unit ?? "gal");
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
    Object.entries(row).flatMap(([name, cell]) => {
      const isNumber = LANE_NUMBERS.includes(name) && Decimal.is(cell);
      return cell === "" ? [] : [[name, isNumber ? Decimal.of(cell) : cell]];
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

/**
 * Lines, and what each bills. Of a fee by the gallon (an additive) the gallons are left out: they are the fuel's. Fuel is never so
 * much cheaper.
 */
const withKinds = (all: readonly z.output<typeof LineRecord>[]) => {
  const lines = all.map((line) => ({ ...line, rate: line.rate ?? rateIn(line) }));
  return lines.map((line) => {
    const most = line.rate?.times(line.product === null ? FOUR : TEN);
    const isFee = most?.sign === 1 && lines.some(({ rate }) => rate?.compare(most) === 1);
    const gallons = isFee ? null : line.gallons;
    return { ...line, gallons, kind: kindOf({ ...line, gallons }) };
  });
};
const FOUR = Decimal.of("4");
const TEN = Decimal.of("10");
const HUNDRED = Decimal.of("100");

/** What a gallon was billed at where the line does not state it; of fewer than a hundred the rounded amount does not tell. */
const rateIn = ({ amount, gallons }: z.output<typeof LineRecord>): Decimal | null =>
  amount && gallons && gallons.abs().compare(HUNDRED) >= 0
    ? amount.over(gallons, 6).shortest()
    : null;

/** `correction`: money alone, for a load or back. A line of fuel may say that its freight is included. */
function kindOf({ description, ...line }: z.output<typeof LineRecord>) {
  const isNamed = (line.product ?? line.bolNumber ?? line.deliveryTicket) !== null;
  if (SURCHARGE.test(description)) return "surcharge";
  if (ALL_FREIGHT.test(description)) return "freight";
  if (isNamed && line.gallons !== null) return "fuel";
  if (FREIGHT.test(description)) return "freight";
  return isNamed || line.amount?.sign === -1 ? "correction" : "other";
}
const SURCHARGE = /surcharge|\bfsc\b/i;
const FREIGHT = /freight|haul|transport|delivery (?:fee|charge)/i;
const ALL_FREIGHT = new RegExp(`^\\W*(?:${FREIGHT.source})`, "i");

/** As numbers and names are compared everywhere: without case and outer or repeated blanks. */
export const fold = remembered(foldedNumber);

// Joining.

type NamedBy = "ticket number" | "bill of lading" | "order and product";
type JoinedBy = NamedBy | "party, product and day (a guess)";

export const GUESS: JoinedBy = "party, product and day (a guess)";

/** A line that bills fuel or its freight, or corrects it, and the tickets that it is about. */
export interface JoinedLine {
  readonly invoice: Invoice;
  readonly line: InvoiceLine;
  /** Its place in the invoice, from 0. */
  readonly at: number;
  /** Null: no ticket was found. */
  readonly by: JoinedBy | null;
  readonly tickets: readonly Ticket[];
}

export interface Case {
  readonly orders: readonly Order[];
  readonly tickets: readonly Ticket[];
  readonly invoices: readonly Invoice[];
  readonly lines: readonly JoinedLine[];
}

/** One name for one thing: products and terminals as the cross-references and the platform's own lists tell them. */
export interface Names {
  readonly product: (text: string) => string;
  readonly terminal: (text: string) => string;
}

/** A guess: so many days apart at most, and so much of the gallons. */
const GUESS_MS = 2 * 86_400_000;
const GUESS_SHARE = Decimal.of("0.02");

/** Whose tickets a bill of lading is looked for on: a supplier's bill is about the truck that we deliver with, too. */
const BY_BOL = { sale: "party", purchase: "any" } as const;

/** The place of a paper among those that came. */
type Seq = number;
/** Papers of a page, and pages that are kept. */
const PAGE = 16;
const PAGES_MAX = 64;

/** A ticket's line that no line of an invoice names. */
interface OpenLine extends TicketLine, Pick<Ticket, "id" | "day"> {
  readonly seq: Seq;
  readonly isNumbered: boolean;
}
type Line = Pick<JoinedLine, "invoice" | "line" | "at">;
/** A line that names no ticket which is here. */
type Loose = readonly [key: string, seq: Seq, at: number];

/** Papers are in a scratch: in memory is what they are joined by, and one case at a time. */
export class Papers {
  readonly #names: Names;
  /** By kind and id. */
  readonly #papers: Scratch;
  /** Papers of one time lie together in each kind: pages that were read last are kept. */
  readonly #page = remembered((from: Seq) => this.#papers.page(from, PAGE), PAGES_MAX);
  #count = 0;
  readonly #orders = new Map<string, Seq>();
  /** Tickets by each of the names that lines join them by. */
  readonly #named = new Map<string, Seq[]>();
  /** Those that are not out. */
  readonly #tickets: Seq[] = [];
  readonly #invoices: Seq[] = [];
  /** What names papers ({@link numberOf}). */
  readonly #numbers = new Set<string>();
  #unions = new Unions(0);
  /** By the key of a line. */
  readonly #guesses = new Map<string, Seq>();

  constructor(names: Names, scratch: Scratch) {
    this.#names = names;
    this.#papers = scratch;
  }

  /**
   * False: it is there already by its kind and id, and stays as it came first. `isSent`: as we sent it, without an id of the
   * platform; left out where the platform's own record of it is here.
   */
  add(paper: AnyPaper, isSent: boolean): boolean {
    const number = numberOf(paper);
    if (isSent && this.#numbers.has(number)) return false;
    const key = `${paper.kind} ${paper.id}`;
    if (this.#papers.put(key, stringifyExact(paper)) !== null) return false;
    const seq = this.#count++;
    this.#numbers.add(number);
    if (paper.kind === "order") this.#orders.set(paper.id, seq);
    else if (isLive(paper)) {
      if (paper.kind === "invoice") this.#invoices.push(seq);
      else this.#addTicket(paper, seq);
    }
    return true;
  }

  readonly #at = (seq: Seq) => parseExact(this.#text(seq)) as unknown as AnyPaper;

  /** It is joined by its texts alone: numbers that are no Decimals are here, and take half of the time. */
  readonly #textsAt = remembered((seq: Seq): unknown => JSON.parse(this.#text(seq)), PAGES_MAX);

  #text(seq: Seq): string {
    const paper = this.#page(seq - (seq % PAGE))[seq % PAGE];
    if (paper === undefined) throw new RangeError(`there is no paper at ${seq}`);
    return paper.text;
  }

  #addTicket({ number, bols, order }: Ticket, seq: Seq): void {
    this.#tickets.push(seq);
    const names = [
      ["ticket number", [spelling(number)]],
      ["bill of lading", bols.flatMap(numbersIn)],
      ["order and product", [order]],
    ] as const;
    for (const [by, own] of names)
      for (const name of new Set(own)) if (name) push(this.#named, `${by} ${name}`, seq);
  }

  /** Each case once, in the order in which papers came. `undefined` is a step before that. */
  *cases(): Generator<Case | undefined> {
    yield* this.#connect();
    for (const members of this.#unions.groups()) yield this.#case(members);
  }

  *#connect(): Generator<undefined> {
    this.#unions = new Unions(this.#count);
    /** Tickets that a line was found for. */
    const taken = { sale: new Set<Seq>(), purchase: new Set<Seq>() };
    const loose: Loose[] = [];
    const billed = new Map<string, Seq>();
    for (const [order, seq] of this.#orders)
      for (const ticket of this.#ticketsOf("order and product", order))
        this.#unions.unite(ticket, seq);
    for (const seq of this.#invoices) {
      yield undefined;
      const invoice = this.#textsAt(seq) as Invoice;
      this.#unions.unite(seq, this.#orders.get(invoice.order ?? ""));
      for (const one of linesOf(invoice)) {
        const { tickets } = this.#find(one);
        for (const ticket of tickets) this.#unions.unite(seq, ticket);
        const { kind } = one.line;
        if (kind === "fuel") for (const ticket of tickets) taken[invoice.direction].add(ticket);
        if (kind === "freight" || tickets.length > 0) continue;
        loose.push([lineKey(one), seq, one.at]);
        const name = paperless(one);
        if (name === null) continue;
        this.#unions.unite(seq, billed.get(name));
        billed.set(name, seq);
      }
    }
    if (loose.length > 0) yield* this.#guess(loose, taken);
  }

  /** Of a line that names no ticket which is here: the nearest ticket that no line names, each once, in the order of ids. */
  *#guess(loose: readonly Loose[], taken: Record<Direction, Set<Seq>>): Generator<undefined> {
    const open = new Map<string, OpenLine[]>();
    const keyOf = (direction: Direction, party: string, product: string): string =>
      `${direction} ${party} ${this.#names.product(product)}`;
    for (const seq of this.#tickets) {
      if (taken.sale.has(seq) && taken.purchase.has(seq)) continue;
      yield undefined;
      const { number, bols, receiver, supplier, lines, id, day } = this.#at(seq) as Ticket;
      const about = { seq, id, day, isNumbered: spelling(number) !== "" && bols.some(spelling) };
      const sides = [["sale", receiver] as const, ["purchase", supplier] as const];
      for (const [direction, party] of sides)
        if (party !== null && !taken[direction].has(seq))
          for (const line of lines)
            push(open, keyOf(direction, party, line.product), { ...line, ...about });
    }
    const given = new Set<OpenLine>();
    for (const [key, seq, at] of loose.toSorted(([one], [other]) => byText(one, other))) {
      yield undefined;
      const invoice = this.#at(seq) as Invoice;
      const line = invoice.lines[at] as InvoiceLine;
      const { gallons, product } = line;
      if (product === null || gallons === null) continue;
      const isOther = spelling(line.deliveryTicket) && spelling(line.bolNumber);
      const day = line.deliveredDate?.slice(0, 10) ?? invoice.day;
      const most = gallons.abs().times(GUESS_SHARE);
      const [best] = (open.get(keyOf(invoice.direction, invoice.party, product)) ?? [])
        // One number may be misspelled: a line that names two others than the ticket's is about another load.
        .filter((it) => !given.has(it) && !(it.isNumbered && isOther) && isClose(it.day, day))
        .map((it) => ({ it, off: offBy(it, gallons) }))
        .filter(({ off }) => off.compare(most) <= 0)
        .sort((one, other) => one.off.compare(other.off) || byText(one.it.id, other.it.id));
      if (best === undefined) continue;
      given.add(best.it);
      this.#guesses.set(key, best.it.seq);
      this.#unions.unite(seq, best.it.seq);
    }
  }

  readonly #ticketsOf = (by: NamedBy, name: string | null) =>
    this.#named.get(`${by} ${name}`) ?? [];

  /** The tickets of a line by what it names. Those that deliver are another party than those that bill the freight. */
  #find(one: Line): { readonly by: JoinedBy | null; readonly tickets: readonly Seq[] } {
    const guess = this.#guesses.get(lineKey(one));
    if (guess !== undefined) return { by: GUESS, tickets: [guess] };
    const { direction, order } = one.invoice;
    const whom = one.line.kind === "freight" ? "any" : null;
    const tries = [
      ["ticket number", numbersIn(one.line.deliveryTicket), whom ?? "party"],
      ["bill of lading", numbersIn(one.line.bolNumber), whom ?? BY_BOL[direction]],
      ["order and product", [order], whom ?? "product"],
    ] as const;
    for (const [by, names, whose] of tries) {
      const [whole = [], ...parts] = names.map((name) =>
        this.#fitting(this.#ticketsOf(by, name), one, whose),
      );
      const isWhole = whole.length > 0 || parts.some((own) => own.length === 0);
      const tickets = isWhole ? whole : [...new Set(parts.flat())];
      if (tickets.length > 0) return { by, tickets };
    }
    return { by: null, tickets: [] };
  }

  /** Those of another party and order are none. Where several are left, those with the product, and of its days. */
  #fitting(
    named: readonly Seq[],
    { line, invoice: { direction, party, order } }: Line,
    whom: "party" | "any" | "product",
  ): readonly Seq[] {
    const name = line.product === null ? null : this.#names.product(line.product);
    const read = named.map((seq) => ({ seq, ticket: this.#textsAt(seq) as Ticket }));
    const own = read.filter(({ ticket: { supplier, receiver } }) => {
      const other = direction === "sale" ? receiver : supplier;
      return whom === "any" || other === null || party === "" || other === party;
    });
    // A head office pays what a branch has ordered and received.
    const isHeadOffice = own.length === 0 && direction === "sale" && order !== null;
    const theirs = isHeadOffice ? read.filter(({ ticket }) => ticket.order === order) : own;
    const exact = theirs.filter(
      ({ ticket }) =>
        name === null || ticket.lines.some(({ product }) => this.#names.product(product) === name),
    );
    const all = exact.length > 0 || whom === "product" ? exact : theirs;
    // Numbers come again after some time.
    const day = line.deliveredDate?.slice(0, 10) ?? "";
    const near = all.filter(({ ticket }) => isClose(ticket.day, day));
    return (near.length > 0 ? near : all).map(({ seq }) => seq);
  }

  #case(members: readonly Seq[]): Case {
    const papers = new Map(members.map((seq) => [seq, this.#at(seq)]));
    const all = [...papers.values()].sort(byId);
    const ofKind = <Kind extends AnyPaper["kind"]>(kind: Kind) =>
      all.filter((one): one is AnyPaper & { kind: Kind } => one.kind === kind);
    const invoices = ofKind("invoice");
    const lines = invoices.flatMap(linesOf).map((one): JoinedLine => {
      const { by, tickets } = this.#find(one);
      const own = tickets.map((seq) => papers.get(seq) as Ticket);
      return { ...one, by, tickets: own.sort(byId) };
    });
    return { orders: ofKind("order"), tickets: ofKind("ticket"), invoices, lines };
  }
}

/** Lines that bill or correct fuel or freight; of a paper that says nothing, none. */
const linesOf = (invoice: Invoice): Line[] =>
  invoice.lines.flatMap((line, at) =>
    isLive(invoice) && JOINED.has(line.kind) ? [{ invoice, line, at }] : [],
  );
const JOINED: ReadonlySet<string> = new Set(["fuel", "freight", "correction"]);

export const lineKey = ({ invoice, at }: Pick<JoinedLine, "invoice" | "at">): string =>
  `${invoice.id} ${at}`;

const byId = (one: AnyPaper, other: AnyPaper): number => byText(one.id, other.id);

const isClose = (one: string, other: string): boolean =>
  Math.abs(Date.parse(one) - Date.parse(other)) <= GUESS_MS;

/** Its kind, direction and folded number. */
const numberOf = (paper: AnyPaper): string =>
  `${paper.kind} ${"direction" in paper ? paper.direction : ""} ${foldedNumber(paper.number)}`;

/** A number as papers write it in many ways. Empty: without a digit it names nothing (`N/A`). */
function spelling(number: string | null): string {
  const bare = bareNumber(number ?? "").replace(/^0+/, "");
  return /\p{N}/u.test(bare) ? bare : "";
}

/**
 * A field's number, and where several are written in it, with commas, semicolons or slashes between them, each of them: a number
 * may have such signs itself.
 */
export function numbersIn(field: string | null): readonly string[] {
  const whole = spelling(field);
  if (field === null || whole === "") return [];
  return SEVERAL.test(field)
    ? [whole, ...field.split(SEVERAL).map(spelling).filter(Boolean)]
    : [whole];
}

const SEVERAL = /[,;/]/;

/** By what two bills are of one load though no ticket of it is here; null: the line names nothing. */
function paperless({ invoice, line }: Pick<JoinedLine, "invoice" | "line">): string | null {
  const name = spelling(line.bolNumber) || spelling(line.deliveryTicket);
  return name === "" ? null : `${invoice.direction} ${invoice.party} ${name}`;
}

/** Of the nearer of both bases. */
function offBy({ gross, net }: TicketLine, gallons: Decimal): Decimal {
  const offs = [gross, net].flatMap((one) => (one === null ? [] : [one.minus(gallons).abs()]));
  const [least = gallons.abs()] = offs.toSorted((one, other) => one.compare(other));
  return least;
}

/** Fuel of one product in one load: what was billed of it in a direction, and what was delivered. */
export type Group = ReturnType<typeof groupsOf>["groups"][number];

/** By direction, load and product; and the invoices whose fuel is credited whole, with those that credit it. */
export function groupsOf({ lines: all, orders }: Pick<Case, "lines" | "orders">, names: Names) {
  const fuel = all.filter(({ line }) => line.kind === "fuel");
  const credited = new Set<JoinedLine>();
  const groups = connected(fuel, loadNames).flatMap((about) => {
    const [load = ""] = about.slice(0, 1).flatMap(loadNames);
    const tickets = [...new Set(about.flatMap((one) => one.tickets))];
    const carried = tickets.flatMap((it) => it.lines.map(({ product }) => names.product(product)));
    const [only = "", ...others] = new Set(carried);
    const productOf = ({ line: { product } }: JoinedLine): string =>
      product === null ? (others.length === 0 ? only : "") : names.product(product);
    const sides = Map.groupBy(about, ({ invoice }) => invoice.direction);
    return [...sides].flatMap(([direction, own]) =>
      // What of a load was delivered is a group, too, where it is on no line of the bill that is about it.
      [...new Set([...own.map(productOf), ...carried])].map((product) => {
        const billed = own.filter((one) => productOf(one) === product);
        const lines = netOfCredits(billed, credited);
        const isIt = (line: { product: string }): boolean =>
          names.product(line.product) === product;
        const named = [...lines.map(({ invoice }) => invoice), ...tickets];
        const ordering = orders.filter(
          (one) => isLive(one) && named.some(({ order }) => order === one.id),
        );
        const exact = ordering.flatMap((order) => order.lines.filter(isIt));
        const delivered = tickets.flatMap((ticket) => ticket.lines.filter(isIt));
        const [net, gross] = [sumOf(delivered, (it) => it.net), sumOf(delivered, (it) => it.gross)];
        return {
          /** All groups of one load have the same. */
          load,
          tickets,
          direction,
          product,
          lines,
          /** The lines of its tickets with this product, and their gallons: of both what is known. */
          delivered,
          net,
          gross,
          figures: [net, gross].flatMap((one) => one ?? []),
          orders: ordering,
          ordered: exact.length > 0 ? exact : nearIn(ordering, lines),
          /** The orders name another product, and only the gallons say that it is this one. */
          isOrderGuess: exact.length === 0,
        };
      }),
    );
  });
  const standing = new Set(fuel.flatMap((one) => (credited.has(one) ? [] : one.invoice)));
  const taken = [...credited].map(({ invoice }) => invoice);
  return { groups, reversed: new Set(taken.filter((invoice) => !standing.has(invoice))) };
}

/** The sum; null: one of them is not told, or there is none. */
export function sumOf<One>(all: readonly One[], of: (one: One) => Decimal | null): Decimal | null {
  let sum = all[0] === undefined ? null : of(all[0]);
  for (const one of all.slice(1)) sum = (sum && of(one)?.plus(sum)) ?? null;
  return sum;
}

const worthOf = ({ line: { amount, gallons, rate } }: JoinedLine): Decimal =>
  amount ?? (rate && gallons?.times(rate).round(2)) ?? Decimal.zero;

/**
 * Without lines that a credit takes back whole. A credit by the gallon changes the rate of the line that has as many; where none
 * has, of all lines, each in its part.
 */
function netOfCredits(lines: readonly JoinedLine[], credited: Set<JoinedLine>): JoinedLine[] {
  let rest = [...lines];
  for (const credit of lines) {
    const [worth, { gallons, rate }] = [worthOf(credit), credit.line];
    if (worth.sign >= 0 || gallons === null) continue;
    const { party } = credit.invoice;
    const theirs = rest.filter((one) => worthOf(one).sign > 0 && one.invoice.party === party);
    const asMany = theirs.filter(({ line }) => line.gallons?.equals(gallons.abs()) === true);
    const whole = asMany.find((one) => worthOf(one).equals(worth.negated()));
    const [dearest] = asMany.toSorted((one, other) => worthOf(other).compare(worthOf(one)));
    const about = dearest === undefined ? theirs : [dearest];
    const all = sumOf(about, ({ line }) => line.gallons);
    const isByGallon = gallons.sign > 0 && rate !== null && all !== null;
    if (whole !== undefined) {
      rest = rest.filter((one) => one !== whole && one !== credit);
      credited.add(whole).add(credit);
    } else if (isByGallon && all.compare(gallons) >= 0) {
      const less = rate.times(gallons).over(all, 9);
      const lowered = (one: JoinedLine): JoinedLine => {
        const off = one.line.gallons?.times(less).round(2) ?? Decimal.zero;
        const left = {
          rate: one.line.rate?.plus(less).shortest() ?? null,
          amount: worthOf(one).plus(off),
        };
        return { ...one, line: { ...one.line, ...left } };
      };
      rest = rest
        .filter((one) => one !== credit)
        .map((one) => (about.includes(one) ? lowered(one) : one));
    }
  }
  return rest;
}

/** Somebody typed the product: the one line of the orders with these gallons. */
function nearIn(orders: readonly Order[], lines: readonly JoinedLine[]) {
  const billed = sumOf(lines, ({ line }) => line.gallons);
  if (billed === null) return [];
  const share = billed.abs().times(GUESS_SHARE);
  const near = orders
    .flatMap((order) => order.lines)
    .filter(({ gallons }) => gallons?.isWithin(share, billed));
  return near.length === 1 ? near : [];
}

/** Tickets that one line is about are one load; a line without a ticket is one with those that name the same bill of lading. */
const loadNames = (one: JoinedLine): readonly string[] =>
  one.tickets.length > 0
    ? one.tickets.map(({ id }) => id)
    : [paperless(one) ?? `line ${lineKey(one)}`];
