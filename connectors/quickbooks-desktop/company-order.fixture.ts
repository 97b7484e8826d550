/** What QuickBooks takes of a request before it looks at its content, from the published schema: nothing of ours. */
import type { Element } from "../quickbooks/element.ts";

const LIST_QUERY =
  "ListID+ FullName+ MaxReturned ActiveStatus FromModifiedDate ToModifiedDate NameFilter NameRangeFilter IncludeRetElement:50+ OwnerID+";

/** Elements in QuickBooks' order, `:` their length, `*` needed, `+` several times; from the published schema, qbXML 13.0. */
const ORDER: Readonly<Record<string, string>> = {
  CustomerAdd:
    "Name:41* IsActive ClassRef ParentRef CompanyName:41 Salutation:15 FirstName:25 MiddleName:5 LastName:25 JobTitle:41 BillAddress ShipAddress Phone:21 Email:1023 Contact:41 TermsRef AccountNumber:99 CreditLimit Notes:4095 PriceLevelRef ExternalGUID CurrencyRef",
  VendorAdd:
    "Name:41* IsActive ClassRef CompanyName:41 Salutation:15 FirstName:25 LastName:25 VendorAddress ShipAddress Phone:21 Email:1023 Contact:41 NameOnCheck:41 AccountNumber:99 Notes:4095 VendorTypeRef TermsRef CreditLimit VendorTaxIdent:15 ExternalGUID PrefillAccountRef CurrencyRef",
  InvoiceAdd:
    "CustomerRef* ClassRef ARAccountRef TemplateRef TxnDate RefNumber:11 BillAddress ShipAddress IsPending IsFinanceCharge PONumber:25 TermsRef DueDate SalesRepRef FOB:13 ShipDate ShipMethodRef ItemSalesTaxRef Memo:4095 CustomerMsgRef IsToBePrinted IsToBeEmailed CustomerSalesTaxCodeRef Other:29 ExchangeRate ExternalGUID LinkToTxnID+ SetCredit+ InvoiceLineAdd+",
  InvoiceLineAdd:
    "ItemRef Desc:4095 Quantity UnitOfMeasure:31 Rate ClassRef Amount ServiceDate SalesTaxCodeRef OverrideItemAccountRef Other1:29 Other2:29",
  InvoiceMod:
    "TxnID* EditSequence:16* CustomerRef ClassRef ARAccountRef TxnDate RefNumber:11 PONumber:25 TermsRef DueDate Memo:4095",
  BillAdd:
    "VendorRef* VendorAddress APAccountRef TxnDate DueDate RefNumber:20 TermsRef Memo:4095 ExchangeRate ExternalGUID LinkToTxnID+ ExpenseLineAdd+ ItemLineAdd+",
  ItemLineAdd:
    "ItemRef Desc:4095 Quantity UnitOfMeasure:31 Cost Amount CustomerRef ClassRef LinkToTxn",
  BillMod:
    "TxnID* EditSequence:16* VendorRef APAccountRef TxnDate DueDate RefNumber:20 TermsRef Memo:4095",
  ReceivePaymentAdd:
    "CustomerRef* ARAccountRef TxnDate RefNumber:20 TotalAmount ExchangeRate PaymentMethodRef Memo:4095 DepositToAccountRef CreditCardTxnInfo ExternalGUID AppliedToTxnAdd+",
  BillPaymentCheckAdd:
    "PayeeEntityRef* APAccountRef TxnDate BankAccountRef* IsToBePrinted RefNumber:11 Memo:4095 ExchangeRate ExternalGUID AppliedToTxnAdd+",
  InvoiceQueryRq:
    "TxnID+ RefNumber+ RefNumberCaseSensitive+ MaxReturned ModifiedDateRangeFilter TxnDateRangeFilter EntityFilter AccountFilter RefNumberFilter CurrencyFilter PaidStatus IncludeLineItems IncludeLinkedTxns IncludeRetElement:50+ OwnerID+",
  CustomerQueryRq: LIST_QUERY,
  VendorQueryRq: LIST_QUERY,
  ItemQueryRq: LIST_QUERY,
  PriceLevelQueryRq: LIST_QUERY,
  ListDeletedQueryRq: "ListDelType+* DeletedDateRangeFilter IncludeRetElement:50+",
  TxnDeletedQueryRq: "TxnDelType+* DeletedDateRangeFilter IncludeRetElement:50+",
  SalesOrderAdd:
    "CustomerRef* ClassRef TemplateRef TxnDate RefNumber:11 BillAddress ShipAddress PONumber:25 TermsRef DueDate SalesRepRef FOB:13 ShipDate ShipMethodRef ItemSalesTaxRef IsManuallyClosed Memo:4095 CustomerMsgRef IsToBePrinted IsToBeEmailed CustomerSalesTaxCodeRef Other:29 ExchangeRate ExternalGUID SalesOrderLineAdd+",
  SalesOrderLineAdd:
    "ItemRef Desc:4095 Quantity UnitOfMeasure:31 Rate ClassRef Amount SalesTaxCodeRef IsManuallyClosed Other1:29 Other2:29",
  SalesOrderMod:
    "TxnID* EditSequence:16* CustomerRef ClassRef TemplateRef TxnDate RefNumber:11 BillAddress ShipAddress PONumber:25 TermsRef DueDate SalesRepRef FOB:13 ShipDate ShipMethodRef ItemSalesTaxRef IsManuallyClosed Memo:4095 CustomerMsgRef IsToBePrinted IsToBeEmailed CustomerSalesTaxCodeRef Other:29 ExchangeRate SalesOrderLineMod+",
  SalesOrderLineMod:
    "TxnLineID* ItemRef Desc:4095 Quantity UnitOfMeasure:31 Rate ClassRef Amount SalesTaxCodeRef IsManuallyClosed",
  PurchaseOrderAdd:
    "VendorRef ClassRef InventorySiteRef TemplateRef TxnDate RefNumber:11 VendorAddress ShipAddress TermsRef DueDate ExpectedDate ShipMethodRef FOB:13 Memo:4095 VendorMsg:99 IsToBePrinted IsToBeEmailed Other1:25 Other2:29 ExchangeRate ExternalGUID PurchaseOrderLineAdd+",
  PurchaseOrderLineAdd:
    "ItemRef ManufacturerPartNumber:31 Desc:4095 Quantity UnitOfMeasure:31 Rate ClassRef Amount CustomerRef ServiceDate",
  PurchaseOrderMod:
    "TxnID* EditSequence:16* VendorRef ClassRef TemplateRef TxnDate RefNumber:11 VendorAddress ShipAddress TermsRef DueDate ExpectedDate ShipMethodRef FOB:13 IsManuallyClosed Memo:4095 VendorMsg:99 IsToBePrinted IsToBeEmailed Other1:25 Other2:29 ExchangeRate PurchaseOrderLineMod+",
  PurchaseOrderLineMod:
    "TxnLineID* ItemRef ManufacturerPartNumber:31 Desc:4095 Quantity UnitOfMeasure:31 Rate ClassRef Amount",
  ItemReceiptAdd:
    "VendorRef* APAccountRef TxnDate RefNumber:20 Memo:4095 ExchangeRate ExternalGUID LinkToTxnID+ ExpenseLineAdd+ ItemLineAdd+",
  ItemReceiptMod:
    "TxnID* EditSequence:16* VendorRef APAccountRef TxnDate RefNumber:20 Memo:4095 ExchangeRate ClearExpenseLines ClearItemLines ItemLineMod+",
  ItemLineMod: "TxnLineID* ItemRef Desc:4095 Quantity UnitOfMeasure:31 Cost Amount CustomerRef",
  LinkToTxn: "TxnID* TxnLineID*",
  AppliedToTxnAdd: "TxnID* PaymentAmount SetCredit+ DiscountAmount DiscountAccountRef",
};
const SHAPES: Readonly<Record<string, RegExp>> = {
  Amount: /^-?\d{1,13}\.\d\d$/,
  TotalAmount: /^-?\d{1,13}\.\d\d$/,
  PaymentAmount: /^-?\d{1,13}\.\d\d$/,
  Quantity: /^-?\d{1,10}(\.\d{1,5})?$/,
  Rate: /^-?\d{1,10}(\.\d{1,5})?$/,
  Cost: /^-?\d{1,10}(\.\d{1,5})?$/,
  ExternalGUID: /^(0|\{[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\})$/,
};

/** The whole document was not read: the Web Connector says so by `hresult`. */
export class NotParsed extends Error {}

/** QuickBooks answers a request with this status. */
export class Refusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** @throws NotParsed where an element stands at a wrong place, is too long, or has a wrong shape */
export function expectOrder(element: Element): void {
  const order = ORDER[element.name]?.split(" ");
  const shape = SHAPES[element.name];
  if (shape !== undefined && !shape.test(element.content))
    throw new NotParsed(`${element.name} ${element.content}`);
  if (order === undefined) return;
  let at = -1;
  for (const one of element.below) {
    const place = order.findIndex((entry) => /^\w+/.exec(entry)?.[0] === one.name);
    const entry = order[place] ?? "";
    const most = Number(/:(\d+)/.exec(entry)?.[1] ?? "4095");
    const isRepeated = place === at && !entry.endsWith("+");
    if (place < at || place < 0 || isRepeated || one.content.length > most)
      throw new NotParsed(`${element.name}.${one.name} is not at its place, or too long`);
    at = place;
    expectOrder(one);
  }
  for (const entry of order)
    if (entry.endsWith("*") && element.child(/^\w+/.exec(entry)?.[0] ?? "") === null)
      throw new NotParsed(`${element.name} lacks ${entry}`);
}
