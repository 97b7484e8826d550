/**
 * An invoice as these books would show it, had it just been booked, and as Tryton's server takes it. What the client fills
 * in for a person the server leaves empty, so all of it is sent. What cannot be known beforehand is not expected: a number
 * that Tryton gives, a due date that a payment term computes.
 */
import type { Desired } from "../../src/ledger/port.ts";
import type { InvoiceDocument } from "../../src/ledger/documents.ts";
import { codesIn, invoiceFacts, orRefused } from "../../src/ledger/facts.ts";
import { pricedLine } from "../../src/ledger/priced.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { Refused } from "../../src/core/errors.ts";
import type { Facts, FactLine } from "../../src/core/holdings.ts";
import type { Books } from "./books.ts";
import { TRYTON } from "./errors.ts";
import { markOf } from "../../src/ledger/marks.ts";
import type { Addressed } from "./parties.ts";
import { day, float } from "./values.ts";

type Line = InvoiceDocument["lines"][number];
type Type = InvoiceDocument["type"];

/**
 * In the order of the documents, without party, state and what is open; or why Tryton cannot keep one: a code that it
 * does not have. The ids of codes are loaded in a few calls for all. @throws TrytonError
 */
export async function expectedOf(
  books: Books,
  documents: readonly InvoiceDocument[],
): Promise<(Facts | Refused)[]> {
  const codes = codesIn(documents);
  const own = documents.flatMap(({ type }) => Object.values(accountsOf(books, type)));
  await books.lookup.load({ ...codes, account: [...own, ...codes.account] });
  return orRefused(documents, (document) => factsOf(books, document));
}

/** What is owed, and lines whose product has no account. */
const accountsOf = ({ config: { accounts } }: Books, type: Type) =>
  type === "out"
    ? { owed: accounts.receivable, line: accounts.revenue }
    : { owed: accounts.payable, line: accounts.expense };

async function factsOf(books: Books, document: InvoiceDocument): Promise<Facts> {
  const { config } = books;
  const { type, number, invoiceDate: date, dueDate } = document;
  const lines: FactLine[] = [];
  for (const line of document.lines) lines.push(await lineOf(books, type, line));
  const isComputed = dueDate === null && config.paymentTerm !== undefined;
  return {
    ...(isNumbered(books, type) ? { number } : {}),
    ...invoiceFacts(document, config.currency, lines),
    days: { date, ...(isComputed ? {} : { due: dueDate ?? date }) },
  };
}

/** Do invoices of this type get the platform's number? */
export const isNumbered = ({ config }: Books, type: Type): boolean =>
  type === "out" && config.numbering === "platform";

async function lineOf(books: Books, type: Type, line: Line): Promise<FactLine> {
  const { lookup } = books;
  const product = line.product === null ? null : await lookup.product(line.product);
  const unit = line.unit === null ? null : await lookup.unit(line.unit);
  const own = type === "out" ? product?.revenue : product?.expense;
  const { lump, ...sent } = pricedLine(line, {
    quantity: unit?.digits ?? null,
    unitPrice: await lookup.pricePlaces(),
    books: TRYTON.name,
    where: "in Tryton (Product > Units of Measure)",
  });
  return {
    ...sent,
    product: lump ? null : line.product,
    account: line.account ?? own?.code ?? accountsOf(books, type).line,
    unit: lump ? null : line.unit,
    amount: line.amount,
  };
}

/** The values of one `account.invoice.create`. @throws Refused, TrytonError */
export async function invoiceValues(
  books: Books,
  { document, expected, mark }: Pick<Desired<"invoice" | "bill">, "document" | "expected" | "mark">,
  party: Addressed,
): Promise<object> {
  const { config, lookup } = books;
  const { type, dueDate, invoiceDate, number } = document;
  const lines: object[] = [];
  for (const line of expected.lines ?? []) lines.push(await lineValues(books, line));
  const taxes: object[] = [];
  for (const { account, description, base, amount } of document.taxes)
    taxes.push({ manual: true, account: await lookup.account(account), description, base, amount });
  const term = dueDate === null ? config.paymentTerm : undefined;
  const { revenue, expense } = config.journals;
  return {
    type,
    company: (await books.tryton.session()).company,
    party: party.id,
    invoice_address: party.address,
    currency: await lookup.currency(config.currency),
    journal: await lookup.journal(type === "out" ? revenue : expense),
    account: await lookup.account(accountsOf(books, type).owed),
    reference: number,
    ...(isNumbered(books, type) ? { number } : {}),
    description: document.description,
    comment: markOf(mark),
    invoice_date: day(invoiceDate),
    ...(term === undefined
      ? { payment_term_date: day(dueDate ?? invoiceDate) }
      : { payment_term: await lookup.paymentTerm(term) }),
    lines: [["create", lines]],
    ...(taxes.length === 0 ? {} : { taxes: [["create", taxes]] }),
  };
}

async function lineValues({ lookup }: Books, line: FactLine): Promise<object> {
  const { product, unit, account, quantity, unitPrice, text } = line;
  return {
    type: "line",
    account: await lookup.account(account ?? ""),
    ...(product === null ? {} : { product: (await lookup.product(product)).id }),
    ...(unit === null ? {} : { unit: (await lookup.unit(unit)).id }),
    quantity: float(quantity ?? ONE),
    unit_price: unitPrice,
    description: text,
  };
}

const ONE = Decimal.of("1");
