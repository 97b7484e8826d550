/** Invoices and bills: a document as QuickBooks would keep it, the body that says so, and a record as an entry. Pure. */
import { Decimal } from "../../src/core/decimal.ts";
import type { Fault } from "../../src/core/fault.ts";
import type { FactLine, Facts } from "../../src/core/holdings.ts";
import type { InvoiceDocument } from "../../src/ledger/documents.ts";
import { paidMarkIn } from "../../src/ledger/notes.ts";
import { type Entry, type PaymentOn, PLAIN_ENTRY } from "../../src/ledger/port.ts";
import type { QuickbooksOnlineConfig } from "./config.ts";
import { ACCOUNT, ITEM, type Names, type Online } from "./online.ts";
import { type DocumentRow, having, type Line, PaymentRow } from "./rows.ts";
import { itemLines } from "../quickbooks/lines.ts";
import {
  cut,
  DOC_NUMBER_MOST,
  documentNumber,
  MEMO_MOST,
  memoIn,
  memoOf,
  oneLine,
} from "../quickbooks/text.ts";

/*
 * Lines of documents as QuickBooks tells them (Intuit's schema: `Line`, `LineDetailTypeEnum`). An amount counts once: a
 * subtotal repeats the lines above it, a text has none, a bundle is the lines inside it, a discount is taken off.
 */

type AmountLine = Omit<Line, "GroupLineDetail">;

const DISCOUNT = "DiscountLineDetail";
const NO_AMOUNT: readonly string[] = ["SubTotalLineDetail", "DescriptionOnly"];
const AMOUNT: readonly string[] = [
  "SalesItemLineDetail",
  "ReimburseLineDetail",
  "ItemBasedExpenseLineDetail",
  "AccountBasedExpenseLineDetail",
  DISCOUNT,
];

/** The schema lets a line leave out what it is: then its detail says it. */
const kindOf = (line: AmountLine): string =>
  line.DetailType ??
  AMOUNT.find((kind) => (line[kind as keyof AmountLine] ?? null) !== null) ??
  "(none)";

const isAmount = (line: AmountLine): boolean => AMOUNT.includes(kindOf(line));

const inside = (line: Line): AmountLine[] =>
  line.GroupLineDetail ? line.GroupLineDetail.Line : [line];

/** Those that count, with what no kind is known of: whoever compares sees it. */
export const amountLines = ({ Line: lines }: Pick<DocumentRow, "Line">): AmountLine[] =>
  lines
    .flatMap(inside)
    .filter(
      (line) => isAmount(line) || (!NO_AMOUNT.includes(kindOf(line)) && line.Amount.sign !== 0),
    );

/** Why lines cannot be told; null: they can. Whether they come to the total is for whoever takes them. */
export function unknownLine({ Line: lines }: Pick<DocumentRow, "Line">): Fault | null {
  for (const [at, line] of lines.entries()) {
    const odd = amountLines({ Line: [line] }).find((one) => !isAmount(one));
    if (odd === undefined) continue;
    return {
      code: "unknown-line",
      message: `line ${at + 1} (${kindOf(odd)}, ${odd.Amount.plain()}) is of a kind that fuelbridge does not know: it may be an amount or not`,
      next: "An accountant replaces it in QuickBooks by a line of an item; or enters the invoice on the platform by hand and resolves it here.",
      field: "Line",
    };
  }
  return null;
}

const detailOf = (line: AmountLine) =>
  line.SalesItemLineDetail ?? line.ReimburseLineDetail ?? line.ItemBasedExpenseLineDetail ?? null;

/** The item's name as people call it; null: the line has none. */
function itemIn(names: Names, line: AmountLine): string | null {
  const ref = detailOf(line)?.ItemRef ?? null;
  return ref === null ? null : names.codeOf(ITEM, ref.value, ref.name);
}

export function lineIn(names: Names, line: AmountLine): FactLine {
  const detail = detailOf(line);
  const account = line.AccountBasedExpenseLineDetail?.AccountRef ?? null;
  const isDiscount = kindOf(line) === DISCOUNT;
  const amount = isDiscount ? line.Amount.negated() : line.Amount;
  return {
    product: itemIn(names, line),
    ...(account === null ? {} : { account: names.codeOf(ACCOUNT, account.value, account.name) }),
    ...counted(detail?.Qty ?? null, detail?.UnitPrice ?? null, amount),
    unit: null,
    amount,
    text: line.Description ?? (isDiscount ? "Discount" : null),
  };
}

const ONE = Decimal.of("1");

/** One of an amount is the amount alone: QuickBooks may tell it either way. */
const counted = (
  quantity: Decimal | null,
  rate: Decimal | null,
  amount: Decimal,
): { readonly quantity: Decimal | null; readonly unitPrice: Decimal | null } =>
  quantity === null || rate === null || (quantity.equals(ONE) && rate.equals(amount))
    ? { quantity: null, unitPrice: null }
    : { quantity, unitPrice: rate };

/* What was paid on invoices and bills, and what was settled without money. */

export const ENTITY = { invoice: "Invoice", bill: "Bill" } as const;

/** How QuickBooks calls payments where it links them: `BillPaymentCheck`, `BillPaymentCreditCard`. */
const PAYS = { invoice: /^Payment$/, bill: /^BillPayment/ } as const;

export const paymentsOf = (
  { wire }: Online,
  kind: DocumentKind,
  rows: readonly Pick<DocumentRow, "LinkedTxn">[],
  signal: AbortSignal,
): Promise<PaymentRow[]> => {
  const Id = rows.flatMap(({ LinkedTxn }) =>
    LinkedTxn.flatMap(({ TxnId, TxnType }) => (PAYS[kind].test(TxnType) ? [TxnId] : [])),
  );
  const entity = kind === "invoice" ? "Payment" : "BillPayment";
  return having(wire, entity, PaymentRow, { Id }, signal);
};

/** Documents of a kind that a payment pays. A credit that it applies is none of them, whatever id that has. */
export const linksOf = ({ Line }: Pick<PaymentRow, "Line">, kind: DocumentKind): string[] =>
  Line.flatMap(({ LinkedTxn }) =>
    LinkedTxn.flatMap(({ TxnId, TxnType }) => (TxnType === ENTITY[kind] ? [TxnId] : [])),
  );

/** What a payment pays of one document. */
const amountOn = (
  { Line }: Pick<PaymentRow, "Line">,
  kind: DocumentKind,
  document: string,
): Decimal =>
  Decimal.sum(
    Line.filter(({ LinkedTxn }) =>
      LinkedTxn.some(({ TxnId, TxnType }) => TxnId === document && TxnType === ENTITY[kind]),
    ).map(({ Amount }) => Amount),
  );

/**
 * What a payment settles of one document: with money, and with credits that it applies. Its own amount is the money; what
 * it pays beyond that comes of credits. Of several documents nobody knows which had the money: each is told with the credit.
 */
function paymentsOn(kind: DocumentKind, document: string, row: PaymentRow): PaymentOn[] {
  const amount = amountOn(row, kind, document);
  const all = Decimal.sum([...new Set(linksOf(row, kind))].map((one) => amountOn(row, kind, one)));
  const credit = least(amount, all.minus(row.TotalAmt));
  const id = `#${row.Id}`;
  const money = { mark: paidMarkIn(row.PrivateNote), amount: amount.minus(credit), id };
  if (credit.sign === 0) return [money];
  const instead = `${creditsIn(row, kind)} in payment ${id}`;
  const credited = { mark: null, amount: credit, id, instead };
  return money.amount.sign === 0 ? [credited] : [money, credited];
}

const least = (one: Decimal, other: Decimal): Decimal =>
  other.sign <= 0 ? Decimal.zero : one.compare(other) <= 0 ? one : other;

const CREDITS: Readonly<Record<string, string>> = {
  CreditMemo: "credit memo",
  VendorCredit: "vendor credit",
  JournalEntry: "journal entry",
};

/** `credit memo 77, journal entry 80` */
function creditsIn({ Line }: Pick<PaymentRow, "Line">, kind: DocumentKind): string {
  const linked = Line.flatMap(({ LinkedTxn }) => LinkedTxn);
  const credits = linked.filter(({ TxnType }) => TxnType !== ENTITY[kind]);
  const named = credits.map(({ TxnId, TxnType }) => `${CREDITS[TxnType] ?? TxnType} ${TxnId}`);
  return named.length === 0 ? "a credit" : named.join(", ");
}

export type DocumentKind = "invoice" | "bill";

/** Characters of a line's text. */
const TEXT_MOST = 4000;

/** A line as it is written. One of item and account is null. */
interface BookLine {
  readonly item: string | null;
  readonly account: string | null;
  readonly text: string;
  /** Both, or none: then the amount alone counts. */
  readonly quantity: Decimal | null;
  readonly rate: Decimal | null;
  readonly amount: Decimal;
}

/**
 * An invoice has items only; a bill has items for products, and accounts for what has none. QuickBooks checks that
 * quantity times price is the amount, half a cent up: where it is not, the amount goes alone, and the quantity stands in
 * the text. @throws Refused
 */
export function linesOf(
  kind: DocumentKind,
  { items, accounts }: Pick<QuickbooksOnlineConfig, "items" | "accounts">,
  document: InvoiceDocument,
): BookLine[] {
  const lines = itemLines(document, kind === "invoice" ? items.charge : accounts.expense);
  return lines.map(({ item, text, quantity, rate, amount, isTax }, at) => {
    const isItem = kind === "invoice" || (!isTax && document.lines[at]?.product !== null);
    const isPriced = quantity !== null && rate !== null;
    const counted = quantity !== null && !isPriced ? `${text}, quantity ${quantity.plain()}` : text;
    return {
      item: isItem ? item : null,
      account: isItem ? null : item,
      text: cut(oneLine(counted), TEXT_MOST),
      ...(isPriced ? { quantity, rate } : { quantity: null, rate: null }),
      amount,
    };
  });
}

/** The record that QuickBooks would keep, without its state. @throws Refused */
export function expectedOf(
  kind: DocumentKind,
  config: Pick<QuickbooksOnlineConfig, "items" | "accounts">,
  currency: string,
  document: InvoiceDocument,
): Facts {
  const lines = linesOf(kind, config, document);
  return {
    days: { date: document.invoiceDate, due: dueOf(document) },
    money: { total: document.total },
    words: {
      side: kind === "invoice" ? "sale" : "purchase",
      currency,
      reference: numberOf(document),
      order: memoIn(noteOf(document))?.text ?? null,
    },
    lines: lines.map(factOf),
  };
}

/** A line as QuickBooks would keep it. */
export const factOf = ({ item, account, text, quantity, rate, amount }: BookLine): FactLine => ({
  product: item,
  ...(account === null ? {} : { account }),
  ...counted(quantity, rate, amount),
  unit: null,
  amount,
  text,
});

export const numberOf = ({ number, id }: Pick<InvoiceDocument, "number" | "id">): string =>
  documentNumber(number, id, DOC_NUMBER_MOST);

type Noted = Pick<InvoiceDocument, "number" | "id" | "description">;

export const noteOf = ({ number, id, description }: Noted): string =>
  memoOf({ number, mark: id, text: description }, MEMO_MOST.online, oneLine);

/** A document without a due date is due at once: QuickBooks would take the party's terms. */
const dueOf = ({ dueDate, invoiceDate }: InvoiceDocument): string => dueDate ?? invoiceDate;

export interface Writing extends Pick<
  QuickbooksOnlineConfig,
  "items" | "accounts" | "salesTax" | "multicurrency"
> {
  readonly currency: string;
  /** Of the party. */
  readonly party: string;
  readonly itemId: (name: string) => string;
  readonly accountId: (code: string) => string;
  /** Ids of what the configuration names for all documents. Left out: QuickBooks' own, or none. */
  readonly all?: Partial<Record<"receivable" | "payable" | "class" | "location", string>>;
}

const refOf = (name: string, value: string | undefined): object =>
  value === undefined ? {} : { [name]: { value } };

/** What is posted to make it. Members stand in the order of Intuit's schema. @throws Refused */
export function bodyOf(kind: DocumentKind, writing: Writing, document: InvoiceDocument): object {
  const { currency, multicurrency, party, all = {} } = writing;
  const common = {
    DocNumber: numberOf(document),
    TxnDate: document.invoiceDate,
    ...refOf("DepartmentRef", all.location),
    ...(multicurrency === "home" ? { CurrencyRef: { value: currency } } : {}),
    PrivateNote: noteOf(document),
    Line: lineBodies(kind, writing, linesOf(kind, writing, document)),
  };
  if (kind === "bill")
    return {
      ...common,
      VendorRef: { value: party },
      ...refOf("APAccountRef", all.payable),
      DueDate: dueOf(document),
    };
  return {
    ...common,
    CustomerRef: { value: party },
    ...customerMemo(document),
    DueDate: dueOf(document),
    ...refOf("ARAccountRef", all.receivable),
  };
}

/** Lines as they are posted; an invoice's carry the mark of sales tax. */
export function lineBodies(
  kind: DocumentKind,
  { salesTax, itemId, accountId, all }: Pick<Writing, "salesTax" | "itemId" | "accountId" | "all">,
  lines: readonly BookLine[],
): object[] {
  const ClassRef = all?.class === undefined ? {} : { ClassRef: { value: all.class } };
  const taxCode =
    kind === "invoice" && salesTax === "not-taxable" ? { TaxCodeRef: { value: "NON" } } : {};
  return lines.map(({ item, account, text, quantity, rate, amount }) => ({
    Description: text,
    Amount: amount,
    ...(item === null
      ? {
          DetailType: "AccountBasedExpenseLineDetail",
          AccountBasedExpenseLineDetail: {
            ...ClassRef,
            AccountRef: { value: accountId(account ?? "") },
          },
        }
      : {
          DetailType: DETAIL[kind],
          [DETAIL[kind]]: {
            ItemRef: { value: itemId(item) },
            ...ClassRef,
            ...(quantity === null ? {} : { UnitPrice: rate, Qty: quantity }),
            ...taxCode,
          },
        }),
  }));
}

const DETAIL = {
  invoice: "SalesItemLineDetail",
  bill: "ItemBasedExpenseLineDetail",
} as const;

/** What the customer reads on the invoice. */
export const customerMemo = ({ description }: Pick<Noted, "description">): object =>
  description === null
    ? {}
    : { CustomerMemo: { value: cut(oneLine(description), MEMO_MOST.online) } };

/** What changes the due date and the order of an invoice, and nothing else (`sparse`). */
export const amendment = (
  { Id, SyncToken }: Pick<DocumentRow, "Id" | "SyncToken">,
  document: InvoiceDocument,
): object => ({
  sparse: true,
  Id,
  SyncToken,
  PrivateNote: noteOf(document),
  ...customerMemo(document),
  DueDate: dueOf(document),
});

/** A customer as documents and links call it: `C-58`; a vendor is `V-77`. */
export const partyCode = (kind: DocumentKind, id: string): string =>
  `${kind === "invoice" ? "C" : "V"}-${id}`;

/** QuickBooks keeps what was voided, with nothing left of its amounts and this word before its note. */
export const isVoided = ({
  TotalAmt,
  PrivateNote,
}: Pick<DocumentRow, "TotalAmt" | "PrivateNote">): boolean =>
  TotalAmt.sign === 0 && /^voided\b/i.test(PrivateNote ?? "");

/** @param payments what was paid on it @param change what a source tells of it */
export function entryOf(
  kind: DocumentKind,
  currency: string,
  names: Names,
  row: DocumentRow,
  payments: readonly PaymentRow[],
): Entry<DocumentRow> {
  const memo = memoIn(row.PrivateNote);
  const isOver = isVoided(row);
  const isSettled = row.Balance.sign === 0;
  const days = payments.map(({ TxnDate }) => TxnDate).toSorted();
  return {
    ...PLAIN_ENTRY,
    id: row.Id,
    mark: memo?.mark ?? null,
    number: memo?.number ?? row.DocNumber,
    party: partyIn(kind, row),
    status: isOver ? "cancelled" : isSettled ? "settled" : "posted",
    payments: payments.flatMap((one) => paymentsOn(kind, row.Id, one)),
    facts: factsOf(kind, currency, names, row),
    ...(kind === "invoice" && memo !== null && !isOver ? taxAdded(row) : {}),
    paid: isSettled && !isOver ? (days.at(-1) ?? row.TxnDate) : null,
    version: row.SyncToken,
    native: row,
  };
}

/** Every tax of ours is a line: what stands here Intuit's automated sales tax has added. */
function taxAdded({ TotalAmt, TxnTaxDetail, DocNumber }: DocumentRow): {
  readonly refusal?: Fault;
} {
  const tax = TxnTaxDetail?.TotalTax ?? Decimal.zero;
  if (tax.sign === 0) return {};
  const [there, sent] = [TotalAmt.fixed(2), TotalAmt.minus(tax).fixed(2)];
  return {
    refusal: {
      code: "sales-tax-added",
      message: `${there} in QuickBooks and ${sent} on the platform: Intuit's sales tax added ${tax.fixed(2)} to invoice ${DocNumber ?? ""}`,
      next: "In QuickBooks: make the invoice's lines not taxable, or the customer exempt, so that the tax is 0.00; then retry. To accept the amount, resolve it with --receiver-id and --amount.",
      field: "total",
      amount: there,
    },
  };
}

/** As links call it. */
export const partyIn = (kind: DocumentKind, row: DocumentRow): string | null => {
  const id = partyIdIn(kind, row);
  return id === null ? null : partyCode(kind, id);
};

/** QuickBooks' own id of it. */
export const partyIdIn = (
  kind: DocumentKind,
  { CustomerRef, VendorRef }: Pick<DocumentRow, "CustomerRef" | "VendorRef">,
): string | null => (kind === "invoice" ? CustomerRef : VendorRef)?.value ?? null;

function factsOf(kind: DocumentKind, currency: string, names: Names, row: DocumentRow): Facts {
  const memo = memoIn(row.PrivateNote);
  return {
    number: row.Id,
    party: partyIn(kind, row),
    days: { date: row.TxnDate, due: row.DueDate ?? row.TxnDate },
    money: { total: row.TotalAmt, open: row.Balance },
    words: {
      side: kind === "invoice" ? "sale" : "purchase",
      currency: row.CurrencyRef?.value ?? currency,
      reference: row.DocNumber,
      order: memo === null ? row.PrivateNote : memo.text,
    },
    lines: amountLines(row).map((line) => lineIn(names, line)),
  };
}
