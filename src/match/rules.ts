/**
 * What is compared, one rule each, in this order: an earlier rule that explains a difference keeps the later ones from telling
 * it again. A rule reads papers and reference data, never what another rule has written.
 */
import { Decimal } from "../core/decimal.ts";
import type { Link } from "./join.ts";
import { type Day, decimal, type Direction, isLive, type Ticket } from "./papers.ts";
import { type Basis, statedBasis } from "./reference.ts";
import { freight, oldList, orderPrice, rackAndMargin, rackPrice, taxes } from "./charges.ts";
import {
  dispute,
  type Group,
  headOf,
  isNear,
  isSure,
  joinedBy,
  lineKey,
  papersOf,
  type Situation,
  sumOf,
} from "./situation.ts";
import { volumeCorrection } from "./volume.ts";

interface Rule {
  readonly name: string;
  /** What the comparison is called where it cannot be made. */
  readonly title: string;
  readonly find: (situation: Situation) => void;
}

const ONE = Decimal.of("1");
const DAY_MS = 86_400_000;

const nameOf = ({ invoice, line }: Link): string =>
  `invoice ${invoice.number}, ${line.product ?? line.text}`;
const gallonsOf = (links: readonly Link[]): Decimal | null =>
  sumOf(links.map(({ line }) => line.gallons));

/** What a gallon of these lines was billed at; null: no line says. */
function rateOf(links: readonly Link[]): Decimal | null {
  const [first] = links.flatMap(({ line }) => decimal(line.rate) ?? []);
  return first ?? null;
}

const delivered = (group: Group, basis: Basis): Decimal | null =>
  sumOf(group.lines.map(({ line }) => line[basis]));

/** The lines that are billed twice: without them the rest is what was delivered, or it is line for line the same. */
function billedTwice(situation: Situation): void {
  for (const group of situation.groups) {
    const links = situation.linksOf(group);
    const [first] = links;
    if (first === undefined) continue;
    situation.compared("billed-twice", group.direction);
    if (links.length < 2) continue;
    for (const link of doublesOf(situation, group, links)) {
      situation.explained.add(`line ${lineKey(link)}`);
      const gallons = decimal(link.line.gallons);
      const name = link.line.ticket ?? link.line.bol ?? "";
      situation.tell("billed-twice", {
        ...headOf(link),
        about: lineKey(link),
        papers: papersOf([link, ...links.filter((one) => one !== link)], group.tickets),
        isCertain: isSure(link) || group.tickets.length === 0,
        compared: "the same load on two lines",
        billed: gallons,
        expected: "once",
        gallons,
        over: decimal(link.line.amount),
        joined: joinedBy(links),
        cause: `The load ${name} is billed twice: again on ${nameOf(link)}.`,
        next: dispute(group.direction),
      });
    }
  }
}
const newestFirst = (one: Link, other: Link): number =>
  one.invoice.day === other.invoice.day
    ? one.invoice.number < other.invoice.number ||
      (one.invoice === other.invoice && one.at < other.at)
      ? 1
      : -1
    : one.invoice.day < other.invoice.day
      ? 1
      : -1;

function doublesOf(situation: Situation, group: Group, links: readonly Link[]): Link[] {
  const rest = links.toSorted(newestFirst);
  const doubles: Link[] = [];
  const values = [delivered(group, "net"), delivered(group, "gross")].filter((one) => one !== null);
  const isAll = (some: readonly Link[]): boolean => {
    const billed = gallonsOf(some);
    return (
      billed !== null &&
      values.some((one) => isNear(billed, one, situation.tolerance(one).plus(ONE)))
    );
  };
  while (rest.length > 1 && !isAll(rest)) {
    const found = rest.find((link) => isTwin(link, rest, values.length > 0));
    if (found === undefined) break;
    // Two compartments may hold the same: with a ticket, what is left must not be less than what was delivered.
    const left = rest.filter((link) => link !== found);
    const [billed, least] = [gallonsOf(left), values[0]];
    if (
      least !== undefined &&
      (billed === null || billed.plus(situation.tolerance(least)).compare(least) < 0)
    )
      break;
    doubles.push(found);
    rest.splice(rest.indexOf(found), 1);
  }
  return doubles;
}

/** Another line bills the same: on another invoice, or in every figure. */
const isTwin = (link: Link, among: readonly Link[], hasTicket: boolean): boolean =>
  among.some((other) => {
    const [one, two] = [link.line, other.line];
    if (other === link || one.gallons !== two.gallons) return false;
    if (other.invoice !== link.invoice || hasTicket) return true;
    return one.gross === two.gross && one.net === two.net && one.rate === two.rate;
  });

/** One product is billed and another one is on the ticket, and the gallons are the same. */
function wrongProduct(situation: Situation): void {
  for (const group of situation.groups) {
    const links = situation.linksOf(group);
    const [first] = links;
    const billed = gallonsOf(links);
    if (first === undefined || group.tickets.length === 0) continue;
    situation.compared("wrong-product", group.direction);
    if (group.lines.length > 0 || billed === null) continue;
    const other = situation.groups.find(
      (one) =>
        one.direction === group.direction &&
        one.tickets === group.tickets &&
        one.links.length === 0 &&
        (["net", "gross"] as const).some((basis) => {
          const there = delivered(one, basis);
          return there !== null && isNear(there, billed, situation.tolerance(there));
        }),
    );
    if (other === undefined) continue;
    for (const link of links) situation.explained.add(`line ${lineKey(link)}`);
    situation.explained.add(`group ${other.key}`);
    const [rate, right] = [rateOf(links), priceOf(other)];
    situation.tell("wrong-product", {
      ...headOf(first),
      about: lineKey(first),
      papers: [...papersOf(links, group.tickets), ...group.orders],
      isCertain: links.every(isSure),
      compared: "the product",
      billed: first.line.product,
      expected: other.lines[0]?.line.product ?? other.product,
      over: rate === null || right === null ? null : rate.minus(right).times(billed),
      joined: joinedBy(links),
      cause: `${first.line.product ?? "Another product"} is billed, ${other.lines[0]?.line.product ?? other.product} was delivered.`,
      next: dispute(group.direction),
    });
  }
}

/** What was agreed for a gallon; null: no order says. */
function priceOf({ direction, ordered }: Group): Decimal | null {
  const [first] = ordered.flatMap(
    (line) => decimal(direction === "sale" ? line.sell : line.buy) ?? [],
  );
  return first ?? null;
}

const other = (basis: Basis): Basis => (basis === "net" ? "gross" : "net");

/** Billed gallons beside those of the ticket, on the basis that was agreed, is usual, or that the line states. */
function quantity(situation: Situation): void {
  for (const group of situation.groups) {
    const links = situation.linksOf(group);
    const [first] = links;
    const billed = gallonsOf(links);
    if (first === undefined || billed === null || group.lines.length === 0) continue;
    const { party } = first.invoice;
    const agreed =
      situation.settings.basis(party) ?? situation.reference.usualBasis(group.direction, party);
    const wanted = agreed ?? statedBasis(first.line);
    const both = { net: delivered(group, "net"), gross: delivered(group, "gross") };
    const basis =
      wanted !== null && both[wanted] !== null ? wanted : both.net === null ? "gross" : "net";
    const ticket = both[basis];
    if (ticket === null) continue;
    situation.compared("quantity", group.direction);
    if (isNear(billed, ticket, situation.tolerance(ticket))) continue;
    const there = both[other(basis)];
    const isOther = there !== null && isNear(billed, there, rounding(links, there));
    // Nobody said on which basis: either is right.
    if (isOther && wanted !== basis) continue;
    const gallons = billed.minus(ticket);
    const rate = rateOf(links);
    const isSigned = group.tickets.every(({ status }) => status === "SIGNED");
    // A line that says itself that its gallons are what was agreed only happens to fit the other figure.
    const isOnOther = isOther && agreed !== null && statedBasis(first.line) !== basis;
    const name = isOnOther ? "wrong-basis" : "quantity";
    const ordered = sumOf(group.ordered.map((line) => line.gallons));
    const wide = situation.tolerance(ticket).times(Decimal.of("4"));
    // The order says that the ticket is about all of the load.
    const isWhole = [ticket, there].some(
      (one) => one !== null && ordered !== null && isNear(ordered, one, wide),
    );
    const isOwn =
      group.direction === "sale" || group.tickets.every(({ supplier }) => supplier === party);
    const isStated = situation.settings.basis(party) !== null || name === "quantity";
    situation.tell(name, {
      ...headOf(first),
      about: group.key.replaceAll("\n", " "),
      papers: [...papersOf(links, group.tickets), ...group.orders],
      isCertain:
        links.every(isSure) &&
        isSigned &&
        isStated &&
        wanted === basis &&
        (isOwn || isOther || isWhole),
      compared: `billed gallons and the ticket's, ${basis}`,
      billed,
      expected: ticket,
      gallons,
      over: rate === null ? null : gallons.times(rate),
      joined: joinedBy(links),
      cause:
        name === "wrong-basis"
          ? `${other(basis)} gallons are billed, ${basis} is what ${situation.settings.basis(party) === null ? "this party usually pays" : "was agreed"}.`
          : `${billed.plain()} gallons are billed, the ticket says ${ticket.plain()}${hint(billed, ticket, ordered)}.`,
      next:
        name === "quantity" && !isSigned
          ? "Ask the driver: the ticket is not signed."
          : dispute(group.direction),
    });
  }
}

/** Billed figures are whole gallons, each rounded, or a little off. */
function rounding(links: readonly Link[], gallons: Decimal): Decimal {
  const whole = Decimal.of(String(links.length));
  const share = gallons.abs().times(Decimal.of("0.0005"));
  return share.compare(whole) > 0 ? share : whole;
}

const digitsOf = (value: Decimal): string =>
  Array.from(value.abs().round(0).plain()).toSorted().join("");

function hint(billed: Decimal, ticket: Decimal, ordered: Decimal | null): string {
  const isTurned =
    digitsOf(billed) === digitsOf(ticket) && !billed.round(0).equals(ticket.round(0));
  if (isTurned) return " (the same digits in another order)";
  return ordered?.equals(billed) === true ? " (as much as was ordered)" : "";
}

const NOT_BY_TABLE = /\b(?:DEF|E85|E[5-9]\d|B99|B100|ethanol|propane|LPG|HD-?5|ISO 22241)\b/i;
const BLEND = /\b(?:E[1-4]?\d|B[1-9]\d?)\b/i;
const NET_TOLERANCE = Decimal.of("0.0015");
const BLEND_TOLERANCE = Decimal.of("0.003");

/** The net gallons of a ticket beside gross gallons, temperature and gravity (volume.ts). Once for each ticket. */
function netFromGross(situation: Situation): void {
  for (const ticket of situation.case.tickets) {
    if (!isLive(ticket) || !situation.isIn(ticket.day)) continue;
    const groups = situation.groups.filter(({ tickets }) => tickets.includes(ticket));
    const group = groups.find(({ direction }) => direction === "sale") ?? groups[0];
    const direction = group?.direction ?? "sale";
    for (const [at, line] of ticket.lines.entries()) {
      const [gross, net, temperature, gravity] = [
        line.gross,
        line.net,
        line.temperature,
        line.gravity,
      ].map(decimal);
      if (!gross || !net || !temperature || !gravity || gross.sign <= 0) continue;
      const name = `${line.product} ${line.spec}`;
      const factor = NOT_BY_TABLE.test(name) ? null : volumeCorrection(gravity, temperature);
      if (factor === null) continue;
      situation.compared("net-from-gross", direction);
      const expected = gross.times(factor).round(1);
      const share = BLEND.test(name) ? BLEND_TOLERANCE : NET_TOLERANCE;
      const off = net.minus(expected);
      if (off.abs().compare(gross.times(share)) <= 0 || off.abs().compare(ONE) <= 0) continue;
      const own = situation.groups.find(
        (one) =>
          one.direction === direction &&
          one.tickets.includes(ticket) &&
          one.product === situation.names.product(line.product),
      );
      const links = own?.links ?? [];
      const rate = rateOf(links) ?? (own === undefined ? null : priceOf(own));
      const party = links[0]?.invoice.party ?? ticket.receiver ?? ticket.supplier ?? "";
      situation.tell("net-from-gross", {
        direction,
        party,
        day: ticket.day,
        about: `${ticket.id} ${at}`,
        papers: papersOf(links, [ticket]),
        isCertain: true,
        compared: `net gallons and ${gross.plain()} gross at ${temperature.plain()} °F, API ${gravity.plain()}`,
        billed: net,
        expected,
        gallons: off,
        over: rate === null ? null : off.times(rate),
        joined: joinedBy(links),
        cause: `The ticket says ${net.plain()} net; ${gross.plain()} gross × ${factor.plain()} is ${expected.plain()} (API MPMS 11.1, table 6B).`,
        next: "Ask the terminal or the driver for the meter's ticket; correct temperature, gravity or net gallons.",
      });
    }
  }
}

/** Billed, and there is no delivery: no ticket, or a product that the ticket does not have. */
function noDelivery(situation: Situation): void {
  for (const group of situation.groups) {
    const links = situation.linksOf(group);
    const [first] = links;
    if (first === undefined) continue;
    situation.compared("no-delivery", group.direction);
    if (group.lines.length > 0) continue;
    if (group.tickets.length === 0 && !situation.isPatienceOver(first.invoice.day)) {
      situation.waits = true;
      continue;
    }
    const gallons = gallonsOf(links);
    const name = first.line.ticket ?? first.line.bol;
    situation.tell("no-delivery", {
      ...headOf(first),
      about: lineKey(first),
      papers: papersOf(links, group.tickets),
      isCertain: group.tickets.length > 0 || name !== null,
      compared: "billed and delivered",
      billed: gallons,
      expected: "no delivery",
      gallons,
      over: sumOf(links.map(({ line }) => line.amount)),
      joined: joinedBy(links),
      cause:
        group.tickets.length > 0
          ? `Ticket ${group.tickets.map(({ number }) => number).join(", ")} has no ${first.line.product ?? first.line.text}.`
          : `${nameOf(first)} bills a load of which there is no ticket${name === null ? "" : ` (${name})`}.`,
      next: "Ask the driver or the carrier for the ticket; without one dispute or credit the line.",
    });
  }
}

/** Delivered and signed, and not billed after some working days. */
function notBilled(situation: Situation): void {
  const { today, unbilledDays } = situation.settings;
  const { us } = situation.reference;
  for (const ticket of situation.case.tickets) {
    if (ticket.status !== "SIGNED" || !situation.isIn(ticket.day)) continue;
    const direction: Direction =
      us !== null && ticket.receiver === us && ticket.supplier !== us ? "purchase" : "sale";
    const own = situation.groups.filter(
      (group) => group.direction === direction && group.tickets.includes(ticket),
    );
    situation.compared("not-billed", direction);
    if (workingDays(ticket.day, today) <= unbilledDays) continue;
    const isBilled = (product: string): boolean =>
      own.some(
        (group) =>
          group.product === product &&
          (group.links.length > 0 || situation.explained.has(`group ${group.key}`)),
      );
    const lines = ticket.lines.filter(({ product }) => !isBilled(situation.names.product(product)));
    if (lines.length === 0) continue;
    const party = (direction === "sale" ? ticket.receiver : ticket.supplier) ?? "";
    const worth = lines.map((line) => {
      const gallons = decimal(line.net) ?? decimal(line.gross);
      const price = agreedFor(situation, ticket, line.product, direction);
      return gallons === null || price === null ? null : gallons.times(price);
    });
    const gallons = sumOf(lines.map(({ net, gross }) => net ?? gross));
    const known = worth.filter((one) => one !== null);
    situation.tell("not-billed", {
      direction,
      party,
      day: ticket.day,
      about: ticket.id,
      papers: [ticket, ...situation.case.orders.filter(({ id }) => id === ticket.order)],
      isCertain: true,
      compared: "delivered and billed",
      billed: Decimal.zero,
      expected: gallons,
      gallons: gallons?.negated() ?? null,
      over: known.length === 0 ? null : Decimal.sum(known).negated(),
      cause: `Ticket ${ticket.number} of ${ticket.day} is signed, and ${lines.length === ticket.lines.length ? "it" : lines.map(({ product }) => product).join(", ")} is on no invoice.`,
      next:
        direction === "sale"
          ? "Bill it, or say why it is not billed."
          : "Expect the supplier's bill: accrue the amount.",
    });
  }
}

function agreedFor(
  { case: { orders }, names }: Situation,
  ticket: Ticket,
  product: string,
  direction: Direction,
): Decimal | null {
  const [price] = orders
    .filter(({ id }) => id === ticket.order)
    .flatMap(({ lines }) => lines)
    .filter((line) => names.product(line.product) === names.product(product))
    .flatMap((line) => decimal(direction === "sale" ? line.sell : line.buy) ?? []);
  return price ?? null;
}

/** Full working days between two days, Monday to Friday. */
export function workingDays(from: Day, to: Day): number {
  let count = 0;
  const end = Date.parse(to);
  for (let at = Date.parse(from) + DAY_MS; at <= end && count < 100; at += DAY_MS)
    if (new Date(at).getUTCDay() % 6 !== 0) count++;
  return count;
}

/** Ordered beside delivered, of orders that are said to be delivered; and tickets without an order. */
function ordered(situation: Situation): void {
  const { case: one, names } = situation;
  for (const order of one.orders) {
    const tickets = one.tickets.filter((ticket) => ticket.order === order.id && isLive(ticket));
    if (!DELIVERED.has(order.status) || tickets.length === 0 || !situation.isIn(order.day))
      continue;
    situation.compared("part-delivered", "sale");
    for (const product of new Set(order.lines.map((line) => names.product(line.product)))) {
      const wanted = sumOf(
        order.lines
          .filter((line) => names.product(line.product) === product)
          .map((line) => line.gallons),
      );
      const brought = tickets
        .flatMap(({ lines }) => lines)
        .filter((line) => names.product(line.product) === product);
      const [gross, net] = [
        sumOf(brought.map((line) => line.gross)),
        sumOf(brought.map((line) => line.net)),
      ];
      const there = gross ?? net;
      if (wanted === null || there === null) continue;
      const allowed = situation.tolerance(wanted);
      if ([gross, net].some((value) => value !== null && isNear(value, wanted, allowed))) continue;
      const gallons = there.minus(wanted);
      const price = agreedFor(situation, tickets[0] as Ticket, product, "sale");
      situation.tell("part-delivered", {
        direction: "sale",
        party: tickets[0]?.receiver ?? "",
        day: order.day,
        about: `${order.id} ${product}`,
        papers: [order, ...tickets],
        isCertain: false,
        compared: "ordered and delivered gallons",
        billed: there,
        expected: wanted,
        gallons,
        over: price === null ? null : gallons.times(price),
        isNeutral: true,
        cause: `${wanted.plain()} gallons of ${product} were ordered, ${there.plain()} delivered.`,
        next:
          gallons.sign < 0
            ? "Deliver the rest, or close the order."
            : "Ask why more was delivered.",
      });
    }
  }
  const ids = new Set(one.orders.map(({ id }) => id));
  for (const ticket of one.tickets) {
    if (!isLive(ticket) || !situation.isIn(ticket.day)) continue;
    situation.compared("no-order", "sale");
    if (ticket.order !== null && ids.has(ticket.order)) continue;
    if (!situation.isPatienceOver(ticket.day)) continue;
    situation.tell("no-order", {
      direction: "sale",
      party: ticket.receiver ?? "",
      day: ticket.day,
      about: ticket.id,
      papers: [ticket],
      isCertain: false,
      compared: "the ticket's order",
      billed: null,
      expected: "an order",
      isNeutral: true,
      cause: `Ticket ${ticket.number} has no order${ticket.order === null ? "" : " that is known here"}.`,
      next: "Enter the order, or say on whose word it was delivered.",
    });
  }
}

const DELIVERED: ReadonlySet<string> = new Set(["DELIVERED", "PENDING_VERIFICATION", "INVOICED"]);

export const rules: readonly Rule[] = [
  { name: "billed-twice", title: "loads that are billed twice", find: billedTwice },
  { name: "wrong-product", title: "the product", find: wrongProduct },
  { name: "quantity", title: "billed and delivered gallons", find: quantity },
  { name: "net-from-gross", title: "net gallons from gross gallons", find: netFromGross },
  { name: "old-price-list", title: "the price list that was taken", find: oldList },
  { name: "order-price", title: "the rate and the order's price", find: orderPrice },
  { name: "rack-and-margin", title: "the rate and rack price + margin", find: rackAndMargin },
  { name: "rack-price", title: "the rack price and the list in force", find: rackPrice },
  { name: "freight", title: "freight and its rate", find: freight },
  { name: "tax", title: "taxes", find: taxes },
  { name: "no-delivery", title: "whether what is billed was delivered", find: noDelivery },
  { name: "not-billed", title: "whether what was delivered is billed", find: notBilled },
  { name: "part-delivered", title: "ordered and delivered gallons", find: ordered },
];
