/**
 * What a run judges by: its settings and its reference data (prices as they were valid, usual rates of taxes, the usual basis,
 * freight rates and places), one case as its rules see it, and what they have found.
 */
import { Decimal } from "../core/decimal.ts";
import { push, sumOf } from "../core/groups.ts";
import { lookedUp, sha256 } from "../core/keys.ts";
import { remembered } from "../core/remembered.ts";
import { amountText, byText } from "../core/text.ts";
import { beginOf, DAY_MS } from "../core/time.ts";
import { fold, groupsOf, GUESS } from "./papers.ts";
import type {
  AnyPaper,
  Case,
  CompanyLink,
  Day,
  Direction,
  FreightRate,
  Group,
  Invoice,
  InvoiceLine,
  JoinedLine,
  Names,
  Order,
  Place,
  Price,
  TaxLine,
} from "./papers.ts";

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

/** What a rule looks at: whose it is, of which day, what it is called and which papers are about it. */
export interface Subject {
  readonly direction: Direction;
  /** The party's id. */
  readonly party: string;
  readonly day: Day;
  /** Beside the rule's name it makes the key of a finding. */
  readonly about: string;
  readonly papers: readonly AnyPaper[];
  /** By which they were joined; left out: by none. */
  readonly lines?: readonly JoinedLine[];
}

/** What differs; what is left out is the subject's and the rule's. */
export interface Difference extends Partial<Subject> {
  /** Another name than the rule's own. */
  readonly name?: string;
  readonly isCertain: boolean;
  /** Which values were compared. */
  readonly compared?: string;
  /** Gallons, or rates, or else money. */
  readonly billed?: Decimal | string | null | undefined;
  readonly expected?: Decimal | string | null | undefined;
  /** What a gallon comes to, where they are gallons; null: it cannot be told. */
  readonly perGallon?: Decimal | null;
  /** On how many gallons they are, where they are rates. */
  readonly onGallons?: Decimal | null;
  /** What was billed too much, in money, where that is said otherwise; negative: too little. Null: it cannot be told. */
  readonly over?: Decimal | null;
  /** Nobody is owed it. */
  readonly isNeutral?: boolean;
  readonly cause: string;
  readonly next?: string | undefined;
}

/** One difference between papers, with what it comes to. */
export type Finding = Readonly<Found["finding"]>;
export type Found = ReturnType<typeof findingOf>;

/**
 * `compared`: what the comparison is called; `otherwise`: what it means where most of what it compares differs; `isAlone`: it
 * looks at invoices without another paper or list.
 */
interface Rule {
  readonly name: string;
  readonly isAlone: boolean;
  readonly compared: string;
  readonly otherwise: string;
}

const { zero } = Decimal;
/** So many results tell, and more than this share of them. */
const TELLING = 10;
const OTHER_MEANING = 0.5;
const NEVER = { compared: 0, differing: 0 };

export type Run = ReturnType<typeof runOf>;

/** A rule among papers of one direction that began on one side: alike in what their figures mean, and in which papers come of them. */
export const nameOfSide = (rule: Rule, direction: Direction, isOfErp: boolean): string =>
  `${rule.name} ${direction} ${isOfErp}`;
export const SIDES = { sale: "what we bill", purchase: "what we are billed" } as const;

/** What all cases share. */
export function runOf(names: Names, reference: Reference, settings: MatchSettings) {
  const { from, to, today, patienceDays } = settings;
  const share = settings.tolerancePercent.times(CENT);
  const tolerance = (gallons: Decimal): Decimal =>
    larger(gallons.abs().times(share), settings.toleranceGallons);
  /** How often a rule compared, and found differences, among the papers of a side. */
  const counts = new Map<string, typeof NEVER>();
  /** Which rules, of which side, compared an invoice of the case with another paper or list. */
  const comparing = new Map<string, Set<string>>();
  const found: { readonly rule: Rule; readonly by: string; readonly finding: Finding }[] = [];
  /** More than half of what a rule compared differs, so that it says nothing about any of it: how much; null: not so. */
  function meaningless(by: string): typeof NEVER | null {
    const count = counts.get(by) ?? NEVER;
    const isTelling = count.compared >= TELLING;
    return isTelling && count.differing > count.compared * OTHER_MEANING ? count : null;
  }
  return {
    names,
    reference,
    settings,
    tolerance,
    found,
    /** Lines of tickets that the table of volume corrections does not cover. */
    beyondTable: 0,
    comparing,
    meaningless,
    /** When a day begins, ms UTC. */
    beginOf: remembered((day: Day) => beginOf(day, settings.dayOf)),

    /** What a rule has found of a subject, which may be nothing. */
    judged(rule: Rule, { direction, papers }: Subject, all: readonly Found[]): void {
      const isOfErp = papers.some((paper) => paper.isOfErp);
      const by = nameOfSide(rule, direction, isOfErp);
      const { compared, differing } = counts.get(by) ?? NEVER;
      counts.set(by, { compared: compared + 1, differing: differing + Math.sign(all.length) });
      for (const { kind, id } of rule.isAlone ? [] : papers)
        if (kind === "invoice") comparing.set(id, (comparing.get(id) ?? new Set()).add(by));
      for (const { finding } of all) found.push({ rule, by, finding });
    },

    /** Do these gallons differ from what is expected by no more than is tolerated? */
    isAlike: (gallons: Decimal, expected: Decimal): boolean =>
      gallons.equals(expected) || gallons.isWithin(tolerance(expected), expected),
    /** Is it long enough ago that a paper which is not here will not come by itself? */
    isPatienceOver: (day: Day): boolean =>
      Date.parse(today) - Date.parse(day) > patienceDays * DAY_MS,
    isIn: (day: Day): boolean => day >= from && day <= to,
    isSame: (one: string, other: string): boolean => names.product(one) === names.product(other),
  };
}

export type Situation = ReturnType<typeof situationOf>;

/** One case as its rules see it. */
export function situationOf(one: Case, run: Run) {
  const { groups, reversed } = groupsOf(one, run.names);
  /** Lines, groups, charges of invoices and, by a line's key, prices that an earlier rule has explained: later ones do not tell it again. */
  const explained = new Set<JoinedLine | Group | Invoice | string>();
  const corrections = one.lines.filter(({ line }) => line.kind === "correction");
  /** Fuel that is billed though nothing was delivered for it. */
  const baseless = new Set<JoinedLine>();
  /** Gallons that were billed too much, as they are told. */
  const surplus = new Map<InvoiceLine, Decimal>();
  /** `waits`: something waits for a paper that is not here yet. */
  const found = { explained, corrections, baseless, surplus, waits: false };
  return { ...one, groups, reversed, run, ...found };
}

/**
 * What differs of a subject, and the sums either of which a correction mends it by: without its taxes, and with them.
 * `levied`: of a gallon of it, in taxes.
 */
export function findingOf(it: Rule & Subject & Difference, levied: Decimal, partyName: string) {
  const { name, direction, party, day, compared, lines = [], perGallon, onGallons } = it;
  const isFigures = it.billed instanceof Decimal && it.expected instanceof Decimal;
  const off = isFigures ? it.billed.minus(it.expected) : null;
  const each = [perGallon, onGallons, Decimal.one].find((one) => one !== undefined);
  const untaxed = it.over === undefined ? ((each && off?.times(each)) ?? null) : it.over;
  const gallons = perGallon === undefined ? null : off;
  const exact = gallons?.times(levied) ?? zero;
  const taxes = exact.round(2);
  const over = untaxed?.plus(taxes) ?? null;
  const more = over && taxes.sign !== 0 && ` Taxes are ${amountText(taxes.abs())} of the amount.`;
  // What is billed too much is owed to who pays.
  const toUs = (direction === "purchase" ? over : over?.negated())?.round(2) ?? zero;
  const amount = toUs.sign === 0 ? null : toUs.abs().fixed(2);
  const whose = toUs.sign === 1 ? ("us" as const) : ("them" as const);
  const [billed, expected] = [shown(it.billed), shown(it.expected)];
  const papers = [...new Set(it.papers)].map(({ kind, id, number }) => ({ kind, id, number }));
  const joined = new Set(lines.flatMap(({ by }) => by ?? []));
  const values = [name, [billed, expected, amount ?? ""], papers.map(({ id }) => id)];
  const finding = {
    /** The same difference has the same key in every run. */
    key: `${name} ${it.about}`,
    /** Of both sides' values: what a person accepts is exactly these. */
    digest: sha256(JSON.stringify(values)).slice(0, 22),
    rule: name,
    certainty: it.isCertain ? ("certain" as const) : ("probable" as const),
    direction,
    party,
    /** As people call it. */
    partyName,
    day,
    /** As people find them. */
    papers,
    compared,
    billed,
    expected,
    /** Digits; null: it is not about gallons. */
    gallons: shown(gallons?.round(2)),
    /** Gallons of which each is billed at a rate that differs; null: it is not about a rate. */
    worth: shown(onGallons),
    /** Money in the company's currency, without a sign; null: it cannot be told, or it comes to nothing. */
    amount,
    /** Who is owed it; null: nobody, it only has to be looked at. */
    favour: amount !== null && it.isNeutral !== true ? whose : null,
    joined: [...joined].join(", "),
    cause: `${it.cause}${more || ""}`,
    next: it.next ?? DISPUTE[direction][amount === null ? "both" : whose],
  };
  return { finding, sums: untaxed === null ? [] : [untaxed, untaxed.plus(exact)] };
}

/** What a person does about it, by who has billed, and who is owed it. */
const DISPUTE = {
  purchase: {
    us: "Dispute it with the supplier, with both papers.",
    them: "The supplier billed too little: tell them, or expect a further bill.",
    both: "Dispute it with the supplier, with both papers.",
  },
  sale: {
    us: "Bill the rest.",
    them: "Credit the customer.",
    both: "Correct the invoice.",
  },
} as const;

const nameOfTax = ({ taxType, authority, productRef }: TaxLine): string =>
  [fold(taxType), fold(authority ?? ""), productRef ?? ""].join(" ");

const gallonsOf = (all: readonly { gallons: Decimal | null }[]): Decimal =>
  Decimal.sum(all.flatMap(({ gallons }) => gallons ?? []));

/** What invoices levy, by tax, authority and product, and the fuel that it is on: all where it names no product. */
export function levied({ lines, taxes }: Pick<Invoice, "lines" | "taxes">, run: Run) {
  const fuel = lines.filter((line) => line.kind === "fuel");
  return Array.from(Map.groupBy(taxes, nameOfTax), ([name, own]) => {
    const product = own[0]?.productRef ?? null;
    const isOn = (line: InvoiceLine): boolean =>
      product === null || run.isSame(product, line.product ?? "");
    return { name, own, product, isOn, fuel: fuel.filter(isOn) };
  });
}

/** What is levied on a gallon of lines of one product, by the taxes that are on as many gallons as their invoices bill of it. */
export function taxOn(about: readonly JoinedLine[], run: Run): Decimal {
  const invoices = [...new Set(about.map(({ invoice }) => invoice))];
  const [lines, taxes] = [invoices.flatMap((it) => it.lines), invoices.flatMap((it) => it.taxes)];
  const rates = levied({ lines, taxes }, run).flatMap(({ own, isOn, fuel }) =>
    about.some(({ line }) => isOn(line)) && run.isAlike(gallonsOf(own), gallonsOf(fuel))
      ? (own[0]?.rate ?? [])
      : [],
  );
  return Decimal.sum(rates);
}

export const CENT = Decimal.of("0.01");

const shown = (value: Decimal | string | null | undefined): string | null =>
  value instanceof Decimal ? value.plain() : (value ?? null);

export const isSure = ({ by }: JoinedLine): boolean => by !== null && by !== GUESS;

export const larger = (one: Decimal, other: Decimal): Decimal =>
  one.compare(other) > 0 ? one : other;

// Reference data.

type Basis = "net" | "gross";

/** What a rate must have been seen, and its share of all, to be the usual one. */
const USUAL_OF_PARTY = 5;
const USUAL_OF_ALL = 10;
const USUAL_SHARE = 0.9;
/** Lists by who bills: every party may have its own. */
const NAMES_MAX = 20_000;
/** A terminal's midnight is so near to the company's: a list that changes then is not two lists of one day. */
const ZONES_MS = 3 * 3_600_000;

/** A version of a list whose price is known. */
export type PostedPrice = Price & { readonly price: Decimal };

export class Reference {
  readonly #names: Names;
  /** By terminal and product. */
  readonly #prices = new Map<string, PostedPrice[]>();
  /** How often each value was seen, by what it is of. */
  readonly #seen = new Map<string, Map<string, number>>();
  readonly #stated = new Map<string, Decimal>();
  readonly #rates: FreightRate[] = [];
  readonly #places = new Map<string, Place>();
  readonly #terminals = new Map<string, Place>();
  readonly #links = new Map<string, CompanyLink>();
  readonly #codes = new Map<string, string>();
  readonly #parties = new Map<string, string>();
  /** Our own company; null: it is not known. */
  us: string | null = null;

  constructor(names: Names) {
    this.#names = names;
  }

  /** What is here; `lanes`: freight rates; `owners`: it is known of one whose it is, where there are any. */
  get has(): readonly (string | false)[] {
    const hasLanes = this.#rates.length > 0;
    const isOwned = ({ party, connectionId }: FreightRate): boolean =>
      party !== null || this.#links.has(connectionId ?? "");
    const hasOwners = !hasLanes || this.#rates.some(isOwned);
    return [this.#prices.size > 0 && "prices", hasLanes && "lanes", hasOwners && "owners"];
  }

  addPrice(version: Price | null): void {
    if (version === null || version.price === null || Number.isNaN(version.fromMs)) return;
    const product = this.#names.product(version.product);
    push(this.#prices, this.#listAt(version.terminal, product), version as PostedPrice);
  }

  #listAt(terminal: string, product: string): string {
    return `${this.#names.terminal(terminal)}|${product}`;
  }

  addFreightRate(rate: FreightRate | null): void {
    if (rate !== null) this.#rates.push(rate);
  }

  addPlace(place: Place | null): void {
    this.#places.set(place?.id ?? "", place ?? {});
    if (place?.terminalCode) this.#terminals.set(this.#names.terminal(place.terminalCode), place);
  }

  addLink(link: CompanyLink | null): void {
    this.#links.set(link?.id ?? "", link ?? {});
    for (const company of [link?.toCompanyId, link?.fromCompanyId])
      if (link?.erpId && company && !this.#codes.has(company)) this.#codes.set(company, link.erpId);
  }

  nameParty(id: string, name: string): void {
    this.#parties.set(lookedUp(id), name);
  }

  /** As people know it: its name, else its code, else its id. */
  party(id: string): string {
    return this.#parties.get(lookedUp(id)) ?? this.#code(id) ?? (id === "" ? "nobody named" : id);
  }

  #code(id: string): string | undefined {
    return id === this.us ? undefined : this.#codes.get(id);
  }

  /** The terminal that is called so; null: none that is known. */
  terminal(text: string | null): Place | null {
    return text === null ? null : (this.#terminals.get(this.#names.terminal(text)) ?? null);
  }

  /** A tax rate that a site states itself; an empty product or authority: any. */
  state(tax: string, product: string, rate: Decimal, authority = ""): void {
    this.#stated.set([fold(tax), fold(authority), this.#names.product(product)].join("|"), rate);
  }

  /** What is usual follows from the site's own invoices. */
  learn(invoice: Invoice): void {
    for (const line of invoice.taxes)
      if (line.rate !== null) {
        const { own, all } = this.#namesOfTax(invoice, line);
        for (const name of [own, all]) this.#saw(name, line.rate.plain());
      }
    for (const line of invoice.lines) {
      const basis = statedBasis(line);
      if (basis !== null && line.kind === "fuel") this.#saw(nameOfBasis(invoice), basis);
    }
  }

  #saw(name: string, value: string): void {
    const counts = this.#seen.get(name) ?? new Map<string, number>();
    this.#seen.set(name, counts.set(value, (counts.get(value) ?? 0) + 1));
  }

  /** The value that nearly all have; null: fewer than `least` were seen, or they disagree. */
  #usual(name: string, least: number): string | null {
    const counts = this.#seen.get(name) ?? new Map<string, number>();
    const all = sumOf(counts.values());
    const [value = null] = counts.entries().find(([, many]) => many >= all * USUAL_SHARE) ?? [];
    return all >= least ? value : null;
  }

  usualBasis(whose: Whose): Basis | null {
    return this.#usual(nameOfBasis(whose), USUAL_OF_PARTY) as Basis | null;
  }

  /** By what a tax was seen of its party, and of all; and as a site may state it. */
  #namesOfTax({ direction, party }: Whose, { taxType, authority, productRef }: TaxLine) {
    const [tax, whose] = [fold(taxType), fold(authority ?? "")];
    const product = this.#names.product(productRef ?? "");
    const all = `tax ${direction} ${tax}|${whose}|${product}`;
    const stated = [whose, ""].flatMap((it) => [`${tax}|${it}|${product}`, `${tax}|${it}|`]);
    return { own: `${all} of ${party}`, all, stated };
  }

  /** The site's own table first, then what this party usually pays, then what all do; null: nothing is usual. */
  taxRate(whose: Whose, line: TaxLine) {
    const { own, all, stated } = this.#namesOfTax(whose, line);
    const [known] = stated.flatMap((one) => this.#stated.get(one) ?? []);
    if (known !== undefined) return { rate: known, isStated: true };
    const rate = this.#usual(own, USUAL_OF_PARTY) ?? this.#usual(all, USUAL_OF_ALL);
    return rate === null ? null : { rate: Decimal.of(rate), isStated: false };
  }

  /**
   * Versions of the list at the first of these terminals that has one, as it was when something was loaded (an instant, or a
   * day alone: whatever was valid during it): those that count as in force, those before, and the newest in force.
   * `pricesBefore`: the price before it counts as well. Null: no list is here that reaches so far back.
   */
  inForce(terminals: readonly string[], product: string, when: string, whose: Whose, run: Run) {
    const { direction, party } = whose;
    const lists = terminals.map((terminal) => this.#listAt(terminal, product));
    const all = lists.map((list) => this.#versions([direction, party, list].join("\0")));
    const versions = all.find((one) => one.length > 0);
    if (versions === undefined) return null;
    const isDay = when.length === 10;
    const fromMs = isDay ? run.beginOf(when) + ZONES_MS : Date.parse(when);
    const untilMs = isDay ? fromMs + DAY_MS - 2 * ZONES_MS : fromMs;
    const last = versions.findLastIndex((one) => one.fromMs <= untilMs);
    const first = versions.findLastIndex((one) => one.fromMs <= fromMs);
    const now = versions[last];
    if (first < 0 || now === undefined) return null;
    const end = versions[first]?.untilMs ?? null;
    if (end !== null && end <= fromMs && first === last) return null;
    const from = run.settings.pricesBefore ? Math.max(first - 1, 0) : first;
    return { prices: versions.slice(from, last + 1), earlier: versions.slice(0, from), now };
  }

  /** The versions of the list of who bills, the oldest first; those that name no company are ours. */
  readonly #versions = remembered((name: string): readonly PostedPrice[] => {
    const [direction, party, list = ""] = name.split("\0");
    const isOwn = direction === "sale";
    const company = isOwn ? this.us : party;
    const own = this.#prices
      .get(list)
      ?.filter(({ company: its }) => its === company || (isOwn && (its === null || !company)));
    // Of two with one beginning the later one corrects the other.
    const versions = new Map(own?.map((one) => [one.fromMs, one])).values();
    return [...versions].sort((one, other) => one.fromMs - other.fromMs);
  }, NAMES_MAX);

  /** The freight rate of a party from a terminal to where an order goes; the most exact one. Null: none is here. */
  freightRate(party: string, order: Order, terminal: string | null, product: string, day: Day) {
    const to = this.#places.get(order.location ?? "");
    const from = this.terminal(terminal);
    if (to === undefined || terminal === null) return null;
    const codeOf = (text: string) => this.#places.get(text)?.terminalCode ?? text;
    const fits = this.#ratesWith(party).flatMap((rate) => {
      const zip = rate.destinationZip ?? rate.destinationZipPrefix ?? null;
      const [at, named] = [rate.originTerminalId, rate.product ?? null];
      // Each: what the rate says, and what is so here; how exact a lane is, is how much of it is said.
      const conditions = [
        [named === null ? null : this.#names.product(named), product],
        [at === null ? null : this.#names.terminal(codeOf(at)), this.#names.terminal(terminal)],
        [at === null ? rate.originCity : null, from?.city],
        [at === null ? rate.originState : null, from?.state],
        [zip, to.zip?.slice(0, zip?.length)],
        [zip === null ? rate.destinationCity : null, to.city],
        [zip === null ? rate.destinationState : null, to.state],
      ].filter(([wanted]) => wanted !== null && wanted !== undefined);
      const isHere = conditions.every(([it, found]) => fold(it ?? "") === fold(found ?? ""));
      const exact = conditions.length + (zip?.length === 5 ? 1 : 0);
      const since = rate.effectiveAt?.slice(0, 10) ?? "";
      return isHere && since <= day ? [{ rate, exact, since }] : [];
    });
    const [best] = fits.toSorted(
      (one, other) =>
        other.exact - one.exact ||
        byText(other.since, one.since) ||
        byText(one.rate.id ?? "", other.rate.id ?? ""),
    );
    return best?.rate ?? null;
  }

  /** Those that are agreed with a party. */
  readonly #ratesWith = remembered((party: string): readonly FreightRate[] => {
    const name = this.#parties.get(lookedUp(party)) ?? party;
    const called = [party, name, this.#code(party) ?? party].map(fold);
    return this.#rates.filter((rate) => {
      const link = this.#links.get(rate.connectionId ?? "");
      if (rate.party !== null) return called.includes(fold(rate.party));
      return link?.fromCompanyId === party || link?.toCompanyId === party;
    });
  });
}

const BY_LOAD = /^(?:load|flat|trip|delivery)?$/i;
const BY_GALLON = /^gal/i;

/** Fees that a rate allows, in money for a load; `gallons`: of the load. What is by the hour, or has no amount, tells none. */
export const feesOf = ({ customFees }: FreightRate, gallons: Decimal) =>
  (customFees ?? []).flatMap(({ label, amount, unit }) => {
    const by = unit ?? "";
    const times = BY_LOAD.test(by) ? Decimal.one : BY_GALLON.test(by) ? gallons : null;
    return times && amount ? [{ label: fold(label), amount: amount.times(times).round(2) }] : [];
  });

/** Of a rate by the mile without miles, the least that it can be. */
export function freightOf(rate: FreightRate): Decimal {
  const run = rate.ratePerMile?.times(rate.miles ?? zero) ?? zero;
  const base = larger((rate.flatFee ?? zero).plus(run).round(2), rate.minCharge ?? zero);
  const surcharge = base.times(rate.fuelSurchargePercent ?? zero).times(CENT);
  return base.plus(surcharge.round(2));
}

type Whose = Pick<Invoice, "direction" | "party">;
const nameOfBasis = ({ direction, party }: Whose): string => `basis ${direction} ${party}`;

/** What the gallons of a line are, by its own other two figures; null: it does not say, or both are alike. */
export function statedBasis({ gallons, grossGallons, netGallons }: InvoiceLine): Basis | null {
  if (gallons === null) return null;
  const [isNet, isGross] = [netGallons, grossGallons].map((one) => one?.equals(gallons) === true);
  if (isNet === isGross) return null;
  return isNet ? "net" : "gross";
}
