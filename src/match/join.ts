/**
 * Which papers belong together: a line of an invoice finds its ticket by the ticket's number, by the bill of lading, by the
 * order and the product, and last by party, product, day and gallons, which is a guess. What is connected is one case; every
 * paper is in exactly one. Papers are held as text while they wait (a month has 300,000), and the order in which they came
 * changes nothing.
 */
import { Decimal } from "../core/decimal.ts";
import {
  type AnyPaper,
  type Day,
  decimal,
  type Direction,
  fold,
  type Invoice,
  type InvoiceLine,
  isLive,
  lineKind,
  type Order,
  type Ticket,
  type TicketLine,
} from "./papers.ts";

type JoinedBy =
  "ticket number" | "bill of lading" | "order and product" | "party, product and day (a guess)";

export const GUESS: JoinedBy = "party, product and day (a guess)";

/** A line that bills fuel, and the tickets that it is about. */
export interface Link {
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
  readonly links: readonly Link[];
}

/** One name for one thing: products and terminals as the cross-references and the platform's own lists tell them. */
export interface Names {
  readonly product: (text: string) => string;
  readonly terminal: (text: string) => string;
}

/** A guess: so many days apart at most, and so much of the gallons. */
const GUESS_DAYS = 2;
const GUESS_SHARE = Decimal.of("0.02");
const DAY_MS = 86_400_000;
/** Papers between two pauses of a long run. */
const STEP = 500;
const RECENT = 64;

const daysApart = (one: Day, other: Day): number =>
  Math.abs(Date.parse(one) - Date.parse(other)) / DAY_MS;

type Seq = number;

/** Fields whose values many papers have in common: they are kept once. */
const SHARED: ReadonlySet<string> = new Set(
  "text product location tax authority spec terminal party supplier receiver status kind direction rate day temperature gravity".split(
    " ",
  ),
);

/**
 * Papers as short texts: an object is its shape and its values, a shared text is its number. No paper has numbers or booleans of
 * its own: numbers are digits, as they were written.
 */
class Packer {
  readonly #texts: string[] = [];
  readonly #known = new Map<string, number>();

  pack(paper: AnyPaper): string {
    return JSON.stringify(this.#packed(paper, ""));
  }

  unpack(packed: string): AnyPaper {
    return this.#unpacked(JSON.parse(packed)) as AnyPaper;
  }

  #packed(value: unknown, name: string): unknown {
    if (typeof value === "string") return SHARED.has(name) ? this.#numberOf(value) : value;
    if (Array.isArray(value)) return value.map((one) => this.#packed(one, ""));
    if (typeof value !== "object" || value === null) return value;
    const names = Object.keys(value);
    const shape = this.#numberOf(names.join(" "));
    const values = names.map((name) =>
      this.#packed((value as Record<string, unknown>)[name], name),
    );
    return [true, shape, ...values];
  }

  #unpacked(value: unknown): unknown {
    if (typeof value === "number") return this.#texts[value];
    if (!Array.isArray(value)) return value;
    if (value[0] !== true) return value.map((one) => this.#unpacked(one));
    const object: Record<string, unknown> = {};
    const names = this.#shapeOf(value[1] as number);
    for (let at = 0; at < names.length; at++)
      object[names[at] as string] = this.#unpacked(value[at + 2]);
    return object;
  }

  readonly #shapes = new Map<number, readonly string[]>();

  #shapeOf(shape: number): readonly string[] {
    const known = this.#shapes.get(shape);
    if (known !== undefined) return known;
    const names = (this.#texts[shape] ?? "").split(" ");
    this.#shapes.set(shape, names);
    return names;
  }

  #numberOf(text: string): number {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    this.#texts.push(text);
    this.#known.set(text, this.#texts.length - 1);
    return this.#texts.length - 1;
  }
}

export class Papers {
  readonly #names: Names;
  readonly #packer = new Packer();
  readonly #packed: string[] = [];
  readonly #keys: string[] = [];
  readonly #known = new Map<string, Seq>();
  readonly #tickets = {
    number: new Map<string, Seq[]>(),
    bol: new Map<string, Seq[]>(),
    order: new Map<string, Seq[]>(),
  };
  /** Folded numbers of papers, made when papers without an id come. */
  #numbers: Set<string> | null = null;
  #parent = new Int32Array(0);
  readonly #guesses = new Map<string, Seq>();
  /** Papers as they were last unpacked: a case asks for each of its own several times. */
  readonly #recent = new Map<Seq, AnyPaper>();

  constructor(names: Names) {
    this.#names = names;
  }

  get size(): number {
    return this.#packed.length;
  }

  /** A paper that is there already, by its kind and id, stays as it came first. */
  add(paper: AnyPaper): void {
    const key = `${paper.kind} ${paper.id}`;
    if (this.#known.has(key)) return;
    const seq = this.#packed.length;
    this.#known.set(key, seq);
    this.#keys.push(key);
    this.#packed.push(this.#packer.pack(paper));
    this.#numbers?.add(numberOf(paper));
    if (paper.kind !== "ticket" || !isLive(paper)) return;
    const { number, bol, order } = this.#tickets;
    push(number, fold(paper.number), seq);
    for (const one of paper.bols) push(bol, fold(one), seq);
    if (paper.order !== null) push(order, paper.order, seq);
  }

  /** A paper as we sent it, which has no id of the platform: left out where the platform's own record of it is here. */
  addSent(paper: AnyPaper): void {
    this.#numbers ??= new Set(this.#packed.map((_, seq) => numberOf(this.#paper(seq))));
    if (!this.#numbers.has(numberOf(paper))) this.add(paper);
  }

  #paper(seq: Seq): AnyPaper {
    const known = this.#recent.get(seq);
    if (known !== undefined) return known;
    const paper = this.#packer.unpack(this.#packed[seq] ?? "");
    if (this.#recent.size >= RECENT) this.#recent.clear();
    this.#recent.set(seq, paper);
    return paper;
  }

  #ticket(seq: Seq): Ticket {
    return this.#paper(seq) as Ticket;
  }

  /** Each case once, in the order of its papers' ids, and its papers are let go: this can be asked once. `undefined` is a pause. */
  *cases(): Generator<Case | undefined> {
    const sorted = this.#keys.map((_, seq) => seq);
    sorted.sort((one, other) => ((this.#keys[one] ?? "") < (this.#keys[other] ?? "") ? -1 : 1));
    yield* this.#connect(sorted);
    const first = new Map<Seq, Seq[]>();
    for (const seq of sorted) push(first, this.#root(seq), seq);
    for (const members of first.values()) {
      const one = this.#case(members);
      // A ticket may still be looked at by a line of another case, which then leaves it.
      for (const seq of members)
        if (!(this.#keys[seq] ?? "").startsWith("ticket ")) this.#packed[seq] = "";
      yield one;
    }
  }

  *#connect(sorted: readonly Seq[]): Generator<undefined> {
    this.#parent = Int32Array.from(this.#packed, (_, seq) => seq);
    /** Tickets that a line was found for: 1 sales, 2 purchases. */
    const taken = new Uint8Array(this.#packed.length);
    const loose: { seq: Seq; at: number }[] = [];
    const billed = new Map<string, Seq>();
    let steps = 0;
    for (const seq of sorted) {
      if (++steps % STEP === 0) yield undefined;
      const paper = this.#paper(seq);
      if (!isLive(paper) || paper.kind === "order") continue;
      const order = paper.order === null ? undefined : this.#known.get(`order ${paper.order}`);
      if (order !== undefined) this.#unite(seq, order);
      if (paper.kind === "ticket") continue;
      for (const [at, line] of paper.lines.entries()) {
        if (lineKind(line) !== "fuel") continue;
        const { tickets } = this.#find(paper, line);
        for (const ticket of tickets) {
          this.#unite(seq, ticket);
          taken[ticket] = (taken[ticket] ?? 0) | bitOf(paper.direction);
        }
        if (tickets.length > 0) continue;
        loose.push({ seq, at });
        const key = paperless(paper, line);
        const other = key === null ? undefined : billed.get(key);
        if (other !== undefined) this.#unite(seq, other);
        else if (key !== null) billed.set(key, seq);
      }
    }
    this.#guess(sorted, loose, taken);
  }

  /** Of a line that names no ticket which is here: the nearest ticket that no line names, each once. */
  #guess(
    sorted: readonly Seq[],
    loose: readonly { readonly seq: Seq; readonly at: number }[],
    taken: Uint8Array,
  ): void {
    if (loose.length === 0) return;
    const open = new Map<string, { seq: Seq; day: Day; line: TicketLine }[]>();
    for (const seq of sorted) {
      if (!(this.#keys[seq] ?? "").startsWith("ticket ")) continue;
      const ticket = this.#ticket(seq);
      if (!isLive(ticket)) continue;
      for (const [direction, party] of [
        ["sale", ticket.receiver],
        ["purchase", ticket.supplier],
      ] as const)
        if (party !== null && ((taken[seq] ?? 0) & bitOf(direction)) === 0)
          for (const line of ticket.lines)
            push(open, `${direction} ${party} ${this.#names.product(line.product)}`, {
              seq,
              day: ticket.day,
              line,
            });
    }
    for (const { seq, at } of loose) {
      const invoice = this.#paper(seq) as Invoice;
      const line = invoice.lines[at];
      const gallons = decimal(line?.gallons ?? null);
      if (line === undefined || line.product === null || gallons === null) continue;
      const among = open.get(
        `${invoice.direction} ${invoice.party} ${this.#names.product(line.product)}`,
      );
      const day = line.delivered?.slice(0, 10) ?? invoice.day;
      const near = (among ?? []).flatMap((one) => {
        const off = offBy(one.line, gallons);
        const isNear =
          daysApart(one.day, day) <= GUESS_DAYS &&
          off.compare(gallons.abs().times(GUESS_SHARE)) <= 0;
        return isNear ? [{ one, off }] : [];
      });
      const [best] = near.toSorted((one, other) => one.off.compare(other.off));
      if (best === undefined || among === undefined) continue;
      among.splice(among.indexOf(best.one), 1);
      this.#guesses.set(`${seq} ${at}`, best.one.seq);
      this.#unite(seq, best.one.seq);
    }
  }

  /** The tickets of a line by what it names. */
  #find(invoice: Invoice, line: InvoiceLine): { by: JoinedBy | null; tickets: readonly Seq[] } {
    const { number, bol, order } = this.#tickets;
    const named = line.ticket === null ? [] : (number.get(fold(line.ticket)) ?? []);
    const byTicket = this.#fitting(named, invoice, line, "party");
    if (byTicket.length > 0) return { by: "ticket number", tickets: byTicket };
    const loaded = line.bol === null ? [] : (bol.get(fold(line.bol)) ?? []);
    const byBol = this.#fitting(
      loaded,
      invoice,
      line,
      invoice.direction === "sale" ? "party" : "any",
    );
    if (byBol.length > 0) return { by: "bill of lading", tickets: byBol };
    const ordered = invoice.order === null ? [] : (order.get(invoice.order) ?? []);
    const byOrder = this.#fitting(ordered, invoice, line, "product");
    return byOrder.length > 0
      ? { by: "order and product", tickets: byOrder }
      : { by: null, tickets: [] };
  }

  /**
   * Those of another party are none. A supplier's bill is about the truck that we deliver with, too: its bill of lading is on
   * our ticket. Where several are left, those with the product.
   */
  #fitting(
    seqs: readonly Seq[],
    { direction, party }: Invoice,
    { product }: InvoiceLine,
    what: "party" | "any" | "product",
  ): Seq[] {
    const found = seqs.flatMap((seq) => {
      const ticket = this.#ticket(seq);
      const other = direction === "sale" ? ticket.receiver : ticket.supplier;
      const isTheirs = what === "any" || other === null || party === "" || other === party;
      const has =
        product === null ||
        ticket.lines.some(
          (line) => this.#names.product(line.product) === this.#names.product(product),
        );
      return isTheirs && (has || what !== "product") ? [{ seq, has }] : [];
    });
    const exact = found.filter(({ has }) => has);
    return (found.length > 1 && exact.length > 0 ? exact : found).map(({ seq }) => seq);
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

  #unite(one: Seq, other: Seq): void {
    this.#parent[this.#root(one)] = this.#root(other);
  }

  #case(members: readonly Seq[]): Case {
    const papers = members.map((seq) => ({ seq, paper: this.#paper(seq) }));
    const invoices = papers.filter(
      (one): one is { seq: Seq; paper: Invoice } => one.paper.kind === "invoice",
    );
    const tickets = papers.flatMap(({ paper }) => (paper.kind === "ticket" ? [paper] : []));
    const byKey = new Map(tickets.map((ticket) => [`ticket ${ticket.id}`, ticket]));
    const ticketsOf = (seqs: readonly Seq[]): Ticket[] =>
      seqs
        .flatMap((seq) => byKey.get(this.#keys[seq] ?? "") ?? [])
        .toSorted((one, other) => (one.id < other.id ? -1 : 1));
    const links = invoices.flatMap(({ seq, paper: invoice }) =>
      isLive(invoice)
        ? invoice.lines.flatMap((line, at): Link[] => {
            if (lineKind(line) !== "fuel") return [];
            const guess = this.#guesses.get(`${seq} ${at}`);
            if (guess !== undefined)
              return [{ invoice, line, at, by: GUESS, tickets: ticketsOf([guess]) }];
            const { by, tickets } = this.#find(invoice, line);
            return [{ invoice, line, at, by, tickets: ticketsOf(tickets) }];
          })
        : [],
    );
    return {
      orders: papers.flatMap(({ paper }) => (paper.kind === "order" ? [paper] : [])),
      tickets,
      invoices: invoices.map(({ paper }) => paper),
      links,
    };
  }
}

const bitOf = (direction: Direction): number => (direction === "sale" ? 1 : 2);

const numberOf = (paper: AnyPaper): string =>
  `${paper.kind} ${paper.kind === "invoice" ? paper.direction : ""} ${fold(paper.number)}`;

/** By what two bills are of one load though no ticket of it is here; null: the line names nothing. */
export function paperless({ direction, party }: Invoice, line: InvoiceLine): string | null {
  const name = line.bol ?? line.ticket;
  return name === null ? null : `${direction} ${party} ${fold(name)}`;
}

/** Of the nearer of both bases. */
function offBy({ gross, net }: TicketLine, gallons: Decimal): Decimal {
  const [first, second] = [gross, net].flatMap((one) => {
    const value = decimal(one);
    return value === null ? [] : [value.minus(gallons).abs()];
  });
  if (first === undefined) return gallons.abs();
  return second === undefined || first.compare(second) <= 0 ? first : second;
}

/** Adds to the list of a key. */
export function push<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
