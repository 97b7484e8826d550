/** Payments as the books hold them now: those of the platform, settlements as one, and what people entered. */
import type { Delivered, Inspection } from "../../src/core/contract.ts";
import type { Holding, HoldingPage, Scope } from "../../src/core/holdings.ts";
import type { Json } from "../../src/core/json.ts";
import { PaymentDocument } from "../../src/books/documents.ts";
import { type KindHoldings, LOT, pagesOf } from "../../src/books/holdings.ts";
import {
  type HeldPayment,
  paymentFacts,
  paymentHolding,
  paymentInspections,
  type PaymentKind,
  paymentTypeOf,
} from "../../src/books/payments.ts";
import type { Books } from "./books.ts";
import { reading, unavailable } from "./fault.ts";
import { type PaymentMove, paymentMoves } from "./payment-moves.ts";
import { idsIn } from "./search.ts";
import { day, stamp } from "./values.ts";

type Type = PaymentDocument["type"];

/** `payment`: what customers pay; `bill-payment`: what we pay. */
export function paymentHoldings(books: Books, kind: PaymentKind): KindHoldings {
  const type = paymentTypeOf(kind);
  const { currency } = books.config;
  return {
    list: (scope, from, signal) => list(books, kind, scope, from, signal),
    async get(ids, signal) {
      const held = await heldOf(books, type, ids, signal);
      return ids.flatMap((id) => {
        const one = held.get(id);
        return one === undefined ? [] : [paymentHolding(kind, currency, one)];
      });
    },
    named: (numbers, signal) => reading(() => named(books, kind, numbers, signal)),
    expect: async (items) =>
      items.map(({ document }) => ({
        facts: paymentFacts(PaymentDocument.parse(document), currency),
      })),
  };
}

/** How payments that were delivered stand in the books now. @throws SourceUnavailable */
export async function inspectPayments(
  books: Books,
  delivered: readonly Delivered[],
  signal: AbortSignal,
): Promise<Inspection[]> {
  const ids = delivered.map(({ counterpart }) => counterpart);
  const held = await heldOf(books, null, ids, signal);
  return paymentInspections(delivered, held, books.config.currency, books.surroundings.ignore);
}

async function* list(
  books: Books,
  kind: PaymentKind,
  scope: Scope,
  from: Json | null,
  signal: AbortSignal,
): AsyncGenerator<HoldingPage> {
  const { company } = await reading(() => books.tryton.session());
  const side = kind === "payment" ? "receivable" : "payable";
  const domain = [
    ["company", "=", company],
    ["state", "=", "posted"],
    [`lines.account.type.${side}`, "=", true],
    within(scope),
  ];
  const idsAfter = idsIn(books, "account.move", domain);
  const held = (ids: readonly number[]) => holdingsIn(books, kind, ids, signal);
  yield* pagesOf({ idsAfter, held, unavailable }, from, signal);
}

async function holdingsIn(
  books: Books,
  kind: PaymentKind,
  moves: readonly number[],
  signal: AbortSignal,
): Promise<Holding[]> {
  const held = await heldIn(books, paymentTypeOf(kind), moves, signal);
  return held.map((one) => paymentHolding(kind, books.config.currency, one));
}

/** Payments of the documents with these numbers. @throws TrytonFault */
async function named(
  books: Books,
  kind: PaymentKind,
  numbers: readonly string[],
  signal: AbortSignal,
): Promise<Holding[]> {
  const { tryton } = books;
  const { company } = await tryton.session();
  const domain = [
    ["move.company", "=", company],
    ["invoice_payments.number", "in", numbers],
  ];
  const lines = await tryton.call<{ readonly move: number }[]>(
    "model.account.move.line.search_read",
    [domain, 0, null, null, ["move"]],
    { signal },
  );
  return holdingsIn(books, kind, [...new Set(lines.map(({ move }) => move))], signal);
}

/** What is open is not settled with anything: money on account. */
function within({ dated, changedSince, open }: Scope): unknown[] {
  const union: unknown[] = ["OR"];
  if (dated !== null)
    union.push([
      ["date", ">=", day(dated.from)],
      ["date", "<=", day(dated.to)],
    ]);
  if (changedSince !== null)
    for (const field of ["create_date", "write_date", "lines.write_date"])
      union.push([field, ">=", stamp(changedSince.replace(/Z$/, ""))]);
  if (open)
    union.push([
      [
        "lines",
        "where",
        [
          ["reconciliation", "=", null],
          ["account.reconcile", "=", true],
        ],
      ],
    ]);
  return union;
}

/** By what links keep: `#12 payment:5f0c…`; `#12` before they had a mark. What is not there is left out. */
function heldOf(
  books: Books,
  type: Type | null,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, HeldPayment>> {
  const moves = ids.flatMap((id) => Number(/^#(\d+)/.exec(id)?.[1] ?? []));
  return reading(async () => {
    const held = new Map<string, HeldPayment>();
    for (let at = 0; at < moves.length; at += LOT)
      for (const one of await heldIn(books, type, moves.slice(at, at + LOT), signal))
        for (const id of [/^#\d+/.exec(one.id)?.[0] ?? one.id, one.id]) held.set(id, one);
    return held;
  });
}

/** Of these moves those that are payments, with the invoices that they pay. @throws TrytonFault */
async function heldIn(
  books: Books,
  type: Type | null,
  ids: readonly number[],
  signal: AbortSignal,
): Promise<HeldPayment[]> {
  if (ids.length === 0) return [];
  const moves = await paymentMoves(books, type, [["move", "in", ids]], signal);
  const paid = moves.flatMap(({ invoices }) => invoices);
  const settled = moves.flatMap(({ move, settles }) => [move, ...settles]);
  const rows = await books.tryton.call<InvoiceRow[]>(
    "model.account.invoice.search_read",
    [
      ["OR", ["id", "in", paid], ["move", "in", settled], ["cancel_move", "in", settled]],
      0,
      null,
      [["id", "ASC"]],
      ["number", "move", "cancel_move"],
    ],
    { signal },
  );
  const own = new Set(rows.flatMap(({ move, cancel_move }) => [move, cancel_move]));
  return moves.filter(({ move }) => !own.has(move)).map((one) => paymentIn(one, rows));
}

interface InvoiceRow {
  readonly id: number;
  readonly number: string | null;
  readonly move: number | null;
  readonly cancel_move: number | null;
}

const PAYMENT = /^payment:/;

/** Payments that were settled as one have no payment of their own: the mark names the invoice. */
function paymentIn(one: PaymentMove, rows: readonly InvoiceRow[]): HeldPayment {
  const { move, mark } = one;
  const isPayment = mark !== null && PAYMENT.test(mark);
  return {
    ...one,
    id: mark === null ? `#${move}` : `#${move} ${mark}`,
    platformId: isPayment ? mark.replace(PAYMENT, "") : null,
    settles: isPayment ? null : mark,
    document: numberOf(one, rows),
  };
}

function numberOf({ invoices, settles, takenBack }: PaymentMove, rows: readonly InvoiceRow[]) {
  if (takenBack) return null;
  const paid = rows.filter(
    ({ id, move }) => invoices.includes(id) || (move !== null && settles.includes(move)),
  );
  return paid.length === 0 ? null : paid.map(({ number, id }) => number ?? `#${id}`).join(" ");
}
