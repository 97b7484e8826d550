/**
 * Invoices and bills as books show them, beside what their documents say: what reconciliation and inspection tell of
 * them. Pure.
 */
import { Decimal } from "../core/decimal.ts";
import type { Fault } from "../core/fault.ts";
import type { Difference, Expected, Facts, HoldingKind, HoldingState } from "../core/holdings.ts";
import { compare, inWords } from "./compare.ts";
import type { InvoiceDocument } from "./documents.ts";

export type InvoiceType = InvoiceDocument["type"];

export const invoiceKindOf = (type: InvoiceType): "invoice" | "bill" =>
  type === "out" ? "invoice" : "bill";
export const invoiceTypeOf = (kind: HoldingKind): InvoiceType => (kind === "bill" ? "in" : "out");

/** An invoice in the books. */
export interface Entry {
  /** The books' own id. */
  readonly id: number;
  readonly type: InvoiceType;
  readonly number: string | null;
  /** The platform's number, or the supplier's. */
  readonly reference: string | null;
  readonly state: "draft" | "validated" | "posted" | "paid" | "cancelled";
  /** The user of the synchronisation made it. */
  readonly made: boolean;
  /** And nobody else has ever written it. */
  readonly ours: boolean;
  /** What is written in it; null: it did not come from the platform. */
  readonly platformId: string | null;
  readonly partyId: number;
  readonly total: Decimal;
  /** Its content, without state and what is open. Lines, taxes and days only where content was asked for. */
  readonly facts: Facts;
  /** Ledger lines that say when it is due: one for each term. None while it is a draft. */
  readonly terms: readonly number[];
  /** Its lines with an amount. */
  readonly lineIds: readonly number[];
}

/** Books may add up what is to pay anew each time: it is asked for only where it counts. */
export interface OpenEntry extends Entry {
  /** Zero unless it is posted. */
  readonly toPay: Decimal;
}

/** Something that pays it, or counts as paying it. */
export interface Settling {
  readonly move: number;
  /** Of that move; it begins with a mark where it came from the platform. */
  readonly description: string | null;
  /** Positive when it lowers what is open. */
  readonly amount: Decimal;
}

/** How far it has come. */
export interface Progressed extends OpenEntry {
  /** The day of the last payment of one that is reconciled in full. */
  readonly reconciled: string | null;
  /** Without those that were taken back. */
  readonly settling: readonly Settling[];
  /** Of its last change. */
  readonly stamp: string;
}

/** A credit note of it that is posted or paid. */
export interface Credit {
  readonly id: number;
  readonly name: string;
  readonly move: number | null;
  /** Negative. */
  readonly total: Decimal;
  /** What of it has not been used yet; negative or zero. */
  readonly toPay: Decimal;
}

export const isDraft = ({ state }: Pick<Entry, "state">): boolean =>
  state === "draft" || state === "validated";

const ZERO = Decimal.zero;

/** A credit note takes away of what is open, used or not; one over all of it ends the invoice. */
export function invoiceFacts(
  entry: Progressed,
  isDisputed: boolean,
  credits: readonly Credit[],
): Facts {
  const credited = Decimal.sum(credits.map(({ total }) => total)).abs();
  const isCredited = credits.length > 0 && credited.compare(entry.total.abs()) >= 0;
  const isEnded = entry.state === "cancelled" || isCredited;
  const open = Decimal.sum([entry.toPay, ...credits.map(({ toPay }) => toPay)]);
  return {
    ...entry.facts,
    state: isEnded ? "ended" : stateOf(entry, isDisputed),
    days: { ...entry.facts.days, paid: entry.reconciled },
    money: { ...entry.facts.money, ...(isDraft(entry) ? {} : { open: isEnded ? ZERO : open }) },
  };
}

/** The books may show the state a little later than the payment. */
function stateOf(entry: Progressed, isDisputed: boolean): HoldingState {
  if (isDraft(entry)) return "draft";
  if (entry.state === "paid" || entry.reconciled !== null) return "paid";
  return isDisputed ? "disputed" : "open";
}

/**
 * What is expected of a document that was delivered.
 * @param facts what these books would show of its content
 * @param counterpart what its link says; null: it has none
 * @param posts false: a person posts, and how far it has come is theirs to say
 */
export function expectedInvoice(
  { status }: InvoiceDocument,
  { number, ...facts }: Facts,
  counterpart: string | null,
  posts: boolean,
): Expected {
  const isOver = status === "paid" || status === "void";
  return {
    facts: {
      ...facts,
      // One that was entered by hand has the books' number: its link says so.
      ...(number === undefined || (counterpart ?? number) !== number ? {} : { number }),
      ...(posts || isOver ? { state: status === "void" ? "ended" : status } : {}),
      money: { ...facts.money, ...(isOver ? { open: ZERO } : {}) },
    },
  };
}

export const hasItsFigures = (
  { type, subtotal, tax, total }: InvoiceDocument,
  { facts }: Entry,
): boolean =>
  compare(invoiceKindOf(type), { money: { untaxed: subtotal, tax, total } }, facts).length === 0;

/** Whose payments are: the books mark those that came from the platform. */
export interface Marks {
  /** Is it what paid this invoice when the platform called it paid? */
  readonly isSettlementOf: (platformId: string, settling: Settling) => boolean;
  /** Did the platform tell us of it? */
  readonly isOurPayment: (description: string | null) => boolean;
}

/**
 * What became of an invoice in the books by other hands. What payments of the platform's have paid is no difference. One
 * that is to be void is not asked about: it is cancelled, or gone.
 */
export function progressDifferences(
  document: InvoiceDocument,
  entry: Progressed,
  credits: readonly Credit[],
  marks: Marks,
): Difference[] {
  const { status } = document;
  if (status === "void" || isDraft(entry)) return [];
  const credited = credits.map(({ name, total }): Difference => ({
    field: "credit note",
    expected: "none",
    held: `${name} of ${total.fixed(2)}`,
  }));
  if (entry.state === "cancelled")
    return [{ field: "state", expected: status, held: "cancelled" }, ...credited];
  const isCredit = ({ move }: Settling): boolean => credits.some((one) => one.move === move);
  // A payment that the platform told us of; or our settlement of what it called paid.
  const isOurs = (settling: Settling): boolean =>
    marks.isSettlementOf(document.id, settling)
      ? status === "paid"
      : marks.isOurPayment(settling.description);
  const others = entry.settling.filter((one) => !isCredit(one) && !isOurs(one));
  return [...credited, ...paidDifferences(document, entry, others)];
}

/**
 * @param others payments that the platform does not know of. One that settles an invoice is told until the platform
 * calls it paid as well.
 */
function paidDifferences(
  { status }: InvoiceDocument,
  entry: Progressed,
  others: readonly Settling[],
): Difference[] {
  const { toPay, total } = entry;
  if (status === "paid") {
    const isApart = entry.state === "posted" && entry.reconciled === null && total.sign !== 0;
    const held = "posted: what paid it is no longer reconciled with it";
    return isApart && toPay.sign === 0 ? [{ field: "state", expected: status, held }] : [];
  }
  if (others.length === 0) return [];
  const moves = movesIn(others);
  if (entry.state === "paid" || toPay.sign === 0)
    return [{ field: "state", expected: status, held: `paid (payment move ${moves})` }];
  const paid = Decimal.sum(others.map(({ amount }) => amount));
  return [
    {
      field: "money.open",
      expected: toPay.plus(paid).fixed(2),
      held: `${toPay.fixed(2)} (payment move ${moves}; the platform cannot take partial payments)`,
    },
  ];
}

const movesIn = (settling: readonly Settling[]): string =>
  settling.map(({ move, amount }) => `#${move} of ${amount.fixed(2)}`).join(", ");

/**
 * PAID that the platform takes back, of an invoice that we have settled; null: it does not. Our settlement is not taken
 * back by machine: it may be matched with a bank statement already.
 * @param books what people call them
 * @param name what they call the invoice there
 * @param undo how that move is undone there
 */
export function paidTakenBack(
  { id, number, status }: InvoiceDocument,
  entry: Progressed,
  { isSettlementOf }: Marks,
  { books, name, undo }: { readonly books: string; readonly name: string; readonly undo: string },
): Fault | null {
  const isOpen = (status === "open" || status === "disputed") && !isDraft(entry);
  const ours =
    isOpen && entry.state !== "cancelled"
      ? entry.settling.filter((one) => isSettlementOf(id, one))
      : [];
  if (ours.length === 0) return null;
  return {
    code: "paid-taken-back",
    message: `invoice ${number} (${name}) is no longer paid on the platform, and was settled in ${books} when it was: by the payment move ${movesIn(ours)}`,
    next: `An accountant finds out whether the money came. If it did not, ${undo}, then retry. If it did, have it marked as paid on the platform.`,
  };
}

/** Lines that a cause shows. */
const SHOWN = 12;

/** One line per field: `payer: books A-1038, platform A-1001`. */
export function inLines(type: InvoiceType, all: readonly Difference[]): string {
  const sides = { expected: "platform", held: "books" };
  const lines = all.slice(0, SHOWN).map((one) => inWords(invoiceKindOf(type), one, sides));
  const more = all.length - lines.length;
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join("\n");
}
