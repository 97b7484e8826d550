/** Why a case is in its bucket, and why a whole comparison cannot be trusted: what a person does about either. */
import { inDigits, labelOf } from "../ledger/compare.ts";
import type { Fault } from "../core/record.ts";
import type { HoldingKind } from "../core/holdings.ts";
import {
  agreeing,
  type Bucket,
  type Case,
  type Facing,
  isLive,
  isOnBoth,
  leading,
  liveOf,
  manyOf,
  type Records,
  type Side,
  sides,
} from "./case.ts";
import { isLumped, untoldOf } from "./fields.ts";
import { Decimal } from "../core/decimal.ts";
import type { CaseRow } from "./rows.ts";
import { type Control, controlsOf } from "./sums.ts";

/** Null where both sides agree without a word. */
export function causeOf(bucket: Bucket, facing: Facing): Fault | null {
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
    case "void on both":
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
    case "with a person":
      return fault(
        "with-a-person",
        stored.person?.why ?? "",
        "Settle it in the quarantine (`fuelbridge quarantine`).",
      );
    case "twice":
      return doubled(facing.one);
    case "differs":
      return differing(facing);
    case "only there":
    case "only here":
      return oneSided(bucket, facing);
  }
}

/** With the cause that the person was told. */
function acceptedAs(facing: Facing): Fault {
  const { one } = facing;
  const { message } = isOnBoth(one)
    ? differing(facing)
    : oneSided(one.books.length === 0 ? "only there" : "only here", facing);
  return fault(
    "accepted",
    `accepted by a person: ${message}`,
    "Nothing is to be done: it is told again when its values change.",
  );
}

const fault = (code: string, message: string, next: string): Fault => ({ code, message, next });

function doubled({ platform, books }: Case): Fault {
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

function differing({ one, differences, told }: Facing): Fault {
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
      "the store or a mark names another partner than the records prove",
      "Compare both documents; correct the mark, or deliver the right one again.",
    );
  if (has("record")) {
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
      "partly-paid",
      `${part} is paid in the books; the platform takes no part of a payment`,
      "Nothing is to be done: it is marked as paid on the platform once all of it is paid. Tell the customer if it matters.",
    );
  if (differences.every(({ field }) => PROGRESS.has(field)))
    return fault(
      "progress",
      `it has not come as far on both sides: ${fieldsOf(one.kind, differences)}`,
      "Look for a payment, a posting or a dispute that only one side has.",
    );
  return fault(
    "fields",
    `different on the two sides: ${fieldsOf(one.kind, differences)}`,
    "Correct the side that is wrong; a correction on the side where it began is delivered by itself.",
  );
}

/** @param payment what people know it by */
export const doubtfulPart = (payment: string): Fault =>
  fault(
    "progress",
    `a payment of it stands in the books otherwise than on the platform: payment ${payment}`,
    "Settle that payment first: it is told as a case of its own. Then reconcile again.",
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
  return isPart ? `${total.minus(open).fixed(2)} of ${total.fixed(2)}` : null;
}

/** The books' payment carries the mark of its document: it settled what the platform calls paid, without a payment. */
function isSettledAsOne({ kind, platform, books, lost, contradictions }: Case): boolean {
  if (kind !== "payment" && kind !== "bill-payment") return false;
  const ids = new Set(platform.map(({ id }) => id));
  return (
    lost === null &&
    contradictions.length === 0 &&
    liveOf(books).some(({ mark }) => mark !== null && !ids.has(mark))
  );
}

/** How far a document has come. */
export const PROGRESS: ReadonlySet<string> = new Set(["state", "money.open", "days.paid"]);

const FIELDS_MAX = 6;

function fieldsOf(kind: HoldingKind, differences: Facing["differences"]): string {
  const labels = [...new Set(differences.map(({ field }) => labelOf(kind, field)))];
  const more = labels.length > FIELDS_MAX ? ` and ${labels.length - FIELDS_MAX} more` : "";
  return `${labels.slice(0, FIELDS_MAX).join(", ")}${more}`;
}

function oneSided(bucket: "only there" | "only here", { one, told }: Facing): Fault {
  const here = bucket === "only here";
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
        "Entered by hand, or doubled: cancel it in the books, or have it entered on the platform.",
      )
    : fault(
        "missing",
        "the platform holds it and the books have nothing that proves to be the same",
        "Nothing is under way for it. `fuelbridge trace` says whether it was read; what was not comes in with the daemon's nightly run.",
      );
}

/* When a reconciliation cannot be trusted: it says why, and judges nothing. */

/** A list that was walked to its end. */
export interface ListCount {
  readonly side: Side;
  readonly kind: HoldingKind;
  /** What was asked for: `changed since 2026-10-01`. */
  readonly what: string;
  /** How many records it said that it has; null: it does not say. */
  readonly total: number | null;
  /** How many records with different ids came. */
  readonly distinct: number;
}

export interface Count {
  readonly side: Side;
  readonly kind: HoldingKind;
  readonly count: number;
}

export function failuresOf(read: {
  readonly rows: Records;
  /** Of the rows. */
  readonly controls: readonly Control[];
  readonly cases: readonly Case[];
  readonly lists: readonly ListCount[];
  readonly previous: readonly Count[];
}): string[] {
  const { rows, controls, cases, lists, previous } = read;
  return [
    ...lists.flatMap(({ side, kind, what, total, distinct }) =>
      total === null || total === distinct
        ? []
        : [
            `the ${side} list of ${manyOf(kind)} (${what}) says ${total} records and showed ${distinct}: run it again; ` +
              "if it stays so, records are hidden from this key or user",
          ],
    ),
    ...previous.flatMap(({ side, kind, count }) => {
      const now = rows[side].filter((holding) => holding.kind === kind).length;
      return count < FEW || now * 2 >= count
        ? []
        : [
            `the ${side} shows ${now} ${manyOf(kind)} where the last run found ${count}: check what this key or user may ` +
              "see, and that it is the same company",
          ];
    }),
    ...unlike(
      controls,
      controlsOf({
        platform: cases.flatMap(({ platform }) => platform),
        books: cases.flatMap(({ books }) => books),
      }),
    ),
  ];
}

/** Of fewer records a half may go in a day's work. */
const FEW = 20;

/** The rows as they were read against the rows in cases: each must be in exactly one. */
const unlike = (read: readonly Control[], judged: readonly Control[]): string[] => {
  const [one, other] = [read, judged].map((controls) => controls.map(lineOf));
  if (one?.join() === other?.join()) return [];
  return [
    `control sums of the rows and of the cases differ: ${one?.join("; ")} against ${other?.join("; ")}`,
  ];
};

const lineOf = ({ side, kind, count, amount, open, gallons, ids }: Control): string =>
  `${side} ${kind} ${count} records ${inDigits(amount)} open ${inDigits(open)} gallons ${inDigits(gallons)} ids ${ids}`;

/** The amounts of the buckets against the rows as they were read; an equal case has no difference in money. */
export function untied(cases: readonly CaseRow[], controls: readonly Control[]): string[] {
  const unequal = cases.filter(
    ({ bucket, amount }) =>
      agreeing.has(bucket) &&
      bucket !== "out of scope" &&
      !Decimal.of(amount.platform).equals(Decimal.of(amount.books)),
  );
  const sums = sides.flatMap((side) =>
    controls
      .filter((control) => control.side === side)
      .flatMap((control) =>
        (["amount", "gallons"] as const).flatMap((figure) => {
          const { kind } = control;
          const judged = Decimal.sum(
            cases.filter((row) => row.kind === kind).map((row) => Decimal.of(row[figure][side])),
          );
          return judged.equals(control[figure])
            ? []
            : [
                `the cases of ${side} ${manyOf(kind)} sum to ${inDigits(judged)}, the rows to ${inDigits(control[figure])}`,
              ];
        }),
      ),
  );
  return [
    ...unequal.map(
      ({ kind, number, bucket }) => `${kind} ${number} is "${bucket}" with a difference in money`,
    ),
    ...sums,
  ];
}
