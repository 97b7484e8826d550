/** Puts a case into exactly one bucket, with its differences, cause and next step. */
import { Decimal } from "../core/decimal.ts";
import {
  type Facts,
  type Holding,
  type HoldingKind,
  type HoldingState,
  identityOf,
  isGoodsHolding,
  isProgress,
} from "../core/holdings.ts";
import { helpsWith } from "../core/faults.ts";
import { connected } from "../core/groups.ts";
import { canonicalOf } from "../core/json.ts";
import { sha256 } from "../core/keys.ts";
import type { Fault } from "../core/record.ts";
import { amountText } from "../core/text.ts";
import {
  compare,
  differenceIn,
  type Ignore,
  isSame,
  labelOf,
  UNTOLD,
  type Value,
} from "../ledger/compare.ts";
import {
  agreeing,
  type Bucket,
  buckets,
  type Case,
  type Facing,
  type FieldDifference,
  gallonsOf,
  isLive,
  isOnBoth,
  isOpen,
  isPaidInPart,
  type Judged,
  leading,
  liveOf,
  moneyKinds,
  numberOf,
  PARTLY_PAID,
  RESTS_ON,
  type Side,
  type StoredState,
  type Told,
} from "./case.ts";
import { totalPaid } from "./match.ts";
import { DAY_MS } from "../core/time.ts";

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
  return withQuarantined(withDoubtful(all));
}

/** A document that one side has further than the other because its payment waits for a person says so. */
function withQuarantined(judged: readonly Judged[]): Judged[] {
  const held = new Map<string, Judged>();
  for (const payment of judged)
    for (const key of payment.bucket === "in quarantine" ? payment.pays : [])
      held.set(key, payment);
  return judged.map((one) => {
    const payment = one.cause?.code === "progress" ? held.get(one.key) : undefined;
    return payment ? { ...one, cause: quarantinedPart(numberOf(payment)) } : one;
  });
}

/** A part that is paid in the books by a payment which the platform has taken back or moved is no usual part. */
function withDoubtful(judged: readonly Judged[]): Judged[] {
  const doubtful = new Map<string, Judged>();
  for (const payment of judged) {
    const { pays, bucket, platform, books, lost } = payment;
    if (!isOpen(payment) || bucket === "waiting" || books.length === 0) continue;
    if (platform.length > 0 || lost !== null) for (const key of pays) doubtful.set(key, payment);
  }
  return judged.map((one) => {
    const payment = isPaidInPart(one) && doubtful.get(one.key);
    return payment ? { ...one, cause: doubtfulPart(numberOf(payment)) } : one;
  });
}

/** A document whose payments are still under way waits for them. */
function withAwaited(judged: Judged[], judging: Judging): Judged[] {
  const awaited = new Map<string, Judged>();
  for (const payment of judged)
    for (const key of payment.bucket === "waiting" ? payment.pays : []) awaited.set(key, payment);
  return judged.map((one) => {
    const payment = awaited.get(one.key);
    if (one.bucket !== "differs" || one.cause?.code !== "progress" || !payment) return one;
    const waits = { for: `payment ${numberOf(payment)}`, since: null };
    return judge(one, { ...judging, stored: () => ({ waits }) });
  });
}

/**
 * Payments that only the books hold, and why that is right: the platform takes no payments, it is told that the document
 * is paid. Only where the document says all that there is to know of them ({@link withPayments}): all payments together come
 * to what it says, those that the platform shows, and those that only the books hold. One more than that is a difference.
 * Documents that one payment pays together say it together.
 */
function settledIn(judged: readonly Judged[]): Map<Judged, string> {
  const settled = new Map<Judged, string>();
  const together = connected(judged, ({ kind, key, pays }) =>
    isPayment({ kind }) ? pays.map((one) => `${RESTS_ON[kind]} ${one}`) : [`${kind} ${key}`],
  );
  for (const group of together) {
    const payments = group.filter(isPayment);
    const documents = group.filter((one) => !isPayment(one));
    const tolds = documents.map(withPayments);
    const own = payments.filter(
      ({ bucket, lost }) => bucket === "only in the ERP" && lost === null,
    );
    const all = [
      ...payments.flatMap(({ platform }) => platform),
      ...own.flatMap(({ books }) => books),
    ];
    const sums = tolds.map((told) => told?.sum ?? null);
    if (own.length === 0 || documents.length === 0 || tolds.includes(null)) continue;
    const isWhole = totalPaid(liveOf(all)).equals(Decimal.sum(sums.filter((sum) => sum !== null)));
    if (!sums.includes(null) && !isWhole) continue;
    const says = documents.map((one, at) => `${one.kind} ${numberOf(one)} ${tolds[at]?.says}`);
    const why = `the platform takes no payments; ${says.join(", ")}`;
    for (const payment of own) settled.set(payment, why);
  }
  return settled;
}

interface WithPayments {
  /** What its payments come to; null: whatever they do. */
  readonly sum: Decimal | null;
  readonly says: string;
}

/**
 * What a document says of its payments in the books: both sides have it alike and paid; or it began in the books, and a part
 * of it is paid, or the platform does not have it. Null: they are told themselves.
 */
function withPayments(document: Judged): WithPayments | null {
  const { bucket, began, platform, books } = document;
  const there = leading(platform)?.facts;
  if (bucket === "equal" && there?.state === "paid" && there.money?.total)
    return { sum: there.money.total, says: "is paid on both sides" };
  if (began !== "books") return null;
  if (platform.length === 0)
    return { sum: null, says: "is not on the platform, and told by itself" };
  const { total = null, open = null } = leading(books)?.facts.money ?? {};
  if (!isPaidInPart(document) || total === null || open === null) return null;
  return { sum: total.minus(open), says: "says by itself what is paid of it" };
}

function judge(one: Case, { told: tell, stored: know, ignore, now }: Judging): Judged {
  const told = tell(one);
  const differences = differencesOf(one, told, ignore);
  const known = know(one);
  const stored =
    known.waits === undefined
      ? { ...known, ...unposted(one, told, differences), ...unsettled(one, known, differences) }
      : known;
  const facing = { one, told, stored, differences, skip: skipOf(one, told, stored) };
  const bucket = buckets.find((name) => holds[name](facing)) ?? "only in the ERP";
  const { waits } = stored;
  return {
    ...one,
    bucket,
    began: beganOf(one, told),
    told: told !== null && "facts" in told ? told.facts : null,
    differences: bucket === "equal" || bucket === "void" ? [] : differences,
    cause: causeOf(bucket, facing),
    overdue: bucket === "waiting" && isOlderThanADay(waits?.since ?? null, now),
    digest: agreeing.has(bucket) ? null : digestOf(one),
  };
}

/** The first that holds, in the order of {@link buckets}; the last always does. */
const holds: Readonly<Record<Bucket, (facing: Facing) => boolean>> = {
  twice: ({ one }) => isDoubled(one),
  waiting: ({ stored }) => stored.waits !== undefined,
  void: ({ one }) => isOnBoth(one) && !hasLive(one),
  "out of scope": ({ skip }) => skip !== null,
  equal: ({ one, differences }) => isOnBoth(one) && differences.length === 0,
  accepted: (facing) =>
    isClosed(facing) ||
    (facing.stored.accepted !== undefined && facing.stored.accepted === digestOf(facing.one)),
  "in quarantine": ({ stored: { person } }) => person !== undefined,
  differs: ({ one }) => isOnBoth(one),
  "only on the platform": ({ one }) => one.books.length === 0,
  "only in the ERP": () => true,
};

/** What the other side never takes (a credit note) can only be closed, and whoever closed it was told just that. */
const isClosed = ({ one, told, stored }: Facing): boolean =>
  stored.closed === true &&
  !isOnBoth(one) &&
  one.lost === null &&
  told !== null &&
  "fault" in told &&
  helpsWith(told.fault.code).every((help) => help === "resolve");

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
 * that people entered, unless they say what others of the platform's say.
 */
function booksOnly(one: Case): string | null {
  const { kind, books, parties, partyIsShared, isCopy } = one;
  const isRead = books.some(({ change }) => change !== null);
  if (isRead || kind === "party" || kind === "price") return null;
  if (isCopy) return null;
  if (isGoodsHolding(kind))
    return `entered in the books: no flow brings a ${kind} of theirs to the platform`;
  // Books may name no party of a payment: what it pays does.
  if (!partyIsShared && (parties.books !== null || !isPayment(one)))
    return `the platform does not know party ${parties.books ?? "none"}`;
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
  return differences.every(isProgress) ? { waits: { ...settling, since: null } } : {};
}

const isOlderThanADay = (since: string | null, now: string): boolean =>
  since !== null && Date.parse(now) - Date.parse(since) > DAY_MS;

/** Over the values of both sides, equal values written otherwise being the same. */
function digestOf({ kind, platform, books }: Case): string {
  const facts = [platform, books].map((holdings) =>
    holdings.map(({ id, facts }) => canonicalOf([id, facts])).toSorted(),
  );
  return sha256(JSON.stringify([kind, ...facts]));
}

// Why a case is in its bucket, and what a person does about it.

/** Null where both sides agree without a word. */
export function causeOf(bucket: Bucket, facing: Facing): Fault<string> | null {
  const { stored, skip, told } = facing;
  switch (bucket) {
    case "equal":
      return told?.corrected
        ? fault(
            "corrected",
            `equal but for what a person corrected on the way: ${told.corrected}`,
            "Have it corrected where it comes from, too.",
          )
        : null;
    case "void":
      return null;
    case "out of scope":
      return fault("out-of-scope", skip ?? "", "Nothing is to be done.");
    case "waiting":
      return fault(
        "waiting",
        `waits for ${stored.waits?.for ?? "a delivery"}`,
        "It clears by itself. Where it waits for longer than a day, look for its number with `fuelbridge trace`.",
      );
    case "accepted":
      return acceptedAs(facing);
    case "in quarantine":
      return fault(
        "in-quarantine",
        stored.person?.why ?? "",
        stored.person?.clears === true
          ? "Nothing is to be done with it: it goes out once that is there."
          : "Settle it in the quarantine: `fuelbridge quarantine list`, or the page Needs you.",
      );
    case "twice":
      return doubled(facing.one);
    case "differs":
      return differing(facing);
    case "only on the platform":
    case "only in the ERP":
      return oneSided(bucket, facing);
  }
}

/** With the cause that the person was told. */
function acceptedAs(facing: Facing): Fault<string> {
  const { one } = facing;
  const { message } = isOnBoth(one)
    ? differing(facing)
    : oneSided(one.books.length === 0 ? "only on the platform" : "only in the ERP", facing);
  return fault(
    "accepted",
    `accepted by a person: ${message}`,
    "Nothing is to be done: it is told again when its values change.",
  );
}

const fault = (code: string, message: string, next: string): Fault<string> => ({
  code,
  message,
  next,
});

function doubled({ platform, books }: Case): Fault<string> {
  const side = liveOf(platform).length > 1 ? "platform" : "books";
  const counts = `${liveOf(platform).length} on the platform, ${liveOf(books).length} in the books`;
  return fault(
    "twice",
    `the same document is live more than once: ${counts}`,
    side === "books"
      ? "Cancel all but one in the books, and reconcile again."
      : "Have all but one voided on the platform, and reconcile again.",
  );
}

function differing({ one, differences, told }: Facing): Fault<string> {
  const [platform, books] = [leading(one.platform), leading(one.books)];
  const has = (field: string): boolean => differences.some((found) => found.field === field);
  if (isLumped(one))
    return fault(
      "lumped",
      "one payment on one side settles several of the other; the sums are equal",
      "No money is missing. Where a bank statement must be matched, book the payments singly.",
    );
  if (isSettledAsOne(one))
    return fault(
      "settled-as-one",
      `the books settled the document as one payment before this one was read; it is noted there. Different: ${fieldsOf(one.kind, differences)}`,
      has("money.amount")
        ? "Compare the document's payments on both sides; correct the one that is wrong."
        : "No money is missing. Where a bank statement must be matched, use the note on the document.",
    );
  if (platform && books && isLive(platform) !== isLive(books))
    return isLive(books)
      ? fault(
          "void-stands",
          "it has ended on the platform and still stands in the books",
          one.kind === "price"
            ? "End it in the books, too, or retry its delivery."
            : "Cancel or credit it in the books, or retry its delivery.",
        )
      : fault(
          "ended-in-books",
          "it has ended in the books (cancelled, credited, inactive) and is live on the platform",
          "Have it voided on the platform, or restore it in the books.",
        );
  if (has("link"))
    return fault(
      "link",
      "fuelbridge, or the platform's id in the books, joins it with another document than both records prove",
      "Compare both documents; correct the platform's id in the books, or deliver the right one again.",
    );
  if (has(UNTOLD)) {
    const why = untoldOf(one)?.fault ?? (told !== null && "fault" in told ? told.fault : null);
    return fault(
      "cannot-be-compared",
      why?.message ?? "the two records cannot be compared whole",
      why?.next ?? "Compare them by hand; look for the number with `fuelbridge trace`.",
    );
  }
  const part = partPaid(one, differences);
  if (part !== null)
    return fault(
      PARTLY_PAID,
      `${part} is paid in the books; the platform takes no part of a payment`,
      "Nothing is to be done: it is marked as paid on the platform once all of it is paid. Tell the customer if it matters.",
    );
  if (books?.facts.state === "settled" && has("state"))
    return fault(
      "settled-otherwise",
      `the books settled it, and not with money alone (a credit, a write-off); on the platform it is ${platform?.facts.state ?? "without a state"}`,
      "An accountant agrees it with the customer, and corrects the side that is wrong. If both may stay: `fuelbridge accept`, with its flow and number.",
    );
  if (differences.every(({ field }) => field === "days.paid"))
    return fault(
      "fields",
      "it is paid on both sides, on another day on each",
      "The platform keeps the day on which it was paid there. Correct the day in the books if that is wrong, or accept the difference: `fuelbridge accept`, with its flow and number.",
    );
  if (differences.every(isProgress))
    return fault(
      "progress",
      `one side is further than the other: ${fieldsOf(one.kind, differences)}`,
      "Look for a payment, a posting or a dispute that only one side has.",
    );
  return fault(
    "fields",
    `different on the two sides: ${fieldsOf(one.kind, differences)}`,
    "Correct the side that is wrong; a correction on the side where it began is delivered by itself.",
  );
}

/** @param payment what people know it by */
const doubtfulPart = (payment: string): Fault<string> =>
  fault(
    "progress",
    `a payment of it stands in the books otherwise than on the platform: payment ${payment}`,
    "Settle that payment first: it is told as a case of its own. Then reconcile again.",
  );

/** @param payment what people know it by */
const quarantinedPart = (payment: string): Fault<string> =>
  fault(
    "progress",
    `a payment of it is in quarantine: payment ${payment}`,
    "Settle that payment there: once it is delivered both sides agree. `fuelbridge quarantine list` has its cause.",
  );

/** `300.00 of 900.00`: all that differs is a part that the books have received. Null: it is not. */
function partPaid(
  { kind, platform, books }: Case,
  differences: Facing["differences"],
): string | null {
  if (kind !== "invoice" || differences.some(({ field }) => field !== "money.open")) return null;
  const [there, here] = [leading(platform)?.facts.money, leading(books)?.facts.money];
  const { total = null, open = null } = here ?? {};
  if (total === null || open === null || !there?.open?.equals(total)) return null;
  const isPart = open.sign > 0 && open.compare(total) < 0;
  return isPart ? `${amountText(total.minus(open))} of ${amountText(total)}` : null;
}

const isPayment = ({ kind }: Pick<Case, "kind">): boolean =>
  kind === "payment" || kind === "bill-payment";

/** The books' payment carries the mark of its document: it settled what the platform calls paid, without a payment. */
function isSettledAsOne(one: Case): boolean {
  const { platform, books, lost, contradictions } = one;
  if (!isPayment(one)) return false;
  const ids = new Set(platform.map(({ id }) => id));
  return (
    lost === null &&
    contradictions.length === 0 &&
    liveOf(books).some(({ mark }) => mark !== null && !ids.has(mark))
  );
}

const FIELDS_MAX = 6;

function fieldsOf(kind: HoldingKind, differences: Facing["differences"]): string {
  const labels = [...new Set(differences.map(({ field }) => labelOf(kind, field)))];
  const more = labels.length > FIELDS_MAX ? ` and ${labels.length - FIELDS_MAX} more` : "";
  return `${labels.slice(0, FIELDS_MAX).join(", ")}${more}`;
}

function oneSided(
  bucket: "only on the platform" | "only in the ERP",
  { one, told }: Facing,
): Fault<string> {
  const here = bucket === "only in the ERP";
  const [has, lacks] = here
    ? ["the books hold", "on the platform"]
    : ["the platform holds", "in the books"];
  const untold = untoldOf(one);
  if (untold !== null)
    return fault(
      "cannot-be-compared",
      `it is not ${lacks}, and ${untold.fault.message}`,
      untold.fault.next,
    );
  if (one.turned !== null)
    return fault(
      "turned",
      `the other side has it as ${one.turned}`,
      "Cancel the one of the wrong kind, then retry the delivery of the other.",
    );
  if (told !== null && "fault" in told)
    return { ...told.fault, message: `it is not ${lacks}: ${told.fault.message}` };
  if (one.lost !== null)
    return fault(
      "gone",
      `${has} it; its partner ${one.lost} is not ${lacks} any more`,
      here
        ? "It was deleted on the platform, or is not shown to this key: ask its owner, or cancel it in the books."
        : one.kind === "price"
          ? "If it ended in the books, end it on the platform, too: nothing ends it by itself. If not, put it back into the books. If it may stay: `fuelbridge accept`, with its flow and number."
          : told === null
            ? "If it began in the books, list it there again, or void it on the platform. If the platform's came first, the books were restored, or it was deleted there: retry its delivery."
            : "It was deleted in the books, or they were restored: retry its delivery.",
    );
  if (isSettledAsOne(one))
    return fault(
      "settled-as-one",
      "the books settled the document as one payment, because the platform calls it paid; the payments that the platform shows do not come to its total",
      "Compare the document's payments on both sides. Those that came later are noted on it in the books.",
    );
  return here
    ? fault(
        "extra",
        "the books hold it and the platform has nothing that proves to be the same",
        isPayment(one)
          ? "Look what it pays in the books. A second payment of the platform's document is cancelled there; what pays others, or several at once, may stay: `fuelbridge accept`, with its flow and number."
          : "Entered by hand, or doubled: cancel it in the books, or have it entered on the platform.",
      )
    : fault(
        "missing",
        "the platform holds it and the books have nothing that proves to be the same",
        "Nothing is under way for it. `fuelbridge trace` says whether it was read; what was not comes in with the daemon's nightly run.",
      );
}

// What differs in a case. Twice: what the mapping and the receiver's `expect` say should be held, field by field, and a
// plain look at both records without any mapping, because a wrong mapping agrees with itself.

/** Every difference of a case with records on both sides, each field once; the mapped comparison's words count. */
function differencesOf(one: Case, told: Told | null, ignore: Ignore): FieldDifference[] {
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
function untoldOf(one: Pick<Case, Side>): { side: Side; fault: Fault<string> } | null {
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
function isLumped({ kind, by, platform, books }: Case): boolean {
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
  field: UNTOLD,
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
  if (isGoodsHolding(kind) && [platform, books].every(showsGallons))
    add("gallons", gallonsOf(platform), gallonsOf(books));
  if (kind === "payment" || kind === "bill-payment")
    add("money.amount", one.money?.amount, other.money?.amount);
  if (kind === "price" && one.words?.unit === other.words?.unit)
    add("money.price", one.money?.price, other.money?.price);
  if (kind !== "party") add("currency", one.words?.currency, other.words?.currency);
  return [...differences, ...withoutAmount(kind, platform, books)];
}

type Shown = Value | undefined;

/**
 * Every line has its quantity, in gallons. Books that count goods in one unit show none; QuickBooks Online keeps an amount
 * alone where a price has more digits than it holds, and no gallons are not zero gallons.
 */
const showsGallons = ({ facts: { lines = [] } }: Holding): boolean =>
  lines.every(
    ({ quantity, unit }) => quantity !== null && (unit === null || unit.toLowerCase() === "gal"),
  );

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
