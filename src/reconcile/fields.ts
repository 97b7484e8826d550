/**
 * What differs in a case. Twice: what the mapping and the receiver's `expect` say should be held, field by field, and a
 * plain look at both records without any mapping, because a wrong mapping agrees with itself.
 */
import { compare, differenceIn, type Ignore, isSame, type Value } from "../ledger/compare.ts";
import type { Fault } from "../core/record.ts";
import {
  type Facts,
  type Holding,
  type HoldingKind,
  type HoldingState,
  identityOf,
  isGoodsHolding,
} from "../core/holdings.ts";
import {
  type Case,
  type FieldDifference,
  isLive,
  leading,
  liveOf,
  type Side,
  type Told,
} from "./case.ts";
import { gallonsOf, moneyKinds } from "./sums.ts";
import { totalPaid } from "./match.ts";

/** Every difference of a case with records on both sides, each field once; the mapped comparison's words count. */
export function differencesOf(one: Case, told: Told | null, ignore: Ignore): FieldDifference[] {
  const links = one.contradictions.map((said) => ({ field: "link", ...said }));
  const [platform, books] = [leading(one.platform), leading(one.books)];
  if (platform === undefined || books === undefined) return [];
  const untold = untoldOf(one);
  if (untold !== null) return [notCompared(untold.side, untold.fault.message), ...links];
  if (isLumped(one) || isDoubled(one)) return [recordsOf(one), ...links];
  if (isUncounted(told, books)) return links;
  if (isLive(platform) !== isLive(books)) return [endedOf(platform, books), ...links];
  const mapped = mappedDifferences(one.kind, told, { platform, books }, ignore);
  const seen = new Set(mapped.map(({ field }) => field));
  // Gallons are the sum of the lines.
  if (mapped.some(({ field }) => field.startsWith("lines."))) seen.add("gallons");
  const began = told?.began ?? null;
  const plain = [
    ...plainState(platform, books, began),
    ...plainDifferences(one.kind, platform, books),
  ];
  return [...mapped, ...plain.filter(({ field }) => !seen.has(field)), ...links];
}

/** Goods that do not count on the platform (not yet, or not any more), and do not count in the books either. */
const isUncounted = (told: Told | null, books: Holding): boolean =>
  isGoodsHolding(books.kind) && told !== null && "skip" in told && !isLive(books);

/** A record that its side cannot tell whole; null: none. */
export function untoldOf(one: Pick<Case, Side>): { side: Side; fault: Fault } | null {
  for (const side of ["platform", "books"] as const)
    for (const { untold } of one[side]) if (untold !== undefined) return { side, fault: untold };
  return null;
}

/** More than one live record of a side, and no lump. One firm may be a party of each role. */
export const isDoubled = (one: Case): boolean =>
  !isLumped(one) && [one.platform, one.books].some(hasTwin);

const hasTwin = (holdings: readonly Holding[]): boolean =>
  [...Map.groupBy(liveOf(holdings), ({ role }) => role).values()].some(({ length }) => length > 1);

/** Payments that one payment of the other side settles in one: their sums are equal. */
export function isLumped({ kind, by, platform, books }: Case): boolean {
  if (by !== "lump" || (kind !== "payment" && kind !== "bill-payment")) return false;
  const [there, here] = [liveOf(platform), liveOf(books)];
  const isOneOfSeveral = Math.min(there.length, here.length) === 1;
  return isOneOfSeveral && totalPaid(there).equals(totalPaid(here));
}

const recordsOf = ({ platform, books }: Case): FieldDifference => ({
  field: "record",
  platform: listed(liveOf(platform)),
  books: listed(liveOf(books)),
});

/** Records of one number are told by their ids. */
function listed(holdings: readonly Holding[]): string {
  if (holdings.length === 0) return "none";
  const names = holdings.map(nameOf);
  const isClear = new Set(names).size === names.length;
  const shown = isClear ? names : holdings.map((one) => `${nameOf(one)} (${identityOf(one)})`);
  return `${holdings.length}: ${shown.join(", ")}`;
}

const nameOf = ({ id, facts }: Holding): string => facts.number ?? id;

type Pair = Readonly<Record<"platform" | "books", Holding>>;

function mappedDifferences(
  kind: HoldingKind,
  told: Told | null,
  pair: Pair,
  ignore: Ignore,
): FieldDifference[] {
  if (told === null) return [notCompared("platform", "no mapping tells what should be held")];
  if ("fault" in told) return [notCompared(told.began, told.fault.message)];
  if ("skip" in told) return moneyKinds.has(kind) ? [notCompared(told.began, told.skip)] : [];
  const held = told.began === "platform" ? pair.books : pair.platform;
  const differences = compare(kind, told.facts, held.facts, { ignore: ignore[kind] ?? [] });
  // Goods that a person entered have a number of their own.
  const isTheirs = isGoodsHolding(kind) && held.mark === null;
  return differences
    .filter(({ field }) => !isTheirs || field !== "number")
    .map(({ field, expected, held: there }) =>
      told.began === "platform"
        ? { field, platform: expected, books: there }
        : { field, platform: there, books: expected },
    );
}

const notCompared = (began: "platform" | "books", why: string): FieldDifference => ({
  field: "record",
  platform: began === "platform" ? `cannot be compared: ${why}` : "held",
  books: began === "books" ? `cannot be compared: ${why}` : "held",
});

/** Straight from both records. What a side does not show is left out, but for the amount: it must be there. */
function plainDifferences(kind: HoldingKind, platform: Holding, books: Holding): FieldDifference[] {
  const [one, other] = [platform.facts, books.facts];
  const differences: FieldDifference[] = [];
  const add = (field: string, ours: Shown, theirs: Shown): void => {
    if (ours === undefined || theirs === undefined || isSame(ours, theirs)) return;
    const { expected: platform, held: books } = differenceIn(field, ours, theirs);
    differences.push({ field, platform, books });
  };
  if (kind === "invoice" || kind === "bill") {
    if (!isSameNumber(one, other)) add("number", one.number, other.number);
    for (const name of ["untaxed", "tax", "total", "open"] as const)
      add(`money.${name}`, one.money?.[name], other.money?.[name]);
  }
  if (isGoodsHolding(kind) && [platform, books].every(isInGallons))
    add("gallons", gallonsOf(platform), gallonsOf(books));
  if (kind === "payment" || kind === "bill-payment")
    add("money.amount", one.money?.amount, other.money?.amount);
  if (kind === "price" && one.words?.unit === other.words?.unit)
    add("money.price", one.money?.price, other.money?.price);
  if (kind !== "party") add("currency", one.words?.currency, other.words?.currency);
  return [...differences, ...withoutAmount(kind, platform, books)];
}

type Shown = Value | undefined;

/** Books that count goods in one unit show none. */
const isInGallons = ({ facts: { lines = [] } }: Holding): boolean =>
  lines.every(({ unit }) => unit === null || unit.toLowerCase() === "gal");

/** Books may number by themselves and keep the platform's number as their reference. */
const isSameNumber = (one: Facts, other: Facts): boolean =>
  one.number === other.number ||
  (one.number !== undefined && one.number === other.words?.reference) ||
  (other.number !== undefined && other.number === one.words?.reference);

/** A record whose amount a side does not show is never equal. */
function withoutAmount(kind: HoldingKind, platform: Holding, books: Holding): FieldDifference[] {
  const shows = ({ facts: { money } }: Holding): boolean => {
    if (kind === "party" || isGoodsHolding(kind)) return true;
    const amount = kind === "price" ? money?.price : (money?.total ?? money?.amount);
    return amount !== undefined && amount !== null;
  };
  if (shows(platform) && shows(books)) return [];
  const neither = !shows(platform) && !shows(books);
  const said = (holding: Holding): string => (shows(holding) ? "held" : "shows no amount");
  const there = neither ? "neither side shows an amount" : said(platform);
  return [{ field: "record", platform: there, books: said(books) }];
}

/** Ended on one side only: nothing else needs to be said. */
const endedOf = (platform: Holding, books: Holding): FieldDifference => ({
  field: "state",
  platform: platform.facts.state ?? "not ended",
  books: books.facts.state ?? "not ended",
});

/**
 * States in words that both sides have: a dispute is open, a payment or party is there or ended, goods are draft or posted. A dispute about an
 * invoice of the books is known to the platform alone, and no delivery brings it there.
 */
function plainState(
  { kind, facts: one }: Holding,
  { facts: other }: Holding,
  began: Side | null,
): FieldDifference[] {
  if (one.state === undefined || other.state === undefined) return [];
  if (began === "books" && one.state === "disputed" && other.state !== "disputed")
    return [{ field: "state", platform: one.state, books: other.state }];
  const [platform, books] = [plainly(kind, one.state), plainly(kind, other.state)];
  return platform === books ? [] : [{ field: "state", platform, books }];
}

function plainly(kind: HoldingKind, state: HoldingState): string {
  if (state === "ended" || isGoodsHolding(kind)) return state;
  if (kind !== "invoice" && kind !== "bill") return "there";
  return state === "disputed" ? "open" : state;
}
