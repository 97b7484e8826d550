/** Records as QuickBooks answers them. Money and quantities are exact; days are `YYYY-MM-DD`. What is empty is left out there. */
import { z } from "zod";
import { day, decimal as exact, text } from "../../src/ledger/fields.ts";
import { Decimal } from "../../src/core/decimal.ts";

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

function some(value: string | null | undefined): string | null {
  return value === undefined || value === null || value.trim() === "" ? null : value;
}

/** Another record: its id, and its name where QuickBooks tells it. */
const Ref = z.object({ value: text, name: textOrNone });

const refOrNone = Ref.nullish().transform((value) => value ?? null);

const head = {
  Id: z.string().regex(/^\d{1,15}$/, "not a number"),
  /** Changes with every change: an update with another one is refused (5010). */
  SyncToken: z.string(),
  MetaData: z.object({
    /** With an offset: `2026-11-20T09:12:33-08:00`. */
    CreateTime: z.iso.datetime({ offset: true }),
    LastUpdatedTime: z.iso.datetime({ offset: true }),
  }),
};

const word = z
  .string()
  .nullish()
  .transform((value) => value ?? "");
const linked = list(z.object({ TxnId: word, TxnType: word }));

const ItemDetail = z.object({ ItemRef: refOrNone, Qty: decimalOrNone, UnitPrice: decimalOrNone });

const amountLine = {
  DetailType: textOrNone,
  Amount: money,
  Description: textOrNone,
  SalesItemLineDetail: ItemDetail.nullish(),
  ReimburseLineDetail: ItemDetail.nullish(),
  ItemBasedExpenseLineDetail: ItemDetail.nullish(),
  AccountBasedExpenseLineDetail: z.object({ AccountRef: refOrNone }).nullish(),
};
export const Line = z.object({
  ...amountLine,
  GroupLineDetail: z.object({ Line: list(z.object(amountLine)) }).nullish(),
});
export type Line = z.infer<typeof Line>;

const document = {
  ...head,
  DocNumber: textOrNone,
  TxnDate: day,
  DueDate: dayOrNone,
  PrivateNote: textOrNone,
  CurrencyRef: refOrNone,
  Line: list(Line),
  LinkedTxn: linked,
  TxnTaxDetail: z.object({ TotalTax: money }).nullish(),
  TotalAmt: money,
  Balance: money,
};

/** A customer invoice (with CustomerRef) or a bill (with VendorRef). */
export const DocumentRow = z.object({
  ...document,
  CustomerRef: refOrNone,
  VendorRef: refOrNone,
  CustomerMemo: z.object({ value: textOrNone }).nullish(),
});
export type DocumentRow = z.infer<typeof DocumentRow>;

/** An estimate (with CustomerRef) or a purchase order (with VendorRef). */
export const OrderRow = DocumentRow.extend({
  /** Of an estimate: `Pending`, `Accepted`, `Closed`, `Rejected`. */
  TxnStatus: textOrNone,
  /** Of a purchase order: `Open`, `Closed`. */
  POStatus: textOrNone,
});
export type OrderRow = z.infer<typeof OrderRow>;

/** A payment of customers (with CustomerRef) or of bills (with VendorRef). */
export const PaymentRow = z.object({
  ...head,
  TxnDate: day,
  PrivateNote: textOrNone,
  /** Of what customers pay; of what we pay it is `DocNumber`. */
  PaymentRefNum: textOrNone,
  DocNumber: textOrNone,
  CustomerRef: refOrNone,
  VendorRef: refOrNone,
  TotalAmt: money,
  Line: list(z.object({ Amount: money, LinkedTxn: linked })),
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
  Active: flag(true),
  UnitPrice: decimalOrNone,
  PurchaseCost: decimalOrNone,
});
export type ItemRow = z.infer<typeof ItemRow>;

export const AccountRow = z.object({
  Id: text,
  Name: text,
  AcctNum: textOrNone,
});

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
