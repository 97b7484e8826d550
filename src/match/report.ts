/** Every paper in one case, every case judged by every rule, and what that comes to. */
import { Decimal } from "../core/decimal.ts";
import { remembered } from "../core/remembered.ts";
import { memoryScratch } from "../core/scratch.ts";
import { byText } from "../core/text.ts";
import { isLive, Papers } from "./papers.ts";
import type { AnyPaper, Case, Direction, Names } from "./papers.ts";
import { nameOfSide, Reference, runOf, SIDES, situationOf } from "./situation.ts";
import type { Finding, MatchSettings, Run } from "./situation.ts";
import { rules } from "./rules.ts";

/** Only this party, or this direction; null: all. */
export interface MatchFilter {
  /** Its id, or a part of its name or code in any case. */
  readonly party: string | null;
  readonly direction: Direction | null;
}

/** Is it of the party and direction that were asked for? */
export const isMeant = (
  { party, partyName, direction }: Pick<Finding, "party" | "partyName" | "direction">,
  filter: MatchFilter,
): boolean =>
  [null, direction].includes(filter.direction) &&
  (filter.party === null ||
    filter.party === party ||
    partyName.toLowerCase().includes(filter.party.toLowerCase()));

type Returned<Run> = Run extends Generator<undefined, infer Report> ? Report : never;
export type MatchReport = Returned<ReturnType<Matching["run"]>>;

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

  /** `scratch`: where papers are until they are judged. */
  constructor({ product, terminal }: Names, scratch = memoryScratch()) {
    this.#own = { product: remembered(product), terminal: remembered(terminal) };
    const known = (text: string): string => {
      const own = this.#own.product(text);
      return this.#called.get(own) ?? own;
    };
    this.#names = { ...this.#own, product: known };
    this.papers = new Papers(this.#names, scratch);
    this.reference = new Reference(this.#own);
  }

  /** `isSent`: as it was sent; the platform's own record of it goes before. Null: a record that could not be read. */
  add(paper: AnyPaper | null, isSent = false): void {
    if (paper === null) this.#unreadable++;
    if (paper === null || !this.papers.add(paper, isSent)) return;
    this.#kinds.add(paper.kind === "invoice" ? paper.direction : paper.kind);
    if (paper.kind !== "invoice" || !isLive(paper)) return;
    this.reference.learn(paper);
    for (const { description, product } of paper.lines)
      if (product !== null && description !== "") this.#learnName(description, product);
  }

  /** Where somebody typed what a product is called, the invoices say which one it is. */
  #learnName(text: string, product: string): void {
    const [called, code] = [this.#own.product(text), this.#own.product(product)];
    const known = this.#called.get(called);
    this.#called.set(called, known === undefined || known === code ? code : null);
    this.#called.set(code, null);
  }

  /** `each` is told of every case. Yields between steps: what runs it decides how long it takes. */
  *run(settings: MatchSettings, filter: MatchFilter, each: (one: Case) => void = () => {}) {
    const run = runOf(this.#names, this.reference, settings);
    /**
     * `wait`: a paper that is awaited is not here yet; `alone`: there is nothing here to compare it with; `left`: nothing on it
     * is fuel, or it is a draft or void.
     */
    const invoices = { all: 0, match: 0, differ: 0, wait: 0, alone: 0, left: 0 };
    /**
     * How many there are of a state and of those that compared them: they count when it is known which comparisons say
     * something. Of a case in which something was found each by its id: whether that is told is not known yet.
     */
    const counts = new Map<string, number>();
    let steps = 0;
    for (const one of this.papers.cases()) {
      if (++steps % 50 === 0) yield undefined;
      if (one === undefined) continue;
      const situation = situationOf(one, run);
      const before = run.found.length;
      run.comparing.clear();
      for (const rule of rules) rule.judge(situation);
      each(one);
      for (const invoice of one.invoices) {
        const partyName = this.reference.party(invoice.party);
        if (!run.isIn(invoice.day) || !isMeant({ ...invoice, partyName }, filter)) continue;
        const isJudged = isLive(invoice) && invoice.lines.some(({ kind }) => kind === "fuel");
        const state = !isJudged ? "left" : situation.waits ? "wait" : "match";
        const id = run.found.length > before ? invoice.id : "";
        const name = [state, id, ...(run.comparing.get(invoice.id) ?? [])].join("\n");
        counts.set(name, (counts.get(name) ?? 0) + 1);
        invoices.all++;
      }
    }
    const { from, to, accepted } = settings;
    const all = run.found
      .filter(({ by }) => run.meaningless(by) === null)
      .filter(({ finding }) => isMeant(finding, filter))
      .toSorted(
        (one, other) => placeOf(one) - placeOf(other) || inOrder(one.finding, other.finding),
      )
      .map(({ finding }) => finding);
    const isAccepted = ({ key, digest }: Finding): boolean => accepted.get(key) === digest;
    const findings = all.filter((one) => !isAccepted(one));
    const papers = findings.flatMap((one) => one.papers);
    const told = new Set(papers.map(({ kind, id }) => `${kind} ${id}`));
    for (const [name, count] of counts) {
      const [state = "", id = "", ...comparing] = name.split("\n");
      const isCompared = comparing.some((by) => run.meaningless(by) === null);
      if (told.has(`invoice ${id}`)) invoices.differ += count;
      else if (state === "match") invoices[isCompared ? "match" : "alone"] += count;
      else invoices[state as "left" | "wait"] += count;
    }
    return {
      from,
      to,
      filter,
      ...summed(findings),
      invoices,
      /** By rule and party, the largest amount first. */
      findings,
      /** Those that a person has accepted with these values: they count nowhere. */
      accepted: all.filter(isAccepted),
      /** What cannot be compared here, in sentences. */
      notCompared: [...this.#lacking(run.beyondTable), ...meaninglessIn(run)],
    };
  }

  /** Papers that no flow brings, and what of those that are here cannot be compared. */
  #lacking(beyond: number): string[] {
    const has = new Set<unknown>([...this.#kinds, ...this.reference.has]);
    const all = Object.entries(LACKING).flatMap(([what, told]) => (has.has(what) ? [] : [told]));
    const of = beyond === 1 ? "1 ticket line" : `${beyond} ticket lines`;
    if (beyond > 0) all.push(`net from gross of ${of}: temperature or gravity is beyond the table`);
    if (this.#unreadable > 0)
      all.push(`${this.#unreadable} records that are not as the platform specifies them`);
    return all;
  }
}

/** What cannot be compared where nothing of this kind is here. */
const LACKING = {
  sale: "what we bill: no flow brings invoices that we issue",
  purchase: "what we are billed: no flow brings invoices that we pay",
  ticket: "gallons, net from gross, what is not billed or not delivered: no flow brings tickets",
  order: "ordered prices and gallons: no flow brings orders",
  prices: "the rack price in force: no flow brings rack prices",
  lanes: "freight: no flow brings freight rates, and there is no table crossref/freight-rates.csv",
  owners: "freight: no flow brings connections, which say whose a rate is",
};

const meaninglessIn = (run: Run): string[] =>
  (["sale", "purchase"] as const).flatMap((direction) =>
    [false, true].flatMap((isOfErp) =>
      rules.flatMap((rule) => {
        const count = run.meaningless(nameOfSide(rule, direction, isOfErp));
        if (count === null) return [];
        const of = isOfErp ? `${SIDES[direction]} from the ERP` : SIDES[direction];
        return `${rule.compared}, of ${of}: ${count.differing} of ${count.compared} differ, so ${rule.otherwise}`;
      }),
    ),
  );

export const sizeOf = ({ amount }: Finding): Decimal =>
  amount === null ? Decimal.zero : Decimal.of(amount);

const placeOf = ({ rule }: Run["found"][number]): number => (rules as unknown[]).indexOf(rule);

/** By name and party, each group's largest amount first. */
const inOrder = (one: Finding, other: Finding): number =>
  byText(one.rule, other.rule) ||
  byText(one.partyName, other.partyName) ||
  sizeOf(other).compare(sizeOf(one)) ||
  byText(one.key, other.key);

/** The sums of these findings: every amount is in exactly one of them. */
export function summed(findings: readonly Finding[]) {
  const { open = [], rest = [] } = Object.groupBy(findings, ({ rule }) =>
    rule === "not-billed" ? "open" : "rest",
  );
  const byParty = Map.groupBy(rest, ({ direction, party }) => `${direction} ${party}`);
  const parties = Array.from(byParty.values(), (own) => {
    const [{ party, partyName, direction }] = own as [Finding];
    return { party, partyName, direction, findings: own.length, ...moneyOf(own) };
  });
  return {
    /** Of the findings, deliveries that are not billed left out. */
    sums: moneyOf(rest),
    notBilled: { deliveries: open.length, about: Decimal.sum(open.map(sizeOf)).fixed(2) },
    parties: parties.toSorted(
      (one, other) =>
        totalOf(other).compare(totalOf(one)) || byText(one.partyName, other.partyName),
    ),
  };
}

const totalOf = ({ forUs, againstUs }: ReturnType<typeof moneyOf>): Decimal =>
  Decimal.of(forUs).plus(Decimal.of(againstUs));

function moneyOf(findings: readonly Finding[]) {
  const sumFor = (favour: Finding["favour"]): string =>
    Decimal.sum(findings.filter((one) => one.favour === favour).map(sizeOf)).fixed(2);
  return { forUs: sumFor("us"), againstUs: sumFor("them") };
}
