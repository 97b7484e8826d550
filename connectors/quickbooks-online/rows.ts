/** Records as QuickBooks answers them. Money and quantities are exact; days are `YYYY-MM-DD`. What is empty is left out there. */
import { z } from "zod";
import { Decimal } from "../../src/core/decimal.ts";
import type { Scope } from "../../src/core/holdings.ts";
import { day, decimal as exact, text } from "../../src/ledger/documents.ts";
import { among, type Entity, quoted, type Wire } from "./wire.ts";

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

/* QuickBooks' tables as every part of this connector reads them. */

/** Rows of one answer: Intuit gives up to 1000. */
const PAGE = 200;
/** A page with fewer rows is the last one. One with more may have been cut short by a server that gives fewer than asked. */
const FEW = 10;
/** Values of one `IN`. */
const AMONG = 50;

/** Those that have one of these values, each once. */
export async function having<Row extends { readonly Id: string }>(
  wire: Wire,
  entity: Entity,
  schema: z.ZodType<Row>,
  fields: Readonly<Record<string, readonly string[]>>,
  signal: AbortSignal,
  more = "",
): Promise<Row[]> {
  const found = new Map<string, Row>();
  for (const [field, values] of Object.entries(fields)) {
    const all = [...new Set(values)];
    for (let at = 0; at < all.length; at += AMONG) {
      const asked = all.slice(at, at + AMONG);
      const where = `WHERE ${field} IN ${among(asked)}${more}`;
      const of = { entity, schema, where, stamp: "CreateTime" } as const;
      const most = field === "Id" ? { most: asked.length } : {};
      for await (const { rows } of walk(wire, { ...of, ...most }, null, signal))
        for (const row of rows) found.set(row.Id, row);
    }
  }
  return [...found.values()];
}

interface Walk<Row> {
  readonly entity: Entity;
  readonly schema: z.ZodType<Row>;
  /** `WHERE …`, or nothing. */
  readonly where: string;
  /** The order: what is made meanwhile comes last, and nothing is passed over when rows leave. */
  readonly stamp: "CreateTime" | "LastUpdatedTime";
  /** So many there can be. Left out: nobody knows. */
  readonly most?: number;
}

interface Stamped {
  readonly Id: string;
  readonly MetaData?: { readonly CreateTime: string; readonly LastUpdatedTime: string };
}

/** In the order of a stamp, from `from` on (ISO 8601 with an offset); rows of that very second come again. */
export async function* walk<Row extends Stamped>(
  wire: Wire,
  { entity, schema, where, stamp, most }: Walk<Row>,
  from: string | null,
  signal: AbortSignal,
): AsyncGenerator<{ readonly rows: readonly Row[]; readonly last: string | null }> {
  let after = from;
  /** Rows of this second that were read: several pages may share one. */
  let start = 1;
  for (let goesOn = true; goesOn;) {
    const since = after === null ? "" : `MetaData.${stamp} >= ${quoted(after)}`;
    const both = [where.replace(/^WHERE /, ""), since].filter((part) => part !== "").join(" AND ");
    const rest = `${both === "" ? "" : `WHERE ${both} `}ORDERBY MetaData.${stamp} STARTPOSITION ${start} MAXRESULTS ${PAGE}`;
    const rows = await wire.query(entity, rest, schema, signal);
    goesOn = rows.length >= FEW && rows.length !== most;
    const last = rows.at(-1)?.MetaData?.[stamp] ?? after;
    const ofLast = rows.filter((row) => isSame(row.MetaData?.[stamp] ?? null, last)).length;
    // After a whole page that second is read again: a row of it may have left meanwhile.
    if (isSame(last, after)) start += rows.length;
    else start = rows.length === PAGE ? 1 : ofLast + 1;
    after = last;
    yield { rows, last };
  }
}

/** Of rows without stamps (accounts) all are of one second. */
const isSame = (one: string | null, other: string | null): boolean =>
  one === other || Date.parse(one ?? "") === Date.parse(other ?? "");

/** A union of conditions, each a walk of its own: the query language has no OR. */
export function conditionsOf(scope: Scope): string[] {
  const { dated, changedSince, open } = scope;
  return [
    ...(dated === null
      ? []
      : [`WHERE TxnDate >= ${quoted(dated.from)} AND TxnDate <= ${quoted(dated.to)}`]),
    ...(changedSince === null
      ? []
      : [`WHERE MetaData.LastUpdatedTime >= ${quoted(`${changedSince.slice(0, 19)}+00:00`)}`]),
    ...(open ? ["WHERE Balance > '0'"] : []),
  ];
}

/** A list in pages; the position says which condition, and where in it. */
export async function* listed<Row extends Stamped>(
  wire: Wire,
  of: { readonly entity: Entity; readonly schema: z.ZodType<Row> },
  conditions: readonly string[],
  from: string | null,
  signal: AbortSignal,
): AsyncGenerator<{ readonly rows: readonly Row[]; readonly position: string }> {
  const [, at = "0", since = ""] = /^(\d+) (.*)$/.exec(from ?? "") ?? [];
  for (const [index, where] of conditions.entries()) {
    if (index < Number(at)) continue;
    const start = index === Number(at) && since !== "" ? since : null;
    for await (const { rows, last } of walk(
      wire,
      { ...of, where, stamp: "CreateTime" },
      start,
      signal,
    ))
      yield { rows, position: `${index} ${last ?? ""}` };
  }
}

/** Ids of QuickBooks are counted. */
export const isId = (id: string | null): id is string => id !== null && /^\d{1,15}$/.test(id);
