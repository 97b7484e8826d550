/** The sets and fields of API v2.0 that the tests' company has: names, types, lengths, and which of them can be written. */
import { Decimal } from "../../src/core/decimal.ts";

const ADDRESS =
  "addressLine1 text100, addressLine2 text50, city text30, state text30, country code10, postalCode code20, phoneNumber text30, email text80";
const CODED = "id guid-, code code20, displayName text100, lastModifiedDateTime stamp-";
const PARTY = `id guid-, number code20, displayName text100, blocked text, currencyCode text, lastModifiedDateTime stamp-, ${ADDRESS}`;
const TOTALS =
  "totalAmountExcludingTax decimal-, totalTaxAmount decimal-, totalAmountIncludingTax decimal-, status text-, lastModifiedDateTime stamp-";
const HEAD = `id guid-, number code20-, postingDate date, currencyCode text, shortcutDimension1Code code20, shortcutDimension2Code code20, pricesIncludeTax bool-, ${TOTALS}`;
const LINE =
  "id guid-, documentId guid, sequence int, lineType text, lineObjectNumber code20, description text100, description2 text50, unitOfMeasureCode code10, quantity decimal, discountAmount decimal, taxCode code50, taxPercent decimal-, totalTaxAmount decimal-, amountExcludingTax decimal-, netAmount decimal-, dimensionSetLines lines";
const MOVED =
  "id guid-, number code20-, invoiceDate date-, postingDate date-, dueDate date-, orderNumber code20-, currencyCode text-, lastModifiedDateTime stamp-";
const MOVED_LINE =
  "id guid-, documentId guid-, sequence int-, lineType text-, lineObjectNumber code20-, description text100-, description2 text50-, unitOfMeasureCode code10-, quantity decimal-, discountPercent decimal-, taxPercent decimal-";
const PAYMENT =
  "id guid-, journalId guid, lineNumber int, postingDate date, documentNumber code20, externalDocumentNumber code35, amount decimal, appliesToInvoiceId guid, description text100, comment text250, dimensionSetLines lines, lastModifiedDateTime stamp-";
const BATCH =
  "id guid-, code code10, displayName text100, balancingAccountNumber code20-, lastModifiedDateTime stamp-";

/** Each field: its name, its type with the characters it takes, and `-` where it is read-only. `code`: kept in capitals. */
const SETS: Readonly<Record<string, string>> = {
  companyInformation:
    "id guid-, displayName text100, currencyCode text-, lastModifiedDateTime stamp-",
  customers: PARTY,
  vendors: PARTY,
  items:
    "id guid-, number code20, displayName text100, itemCategoryCode code20, blocked bool, unitPrice decimal, priceIncludesTax bool, baseUnitOfMeasureCode code10, lastModifiedDateTime stamp-",
  accounts:
    "id guid-, number code20, displayName text100, blocked bool, directPosting bool, lastModifiedDateTime stamp-",
  unitsOfMeasure: CODED,
  taxGroups: CODED,
  dimensions: CODED,
  dimensionValues: CODED,
  dimensionSetLines: "code code20, valueCode code20",
  generalLedgerSetup:
    "id guid-, allowPostingFrom date, allowPostingTo date, localCurrencyCode text, lastModifiedDateTime stamp-",
  salesInvoices: `${HEAD}, orderId guid-, orderNumber code20-, invoiceDate date, dueDate date, externalDocumentNumber code35, customerPurchaseOrderReference text35, shipToName text100, customerId guid, customerNumber code20, customerName text100-, remainingAmount decimal-, salesInvoiceLines lines`,
  purchaseInvoices: `${HEAD}, orderId guid-, orderNumber code20-, invoiceDate date, dueDate date, vendorInvoiceNumber code35, vendorId guid, vendorNumber code20, vendorName text100-, purchaseInvoiceLines lines`,
  salesCreditMemos: `${HEAD}, creditMemoDate date, externalDocumentNumber code35, customerNumber code20, invoiceId guid, invoiceNumber code20, salesCreditMemoLines lines`,
  purchaseCreditMemos: `${HEAD}, creditMemoDate date, vendorCreditMemoNumber code35, vendorNumber code20, invoiceId guid, invoiceNumber code20, purchaseCreditMemoLines lines`,
  salesOrders: `${HEAD}, orderDate date, externalDocumentNumber code35, customerNumber code20, requestedDeliveryDate date, fullyShipped bool, salesOrderLines lines`,
  purchaseOrders: `${HEAD}, orderDate date, vendorNumber code20, requestedReceiptDate date, fullyReceived bool, purchaseOrderLines lines`,
  salesOrderLines: `${LINE}, unitPrice decimal, shipQuantity decimal, invoiceQuantity decimal, shippedQuantity decimal, invoicedQuantity decimal`,
  purchaseOrderLines: `${LINE}, directUnitCost decimal, receiveQuantity decimal, invoiceQuantity decimal, receivedQuantity decimal, invoicedQuantity decimal`,
  salesShipments: `${MOVED}, externalDocumentNumber code35-, customerNumber code20-, customerName text100-, salesShipmentLines lines`,
  purchaseReceipts: `${MOVED}, vendorNumber code20-, vendorName text100-, purchaseReceiptLines lines`,
  salesShipmentLines: `${MOVED_LINE}, documentNo code20-, unitPrice decimal-, shipmentDate date-`,
  purchaseReceiptLines: `${MOVED_LINE}, unitCost decimal-, expectedReceiptDate date-`,
  salesInvoiceLines: `${LINE}, unitPrice decimal`,
  salesCreditMemoLines: `${LINE}, unitPrice decimal`,
  purchaseInvoiceLines: `${LINE}, unitCost decimal`,
  purchaseCreditMemoLines: `${LINE.replace("description2 text50, ", "")}, unitCost decimal`,
  customerPaymentJournals: BATCH,
  vendorPaymentJournals: BATCH,
  customerPayments: `${PAYMENT}, customerNumber code20`,
  vendorPayments: `${PAYMENT}, vendorNumber code20`,
  documentAttachments:
    "id guid-, fileName text250, byteSize int-, parentType text, parentId guid, lineNumber int, lastModifiedDateTime stamp-",
  generalLedgerEntries:
    "id guid-, entryNumber int-, postingDate date-, documentNumber code20-, documentType text-, accountNumber code20-, description text100-, debitAmount decimal-, creditAmount decimal-, lastModifiedDateTime stamp-",
};

const EMPTY: Readonly<Record<string, unknown>> = {
  decimal: Decimal.zero,
  date: "0001-01-01",
  guid: "00000000-0000-0000-0000-000000000000",
  int: 0,
  bool: false,
  lines: [],
};

interface Field {
  readonly name: string;
  readonly type: string;
  readonly most: number;
  readonly isFixed: boolean;
  readonly empty: unknown;
}

function fieldOf(told: string): Field {
  const [, name = "", type = "", most = "", fixed = ""] =
    /^(\w+) ([a-z]+)(\d*)(-?)$/.exec(told) ?? [];
  const empty =
    name === "blocked" && type === "text"
      ? "_x0020_"
      : name === "directPosting"
        ? true
        : name === "currencyCode"
          ? "USD"
          : (EMPTY[type] ?? "");
  return { name, type, most: Number(most || Infinity), isFixed: fixed === "-", empty };
}

export const FIELDS: Readonly<Record<string, ReadonlyMap<string, Field> | undefined>> =
  Object.fromEntries(
    Object.entries(SETS).map(([set, told]) => [
      set,
      new Map(told.split(", ").map((one) => [one.split(" ")[0] ?? "", fieldOf(one)])),
    ]),
  );

/** Documents and their lines; of each its number series, the field of its party, and of its price. */
export const DOCUMENTS = {
  salesInvoices: ["salesInvoiceLines", "S-INV", "customerNumber", "unitPrice"],
  purchaseInvoices: ["purchaseInvoiceLines", "P-INV", "vendorNumber", "unitCost"],
  salesOrders: ["salesOrderLines", "S-ORD", "customerNumber", "unitPrice"],
  purchaseOrders: ["purchaseOrderLines", "P-ORD", "vendorNumber", "directUnitCost"],
  salesCreditMemos: ["salesCreditMemoLines", "S-CR", "customerNumber", "unitPrice"],
  purchaseCreditMemos: ["purchaseCreditMemoLines", "P-CR", "vendorNumber", "unitCost"],
} as const;
export type Documents = keyof typeof DOCUMENTS;
export const isDocuments = (set: string): set is Documents => set in DOCUMENTS;
export const isSale = (set: string): boolean => set.startsWith("sales");
