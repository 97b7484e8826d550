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

const text = (most: number): Shape => ({ is: "text", most });
const group = (...fields: readonly Field[]): Shape => ({ is: "group", fields });
const one = (name: string, shape: Shape): Field => ({ name, shape });
const must = (name: string, shape: Shape): Field => ({ name, shape, needed: true });
const many = (name: string, shape: Shape): Field => ({ name, shape, many: true });

const id: Shape = { is: "id" };
const amount: Shape = { is: "amount" };
/** Of prices and quantities: up to ten digits before the point and five after. */
const number: Shape = { is: "number" };
const day: Shape = { is: "day" };
const moment: Shape = { is: "moment" };
const yes: Shape = { is: "yes" };
const guid: Shape = { is: "guid" };
const count: Shape = { is: "count" };
const ref = (most: number): Shape => group(one("ListID", id), one("FullName", text(most)));

const NAME = 41;
const FULL_NAME = 209;
const ACCOUNT = 159;
const MEMO = 4095;

const itemRef = one("ItemRef", ref(ACCOUNT));

const invoiceLine = group(
  itemRef,
  one("Desc", text(MEMO)),
  one("Quantity", number),
  one("Rate", number),
  one("Amount", amount),
  one("SalesTaxCodeRef", ref(3)),
);

const billLine = group(
  itemRef,
  one("Desc", text(MEMO)),
  one("Quantity", number),
  one("Cost", number),
  one("Amount", amount),
  one("ClassRef", ref(ACCOUNT)),
);

const applied = many("AppliedToTxnAdd", group(must("TxnID", id), one("PaymentAmount", amount)));

const modified = one(
  "ModifiedDateRangeFilter",
  group(one("FromModifiedDate", moment), one("ToModifiedDate", moment)),
);
const dated = one("TxnDateRangeFilter", group(one("FromTxnDate", day), one("ToTxnDate", day)));
const names = many("IncludeRetElement", text(50));

const txnQuery = (mostNumber: number, ...last: readonly Field[]): readonly Field[] => [
  many("TxnID", id),
  many("RefNumberCaseSensitive", text(mostNumber)),
  one("MaxReturned", count),
  modified,
  dated,
  ...last,
];
const lines = one("IncludeLineItems", yes);
const linked = one("IncludeLinkedTxns", yes);
const paid = one("PaidStatus", text(11));

const listQuery: readonly Field[] = [
  many("ListID", id),
  many("FullName", text(FULL_NAME)),
  one("MaxReturned", count),
  one("ActiveStatus", text(12)),
  one("FromModifiedDate", moment),
  names,
];

/** What was deleted: QuickBooks tells the last 90 days. */
const deletedQuery = (type: string): readonly Field[] => [
  { ...must(type, text(25)), many: true },
  one("DeletedDateRangeFilter", group(one("FromDeletedDate", moment))),
];

/** By the name of the request without `Rq`; an Add, a Mod or a void has its content in one element. */
export const requests: Readonly<Record<string, readonly Field[]>> = {
  HostQuery: [],
  CompanyQuery: [],
  PreferencesQuery: [names],
  CustomerQuery: listQuery,
  VendorQuery: listQuery,
  AccountQuery: listQuery,
  ClassQuery: listQuery,
  ItemQuery: listQuery,
  SalesTaxCodeQuery: listQuery,
  PaymentMethodQuery: listQuery,
  PriceLevelQuery: listQuery,
  ListDeletedQuery: deletedQuery("ListDelType"),
  TxnDeletedQuery: deletedQuery("TxnDelType"),
  StandardTermsQuery: listQuery,
  InvoiceQuery: txnQuery(11, paid, lines, linked, names),
  BillQuery: txnQuery(20, paid, lines, linked),
  ReceivePaymentQuery: txnQuery(20, lines),
  BillPaymentCheckQuery: txnQuery(11, lines),
  CustomerAdd: [
    must(
      "CustomerAdd",
      group(
        must("Name", text(NAME)),
        one("CompanyName", text(NAME)),
        one("TermsRef", ref(31)),
        one("Notes", text(MEMO)),
        one("ExternalGUID", guid),
      ),
    ),
  ],
  VendorAdd: [
    must(
      "VendorAdd",
      group(
        must("Name", text(NAME)),
        one("CompanyName", text(NAME)),
        one("Notes", text(MEMO)),
        one("TermsRef", ref(31)),
        one("ExternalGUID", guid),
      ),
    ),
  ],
  InvoiceAdd: [
    must(
      "InvoiceAdd",
      group(
        must("CustomerRef", ref(FULL_NAME)),
        one("ClassRef", ref(ACCOUNT)),
        one("ARAccountRef", ref(ACCOUNT)),
        one("TxnDate", day),
        one("RefNumber", text(11)),
        one("PONumber", text(25)),
        one("DueDate", day),
        one("Memo", text(MEMO)),
        one("IsToBePrinted", yes),
        one("IsToBeEmailed", yes),
        one("ExternalGUID", guid),
        many("InvoiceLineAdd", invoiceLine),
      ),
    ),
  ],
  InvoiceMod: [
    must(
      "InvoiceMod",
      group(
        must("TxnID", id),
        must("EditSequence", text(16)),
        one("PONumber", text(25)),
        one("DueDate", day),
      ),
    ),
  ],
  BillAdd: [
    must(
      "BillAdd",
      group(
        must("VendorRef", ref(NAME)),
        one("APAccountRef", ref(ACCOUNT)),
        one("TxnDate", day),
        one("DueDate", day),
        one("RefNumber", text(20)),
        one("Memo", text(MEMO)),
        one("ExternalGUID", guid),
        many("ItemLineAdd", billLine),
      ),
    ),
  ],
  BillMod: [
    must("BillMod", group(must("TxnID", id), must("EditSequence", text(16)), one("DueDate", day))),
  ],
  ReceivePaymentAdd: [
    must(
      "ReceivePaymentAdd",
      group(
        must("CustomerRef", ref(FULL_NAME)),
        one("ARAccountRef", ref(ACCOUNT)),
        one("TxnDate", day),
        one("RefNumber", text(20)),
        one("TotalAmount", amount),
        one("PaymentMethodRef", ref(31)),
        one("Memo", text(MEMO)),
        one("DepositToAccountRef", ref(ACCOUNT)),
        one("ExternalGUID", guid),
        applied,
      ),
    ),
  ],
  BillPaymentCheckAdd: [
    must(
      "BillPaymentCheckAdd",
      group(
        must("PayeeEntityRef", ref(FULL_NAME)),
        one("APAccountRef", ref(ACCOUNT)),
        one("TxnDate", day),
        must("BankAccountRef", ref(ACCOUNT)),
        // One of the two.
        one("IsToBePrinted", yes),
        one("RefNumber", text(11)),
        one("Memo", text(MEMO)),
        one("ExternalGUID", guid),
        applied,
      ),
    ),
  ],
  TxnVoid: [must("TxnVoidType", text(20)), must("TxnID", id)],
  ...goods(),
};

/** Orders and item receipts: goods without an amount. */
function goods(): Record<string, readonly Field[]> {
  const linkTo = one("LinkToTxn", group(must("TxnID", id), must("TxnLineID", id)));
  const priced = [one("Rate", number), one("Amount", amount)];
  const ordered = [itemRef, one("Desc", text(MEMO)), one("Quantity", number), ...priced];
  const taxed = one("SalesTaxCodeRef", ref(3));
  const received = [
    itemRef,
    one("Desc", text(MEMO)),
    one("Quantity", number),
    one("Cost", number),
    one("Amount", amount),
  ];
  const head = (party: Field, most: number, ...rest: readonly Field[]): readonly Field[] => [
    party,
    one("TxnDate", day),
    one("RefNumber", text(most)),
    ...rest,
  ];
  const held = [must("TxnID", id), must("EditSequence", text(16))];
  const line = must("TxnLineID", id);
  const unsent = [one("IsToBePrinted", yes), one("IsToBeEmailed", yes)];
  const memo = one("Memo", text(MEMO));
  const closed = one("IsManuallyClosed", yes);
  const content = (name: string, ...fields: readonly Field[]): readonly Field[] => [
    must(name, group(...fields)),
  ];
  return {
    SalesOrderQuery: txnQuery(11, lines, linked),
    PurchaseOrderQuery: txnQuery(11, lines, linked),
    ItemReceiptQuery: txnQuery(20, lines, linked),
    SalesOrderAdd: content(
      "SalesOrderAdd",
      ...head(must("CustomerRef", ref(FULL_NAME)), 11, memo, ...unsent),
      one("ExternalGUID", guid),
      many("SalesOrderLineAdd", group(...ordered, taxed)),
    ),
    SalesOrderMod: content(
      "SalesOrderMod",
      ...held,
      one("RefNumber", text(11)),
      closed,
      memo,
      many("SalesOrderLineMod", group(line, ...ordered, taxed)),
    ),
    PurchaseOrderAdd: content(
      "PurchaseOrderAdd",
      ...head(must("VendorRef", ref(NAME)), 11, memo, ...unsent),
      one("ExternalGUID", guid),
      many("PurchaseOrderLineAdd", group(...ordered)),
    ),
    PurchaseOrderMod: content(
      "PurchaseOrderMod",
      ...held,
      one("RefNumber", text(11)),
      closed,
      memo,
      many("PurchaseOrderLineMod", group(line, ...ordered)),
    ),
    ItemReceiptAdd: content(
      "ItemReceiptAdd",
      ...head(must("VendorRef", ref(NAME)), 20, memo),
      one("ExternalGUID", guid),
      many("ItemLineAdd", group(...received, linkTo)),
    ),
    ItemReceiptMod: content(
      "ItemReceiptMod",
      ...held,
      one("TxnDate", day),
      one("RefNumber", text(20)),
      memo,
      many("ItemLineMod", group(line, ...received)),
    ),
  };
}
