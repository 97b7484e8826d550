/**
 * Which papers belong together: a line of an invoice finds its ticket by the ticket's number, by the bill of lading, by the
 * order and the product, and last by party, product, day and gallons, which is a guess. What is connected is one case; every
 * paper is in exactly one, and the order in which they came changes nothing.
 */
import { Decimal } from "../core/decimal.ts";
import { byText } from "../core/text.ts";
import { Packed } from "../core/packed.ts";
import {
  type AnyPaper,
  type Direction,
  fold,
  type Invoice,
  type InvoiceLine,
  isLive,
  lineKind,
  type Order,
  remembered,
  type Ticket,
  type TicketLine,
} from "./papers.ts";

type JoinedBy =
  "ticket number" | "bill of lading" | "order and product" | "party, product and day (a guess)";

export const GUESS: JoinedBy = "party, product and day (a guess)";

/** A line that bills fuel or its freight, and the tickets that it is about. */
export interface JoinedLine {
  readonly kind: "fuel" | "freight";
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
/** Papers between two pauses of a long run. */
const STEP = 500;

/** The place of a paper among those that came. */
type Seq = number;

/** What of a ticket is looked at to find those of a line. */
interface TicketFacts extends Pick<Ticket, "supplier" | "receiver" | "day"> {
  readonly seq: Seq;
  readonly products: readonly string[];
}
type OpenLine = readonly [seq: Seq, day: string, line: TicketLine, isNumbered: boolean];
type Line = Pick<JoinedLine, "kind" | "invoice" | "line" | "at">;

export class Papers {
  readonly #names: Names;
  readonly #papers = new Packed<AnyPaper>();
  /** By kind and id. */
  readonly #known = new Map<string, Seq>();
  readonly #by = {
    ticket: new Map<string, TicketFacts[]>(),
    bol: new Map<string, TicketFacts[]>(),
    order: new Map<string, TicketFacts[]>(),
  };
  /** Kinds and folded numbers of papers, made when those come that were sent. */
  #numbers: Set<string> | null = null;
  #parent = new Int32Array(0);
  /** By the key of a line. */
  readonly #guesses = new Map<string, Seq>();

  constructor(names: Names) {
    this.#names = names;
  }

  /**
   * False: it is there already by its kind and id, and stays as it came first. `isSent`: as we sent it, without an id of the
   * platform; left out where the platform's own record of it is here.
   */
  add(paper: AnyPaper, isSent: boolean): boolean {
    // Joined, it is one text: a template's would keep its parts as well.
    const key = [paper.kind, paper.id].join(" ");
    if (isSent)
      this.#numbers ??= new Set(this.#known.values().map((seq) => numberOf(this.#papers.at(seq))));
    if (this.#known.has(key) || (isSent && this.#numbers?.has(numberOf(paper)))) return false;
    const seq = this.#papers.push(paper);
    this.#known.set(key, seq);
    this.#numbers?.add(numberOf(paper));
    if (paper.kind === "ticket" && isLive(paper)) this.#addTicket(paper, seq);
    return true;
  }

  #addTicket({ number, bols, order, supplier, receiver, day, lines }: Ticket, seq: Seq): void {
    const products = lines.map(({ product }) => kept(product));
    const parties = { supplier: supplier && kept(supplier), receiver: receiver && kept(receiver) };
    const ticket = { seq, ...parties, day: kept(day), products };
    push(this.#by.ticket, spelling(number), ticket);
    for (const bol of new Set(bols.map(spelling))) push(this.#by.bol, bol, ticket);
    push(this.#by.order, order ?? "", ticket);
  }

  /** Each case once, in the order of its papers' ids. `undefined` is a pause. */
  *cases(): Generator<Case | undefined> {
    const keys = [...this.#known.keys()].sort();
    yield* this.#connect(keys);
    const sorted = keys.map((key) => this.#known.get(key) as Seq);
    /** The first paper of each case by its root, and after each paper the next one: as lists they would take more room. */
    const first = new Int32Array(sorted.length).fill(-1);
    const next = new Int32Array(sorted.length);
    for (const seq of sorted.toReversed()) {
      const root = this.#root(seq);
      next[seq] = first[root] ?? -1;
      first[root] = seq;
    }
    for (const seq of sorted) {
      if (first[this.#root(seq)] !== seq) continue;
      const members: Seq[] = [];
      for (let at = seq; at !== -1; at = next[at] ?? -1) members.push(at);
      yield this.#case(members);
    }
  }

  *#connect(keys: readonly string[]): Generator<undefined> {
    this.#parent = Int32Array.from(keys, (_, seq) => seq);
    /** Tickets that a line was found for, by direction. */
    const taken = { sale: new Set<Seq>(), purchase: new Set<Seq>() };
    const loose: [seq: Seq, at: number][] = [];
    const billed = new Map<string, Seq>();
    for (const [order, tickets] of this.#by.order)
      for (const { seq } of tickets) this.#unite(seq, this.#known.get(`order ${order}`));
    for (const [steps, key] of keys.entries()) {
      if (steps % STEP === 0) yield undefined;
      if (!key.startsWith("invoice ")) continue;
      const seq = this.#known.get(key) as Seq;
      const invoice = this.#papers.at(seq) as Invoice;
      if (isLive(invoice)) this.#unite(seq, this.#known.get(`order ${invoice.order}`));
      for (const one of linesOf(invoice)) {
        const { tickets } = this.#find(one);
        for (const ticket of tickets) this.#unite(seq, ticket.seq);
        if (one.kind === "freight") continue;
        for (const ticket of tickets) taken[invoice.direction].add(ticket.seq);
        if (tickets.length > 0) continue;
        loose.push([seq, one.at]);
        const name = paperless(one);
        if (name === null) continue;
        this.#unite(seq, billed.get(name));
        billed.set(name, seq);
      }
    }
    if (loose.length > 0) yield* this.#guess(keys, loose, taken);
  }

  /** Of a line that names no ticket which is here: the nearest ticket that no line names, each once. */
  *#guess(
    keys: readonly string[],
    loose: readonly (readonly [seq: Seq, at: number])[],
    taken: Readonly<Record<Direction, ReadonlySet<Seq>>>,
  ): Generator<undefined> {
    const open = new Map<string, OpenLine[]>();
    const keyOf = (direction: Direction, party: string, product: string): string =>
      `${direction} ${party} ${this.#names.product(product)}`;
    for (const key of keys) {
      const seq = this.#known.get(key) as Seq;
      if (!key.startsWith("ticket ") || (taken.sale.has(seq) && taken.purchase.has(seq))) continue;
      const ticket = this.#papers.at(seq) as Ticket;
      const isNumbered = spelling(ticket.number) !== "" && ticket.bols.some(spelling);
      const parties = { sale: ticket.receiver, purchase: ticket.supplier };
      for (const direction of ["sale", "purchase"] as const) {
        const party = parties[direction];
        if (party === null || taken[direction].has(seq) || !isLive(ticket)) continue;
        for (const line of ticket.lines)
          push(open, keyOf(direction, party, line.product), [seq, ticket.day, line, isNumbered]);
      }
      yield undefined;
    }
    for (const [seq, at] of loose) {
      const invoice = this.#papers.at(seq) as Invoice;
      const line = invoice.lines[at] as InvoiceLine;
      const { gallons, product } = line;
      if (product === null || gallons === null) continue;
      const among = open.get(keyOf(invoice.direction, invoice.party, product)) ?? [];
      const isOther =
        spelling(line.deliveryTicket ?? "") !== "" && spelling(line.bolNumber ?? "") !== "";
      const day = line.deliveredDate?.slice(0, 10) ?? invoice.day;
      const most = gallons.abs().times(GUESS_SHARE);
      const [best] = among
        // One number may be misspelled: a line that names two others than the ticket's is about another load.
        .filter(([, day_, , isNumbered]) => !(isNumbered && isOther) && isClose(day_, day))
        .map((it) => ({ it, off: offBy(it[2], gallons) }))
        .filter(({ off }) => off.compare(most) <= 0)
        .toSorted((first, other) => first.off.compare(other.off));
      if (best === undefined) continue;
      among.splice(among.indexOf(best.it), 1);
      this.#guesses.set(`${invoice.id} ${at}`, best.it[0]);
      this.#unite(seq, best.it[0]);
    }
  }

  /** The tickets of a line by what it names. Those that deliver are another party than those that bill the freight. */
  #find(
    one: Line,
  ): Pick<JoinedLine, "by"> & { readonly tickets: readonly Pick<TicketFacts, "seq">[] } {
    const guess = this.#guesses.get(lineKey(one));
    if (guess !== undefined) return { by: GUESS, tickets: [{ seq: guess }] };
    const { bolNumber, deliveryTicket } = one.line;
    const { direction, order } = one.invoice;
    const isFuel = one.kind === "fuel";
    // A supplier's bill is about the truck that we deliver with, too: its bill of lading is on our ticket.
    const tries = [
      ["ticket number", this.#by.ticket, spelling(deliveryTicket ?? ""), isFuel ? "party" : "any"],
      [
        "bill of lading",
        this.#by.bol,
        spelling(bolNumber ?? ""),
        isFuel && direction === "sale" ? "party" : "any",
      ],
      ["order and product", this.#by.order, order ?? "", isFuel ? "product" : "any"],
    ] as const;
    for (const [by, known, name, whom] of tries) {
      const named = name === "" ? undefined : known.get(name);
      const tickets = named === undefined ? [] : this.#fitting(named, one, whom);
      if (tickets.length > 0) return { by, tickets };
    }
    return { by: null, tickets: [] };
  }

  /** Those of another party are none. Where several are left, those with the product, and of its days. */
  #fitting(
    named: readonly TicketFacts[],
    { line, invoice: { direction, party } }: Line,
    whom: "party" | "any" | "product",
  ): readonly TicketFacts[] {
    const name = line.product === null ? null : this.#names.product(line.product);
    const theirs = named.filter(({ supplier, receiver }) => {
      const other = direction === "sale" ? receiver : supplier;
      return whom === "any" || other === null || party === "" || other === party;
    });
    const exact = theirs.filter(
      ({ products }) => name === null || products.some((one) => this.#names.product(one) === name),
    );
    const all = exact.length > 0 || whom === "product" ? exact : theirs;
    // Numbers come again after some time.
    const near = all.filter(({ day }) => isClose(day, line.deliveredDate?.slice(0, 10) ?? ""));
    return near.length > 0 ? near : all;
  }

  #root(seq: Seq): Seq {
    let at = seq;
    while (this.#parent[at] !== at) {
      const up = this.#parent[at] ?? at;
      this.#parent[at] = this.#parent[up] ?? up;
      at = this.#parent[at] ?? up;
    }
    return at;
  }

  #unite(one: Seq, other: Seq | undefined): void {
    if (other !== undefined) this.#parent[this.#root(one)] = this.#root(other);
  }

  #case(members: readonly Seq[]): Case {
    const papers = new Map(members.map((seq) => [seq, this.#papers.at(seq)]));
    const ofKind = <Kind extends AnyPaper["kind"]>(kind: Kind) =>
      [...papers.values()].filter((one): one is AnyPaper & { kind: Kind } => one.kind === kind);
    const invoices = ofKind("invoice");
    const lines = invoices.flatMap(linesOf).map((one): JoinedLine => {
      const { by, tickets } = this.#find(one);
      const own = tickets.map(({ seq }) => papers.get(seq) as Ticket);
      return { ...one, by, tickets: own.toSorted((first, other) => byText(first.id, other.id)) };
    });
    return { orders: ofKind("order"), tickets: ofKind("ticket"), invoices, lines };
  }
}

/** Lines that bill fuel or freight; of a paper that says nothing, none. */
const linesOf = (invoice: Invoice): Line[] =>
  isLive(invoice)
    ? invoice.lines.flatMap((line, at) => {
        const kind = lineKind(line);
        return kind === "fuel" || kind === "freight" ? [{ kind, invoice, line, at }] : [];
      })
    : [];

export const lineKey = ({ invoice, at }: Pick<JoinedLine, "invoice" | "at">): string =>
  `${invoice.id} ${at}`;

const isClose = (one: string, other: string): boolean =>
  Math.abs(Date.parse(one) - Date.parse(other)) <= GUESS_MS;

/** Its kind and folded number. */
const numberOf = (paper: AnyPaper): string =>
  `${paper.kind} ${"direction" in paper ? paper.direction : ""} ${fold(paper.number)}`;

/** Texts that many papers have in common are kept once. */
const kept = remembered(String);

/** A number as papers write it in many ways: its letters and digits alone. Empty: without a digit it names nothing (`N/A`). */
export const spelling = remembered((number) => {
  const bare = fold(number)
    .replaceAll(/[^\p{L}\p{N}]/gu, "")
    .replace(/^0+/, "");
  return /\p{N}/u.test(bare) ? bare : "";
});

/** By what two bills are of one load though no ticket of it is here; null: the line names nothing. */
function paperless({ invoice, line }: Pick<JoinedLine, "invoice" | "line">): string | null {
  const name = spelling(line.bolNumber ?? "") || spelling(line.deliveryTicket ?? "");
  return name === "" ? null : `${invoice.direction} ${invoice.party} ${name}`;
}

/** Of the nearer of both bases. */
function offBy({ gross, net }: TicketLine, gallons: Decimal): Decimal {
  const offs = [gross, net].flatMap((one) => (one === null ? [] : [one.minus(gallons).abs()]));
  const [least = gallons.abs()] = offs.toSorted((one, other) => one.compare(other));
  return least;
}

/** Adds to the list of a key. */
export function push<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = map.get(key);
  if (list !== undefined) list.push(value);
  // An array that begins with its value has no room for seventeen: most lists stay like that.
  else map.set(key, [value]);
}

/** Fuel of one product in one load: what was billed of it in a direction, and what was delivered. */
export type Group = ReturnType<typeof groupsOf>["groups"][number];

/** By direction, load and product; and the invoices whose fuel is credited whole, with those that credit it. */
export function groupsOf({ lines: all, orders }: Pick<Case, "lines" | "orders">, names: Names) {
  const fuel = all.filter(({ kind }) => kind === "fuel");
  const loadOf = loadsIn(fuel);
  const made = new Map<string, ReturnType<typeof loadOf> & Bill>();
  for (const one of fuel) {
    const load = loadOf(one);
    const { direction } = one.invoice;
    const carried = load.tickets.flatMap(({ lines }) =>
      lines.map((it) => names.product(it.product)),
    );
    const only = new Set(carried).size === 1 ? carried[0] : undefined;
    const named = one.line.product === null ? (only ?? "") : names.product(one.line.product);
    // What of a load was delivered is a group, too, where it is on no line of the bill that is about it.
    for (const product of new Set([named, ...carried])) {
      const key = `${direction} ${load.load} ${product}`;
      const group = made.get(key) ?? { ...load, direction, product, lines: [] };
      made.set(key, group);
      if (product === named) group.lines.push(one);
    }
  }
  const credited = new Set<JoinedLine>();
  const groups = [...made.values()].map((billed) => {
    const lines = netOfCredits(billed.lines, credited);
    const isIt = (line: { product: string }): boolean =>
      names.product(line.product) === billed.product;
    const papers = [...lines.map(({ invoice }) => invoice), ...billed.tickets];
    const own = orders.filter((one) => isLive(one) && papers.some(({ order }) => order === one.id));
    const exact = own.flatMap((order) => order.lines.filter(isIt));
    const delivered = billed.tickets.flatMap((ticket) => ticket.lines.filter(isIt));
    const [net, gross] = [sumOf(delivered, (it) => it.net), sumOf(delivered, (it) => it.gross)];
    return {
      ...billed,
      lines,
      /** The lines of its tickets with this product, and their gallons: of both what is known. */
      delivered,
      net,
      gross,
      figures: [net, gross].flatMap((one) => one ?? []),
      orders: own,
      ordered: exact.length > 0 ? exact : nearIn(own, lines),
      /** The orders name another product, and only the gallons say that it is this one. */
      isOrderGuess: exact.length === 0,
    };
  });
  const standing = new Set(fuel.flatMap((one) => (credited.has(one) ? [] : one.invoice)));
  const taken = [...credited].map(({ invoice }) => invoice);
  return { groups, reversed: new Set(taken.filter((invoice) => !standing.has(invoice))) };
}

interface Bill {
  readonly direction: Direction;
  readonly product: string;
  readonly lines: JoinedLine[];
}

/** The sum; null: one of them is not told, or there is none. */
export function sumOf<One>(all: readonly One[], of: (one: One) => Decimal | null): Decimal | null {
  let sum = all[0] === undefined ? null : of(all[0]);
  for (const one of all.slice(1)) sum = (sum && of(one)?.plus(sum)) ?? null;
  return sum;
}

const worthOf = ({ line: { amount, gallons, rate } }: JoinedLine): Decimal =>
  amount ?? (rate && gallons?.times(rate).round(2)) ?? Decimal.zero;

/** Without lines that a credit takes back whole; a credit by the gallon changes the rate of the line that it is about. */
function netOfCredits(lines: readonly JoinedLine[], credited: Set<JoinedLine>): JoinedLine[] {
  const rest = [...lines];
  for (const credit of lines) {
    const [worth, { gallons, rate }] = [worthOf(credit), credit.line];
    if (worth.sign >= 0 || gallons === null) continue;
    const about = rest.filter(
      (one) =>
        worthOf(one).sign > 0 &&
        one.invoice.party === credit.invoice.party &&
        one.line.gallons?.equals(gallons.abs()) === true,
    );
    const whole = about.find((one) => worthOf(one).equals(worth.negated()));
    const [dearest] = about.toSorted((one, other) => worthOf(other).compare(worthOf(one)));
    const isByGallon = gallons.sign > 0 && rate !== null && dearest !== undefined;
    if (whole === undefined && !isByGallon) continue;
    rest.splice(rest.indexOf(credit), 1);
    if (whole !== undefined) {
      rest.splice(rest.indexOf(whole), 1);
      credited.add(whole).add(credit);
    } else if (isByGallon) {
      const [before, amount] = [dearest.line.rate, worthOf(dearest).plus(worth)];
      const line = { ...dearest.line, rate: before?.plus(rate) ?? null, amount };
      rest.splice(rest.indexOf(dearest), 1, { ...dearest, line });
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

/** Tickets that one line is about together are one load; a line without a ticket is one with those that name the same bill of lading. */
function loadsIn(lines: readonly JoinedLine[]) {
  const tickets = new Map(lines.flatMap((one) => one.tickets.map((ticket) => [ticket.id, ticket])));
  const parent = new Map<string, string>();
  const rootOf = (id: string): string => {
    const up = parent.get(id) ?? id;
    return up === id ? id : rootOf(up);
  };
  for (const one of lines)
    for (const { id } of one.tickets) parent.set(rootOf(id), rootOf(one.tickets[0]?.id ?? id));
  const members = Map.groupBy(tickets.values(), ({ id }) => rootOf(id));
  return (one: JoinedLine) => {
    const root = one.tickets[0] && rootOf(one.tickets[0].id);
    /** Of one load all groups have the same. */
    const load = root ?? paperless(one) ?? `line ${lineKey(one)}`;
    return { load, tickets: members.get(load) ?? [] };
  };
}
