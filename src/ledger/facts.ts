/** Documents as facts, and facts as records that sources tell: what every ERP's connector says in the same words. */
import { Refused } from "../core/errors.ts";
import type { Day, FactLine, Facts } from "../core/holdings.ts";
import type { Decimal } from "../core/decimal.ts";
import type { InvoiceDocument, PaymentDocument } from "./documents.ts";
import type { InvoiceRecord } from "./records.ts";

const sideOf = ({ type }: { readonly type: "in" | "out" }): "sale" | "purchase" =>
  type === "out" ? "sale" : "purchase";

/** An invoice or a bill as books show it, with the lines that these would keep. Its number there is left out. */
export const invoiceFacts = (
  document: InvoiceDocument,
  currency: string,
  lines: readonly FactLine[],
): Facts => ({
  days: { date: document.invoiceDate, due: document.dueDate },
  money: { untaxed: document.subtotal, tax: document.tax, total: document.total },
  words: {
    side: sideOf(document),
    currency,
    reference: document.number,
    order: document.description,
  },
  lines,
  taxes: document.taxes.map(({ account, description, base, amount }) => ({
    code: account,
    text: description,
    base,
    amount,
  })),
});

/** The codes that these documents name, for one look at each kind. */
export const codesIn = (
  documents: readonly InvoiceDocument[],
): Readonly<Record<"account" | "product" | "unit", readonly string[]>> => {
  const lines = documents.flatMap((document) => document.lines);
  const taxes = documents.flatMap((document) => document.taxes);
  return {
    account: [...lines, ...taxes].flatMap(({ account }) => account ?? []),
    product: lines.flatMap(({ product }) => product ?? []),
    unit: lines.flatMap(({ unit }) => unit ?? []),
  };
};

/** A payment as books show it. */
export const paymentFacts = (document: PaymentDocument, currency: string): Facts => ({
  days: { date: document.date },
  money: { amount: document.amount },
  words: {
    side: sideOf(document),
    currency,
    document: document.invoice,
    reference: document.description,
  },
});

/** What is made of each, one after the other, or why it cannot be. @throws what is no Refused */
export async function orRefused<One, Made>(
  all: readonly One[],
  make: (one: One) => Promise<Made>,
): Promise<(Made | Refused)[]> {
  const made: (Made | Refused)[] = [];
  for (const one of all)
    made.push(
      await make(one).catch((error: unknown) => {
        if (error instanceof Refused) return error;
        throw error;
      }),
    );
  return made;
}

/** What a record says beside its facts: fields of {@link InvoiceRecord}. */
export interface RecordHead extends Pick<
  InvoiceRecord,
  "id" | "state" | "partyCompanyId" | "paidByPlatform" | "paidByOthers" | "clearedBy" | "platformId"
> {
  readonly number: string;
  readonly dueDate: Day | null;
  readonly open: Decimal;
  readonly paidDate: Day | null;
  /** Of its lines' products, in their order. Left out: these books tell none. */
  readonly productNames?: readonly (string | null)[];
}

/** A customer invoice as a source tells it. Its fields keep their order: the text of a record says whether it is new. */
export function invoiceRecord(facts: Facts, head: RecordHead): InvoiceRecord {
  const { days, money, words, lines = [], taxes = [] } = facts;
  return {
    number: head.number,
    id: head.id,
    type: "out",
    state: head.state,
    reference: some(words?.reference),
    description: some(words?.order),
    partyCode: shown(facts.party),
    partyCompanyId: head.partyCompanyId,
    currency: shown(words?.currency),
    invoiceDate: shown(days?.date),
    dueDate: head.dueDate,
    untaxed: shown(money?.untaxed),
    tax: shown(money?.tax),
    total: shown(money?.total),
    amountToPay: head.open,
    paidDate: head.paidDate,
    paidByPlatform: head.paidByPlatform,
    paidByOthers: head.paidByOthers,
    clearedBy: head.clearedBy,
    platformId: head.platformId,
    lines: lines.map((line, at) => ({
      product: some(line.product),
      productName: some(head.productNames?.[at]),
      description: some(line.text),
      quantity: line.quantity,
      unit: some(line.unit),
      unitPrice: line.unitPrice,
      amount: line.amount,
      account: some(line.account),
    })),
    taxes: taxes.map((tax) => ({
      description: shown(tax.text),
      account: some(tax.code),
      base: shown(tax.base),
      amount: tax.amount,
    })),
  };
}

/** @throws TypeError when books do not show what each of their invoices has */
function shown<T>(value: T | null | undefined): T {
  if (value === undefined || value === null) throw new TypeError("an invoice lacks a field");
  return value;
}

/** Text of books, where what is empty is null. */
export function some(text: string | null | undefined): string | null {
  const trimmed = text?.trim() ?? "";
  return trimmed === "" ? null : trimmed;
}
