/**
 * What these books would show of a document, had it just been booked: the other side of every comparison. What cannot
 * be known beforehand is left out: a number that Tryton gives, a due date that a payment term computes.
 */
import { Refused } from "../../src/core/errors.ts";
import type { Facts, FactLine } from "../../src/core/holdings.ts";
import type { Books } from "./books.ts";
import type { InvoiceDocument } from "../../src/books/documents.ts";
import { codesOf, quantities } from "./invoice-values.ts";

type Line = InvoiceDocument["lines"][number];

/**
 * In the order of the documents, without party, state and what is open; or why Tryton cannot keep one: a code that it
 * does not have. The ids of codes are loaded in a few calls for all. @throws TrytonError
 */
export async function expectedOf(
  books: Books,
  documents: readonly InvoiceDocument[],
): Promise<(Facts | Refused)[]> {
  await books.lookup.load(codesOf(books, documents));
  const all: (Facts | Refused)[] = [];
  for (const document of documents)
    all.push(
      await factsOf(books, document).catch((error: unknown) => {
        if (error instanceof Refused) return error;
        throw error;
      }),
    );
  return all;
}

async function factsOf(books: Books, document: InvoiceDocument): Promise<Facts> {
  const { config } = books;
  const { type, number, invoiceDate, dueDate } = document;
  const lines: FactLine[] = [];
  for (const line of document.lines) lines.push(await lineOf(books, type, line));
  const isComputed = dueDate === null && config.paymentTerm !== undefined;
  return {
    ...(type === "out" && config.numbering === "platform" ? { number } : {}),
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
