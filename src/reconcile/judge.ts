/** Puts a case into exactly one bucket, with its differences, cause and next step. */
import type { Ignore } from "../ledger/compare.ts";
import { Decimal } from "../core/decimal.ts";
import { type HoldingKind, isGoodsHolding } from "../core/holdings.ts";
import { sha256 } from "../core/keys.ts";
import {
  agreeing,
  type Bucket,
  buckets,
  type Case,
  type Facing,
  type FieldDifference,
  isLive,
  isOnBoth,
  isOpen,
  type Judged,
  leading,
  liveOf,
  numberOf,
  type Side,
  sides,
  type StoredState,
  type Told,
} from "./case.ts";
import { differencesOf, isDoubled } from "./fields.ts";
import { totalPaid } from "./payments.ts";
import { causeOf, doubtfulPart, PROGRESS } from "./reasons.ts";

export interface Judging {
  /** Null: no mapping tells it; such a case is never equal where money is concerned. */
  readonly told: (one: Case) => Told | null;
  readonly stored: (one: Case) => StoredState;
  readonly ignore: Ignore;
  /** ISO 8601 UTC: what waits for longer than a day is overdue. */
  readonly now: string;
}

/** Every case in its bucket. */
export function judgeAll(cases: readonly Case[], judging: Judging): Judged[] {
  const judged = withAwaited(
    cases.map((one) => judge(one, judging)),
    judging,
  );
  const settled = settledIn(judged);
  const all = judged.map((one) => {
    const skip = settled.get(one);
    return skip === undefined ? one : judge(one, { ...judging, stored: () => ({ skip }) });
  });
  return withDoubtful(all);
}

/** A part that is paid in the books by a payment which the platform has taken back or moved is no usual part. */
function withDoubtful(judged: readonly Judged[]): Judged[] {
  const doubtful = new Map<string, Judged>();
  for (const payment of judged) {
    const { kind, bucket, platform, lost } = payment;
    if (kind !== "payment" || !isOpen(payment) || bucket === "waiting") continue;
    if (platform.length === 0 && lost === null) continue;
    for (const { facts } of payment.books)
      if (facts.words?.document) doubtful.set(facts.words.document, payment);
  }
  return judged.map((one) => {
    const payment = one.cause?.code === "partly-paid" && doubtfulOf(one, doubtful);
    return payment ? { ...one, cause: doubtfulPart(numberOf(payment)) } : one;
  });
}

const doubtfulOf = ({ books }: Case, doubtful: ReadonlyMap<string, Judged>): Judged | undefined =>
  doubtful.get(leading(books)?.facts.number ?? "");

/** A document whose payments are still under way waits for them. */
function withAwaited(judged: Judged[], judging: Judging): Judged[] {
  const awaited = new Map<string, Judged>();
  for (const payment of judged)
    if (payment.bucket === "waiting")
      for (const side of sides)
        for (const { facts } of payment[side])
          if (facts.words?.document)
            awaited.set(`${side} ${payment.kind} ${facts.words.document}`, payment);
  if (awaited.size === 0) return judged;
  return judged.map((one) => {
    if (one.bucket !== "differs" || one.cause?.code !== "progress") return one;
    const payments = paymentsOf(one);
    const payment = sides
      .flatMap((side) =>
        one[side].map(({ facts }) => awaited.get(`${side} ${payments} ${facts.number}`)),
      )
      .find((found) => found !== undefined);
    if (payment === undefined) return one;
    const waits = { for: `payment ${numberOf(payment)}`, since: null };
    return judge(one, { ...judging, stored: () => ({ waits }) });
  });
}

/**
 * Payments that only the books hold, and why that is right: the platform takes no payments, it is told that the document
 * is paid. Only where both sides have the document alike and paid, and all payments together come to its total: those
 * that the platform shows, and those that only the books hold. One more payment than that is a difference.
 */
function settledIn(judged: readonly Judged[]): Map<Judged, string> {
  const settled = new Map<Judged, string>();
  const paid = groupedPayments(judged);
  if (paid.size === 0) return settled;
  for (const document of judged) {
    const [there, here] = [leading(document.platform), leading(document.books)];
    const total = there?.facts.money?.total;
    if (document.bucket !== "equal" || there?.facts.state !== "paid" || !total) continue;
    const [shown, own] = [
      paid.get(`platform ${paymentsOf(document)} ${there.facts.number}`) ?? [],
      paid.get(`books ${paymentsOf(document)} ${here?.facts.number}`) ?? [],
    ].map((payments) => payments.filter(({ parties }) => isPartyOf(document, parties)));
    const all = [
      ...(shown ?? []).flatMap(({ platform }) => platform),
      ...(own ?? []).flatMap(({ books }) => books),
    ];
    if (!totalPaid(liveOf(all)).equals(total)) continue;
    for (const payment of own ?? [])
      settled.set(
        payment,
        `the platform takes no payments; ${document.kind} ${numberOf(document)} is paid on both sides`,
      );
  }
  return settled;
}

/** By document, each side in its own words: what the platform shows, and what only the books hold. */
function groupedPayments(judged: readonly Judged[]): Map<string, Judged[]> {
  const groups = new Map<string, Judged[]>();
  for (const payment of judged) {
    const { kind, platform, bucket } = payment;
    if (kind !== "payment" && kind !== "bill-payment") continue;
    const side = platform.length > 0 ? "platform" : "books";
    if (side === "books" && (bucket !== "only here" || payment.lost !== null)) continue;
    for (const { facts } of payment[side]) {
      const document = facts.words?.document;
      if (!document) continue;
      const key = `${side} ${kind} ${document}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [payment]);
      else group.push(payment);
    }
  }
  return groups;
}

const paymentsOf = ({ kind }: Case): HoldingKind => (kind === "bill" ? "bill-payment" : "payment");

const isPartyOf = ({ parties: of }: Case, parties: Case["parties"]): boolean =>
  sides.every((side) => parties[side] === null || of[side] === null || parties[side] === of[side]);

function judge(one: Case, { told: tell, stored: know, ignore, now }: Judging): Judged {
  const told = tell(one);
  const differences = differencesOf(one, told, ignore);
  const known = know(one);
  const stored =
    known.waits === undefined
      ? { ...known, ...unposted(one, told, differences), ...unsettled(one, known, differences) }
      : known;
  const facing = { one, told, stored, differences, skip: skipOf(one, told, stored) };
  const bucket = buckets.find((name) => holds[name](facing)) ?? "only here";
  const { waits } = stored;
  return {
    ...one,
    bucket,
    began: beganOf(one, told),
    differences: bucket === "equal" || bucket === "void on both" ? [] : differences,
    cause: causeOf(bucket, facing),
    overdue: bucket === "waiting" && isOlderThanADay(waits?.since ?? null, now),
    digest: agreeing.has(bucket) ? null : digestOf(one),
  };
}

/** The first that holds, in the order of {@link buckets}; the last always does. */
const holds: Readonly<Record<Bucket, (facing: Facing) => boolean>> = {
  twice: ({ one }) => isDoubled(one),
  waiting: ({ stored }) => stored.waits !== undefined,
  "void on both": ({ one }) => isOnBoth(one) && !hasLive(one),
  "out of scope": ({ skip }) => skip !== null,
  equal: ({ one, differences }) => isOnBoth(one) && differences.length === 0,
  accepted: ({ one, stored: { accepted } }) => accepted !== undefined && accepted === digestOf(one),
  "with a person": ({ stored: { person } }) => person !== undefined,
  differs: ({ one }) => isOnBoth(one),
  "only there": ({ one }) => one.books.length === 0,
  "only here": () => true,
};

const hasLive = ({ platform, books }: Case): boolean => [...platform, ...books].some(isLive);

/** Only one side has it, rightly. What was on the other side once, or names a record there, is never out of scope. */
function skipOf(one: Case, told: Told | null, stored: StoredState): string | null {
  if (isOnBoth(one)) return null;
  if (!hasLive(one)) return "ended, and never on the other side";
  if (one.lost !== null || one.turned !== null) return null;
  if (told !== null && "skip" in told) return told.skip;
  if (stored.skip !== undefined) return stored.skip;
  return one.platform.length === 0 ? booksOnly(one) : null;
}

/**
 * Books hold documents that have nothing to do with the platform: drafts, those of parties it does not know, and goods
 * that people entered.
 */
function booksOnly({ kind, books, parties, partyIsShared }: Case): string | null {
  const isRead = books.some(({ change }) => change !== null);
  if (isRead || kind === "party" || kind === "price") return null;
  if (isGoodsHolding(kind))
    return `entered in the books: no flow brings a ${kind} of theirs to the platform`;
  if (!partyIsShared) return `the platform does not know party ${parties.books ?? "none"}`;
  return leading(books)?.facts.state === "draft" ? "a draft of the books" : null;
}

const beganOf = ({ platform, books }: Case, told: Told | null): Side => {
  if (told !== null) return told.began;
  if (platform.length === 0) return "books";
  return books.some(({ change }) => change !== null) && platform.every(({ change }) => !change)
    ? "books"
    : "platform";
};

/** The books leave posting to a person, who has not come to it yet; a draft that says anything else differs. */
function unposted(
  { books, platform }: Case,
  told: Told | null,
  differences: readonly FieldDifference[],
): StoredState {
  const isLeft = told !== null && "facts" in told && told.facts.state === undefined;
  const isDraft = leading(books)?.facts.state === "draft";
  if (!isLeft || !isDraft || told.began !== "platform") return {};
  if (differences.some(({ field }) => field !== "state")) return {};
  const day = leading(platform)?.facts.days?.date ?? null;
  const since = day === null ? null : `${day}T00:00:00.000Z`;
  return { waits: { for: "an accountant: it is a draft in the books, not posted", since } };
}

/** Its payments have a day and more to arrive as themselves; whatever else differs is told meanwhile. */
function unsettled(
  one: Case,
  { settling }: StoredState,
  differences: readonly FieldDifference[],
): StoredState {
  if (settling === undefined || !isOnBoth(one) || differences.length === 0) return {};
  const isProgress = differences.every(({ field }) => PROGRESS.has(field));
  return isProgress ? { waits: { ...settling, since: null } } : {};
}

const DAY_MS = 86_400_000;

const isOlderThanADay = (since: string | null, now: string): boolean =>
  since !== null && Date.parse(now) - Date.parse(since) > DAY_MS;

/** Over the values of both sides, equal values written otherwise being the same. */
function digestOf({ kind, platform, books }: Case): string {
  const facts = [platform, books].map((holdings) =>
    holdings.map(({ id, facts }) => canonical([id, facts])).toSorted(),
  );
  return sha256(JSON.stringify([kind, ...facts]));
}

function canonical(value: unknown): string {
  if (value instanceof Decimal) return value.plain();
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members
    .map(([name, member]) => `${name}:${canonical(member)}`)
    .toSorted()
    .join()}}`;
}
