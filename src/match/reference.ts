/** What papers are compared with: prices as they were valid, usual rates of taxes, the usual basis, freight rates and places. */
import { Decimal } from "../core/decimal.ts";
import { byText } from "../core/text.ts";
import { type Names, push } from "./join.ts";
import {
  type CompanyLink,
  type Day,
  fold,
  type FreightRate,
  type Invoice,
  type InvoiceLine,
  lineKind,
  type Order,
  type Place,
  type Price,
  remembered,
  type TaxLine,
} from "./papers.ts";

export type Basis = "net" | "gross";

/** What a rate must have been seen, and its share of all, to be the usual one. */
const USUAL_OF_PARTY = 5;
const USUAL_OF_ALL = 10;
const USUAL_SHARE = 0.9;
const DAY_MS = 86_400_000;
/** A terminal's midnight is so near to the company's: a list that changes then is not two lists of one day. */
const ZONES_MS = 3 * 3_600_000;

/** A version of a list whose price is known. */
export type PostedPrice = Price & { readonly price: Decimal };

export class Reference {
  readonly #names: Names;
  /** By terminal and product; and of who bills, sorted when it is first asked for: all are here by then. */
  readonly #prices = new Map<string, PostedPrice[]>();
  readonly #sorted = new Map<string, readonly PostedPrice[]>();
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

  /** `lanes`: freight rates are here; `owners`: it is known of one whose it is. */
  get has() {
    const isOwned = (one: FreightRate): boolean =>
      one.party !== null || this.#links.has(one.connectionId ?? "");
    const [prices, lanes] = [this.#prices.size > 0, this.#rates.length > 0];
    return { prices, lanes, owners: this.#rates.some(isOwned) };
  }

  addPrice(version: Price | null): void {
    if (version === null || version.price === null || Number.isNaN(version.fromMs)) return;
    const key = `${this.#names.terminal(version.terminal)}|${this.#names.product(version.product)}`;
    push(this.#prices, key, version as PostedPrice);
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
    this.#parties.set(id, name);
  }

  /** As people know it: its name, else its code, else its id. */
  party(id: string): string {
    return this.#parties.get(id) ?? this.#code(id) ?? (id === "" ? "nobody named" : id);
  }

  #code(id: string): string | undefined {
    return id === this.us ? undefined : this.#codes.get(id);
  }

  /** The terminal that is called so; null: none that is known. */
  terminal(text: string | null): Place | null {
    return text === null ? null : (this.#terminals.get(this.#names.terminal(text)) ?? null);
  }

  /** A tax rate that a site states itself; an empty product: any. */
  state(tax: string, product: string, rate: Decimal): void {
    this.#stated.set(`${fold(tax)}|${this.#names.product(product)}`, rate);
  }

  /** What is usual follows from the site's own invoices. */
  learn(invoice: Invoice): void {
    for (const line of invoice.taxes)
      if (line.rate !== null)
        for (const key of this.#taxKeys(invoice, line)) this.#count(key, line.rate.plain());
    for (const line of invoice.lines) {
      const basis = statedBasis(line);
      if (basis !== null && lineKind(line) === "fuel") this.#count(basisKey(invoice), basis);
    }
  }

  #taxKeys({ direction, party }: Whose, { taxType, authority, productRef }: TaxLine): string[] {
    const what = `${fold(taxType)}|${fold(authority ?? "")}|${this.#names.product(productRef ?? "")}`;
    return [`tax ${direction} ${party} ${what}`, `tax ${direction} ${what}`];
  }

  #count(key: string, value: string): void {
    const counts = this.#seen.get(key) ?? new Map<string, number>();
    this.#seen.set(key, counts.set(value, (counts.get(value) ?? 0) + 1));
  }

  /** The value that nearly all have; null: too few were seen, or they disagree. */
  #usual(key: string, least: number): string | null {
    const counts = [...(this.#seen.get(key) ?? [])];
    const all = counts.reduce((sum, [, count]) => sum + count, 0);
    const [value = null] = counts.find(([, count]) => count >= all * USUAL_SHARE) ?? [];
    return all >= least ? value : null;
  }

  usualBasis(whose: Whose): Basis | null {
    return this.#usual(basisKey(whose), USUAL_OF_PARTY) as Basis | null;
  }

  /** The site's own table first, then what this party usually pays, then what all do; null: nothing is usual. */
  taxRate(whose: Whose, line: TaxLine): { rate: Decimal; isStated: boolean } | null {
    const product = this.#names.product(line.productRef ?? "");
    const tax = fold(line.taxType);
    const stated = this.#stated.get(`${tax}|${product}`) ?? this.#stated.get(`${tax}|`);
    if (stated !== undefined) return { rate: stated, isStated: true };
    const [own = "", all = ""] = this.#taxKeys(whose, line);
    const rate = this.#usual(own, USUAL_OF_PARTY) ?? this.#usual(all, USUAL_OF_ALL);
    return rate === null ? null : { rate: Decimal.of(rate), isStated: false };
  }

  /**
   * Versions of the list at the first of these terminals that has one, as it was when something was loaded (an instant, or a
   * day alone: whatever was valid during it): those that count as in force, those before, and the newest in force.
   * `pricesBefore`: the price before it counts as well. Null: no list is here that reaches so far back.
   */
  inForce(
    terminals: readonly string[],
    product: string,
    when: string,
    whose: Whose,
    run: { readonly beginOf: (day: Day) => number; readonly settings: { pricesBefore: boolean } },
  ) {
    const versions = terminals
      .map((terminal) => this.#versions(`${this.#names.terminal(terminal)}|${product}`, whose))
      .find((one) => one.length > 0);
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
  #versions(key: string, { direction, party }: Whose): readonly PostedPrice[] {
    const isOwn = direction === "sale";
    const company = isOwn ? this.us : party;
    const known = this.#sorted.get(`${company}|${key}`);
    if (known !== undefined) return known;
    const list = (this.#prices.get(key) ?? []).filter(
      (one) => one.company === company || (isOwn && (one.company === null || company === null)),
    );
    // Of two with one beginning the later one corrects the other.
    const versions = [...new Map(list.map((one) => [one.fromMs, one])).values()];
    versions.sort((one, other) => one.fromMs - other.fromMs);
    this.#sorted.set(`${company}|${key}`, versions);
    return versions;
  }

  /** The freight rate of a party from a terminal to where an order goes; the most exact one. Null: none is here. */
  freightRate(
    party: string,
    { location }: Order,
    terminal: string | null,
    product: string,
    day: Day,
  ): FreightRate | null {
    const to = this.#places.get(location ?? "");
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
  readonly #ratesWith = remembered((party): readonly FreightRate[] => {
    const called = [party, this.#parties.get(party) ?? party, this.#code(party) ?? party].map(fold);
    return this.#rates.filter((rate) => {
      const link = this.#links.get(rate.connectionId ?? "");
      if (rate.party !== null) return called.includes(fold(rate.party));
      return link?.fromCompanyId === party || link?.toCompanyId === party;
    });
  });
}

type Whose = Pick<Invoice, "direction" | "party">;
const basisKey = ({ direction, party }: Whose): string => `basis ${direction} ${party}`;

/** What the gallons of a line are, by its own other two figures; null: it does not say, or both are alike. */
export function statedBasis({ gallons, grossGallons, netGallons }: InvoiceLine): Basis | null {
  if (gallons === null) return null;
  const [isNet, isGross] = [netGallons, grossGallons].map((one) => one?.equals(gallons) === true);
  if (isNet === isGross) return null;
  return isNet ? "net" : "gross";
}
