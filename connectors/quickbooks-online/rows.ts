/** What QuickBooks Online calls its records and what is in them. What is empty is left out there. */
import type { Element } from "../quickbooks/element.ts";
import type { LedgerSide } from "../../src/ledger/port.ts";
import { partyCode } from "../quickbooks/parties.ts";

export type Entity =
  | (typeof SIDES)[LedgerSide]["document" | "order" | "payment" | "party"]
  | "Account"
  | "Class"
  | "Department"
  | "Item";

/** What we sell and who pays it (`sale`), what we buy and whom we pay: QuickBooks' tables, and what it calls things there. */
export const SIDES = {
  sale: {
    document: "Invoice",
    order: "Estimate",
    payment: "Payment",
    party: "Customer",
    partyRef: "CustomerRef",
    role: "customer",
    detail: "SalesItemLineDetail",
    /** Payments where documents link them. */
    pays: /^Payment$/,
  },
  purchase: {
    document: "Bill",
    order: "PurchaseOrder",
    payment: "BillPayment",
    party: "Vendor",
    partyRef: "VendorRef",
    role: "vendor",
    detail: "ItemBasedExpenseLineDetail",
    /** `BillPaymentCheck`, `BillPaymentCreditCard` */
    pays: /^BillPayment/,
  },
} as const;

/** The party of a document: QuickBooks' own id of it, and as documents and links call it. */
export function partyIn(side: LedgerSide, row: Element) {
  const { role, partyRef } = SIDES[side];
  const { id } = row.ref(partyRef);
  return { partyId: id, party: id === null ? null : partyCode(role, id) };
}

/** QuickBooks keeps what was voided, with nothing left of its amounts and this word before its note. */
export const isVoided = (row: Element): boolean =>
  row.amount("TotalAmt").sign === 0 && /^voided\b/i.test(row.text("PrivateNote") ?? "");

/** Its version changes with every change: an update with another one is refused (5010). @throws LedgerError */
export const identityOf = (row: Element): { readonly id: string; readonly version: string } => ({
  id: row.needed("Id"),
  version: row.needed("SyncToken"),
});

/** When it was made, or changed: UTC without a zone, as stamps are compared. Empty: it is not told. @throws LedgerError */
export const stampOf = (
  row: Element,
  stamp: "CreateTime" | "LastUpdatedTime" = "LastUpdatedTime",
): string => row.child("MetaData")?.instant(stamp)?.slice(0, 19) ?? "";

/** Ids of QuickBooks are counted. */
export const isId = (id: string | null): id is string => id !== null && /^\d{1,15}$/.test(id);
