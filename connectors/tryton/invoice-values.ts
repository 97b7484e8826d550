/**
 * An invoice as Tryton's server takes it. What the client fills in for a person the server leaves empty, so all of it
 * is sent.
 *
 * Tryton computes a line as quantity × unit price, rounded to the cent. Where that is not the amount of the document's
 * line, or the price has more digits than Tryton keeps, the amount stands: the line is booked as 1 × amount, without product and unit, on the account that it would
 * have had; quantity, unit and price are in its description. The total is right to the cent, no cent hides in another
 * line, and no figure counts a gallon that was not there.
 */
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Books } from "./books.ts";
import type { InvoiceDocument } from "../../src/books/documents.ts";
import type { Codes, Product, Unit } from "./lookup.ts";
import { markOf } from "./marks.ts";
import type { Addressed } from "./parties.ts";
import { day, float } from "./values.ts";

type Line = InvoiceDocument["lines"][number];

/** The codes that their values need. */
export function codesOf({ config }: Books, documents: readonly InvoiceDocument[]): Codes {
  const lines = documents.flatMap((document) => document.lines);
  const taxes = documents.flatMap((document) => document.taxes);
  return {
    account: [
      ...documents.flatMap(({ type }) =>
        type === "out"
          ? [config.accounts.receivable, config.accounts.revenue]
          : [config.accounts.payable, config.accounts.expense],
      ),
      ...[...lines, ...taxes].flatMap(({ account }) => account ?? []),
    ],
    product: lines.flatMap(({ product }) => product ?? []),
    unit: lines.flatMap(({ unit }) => unit ?? []),
  };
}

/** The values of one `account.invoice.create`. @throws Refused, TrytonError */
export async function invoiceValues(
  books: Books,
  document: InvoiceDocument,
  party: Addressed,
): Promise<object> {
  const { config, lookup } = books;
  const { type, dueDate, invoiceDate } = document;
  const ours = type === "out";
  const { company } = await books.tryton.session();
  const lines: object[] = [];
  for (const line of document.lines) lines.push(await lineValues(books, type, line));
  const taxes: object[] = [];
  for (const { account, description, base, amount } of document.taxes)
    taxes.push({ manual: true, account: await lookup.account(account), description, base, amount });
  const term = dueDate === null ? config.paymentTerm : undefined;
  return {
    type,
    company,
    party: party.id,
    invoice_address: party.address,
    currency: await lookup.currency(config.currency),
    journal: await lookup.journal(ours ? config.journals.revenue : config.journals.expense),
    account: await lookup.account(ours ? config.accounts.receivable : config.accounts.payable),
    reference: document.number,
    ...(ours && config.numbering === "platform" ? { number: document.number } : {}),
    description: document.description,
    comment: markOf(document.id),
    invoice_date: day(invoiceDate),
    ...(term === undefined
      ? { payment_term_date: day(dueDate ?? invoiceDate) }
      : { payment_term: await lookup.paymentTerm(term) }),
    lines: [["create", lines]],
    ...(taxes.length === 0 ? {} : { taxes: [["create", taxes]] }),
  };
}

async function lineValues(
  { config, lookup }: Books,
  type: InvoiceDocument["type"],
  line: Line,
): Promise<object> {
  const product = line.product === null ? null : await lookup.product(line.product);
  const unit = line.unit === null ? null : await lookup.unit(line.unit);
  const fallback = type === "out" ? config.accounts.revenue : config.accounts.expense;
  const own = product === null ? null : type === "out" ? product.revenue : product.expense;
  const account =
    line.account !== null
      ? await lookup.account(line.account)
      : (own?.id ?? (await lookup.account(fallback)));
  const pricePlaces = await lookup.pricePlaces();
  const { quantity, unitPrice, ...sent } = quantities(line, product, unit, pricePlaces);
  return { type: "line", account, ...sent, quantity: float(quantity), unit_price: unitPrice };
}

/** A line as it is booked: `product` and `unit` are database ids, and left out of one that is 1 × its amount. */
interface Quantities {
  readonly product?: number;
  readonly unit?: number;
  readonly quantity: Decimal;
  readonly unitPrice: Decimal;
  readonly description: string;
}

/** @throws Refused when the unit takes fewer digits than the quantity has */
export function quantities(
  line: Line,
  product: Product | null,
  unit: Unit | null,
  pricePlaces: number,
): Quantities {
  const { quantity, unitPrice, amount, description } = line;
  const counted = quantity.times(unitPrice).round(CENTS).equals(amount);
  const places = unit?.digits ?? PLACES_WITHOUT_UNIT;
  const fits = quantity.round(places).equals(quantity);
  const priced = unitPrice.round(pricePlaces).equals(unitPrice);
  if (!fits && unit !== null && product !== null) throw tooFine(line, unit);
  if (!fits || !counted || !priced || (product !== null && unit === null))
    return { quantity: ONE, unitPrice: amount, description: described(line) };
  return {
    ...(product === null ? {} : { product: product.id }),
    ...(unit === null ? {} : { unit: unit.id }),
    quantity,
    unitPrice,
    description,
  };
}

/** `ULSD (7500.5 gal × 2.413755 = 18104.38)` */
const described = ({ description, quantity, unit, unitPrice, amount }: Line): string =>
  `${description} (${quantity.text}${unit === null ? "" : ` ${unit}`} × ${unitPrice.text} = ${amount.text})`;

const tooFine = ({ quantity, unit }: Line, { digits }: Unit): Refused =>
  new Refused({
    code: "too-many-digits",
    message: `the quantity ${quantity.text} ${unit} has more than the ${digits} decimal places that Tryton's unit ${unit} takes`,
    next: `Give the unit ${unit} more digits and a finer rounding in Tryton (Product > Units of Measure), then retry.`,
    field: "quantity",
  });

const ONE = Decimal.of("1");
/** Of the company's currency. */
const CENTS = 2;
/** What Tryton takes of a quantity without a unit. */
const PLACES_WITHOUT_UNIT = 2;
