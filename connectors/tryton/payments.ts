/**
 * Payments in Tryton, for the driver of src/books: accounting moves that its pay wizard makes on an invoice. One that
 * comes after its invoice was settled as one is a note on it: taking that apart would change posted books.
 */
import {
  type BookAdapter,
  type Call,
  PAYMENTS,
  type Standing,
  type Wanted,
} from "../../src/books/adapter.ts";
import type { PaymentDocument } from "../../src/books/documents.ts";
import { paymentFacts } from "../../src/books/facts.ts";
import { inPages, PAGE_RECORDS } from "../../src/books/holdings.ts";
import { coveredAmong, coveringBy, paidBy } from "../../src/books/notes.ts";
import { isSettlement } from "../../src/books/plan.ts";
import type { Facts, Scope } from "../../src/core/holdings.ts";
import type { Books } from "./books.ts";
import { TrytonError } from "./errors.ts";
import { type Guard, openGuard } from "./guard.ts";
import { draftsIn, type Entry, type InvoiceType } from "./invoice-facts.ts";
import { paidMarkIn, paymentMark, payingMark } from "../../src/books/marks.ts";
import { notesOf, resourceOf } from "./notes.ts";
import { pay, startOf, type ToPay } from "./pay.ts";
import { type PaymentMove, paymentMoves } from "./payment-moves.ts";
import { idsOf, ofCompany, rowsOf, scopeDomain } from "./search.ts";

type WantedPayment = Wanted<"payment">;
type Guards = Readonly<Record<InvoiceType, Guard>>;

export function paymentAdapter(books: Books): BookAdapter<"payment"> {
  const guards = {
    out: openGuard(books, "account.move", "out"),
    in: openGuard(books, "account.move", "in"),
  };
  return {
    ...PAYMENTS,
    expected: async (documents) => documents.map((one) => factsOf(books, one)),
    locate: (wanted, call) => locate(books, guards, wanted, call),
    async create(wanted) {
      for (const one of wanted) await payOne(books, guards, one);
      return wanted.map(() => null);
    },
    get: (ids, { signal }) => heldBy(books, ["move", "in", movesIn(ids)], signal),
    named: (numbers, signal) => named(books, numbers, signal),
    list: (scope, from, signal) => list(books, scope, from, signal),
    covering: coveringBy(
      () => notesOf(books),
      (invoice) => resourceOf(entryOf(invoice)),
    ),
  };
}

function factsOf({ config }: Books, document: PaymentDocument): Facts {
  const { words, ...facts } = paymentFacts(document, config.currency);
  return { ...facts, words: { ...words, reference: document.description.trim(), notes: null } };
}

/** On the invoices that their links name, and by the moves that links and the guard name. */
async function locate(
  books: Books,
  guards: Guards,
  wanted: readonly WantedPayment[],
  { made, purpose }: Call,
): Promise<Standing[]> {
  const known: number[] = [];
  // First of all: a move that is known by now is seen by what looks afterwards.
  if (purpose === "delivery")
    for (const { document, mark } of wanted)
      if (!made.has(mark) && !isSettlement(mark))
        known.push(...(await guards[document.type].known([mark])).values());
  const invoices = await invoicesOf(books, wanted);
  const bound = movesIn(wanted.flatMap(({ binding }) => binding ?? []));
  const on = invoices.map((id) => resourceOf({ id }));
  const clause = [
    "OR",
    ["move.origin", "in", on],
    ["move", "in", [...known, ...bound]],
    ...(purpose === "delivery" ? anywhere(wanted, made) : []),
  ];
  const marks = new Set(wanted.map(({ mark }) => mark));
  const all = await paymentMoves(books, [DESCRIBED, clause]);
  const own = all.filter(({ mark }) => marks.has(paidMarkIn(mark) ?? ""));
  const called = new Set(wanted.map(({ document }) => document.invoice));
  const standings = await standingsOf(books, own, called);
  const absent = wanted.filter(({ mark }) => !standings.some((one) => one.mark === mark));
  const isLumped = all.some(({ mark }) => isSettlement(paidMarkIn(mark) ?? ""));
  return isLumped ? [...standings, ...(await coveredAmong(notesOf(books), on, absent))] : standings;
}

const DESCRIBED = ["move.description", "!=", null];

/**
 * What the platform has moved to another invoice since it was booked is found wherever it stands, also by a store that
 * has lost its link.
 */
const anywhere = (wanted: readonly WantedPayment[], made: Call["made"]): unknown[] =>
  wanted.flatMap(({ mark }) =>
    made.has(mark) || isSettlement(mark)
      ? []
      : [["move.description", "like", `${paymentMark(mark)} %`]],
  );

async function invoicesOf(
  books: Books,
  wanted: readonly WantedPayment[],
): Promise<readonly number[]> {
  const known = wanted.flatMap(({ on }) => (on === undefined ? [] : [(on.native as Entry).id]));
  const names = wanted.flatMap(({ document, on }) => (on === undefined ? [document.invoice] : []));
  if (names.length === 0) return known;
  const clause = ["OR", ["number", "in", names], ["id", "in", draftsIn(names)]];
  return [...known, ...(await idsOf(books, "account.invoice", [await ofCompany(books), clause]))];
}

/** Settlements have no guard of their own: a second one finds the invoice paid. */
async function payOne(
  books: Books,
  guards: Guards,
  { document, mark, on }: WantedPayment,
): Promise<void> {
  const { amount, date, description } = document;
  const { id: invoice, toPay } = entryOf(on);
  const over = isSettlement(mark) ? 0 : amount.compare(toPay);
  const payment: ToPay = {
    invoice,
    amount,
    date,
    description: `${payingMark(mark)} ${description}`,
    how: over === 0 ? "all" : over > 0 ? "over" : "part",
  };
  if (isSettlement(mark)) return pay(books, payment);
  const guard = guards[document.type];
  await guard.create([mark], async () => {
    if (guard.isModule) {
      // One call pays, or does nothing.
      const params = [invoice, mark, await startOf(books, payment)];
      await books.tryton.call("model.account.invoice.fuelbridge_pay", params);
      return [null];
    }
    await pay(books, payment);
    if (books.config.guard === "search") return [null];
    // It is paid: without its move the claim stays as it is, and the next look finds the payment by its mark.
    const on = [["move.origin", "=", resourceOf({ id: invoice })], DESCRIBED];
    const made = await paymentMoves(books, on).catch((error: unknown) => {
      if (error instanceof TrytonError) return [];
      throw error;
    });
    return [made.find((one) => one.mark === paymentMark(mark))?.move ?? null];
  });
}

const entryOf = (on: Standing | undefined): Entry => paidBy(on).native as Entry;

/** `#12 payment:5f0c…`; `#12` before links had a mark. */
const movesIn = (ids: readonly string[]): number[] =>
  ids.flatMap((id) => Number(/^#(\d+)/.exec(id)?.[1] ?? []));

async function heldBy(books: Books, clause: unknown, signal: AbortSignal): Promise<Standing[]> {
  return standingsOf(books, await paymentMoves(books, [clause], signal), new Set(), signal);
}

/** Payments of the documents with these numbers. */
async function named(
  books: Books,
  numbers: readonly string[],
  signal: AbortSignal,
): Promise<Standing[]> {
  const domain = [
    await ofCompany(books, "move.company"),
    ["invoice_payments.number", "in", numbers],
  ];
  const model = "account.move.line";
  const lines = await rowsOf<{ readonly move: number }>(books, model, domain, "move", { signal });
  return heldBy(books, ["move", "in", [...new Set(lines.map(({ move }) => move))]], signal);
}

async function* list(
  books: Books,
  scope: Scope,
  from: string | null,
  signal: AbortSignal,
): ReturnType<BookAdapter<"payment">["list"]> {
  const owed = ["receivable", "payable"].map((side) => [`lines.account.type.${side}`, "=", true]);
  const domain = [
    await ofCompany(books),
    ["state", "=", "posted"],
    ["OR", ...owed],
    scopeDomain(scope, "date", ["create_date", "write_date", "lines.write_date"], UNSETTLED),
  ];
  const all = inPages(Number(from ?? 0), Number, (id) =>
    idsOf(books, "account.move", [["id", ">", id], ...domain], { most: PAGE_RECORDS, signal }),
  );
  for await (const { rows, last } of all)
    yield { standings: await heldBy(books, ["move", "in", rows], signal), position: String(last) };
}

/** What is open is not settled with anything: money on account. */
const UNSETTLED = [
  [
    "lines",
    "where",
    [
      ["reconciliation", "=", null],
      ["account.reconcile", "=", true],
    ],
  ],
];

/** Of these moves those that are payments, with the invoices that they pay. @param called names that links have of these */
async function standingsOf(
  books: Books,
  moves: readonly PaymentMove[],
  called: ReadonlySet<string>,
  signal?: AbortSignal,
): Promise<Standing[]> {
  if (moves.length === 0) return [];
  const paid = moves.flatMap(({ invoices }) => invoices);
  const settled = moves.flatMap(({ move, settles }) => [move, ...settles]);
  const domain = [
    "OR",
    ["id", "in", paid],
    ["move", "in", settled],
    ["cancel_move", "in", settled],
  ];
  const fields = "number move cancel_move";
  const rows = await rowsOf<InvoiceRow>(books, "account.invoice", domain, fields, { signal });
  const own = new Set(rows.flatMap(({ move, cancel_move }) => [move, cancel_move]));
  // Links of an invoice that was a draft when it was delivered have its id.
  const named = rows.map(({ id, move, number }) => {
    const draft = `#${id}`;
    return { id, move, name: number === null || called.has(draft) ? draft : number };
  });
  const paying = moves.filter(({ move }) => !own.has(move));
  return paying.map((one): Standing => {
    const { facts } = one.standing;
    const words = { ...facts.words, document: numberOf(one, named) };
    return { ...one.standing, facts: { ...facts, words } };
  });
}

type InvoiceRow = Readonly<Record<"move" | "cancel_move", number | null>> & {
  readonly id: number;
  readonly number: string | null;
};

type Named = Pick<InvoiceRow, "id" | "move"> & { readonly name: string };

function numberOf({ invoices, settles, takenBack }: PaymentMove, rows: readonly Named[]) {
  if (takenBack) return null;
  const paid = rows.filter(
    ({ id, move }) => invoices.includes(id) || (move !== null && settles.includes(move)),
  );
  return paid.length === 0 ? null : paid.map(({ name }) => name).join(" ");
}
