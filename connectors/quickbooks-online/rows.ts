/** Records as QuickBooks answers them. Money and quantities are exact; days are `YYYY-MM-DD`. What is empty is left out there. */
import { z } from "zod";
import { Decimal } from "../../src/core/decimal.ts";
import { day, decimal as exact, text } from "../../src/ledger/documents.ts";
import { some } from "../../src/ledger/entries.ts";
import type { LedgerSide } from "../../src/ledger/port.ts";
import { partyCode } from "../quickbooks/parties.ts";

/** A number, or a number in quotes. */
const decimal = z.preprocess(
  (value) => (typeof value === "string" && Decimal.is(value) ? Decimal.of(value) : value),
  exact,
);

const textOrNone = z.string().nullish().transform(some);
const dayOrNone = day.nullish().transform((value) => value ?? null);
const decimalOrNone = decimal.nullish().transform((value) => value ?? null);
const money = decimal.nullish().transform((value) => value ?? Decimal.zero);
const flag = (otherwise: boolean) =>
  z
    .boolean()
    .nullish()
    .transform((value) => value ?? otherwise);
const list = <Row>(row: z.ZodType<Row>) =>
  z
    .array(row)
    .nullish()
    .transform((rows) => rows ?? []);

/** Another record: its id, and its name where QuickBooks tells it. */
const refOrNone = z
  .object({ value: text, name: z.string().nullish() })
  .nullish()
  .transform((value) => value ?? null);

export const instant = z.iso.datetime({ offset: true });

/** What says which record it is, as change data capture tells it at least. */
const identity = {
  Id: z.string().regex(/^\d{1,15}$/, "not a number"),
  /** With an offset: `2026-11-20T09:12:33-08:00`. */
  MetaData: z.object({ LastUpdatedTime: instant }),
};

const head = {
  ...identity,
  /** Changes with every change: an update with another one is refused (5010). */
  SyncToken: z.string(),
  MetaData: z.object({ CreateTime: instant, LastUpdatedTime: instant }),
};

const word = z
  .string()
  .nullish()
  .transform((value) => value ?? "");
const linked = list(z.object({ TxnId: word, TxnType: word }));

const itemDetail = z
  .object({ ItemRef: refOrNone, Qty: decimal.nullish(), UnitPrice: decimal.nullish() })
  .nullish();
const amountLine = {
  DetailType: z.string().nullish(),
  Amount: money,
  Description: textOrNone,
  SalesItemLineDetail: itemDetail,
  ReimburseLineDetail: itemDetail,
  ItemBasedExpenseLineDetail: itemDetail,
  AccountBasedExpenseLineDetail: z.object({ AccountRef: refOrNone }).nullish(),
};
const Line = z.object({
  ...amountLine,
  GroupLineDetail: z.object({ Line: list(z.object(amountLine)) }).nullish(),
});
export type Line = z.infer<typeof Line>;

/** Of a customer, or of a vendor. */
const ofParty = { CustomerRef: refOrNone, VendorRef: refOrNone };

/** A customer invoice, a bill, an estimate, or a purchase order. */
export const DocumentRow = z.object({
  ...head,
  ...ofParty,
  DocNumber: textOrNone,
  TxnDate: day,
  DueDate: dayOrNone,
  PrivateNote: textOrNone,
  CurrencyRef: refOrNone,
  CustomerMemo: z.object({ value: textOrNone }).nullish(),
  Line: list(Line),
  LinkedTxn: linked,
  TxnTaxDetail: z.object({ TotalTax: money }).nullish(),
  TotalAmt: money,
  Balance: money,
  /** Of an estimate: `Pending`, `Accepted`, `Closed`, `Rejected`. */
  TxnStatus: textOrNone,
  /** Of a purchase order: `Open`, `Closed`. */
  POStatus: textOrNone,
});
export type DocumentRow = z.infer<typeof DocumentRow>;

/** What a payment is, and what it pays. */
const paying = {
  PrivateNote: textOrNone,
  TotalAmt: money,
  Line: list(z.object({ Amount: money, LinkedTxn: linked })),
};
/** What change data capture tells of a record: which it is, and what it pays. Of a deleted one hardly more than its id is left. */
export const CapturedRow = z.object({
  ...identity,
  ...paying,
  MetaData: identity.MetaData.partial().optional(),
  status: z.string().optional(),
  SyncToken: z.string().default(""),
});

/** A payment of customers, or of bills. */
export const PaymentRow = z.object({
  ...head,
  ...ofParty,
  ...paying,
  TxnDate: day,
  /** Of what customers pay; of what we pay it is `DocNumber`. */
  PaymentRefNum: textOrNone,
  DocNumber: textOrNone,
});
export type PaymentRow = z.infer<typeof PaymentRow>;

export const PartyRow = z.object({
  ...head,
  DisplayName: textOrNone,
  Active: flag(true),
  Notes: textOrNone,
  PrimaryEmailAddr: z.object({ Address: textOrNone }).nullish(),
  PrimaryPhone: z.object({ FreeFormNumber: textOrNone }).nullish(),
  BillAddr: z
    .object({
      Line1: textOrNone,
      Line2: textOrNone,
      Line3: textOrNone,
      City: textOrNone,
      CountrySubDivisionCode: textOrNone,
      PostalCode: textOrNone,
      Country: textOrNone,
    })
    .nullish(),
  CurrencyRef: refOrNone,
});
export type PartyRow = z.infer<typeof PartyRow>;

export const ItemRow = z.object({
  ...head,
  Name: text,
  UnitPrice: decimalOrNone,
  PurchaseCost: decimalOrNone,
});
export type ItemRow = z.infer<typeof ItemRow>;

/** What has a name of its own, an account a number too. */
export const NamedRow = z.object({ Id: text, Name: text, AcctNum: textOrNone });

export const CompanyRow = z.object({ CompanyName: textOrNone });

/** A group of settings; one that is left out has all of its own left out. */
const group = <Group extends object>(settings: z.ZodType<Group>) =>
  z.preprocess((value) => value ?? {}, settings);

export const PreferencesRow = z.object({
  AccountingInfoPrefs: group(z.object({ BookCloseDate: dayOrNone })),
  SalesFormsPrefs: group(z.object({ CustomTxnNumbers: flag(false) })),
  TaxPrefs: group(z.object({ UsingSalesTax: flag(false) })),
  CurrencyPrefs: group(z.object({ MultiCurrencyEnabled: flag(false), HomeCurrency: refOrNone })),
});
export type PreferencesRow = z.infer<typeof PreferencesRow>;

/** UTC without a zone, as sources compare stamps: `2026-11-20T17:12:33`. */
export const stampOf = (instant: string): string => new Date(instant).toISOString().slice(0, 19);

export type Entity =
  | (typeof SIDES)[LedgerSide]["document" | "order" | "payment" | "party"]["entity"]
  | "Account"
  | "Class"
  | "Department"
  | "Item";

/** What we sell and who pays it (`sale`), what we buy and whom we pay: QuickBooks' tables, and what it calls things there. */
export const SIDES = {
  sale: {
    document: { entity: "Invoice", schema: DocumentRow },
    order: { entity: "Estimate", schema: DocumentRow },
    payment: { entity: "Payment", schema: PaymentRow },
    party: { entity: "Customer", schema: PartyRow },
    partyRef: "CustomerRef",
    role: "customer",
    detail: "SalesItemLineDetail",
    /** Payments where documents link them. */
    pays: /^Payment$/,
  },
  purchase: {
    document: { entity: "Bill", schema: DocumentRow },
    order: { entity: "PurchaseOrder", schema: DocumentRow },
    payment: { entity: "BillPayment", schema: PaymentRow },
    party: { entity: "Vendor", schema: PartyRow },
    partyRef: "VendorRef",
    role: "vendor",
    detail: "ItemBasedExpenseLineDetail",
    /** `BillPaymentCheck`, `BillPaymentCreditCard` */
    pays: /^BillPayment/,
  },
} as const;

/** QuickBooks' own id of the party of a document. */
export const partyIdIn = (
  side: LedgerSide,
  row: Pick<DocumentRow, "CustomerRef" | "VendorRef">,
): string | null => row[SIDES[side].partyRef]?.value ?? null;

/** As links call it. */
export function partyIn(side: LedgerSide, row: Pick<DocumentRow, "CustomerRef" | "VendorRef">) {
  const id = partyIdIn(side, row);
  return id === null ? null : partyCode(SIDES[side].role, id);
}

/** QuickBooks keeps what was voided, with nothing left of its amounts and this word before its note. */
export const isVoided = ({
  TotalAmt,
  PrivateNote,
}: Pick<DocumentRow, "TotalAmt" | "PrivateNote">): boolean =>
  TotalAmt.sign === 0 && /^voided\b/i.test(PrivateNote ?? "");

/** Ids of QuickBooks are counted. */
export const isId = (id: string | null): id is string => id !== null && /^\d{1,15}$/.test(id);
