/**
 * Which papers belong together: a line of an invoice finds its ticket by the ticket's number, by the bill of lading, by the
 * order and the product, and last by party, product, day and gallons, which is a guess. What is connected is one case; every
 * paper is in exactly one, and the order in which they came changes nothing. A month has 300,000 papers: what joins them is kept,
 * and each case is read again.
 */
import { Decimal } from "../core/decimal.ts";
import {
  type AnyPaper,
  type Day,
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

/** What is kept of a ticket, of an invoice and of its lines until they are joined. */
interface TicketFacts extends Pick<Ticket, "supplier" | "receiver" | "day" | "order"> {
  readonly seq: Seq;
  readonly products: readonly string[];
}
interface InvoiceFacts extends Pick<Invoice, "direction" | "party" | "order"> {
  readonly seq: Seq;
  lines: readonly LineFacts[];
}
interface LineFacts extends Pick<JoinedLine, "at" | "kind"> {
  readonly invoice: InvoiceFacts;
  readonly ticket: string;
  readonly bol: string;
  readonly product: string | null;
  /** When it was delivered; empty: it does not say. */
  readonly day: Day;
}
type OpenLine = readonly [seq: Seq, day: Day, line: TicketLine, isNumbered: boolean];

export class Papers {
  readonly #names: Names;
  readonly #again: (seq: Seq) => AnyPaper | null;
  readonly #keys: string[] = [];
  readonly #known = new Map<string, Seq>();
  /** By the places of invoices. */
  readonly #invoices: (InvoiceFacts | undefined)[] = [];
  readonly #tickets: TicketFacts[] = [];
  readonly #by = {
    ticket: new Map<string, TicketFacts[]>(),
    bol: new Map<string, TicketFacts[]>(),
    order: new Map<string, TicketFacts[]>(),
  };
  /** Kinds and folded numbers of papers, made when those come that were sent. */
  #numbers: Set<string> | null = null;
  #parent = new Int32Array(0);
  readonly #guesses = new Map<LineFacts, Seq>();
  /** Keys of papers that were others when they were read again: their cases are left to the next run. */
  readonly changed = new Set<string>();

  /** `again`: a paper by its place, as it came; null: it is another one by now. */
  constructor(names: Names, again: (seq: Seq) => AnyPaper | null) {
    this.#names = names;
    this.#again = again;
  }

  /**
   * False: it is there already by its kind and id, and stays as it came first. `isSent`: as we sent it, without an id of the
   * platform; left out where the platform's own record of it is here.
   */
  add(paper: AnyPaper, isSent: boolean): boolean {
    // Joined, it is one text: a template's would keep its parts as well.
    const key = [paper.kind, paper.id].join(" ");
    if (isSent) this.#numbers ??= new Set(this.#keys.map((_, seq) => numberOf(this.#again(seq))));
    if (this.#known.has(key) || (isSent && this.#numbers?.has(numberOf(paper)))) return false;
    const seq = this.#keys.push(key) - 1;
    this.#known.set(key, seq);
    this.#numbers?.add(numberOf(paper));
    if (!isLive(paper)) return true;
    if (paper.kind === "invoice") this.#addInvoice(paper, seq);
    if (paper.kind === "ticket") this.#addTicket(paper, seq);
    return true;
  }

  #addInvoice({ direction, party, order, lines }: Invoice, seq: Seq): void {
    const invoice: InvoiceFacts = { seq, direction, party: kept(party), order, lines: [] };
    const facts = lines.map((line, at): LineFacts | null => {
      const kind = lineKind(line);
      if (kind !== "fuel" && kind !== "freight") return null;
      const [ticket, bol] = [spelling(line.deliveryTicket ?? ""), spelling(line.bolNumber ?? "")];
      const product = line.product === null ? null : kept(line.product);
      const day = kept(line.deliveredDate?.slice(0, 10) ?? "");
      return { invoice, at, kind, ticket, bol, product, day };
    });
    // A copy has no room to grow: there are many.
    invoice.lines = facts.filter((line) => line !== null).slice();
    this.#invoices[seq] = invoice;
  }

  #addTicket({ number, bols, order, supplier, receiver, day, lines }: Ticket, seq: Seq): void {
    const products = lines.map(({ product }) => kept(product));
    const parties = { supplier: supplier && kept(supplier), receiver: receiver && kept(receiver) };
    const ticket = { seq, order, ...parties, day: kept(day), products };
    this.#tickets.push(ticket);
    push(this.#by.ticket, spelling(number), ticket);
    for (const bol of new Set(bols.map(spelling))) push(this.#by.bol, bol, ticket);
    push(this.#by.order, order ?? "", ticket);
  }

  /** Each case once, in the order of its papers' ids. `undefined` is a pause. */
  *cases(): Generator<Case | undefined> {
    const sorted = this.#keys.map((_, seq) => seq);
    sorted.sort((one, other) => this.#keyOrder(one, other));
    yield* this.#connect(sorted);
    const members = new Map<Seq, Seq[]>();
    for (const seq of sorted) push(members, this.#root(seq), seq);
    for (const one of members.values()) yield this.#case(one);
  }

  *#connect(sorted: readonly Seq[]): Generator<undefined> {
    this.#parent = Int32Array.from(sorted, (_, seq) => seq);
    /** Tickets that a line was found for, by direction. */
    const taken = { sale: new Set<Seq>(), purchase: new Set<Seq>() };
    const loose: LineFacts[] = [];
    const billed = new Map<string, Seq>();
    const all = [...this.#tickets, ...this.#invoices.filter((one) => one !== undefined)];
    for (const { seq, order } of all) this.#unite(seq, this.#known.get(`order ${order}`) ?? seq);
    for (const [steps, seq] of sorted.entries()) {
      if (steps % STEP === 0) yield undefined;
      for (const line of this.#invoices[seq]?.lines ?? []) {
        const { tickets } = this.#find(line);
        for (const ticket of tickets) this.#unite(seq, ticket.seq);
        if (line.kind === "freight") continue;
        for (const ticket of tickets) taken[line.invoice.direction].add(ticket.seq);
        if (tickets.length > 0) continue;
        loose.push(line);
        const key = paperless(line.invoice, line.bol, line.ticket);
        if (key === null) continue;
        this.#unite(seq, billed.get(key) ?? seq);
        billed.set(key, seq);
      }
    }
    if (loose.length > 0) yield* this.#guess(loose, taken);
  }

  /** Of a line that names no ticket which is here: the nearest ticket that no line names, each once. */
  *#guess(
    loose: readonly LineFacts[],
    taken: Readonly<Record<Direction, ReadonlySet<Seq>>>,
  ): Generator<undefined> {
    const open = new Map<string, OpenLine[]>();
    const keyOf = (direction: Direction, party: string, product: string): string =>
      `${direction} ${party} ${this.#names.product(product)}`;
    const byId = this.#tickets.toSorted((one, other) => this.#keyOrder(one.seq, other.seq));
    for (const { seq, day, supplier, receiver } of byId) {
      const parties = { sale: receiver, purchase: supplier };
      for (const direction of ["sale", "purchase"] as const) {
        const party = parties[direction];
        if (party === null || taken[direction].has(seq)) continue;
        const ticket = this.#again(seq) as Ticket | null;
        const { number = "", bols = [], lines = [] } = ticket ?? {};
        const isNumbered = spelling(number) !== "" && bols.some(spelling);
        for (const line of lines)
          push(open, keyOf(direction, party, line.product), [seq, day, line, isNumbered]);
        yield undefined;
      }
    }
    for (const one of loose) {
      const { seq, direction, party } = one.invoice;
      const invoice = this.#again(seq) as Invoice | null;
      const { gallons = null, deliveredDate = null } = invoice?.lines[one.at] ?? {};
      if (invoice === null || one.product === null || gallons === null) continue;
      const among = open.get(keyOf(direction, party, one.product)) ?? [];
      const dayMs = Date.parse(deliveredDate?.slice(0, 10) ?? invoice.day);
      const most = gallons.abs().times(GUESS_SHARE);
      const [best] = among
        // One number may be misspelled: a line that names two others than the ticket's is about another load.
        .filter(([, , , isNumbered]) => !isNumbered || one.ticket === "" || one.bol === "")
        .filter(([, day]) => Math.abs(Date.parse(day) - dayMs) <= GUESS_MS)
        .map((it) => ({ it, off: offBy(it[2], gallons) }))
        .filter(({ off }) => off.compare(most) <= 0)
        .toSorted((first, other) => first.off.compare(other.off));
      if (best === undefined) continue;
      among.splice(among.indexOf(best.it), 1);
      this.#guesses.set(one, best.it[0]);
      this.#unite(seq, best.it[0]);
    }
  }

  #keyOrder(one: Seq, other: Seq): number {
    return (this.#keys[one] ?? "") < (this.#keys[other] ?? "") ? -1 : 1;
  }

  /** The tickets of a line by what it names. Those that deliver are another party than those that bill the freight. */
  #find(line: LineFacts): { by: JoinedBy | null; tickets: readonly TicketFacts[] } {
    const { direction, order } = line.invoice;
    const isFuel = line.kind === "fuel";
    // A supplier's bill is about the truck that we deliver with, too: its bill of lading is on our ticket.
    const tries = [
      ["ticket number", this.#by.ticket, line.ticket, isFuel ? "party" : "any"],
      ["bill of lading", this.#by.bol, line.bol, isFuel && direction === "sale" ? "party" : "any"],
      ["order and product", this.#by.order, order ?? "", isFuel ? "product" : "any"],
    ] as const;
    for (const [by, known, name, whom] of tries) {
      const named = name === "" ? undefined : known.get(name);
      const tickets = named === undefined ? [] : this.#fitting(named, line, whom);
      if (tickets.length > 0) return { by, tickets };
    }
    return { by: null, tickets: [] };
  }

  /** Those of another party are none. Where several are left, those with the product, and of its days. */
  #fitting(
    named: readonly TicketFacts[],
    { product, day, invoice: { direction, party } }: LineFacts,
    whom: "party" | "any" | "product",
  ): readonly TicketFacts[] {
    const name = product === null ? null : this.#names.product(product);
    const isIt = ({ products }: TicketFacts): boolean =>
      name === null || products.some((one) => this.#names.product(one) === name);
    const theirs = named.filter(({ supplier, receiver }) => {
      const other = direction === "sale" ? receiver : supplier;
      return whom === "any" || other === null || party === "" || other === party;
    });
    const exact = theirs.filter(isIt);
    const all = exact.length > 0 || whom === "product" ? exact : theirs;
    // Numbers come again after some time.
    const near = all.filter((one) => Math.abs(Date.parse(one.day) - Date.parse(day)) <= GUESS_MS);
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

  #unite(one: Seq, other: Seq): void {
    this.#parent[this.#root(one)] = this.#root(other);
  }

  #case(members: readonly Seq[]): Case | undefined {
    const papers = new Map(members.map((seq) => [seq, this.#again(seq)]));
    const all = [...papers.values()].filter((paper) => paper !== null);
    if (all.length < members.length) {
      for (const seq of members) this.changed.add(this.#keys[seq] ?? "");
      return undefined;
    }
    const ofKind = <Kind extends AnyPaper["kind"]>(kind: Kind) =>
      all.filter((one): one is AnyPaper & { kind: Kind } => one.kind === kind);
    const joined = (facts: LineFacts): JoinedLine => {
      const { at, kind } = facts;
      const invoice = papers.get(facts.invoice.seq) as Invoice;
      const guess = this.#guesses.get(facts);
      const { by, tickets } =
        guess === undefined ? this.#find(facts) : { by: GUESS, tickets: [{ seq: guess }] };
      const own = tickets.map(({ seq }) => papers.get(seq) as Ticket);
      own.sort((one, other) => (one.id < other.id ? -1 : 1));
      return { kind, invoice, line: invoice.lines[at] as InvoiceLine, at, by, tickets: own };
    };
    return {
      orders: ofKind("order"),
      tickets: ofKind("ticket"),
      invoices: ofKind("invoice"),
      lines: members.flatMap((seq) => this.#invoices[seq]?.lines ?? []).map(joined),
    };
  }
}

/** Its kind and folded number; of one that has changed since, none. */
const numberOf = (paper: AnyPaper | null): string =>
  paper === null
    ? ""
    : `${paper.kind} ${"direction" in paper ? paper.direction : ""} ${fold(paper.number)}`;

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
export function paperless(
  { direction, party }: Pick<Invoice, "direction" | "party">,
  bol: string | null,
  ticket: string | null,
): string | null {
  const name = spelling(bol ?? "") || spelling(ticket ?? "");
  return name === "" ? null : `${direction} ${party} ${name}`;
}

/** Of the nearer of both bases. */
function offBy({ gross, net }: TicketLine, gallons: Decimal): Decimal {
  const offs = [gross, net].flatMap((one) => (one === null ? [] : [one.minus(gallons).abs()]));
  const [least = gallons.abs()] = offs.toSorted((one, other) => one.compare(other));
  return least;
}

/** Adds to the list of a key. */
export function push<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = map.get(key) ?? [];
  if (list.push(value) === 1) map.set(key, list);
}
