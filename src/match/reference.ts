/** What papers are compared with: prices as they were valid, usual rates of taxes, the usual basis, freight rates and places. */
import { Decimal } from "../core/decimal.ts";
import { type Names, push } from "./join.ts";
import {
  type Connection,
  type Day,
  decimal,
  type Direction,
  fold,
  type FreightRate,
  type Invoice,
  type InvoiceLine,
  lineKind,
  type Order,
  type Place,
  type Price,
  type TaxLine,
} from "./papers.ts";

export type Basis = "net" | "gross";

/** A tax rate that a site states itself. */
interface StatedTax {
  readonly tax: string;
  readonly product: string;
  readonly rate: Decimal;
}

interface InForce {
  /** Per gallon: those that count as in force. */
  readonly prices: readonly Price[];
  /** Those that were valid before. */
  readonly earlier: readonly Price[];
}

/** What a rate must have been seen, and its share of all, to be the usual one. */
const USUAL_OF_PARTY = 5;
const USUAL_OF_ALL = 10;
const USUAL_SHARE = 0.9;
const DAY_MS = 86_400_000;

export class Reference {
  readonly #names: Names;
  readonly #prices = new Map<string, Price[]>();
  /** Made when they are first asked for: all prices are here by then. */
  readonly #sorted = new Map<string, readonly Price[]>();
  readonly #seen = new Map<string, Map<string, number>>();
  readonly #stated = new Map<string, Decimal>();
  readonly #rates: FreightRate[] = [];
  readonly #places = new Map<string, Place>();
  readonly #connections = new Map<string, Connection>();
  readonly #parties = new Map<string, string>();
  /** Our own company; null: it is not known. */
  us: string | null = null;

  constructor(names: Names) {
    this.#names = names;
  }

  get has() {
    return {
      prices: this.#prices.size > 0,
      freightRates: this.#rates.length > 0,
      connections: this.#connections.size > 0,
    };
  }

  addPrice(price: Price): void {
    const key = `${this.#names.terminal(price.terminal)}|${this.#names.product(price.product)}`;
    push(this.#prices, key, price);
  }

  addFreightRate(rate: FreightRate): void {
    this.#rates.push(rate);
  }

  addPlace(place: Place): void {
    this.#places.set(place.id, place);
  }

  addConnection(connection: Connection): void {
    this.#connections.set(connection.id, connection);
  }

  nameParty(id: string, name: string): void {
    this.#parties.set(id, name);
  }

  /** As people know it: its name, else its code, else its id. */
  party(id: string): string {
    const named = this.#parties.get(id);
    if (named !== undefined) return named;
    for (const { from, to, code } of this.#connections.values())
      if (code !== null && (to === id || from === id) && id !== this.us) return code;
    return id === "" ? "nobody named" : id;
  }

  state(tax: StatedTax): void {
    this.#stated.set(`${fold(tax.tax)}|${this.#names.product(tax.product)}`, tax.rate);
  }

  /** What is usual follows from the site's own invoices. */
  learn(invoice: Invoice): void {
    const { direction, party } = invoice;
    for (const line of invoice.taxes) {
      if (line.rate === null) continue;
      const rate = Decimal.of(line.rate).plain();
      for (const key of this.#taxKeys(direction, party, line)) this.#count(key, rate);
    }
    for (const line of invoice.lines) {
      const basis = statedBasis(line);
      if (lineKind(line) === "fuel" && basis !== null)
        this.#count(`basis ${direction} ${party}`, basis);
    }
  }

  #taxKeys(direction: Direction, party: string, { tax, authority, product }: TaxLine): string[] {
    const what = `${fold(tax)}|${fold(authority)}|${this.#names.product(product ?? "")}`;
    return [`tax ${direction} ${party} ${what}`, `tax ${direction} ${what}`];
  }

  #count(key: string, value: string): void {
    const counts = this.#seen.get(key) ?? new Map<string, number>();
    counts.set(value, (counts.get(value) ?? 0) + 1);
    this.#seen.set(key, counts);
  }

  /** The value that nearly all have; null: too few were seen, or they disagree. */
  #usual(key: string, least: number): string | null {
    const counts = this.#seen.get(key);
    if (counts === undefined) return null;
    const all = [...counts.values()].reduce((sum, one) => sum + one, 0);
    const most = [...counts].find(([, count]) => count >= all * USUAL_SHARE);
    return most !== undefined && all >= least ? most[0] : null;
  }

  usualBasis(direction: Direction, party: string): Basis | null {
    return this.#usual(`basis ${direction} ${party}`, USUAL_OF_PARTY) as Basis | null;
  }

  /** The site's own table first, then what this party usually pays, then what all do; null: nothing is usual. */
  taxRate(
    direction: Direction,
    party: string,
    line: TaxLine,
  ): { readonly rate: Decimal; readonly isStated: boolean } | null {
    const stated =
      this.#stated.get(`${fold(line.tax)}|${this.#names.product(line.product ?? "")}`) ??
      this.#stated.get(`${fold(line.tax)}|`);
    if (stated !== undefined) return { rate: stated, isStated: true };
    const [own = "", all = ""] = this.#taxKeys(direction, party, line);
    const usual = this.#usual(own, USUAL_OF_PARTY) ?? this.#usual(all, USUAL_OF_ALL);
    return usual === null ? null : { rate: Decimal.of(usual), isStated: false };
  }

  /**
   * The rack price at a terminal when it was loaded: at the instant, or of a day alone whatever was valid during it. `before`:
   * the price before it counts as well. Null: no list is here that reaches so far back.
   */
  inForce(
    terminals: readonly string[],
    product: string,
    when: string,
    { direction, party }: Pick<Invoice, "direction" | "party">,
    before: boolean,
  ): InForce | null {
    const versions = terminals
      .map((terminal) =>
        this.#versions(
          `${this.#names.terminal(terminal)}|${product}`,
          direction === "sale" ? this.us : party,
          direction === "sale",
        ),
      )
      .find((one) => one.length > 0);
    if (versions === undefined) return null;
    const fromMs = Date.parse(when);
    const untilMs = when.length === 10 ? fromMs + DAY_MS : fromMs;
    const last = versions.findLastIndex((one) => one.fromMs <= untilMs);
    const first = versions.findLastIndex((one) => one.fromMs <= fromMs);
    if (first < 0) return null;
    const end = versions[first]?.untilMs ?? null;
    if (end !== null && end <= fromMs && first === last) return null;
    const from = before ? Math.max(first - 1, 0) : first;
    return { prices: versions.slice(from, last + 1), earlier: versions.slice(0, from) };
  }

  /** The versions of one company's list, the oldest first; `own`: those that name no company are its, too. */
  #versions(key: string, company: string | null, own: boolean): readonly Price[] {
    const kept = `${company}|${key}`;
    const known = this.#sorted.get(kept);
    if (known !== undefined) return known;
    const list = (this.#prices.get(key) ?? []).filter(
      (one) => one.company === company || (own && (one.company === null || company === null)),
    );
    // Of two with one beginning the later one corrects the other.
    const versions = [...new Map(list.map((one) => [one.fromMs, one])).values()].toSorted(
      (one, other) => one.fromMs - other.fromMs,
    );
    this.#sorted.set(kept, versions);
    return versions;
  }

  /** The freight rate of a party from a terminal to where an order goes; the most exact one. Null: none is here. */
  freightRate(
    party: string,
    order: Order,
    terminal: string | null,
    product: string,
    day: Day,
  ): FreightRate | null {
    const to = order.location === null ? undefined : this.#places.get(order.location);
    if (to === undefined || terminal === null) return null;
    const at = this.#names.terminal(terminal);
    const from = [...this.#places.values()].find(
      ({ code }) => code !== null && this.#names.terminal(code) === at,
    );
    const fits = this.#rates.flatMap((rate) => {
      const link = this.#connections.get(rate.connection);
      if (link === undefined || (link.to !== party && link.from !== party)) return [];
      if (rate.fromDay > day) return [];
      // Each: what the rate says, and what is so here; how exact a lane is, is how much of it is said.
      const conditions: [string | null, string | null][] = [
        [rate.product === null ? null : this.#names.product(rate.product), product],
        [rate.terminal, from?.id ?? null],
        [rate.terminal === null ? rate.city : null, from?.city ?? null],
        [rate.terminal === null ? rate.state : null, from?.state ?? null],
        [rate.zip, to.zip?.slice(0, 5) ?? null],
        [rate.zip === null ? rate.zipPrefix : null, to.zip?.slice(0, 3) ?? null],
        [rate.zip === null ? rate.toCity : null, to.city],
        [rate.zip === null ? rate.toState : null, to.state],
      ];
      const said = conditions.filter(([wanted]) => wanted !== null);
      const isHere = said.every(([wanted, found]) => fold(wanted ?? "") === fold(found ?? ""));
      return isHere ? [{ rate, exact: said.length }] : [];
    });
    const [best] = fits.toSorted(
      (one, other) =>
        other.exact - one.exact ||
        (one.rate.fromDay > other.rate.fromDay ? -1 : 1) ||
        (one.rate.id < other.rate.id ? -1 : 1),
    );
    return best?.rate ?? null;
  }
}

/** What the gallons of a line are, by its own other two figures; null: it does not say, or both are alike. */
export function statedBasis({ gallons, gross, net }: InvoiceLine): Basis | null {
  const [billed, grossly, netly] = [gallons, gross, net].map(decimal);
  if (!billed) return null;
  const [isNet, isGross] = [netly?.equals(billed) ?? false, grossly?.equals(billed) ?? false];
  if (isNet === isGross) return null;
  return isNet ? "net" : "gross";
}
