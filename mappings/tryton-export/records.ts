import { NOT_A_PARTY, NOT_INVOICED } from "../leaves.ts";
import { issued, issuedFigures, issuedLikeness } from "../platform/invoices.ts";
import { INVOICE_PAYMENT, settled } from "../platform/paid-invoices.ts";
import { companyOf } from "../platform/parties.ts";
import { productOf } from "../platform/products.ts";
import { priceWithin, terminalOf } from "../platform/rack-prices.ts";
import { defineMapping, type References } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import * as layouts from "../../src/formats/table/layouts.ts";
import {
  type CustomerInvoice,
  customerInvoices,
  type PriceLine,
  priceLists,
} from "../../src/formats/table/layouts.ts";
import { PaidInvoice } from "../../src/platform/contract/documents.ts";
import { CreateInvoice } from "../../src/platform/contract/invoice.ts";
import { CreateParty } from "../../src/platform/contract/network.ts";
import { BulkRackPrice, writtenPriceUnits } from "../../src/platform/contract/pricing.ts";

/** Parties that buy from us. Their invoices wait until they are there. */
export const customers = defineMapping({
  name: "tryton-export/customers",
  kind: "customer",
  reads: "tryton-export/customers",
  writes: "platform.customers",
  // Payment terms have no place on the platform; the party is known by its code.
  leaves: { record: ["id", "paymentTerm"], document: NOT_A_PARTY },
  input: layouts.customers.record,
  output: CreateParty,
  number: ({ code }) => code,
  map: companyOf,
  figures: () => ({ amount: null, gallons: null }),
  about: ({ code, name }) => ({ party: code, partyName: name }),
});

/** Parties that we buy from. One that is a customer too becomes a second company: the platform keeps them apart. */
export const suppliers = defineMapping({
  name: "tryton-export/suppliers",
  kind: "supplier",
  reads: "tryton-export/suppliers",
  writes: "platform.suppliers",
  // Payment terms have no place on the platform; the party is known by its code.
  leaves: { record: ["id", "paymentTerm"], document: NOT_A_PARTY },
  input: layouts.suppliers.record,
  output: CreateParty,
  number: ({ code }) => code,
  map: companyOf,
  figures: () => ({ amount: null, gallons: null }),
  about: ({ code, name }) => ({ party: code, partyName: name }),
});

/* Customer invoices that are posted in the ERP, as invoices of the platform. */

export const invoices = defineMapping({
  name: "tryton-export/invoices",
  kind: "invoice",
  reads: "tryton-export/customer-invoices",
  writes: "platform.invoices",
  tables: {
    products: ["code", "product"],
  },
  // The flow of paid invoices tells what is paid. The platform has no invoice date, and knows the party by its company.
  // Ids and numbers of rows join the files; the platform's taxes have no base.
  leaves: {
    record: [
      "amountToPay",
      "reconciled",
      "date",
      "editedAt",
      "party",
      "paymentTerm",
      "lines.id",
      "lines.invoiceId",
      "lines.invoiceNumber",
      "lines.productName",
      "lines.sequence",
      "taxes.id",
      "taxes.invoiceId",
      "taxes.invoiceNumber",
      "taxes.sequence",
      "taxes.description",
      "taxes.base",
      "taxes.manual",
    ],
    document: NOT_INVOICED,
  },
  input: customerInvoices.record,
  output: CreateInvoice,
  posts: true,
  // Drafts have none.
  number: (invoice) => invoice.number ?? `draft-${invoice.id}`,
  map: (invoice, references) =>
    issued(
      {
        key: invoice.id,
        number: invoice.number,
        state: invoice.state,
        reference: invoice.reference,
        currency: invoice.currency,
        untaxed: invoice.untaxed,
        tax: invoice.tax,
        total: invoice.total,
        lines: invoice.lines?.filter(({ type }) => type === "line") ?? null,
        taxes:
          invoice.taxes?.map(({ tax, description, amount }) => ({
            name: tax ?? description,
            amount,
          })) ?? null,
        dueDate: dueDays(invoice).at(-1) ?? null,
        notes: notes(invoice),
      },
      references,
      () => references.counterpart("customer", invoice.partyCode),
    ),
  figures: issuedFigures,
  likeness: (invoice) =>
    issuedLikeness({ ...invoice, party: invoice.partyCode, day: invoice.date }),
  about: ({ partyCode, party, total, currency }) => ({
    party: partyCode,
    partyName: party,
    amount: total,
    currency,
  }),
});

const dueDays = ({ dueDates }: CustomerInvoice): string[] =>
  dueDates.flatMap(({ due }) => due ?? []).toSorted();

/** What the ERP says in words: description, comment, lines that are only text, and the parts it is due in. */
function notes(invoice: CustomerInvoice): string {
  const words = (invoice.lines ?? [])
    .filter(({ type }) => type !== "line" && type !== "subtotal")
    .map(({ description }) => description);
  const due = dueDays(invoice);
  const parts = due.length > 1 ? [`Due in parts: ${due.join(", ")}`] : [];
  return [invoice.description, invoice.comment, ...words, ...parts]
    .filter((note) => note !== null && note.trim() !== "")
    .join("\n\n");
}

/*
 * They come from the export of invoices (the heads will do), not from that of payments: a payment line is one of
 * several, without the invoice's total, and it is reconciled with the part that was due, not with the whole invoice.
 */

/** Customer invoices that are settled in full. */
export const paidInvoices = defineMapping({
  name: "tryton-export/paid-invoices",
  kind: INVOICE_PAYMENT,
  reads: "tryton-export/customer-invoices",
  writes: "platform.paidInvoices",
  // The flow of invoices tells the rest. No notes: they might replace the invoice's own.
  leaves: {
    record: [
      "reference",
      "description",
      "comment",
      "date",
      "partyCode",
      "party",
      "currency",
      "paymentTerm",
      "untaxed",
      "tax",
      "editedAt",
      "dueDates",
      "lines",
      "taxes",
    ],
    document: ["notes"],
  },
  input: customerInvoices.record,
  output: PaidInvoice,
  number: (invoice) => invoice.number ?? `draft-${invoice.id}`,
  map(invoice, references) {
    const { id: key, state, total, amountToPay, reconciled } = invoice;
    return settled({ key, state, total, amountToPay, reconciled }, references);
  },
  figures: () => ({ amount: null, gallons: null }),
  about: ({ partyCode, party, total, currency }) => ({
    party: partyCode,
    partyName: party,
    amount: total,
    currency,
  }),
});

/* Price lists, of which each is a terminal, as rack prices. What is no plain price is refused by name. */

const FORMULA = "Lines/Formula";
const CONSTANT = /^-?\d+(?:\.\d+)?$/;

export const rackPrices = defineMapping({
  name: "tryton-export/rack-prices",
  kind: "rack-price",
  reads: "tryton-export/price-lists",
  writes: "platform.rackPrices",
  tables: {
    products: ["code", "product"],
    terminals: ["name", "terminal"],
  },
  // The product's code says which; the file restates all prices, so that stamps tell nothing.
  // `unit` says which unit of the product the list is for: the table `products` names the unit itself.
  leaves: { record: ["id", "sequence", "productName", "unit", "createdAt", "editedAt"] },
  input: priceLists.record,
  output: BulkRackPrice.shape.prices.element,
  number: (line) => priceLists.key(line) ?? line.list,
  map(line, references) {
    const product = soldProduct(line);
    if (line.minQuantity !== null && line.minQuantity.sign !== 0)
      throw refused(
        "quantity-break",
        `the price holds from ${line.minQuantity.plain()} on`,
        "The platform has one price per terminal and product: agree quantity prices outside it.",
        "Lines/Quantity",
      );
    if (line.taxIncluded === true)
      throw refused(
        "tax-included",
        "the list's prices include tax",
        "Rack prices are without tax: export a list without it.",
        "Tax Included",
      );
    return {
      terminalId: terminalOf(references, line.list),
      product: productOf(references, product),
      price: priceOf(line.formula),
      unit: unitOf(references, product),
    };
  },
  figures: () => ({ amount: null, gallons: null }),
});

function soldProduct({ product, category }: PriceLine): string {
  if (product !== null) return product;
  const what = category === null ? "all products" : `the category ${category}`;
  throw refused(
    "no-product",
    `the line is for ${what}, not for a product`,
    "Give each product that is sold there a line of its own in the ERP, or leave it.",
    "Lines/Product/Code",
  );
}

/** From the table's column `unit`; US gallons when there is none. */
function unitOf(references: References, product: string): (typeof writtenPriceUnits)[number] {
  const given = references.row("products", product)["unit"]?.trim() ?? "";
  const unit = writtenPriceUnits.find((known) => known === (given === "" ? "gal" : given));
  if (unit !== undefined) return unit;
  throw new Refused({
    code: "unknown-unit",
    message: `the unit "${given}" of ${product} is none of ${writtenPriceUnits.join(", ")}`,
    next: 'Correct it in the cross-reference table "products" and retry.',
    field: "unit",
  });
}

function priceOf(formula: string | null): Decimal {
  const text = formula?.trim() ?? "";
  if (!CONSTANT.test(text) || !Decimal.is(text))
    throw refused(
      "not-constant",
      `the price is the formula "${text}", not a number`,
      "Enter the price itself in the ERP; formulas are not evaluated here.",
    );
  return priceWithin(Decimal.of(text), FORMULA);
}

const refused = (code: string, message: string, next: string, field = FORMULA): Refused =>
  new Refused({ code, message, next, field });
