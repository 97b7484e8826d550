/** What one run judges by, one case as its rules see it, and what they have found. */
import { Decimal } from "../core/decimal.ts";
import { sha256 } from "../core/keys.ts";
import { beginOf } from "../core/time.ts";
import { type Case, GUESS, type Group, groupsOf, type JoinedLine, type Names } from "./join.ts";
import { type AnyPaper, type Day, type Direction, remembered } from "./papers.ts";
import type { Basis, Reference } from "./reference.ts";

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
  /** How they were joined. */
  readonly joined?: string;
}

/** What differs; what is left out is the subject's and the rule's. */
export interface Difference extends Partial<Subject> {
  /** Another name than the rule's own. */
  readonly name?: string;
  readonly isCertain: boolean;
  /** Which values were compared. */
  readonly compared?: string;
  readonly billed?: Decimal | string | null;
  readonly expected?: Decimal | string | null;
  /** Billed less expected; left out: it is not about gallons. */
  readonly gallons?: Decimal | null;
  /** What was billed too much, in money; negative: too little. Null: it cannot be told. */
  readonly over?: Decimal | null;
  /** Nobody is owed it. */
  readonly isNeutral?: boolean;
  readonly cause: string;
  readonly next?: string | undefined;
}

/** One difference between papers, with what it comes to. */
export type Finding = Readonly<ReturnType<Run["findingOf"]>>;

/** What all cases share. */
export class Run {
  readonly names: Names;
  readonly reference: Reference;
  readonly settings: MatchSettings;
  /** `rule`: its name and the direction. */
  readonly found: { readonly rule: string; readonly finding: Finding }[] = [];
  /** How often each rule compared, and found differences. */
  readonly counts = new Map<string, { compared: number; differing: number }>();
  /** When a day begins, ms UTC. */
  readonly beginOf = remembered((day: Day) => beginOf(day, this.settings.dayOf));
  /** Lines of tickets that the table of volume corrections does not cover. */
  beyondTable = 0;

  constructor(names: Names, reference: Reference, settings: MatchSettings) {
    this.names = names;
    this.reference = reference;
    this.settings = settings;
  }

  /** What a rule has found of a subject, which may be nothing. */
  judged(name: string, compared: string, subject: Subject, found: readonly Difference[]): void {
    const rule = `${name} ${subject.direction}`;
    const count = this.counts.get(rule) ?? { compared: 0, differing: 0 };
    this.counts.set(rule, count);
    count.compared++;
    if (found.length > 0) count.differing++;
    for (const one of found)
      this.found.push({ rule, finding: this.findingOf({ ...subject, name, compared, ...one }) });
  }

  findingOf(it: Difference & Subject & { readonly name: string; readonly compared: string }) {
    const { name, direction, party, day, compared, cause, over = null } = it;
    // What is billed too much is owed to who pays.
    const toUs = direction === "purchase" ? over : (over?.negated() ?? null);
    const isMoney = toUs !== null && toUs.round(2).sign !== 0;
    const amount = isMoney ? toUs.abs().round(2).fixed(2) : null;
    const whose = toUs?.sign === 1 ? ("us" as const) : ("them" as const);
    const [billed, expected] = [shown(it.billed), shown(it.expected)];
    const papers = it.papers.map(({ kind, id, number }) => ({ kind, id, number }));
    const values = [name, [billed, expected, amount ?? ""], papers.map(({ id }) => id)];
    return {
      /** The same difference has the same key in every run. */
      key: `${name} ${it.about}`,
      /** Of both sides' values: what a person accepts is exactly these. */
      digest: sha256(JSON.stringify(values)).slice(0, 22),
      rule: name,
      certainty: it.isCertain ? ("certain" as const) : ("probable" as const),
      direction,
      party,
      /** As people call it. */
      partyName: this.reference.party(party),
      day,
      /** As people find them. */
      papers,
      compared,
      billed,
      expected,
      /** Digits; null: it is not about gallons. */
      gallons: shown(it.gallons?.round(2)),
      /** Money in the company's currency, without a sign; null: it cannot be told, or it comes to nothing. */
      amount,
      /** Who is owed it; null: nobody, it only has to be looked at. */
      favour: isMoney && it.isNeutral !== true ? whose : null,
      joined: it.joined ?? "",
      cause,
      next: it.next ?? DISPUTE[direction],
    };
  }

  tolerance(gallons: Decimal): Decimal {
    const { tolerancePercent, toleranceGallons } = this.settings;
    return larger(gallons.abs().times(tolerancePercent).times(CENT), toleranceGallons);
  }

  /** Is it long enough ago that a paper which is not here will not come by itself? */
  isPatienceOver(day: Day): boolean {
    const { today, patienceDays } = this.settings;
    return Date.parse(today) - Date.parse(day) > patienceDays * 86_400_000;
  }

  isIn(day: Day): boolean {
    return day >= this.settings.from && day <= this.settings.to;
  }

  isSame(one: string, other: string): boolean {
    return this.names.product(one) === this.names.product(other);
  }
}

export type Situation = ReturnType<typeof situationOf>;

export const situationOf = (one: Case, run: Run) => ({
  ...one,
  ...groupsOf(one, run.names),
  run,
  /** What an earlier rule has explained: later ones do not tell it again. */
  explained: new Set<JoinedLine | Group>(),
  priced: new Set<JoinedLine>(),
  /** Something waits for a paper that is not here yet. */
  waits: false,
});

/** What a person does about it, by who has billed. */
const DISPUTE = {
  purchase: "Dispute it with the supplier, with both papers.",
  sale: "Credit the customer, or bill the rest.",
} as const;

export const CENT = Decimal.of("0.01");

const shown = (value: Decimal | string | null | undefined): string | null =>
  value instanceof Decimal ? value.plain() : (value ?? null);

export const isSure = ({ by }: JoinedLine): boolean => by !== null && by !== GUESS;

export const larger = (one: Decimal, other: Decimal): Decimal =>
  one.compare(other) > 0 ? one : other;
