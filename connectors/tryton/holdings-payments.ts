/** Payments as the books hold them now: those of the platform, settlements as one, and what people entered. */
import type { Delivered, Inspection, Item } from "../../src/core/contract.ts";
import { compare } from "../../src/books/compare.ts";
import { gone } from "../../src/core/contract.ts";
import type { Expected, Facts, Holding, HoldingPage, Scope } from "../../src/core/holdings.ts";
import type { Json } from "../../src/core/json.ts";
import { parseExact } from "../../src/core/json.ts";
import type { Books } from "./books.ts";
import { PaymentDocument } from "../../src/books/documents.ts";
import { type KindHoldings, LOT, pagesOf } from "./holdings-kinds.ts";
import { type PaymentMove, paymentMoves } from "./payment-moves.ts";
import { unavailable } from "./fault.ts";
import { day, stamp } from "./values.ts";

type Type = PaymentDocument["type"];
type PaymentKind = "payment" | "bill-payment";

const typeOf = (kind: PaymentKind): Type => (kind === "payment" ? "out" : "in");

/** `payment`: what customers pay; `bill-payment`: what we pay. */
export function paymentHoldings(books: Books, kind: PaymentKind): KindHoldings {
  const type = typeOf(kind);
  return {
    list: (scope, from, signal) => list(books, kind, scope, from, signal),
    async get(ids, signal) {
      const held = await heldOf(books, type, ids, signal);
      return ids.flatMap((id) => {
        const one = held.get(id);
        return one === undefined ? [] : [holdingOf(books, kind, one)];
      });
    },
    named: (numbers, signal) => named(books, kind, numbers, signal),
    expect: async (items) => items.map((item) => expectedOf(books, item)),
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
  return delivered.map(({ counterpart, body }): Inspection => {
    const found = held.get(counterpart);
    if (found === undefined) return gone;
    if (body === null) return { is: "there", differences: [] };
    const document = PaymentDocument.parse(parseExact(body));
    const kind = document.type === "out" ? "payment" : "bill-payment";
    const { facts } = holdingOf(books, kind, found);
    const ignore = books.surroundings.ignore[kind] ?? [];
    return {
      is: "there",
      differences: compare(kind, factsOf(books, document), facts, { ignore }),
    };
  });
}

/** A payment, and the number of the invoice that it pays; null: it stands on the party's account. */
interface Held extends PaymentMove {
  readonly document: string | null;
}

async function* list(
  books: Books,
  kind: PaymentKind,
  scope: Scope,
  from: Json | null,
  signal: AbortSignal,
): AsyncGenerator<HoldingPage> {
  const { company } = await books.tryton.session().catch((error: unknown) => {
    throw unavailable(error);
  });
  const side = kind === "payment" ? "receivable" : "payable";
  const domain = [
    ["company", "=", company],
    ["state", "=", "posted"],
    [`lines.account.type.${side}`, "=", true],
    within(scope),
  ];
  const held = async (ids: readonly number[]): Promise<Holding[]> =>
    (await heldIn(books, typeOf(kind), ids, signal)).map((one) => holdingOf(books, kind, one));
  yield* pagesOf(books, "account.move", from, signal, held, domain);
}

/** Payments of the documents with these numbers. @throws SourceUnavailable */
async function named(
  books: Books,
  kind: PaymentKind,
  numbers: readonly string[],
  signal: AbortSignal,
): Promise<Holding[]> {
  const { tryton } = books;
  try {
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
    const moves = [...new Set(lines.map(({ move }) => move))];
    return (await heldIn(books, typeOf(kind), moves, signal)).map((one) =>
      holdingOf(books, kind, one),
    );
  } catch (error) {
    throw unavailable(error);
  }
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
async function heldOf(
  books: Books,
  type: Type | null,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, Held>> {
  const held = new Map<string, Held>();
  const moves = ids.flatMap((id) => Number(/^#(\d+)/.exec(id)?.[1] ?? []));
  try {
    for (let at = 0; at < moves.length; at += LOT)
      for (const one of await heldIn(books, type, moves.slice(at, at + LOT), signal))
        for (const id of [`#${one.move}`, idOf(one)]) held.set(id, one);
  } catch (error) {
    throw unavailable(error);
  }
  return held;
}

/** Of these moves those that are payments, with the invoices that they pay. @throws TrytonFault */
async function heldIn(
  books: Books,
  type: Type | null,
  ids: readonly number[],
  signal: AbortSignal,
): Promise<Held[]> {
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
  return moves
    .filter(({ move }) => !own.has(move))
    .map((one) => ({ ...one, document: numberOf(one, rows) }));
}

interface InvoiceRow {
  readonly id: number;
  readonly number: string | null;
  readonly move: number | null;
  readonly cancel_move: number | null;
}

function numberOf({ invoices, settles, takenBack }: PaymentMove, rows: readonly InvoiceRow[]) {
  if (takenBack) return null;
  const paid = rows.filter(
    ({ id, move }) => invoices.includes(id) || (move !== null && settles.includes(move)),
  );
  return paid.length === 0 ? null : paid.map(({ number, id }) => number ?? `#${id}`).join(" ");
}

const idOf = ({ move, mark }: PaymentMove): string =>
  mark === null ? `#${move}` : `#${move} ${mark}`;

const PAYMENT = /^payment:/;

function holdingOf({ config }: Books, kind: PaymentKind, held: Held): Holding {
  const { mark, words, date, amount, takenBack, party, document, stamp } = held;
  const isSettlement = mark !== null && !PAYMENT.test(mark);
  return {
    kind,
    id: idOf(held),
    version: stamp,
    mark: mark === null || isSettlement ? null : mark.replace(PAYMENT, ""),
    change: null,
    facts: {
      party,
      state: takenBack ? "ended" : "paid",
      days: { date },
      money: { amount },
      words: {
        side: kind === "payment" ? "sale" : "purchase",
        currency: config.currency,
        document,
        reference: words,
        // Payments that were settled as one have no payment of their own: the mark names the invoice.
        notes: isSettlement ? mark : null,
      },
    },
  };
}

function factsOf({ config }: Books, document: PaymentDocument): Facts {
  const { type, invoice, amount, date, description } = document;
  return {
    state: "paid",
    days: { date },
    money: { amount },
    words: {
      side: type === "out" ? "sale" : "purchase",
      currency: config.currency,
      document: invoice,
      reference: description,
      notes: null,
    },
  };
}

function expectedOf(books: Books, { document }: Item): Expected {
  return { facts: factsOf(books, PaymentDocument.parse(document)) };
}
