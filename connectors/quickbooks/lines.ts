/**
 * Lines as QuickBooks keeps them. It has one sales tax per document, and fuel has many taxes: each of them is a line of an
 * item of its own, as product and freight are.
 */
import type { Change } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Day, FactLine, Facts } from "../../src/core/holdings.ts";
import { stringifyExact } from "../../src/core/json.ts";
import type { InvoiceDocument } from "../../src/ledger/documents.ts";
import { invoiceRecord, MONEY, payersOfEntry, some } from "../../src/ledger/entries.ts";
import type { Entry } from "../../src/ledger/port.ts";

interface ItemLine {
  /** The item's full name. */
  readonly item: string;
  readonly text: string;
  /** Null: the line has an amount alone. */
  readonly quantity: Decimal | null;
  /** Null: it is left to QuickBooks; what it would make of the platform's is another amount. */
  readonly rate: Decimal | null;
  readonly amount: Decimal;
  readonly isTax: boolean;
}

/** Digits after the point that QuickBooks keeps of quantities and rates. */
const DIGITS = 5;
const CENTS = 2;

/**
 * Products and charges, then taxes. A line without a product is booked on the item that its account names, else on
 * `charge`; a tax on the item that its account names.
 * @throws Refused when an amount has more than cents, a quantity more than five digits, or the lines do not add up to the
 * total: QuickBooks adds up by itself, and posts at once
 */
export function itemLines(document: InvoiceDocument, charge: string): ItemLine[] {
  const lines = [
    ...document.lines.map(({ product, account, quantity, unitPrice, amount, description }) => ({
      item: product ?? account ?? charge,
      text: description,
      quantity: product === null ? null : quantity,
      rate: product === null || !isExact(quantity, unitPrice, amount) ? null : unitPrice,
      amount,
      isTax: false,
    })),
    ...document.taxes.map(({ account, description, amount }) => ({
      item: account,
      text: description,
      quantity: null,
      rate: null,
      amount,
      isTax: true,
    })),
  ];
  for (const [at, { amount, quantity }] of lines.entries()) {
    if (!amount.round(CENTS).equals(amount))
      throw notHeld(`line ${at + 1} comes to ${amount.plain()}, which is not whole cents`);
    if (quantity !== null && !quantity.round(DIGITS).equals(quantity))
      throw notHeld(
        `line ${at + 1} has the quantity ${quantity.plain()}: more than ${DIGITS} digits`,
      );
  }
  const sum = Decimal.sum(lines.map(({ amount }) => amount));
  if (!sum.equals(document.total))
    throw notHeld(
      `its lines and taxes come to ${sum.plain()}, its total is ${document.total.plain()}`,
    );
  return lines;
}

/** QuickBooks multiplies where it is told a rate: it must come to the same cent. */
const isExact = (quantity: Decimal, rate: Decimal, amount: Decimal): boolean =>
  rate.round(DIGITS).equals(rate) && roundHalfUp(quantity.times(rate)).equals(amount);

/** To cents as QuickBooks, Desktop and Online, rounds what it multiplies: half a cent goes away from zero. */
export function roundHalfUp(value: Decimal): Decimal {
  const even = value.round(CENTS);
  const rest = value.abs().minus(even.abs());
  if (!rest.equals(HALF_CENT)) return even;
  return value.sign < 0 ? even.minus(CENT) : even.plus(CENT);
}
const HALF_CENT = Decimal.of("0.005");
const CENT = Decimal.of("0.01");

const notHeld = (says: string): Refused =>
  new Refused({
    code: "not-held",
    message: `QuickBooks cannot keep this document: ${says}`,
    next: "Correct the document where it comes from, then retry; or an accountant enters it by hand and resolves it here.",
    field: "lines",
  });

/* What sources of both tell alike: an invoice that is gone, the taxes of an invoice, and who paid it. */

/** An invoice that was deleted, of which hardly more than its id is left: its mapping sees whether it was told before. */
export function deletedInvoice(
  id: string,
  state: "cancelled" | "deleted",
  facts: Required<Pick<Facts, "party" | "days" | "words">>,
): Change {
  const money = { untaxed: Decimal.zero, tax: Decimal.zero, total: Decimal.zero };
  const record = invoiceRecord(
    { ...facts, money },
    {
      number: id,
      id,
      state,
      partyCompanyId: null,
      dueDate: null,
      open: Decimal.zero,
      paidDate: null,
      paidByPlatform: false,
      paidByOthers: null,
      clearedBy: MONEY,
      platformId: null,
    },
  );
  return { id, version: null, text: stringifyExact(record) };
}

/** What its source tells of a customer invoice, beside what its entry says. */
export interface ToldInvoice {
  readonly id: string;
  readonly number: string;
  /** Left out: as far as its entry is. */
  readonly state?: "draft";
  readonly facts: Pick<Facts, "party" | "days" | "words">;
  /** Those of `taxItems` are taxes, as QuickBooks' own sales tax is. */
  readonly lines: readonly FactLine[];
  readonly taxItems: readonly string[];
  readonly salesTax: Decimal;
  readonly total: Decimal;
  readonly open: Decimal;
  readonly dueDate: Day | null;
  /** The platform's id of its customer; null: it is not known. */
  readonly partyCompanyId: string | null;
}

/** The change of it, with its taxes apart from its lines, and who paid it, with what. */
export function invoiceChange(
  { status, payments, mark, paid }: Pick<Entry, "status" | "payments" | "mark" | "paid">,
  { id, number, facts, taxItems, salesTax, total, open, ...told }: ToldInvoice,
): Change {
  const isTax = ({ product }: FactLine): boolean => product !== null && taxItems.includes(product);
  const taxes = told.lines.filter(isTax);
  const lines = told.lines.filter((line) => !isTax(line));
  const tax = Decimal.sum(taxes.map(({ amount }) => amount)).plus(salesTax);
  const untaxed = total.minus(tax);
  const reached = status === "settled" ? "paid" : status === "cancelled" ? status : "posted";
  const record = invoiceRecord(
    {
      ...facts,
      money: { untaxed, tax, total },
      lines,
      taxes: [
        ...taxes.map(({ product, amount, text }) => ({
          code: product ?? "",
          text: some(text) ?? product ?? "",
          base: untaxed,
          amount,
        })),
        ...(salesTax.sign === 0
          ? []
          : [{ code: "Sales tax", text: "Sales tax", base: untaxed, amount: salesTax }]),
      ],
    },
    {
      number,
      id,
      state: reached === "posted" ? (told.state ?? reached) : reached,
      partyCompanyId: told.partyCompanyId,
      dueDate: told.dueDate,
      open,
      paidDate: paid,
      ...payersOfEntry({ status, payments }, total, open),
      platformId: mark,
      productNames: lines.map(({ product }) => product),
    },
  );
  return { id, version: null, text: stringifyExact(record) };
}
