/** Every paper in one case, every case judged by every rule, and what that comes to. */
import { Decimal } from "../core/decimal.ts";
import { byText } from "../core/text.ts";
import { type Case, type Names, Papers } from "./join.ts";
import {
  type AnyPaper,
  type Direction,
  type Invoice,
  isLive,
  lineKind,
  remembered,
} from "./papers.ts";
import { Reference } from "./reference.ts";
import { rules } from "./rules.ts";
import { type Finding, type MatchSettings, Situation } from "./situation.ts";

/** Only this party, or this direction; null: all. */
export interface MatchFilter {
  /** Its id, or a part of its name or code in any case. */
  readonly party: string | null;
  readonly direction: Direction | null;
}

interface Money {
  readonly forUs: string;
  readonly againstUs: string;
}

interface PartySum extends Money {
  readonly party: string;
  readonly partyName: string;
  readonly direction: Direction;
  readonly findings: number;
}

/** `wait`: a paper that is awaited is not here yet; `left`: nothing on it is fuel, or it is a draft or void. */
type State = "match" | "differ" | "wait" | "left";

export interface MatchReport {
  readonly from: string;
  readonly to: string;
  readonly filter: MatchFilter;
  readonly invoices: Readonly<Record<"all" | State, number>>;
  /** Of the findings, deliveries that are not billed left out. */
  readonly sums: Money;
  readonly notBilled: { readonly deliveries: number; readonly about: string };
  readonly parties: readonly PartySum[];
  /** By rule and party, the largest amount first. */
  readonly findings: readonly Finding[];
  /** Those that a person has accepted with these values: they count nowhere. */
  readonly accepted: readonly Finding[];
  /** What cannot be compared here, in sentences. */
  readonly notCompared: readonly string[];
}

/** More than this share of a comparison's results are differences: both sides mean other things there. */
const OTHER_MEANING = 0.5;
const TELLING = 10;

/** Papers and what they are compared with, filled first; then {@link run} once. */
export class Matching {
  readonly #names: Names;
  readonly #own: Names;
  readonly papers: Papers;
  readonly reference: Reference;
  readonly #kinds = new Set<Direction | AnyPaper["kind"]>();
  /** What lines call a product, beside its code; null: several products are called so. */
  readonly #called = new Map<string, string | null>();
  /** Records that are not as the platform specifies them. */
  #unreadable = 0;
  #beyondTable = 0;

  /** `again`: as {@link Papers}. */
  constructor(names: Names, again: (seq: number) => AnyPaper | null) {
    const own = { product: remembered(names.product), terminal: remembered(names.terminal) };
    const product = (text: string): string => {
      const known = own.product(text);
      return this.#called.get(known) ?? known;
    };
    this.#names = { ...own, product };
    this.papers = new Papers(this.#names, again);
    this.reference = new Reference(own);
    this.#own = own;
  }

  /**
   * `isSent`: as it was sent; the platform's own record of it goes before. Null: a record that could not be read. False: it is
   * not among those that are compared.
   */
  add(paper: AnyPaper | null, isSent = false): boolean {
    if (paper === null) this.#unreadable++;
    if (paper === null || !this.papers.add(paper, isSent)) return false;
    this.#kinds.add(paper.kind === "invoice" ? paper.direction : paper.kind);
    if (paper.kind !== "invoice" || !isLive(paper)) return true;
    this.reference.learn(paper);
    for (const { description, product } of paper.lines)
      if (product !== null && description !== "") this.#learnName(description, product);
    return true;
  }

  /** Where somebody typed what a product is called, the invoices say which one it is. */
  #learnName(text: string, product: string): void {
    const [called, code] = [this.#own.product(text), this.#own.product(product)];
    const known = this.#called.get(called);
    this.#called.set(called, known === undefined || known === code ? code : null);
    this.#called.set(code, null);
  }

  /** `each` is told of every case. Yields between steps: what runs it decides how long it takes. */
  *run(
    settings: MatchSettings,
    filter: MatchFilter,
    each: (one: Case) => void = () => {},
  ): Generator<undefined, MatchReport> {
    const found: Situation["findings"] = [];
    const counts: Situation["counts"] = new Map();
    const invoices = new Map<string, State>();
    let steps = 0;
    for (const one of this.papers.cases()) {
      if (++steps % 200 === 0) yield undefined;
      if (one === undefined) continue;
      const situation = new Situation(one, this.#names, this.reference, settings, counts);
      for (const rule of rules) rule.judge(situation);
      each(one);
      found.push(...situation.findings);
      this.#beyondTable += situation.beyondTable;
      for (const invoice of one.invoices)
        if (situation.isIn(invoice.day) && this.#isMeant(invoice, filter))
          invoices.set(invoice.id, stateOf(invoice, situation.waits));
    }
    const meaningless = new Set(
      [...counts].flatMap(([key, { compared, differing }]) =>
        compared >= TELLING && differing > compared * OTHER_MEANING ? [key] : [],
      ),
    );
    const all = found
      .filter(({ rule, finding }) => !meaningless.has(rule) && this.#isMeant(finding, filter))
      .toSorted((one, other) => place(one) - place(other) || inOrder(one.finding, other.finding))
      .map(({ finding }) => finding);
    const isAccepted = ({ key, digest }: Finding): boolean => settings.accepted.get(key) === digest;
    const told = all.filter((one) => !isAccepted(one));
    for (const { kind, id } of told.flatMap(({ papers }) => papers))
      if (kind === "invoice" && invoices.has(id)) invoices.set(id, "differ");
    const counted = { all: invoices.size, match: 0, differ: 0, wait: 0, left: 0 };
    for (const state of invoices.values()) counted[state]++;
    return {
      from: settings.from,
      to: settings.to,
      filter,
      ...summed(told),
      invoices: counted,
      findings: told,
      accepted: all.filter(isAccepted),
      notCompared: [...this.#lacking(), ...[...meaningless].map(inOtherWords)],
    };
  }

  #isMeant({ party, direction }: Pick<Invoice, "party" | "direction">, filter: MatchFilter) {
    if (filter.direction !== null && filter.direction !== direction) return false;
    if (filter.party === null || filter.party === party) return true;
    return this.reference.party(party).toLowerCase().includes(filter.party.toLowerCase());
  }

  /** Papers that no flow brings. */
  #lacking(): string[] {
    const { prices, lanes, owners } = this.reference.has;
    const has = (kind: Direction | AnyPaper["kind"]): boolean => this.#kinds.has(kind);
    const all: [boolean, string][] = [
      [has("sale"), "what we bill: no flow brings invoices that we issue"],
      [has("purchase"), "what we are billed: no flow brings invoices that we pay"],
      [
        has("ticket"),
        "gallons, net from gross, what is not billed or not delivered: no flow brings tickets",
      ],
      [has("order"), "ordered prices and gallons: no flow brings orders"],
      [prices, "the rack price in force: no flow brings rack prices"],
      [
        lanes,
        "freight: no flow brings freight rates, and there is no table crossref/freight-rates.csv",
      ],
      [owners || !lanes, "freight: no flow brings connections, which say whose a rate is"],
      [
        this.papers.changed.size === 0,
        `${this.papers.changed.size} papers of which some changed meanwhile: the next run has them`,
      ],
      [
        this.#beyondTable === 0,
        `net from gross of ${this.#beyondTable} ticket ${this.#beyondTable === 1 ? "line" : "lines"}: temperature or gravity is beyond the table`,
      ],
      [
        this.#unreadable === 0,
        `${this.#unreadable} records that are not as the platform specifies them`,
      ],
    ];
    return all.flatMap(([isHere, sentence]) => (isHere ? [] : [sentence]));
  }
}

function stateOf(invoice: Invoice, waits: boolean): State {
  const isCompared = isLive(invoice) && invoice.lines.some((line) => lineKind(line) === "fuel");
  if (!isCompared) return "left";
  return waits ? "wait" : "match";
}

const SIDES = { sale: "what we bill", purchase: "what we are billed" } as const;

function inOtherWords(key: string): string {
  const at = key.lastIndexOf(" ");
  const rule = rules.find(({ name }) => name === key.slice(0, at));
  const side = SIDES[key.slice(at + 1) as Direction];
  return `${rule?.title ?? key.slice(0, at)}, of ${side}: most of it differs, so both papers mean other things here`;
}

export const sizeOf = ({ amount }: Finding): Decimal =>
  amount === null ? Decimal.zero : Decimal.of(amount);

const place = ({ rule }: { readonly rule: string }): number =>
  rules.findIndex(({ name }) => rule.startsWith(`${name} `));

/** By name and party, each group's largest amount first. */
const inOrder = (one: Finding, other: Finding): number =>
  byText(one.rule, other.rule) ||
  byText(one.partyName, other.partyName) ||
  sizeOf(other).compare(sizeOf(one)) ||
  byText(one.key, other.key);

const isOpen = ({ rule }: Finding): boolean => rule === "not-billed";

const total = ({ forUs, againstUs }: Money): Decimal =>
  Decimal.of(forUs).plus(Decimal.of(againstUs));

/** The sums of these findings: every amount is in exactly one of them. */
export function summed(
  findings: readonly Finding[],
): Pick<MatchReport, "sums" | "notBilled" | "parties"> {
  const open = findings.filter(isOpen);
  const rest = findings.filter((one) => !isOpen(one));
  const parties = [...Map.groupBy(rest, ({ direction, party }) => `${direction} ${party}`)].map(
    ([, own]): PartySum => {
      const [{ party, partyName, direction }] = own as [Finding];
      return { party, partyName, direction, findings: own.length, ...moneyOf(own) };
    },
  );
  return {
    sums: moneyOf(rest),
    notBilled: { deliveries: open.length, about: Decimal.sum(open.map(sizeOf)).fixed(2) },
    parties: parties.toSorted(
      (one, other) => total(other).compare(total(one)) || byText(one.partyName, other.partyName),
    ),
  };
}

function moneyOf(findings: readonly Finding[]): Money {
  const sumFor = (favour: Finding["favour"]): string =>
    Decimal.sum(findings.filter((one) => one.favour === favour).map(sizeOf)).fixed(2);
  return { forUs: sumFor("us"), againstUs: sumFor("them") };
}
