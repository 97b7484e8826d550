/** Every paper in one case, every case judged by every rule, and what that comes to. */
import { Decimal } from "../core/decimal.ts";
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

export interface MatchReport {
  readonly from: string;
  readonly to: string;
  readonly filter: MatchFilter;
  readonly invoices: {
    readonly all: number;
    readonly match: number;
    readonly differ: number;
    /** A paper that is awaited is not here yet. */
    readonly wait: number;
    /** Nothing on it is fuel, or it is a draft or void. */
    readonly left: number;
  };
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
const SIDES = { sale: "what we bill", purchase: "what we are billed" } as const;

/** Papers and what they are compared with, filled first; then {@link run} once. */
export class Matching {
  readonly #names: Names;
  readonly #own: Names;
  readonly papers: Papers;
  readonly reference: Reference;
  readonly #kinds = new Map<string, number>();
  /** What lines call a product, beside its code; null: several products are called so. */
  readonly #called = new Map<string, string | null>();

  constructor(names: Names) {
    const own = { product: remembered(names.product), terminal: remembered(names.terminal) };
    const product = (text: string): string => {
      const known = own.product(text);
      return this.#called.get(known) ?? known;
    };
    this.#names = { ...own, product };
    this.papers = new Papers(this.#names);
    this.reference = new Reference(own);
    this.#own = own;
  }

  /** `isSent`: as it was sent; the platform's own record of it goes before. */
  add(paper: AnyPaper, isSent = false): void {
    const before = this.papers.size;
    if (isSent) this.papers.addSent(paper);
    else this.papers.add(paper);
    if (this.papers.size === before) return;
    const kind = paper.kind === "invoice" ? paper.direction : paper.kind;
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
    if (paper.kind !== "invoice" || !isLive(paper)) return;
    this.reference.learn(paper);
    for (const { text, product } of paper.lines)
      if (product !== null && text !== "") this.#learnName(text, product);
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
    each: (one: Case, situation: Situation) => void = () => {},
  ): Generator<undefined, MatchReport> {
    const findings: Finding[] = [];
    const counts = new Map<string, { compared: number; differing: number }>();
    const wrong = new Set<string>();
    const waiting = new Set<string>();
    const invoices: { id: string; isCompared: boolean; key: string }[] = [];
    let steps = 0;
    for (const one of this.papers.cases()) {
      if (++steps % 200 === 0) yield undefined;
      if (one === undefined) continue;
      const situation = new Situation(one, this.#names, this.reference, settings);
      for (const rule of rules) rule.find(situation);
      each(one, situation);
      for (const [key, { compared, differing }] of situation.counts) {
        const count = counts.get(key) ?? { compared: 0, differing: 0 };
        counts.set(key, {
          compared: count.compared + compared,
          differing: count.differing + Math.min(differing, Math.max(compared, 1)),
        });
      }
      findings.push(...situation.findings);
      for (const invoice of one.invoices) {
        if (!situation.isIn(invoice.day) || !this.#isMeant(invoice, filter)) continue;
        const isCompared =
          isLive(invoice) && invoice.lines.some((line) => lineKind(line) === "fuel");
        invoices.push({ id: invoice.id, isCompared, key: invoice.direction });
        if (situation.waits) waiting.add(invoice.id);
      }
    }
    const meaningless = new Set(
      [...counts].flatMap(([key, { compared, differing }]) =>
        compared >= TELLING && differing > compared * OTHER_MEANING ? [key] : [],
      ),
    );
    const all = findings
      .filter(
        (one) =>
          !meaningless.has(`${countedAs(one.rule)} ${one.direction}`) && this.#isMeant(one, filter),
      )
      .toSorted(inOrder);
    const isAccepted = ({ key, digest }: Finding): boolean => settings.accepted.get(key) === digest;
    const told = all.filter((one) => !isAccepted(one));
    for (const { papers } of told)
      for (const { kind, id } of papers) if (kind === "invoice") wrong.add(id);
    return {
      from: settings.from,
      to: settings.to,
      filter,
      ...summed(told),
      invoices: {
        all: invoices.length,
        match: invoices.filter(
          ({ id, isCompared }) => isCompared && !wrong.has(id) && !waiting.has(id),
        ).length,
        differ: invoices.filter(({ id }) => wrong.has(id)).length,
        wait: invoices.filter(
          ({ id, isCompared }) => isCompared && !wrong.has(id) && waiting.has(id),
        ).length,
        left: invoices.filter(({ id, isCompared }) => !isCompared && !wrong.has(id)).length,
      },
      findings: told,
      accepted: all.filter(isAccepted),
      notCompared: [...this.#lacking(), ...[...meaningless].map(inOtherWords)],
    };
  }

  #isMeant({ party, direction }: Pick<Invoice, "party" | "direction">, filter: MatchFilter) {
    if (filter.direction !== null && filter.direction !== direction) return false;
    if (filter.party === null || filter.party === party) return true;
    const name = this.reference.party(party).toLowerCase();
    return name.includes(filter.party.toLowerCase());
  }

  /** Papers that no flow brings. */
  #lacking(): string[] {
    const { prices, freightRates, connections } = this.reference.has;
    const has = (kind: string): boolean => (this.#kinds.get(kind) ?? 0) > 0;
    return [
      has("sale") ? [] : ["what we bill: no flow brings invoices that we issue"],
      has("purchase") ? [] : ["what we are billed: no flow brings invoices that we pay"],
      has("ticket")
        ? []
        : ["gallons, net from gross, what is not billed or not delivered: no flow brings tickets"],
      has("order") ? [] : ["ordered prices and gallons: no flow brings orders"],
      prices ? [] : ["the rack price in force: no flow brings rack prices"],
      freightRates
        ? connections
          ? []
          : ["freight: no flow brings connections, which say whose a rate is"]
        : ["freight: no flow brings freight rates"],
    ].flat();
  }
}

/** A rule that tells under several names counts its comparisons under one. */
const countedAs = (rule: string): string =>
  rule.startsWith("tax-") ? "tax" : rule === "wrong-basis" ? "quantity" : rule;

function inOtherWords(key: string): string {
  const at = key.lastIndexOf(" ");
  const rule = rules.find(({ name }) => name === key.slice(0, at));
  const side = SIDES[key.slice(at + 1) as Direction];
  return `${rule?.title ?? key.slice(0, at)}, of ${side}: most of it differs, so both papers mean other things here`;
}

const sizeOf = ({ amount }: Finding): Decimal =>
  amount === null ? Decimal.zero : Decimal.of(amount);

const place = ({ rule }: Finding): number =>
  rules.findIndex(({ name }) => name === countedAs(rule));

/** By rule in the order of the rules and by party, each group's largest amount first. */
function inOrder(one: Finding, other: Finding): number {
  return (
    place(one) - place(other) ||
    compareText(one.rule, other.rule) ||
    compareText(one.partyName, other.partyName) ||
    sizeOf(other).compare(sizeOf(one)) ||
    compareText(one.key, other.key)
  );
}

const compareText = (one: string, other: string): number =>
  one < other ? -1 : one > other ? 1 : 0;

const NOT_BILLED = "not-billed";

const total = ({ forUs, againstUs }: Money): Decimal =>
  Decimal.of(forUs).plus(Decimal.of(againstUs));

/** The sums of these findings: every amount is in exactly one of them. */
export function summed(
  findings: readonly Finding[],
): Pick<MatchReport, "sums" | "notBilled" | "parties"> {
  const open = findings.filter(({ rule }) => rule === NOT_BILLED);
  const rest = findings.filter(({ rule }) => rule !== NOT_BILLED);
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
      (one, other) =>
        total(other).compare(total(one)) || compareText(one.partyName, other.partyName),
    ),
  };
}

const moneyOf = (findings: readonly Finding[]): Money => ({
  forUs: sumFor(findings, "us"),
  againstUs: sumFor(findings, "them"),
});

const sumFor = (findings: readonly Finding[], favour: Finding["favour"]): string =>
  Decimal.sum(findings.filter((one) => one.favour === favour).map(sizeOf)).fixed(2);
