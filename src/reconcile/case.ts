/**
 * The words of a reconciliation. A case holds the records of both sides that are one thing, and ends in exactly one
 * bucket. Everything here is pure: who asks the sides, maps and knows the store hands it in.
 */
import type { Fault } from "../core/record.ts";
import {
  type Facts,
  gallonsIn,
  type Holding,
  type HoldingKind,
  holdingKinds,
  isGoodsHolding,
  type Role,
} from "../core/holdings.ts";
import { hash } from "node:crypto";
import { Decimal } from "../core/decimal.ts";
import { inCents } from "../core/text.ts";

export const sides = ["platform", "books"] as const;
export type Side = (typeof sides)[number];

/** The same of each side. */
export const both = <Of>(of: (side: Side) => Of): Readonly<Record<Side, Of>> => ({
  platform: of("platform"),
  books: of("books"),
});

/** Records as both sides tell them now. A record may come twice: its newest version counts. */
export type Records = Readonly<Record<Side, readonly Holding[]>>;

/** What the store remembers as one thing. It proposes a match; a record that says otherwise wins. */
export interface Link {
  readonly kind: HoldingKind;
  readonly platformId: string;
  /** What the books' holdings have as their id. */
  readonly erpId: string;
  /** Of a party: as what it is linked. Left out: as either. */
  readonly role?: Role;
}

/** What joined the records of a case, the strongest proof first; null: nothing, it is one-sided. */
export type Proof = "mark" | "link" | "number" | "lump" | null;

/** Records that are one thing. */
export interface Case {
  readonly kind: HoldingKind;
  /** Unique in its kind and the same from run to run while its records stay: `platform:<id>`, else `books:<id>`. */
  readonly key: string;
  readonly platform: readonly Holding[];
  readonly books: readonly Holding[];
  readonly by: Proof;
  /** Of a payment, the {@link key} of each document that it pays; empty: none was read, or it is no payment. */
  readonly pays: readonly string[];
  /** The party that each side names, in the books' words where they are known; null: it names none. */
  readonly parties: Readonly<Record<Side, string | null>>;
  /** Does the platform know that party? Books hold documents of others too, which are not compared. */
  readonly partyIsShared: boolean;
  /** Where the store or a record names another partner than this case has: what each says. */
  readonly contradictions: readonly Contradiction[];
  /** Records that may be the same and are not proven to be, in words. Only one-sided cases have any. */
  readonly suspects: readonly string[];
  /** One-sided goods of the books: they say what others of the platform's say, so that a person may have copied those. */
  readonly isCopy: boolean;
  /** One-sided: a record of the paired kind that this one's mark or number names (a sale that became a purchase). */
  readonly turned: string | null;
  /** One-sided: the other side's id that the store or a mark remembers and that is not there any more. */
  readonly lost: string | null;
}

export interface Contradiction {
  readonly platform: string;
  readonly books: string;
}

/**
 * A case's record of the side where it began, put into the other side's words by the flow's mapping and the other
 * side's `expect`; or why that cannot be done.
 */
export type Told = {
  readonly began: Side;
  /** Fields that a person corrected on the way, in words; left out: none. */
  readonly corrected?: string | null;
} & (
  | { readonly facts: Facts }
  /** The mapping rightly does not deliver it: why. */
  | { readonly skip: string }
  /** Not mapped, refused, or what it waits for. */
  | { readonly fault: Fault<string> }
);

/** What the store knows about a case's records now. All left out: nothing. */
export interface StoredState {
  /** A delivery is pending or frozen, a request is under way, or a record moved during the run: in words. */
  readonly waits?: { readonly for: string; readonly since: string | null };
  /** It was delivered, and is left open for its payments: how far it has come may differ, and nothing else. */
  readonly settling?: { readonly for: string };
  /** An open quarantine, of the versions at hand. `clears`: by itself, once what it waits for is there. */
  readonly person?: { readonly why: string; readonly clears?: boolean };
  /** The {@link Judged.digest} of what a person has accepted as it is. */
  readonly accepted?: string;
  /** A person has closed the quarantine of the version at hand. */
  readonly closed?: true;
  /** Why a one-sided record is rightly not on the other side (no flow delivers it, skipped). */
  readonly skip?: string;
}

/** In the order in which a case is tried: the first that holds. */
export const buckets = [
  "twice",
  "waiting",
  "void",
  "out of scope",
  "equal",
  "accepted",
  "in quarantine",
  "differs",
  "only on the platform",
  "only in the ERP",
] as const;
export type Bucket = (typeof buckets)[number];

/** Buckets in which nothing differs. */
export const agreeing: ReadonlySet<Bucket> = new Set(["equal", "void", "out of scope"]);

/** Does it keep the two sides from agreeing? What a person has accepted differs, and is counted apart. */
export const isOpen = ({ bucket }: { readonly bucket: Bucket }): boolean =>
  bucket !== "accepted" && !agreeing.has(bucket);

/** A part that the books have received. It differs until all is paid, and nobody can do anything: the platform takes no parts. */
export const isPaidInPart = ({ cause }: { readonly cause: Fault<string> | null }): boolean =>
  cause?.code === PARTLY_PAID;
export const PARTLY_PAID = "partly-paid";

/** One field of which the sides say different things. */
export interface FieldDifference {
  readonly field: string;
  readonly platform: string;
  readonly books: string;
}

/** A case in its bucket. */
export interface Judged extends Case {
  readonly bucket: Bucket;
  /** The side where it began: whose day, party and month count. */
  readonly began: Side;
  readonly differences: readonly FieldDifference[];
  /** Why it is where it is, and what to do; null where both sides agree without a word. */
  readonly cause: Fault<string> | null;
  /** Waits for longer than a day. */
  readonly overdue: boolean;
  /** The record of the side where it began in the other side's words; null: that cannot be said. */
  readonly told: Facts | null;
  /** SHA-256 over both sides' values: a decision of a person binds to it. Null where nobody needs to decide. */
  readonly digest: string | null;
}

/** Void, cancelled, credited in full: it counts with amount zero. */
export const isLive = ({ facts }: Holding): boolean => facts.state !== "ended";

export const liveOf = (holdings: readonly Holding[]): Holding[] => holdings.filter(isLive);

/** The record that stands for its side: a live one where there is any. */
export const leading = (holdings: readonly Holding[]): Holding | undefined =>
  holdings.find(isLive) ?? holdings[0];

export const isOnBoth = ({ platform, books }: Pick<Case, Side>): boolean =>
  platform.length > 0 && books.length > 0;

/** What is matched by records of another kind cannot be compared without them. */
export const RESTS_ON: Readonly<Partial<Record<HoldingKind, HoldingKind>>> = {
  payment: "invoice",
  "bill-payment": "bill",
};

export const otherSide = (side: Side): Side => (side === "platform" ? "books" : "platform");

/** What people know a case by. */
export function numberOf({ platform, books }: Pick<Case, Side>): string {
  const [there, here] = [leading(platform), leading(books)];
  return there?.facts.number ?? here?.facts.number ?? there?.id ?? here?.id ?? "";
}

/** `invoices`, `parties` */
export const manyOf = (kind: HoldingKind): string => (kind === "party" ? "parties" : `${kind}s`);

/** A case with all that decides about it. */
export interface Facing {
  readonly one: Case;
  readonly told: Told | null;
  readonly stored: StoredState;
  readonly differences: readonly FieldDifference[];
  /** Why a one-sided case is rightly so; null: it is not. */
  readonly skip: string | null;
}

// What a record counts for, and sums over records as they were read: they know nothing of cases.

/**
 * Every sum is of the company's currency: a record in another one counts with nothing, is not compared, and says what it
 * comes to.
 */
export function inCurrency(currency: string, holding: Holding): Holding {
  const { money, lines: _, taxes: __, ...facts } = holding.facts;
  const own = facts.words?.currency ?? currency;
  if (own === currency || holding.kind === "price") return holding;
  const amount = money?.total ?? money?.amount;
  const told = amount ? `${inCents(amount)} ${own}` : `in ${own}`;
  return {
    ...holding,
    facts,
    untold: holding.untold ?? {
      code: "other-currency",
      message: `it is ${told}, and what is compared and summed is in ${currency}`,
      next: "Compare it by hand, with the rate of its day.",
    },
  };
}

/** Kinds that move money between the company and a party. */
export const moneyKinds: ReadonlySet<HoldingKind> = new Set([
  "invoice",
  "bill",
  "payment",
  "bill-payment",
]);

/** In the company's currency. An ended document counts with zero, and so does a kind without money. */
export function amountOf({ kind, facts }: Holding): Decimal {
  if (facts.state === "ended" || !moneyKinds.has(kind)) return Decimal.zero;
  return facts.money?.total ?? facts.money?.amount ?? Decimal.zero;
}

/** Does its side tell no amount in the company's currency? It counts with zero, and is nothing of 0.00. */
export const isSilent = ({ kind, facts: { state, money } }: Holding): boolean =>
  moneyKinds.has(kind) && state !== "ended" && !money?.total && !money?.amount;

/**
 * Gallons of the lines of an order or a ticket; a line without a unit has them. An ended one counts with zero, and so does
 * a line in a unit that gallons cannot be told from, and a kind of another sort.
 */
export function gallonsOf({ kind, facts }: Holding): Decimal {
  if (facts.state === "ended" || !isGoodsHolding(kind)) return Decimal.zero;
  const gallons = (facts.lines ?? []).map(({ quantity, unit }) =>
    quantity?.times(gallonsIn(unit ?? "gal") ?? Decimal.zero),
  );
  return Decimal.sum(gallons.map((count) => count ?? Decimal.zero));
}

/** What is still to pay. A side that does not show it owes the total while the document is open. */
export function openOf({ kind, facts }: Holding): Decimal {
  if (kind !== "invoice" && kind !== "bill") return Decimal.zero;
  const isOwed = facts.state === "open" || facts.state === "disputed";
  return isOwed ? (facts.money?.open ?? facts.money?.total ?? Decimal.zero) : Decimal.zero;
}

/** A proof that nothing was left out or counted twice: taken of the rows, and again of the cases. */
export interface Control {
  readonly side: Side;
  readonly kind: HoldingKind;
  readonly count: number;
  readonly live: number;
  readonly amount: Decimal;
  readonly open: Decimal;
  readonly gallons: Decimal;
  /** The sum of SHA-256(id) modulo 2^256, hexadecimal: the same for the same set of ids in any order. */
  readonly ids: string;
}

/** Of both sides, kind by kind; kinds without a record are left out. */
export function controlsOf(records: Records): Control[] {
  return sides.flatMap((side) =>
    holdingKinds.flatMap((kind) => {
      const rows = records[side].filter((holding) => holding.kind === kind);
      return rows.length === 0 ? [] : [controlOf(side, kind, rows)];
    }),
  );
}

function controlOf(side: Side, kind: HoldingKind, rows: readonly Holding[]): Control {
  let ids = 0n;
  for (const { id } of rows) ids = (ids + BigInt(`0x${hash("sha256", id, "hex")}`)) % MODULUS;
  return {
    side,
    kind,
    count: rows.length,
    live: rows.filter(isLive).length,
    amount: Decimal.sum(rows.map(amountOf)),
    open: Decimal.sum(rows.map(openOf)),
    gallons: Decimal.sum(rows.map(gallonsOf)),
    ids: ids.toString(16).padStart(64, "0"),
  };
}

const MODULUS = 1n << 256n;

/** A {@link Control} as digits. */
export type ControlRow = {
  readonly [Name in keyof Control]: Control[Name] extends Decimal ? string : Control[Name];
};

export const controlRow = (control: Control): ControlRow => ({
  ...control,
  amount: inCents(control.amount),
  open: inCents(control.open),
  gallons: inCents(control.gallons),
});
