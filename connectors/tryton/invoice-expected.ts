/**
 * What these books would show of a document, had it just been booked: the other side of every comparison. What cannot
 * be known beforehand is left out: a number that Tryton gives, a due date that a payment term computes.
 */
import type { Facts, FactLine } from "../../src/core/holdings.ts";
import type { Books } from "./books.ts";
import type { InvoiceDocument, Party } from "../../src/books/documents.ts";
import { codesOf, quantities } from "./invoice-values.ts";
import { findParty } from "./parties.ts";

type Line = InvoiceDocument["lines"][number];

/** The ids of codes, in a few calls for all of these documents. @throws TrytonFault */
export const loadCodes = (books: Books, documents: readonly InvoiceDocument[]): Promise<void> =>
  documents.length === 0 ? Promise.resolve() : books.lookup.load(codesOf(books, documents));

/**
 * Without state and what is open. `party`: the code of the party that it is booked on, see {@link partyCode}.
 * @throws Refused for a code that Tryton does not have, TrytonFault
 */
export async function expectedOf(
  books: Books,
  document: InvoiceDocument,
  party: string,
): Promise<Facts> {
  const { config } = books;
  const { type, number, invoiceDate, dueDate } = document;
  const lines: FactLine[] = [];
  for (const line of document.lines) lines.push(await lineOf(books, type, line));
  const isComputed = dueDate === null && config.paymentTerm !== undefined;
  return {
    ...(type === "out" && config.numbering === "platform" ? { number } : {}),
    party,
    days: { date: invoiceDate, ...(isComputed ? {} : { due: dueDate ?? invoiceDate }) },
    money: { untaxed: document.subtotal, tax: document.tax, total: document.total },
    words: {
      side: type === "out" ? "sale" : "purchase",
      currency: config.currency,
      reference: number,
      order: document.description,
    },
    lines,
    taxes: document.taxes.map(({ account, description, base, amount }) => ({
      code: account,
      text: description,
      base,
      amount,
    })),
  };
}

/** As `invoiceValues` sends it. */
async function lineOf(
  { config, lookup }: Books,
  type: InvoiceDocument["type"],
  line: Line,
): Promise<FactLine> {
  const product = line.product === null ? null : await lookup.product(line.product);
  const unit = line.unit === null ? null : await lookup.unit(line.unit);
  const own = type === "out" ? product?.revenue : product?.expense;
  const fallback = type === "out" ? config.accounts.revenue : config.accounts.expense;
  const sent = quantities(line, product, unit, await lookup.pricePlaces());
  return {
    product: sent.product === undefined ? null : line.product,
    account: line.account ?? own?.code ?? fallback,
    quantity: sent.quantity,
    unit: sent.unit === undefined ? null : line.unit,
    unitPrice: sent.unitPrice,
    amount: line.amount,
    text: sent.description,
  };
}

/**
 * The code of the party that it is booked on: one that was there under another code is known by the platform's id.
 * @throws Refused when it cannot be told from another one, TrytonFault
 */
export const partyCode = async (books: Books, party: Party): Promise<string> =>
  (await findParty(books, party))?.code ?? party.code;
