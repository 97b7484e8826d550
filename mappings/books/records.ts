import { NOT_A_PARTY, NOT_INVOICED } from "../leaves.ts";
import { issued, issuedFigures, issuedLikeness } from "../platform/invoices.ts";
import { INVOICE_PAYMENT, settled } from "../platform/paid-invoices.ts";
import { companyOf } from "../platform/parties.ts";
import { productOf } from "../platform/products.ts";
import { priceWithin, terminalOf } from "../platform/rack-prices.ts";
import { defineMapping, type References, skip, type Skip } from "../../src/core/contract.ts";
import { Refused } from "../../src/core/errors.ts";
import { InvoiceRecord, PartyRecord, PriceRecord } from "../../src/ledger/documents.ts";
import { PaidInvoice } from "../../src/platform/contract/documents.ts";
import { CreateInvoice } from "../../src/platform/contract/invoice.ts";
import { CreateParty } from "../../src/platform/contract/network.ts";
import { BulkRackPrice, type writtenPriceUnits } from "../../src/platform/contract/pricing.ts";

/**
 * A party as a new company of the platform. One that carries the platform's UUID is there already.
 * @throws Refused, also when it was delivered as `kind` and is inactive now: the platform goes on with it
 */
function newCompany(
  party: PartyRecord,
  references: References,
  kind: "customer" | "supplier",
): CreateParty | Skip {
  if (party.companyId !== null) return skip("known to the platform");
  if (!party.active) return inactive(party, references.find(kind, party.code), kind);
  const { street, city, state, zip, country } = party;
  const address = { building: null, street, city, subdivision: state, zip, country };
  return companyOf({ ...party, mobile: null, addresses: [address] });
}

/** @param company the platform's id of it; null: it was never delivered */
function inactive({ code, name }: PartyRecord, company: string | null, kind: string): Skip {
  if (company === null) return skip("inactive");
  throw new Refused({
    code: "inactive-after-delivery",
    message: `${kind} ${code} (${name}) is inactive or deleted in the books; on the platform it is company ${company}, and its connection stands`,
    next: "Nothing on the platform ends by this. End the connection there if nothing more is to be delivered or invoiced to it, then resolve this; it closes by itself when the party is active again.",
    field: "Active",
  });
}

/** Parties that buy from us. Their invoices wait until they are there. */
export const customers = defineMapping({
  name: "books/customers",
  kind: "customer",
  reads: "books.parties",
  writes: "platform.customers",
  // The other role is another flow's; the books tell one telephone number and one address.
  leaves: { record: ["isSupplier"], document: [...NOT_A_PARTY, "contactPhone", "notes"] },
  input: PartyRecord,
  output: CreateParty,
  number: ({ code }) => code,
  map: (party, references) =>
    party.isCustomer
      ? newCompany(party, references, "customer")
      : skip("not a customer by roles.customer"),
  figures: () => ({ amount: null, gallons: null }),
  about: ({ code, name }) => ({ party: code, partyName: name }),
});

/** Parties that we buy from. One that is a customer too becomes a second company: the platform keeps them apart. */
export const suppliers = defineMapping({
  name: "books/suppliers",
  kind: "supplier",
  reads: "books.parties",
  writes: "platform.suppliers",
  // The other role is another flow's; the books tell one telephone number and one address.
  leaves: { record: ["isCustomer"], document: [...NOT_A_PARTY, "contactPhone", "notes"] },
  input: PartyRecord,
  output: CreateParty,
  number: ({ code }) => code,
  map: (party, references) =>
    party.isSupplier
      ? newCompany(party, references, "supplier")
      : skip("not a supplier by roles.supplier"),
  figures: () => ({ amount: null, gallons: null }),
  about: ({ code, name }) => ({ party: code, partyName: name }),
});

/** Customer invoices that were made in the books, as invoices of the platform. */
export const invoices = defineMapping({
  name: "books/invoices",
  kind: "invoice",
  reads: "books.invoices",
  writes: "platform.invoices",
  tables: {
    products: ["code", "product"],
  },
  // The flow of paid invoices tells what is paid. The platform has no invoice date and no accounts; lines are told by the
  // product's code, and by its name where they have no text.
  leaves: {
    record: [
      "invoiceDate",
      "amountToPay",
      "paidDate",
      "paidByPlatform",
      "paidByOthers",
      "clearedBy",
      "partyCode",
      "lines.account",
      "lines.productName",
      "taxes.account",
      "taxes.base",
    ],
    document: NOT_INVOICED,
  },
  input: InvoiceRecord,
  output: CreateInvoice,
  posts: true,
  number: (invoice) => invoice.number,
  map(invoice, references) {
    if (invoice.type !== "out") return skip("supplier invoice");
    if (invoice.platformId !== null) return skip("from the platform");
    return issued(
      {
        key: invoice.id,
        number: invoice.number,
        state: invoice.state,
        reference: invoice.reference,
        currency: invoice.currency,
        untaxed: invoice.untaxed,
        tax: invoice.tax,
        total: invoice.total,
        lines: invoice.lines,
        dueDate: invoice.dueDate,
        taxes: invoice.taxes.map(({ description, amount }) => ({ name: description, amount })),
        notes: invoice.description,
      },
      references,
      () => invoice.partyCompanyId ?? references.counterpart("customer", invoice.partyCode),
    );
  },
  figures: issuedFigures,
  likeness: (invoice) =>
    invoice.platformId === null
      ? issuedLikeness({ ...invoice, party: invoice.partyCode, day: invoice.invoiceDate })
      : null,
  about: ({ partyCode, total, currency }) => ({ party: partyCode, amount: total, currency }),
});

/**
 * Customer invoices that are settled in full, those that came from the platform too. What was settled there is not
 * told again: it would move the day it was paid.
 */
export const paidInvoices = defineMapping({
  name: "books/paid-invoices",
  kind: INVOICE_PAYMENT,
  reads: "books.paidInvoices",
  writes: "platform.paidInvoices",
  // The flow of invoices tells the rest. No notes: they might replace the invoice's own.
  leaves: {
    record: [
      "currency",
      "reference",
      "description",
      "partyCode",
      "partyCompanyId",
      "invoiceDate",
      "dueDate",
      "untaxed",
      "tax",
      "lines",
      "taxes",
    ],
    document: ["notes"],
  },
  input: InvoiceRecord,
  output: PaidInvoice,
  number: (invoice) => invoice.number,
  map(invoice, references) {
    if (invoice.type !== "out") return skip("supplier invoice");
    if (invoice.state === "paid" && invoice.paidByPlatform) return skip("paid on the platform");
    // Of those that came from the platform their own delivery tells it: see the sink's inspect.
    const paidByOthers = invoice.platformId === null ? invoice.paidByOthers : null;
    const { id, number, state, total, amountToPay, paidDate: reconciled, clearedBy } = invoice;
    // A remittance knows an invoice by its number alone.
    const key = (id === number ? references.numbered?.("invoice", number) : null) ?? id;
    if (state === "paid" && invoice.lines.length === 0) expectAsDelivered(invoice, key, references);
    const paid = { key, state, total, amountToPay, reconciled, paidByOthers, clearedBy };
    return settled(paid, references);
  },
  figures: () => ({ amount: null, gallons: null }),
  about: ({ partyCode, total, currency }) => ({ party: partyCode, amount: total, currency }),
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

/* Price lists, of which each is a terminal, as rack prices. */

export const rackPrices = defineMapping({
  name: "books/rack-prices",
  kind: "rack-price",
  reads: "books.prices",
  writes: "platform.rackPrices",
  tables: {
    products: ["code", "product"],
    terminals: ["name", "terminal"],
  },
  input: PriceRecord,
  output: BulkRackPrice.shape.prices.element,
  number: ({ list, product }) => `${list.trim()}|${product}`,
  map: ({ list, product, price, unit }, references) => ({
    terminalId: terminalOf(references, list),
    product: productOf(references, product),
    price: priceWithin(price, "price"),
    unit: writtenUnit(unit),
  }),
  figures: () => ({ amount: null, gallons: null }),
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
