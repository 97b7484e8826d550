/**
 * The requests that this connector writes: their elements in the order that QuickBooks enforces, with lengths and shapes,
 * of qbXML 13.0 (https://developer.intuit.com/app/developer/qbdesktop/docs/api-reference). Elements that are never written are left
 * out; QuickBooks refuses a whole document for one element at a wrong place.
 */
export type Shape =
  | { readonly is: "text"; readonly most: number }
  | { readonly is: "id" | "amount" | "number" | "day" | "moment" | "yes" | "guid" | "count" }
  | { readonly is: "group"; readonly fields: readonly Field[] };

export interface Field {
  readonly name: string;
  readonly shape: Shape;
  /** It must be there. Left out: it may be missing. */
  readonly needed?: true;
  /** It may be there several times. */
  readonly many?: true;
}

/**
 * Elements as this file writes them: `Name! text41, AppliedToTxnAdd* (TxnID! id, PaymentAmount amount)`. `!` must be there, `*` may
 * be there several times. `text41` has at most 41 characters; `ref41` is a reference whose full name has so many; `number`, of
 * prices and quantities, has up to ten digits before the point and five after. @throws TypeError for another form
 */
function elements(text: string): readonly Field[] {
  const tokens = text.match(/[\w]+[!*]*|[(),]/g) ?? [];
  let at = 0;
  const fields = (): Field[] => {
    const found: Field[] = [];
    for (; at < tokens.length && tokens[at] !== ")"; at++) {
      if (tokens[at] === ",") continue;
      const [, name = "", marks = ""] = /^(\w+)([!*]*)$/.exec(tokens[at] ?? "") ?? [];
      at++;
      found.push({
        name,
        shape: shape(),
        ...(marks.includes("!") ? { needed: true } : {}),
        ...(marks.includes("*") ? { many: true } : {}),
      });
    }
    return found;
  };
  const shape = (): Shape => {
    const word = tokens[at] ?? "";
    if (word === "(") {
      at++;
      return { is: "group", fields: fields() };
    }
    const [, is = "", most] = /^([a-z]+)(\d*)$/.exec(word) ?? [];
    if (is === "text") return { is, most: Number(most) };
    if (is === "ref")
      return { is: "group", fields: elements(`ListID id, FullName text${most ?? ""}`) };
    if (!PLAIN.has(is)) throw new TypeError(`${word} is no shape of an element: ${text}`);
    return { is } as Shape;
  };
  return fields();
}

const PLAIN = new Set(["id", "amount", "number", "day", "moment", "yes", "guid", "count"]);

const RETURNED = "IncludeRetElement* text50";
const LINES = "IncludeLineItems yes";
const LINKED = `${LINES}, IncludeLinkedTxns yes`;
const PAID = "PaidStatus text11";

const LIST_QUERY = `
  ListID* id, FullName* text209, MaxReturned count, ActiveStatus text12, FromModifiedDate moment, ${RETURNED}`;
/** @param number characters of the document's number */
const txnQuery = (number: number, ...last: readonly string[]): string =>
  [
    `TxnID* id, RefNumberCaseSensitive* text${number}, MaxReturned count`,
    "ModifiedDateRangeFilter (FromModifiedDate moment, ToModifiedDate moment)",
    "TxnDateRangeFilter (FromTxnDate day, ToTxnDate day)",
    ...last,
  ].join(", ");
/** What was deleted: QuickBooks tells the last 90 days. */
const deletedQuery = (type: string): string =>
  `${type}!* text25, DeletedDateRangeFilter (FromDeletedDate moment)`;

const APPLIED = "AppliedToTxnAdd* (TxnID! id, PaymentAmount amount)";
const UNSENT = "IsToBePrinted yes, IsToBeEmailed yes";
const HELD = "TxnID! id, EditSequence! text16";
const MEMO = "Memo text4095, ExternalGUID guid";
const ITEM = "ItemRef ref159, Desc text4095, Quantity number";
const SOLD = `${ITEM}, Rate number, Amount amount, SalesTaxCodeRef ref3`;
const BOUGHT = `${ITEM}, Cost number, Amount amount`;
const ORDERED = `${ITEM}, Rate number, Amount amount`;

/** An Add, a Mod or a void has its content in one element. */
const CONTENTS = {
  CustomerAdd:
    "Name! text41, CompanyName text41, TermsRef ref31, Notes text4095, ExternalGUID guid",
  VendorAdd: "Name! text41, CompanyName text41, Notes text4095, TermsRef ref31, ExternalGUID guid",
  InvoiceAdd: `
    CustomerRef! ref209, ClassRef ref159, ARAccountRef ref159, TxnDate day, RefNumber text11, PONumber text25,
    DueDate day, Memo text4095, ${UNSENT}, ExternalGUID guid, InvoiceLineAdd* (${SOLD})`,
  InvoiceMod: `${HELD}, PONumber text25, DueDate day`,
  BillAdd: `
    VendorRef! ref41, APAccountRef ref159, TxnDate day, DueDate day, RefNumber text20, ${MEMO}, ItemLineAdd*
    (${BOUGHT}, ClassRef ref159)`,
  BillMod: `${HELD}, DueDate day`,
  ReceivePaymentAdd: `
    CustomerRef! ref209, ARAccountRef ref159, TxnDate day, RefNumber text20, TotalAmount amount,
    PaymentMethodRef ref31, Memo text4095, DepositToAccountRef ref159, ExternalGUID guid, ${APPLIED}`,
  // One of IsToBePrinted and RefNumber.
  BillPaymentCheckAdd: `
    PayeeEntityRef! ref209, APAccountRef ref159, TxnDate day, BankAccountRef! ref159, IsToBePrinted yes,
    RefNumber text11, ${MEMO}, ${APPLIED}`,
  SalesOrderAdd: `
    CustomerRef! ref209, TxnDate day, RefNumber text11, Memo text4095, ${UNSENT}, ExternalGUID guid,
    SalesOrderLineAdd* (${SOLD})`,
  SalesOrderMod: `
    ${HELD}, RefNumber text11, IsManuallyClosed yes, Memo text4095, SalesOrderLineMod* (TxnLineID! id, ${SOLD})`,
  PurchaseOrderAdd: `
    VendorRef! ref41, TxnDate day, RefNumber text11, Memo text4095, ${UNSENT}, ExternalGUID guid,
    PurchaseOrderLineAdd* (${ORDERED})`,
  PurchaseOrderMod: `
    ${HELD}, RefNumber text11, IsManuallyClosed yes, Memo text4095, PurchaseOrderLineMod* (TxnLineID! id,
    ${ORDERED})`,
  ItemReceiptAdd: `
    VendorRef! ref41, TxnDate day, RefNumber text20, ${MEMO}, ItemLineAdd* (${BOUGHT}, LinkToTxn (TxnID! id,
    TxnLineID! id))`,
  ItemReceiptMod: `${HELD}, TxnDate day, RefNumber text20, Memo text4095, ItemLineMod* (TxnLineID! id, ${BOUGHT})`,
} as const;

const QUERIES = {
  HostQuery: "",
  CompanyQuery: "",
  PreferencesQuery: RETURNED,
  CustomerQuery: LIST_QUERY,
  VendorQuery: LIST_QUERY,
  AccountQuery: LIST_QUERY,
  ClassQuery: LIST_QUERY,
  ItemQuery: LIST_QUERY,
  SalesTaxCodeQuery: LIST_QUERY,
  PaymentMethodQuery: LIST_QUERY,
  PriceLevelQuery: LIST_QUERY,
  StandardTermsQuery: LIST_QUERY,
  ListDeletedQuery: deletedQuery("ListDelType"),
  TxnDeletedQuery: deletedQuery("TxnDelType"),
  InvoiceQuery: txnQuery(11, PAID, LINKED, RETURNED),
  BillQuery: txnQuery(20, PAID, LINKED),
  ReceivePaymentQuery: txnQuery(20, LINES),
  BillPaymentCheckQuery: txnQuery(11, LINES),
  SalesOrderQuery: txnQuery(11, LINKED),
  PurchaseOrderQuery: txnQuery(11, LINKED),
  ItemReceiptQuery: txnQuery(20, LINKED),
  TxnVoid: "TxnVoidType! text20, TxnID! id",
} as const;

/** By the name of the request without `Rq`. */
export const requests: Readonly<Record<string, readonly Field[]>> = Object.fromEntries([
  ...Object.entries(QUERIES).map(([name, text]) => [name, elements(text)] as const),
  ...Object.entries(CONTENTS).map(
    ([name, text]) => [name, elements(`${name}! (${text})`)] as const,
  ),
]);
