/** One case as the rules see it: what is billed and what was delivered, by direction, load and product; and what was found. */
import { Decimal } from "../core/decimal.ts";
import { sha256 } from "../core/keys.ts";
import { type Case, GUESS, type Link, type Names, paperless } from "./join.ts";
import {
  type Day,
  decimal,
  type Digits,
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
  /** The company's day today. */
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

type Certainty = "certain" | "probable";

/** A paper as people find it. */
interface PaperName {
  readonly kind: "order" | "ticket" | "invoice";
  readonly id: string;
  readonly number: string;
}

/** One difference between papers, with what it comes to. */
export interface Finding {
  /** The same difference has the same key in every run. */
  readonly key: string;
  /** Of both sides' values: what a person accepts is exactly these. */
  readonly digest: string;
  readonly rule: string;
  readonly certainty: Certainty;
  readonly direction: Direction;
  /** The party's id, and what people call it. */
  readonly party: string;
  readonly partyName: string;
  readonly day: Day;
  readonly papers: readonly PaperName[];
  /** Which values were compared. */
  readonly compared: string;
  readonly billed: string | null;
  readonly expected: string | null;
  /** Billed less expected, digits; null: it is not about gallons. */
  readonly gallons: string | null;
  /** Money in the company's currency, without a sign; null: it cannot be told. */
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
  readonly key: string;
  readonly direction: Direction;
  readonly product: string;
  readonly links: readonly Link[];
  readonly tickets: readonly Ticket[];
  readonly lines: readonly { readonly ticket: Ticket; readonly line: TicketLine }[];
  readonly orders: readonly Order[];
  readonly ordered: readonly OrderLine[];
  /** The orders name another product, and only the gallons say that it is this one. */
  readonly isOrderGuess: boolean;
}

/** What a rule tells; the rest of a finding follows from it. */
interface Told {
  readonly direction: Direction;
  readonly party: string;
  readonly day: Day;
  /** What it is about beside the rule: it makes the key. */
  readonly about: string;
  readonly papers: readonly (Order | Ticket | Invoice)[];
  readonly isCertain: boolean;
  readonly compared: string;
  readonly billed?: Decimal | string | null;
  readonly expected?: Decimal | string | null;
  readonly gallons?: Decimal | null;
  /** What was billed too much, in money; negative: too little. Null: it cannot be told. */
  readonly over?: Decimal | null;
  /** Nobody is owed it. */
  readonly isNeutral?: boolean;
  readonly joined?: string;
  readonly cause: string;
  readonly next: string;
}

const shown = (value: Decimal | string | null | undefined): string | null =>
  value instanceof Decimal ? value.plain() : (value ?? null);

const money = (value: Decimal): string => value.abs().round(2).fixed(2);

export class Situation {
  readonly case: Case;
  readonly names: Names;
  readonly reference: Reference;
  readonly settings: MatchSettings;
  readonly groups: readonly Group[];
  readonly findings: Finding[] = [];
  /** How often each rule compared, and found a difference: `rule direction`. */
  readonly counts = new Map<string, { compared: number; differing: number }>();
  /** What an earlier rule has explained: later ones do not tell it again. */
  readonly explained = new Set<string>();
  /** Something waits for a paper that is not here yet. */
  waits = false;

  constructor(one: Case, names: Names, reference: Reference, settings: MatchSettings) {
    this.case = one;
    this.names = names;
    this.reference = reference;
    this.settings = settings;
    this.groups = groupsOf(one, names);
  }

  /** A comparison was made. */
  compared(rule: string, direction: Direction): void {
    this.#count(rule, direction).compared++;
  }

  tell(rule: string, told: Told): void {
    this.#count(rule, told.direction).differing++;
    const over = told.over ?? null;
    // What is billed too much is owed to who pays.
    const toUs = told.direction === "purchase" ? over : (over?.negated() ?? null);
    const isOwed = told.isNeutral !== true && toUs !== null && toUs.round(2).sign !== 0;
    const values = [shown(told.billed), shown(told.expected), over === null ? "" : money(over)];
    const papers = told.papers.map(({ kind, id, number }) => ({ kind, id, number }));
    this.findings.push({
      key: `${rule} ${told.about}`,
      digest: sha256(JSON.stringify([rule, values, papers.map(({ id }) => id)])).slice(0, 22),
      rule,
      certainty: told.isCertain ? "certain" : "probable",
      direction: told.direction,
      party: told.party,
      partyName: this.reference.party(told.party),
      day: told.day,
      papers,
      compared: told.compared,
      billed: values[0] ?? null,
      expected: values[1] ?? null,
      gallons: told.gallons === undefined ? null : shown(told.gallons?.round(2)),
      amount: over === null ? null : money(over),
      favour: isOwed ? (toUs.sign > 0 ? "us" : "them") : null,
      joined: told.joined ?? "",
      cause: told.cause,
      next: told.next,
    });
  }

  #count(rule: string, direction: Direction): { compared: number; differing: number } {
    const key = `${rule} ${direction}`;
    const count = this.counts.get(key) ?? { compared: 0, differing: 0 };
    this.counts.set(key, count);
    return count;
  }

  tolerance(gallons: Decimal): Decimal {
    const { tolerancePercent, toleranceGallons } = this.settings;
    const share = gallons.abs().times(tolerancePercent).times(Decimal.of("0.01"));
    return share.compare(toleranceGallons) > 0 ? share : toleranceGallons;
  }

  /** Is it long enough ago that a paper which is not here will not come by itself? */
  isPatienceOver(day: Day): boolean {
    const { today, patienceDays } = this.settings;
    return Date.parse(today) - Date.parse(day) > patienceDays * DAY_MS;
  }

  isIn(day: Day): boolean {
    return day >= this.settings.from && day <= this.settings.to;
  }

  /** Those that no earlier rule has put aside, in the days that are asked for. */
  linksOf(group: Group): Link[] {
    return group.links.filter(
      (link) => !this.explained.has(`line ${lineKey(link)}`) && this.isIn(link.invoice.day),
    );
  }
}

const DAY_MS = 86_400_000;

export const lineKey = ({ invoice, at }: Link): string => `${invoice.id} ${at}`;

export const isSure = ({ by }: Link): boolean => by !== null && by !== GUESS;

/** The sum; null: one of them is not told, or there is none. */
export function sumOf(values: readonly Digits[]): Decimal | null {
  const all = values.map(decimal);
  return all.length === 0 || all.includes(null) ? null : Decimal.sum(all as Decimal[]);
}

export const joinedBy = (links: readonly Link[]): string =>
  [...new Set(links.map(({ by }) => by ?? "nothing"))].join(", ");

function groupsOf({ links, orders }: Case, names: Names): Group[] {
  const loads = loadsOf(links);
  const made = new Map<string, { first: Link; links: Link[]; tickets: Ticket[] }>();
  for (const link of links) {
    const load = loads(link);
    const only = new Set(load.tickets.flatMap((one) => one.lines.map((line) => line.product)));
    const named = link.line.product ?? (only.size === 1 ? [...only][0] : "") ?? "";
    const key = [link.invoice.direction, load.key, names.product(named)].join("\n");
    const group = made.get(key);
    if (group === undefined) made.set(key, { first: link, links: [link], tickets: load.tickets });
    else group.links.push(link);
  }
  // What of a load was delivered and is on no line of the bill that is about it.
  for (const [key, { first, tickets }] of made)
    for (const product of new Set(
      tickets.flatMap(({ lines }) => lines.map((line) => names.product(line.product))),
    )) {
      const other = key.slice(0, key.lastIndexOf("\n") + 1) + product;
      if (!made.has(other)) made.set(other, { first, links: [], tickets });
    }
  return [...made].map(([key, { first, links, tickets }]) => {
    const product = key.slice(key.lastIndexOf("\n") + 1);
    const lines = tickets.flatMap((ticket) =>
      ticket.lines
        .filter((line) => names.product(line.product) === product)
        .map((line) => ({ ticket, line })),
    );
    const named = new Set([
      ...links.map(({ invoice }) => invoice.order),
      ...tickets.map(({ order }) => order),
    ]);
    const own = orders.filter((order) => named.has(order.id) && isLive(order));
    const exact = own.flatMap((order) =>
      order.lines.filter((line) => names.product(line.product) === product),
    );
    const near = exact.length > 0 ? exact : nearIn(own, links);
    return {
      key,
      direction: first.invoice.direction,
      product,
      links,
      tickets,
      lines,
      orders: own,
      ordered: near,
      isOrderGuess: exact.length === 0,
    };
  });
}

/** Somebody typed the product: the one line of the orders with these gallons. */
function nearIn(orders: readonly Order[], links: readonly Link[]): OrderLine[] {
  const billed = sumOf(links.map(({ line }) => line.gallons));
  if (billed === null) return [];
  const share = billed.abs().times(Decimal.of("0.02"));
  const near = orders
    .flatMap(({ lines }) => lines)
    .filter((line) => {
      const ordered = decimal(line.gallons);
      return ordered !== null && ordered.minus(billed).abs().compare(share) <= 0;
    });
  return near.length === 1 ? near : [];
}

/** Tickets that one line is about together are one load; a line without a ticket is one with those that name the same bill of lading. */
function loadsOf(links: readonly Link[]) {
  const tickets = new Map<string, Ticket>();
  const parent = new Map<string, string>();
  const rootOf = (id: string): string => {
    const up = parent.get(id) ?? id;
    return up === id ? id : rootOf(up);
  };
  for (const link of links)
    for (const ticket of link.tickets) {
      tickets.set(ticket.id, ticket);
      parent.set(rootOf(ticket.id), rootOf(link.tickets[0]?.id ?? ticket.id));
    }
  const members = Map.groupBy(tickets.values(), ({ id }) => rootOf(id));
  return (link: Link): { key: string; tickets: Ticket[] } => {
    const [first] = link.tickets;
    if (first === undefined)
      return { key: paperless(link.invoice, link.line) ?? `line ${lineKey(link)}`, tickets: [] };
    const root = rootOf(first.id);
    return { key: root, tickets: members.get(root) ?? [] };
  };
}

export const isNear = (one: Decimal, other: Decimal, by: Decimal): boolean =>
  one.minus(other).abs().compare(by) <= 0;

/** What a person does about it, by who has billed. */
export const dispute = (direction: Direction): string =>
  direction === "purchase"
    ? "Dispute it with the supplier, with both papers."
    : "Credit the customer, or bill the rest.";

export const papersOf = (links: readonly Link[], tickets: readonly Ticket[]) => [
  ...new Set(links.map(({ invoice }) => invoice)),
  ...tickets,
];

export const headOf = ({ invoice }: Link) => ({
  direction: invoice.direction,
  party: invoice.party,
  day: invoice.day,
});
