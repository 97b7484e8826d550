/** One case as the rules see it: what is billed and what was delivered, by direction, load and product; and what was found. */
import { Decimal } from "../core/decimal.ts";
import { sha256 } from "../core/keys.ts";
import { type Case, GUESS, type JoinedLine, type Names, paperless } from "./join.ts";
import {
  type AnyPaper,
  type Day,
  type Direction,
  type Invoice,
  isLive,
  type Order,
  type OrderLine,
  type Ticket,
  type TicketLine,
} from "./papers.ts";
import type { Basis, Reference } from "./reference.ts";

export interface MatchSettings {
  /** The company's day of an instant, and today. */
  readonly dayOf: (instant: string) => Day;
  readonly today: Day;
  /** Both included: invoices of these days are judged, and deliveries of them. */
  readonly from: Day;
  readonly to: Day;
  /** Billed and delivered gallons may differ by the larger of both. */
  readonly tolerancePercent: Decimal;
  readonly toleranceGallons: Decimal;
  /** What was agreed with a party (its name in the configuration may be the id or the code); null: what is usual counts. */
  readonly basis: (party: string) => Basis | null;
  /** How many days a paper may be late. */
  readonly patienceDays: number;
  /** Working days after which a delivery should be billed. */
  readonly unbilledDays: number;
  /** The price before the one that was in force at delivery counts, too: it was loaded the evening before. */
  readonly pricesBefore: boolean;
  /** What people have accepted: the digest of each finding by its key. It is not told again. */
  readonly accepted: ReadonlyMap<string, string>;
}

/** One difference between papers, with what it comes to. */
export interface Finding {
  /** The same difference has the same key in every run. */
  readonly key: string;
  /** Of both sides' values: what a person accepts is exactly these. */
  readonly digest: string;
  readonly rule: string;
  readonly certainty: "certain" | "probable";
  readonly direction: Direction;
  /** The party's id, and what people call it. */
  readonly party: string;
  readonly partyName: string;
  readonly day: Day;
  /** As people find them. */
  readonly papers: readonly Pick<AnyPaper, "kind" | "id" | "number">[];
  /** Which values were compared. */
  readonly compared: string;
  readonly billed: string | null;
  readonly expected: string | null;
  /** Billed less expected, digits; null: it is not about gallons. */
  readonly gallons: string | null;
  /** Money in the company's currency, without a sign; null: it cannot be told, or it comes to nothing. */
  readonly amount: string | null;
  /** Who is owed it; null: nobody, it only has to be looked at. */
  readonly favour: "us" | "them" | null;
  /** How the papers were joined. */
  readonly joined: string;
  readonly cause: string;
  readonly next: string;
}

/** Fuel of one product in one load: what was billed of it in a direction, and what was delivered. */
export interface Group {
  readonly direction: Direction;
  /** Of one load all groups have the same. */
  readonly load: string;
  readonly product: string;
  readonly lines: readonly JoinedLine[];
  readonly tickets: readonly Ticket[];
  /** The lines of its tickets with this product. */
  readonly delivered: readonly TicketLine[];
  readonly orders: readonly Order[];
  readonly ordered: readonly OrderLine[];
  /** The orders name another product, and only the gallons say that it is this one. */
  readonly isOrderGuess: boolean;
}

/** What a rule looks at: whose it is, of which day, what it is called and which papers are about it. */
export interface Subject extends Pick<Finding, "direction" | "party" | "day"> {
  /** Beside the rule's name it makes the key of a finding. */
  readonly about: string;
  readonly papers: readonly AnyPaper[];
  readonly joined?: string;
}

/** What differs; what is left out is the subject's and the rule's. */
export interface Difference extends Partial<Subject> {
  /** Another name than the rule's own. */
  readonly name?: string;
  readonly isCertain: boolean;
  readonly compared?: string;
  readonly billed?: Decimal | string | null;
  readonly expected?: Decimal | string | null;
  readonly gallons?: Decimal | null;
  /** What was billed too much, in money; negative: too little. Null: it cannot be told. */
  readonly over?: Decimal | null;
  /** Nobody is owed it. */
  readonly isNeutral?: boolean;
  readonly cause: string;
  readonly next?: string | undefined;
}

export class Situation {
  readonly case: Case;
  readonly names: Names;
  readonly reference: Reference;
  readonly settings: MatchSettings;
  readonly groups: readonly Group[];
  /** Invoices whose fuel is credited whole, and those that credit it. */
  readonly reversed: ReadonlySet<Invoice>;
  /** `rule`: its name and the direction. */
  readonly findings: { readonly rule: string; readonly finding: Finding }[] = [];
  /** How often each rule compared, and found differences, in all cases so far. */
  readonly counts: Map<string, { compared: number; differing: number }>;
  /** What an earlier rule has explained: later ones do not tell it again. */
  readonly explained = new Set<JoinedLine | Group>();
  readonly priced = new Set<JoinedLine>();
  /** Something waits for a paper that is not here yet. */
  waits = false;
  /** Lines of tickets that the table of volume corrections does not cover. */
  beyondTable = 0;

  constructor(
    one: Case,
    names: Names,
    reference: Reference,
    settings: MatchSettings,
    counts: Situation["counts"],
  ) {
    this.case = one;
    this.counts = counts;
    this.names = names;
    this.reference = reference;
    this.settings = settings;
    const credited = new Set<JoinedLine>();
    this.groups = groupsOf(one, names, credited);
    const fuel = one.lines.filter(({ kind }) => kind === "fuel");
    const kept = new Set(fuel.flatMap((line) => (credited.has(line) ? [] : line.invoice)));
    this.reversed = new Set(
      [...credited].flatMap(({ invoice }) => (kept.has(invoice) ? [] : invoice)),
    );
  }

  /** What a rule has found of a subject, which may be nothing. */
  judged(rule: string, title: string, subject: Subject, found: readonly Difference[]): void {
    const key = `${rule} ${subject.direction}`;
    const count = this.counts.get(key) ?? { compared: 0, differing: 0 };
    this.counts.set(key, count);
    count.compared++;
    if (found.length > 0) count.differing++;
    for (const one of found) this.#tell(key, { ...subject, name: rule, compared: title, ...one });
  }

  #tell(rule: string, told: Difference & Subject & { name: string; compared: string }): void {
    const { name, direction, party, day, compared, cause, over = null } = told;
    // What is billed too much is owed to who pays.
    const toUs = direction === "purchase" ? over : (over?.negated() ?? null);
    const isMoney = toUs !== null && toUs.round(2).sign !== 0;
    const isOwed = isMoney && told.isNeutral !== true;
    const [billed, expected] = [shown(told.billed), shown(told.expected)];
    const amount = isMoney ? toUs.abs().round(2).fixed(2) : null;
    const papers = told.papers.map(({ kind, id, number }) => ({ kind, id, number }));
    const values = [name, [billed, expected, amount ?? ""], papers.map(({ id }) => id)];
    const finding: Finding = {
      key: `${name} ${told.about}`,
      digest: sha256(JSON.stringify(values)).slice(0, 22),
      rule: name,
      certainty: told.isCertain ? "certain" : "probable",
      direction,
      party,
      partyName: this.reference.party(party),
      day,
      papers,
      compared,
      billed,
      expected,
      gallons: shown(told.gallons?.round(2)),
      amount,
      favour: isOwed ? (toUs.sign > 0 ? "us" : "them") : null,
      joined: told.joined ?? "",
      cause,
      next: told.next ?? DISPUTE[direction],
    };
    this.findings.push({ rule, finding });
  }

  tolerance(gallons: Decimal): Decimal {
    const { tolerancePercent, toleranceGallons } = this.settings;
    return larger(gallons.abs().times(tolerancePercent).times(CENT), toleranceGallons);
  }

  /** Is it long enough ago that a paper which is not here will not come by itself? */
  isPatienceOver(day: Day): boolean {
    const { today, patienceDays } = this.settings;
    return Date.parse(today) - Date.parse(day) > patienceDays * 86_400_000;
  }

  /** May a paper of this day still come? Then something waits for it. */
  mayCome(day: Day): boolean {
    this.waits ||= !this.isPatienceOver(day);
    return !this.isPatienceOver(day);
  }

  isIn(day: Day): boolean {
    return day >= this.settings.from && day <= this.settings.to;
  }

  /** Of the days that are asked for, those that no earlier rule has put aside. */
  linesOf({ lines }: Group): JoinedLine[] {
    return lines.filter((one) => !this.explained.has(one) && this.isIn(one.invoice.day));
  }

  isSame(one: string, other: string): boolean {
    return this.names.product(one) === this.names.product(other);
  }
}

/** What a person does about it, by who has billed. */
const DISPUTE = {
  purchase: "Dispute it with the supplier, with both papers.",
  sale: "Credit the customer, or bill the rest.",
} as const;

export const CENT = Decimal.of("0.01");

const shown = (value: Decimal | string | null | undefined): string | null =>
  value instanceof Decimal ? value.plain() : (value ?? null);

export const lineKey = ({ invoice, at }: JoinedLine): string => `${invoice.id} ${at}`;

export const isSure = ({ by }: JoinedLine): boolean => by !== null && by !== GUESS;

/** The sum; null: one of them is not told, or there is none. */
export function sumOf(values: readonly (Decimal | null | undefined)[]): Decimal | null {
  let sum = values[0] ?? null;
  for (const one of values.slice(1)) sum = (one && sum?.plus(one)) ?? null;
  return sum;
}

export const larger = (one: Decimal, other: Decimal): Decimal =>
  one.compare(other) > 0 ? one : other;

export const isNear = (one: Decimal, other: Decimal, by: Decimal): boolean =>
  one.isWithin(by, other);

/** `credited`: takes the lines that are taken back, and those that do it. */
function groupsOf({ lines, orders }: Case, names: Names, credited: Set<JoinedLine>): Group[] {
  const fuel = lines.filter(({ kind }) => kind === "fuel");
  const loadOf = loadsIn(fuel);
  type Made = Pick<Group, "direction" | "load" | "product" | "tickets"> & { lines: JoinedLine[] };
  const made = new Map<string, Made>();
  for (const one of fuel) {
    const { load, tickets } = loadOf(one);
    const { direction } = one.invoice;
    const carried = tickets.flatMap((ticket) =>
      ticket.lines.map(({ product }) => names.product(product)),
    );
    const only = new Set(carried).size === 1 ? carried[0] : undefined;
    const named = one.line.product === null ? (only ?? "") : names.product(one.line.product);
    // What of a load was delivered is a group, too, where it is on no line of the bill that is about it.
    for (const product of new Set([named, ...carried])) {
      const key = `${direction} ${load} ${product}`;
      const group = made.get(key) ?? { direction, load, product, tickets, lines: [] };
      made.set(key, group);
      if (product === named) group.lines.push(one);
    }
  }
  return [...made.values()].map((billed) => {
    const group = { ...billed, lines: netOfCredits(billed.lines, credited) };
    const isIt = (line: { product: string }): boolean =>
      names.product(line.product) === group.product;
    const papers = [...group.lines.map(({ invoice }) => invoice), ...group.tickets];
    const own = orders.filter((one) => isLive(one) && papers.some(({ order }) => order === one.id));
    const exact = own.flatMap((order) => order.lines.filter(isIt));
    return {
      ...group,
      delivered: group.tickets.flatMap((ticket) => ticket.lines.filter(isIt)),
      orders: own,
      ordered: exact.length > 0 ? exact : nearIn(own, group.lines),
      isOrderGuess: exact.length === 0,
    };
  });
}

const worthOf = ({ line: { amount, gallons, rate } }: JoinedLine): Decimal =>
  amount ?? (rate && gallons?.times(rate).round(2)) ?? Decimal.zero;

/** Without lines that a credit takes back whole; a credit by the gallon changes the rate of the line that it is about. */
function netOfCredits(lines: JoinedLine[], credited: Set<JoinedLine>): JoinedLine[] {
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
function nearIn(orders: readonly Order[], lines: readonly JoinedLine[]): OrderLine[] {
  const billed = sumOf(lines.map(({ line }) => line.gallons));
  if (billed === null) return [];
  const share = billed.abs().times(Decimal.of("0.02"));
  const near = orders
    .flatMap((order) => order.lines)
    .filter(({ gallons }) => gallons !== null && isNear(gallons, billed, share));
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
  return (one: JoinedLine): { load: string; tickets: Ticket[] } => {
    const root = one.tickets[0] && rootOf(one.tickets[0].id);
    const load =
      root ??
      paperless(one.invoice, one.line.bolNumber, one.line.deliveryTicket) ??
      `line ${lineKey(one)}`;
    return { load, tickets: members.get(load) ?? [] };
  };
}
