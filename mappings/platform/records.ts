/** Records that ledgers show (`books.…`) and that Tryton exports (`tryton-export/…`), as documents of the platform. */
import { INVOICE_PAYMENT, issued, issuedFigures, issuedLikeness, settled } from "./invoices.ts";
import { companyOf, priceWithin, terminalOf } from "./masters.ts";
import { COLUMNS, paths, pick, productOf } from "../values.ts";
import { defineMapping, type References, skip, type Skip } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import * as layouts from "../../src/formats/table/layouts.ts";
import type { CustomerInvoice, PriceLine } from "../../src/formats/table/layouts.ts";
import { InvoiceRecord, PartyRecord, PriceRecord } from "../../src/ledger/documents.ts";
import { PaidInvoice } from "../../src/platform/contract/documents.ts";
import { CreateInvoice } from "../../src/platform/contract/invoice.ts";
import { CreateParty } from "../../src/platform/contract/network.ts";
import { BulkRackPrice, writtenPriceUnits } from "../../src/platform/contract/pricing.ts";

type Role = "customer" | "supplier";

/* Parties that buy from us, and parties that we buy from. One that is both becomes two companies: the platform keeps them apart. */

/** Documents of the platform wait until the company of their party is there. */
const company = (role: Role) =>
  ({
    kind: role,
    writes: `platform.${role}s`,
    output: CreateParty,
    number: ({ code }: { readonly code: string }) => code,
    about: ({ code, name }: { readonly code: string; readonly name: string }) => ({
      party: code,
      partyName: name,
    }),
  }) as const;

/** An ERP's party has no contact person by name, and no place on a map. */
const NOT_A_PARTY = ["contactName", "lat", "lng"] as const;

const bookedParties = <const Name extends string>(name: Name, role: Role) =>
  defineMapping({
    ...company(role),
    name,
    reads: "books.parties",
    // The other role is another flow's; the books tell one telephone number and one address.
    leaves: {
      record: [role === "customer" ? "isSupplier" : "isCustomer"],
      document: [...NOT_A_PARTY, "contactPhone", "notes"],
    },
    input: PartyRecord,
    map: (party: PartyRecord, references) =>
      (role === "customer" ? party.isCustomer : party.isSupplier)
        ? newCompany(party, references, role)
        : skip(`not a ${role} by roles.${role}`),
  });
export const bookedCustomers = bookedParties("books/customers", "customer");
export const bookedSuppliers = bookedParties("books/suppliers", "supplier");

/**
 * A party as a new company of the platform. One that carries the platform's UUID is there already.
 * @throws Refused, also when it was delivered as `role` and is inactive now: the platform goes on with it
 */
function newCompany(party: PartyRecord, references: References, role: Role): CreateParty | Skip {
  if (party.companyId !== null) return skip("known to the platform");
  if (!party.active) return inactive(party, references.find(role, party.code), role);
  const { street, city, state, zip, country } = party;
  const address = { building: null, street, city, subdivision: state, zip, country };
  return companyOf({ ...party, mobile: null, addresses: [address] });
}

/** @param there the platform's id of its company; null: it was never delivered */
function inactive({ code, name }: PartyRecord, there: string | null, role: Role): Skip {
  if (there === null) return skip("inactive");
  throw new Refused({
    code: "inactive-after-delivery",
    message: `${role} ${code} (${name}) is inactive or deleted in the books; on the platform it is company ${there}, and its connection stands`,
    next: "Nothing on the platform ends by this. End the connection there if nothing more is to be delivered or invoiced to it, then resolve this; it closes by itself when the party is active again.",
    field: "Active",
  });
}

const exportedParties = <const Name extends string>(name: Name, role: Role) =>
  defineMapping({
    ...company(role),
    name,
    reads: name,
    // Payment terms have no place on the platform; the party is known by its code.
    leaves: { record: ["id", "paymentTerm"], document: NOT_A_PARTY },
    input: (role === "customer" ? layouts.customers : layouts.suppliers).record,
    map: companyOf,
  });
export const exportedCustomers = exportedParties("tryton-export/customers", "customer");
export const exportedSuppliers = exportedParties("tryton-export/suppliers", "supplier");

/* Customer invoices that were made in the ERP, as invoices of the platform. The flow of paid invoices tells what is paid. */

const invoice = {
  kind: "invoice",
  writes: "platform.invoices",
  tables: { products: COLUMNS.products },
  output: CreateInvoice,
  posts: true,
  figures: issuedFigures,
} as const;

/** What no invoice of an ERP tells of one of the platform. */
const NOT_INVOICED = paths(`
  contractNumber orderId lineItems.carrier lineItems.deliveredDate lineItems.deliveryTicket
  lineItems.grossGallons lineItems.location lineItems.netGallons lineItems.spec
  taxLines.authority taxLines.gallons taxLines.rate
`);

export const bookedInvoices = defineMapping({
  ...invoice,
  name: "books/invoices",
  reads: "books.invoices",
  // The platform has no invoice date and no accounts; lines are told by the product's code, and by its name where they
  // have no text.
  leaves: {
    record: paths(`
      invoiceDate amountToPay paidDate paidByPlatform paidByOthers clearedBy partyCode
      lines.account lines.productName taxes.account taxes.base
    `),
    document: NOT_INVOICED,
  },
  input: InvoiceRecord,
  number: ({ number }) => number,
  map(record, references) {
    if (record.type !== "out") return skip("supplier invoice");
    if (record.platformId !== null) return skip("from the platform");
    return issued(
      {
        key: record.id,
        ...pick(record, "number", "state", "reference", "currency", "untaxed", "tax", "total"),
        ...pick(record, "lines", "dueDate"),
        taxes: record.taxes.map(({ description, amount }) => ({ name: description, amount })),
        notes: record.description,
      },
      references,
      () => record.partyCompanyId ?? references.counterpart("customer", record.partyCode),
    );
  },
  likeness: (record) =>
    record.platformId === null
      ? issuedLikeness({ ...record, party: record.partyCode, day: record.invoiceDate })
      : null,
  about: bookedAbout,
});

function bookedAbout({ partyCode, total, currency }: InvoiceRecord) {
  return { party: partyCode, amount: total, currency };
}

export const exportedInvoices = defineMapping({
  ...invoice,
  name: "tryton-export/invoices",
  reads: "tryton-export/customer-invoices",
  // The platform has no invoice date, and knows the party by its company. Ids and numbers of rows join the files; the
  // platform's taxes have no base.
  leaves: {
    record: paths(`
      amountToPay reconciled date editedAt party paymentTerm lines.id lines.invoiceId
      lines.invoiceNumber lines.productName lines.sequence taxes.id taxes.invoiceId
      taxes.invoiceNumber taxes.sequence taxes.description taxes.base taxes.manual
    `),
    document: NOT_INVOICED,
  },
  input: layouts.customerInvoices.record,
  number: exportedNumber,
  map: (record, references) =>
    issued(
      {
        key: record.id,
        ...pick(record, "number", "state", "reference", "currency", "untaxed", "tax", "total"),
        lines: record.lines?.filter(({ type }) => type === "line") ?? null,
        taxes:
          record.taxes?.map(({ tax, description, amount }) => ({
            name: tax ?? description,
            amount,
          })) ?? null,
        dueDate: dueDays(record).at(-1) ?? null,
        notes: notes(record),
      },
      references,
      () => references.counterpart("customer", record.partyCode),
    ),
  likeness: (record) => issuedLikeness({ ...record, party: record.partyCode, day: record.date }),
  about: exportedAbout,
});

/** Drafts have none. */
function exportedNumber({ number, id }: CustomerInvoice): string {
  return number ?? `draft-${id}`;
}

function exportedAbout({ partyCode, party, total, currency }: CustomerInvoice) {
  return { party: partyCode, partyName: party, amount: total, currency };
}

const dueDays = ({ dueDates }: CustomerInvoice): string[] =>
  dueDates.flatMap(({ due }) => due ?? []).toSorted();

/** What the ERP says in words: description, comment, lines that are only text, and the parts it is due in. */
function notes(record: CustomerInvoice): string {
  const words = (record.lines ?? [])
    .filter(({ type }) => type !== "line" && type !== "subtotal")
    .map(({ description }) => description);
  const due = dueDays(record);
  const parts = due.length > 1 ? [`Due in parts: ${due.join(", ")}`] : [];
  return [record.description, record.comment, ...words, ...parts]
    .filter((note) => note !== null && note.trim() !== "")
    .join("\n\n");
}

/* Customer invoices that are settled in full. The flow of invoices tells the rest. */

const paid = {
  kind: INVOICE_PAYMENT,
  writes: "platform.paidInvoices",
  output: PaidInvoice,
} as const;

/** No notes: they might replace the invoice's own. */
const NOT_PAID_WITH = ["notes"] as const;

/** Those that came from the platform too. What was settled there is not told again: it would move the day it was paid. */
export const bookedPaidInvoices = defineMapping({
  ...paid,
  name: "books/paid-invoices",
  reads: "books.paidInvoices",
  leaves: {
    record: paths(`
      currency reference description partyCode partyCompanyId invoiceDate dueDate untaxed
      tax lines taxes
    `),
    document: NOT_PAID_WITH,
  },
  input: InvoiceRecord,
  number: ({ number }) => number,
  map(record, references) {
    if (record.type !== "out") return skip("supplier invoice");
    if (record.state === "paid" && record.paidByPlatform) return skip("paid on the platform");
    // Of those that came from the platform their own delivery tells it: see the sink's inspect.
    const paidByOthers = record.platformId === null ? record.paidByOthers : null;
    const { id, number, state } = record;
    // A remittance knows an invoice by its number alone.
    const key = (id === number ? references.numbered?.("invoice", number) : null) ?? id;
    if (state === "paid" && record.lines.length === 0) expectAsDelivered(record, key, references);
    const money = pick(record, "total", "amountToPay", "clearedBy");
    return settled({ key, state, ...money, reconciled: record.paidDate, paidByOthers }, references);
  },
  about: bookedAbout,
});

/**
 * A remittance tells of an invoice what its payer says of it: it has no lines. What it calls the whole must be the amount that
 * was delivered, or the platform would take a part for all of it. @throws Refused
 */
function expectAsDelivered(
  { currency, total }: InvoiceRecord,
  key: string,
  references: References,
): void {
  const { currency: ours } = references;
  const delivered = references.amountOf?.("invoice", key) ?? null;
  const isOurs = currency === ours;
  if (isOurs && (delivered === null || delivered.equals(total))) return;
  throw new Refused({
    code: isOurs ? "other-amount" : "other-currency",
    message: isOurs
      ? `the payment calls the whole invoice ${total.fixed(2)}, and it was delivered as ${delivered?.fixed(2) ?? "another"}`
      : `the payment is in ${currency}, the invoice in ${ours}`,
    next: "Compare it with the payment that came; mark the invoice as paid on the platform by hand if it is, and resolve this.",
    field: isOurs ? "total" : "currency",
  });
}

/**
 * They come from the export of invoices (the heads will do), not from that of payments: a payment line is one of several,
 * without the invoice's total, and it is reconciled with the part that was due, not with the whole invoice.
 */
export const exportedPaidInvoices = defineMapping({
  ...paid,
  name: "tryton-export/paid-invoices",
  reads: "tryton-export/customer-invoices",
  leaves: {
    record: paths(`
      reference description comment date partyCode party currency paymentTerm untaxed tax
      editedAt dueDates lines taxes
    `),
    document: NOT_PAID_WITH,
  },
  input: layouts.customerInvoices.record,
  number: exportedNumber,
  map: (record, references) =>
    settled(
      { key: record.id, ...pick(record, "state", "total", "amountToPay", "reconciled") },
      references,
    ),
  about: exportedAbout,
});

/* Price lists, of which each is a terminal, as rack prices. What is no plain price is refused by name. */

const price = {
  kind: "rack-price",
  writes: "platform.rackPrices",
  tables: { products: COLUMNS.products, terminals: COLUMNS.terminals },
  output: BulkRackPrice.shape.prices.element,
} as const;

export const bookedRackPrices = defineMapping({
  ...price,
  name: "books/rack-prices",
  reads: "books.prices",
  input: PriceRecord,
  number: ({ list, product }) => `${list.trim()}|${product}`,
  map: (record, references) => ({
    terminalId: terminalOf(references, record.list),
    product: productOf(references, record.product),
    price: priceWithin(record.price, "price"),
    unit: writtenUnit(record.unit),
  }),
});

type Unit = (typeof writtenPriceUnits)[number];

/** What the platform calls the units of the books; `t` is the metric ton. */
const UNITS: Readonly<Record<string, Unit>> = { gal: "gal", l: "ltr", bbl: "bbl", t: "mt" };

/** @throws Refused: a price for another unit would be another price */
function writtenUnit(symbol: string): Unit {
  const unit = UNITS[symbol];
  if (unit !== undefined) return unit;
  throw new Refused({
    code: "unknown-unit",
    message: `the price is for the unit "${symbol}"; the platform takes prices for ${Object.keys(UNITS).join(", ")}`,
    next: "Give the product one of these units in the books; the price is taken when it is read again.",
    field: "unit",
  });
}

const FORMULA = "Lines/Formula";
const CONSTANT = /^-?\d+(?:\.\d+)?$/;

export const exportedRackPrices = defineMapping({
  ...price,
  name: "tryton-export/rack-prices",
  reads: "tryton-export/price-lists",
  // The product's code says which; the file restates all prices, so that stamps tell nothing.
  // `unit` says which unit of the product the list is for: the table `products` names the unit itself.
  leaves: { record: ["id", "sequence", "productName", "unit", "createdAt", "editedAt"] },
  input: layouts.priceLists.record,
  number: (line) => layouts.priceLists.key(line) ?? line.list,
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
      price: constantOf(line.formula),
      unit: unitOf(references, product),
    };
  },
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
function unitOf(references: References, product: string): Unit {
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

function constantOf(formula: string | null): Decimal {
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
