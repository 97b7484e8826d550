/**
 * What is compared, one rule each, in the order of the table at the end: an earlier rule that explains a difference keeps the
 * later ones from telling it again. A rule reads papers and reference data, never what another rule has written. It gives what
 * differs, which may be nothing; null: it cannot compare.
 */
import { Decimal } from "../core/decimal.ts";
import { connected } from "../core/groups.ts";
import { gallonsIn } from "../core/holdings.ts";
import { remembered } from "../core/remembered.ts";
import { amountText, byText, capital } from "../core/text.ts";
import { dayAt, namedDay, workingDays } from "../core/time.ts";
import { fold, isLive, lineKey, numbersIn, sumOf } from "./papers.ts";
import type { AnyPaper, Group, Invoice, JoinedLine, TaxLine, Ticket } from "./papers.ts";
import {
  CENT,
  feesOf,
  findingOf,
  freightOf,
  isSure,
  larger,
  levied,
  statedBasis,
  taxOn,
} from "./situation.ts";
import type { Difference, Found, PostedPrice, Run, Situation, Subject } from "./situation.ts";
import { volumeCorrection } from "./volume.ts";

/** What differs, which may be nothing; null: it cannot be compared. */
type Verdict = Difference | readonly Difference[] | null;
/** What a generator of subjects gives. */
type Each<Source> = Source extends (situation: Situation) => Iterable<infer One> ? One : never;

type BilledLine = JoinedLine["line"];

const NONE: readonly Difference[] = [];
const { zero, one: ONE } = Decimal;
const PRICE_STEP = Decimal.of("0.0001");
const RATE_STEP = Decimal.of("0.000001");
/** Less than a step apart. Most are equal: nothing is made for those. */
const isNear = (one: Decimal, other: Decimal, step: Decimal): boolean =>
  one.equals(other) || one.minus(other).abs().compare(step) < 0;
const isUpTo = (one: Decimal, most: Decimal): boolean => one.compare(most) <= 0;

/** An amount beside the gallons that it is for, at their rate; nothing: it is that, but for rounding. */
function multiplied(rate: Decimal, gallons: Decimal, amount: Decimal, step: Decimal) {
  const expected = gallons.times(rate).round(2);
  if (expected.isWithin(step, amount)) return [];
  const cause = `${amountText(rate)} × ${gallons.plain()} gallons is ${amountText(expected)}, ${amountText(amount)} is billed.`;
  return [{ isCertain: true, billed: amount, expected, cause }];
}

// What rules look at.

const headOf = ({ direction, party, day }: Invoice) => ({ direction, party, day });
const papersOf = (lines: readonly JoinedLine[], ...more: (readonly AnyPaper[])[]): AnyPaper[] =>
  lines.map(({ invoice }): AnyPaper => invoice).concat(...more);
/** What a gallon of them was billed at; of several rates the mean. */
function rateOf(lines: readonly JoinedLine[]): Decimal | null {
  const rated = lines.map(({ line }) => line).filter(({ rate }) => rate !== null);
  const gallons = sumOf(rated, (line) => line.gallons);
  const worth = sumOf(rated, (line) => (line.rate && line.gallons?.times(line.rate)) ?? null);
  if (!worth || !gallons || gallons.sign === 0) return rated[0]?.rate ?? null;
  return worth.over(gallons, 9).shortest();
}
const gallonsOf = (lines: readonly JoinedLine[]): Decimal | null =>
  sumOf(lines, ({ line }) => line.gallons);

/** Groups with at least one line of the days that are asked for, and what is billed. */
function* loadsIn({ groups, explained, run }: Situation) {
  for (const group of groups) {
    const lines = group.lines.filter((one) => !explained.has(one) && run.isIn(one.invoice.day));
    const [first] = lines;
    if (first === undefined) continue;
    const about = `${group.direction} ${group.load} ${group.product}`;
    const papers = papersOf(lines, group.tickets, group.orders);
    const billed = gallonsOf(lines);
    yield { ...headOf(first.invoice), about, papers, group, lines, first, billed };
  }
}
type Load = Each<typeof loadsIn>;

/**
 * Single lines, without those whose price an earlier rule has explained, and what of each is the price of a list: a bill that
 * names none, nor an order a price, is at the list.
 */
function* billedIn(situation: Situation) {
  for (const { group, lines } of loadsIn(situation))
    for (const one of lines) {
      const { invoice, line } = one;
      const about = lineKey(one);
      if (situation.explained.has(about)) continue;
      const isAtList = group.direction === "purchase" && priceOf(group, group.direction) === null;
      const rack = line.rackPrice ?? (isAtList ? line.rate : null);
      const papers = papersOf([one], one.tickets, group.orders);
      yield { ...headOf(invoice), about, papers, lines: [one], group, one, line, rack };
    }
}
type Billed = Each<typeof billedIn>;

/** Tickets, and the groups that each is in, in the direction in which it is billed. */
function* deliveredIn({ tickets, groups, run }: Situation) {
  const { us } = run.reference;
  for (const ticket of tickets) {
    const { day, supplier, receiver, id } = ticket;
    if (!isLive(ticket) || !run.isIn(day)) continue;
    const isOurs = us !== null && receiver === us && supplier !== us;
    const direction = isOurs ? ("purchase" as const) : ("sale" as const);
    const party = (isOurs ? supplier : receiver) ?? "";
    const own = groups.filter((it) => it.direction === direction && it.tickets.includes(ticket));
    yield { direction, party, day, about: id, papers: [ticket], ticket, groups: own };
  }
}
type Delivered = Each<typeof deliveredIn>;

function* invoicesIn({ invoices, run }: Situation) {
  for (const invoice of invoices)
    if (isLive(invoice) && run.isIn(invoice.day))
      yield { ...headOf(invoice), about: invoice.id, papers: [invoice], invoice };
}

const nameOf = ({ invoice, line }: JoinedLine): string =>
  `invoice ${invoice.number}, ${line.product ?? line.description}`;
const numberOf = ({ line }: JoinedLine): string | null => line.deliveryTicket ?? line.bolNumber;

/** What was agreed for a gallon; null: no order says. */
const priceOf = ({ ordered }: Pick<Group, "ordered">, direction: Group["direction"]) =>
  ordered.find((line) => line[direction] !== null)?.[direction] ?? null;

// Loads.

/** The lines that are billed twice: without them the rest is what was delivered, or it is line for line the same. */
function billedTwice({ lines, group }: Load, situation: Situation): Verdict {
  const { run, explained } = situation;
  // Of two, the one that came later is the double.
  const rest = lines.toReversed().toSorted((one, other) => byText(ageOf(other), ageOf(one)));
  const [least] = group.figures;
  const isAll = (billed: Decimal | null): boolean =>
    group.figures.some((one) => billed?.isWithin(run.tolerance(one).plus(ONE), one));
  const doubles: JoinedLine[] = [];
  while (rest.length > 1 && !isAll(gallonsOf(rest))) {
    const double = rest.find((one) => isTwin(one, rest, least !== undefined));
    const left = gallonsOf(rest.filter((one) => one !== double));
    // Two compartments may hold the same: with a ticket, what is left must not be less than what was delivered.
    const isEnough =
      least === undefined || (left && isUpTo(least, left.plus(run.tolerance(least))));
    if (double === undefined || !isEnough) break;
    doubles.push(...rest.splice(rest.indexOf(double), 1));
  }
  return doubles.map((one) => {
    explained.add(one);
    const { gallons } = one.line;
    return {
      day: one.invoice.day,
      about: lineKey(one),
      papers: papersOf([one, ...lines], group.tickets),
      lines: [one, ...lines],
      isCertain: isSure(one) || group.tickets.length === 0,
      billed: gallons,
      expected: zero,
      perGallon: null,
      over: wholeOf([one], situation),
      cause: `The load ${numberOf(one) ?? ""} is billed twice: again on ${nameOf(one)}.`,
    };
  });
}

/** What lines come to of which nothing was delivered; with the last fuel of an invoice its freight and fees, too. */
function wholeOf(all: readonly JoinedLine[], { lines, baseless, explained }: Situation) {
  for (const one of all) baseless.add(one);
  const fuel = lines.filter(({ line }) => line.kind === "fuel");
  const charges = [...new Set(all.map(({ invoice }) => invoice))].flatMap((invoice) => {
    if (fuel.some((one) => one.invoice === invoice && !baseless.has(one))) return [];
    explained.add(invoice);
    return invoice.lines.filter(({ kind }) => kind !== "fuel" && kind !== "correction");
  });
  return sumOf([...all.map(({ line }) => line), ...charges], ({ amount }) => amount);
}

/** Sorts by when it came. */
const ageOf = ({ invoice, at }: JoinedLine): string =>
  [invoice.day, invoice.number, String(at).padStart(4)].join("\n");

const FIGURES = ["gallons", "grossGallons", "netGallons", "rate"] as const;

/** Another line bills the same: on another invoice, or in every figure. */
const isTwin = (one: JoinedLine, among: readonly JoinedLine[], hasTicket: boolean): boolean =>
  among.some((other) => {
    const figures = other.invoice !== one.invoice || hasTicket ? FIGURES.slice(0, 1) : FIGURES;
    const isEqual = figures.every((it) => one.line[it]?.plain() === other.line[it]?.plain());
    return other !== one && isEqual;
  });

/** Another product than is billed is on the ticket, with the gallons that this one has too much. */
function wrongProduct({ group, lines, first, billed }: Load, situation: Situation): Verdict {
  if (group.tickets.length === 0) return null;
  if (billed === null) return NONE;
  const { run, groups, explained } = situation;
  const { direction, load } = group;
  if (group.figures.some((own) => run.isAlike(billed, own))) return NONE;
  const isPart = group.delivered.length > 0;
  const wrong = isPart ? group.figures.map((own) => billed.minus(own)) : [billed];
  const other = groups.find(
    (one) =>
      one.direction === direction &&
      one.load === load &&
      one.lines.length === 0 &&
      one.figures.some((there) => wrong.some((gallons) => run.isAlike(gallons, there))),
  );
  if (other === undefined) return NONE;
  for (const one of [...lines, other]) explained.add(one);
  const lists = direction === "purchase" ? listsOf(first, other, run) : null;
  const right = priceOf(other, direction) ?? lists?.now.price ?? null;
  const [named, expected] = [first.line.product, other.delivered[0]?.product ?? other.product];
  const gallons = wrong[0] ?? billed;
  const over = (right && rateOf(lines)?.minus(right).times(gallons)) ?? null;
  const isPriced = over?.round(2).sign === 0;
  const ofAll = isPart ? `: ${gallons.plain()} of ${billed.plain()} gallons` : "";
  const cause = `${named ?? "Another product"} is billed${isPriced ? " at the price of what was delivered" : ""}, ${expected} was delivered${ofAll}.`;
  const next = isPriced ? "Have the product corrected on the bill; its price is right." : undefined;
  const isCertain = lines.every(isSure);
  return { about: lineKey(first), isCertain, billed: named, expected, over, cause, next };
}

/** Billed gallons beside those of the ticket, on the basis that was agreed, is usual, or that the line states. */
function quantity(load: Load, situation: Situation): Verdict {
  const { group, lines, first, billed, party } = load;
  const { run } = situation;
  if (billed === null || group.delivered.length === 0) return null;
  const set = run.settings.basis(party);
  const agreed = set ?? run.reference.usualBasis(first.invoice);
  const wanted = agreed ?? statedBasis(first.line);
  const basis = ([wanted, "net", "gross"] as const).find((it) => it !== null && group[it] !== null);
  const other = basis === "net" ? "gross" : "net";
  const [expected, there] = [basis && group[basis], group[other]];
  if (!basis || !expected) return null;
  if (run.isAlike(billed, expected)) return NONE;
  // The ticket lacks the figure that is billed: by its own two figures the line may fit the other one.
  const own = (of: typeof basis) => sumOf(lines, ({ line }) => line[`${of}Gallons`]);
  const isBilled = wanted !== null && wanted !== basis && own(wanted)?.equals(billed) === true;
  if (isBilled && run.isAlike(own(basis) ?? billed, expected)) return NONE;
  // Billed figures are whole gallons, each rounded, or a little off.
  const rounding = larger(expected.abs().times(HALF_PERMILLE), Decimal.of(String(lines.length)));
  const isOther = there?.isWithin(rounding, billed) === true;
  // Nobody said on which basis: either is right.
  if (isOther && wanted !== basis) return NONE;
  const isPart = isUpTo(billed, expected) && hasMoreLoads(load);
  if (isPart && mayCome(situation, first.invoice)) return NONE;
  const ordered = sumOf(group.ordered, (line) => line.gallons);
  const isSigned = group.tickets.every(({ status }) => status === "SIGNED");
  // The ticket is about all of the load: it is the seller's own, or the order says so.
  const isWhole =
    isOther ||
    group.tickets.every(({ supplier }) => group.direction === "sale" || supplier === party) ||
    group.figures.some((one) => ordered?.isWithin(run.tolerance(expected).times(FOUR), one));
  const isCertain = lines.every(isSure) && isSigned && wanted === basis && isWhole && !isPart;
  const off = billed.minus(expected);
  const bearing = offIn(load, off, run);
  const all = gallonsOf(bearing);
  for (const { line } of bearing)
    if (line.gallons && all && all.sign !== 0)
      situation.surplus.set(line, line.gallons.times(off).over(all, 2));
  const compared = `billed gallons and the ticket's, ${basis}`;
  const values = { compared, billed, expected, perGallon: rateOf(bearing) };
  // Where its own figure of the basis is what it bills, alone or with both alike, it only happens to fit the ticket's other one.
  const isItsOwn = first.line[`${basis}Gallons`]?.equals(first.line.gallons ?? billed) === true;
  if (isOther && agreed !== null && !isItsOwn) {
    const why = set === null ? "this party usually pays" : "was agreed";
    const cause = `${other} gallons are billed, ${basis} is what ${why}.`;
    return { ...values, name: "wrong-basis", isCertain: isCertain && set !== null, cause };
  }
  const cause = `${billed.plain()} gallons are billed, the ticket says ${expected.plain()}${hint(billed, expected, ordered)}.`;
  const next = isSigned ? undefined : "Ask the driver: the ticket is not signed.";
  return { ...values, isCertain, cause, next };
}

/** The lines whose gallons are off: those of which neither so many were lifted nor ordered, where they bill so many; else all. */
function offIn({ lines, group }: Load, off: Decimal, run: Run): readonly JoinedLine[] {
  const lifted = group.delivered.flatMap(({ net, gross }) => [net, gross]);
  const known = [...lifted, ...group.ordered.map(({ gallons }) => gallons)];
  const isKnown = ({ line: { gallons } }: JoinedLine): boolean =>
    known.some((it) => it && gallons && run.isAlike(gallons, it));
  const other = lines.filter((one) => !isKnown(one));
  return (gallonsOf(other) ?? zero).compare(off.abs()) < 0 ? lines : other;
}

/** Do its tickets name a bill of lading that none of the lines is about? Each may be billed by itself. */
function hasMoreLoads({ lines, group }: Load): boolean {
  const billed = new Set(lines.flatMap(({ line }) => numbersIn(line.bolNumber)));
  const isMore = (bol: string): boolean => {
    const [whole, ...parts] = numbersIn(bol);
    const isBilled = whole === undefined || billed.has(whole);
    return !isBilled && (parts.length === 0 || parts.some((it) => !billed.has(it)));
  };
  const isByLoad = lines.every(({ by }) => by === "bill of lading");
  return isByLoad && group.tickets.some(({ bols }) => bols.some(isMore));
}

const HALF_PERMILLE = Decimal.of("0.0005");
const FOUR = Decimal.of("4");
const UNITS = { liters: gallonsIn("liter"), barrels: gallonsIn("bbl") };
const digitsOf = (value: Decimal): string =>
  Array.from(value.abs().round(0).plain()).toSorted().join("");

function hint(billed: Decimal, ticket: Decimal, ordered: Decimal | null): string {
  if (digitsOf(billed) === digitsOf(ticket)) return " (the same digits in another order)";
  for (const [unit, per = ONE] of Object.entries(UNITS)) {
    const gallons = billed.times(per);
    if (gallons.isWithin(gallons.abs().times(CENT), ticket)) return ` (as many ${unit})`;
  }
  return ordered?.equals(billed) === true ? " (as much as was ordered)" : "";
}

/** May a paper of this day still come? Then something waits for it. */
function mayCome(situation: Situation, { day }: Invoice): boolean {
  const isAwaited = !situation.run.isPatienceOver(day);
  situation.waits ||= isAwaited;
  return isAwaited;
}

/** Billed, and there is no delivery: no ticket, or a product that the ticket does not have. */
function noDelivery({ group, lines, first, billed }: Load, situation: Situation): Verdict {
  const { line, invoice } = first;
  const tickets = group.tickets.map(({ number }) => number).join(", ");
  if (group.delivered.length > 0 || (tickets === "" && mayCome(situation, invoice))) return NONE;
  const named = numberOf(first);
  const cause =
    tickets === ""
      ? `${capital(nameOf(first))} bills a load of which there is no ticket${named === null ? "" : ` (${named})`}.`
      : `Ticket ${tickets} has no ${line.product ?? line.description}.`;
  return {
    about: lineKey(first),
    papers: papersOf(lines, group.tickets),
    isCertain: tickets !== "" || named !== null,
    billed,
    expected: zero,
    perGallon: null,
    over: wholeOf(lines, situation),
    cause,
    next: "Ask the driver or the carrier for the ticket; without one dispute or credit the line.",
  };
}

// Prices of single lines: the first difference is told. Values are in money for a gallon.

const terminalsOf = ({ ordered, tickets }: Group): string[] =>
  [...ordered, ...tickets].flatMap(({ terminal }) => terminal ?? []);

/** The lists of terminals that were in force when a line was loaded; null: none that reach so far back. */
function listsOf(
  one: JoinedLine,
  group: Group,
  run: Run,
  terminals = terminalsFor(one, group, run),
) {
  const when = namedDay(one.line.deliveredDate ?? group.tickets[0]?.day ?? "");
  if (when === "") return null;
  return run.reference.inForce(terminals, group.product, when, one.invoice, run);
}

/**
 * First the one that is billed: of a bill where another paper names it, too (it may be another one than was ordered), while a
 * sale is at the list that it names.
 */
function terminalsFor({ line: { location } }: JoinedLine, group: Group, { names }: Run): string[] {
  const [all, billed] = [terminalsOf(group), location ?? ""];
  const isBilled = (text: string) => names.terminal(text) === names.terminal(billed);
  const isFirst = group.direction === "sale" || all.some(isBilled);
  return isFirst ? [billed, ...all] : [...all, billed];
}

/** What a line was billed at beside what it should be. */
function priced(
  it: Billed,
  situation: Situation,
  found: Difference & { billed: Decimal; expected: Decimal },
): Verdict {
  if (isNear(found.billed, found.expected, PRICE_STEP)) return NONE;
  situation.explained.add(it.about);
  const onGallons = dueOf(it.line.gallons, [it.line], situation);
  return onGallons?.sign === 0 ? NONE : { ...found, onGallons };
}

/** Without those that were billed too much: they are told at what they were billed at. */
const dueOf = (gallons: Decimal | null, lines: readonly BilledLine[], { surplus }: Situation) =>
  gallons?.minus(Decimal.sum(lines.flatMap((line) => surplus.get(line) ?? []))) ?? null;

/** A line's rack price beside the lists in force. `isOld`: is it looked for in earlier lists, or in none that is here? */
const listed =
  (isOld: boolean) =>
  (billed: Billed, situation: Situation): Verdict => {
    const { rack, group, one } = billed;
    const lists = rack && listsOf(one, group, situation.run);
    if (!rack || !lists) return null;
    const { now } = lists;
    const isPosted = ({ price, spread }: PostedPrice): boolean =>
      isNear(rack, price, PRICE_STEP) || isNear(rack, price.plus(spread), PRICE_STEP);
    if (lists.prices.some(isPosted)) return NONE;
    const before = lists.earlier.findLast(isPosted);
    if (isOld !== (before !== undefined)) return NONE;
    const [first, right] = [rack.plain(), now.price.plain()];
    const cause =
      before === undefined
        ? `The line's rack price is ${first}; the list of ${dayAt(now.fromMs)} says ${right}.`
        : `The list of ${dayAt(before.fromMs)} was taken (${first}); in force was that of ${dayAt(now.fromMs)} (${right}).`;
    const isCertain = isOld && isSure(one);
    return priced(billed, situation, { isCertain, billed: rack, expected: now.price, cause });
  };
const oldList = listed(true);
const otherList = listed(false);

/** A bill of another terminal than it was loaded at: it comes to what was ordered, where no order names a price to the two lists. */
function wrongTerminal(billed: Billed, situation: Situation): Verdict {
  const { line, group, one, direction } = billed;
  const { run, explained } = situation;
  if (direction === "sale") return null;
  const named = run.reference.terminal(line.location);
  const places = terminalsOf(group).map((text) => run.reference.terminal(text));
  const loaded = places.filter((place) => place !== null);
  const [right] = loaded;
  if (named === null || right === undefined) return null;
  if (loaded.includes(named)) return NONE;
  const cause = `${named.name} is billed; it was loaded at ${right.name}.`;
  const found = { isCertain: isSure(one), billed: named.name, expected: right.name, cause };
  const agreed = agreedFor(billed, run);
  const lists = [named, right].map((it) => listsOf(one, group, run, [it.terminalCode ?? ""]));
  const prices = agreed === null ? lists.map((it) => it?.now.price) : [line.rate, agreed];
  const [wrongly, rightly] = prices;
  if (!wrongly || !rightly) return found;
  explained.add(billed.about);
  const onGallons = dueOf(line.gallons, [line], situation);
  return { ...found, onGallons, over: onGallons && wrongly.minus(rightly).times(onGallons) };
}

/** Of what was ordered a gallon at, for as many gallons where that is so, the nearest to its rate; null: no order says. */
function agreedFor({ group, line, direction }: Billed, run: Run): Decimal | null {
  const { rate, gallons } = line;
  const priced = group.ordered.filter((one) => one[direction] !== null);
  const asMany = priced.filter(
    (one) => gallons && one.gallons && run.isAlike(gallons, one.gallons),
  );
  const agreed = (asMany.length > 0 ? asMany : priced).flatMap((one) => one[direction] ?? []);
  const off = (price: Decimal): Decimal => price.minus(rate ?? zero).abs();
  return agreed.toSorted((one, other) => off(one).compare(off(other)))[0] ?? null;
}

function orderPrice(billed: Billed, situation: Situation): Verdict {
  const { group, one } = billed;
  const { rate } = billed.line;
  const expected = agreedFor(billed, situation.run);
  if (rate === null || expected === null) return null;
  const cause = `${amountText(rate)} a gallon is billed, ${amountText(expected)} was ordered.`;
  const isCertain = !group.isOrderGuess && isSure(one);
  return priced(billed, situation, { isCertain, billed: rate, expected, cause });
}

function lineAmount({ line: { amount, gallons, rate } }: Billed): Verdict {
  if (amount === null || gallons === null || !rate || rate.sign === 0) return null;
  return multiplied(rate, gallons, amount, larger(CENT, gallons.abs().times(PRICE_STEP)));
}

function rackAndMargin(billed: Billed, situation: Situation): Verdict {
  const { rate, rackPrice: rack, margin } = billed.line;
  if (rate === null || rack === null || margin === null) return null;
  const expected = rack.plus(margin);
  const cause = `${amountText(rate)} a gallon is billed; rack price ${amountText(rack)} + margin ${amountText(margin)} is ${amountText(expected)}.`;
  return priced(billed, situation, { isCertain: true, billed: rate, expected, cause });
}

// Freight and taxes.

/** Invoices of one party that share a load, and their loads: freight may have a bill of its own, and be credited by another. */
function* haulsIn(situation: Situation) {
  const { lines, groups, explained } = situation;
  const loadOf = (ticket: Ticket): string =>
    groups.find((group) => group.tickets.includes(ticket))?.load ?? ticket.id;
  const hauling = [...invoicesIn(situation)].flatMap(({ invoice }) => {
    const own = lines.filter((one) => one.invoice === invoice && one.line.kind !== "correction");
    const tickets = own.flatMap((line) => line.tickets);
    const loads = new Map<string, Ticket | null>(tickets.map((it) => [loadOf(it), it]));
    if (loads.size === 0) loads.set(invoice.id, null);
    return own.length > 0 && !explained.has(invoice) ? [{ invoice, loads }] : [];
  });
  const hauls = connected(hauling, ({ invoice: { direction, party }, loads }) =>
    Array.from(loads.keys(), (load) => `${direction} ${party} ${load}`),
  );
  for (const haul of hauls) {
    const invoices = haul.map(({ invoice }) => invoice);
    const first = invoices[0] as Invoice;
    const loads = new Map(haul.flatMap((one) => [...one.loads]));
    yield { ...headOf(first), about: first.id, papers: invoices, first, invoices, loads };
  }
}
type Haul = Each<typeof haulsIn>;

/** Freight and its surcharge beside the party's rate for that lane: once for each load. */
function freight(haul: Haul, situation: Situation): Verdict {
  const rates = laneRates(haul, situation);
  if (rates === null) return null;
  const lines = haul.invoices.flatMap((one) => one.lines);
  const fuel = Decimal.sum(lines.flatMap((line) => (line.kind === "fuel" && line.gallons) || []));
  const each = fuel.over(Decimal.of(String(rates.length)), 6);
  const fees = rates.flatMap((rate) => feesOf(rate, each));
  const charges = lines.filter(
    ({ kind, description }) =>
      ["freight", "surcharge"].includes(kind) ||
      fees.some(({ label }) => fold(description).includes(label)),
  );
  const billed = Decimal.sum(charges.flatMap(({ amount }) => amount ?? []));
  const hasAny = charges.some((line) => line.kind === "freight");
  const isCertain = rates.every(({ ratePerMile, miles }) => !ratePerMile || miles !== null);
  const least = Decimal.sum(rates.map(freightOf));
  const isLess = billed.compare(least) < 0;
  // Nobody says which of its fees a load has.
  const most = least.plus(Decimal.sum(fees.map(({ amount }) => amount)));
  const expected = larger(least, isUpTo(billed, most) ? billed : most);
  if (isCertain ? billed.isWithin(CENT, expected) : hasAny && !isLess) return NONE;
  const what = hasAny ? `${amountText(billed)} of freight is billed` : "No freight is billed";
  const loads = rates.length === 1 ? "one load" : `${rates.length} loads`;
  const cause = `${what}; the rate of this lane comes to ${isCertain ? "" : "at least "}${amountText(expected)} for ${loads}.`;
  const isOurs = haul.direction === "sale" && isLess;
  const next = isOurs ? "Bill the freight, or correct the rate." : undefined;
  return { isCertain, billed, expected, cause, next };
}

/** The freight rate of each load; null: one of them has none, or no load is known. */
function laneRates({ party, day, first, loads }: Haul, { orders, run }: Situation) {
  const rates = [...loads.values()].map((ticket) => {
    const order = orders.find(({ id }) => id === (ticket?.order ?? first.order));
    const found = order?.lines.flatMap(({ terminal, product }) => {
      const from = terminal ?? ticket?.terminal ?? null;
      const when = ticket?.day ?? day;
      return run.reference.freightRate(party, order, from, run.names.product(product), when) ?? [];
    });
    return found?.[0];
  });
  return rates.every((rate) => rate !== undefined) ? rates : null;
}

/** All lines of an invoice with one tax, authority and product; of invoices that are credited whole none. */
function* taxesIn(situation: Situation) {
  for (const subject of invoicesIn(situation))
    if (!situation.reversed.has(subject.invoice))
      for (const tax of levied(subject.invoice, situation.run))
        yield { ...subject, ...tax, about: `${subject.about} ${tax.name}` };
}

/** No tax twice; its amount is its rate times its gallons, its rate the usual one, its gallons those that are billed. */
function taxes(
  { invoice, own, about, product, fuel }: Each<typeof taxesIn>,
  situation: Situation,
): readonly Difference[] {
  const { run } = situation;
  const { taxType: tax, authority } = own[0] as TaxLine;
  const sold = sumOf(product === null ? [] : fuel, ({ gallons }) => gallons);
  const taxed = sumOf(own, ({ gallons }) => gallons);
  // Two compartments of one product may be taxed one by one.
  const isWithin = taxed && sold && isUpTo(taxed, sold.plus(run.tolerance(sold)));
  const isDouble = (line: TaxLine, at: number): boolean =>
    !isWithin && own.slice(0, at).some((one) => isSameTax(one, line));
  const doubles = own.filter(isDouble);
  const rest = own.filter((line) => !doubles.includes(line));
  const compared = `${tax}, ${authority ?? ""}`;
  const named = (name: string, at: number) => ({ compared, name, about: `${about} ${at}` });
  const found: Difference[] = doubles.map(({ amount }, at) => {
    const cause = `${tax} on ${product ?? "the invoice"} is billed twice.`;
    const isCertain = product !== null;
    return { ...named("tax-twice", at), isCertain, billed: amount, expected: zero, cause };
  });
  for (const [at, line] of rest.entries()) {
    const { rate, gallons, amount } = line;
    if (rate === null) continue;
    for (const one of gallons === null ? [] : multiplied(rate, gallons, amount, CENT))
      found.push({ ...named("tax-amount", at), ...one, cause: `${tax}: ${one.cause}` });
    const usual = run.reference.taxRate(invoice, line);
    if (usual === null || isNear(rate, usual.rate, RATE_STEP)) continue;
    const taxedOn = gallons ?? (rate.sign === 0 ? zero : amount.over(rate, 6));
    const onGallons = dueOf(taxedOn, fuel, situation);
    const who = usual.isStated ? "crossref/tax-rates.csv says" : "usual here is";
    const cause = `${tax} is billed at ${amountText(rate)}; ${who} ${amountText(usual.rate)}.`;
    const values = { isCertain: usual.isStated, billed: rate, expected: usual.rate, onGallons };
    found.push({ ...named("tax-rate", at), ...values, cause });
  }
  const billed = sumOf(rest, ({ gallons }) => gallons);
  // A state may tax gross gallons where net is billed, or the other way.
  const isTaxed = (["gallons", "grossGallons", "netGallons"] as const).some((name) => {
    const base = sumOf(fuel, (line) => line[name]);
    return base !== null && billed !== null && run.isAlike(billed, base);
  });
  if (!billed || !sold || isTaxed) return found;
  const cause = `${tax} is on ${billed.plain()} gallons, ${sold.plain()} are billed.`;
  const values = { billed, expected: sold, perGallon: rest[0]?.rate ?? null };
  return [...found, { compared, name: "tax-gallons", isCertain: false, ...values, cause }];
}

const isSameTax = (one: TaxLine, other: TaxLine): boolean =>
  one.amount.equals(other.amount) && one.gallons?.plain() === other.gallons?.plain();

// Deliveries and orders.

const NOT_BY_TABLE = /\b(?:DEF|E85|E[5-9]\d|B99|B100|ethanol|propane|LPG|HD-?5|ISO 22241)\b/i;
const BLEND = /\b(?:E[1-4]?\d|B[1-9]\d?)\b/i;
const NET_TOLERANCE = Decimal.of("0.0015");
const BLEND_TOLERANCE = Decimal.of("0.003");

const factorOf = remembered((text: string) => {
  const [gravity = "", temperature = ""] = text.split(" ");
  return volumeCorrection(Decimal.of(gravity), Decimal.of(temperature));
});

function* meteredIn(situation: Situation) {
  for (const one of deliveredIn(situation))
    for (const [at, line] of one.ticket.lines.entries())
      yield { ...one, about: `${one.ticket.id} ${at}`, line };
}

/** The net gallons of a ticket beside gross gallons, temperature and gravity (volume.ts). */
function netFromGross(
  { ticket, groups, line, direction }: Each<typeof meteredIn>,
  { run }: Situation,
): Verdict {
  const { product, spec, gross, net, temperature, gravity } = line;
  const name = `${product} ${spec ?? ""}`;
  if (!gross || !net || !temperature || !gravity || gross.sign <= 0) return null;
  if (NOT_BY_TABLE.test(name)) return null;
  const factor = factorOf(`${gravity.text} ${temperature.text}`);
  if (factor === null) run.beyondTable++;
  if (factor === null) return null;
  const expected = gross.times(factor).round(1);
  const share = gross.times(BLEND.test(name) ? BLEND_TOLERANCE : NET_TOLERANCE);
  if (net.isWithin(larger(share, ONE), expected)) return NONE;
  const own = groups.find((group) => run.isSame(group.product, product));
  const lines = own?.lines ?? [];
  return {
    papers: papersOf(lines, [ticket]),
    lines,
    isCertain: true,
    compared: `net gallons and ${gross.plain()} gross at ${temperature.plain()} °F, API ${gravity.plain()}`,
    billed: net,
    expected,
    perGallon: rateOf(lines) ?? (own ? priceOf(own, direction) : null),
    cause: `The ticket says ${net.plain()} net; ${gross.plain()} gross × ${factor.plain()} is ${expected.plain()} (API MPMS 11.1, table 6B).`,
    next: "Ask the terminal or the driver for the meter's ticket; correct temperature, gravity or net gallons.",
  };
}

const NOT_BILLED = {
  sale: "Bill it, or say why it is not billed.",
  purchase: "Expect the supplier's bill: accrue the amount.",
} as const;

/** Delivered and signed, and not billed after some working days. */
function notBilled({ ticket, direction, party, groups }: Delivered, situation: Situation): Verdict {
  const { run, explained } = situation;
  const { today, unbilledDays } = run.settings;
  if (ticket.status !== "SIGNED") return null;
  const billed = groups.filter((group) => group.lines.length > 0 || explained.has(group));
  const lines = ticket.lines.filter(
    (line) => !billed.some(({ product }) => run.isSame(product, line.product)),
  );
  if (lines.length === 0 || workingDays(ticket.day, today) <= unbilledDays) return NONE;
  const orders = situation.orders.filter(({ id }) => id === ticket.order);
  const isGross = run.settings.basis(party) === "gross";
  const figureOf = ({ net, gross }: (typeof lines)[number]) =>
    isGross ? (gross ?? net) : (net ?? gross);
  const worth = lines.flatMap((line) => {
    const all = orders.flatMap((order) => order.lines);
    const ordered = all.filter((it) => run.isSame(it.product, line.product));
    const price = priceOf({ ordered }, direction);
    return (price && figureOf(line)?.times(price)) ?? [];
  });
  const expected = sumOf(lines, figureOf);
  const isAll = lines.length === ticket.lines.length;
  const what = isAll ? "it" : lines.map(({ product }) => product).join(", ");
  return {
    papers: [ticket, ...orders],
    isCertain: true,
    billed: zero,
    expected,
    perGallon: null,
    over: worth.length === 0 ? null : Decimal.sum(worth).negated(),
    cause: `Ticket ${ticket.number} of ${ticket.day} is signed, and ${what} is on no invoice.`,
    next: NOT_BILLED[direction],
  };
}

/** Products of orders that are said to be delivered. */
function* orderedIn({ orders, tickets: all, run }: Situation) {
  for (const order of orders) {
    const tickets = all.filter((ticket) => ticket.order === order.id && isLive(ticket));
    const isDelivered = ["DELIVERED", "PENDING_VERIFICATION", "INVOICED"].includes(order.status);
    if (!isDelivered || tickets.length === 0 || !run.isIn(order.day)) continue;
    const [direction, party] = ["sale" as const, tickets[0]?.receiver ?? ""];
    const head = { direction, party, day: order.day, papers: [order, ...tickets] };
    for (const product of new Set(order.lines.map((line) => run.names.product(line.product))))
      yield { ...head, about: `${order.id} ${product}`, order, tickets, product };
  }
}

function partDelivered(
  { order, tickets, product }: Each<typeof orderedIn>,
  { run }: Situation,
): Verdict {
  const isIt = (line: { readonly product: string }) => run.isSame(line.product, product);
  const ordered = order.lines.filter(isIt);
  const delivered = tickets.flatMap(({ lines }) => lines.filter(isIt));
  const figures = [sumOf(delivered, ({ gross }) => gross), sumOf(delivered, ({ net }) => net)];
  const expected = sumOf(ordered, ({ gallons }) => gallons);
  const [billed] = figures.filter((one) => one !== null);
  if (!expected || !billed) return null;
  if (figures.some((one) => one !== null && run.isAlike(one, expected))) return NONE;
  const values = { billed, expected, perGallon: priceOf({ ordered }, "sale") };
  const cause = `${expected.plain()} gallons of ${product} were ordered, ${billed.plain()} delivered.`;
  const isLess = billed.compare(expected) < 0;
  const next = isLess ? "Deliver the rest, or close the order." : "Ask why more was delivered.";
  return { isCertain: false, isNeutral: true, ...values, cause, next };
}

function noOrder({ ticket, day }: Delivered, { orders, run }: Situation): Verdict {
  if (orders.some(({ id }) => id === ticket.order) || !run.isPatienceOver(day)) return NONE;
  const cause = `Ticket ${ticket.number} has no order${ticket.order === null ? "" : " that is known here"}.`;
  const next = "Enter the order, or say on whose word it was delivered.";
  return { isCertain: false, isNeutral: true, expected: "an order", cause, next };
}

/** A correction of exactly what a difference comes to, in money alone, mends it; each mends one. */
function isMended({ sums, finding }: Found, corrections: JoinedLine[]): boolean {
  const { direction, party } = finding;
  const at = corrections.findIndex(({ invoice, line: { amount } }) => {
    const isTheirs = invoice.direction === direction && invoice.party === party;
    return isTheirs && sums.some((sum) => amount?.negated().isWithin(CENT, sum));
  });
  return sums[0]?.sign !== 0 && at >= 0 && corrections.splice(at, 1).length > 0;
}

/** `compared`: what the comparison is called; `of`: what it looks at, one after the other. */
function rule<One extends Subject>(
  name: string,
  compared: string,
  of: (situation: Situation) => Iterable<One>,
  find: (one: One, situation: Situation) => Verdict,
) {
  function judge(situation: Situation): void {
    const { run, corrections } = situation;
    for (const one of of(situation)) {
      const verdict = find(one, situation);
      if (verdict === null) continue;
      const found = ("cause" in verdict ? [verdict] : verdict).map((it) => {
        const all = { ...made, ...one, ...it };
        // What is said of one line among others is levied by its own invoice.
        const lines = all.over === undefined ? all.lines : all.lines?.slice(0, 1);
        return findingOf(all, taxOn(lines ?? [], run), run.reference.party(all.party));
      });
      const standing = found.filter((it) => !isMended(it, corrections));
      run.judged(made, one, standing);
    }
  }
  const otherwise = ABSENT[name] ?? "both papers mean other things here";
  const made = { name, compared, otherwise, judge, isAlone: ALONE.has(name) };
  return made;
}

/** They find nothing in an invoice to which there is no other paper and no list. */
const ALONE = new Set(["billed-twice", "line-amount", "rack-and-margin", "tax"]);

/** Why most of what they compare differs: others mean other things by it. */
const ABSENT: Readonly<Record<string, string>> = {
  "no-delivery": "no tickets of it come here",
  "not-billed": "no invoices of it come here",
  "no-order": "no orders of it come here",
};

export const rules = [
  rule("billed-twice", "the same load on two lines", loadsIn, billedTwice),
  rule("wrong-product", "the product", loadsIn, wrongProduct),
  rule("quantity", "billed and delivered gallons", loadsIn, quantity),
  rule("net-from-gross", "net gallons from gross gallons", meteredIn, netFromGross),
  rule("line-amount", "a line's amount and its gallons at its rate", billedIn, lineAmount),
  rule("old-price-list", "the rack price and the list in force at delivery", billedIn, oldList),
  rule("wrong-terminal", "the terminal", billedIn, wrongTerminal),
  rule("order-price", "the rate and the order's price", billedIn, orderPrice),
  rule("rack-and-margin", "the rate and the line's rack price + margin", billedIn, rackAndMargin),
  rule("rack-price", "the rack price and the list in force", billedIn, otherList),
  rule("freight", "freight and its rate", haulsIn, freight),
  rule("tax", "taxes", taxesIn, taxes),
  rule("no-delivery", "whether what is billed was delivered", loadsIn, noDelivery),
  rule("not-billed", "whether what was delivered is billed", deliveredIn, notBilled),
  rule("part-delivered", "ordered and delivered gallons", orderedIn, partDelivered),
  rule("no-order", "the ticket's order", deliveredIn, noOrder),
];
