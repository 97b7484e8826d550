/** What is compared in money: prices, freight and taxes. One rule each; their order is in rules.ts. */
import { Decimal } from "../core/decimal.ts";
import type { Link } from "./join.ts";
import {
  type Day,
  decimal,
  fold,
  type FreightRate,
  type Invoice,
  isLive,
  lineKind,
  type TaxLine,
} from "./papers.ts";
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

const CENT = Decimal.of("0.01");
const PRICE_STEP = Decimal.of("0.0001");

/** The rack price on a line beside the list that was in force where and when it was loaded. */
export function oldList(situation: Situation): void {
  for (const { link, lists, rack } of racks(situation)) {
    const then = lists.earlier.findLast((one) => isPosted(rack, one));
    const now = lists.prices.at(-1);
    if (lists.prices.some((one) => isPosted(rack, one)) || then === undefined || now === undefined)
      continue;
    const off = rack.minus(now.price);
    situation.explained.add(`price ${lineKey(link)}`);
    tellRack(situation, "old-price-list", link, rack, now.price, off, [
      `The list of ${dayOf(then.fromMs)} was taken (${rack.plain()}); in force was that of ${dayOf(now.fromMs)} (${now.price.plain()}).`,
      true,
    ]);
  }
}

export function rackPrice(situation: Situation): void {
  for (const { link, lists, rack } of racks(situation)) {
    const { direction } = link.invoice;
    situation.compared("rack-price", direction);
    const now = lists.prices.at(-1);
    if (
      now === undefined ||
      situation.explained.has(`price ${lineKey(link)}`) ||
      [...lists.prices, ...lists.earlier].some((one) => isPosted(rack, one))
    )
      continue;
    situation.explained.add(`price ${lineKey(link)}`);
    const off = rack.minus(now.price);
    tellRack(situation, "rack-price", link, rack, now.price, off, [
      `The line's rack price is ${rack.plain()}; the list of ${dayOf(now.fromMs)} says ${now.price.plain()}.`,
      false,
    ]);
  }
}

function tellRack(
  situation: Situation,
  rule: string,
  link: Link,
  rack: Decimal,
  expected: Decimal,
  off: Decimal,
  [cause, isCertain]: readonly [string, boolean],
): void {
  const gallons = decimal(link.line.gallons);
  situation.tell(rule, {
    ...headOf(link),
    about: lineKey(link),
    papers: papersOf([link], link.tickets),
    isCertain: isCertain && isSure(link),
    compared: "the rack price and the list in force at delivery",
    billed: rack,
    expected,
    over: gallons === null ? null : off.times(gallons),
    joined: joinedBy([link]),
    cause,
    next: dispute(link.invoice.direction),
  });
}

const isPosted = (rack: Decimal, one: { price: Decimal; spread: Decimal }): boolean =>
  [one.price, one.price.plus(one.spread)].some((price) => isUnder(rack.minus(price), PRICE_STEP));
const isUnder = (off: Decimal, step: Decimal): boolean => off.abs().compare(step) < 0;
const dayOf = (ms: number): Day => new Date(ms).toISOString().slice(0, 10);

/** Lines with a rack price for which the history of the list reaches back far enough. */
function* racks(situation: Situation) {
  const { reference, settings } = situation;
  for (const group of situation.groups)
    for (const link of situation.linksOf(group)) {
      const rack = decimal(link.line.rack);
      const when = link.line.delivered ?? group.tickets[0]?.day;
      if (rack === null || when === undefined || when === "") continue;
      const terminals = terminalsOf(group, link);
      const lists = reference.inForce(
        terminals,
        group.product,
        when,
        link.invoice,
        settings.pricesBefore,
      );
      if (lists !== null) yield { link, lists, rack };
    }
}

const terminalsOf = (group: Group, { line }: Link): string[] =>
  [
    ...group.ordered.map(({ terminal }) => terminal),
    ...group.tickets.map(({ terminal }) => terminal),
    line.location,
  ].filter((one) => one !== null);

/** The rate of a line beside the order's price. */
export function orderPrice(situation: Situation): void {
  for (const group of situation.groups) {
    const agreed = group.ordered.flatMap(
      (line) => decimal(group.direction === "sale" ? line.sell : line.buy) ?? [],
    );
    if (agreed.length === 0) continue;
    for (const link of situation.linksOf(group)) {
      const [rate, gallons] = [decimal(link.line.rate), decimal(link.line.gallons)];
      if (rate === null) continue;
      situation.compared("order-price", group.direction);
      if (situation.explained.has(`price ${lineKey(link)}`)) continue;
      const [nearest] = agreed.toSorted((one, two) =>
        one.minus(rate).abs().compare(two.minus(rate).abs()),
      );
      if (nearest === undefined || isUnder(rate.minus(nearest), PRICE_STEP)) continue;
      situation.explained.add(`price ${lineKey(link)}`);
      situation.tell("order-price", {
        ...headOf(link),
        about: lineKey(link),
        papers: [...papersOf([link], link.tickets), ...group.orders],
        isCertain: !group.isOrderGuess && isSure(link),
        compared: "the rate and the order's price",
        billed: rate,
        expected: nearest,
        over: gallons === null ? null : rate.minus(nearest).times(gallons),
        joined: joinedBy([link]),
        cause: `${rate.plain()} a gallon is billed, ${nearest.plain()} was ordered.`,
        next: dispute(group.direction),
      });
    }
  }
}

/** The rate of a line beside its own rack price and margin. */
export function rackAndMargin(situation: Situation): void {
  for (const group of situation.groups)
    for (const link of situation.linksOf(group)) {
      const [rate, rack, margin, gallons] = [
        link.line.rate,
        link.line.rack,
        link.line.margin,
        link.line.gallons,
      ].map(decimal);
      if (!rate || !rack || !margin) continue;
      situation.compared("rack-and-margin", group.direction);
      const expected = rack.plus(margin);
      const off = rate.minus(expected);
      if (isUnder(off, PRICE_STEP) || situation.explained.has(`price ${lineKey(link)}`)) continue;
      situation.explained.add(`price ${lineKey(link)}`);
      situation.tell("rack-and-margin", {
        ...headOf(link),
        about: lineKey(link),
        papers: papersOf([link], link.tickets),
        isCertain: true,
        compared: "the rate and the line's rack price + margin",
        billed: rate,
        expected,
        over: gallons ? off.times(gallons) : null,
        joined: joinedBy([link]),
        cause: `${rate.plain()} a gallon is billed; rack price ${rack.plain()} + margin ${margin.plain()} is ${expected.plain()}.`,
        next: dispute(group.direction),
      });
    }
}

/** Invoices of the days that are asked for. */
const invoicesOf = ({ case: { invoices }, settings }: Situation): Invoice[] =>
  invoices.filter((one) => isLive(one) && one.day >= settings.from && one.day <= settings.to);

const amountsOf = (invoice: Invoice, kind: ReturnType<typeof lineKind>): Decimal =>
  Decimal.sum(
    invoice.lines
      .filter((line) => lineKind(line) === kind)
      .flatMap((line) => decimal(line.amount) ?? []),
  );

/** Freight and its surcharge beside the party's rate for that lane: once for each load. */
export function freight(situation: Situation): void {
  for (const invoice of invoicesOf(situation)) {
    const loads = loadsOf(situation, invoice);
    if (loads === null) continue;
    situation.compared("freight", invoice.direction);
    const billed = amountsOf(invoice, "freight").plus(amountsOf(invoice, "surcharge"));
    const hasAny = invoice.lines.some((line) => lineKind(line) === "freight");
    const isExact = loads.every(({ perMile }) => perMile === null);
    const expected = Decimal.sum(loads.map(freightOf));
    if (isExact ? isNear(billed, expected, CENT) : hasAny && billed.compare(expected) >= 0)
      continue;
    situation.tell("freight", {
      direction: invoice.direction,
      party: invoice.party,
      day: invoice.day,
      about: invoice.id,
      papers: [invoice, ...situation.case.orders],
      isCertain: isExact || !hasAny,
      compared: "freight with its surcharge, and the freight rate of the lane",
      billed,
      expected,
      over: billed.minus(expected),
      cause: `${hasAny ? `${billed.fixed(2)} of freight is billed` : "No freight is billed"}; the rate of this lane comes to ${isExact ? "" : "at least "}${expected.fixed(2)} for ${loads.length === 1 ? "one load" : `${loads.length} loads`}.`,
      next:
        invoice.direction === "sale" && billed.compare(expected) < 0
          ? "Bill the freight, or correct the rate."
          : dispute(invoice.direction),
    });
  }
}

/** The freight rate of each load of an invoice; null: one of them has none. */
function loadsOf(situation: Situation, invoice: Invoice): FreightRate[] | null {
  const groups = situation.groups.filter(
    ({ direction, links }) =>
      direction === invoice.direction && links.some((link) => link.invoice === invoice),
  );
  const rates = new Map<string, FreightRate | null>();
  for (const group of groups) {
    const load = group.key.split("\n")[1] ?? "";
    const [order] = group.orders;
    const [line] = group.ordered;
    const rate =
      order === undefined || line === undefined
        ? null
        : situation.reference.freightRate(
            invoice.party,
            order,
            line.terminal,
            group.product,
            invoice.day,
          );
    rates.set(load, rates.get(load) ?? rate);
  }
  const all = [...rates.values()];
  return all.length === 0 || all.includes(null) ? null : (all as FreightRate[]);
}

/** Of a rate by the mile, the least that it can be. */
function freightOf({ flat, least, surcharge }: FreightRate): Decimal {
  const [fixed, min] = [decimal(flat) ?? Decimal.zero, decimal(least) ?? Decimal.zero];
  const base = fixed.compare(min) < 0 ? min : fixed;
  const percent = decimal(surcharge) ?? Decimal.zero;
  return base.plus(base.times(percent).times(CENT).round(2));
}

/** Taxes: none twice, its amount is its rate times its gallons, its rate the usual one, its gallons those that are billed. */
export function taxes(situation: Situation): void {
  const { reference } = situation;
  for (const invoice of invoicesOf(situation)) {
    const { direction, party } = invoice;
    const seen = new Set<string>();
    for (const [at, line] of invoice.taxes.entries()) {
      situation.compared("tax", direction);
      const [amount, rate, gallons] = [line.amount, line.rate, line.gallons].map(decimal);
      const tell = taxTeller(situation, invoice, line, at);
      const same = JSON.stringify([
        fold(line.tax),
        fold(line.authority),
        line.product,
        line.gallons,
        line.amount,
      ]);
      if (seen.has(same)) {
        tell(
          "tax-twice",
          line.product !== null,
          amount ?? null,
          Decimal.zero,
          amount ?? null,
          `${line.tax} on ${line.product ?? "the invoice"} is billed twice.`,
        );
        continue;
      }
      seen.add(same);
      if (!rate || !amount) continue;
      if (gallons && !isNear(rate.times(gallons), amount, CENT)) {
        const right = rate.times(gallons).round(2);
        tell(
          "tax-amount",
          true,
          amount,
          right,
          amount.minus(right),
          `${line.tax}: ${rate.plain()} × ${gallons.plain()} gallons is ${right.fixed(2)}, ${amount.fixed(2)} is billed.`,
        );
      }
      const usual = reference.taxRate(direction, party, line);
      if (usual !== null && !isUnder(rate.minus(usual.rate), Decimal.of("0.000001"))) {
        const base = gallons ?? (rate.sign === 0 ? Decimal.zero : amount.over(rate, 6));
        tell(
          "tax-rate",
          usual.isStated,
          rate,
          usual.rate,
          rate.minus(usual.rate).times(base),
          `${line.tax} is billed at ${rate.plain()}; ${usual.isStated ? "crossref/tax-rates.csv says" : "usual here is"} ${usual.rate.plain()}.`,
        );
      }
      const fuel = invoice.lines.filter(
        (one) =>
          lineKind(one) === "fuel" &&
          one.product !== null &&
          line.product !== null &&
          situation.names.product(one.product) === situation.names.product(line.product),
      );
      const billed = sumOf(fuel.map((one) => one.gallons));
      if (gallons && billed !== null && !isNear(gallons, billed, situation.tolerance(billed)))
        tell(
          "tax-gallons",
          false,
          gallons,
          billed,
          gallons.minus(billed).times(rate),
          `${line.tax} is on ${gallons.plain()} gallons, ${billed.plain()} are billed.`,
        );
    }
  }
}

const taxTeller =
  (situation: Situation, invoice: Invoice, line: TaxLine, at: number) =>
  (
    rule: string,
    isCertain: boolean,
    billed: Decimal | null,
    expected: Decimal,
    over: Decimal | null,
    cause: string,
  ): void =>
    situation.tell(rule, {
      direction: invoice.direction,
      party: invoice.party,
      day: invoice.day,
      about: `${invoice.id} ${fold(line.tax)} ${line.product ?? ""} ${at}`,
      papers: [invoice],
      isCertain,
      compared: `${line.tax}, ${line.authority}`,
      billed,
      expected,
      over,
      cause,
      next: dispute(invoice.direction),
    });
