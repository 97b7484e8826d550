/** Records that ledgers and files show (`books.…`), as documents of the platform. Amounts are checked, never corrected. */
import type { FaultCode } from "../../src/core/faults.ts";
import { z } from "zod";
import {
  cellOf,
  COLUMNS,
  digitsOf,
  INVOICE_PAYMENT,
  joined,
  needed,
  noonOf,
  PARTY_TABLES,
  paths,
  present,
  productOf,
  within,
} from "../values.ts";
import {
  defineMapping,
  type Likeness,
  type References,
  skip,
  type Skip,
} from "../../src/core/contract.ts";
import { amountOf, Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { sameNumber } from "../../src/core/keys.ts";
import { amountText } from "../../src/core/text.ts";
import {
  InvoiceRecord,
  isMoney,
  MONEY,
  PartyRecord,
  priceKey,
  PriceRecord,
} from "../../src/ledger/documents.ts";
import { PaidInvoice } from "../../src/platform/contract/documents.ts";
import { CreateInvoice } from "../../src/platform/contract/invoice.ts";
import { CreateParty } from "../../src/platform/contract/network.ts";
import { type Numeric, toDecimal } from "../../src/platform/contract/primitives.ts";
import { BulkRackPrice, writtenPriceUnits } from "../../src/platform/contract/pricing.ts";

const refused = (code: FaultCode, message: string, next: string, field?: string): Refused =>
  new Refused({ code, message, next, ...(field === undefined ? {} : { field }) });

type Role = "customer" | "supplier";

/*
 * Parties that buy from us, and parties that we buy from. One that is both becomes two companies: the platform keeps them
 * apart. Documents of the platform wait until the company of their party is there.
 */

const parties = <const Name extends string>(name: Name, role: Role) =>
  defineMapping({
    name,
    kind: role,
    reads: "books.parties",
    writes: `platform.${role}s`,
    // The other role is another flow's; payment terms have no place on the platform. An ERP's party has no contact person
    // by name, and no place on a map.
    leaves: {
      record: [role === "customer" ? "isSupplier" : "isCustomer", "paymentTerm"],
      document: ["contactName", "lat", "lng"],
    },
    // The company whose documents are booked on it is this one.
    namedIn: {
      table: PARTY_TABLES[role],
      column: COLUMNS[PARTY_TABLES[role]][1],
    },
    input: PartyRecord,
    output: CreateParty,
    number: ({ code }) => code,
    about: ({ code, name }) => ({ party: code, partyName: name }),
    map: (party, references) =>
      (role === "customer" ? party.isCustomer : party.isSupplier)
        ? newCompany(party, references, role)
        : skip(`not a ${role} by roles.${role}`),
    figures: ({ name }) => ({ amount: null, gallons: null, party: name }),
  });
export const bookedCustomers = parties("books/customers", "customer");
export const bookedSuppliers = parties("books/suppliers", "supplier");

/**
 * A party as a new company of the platform. One that carries the platform's UUID is there already.
 * @throws Refused, also when it was delivered as `role` and is inactive now: the platform goes on with it
 */
function newCompany(party: PartyRecord, references: References, role: Role): CreateParty | Skip {
  const { code, name, companyId, active } = party;
  if (companyId !== null) return skip("known to the platform", companyId);
  if (active) return companyOf(party);
  const there = references.find(role, code);
  if (there === null) return skip("inactive");
  throw refused(
    "inactive-after-delivery",
    `${role} ${code} (${name}) is inactive or deleted in the books; on the platform it is company ${there}, and its connection stands`,
    "Nothing on the platform ends by this. End the connection there if nothing more is to be delivered or invoiced to it, then close this; it closes by itself when the party is active again.",
    "Active",
  );
}

/** The first address is the company's; further ones go into the notes. @throws Refused */
function companyOf(party: PartyRecord): CreateParty {
  const { street, city, state, zip, country } = party;
  const own = { building: null, street, city, state, zip, country };
  const isTold = Object.values(own).some((one) => one !== null);
  const [address, ...further] = [...(isTold ? [own] : []), ...(party.addresses ?? [])];
  const name = needed(200, "Name", party.name);
  const externalId = needed(120, "Code", party.code);
  const rest = {
    contactEmail: email(party.email),
    contactPhone: within(50, "Mobile", party.mobile ?? null),
    phone: within(50, "Phone", party.phone),
    street: address && within(200, "Addresses/Street", streetOf(address)),
    city: address && within(100, "Addresses/City", address.city),
    state: address && within(100, "Addresses/Subdivision/Code", stateOf(address)),
    zip: address && within(20, "Addresses/Postal Code", address.zip),
    country: address && within(120, "Addresses/Country/Code", address.country),
    notes: within(2000, "Addresses", further.map(noteOf).join("\n")),
  };
  return { name, externalId, ...present(rest) };
}

type Address = NonNullable<PartyRecord["addresses"]>[number];

function email(value: string | null): string | undefined {
  const text = within(200, "E-Mail", value);
  if (text === undefined || z.email().safeParse(text).success) return text;
  throw refused(
    "bad-email",
    `E-Mail "${text}" is not an address`,
    "Correct the party's e-mail address in the ERP, or clear it; it is taken when it is read again.",
    "E-Mail",
  );
}

const streetOf = ({ building, street }: Address): string =>
  [building, street].filter((part) => part?.trim()).join("\n");

/** `US-TX` in the country `US` is `TX`. */
function stateOf({ state, country }: Address): string | null {
  const prefix = `${country}-`;
  return state?.startsWith(prefix) ? state.slice(prefix.length) : state;
}

function noteOf(address: Address): string {
  const region = [stateOf(address), address.zip].filter((part) => part?.trim()).join(" ");
  const lines = streetOf(address).replaceAll("\n", ", ");
  return `Further address: ${joined(lines, address.city, region, address.country)}`;
}

/* Customer invoices that were made in the ERP, as invoices of the platform. The flow of paid invoices tells what is paid. */

const LINES_MAX = 50;
const BY_HAND = "Enter it on the platform by hand and close it here.";

/** Drafts have none. */
const numberOf = ({ number, id }: InvoiceRecord): string => number ?? `draft-${id}`;

const aboutInvoice = (record: InvoiceRecord) => ({
  party: record.partyCode,
  partyName: record.partyName || null,
  amount: record.total,
  currency: record.currency,
  day: record.invoiceDate,
  ended: ["cancelled", "deleted"].includes(record.state),
});

/** State, open amount and stamps stay out of the document: an invoice that is paid is no new invoice. */
export const bookedInvoices = defineMapping({
  name: "books/invoices",
  kind: "invoice",
  reads: "books.invoices",
  writes: "platform.invoices",
  tables: { products: COLUMNS.products },
  // The platform has no invoice date and no accounts; lines are told by the product's code, and by its name where they
  // have no text; its taxes have no base.
  leaves: {
    record: paths(`
      invoiceDate amountToPay paidDate paidByPlatform paidByOthers clearedBy partyCode partyName
      lines.account lines.productName taxes.account taxes.base
    `),
    // What no invoice of an ERP tells of one of the platform.
    document: paths(`
      contractNumber orderId lineItems.carrier lineItems.deliveredDate lineItems.deliveryTicket
      lineItems.grossGallons lineItems.location lineItems.netGallons lineItems.spec
    `),
  },
  input: InvoiceRecord,
  output: CreateInvoice,
  posts: true,
  number: numberOf,
  map(record, references) {
    if (record.type !== "out") return skip("supplier invoice");
    if (record.platformId !== null) return skip("from the platform", record.platformId);
    return issued(record, references);
  },
  figures: ({ total, lineItems, payerCompanyId: party }) => ({
    ...(party ? { party } : {}),
    amount: toDecimal(total),
    gallons: Decimal.sum(lineItems.map(gallonsOf)),
  }),
  /** What is not posted is like nothing. */
  likeness(record, { find }): Likeness | null {
    const { number, reference, invoiceDate, state, platformId, partyCode, total } = record;
    const isPosted = state === "posted" || state === "paid";
    if (number === null || invoiceDate === null || !isPosted || platformId !== null) return null;
    const lines = amountLines(record) ?? [];
    const told = lines.flatMap(({ product, description, quantity, amount }) => [
      product ?? "",
      description ?? "",
      ...digitsOf(quantity, amount),
    ]);
    // Two loads of one day and one order have bills of lading of their own.
    const loads = lines.flatMap(({ description }) => bolsIn(description ?? ""));
    // Books that have no reference of the customer's repeat their own number.
    const isOwn = reference === null || sameNumber(reference, number);
    const names = reference?.trim() && !isOwn ? [reference] : [];
    const company = record.partyCompanyId ?? find("customer", partyCode);
    const alike = { amount: total, day: invoiceDate, names, loads, lines: told, number };
    return { party: partyCode, company, ...alike };
  },
  about: aboutInvoice,
});

/** @throws Refused, NotMapped, WaitsFor */
function issued(record: InvoiceRecord, references: References): CreateInvoice | Skip {
  const withheld = unposted(record, references);
  if (withheld !== null) return withheld;
  const number = needed(50, "Number", record.number);
  expectIssuable(record, references.currency);
  const lines = billed(record);
  const taxLines = record.taxes?.map(({ name, description, amount, authority, gallons, rate }) => ({
    taxType: needed(100, "Tax", name ?? description),
    amount: notNegative("Amount", cents("Amount", amount)),
    // The platform's gallons are whole.
    ...present({ authority, rate, gallons: gallons?.isInteger ? plain(gallons) : null }),
  }));
  const dueDate = record.dueDate ?? dueDays(record).at(-1) ?? null;
  const document = {
    invoiceNumber: number,
    subtotal: cents("Untaxed", record.untaxed),
    tax: cents("Tax", record.tax),
    total: cents("Total", record.total),
    lineItems: lines.map((line) => lineItem(line, references)),
    poNumber: within(64, "Reference", record.reference) ?? null,
    dueDate: dueDate === null ? null : noonOf(dueDate),
    notes: within(2000, "Comment", notesOf(record)) ?? null,
    ...(taxLines === undefined ? {} : { taxLines }),
  };
  expectToAddUp(document);
  const payerCompanyId =
    record.partyCompanyId ?? references.counterpart("customer", record.partyCode);
  return { ...document, payerCompanyId };
}

/** Lines with amounts; null: they were not exported. */
const amountLines = ({ lines }: InvoiceRecord): Line[] | null =>
  lines?.filter(({ type }) => (type ?? "line") === "line") ?? null;

/** Only after the last of them all of it is due. */
const dueDays = ({ dueDates = [] }: InvoiceRecord): string[] =>
  dueDates.flatMap(({ due }) => due ?? []).toSorted();

/** What the ERP says in words: description, comment, lines that are only text, and the parts it is due in. */
function notesOf(record: InvoiceRecord): string {
  const words = (record.lines ?? [])
    .filter(({ type }) => !["line", "subtotal"].includes(type ?? "line"))
    .map(({ description }) => description);
  const due = dueDays(record);
  const parts = due.length > 1 ? [`Due in parts: ${due.join(", ")}`] : [];
  return [record.description, record.comment ?? null, ...words, ...parts]
    .filter((note) => note !== null && note.trim() !== "")
    .join("\n\n");
}

/** @throws Refused for one that was cancelled after it was delivered: the platform cannot be told. */
function unposted({ state, id }: InvoiceRecord, references: References): Skip | null {
  if (state === "posted" || state === "paid") return null;
  if (state === "draft" || state === "validated" || references.find("invoice", id) === null)
    return skip(state);
  throw refused(
    "cancelled-after-delivery",
    `the invoice is "${state}" in the ERP, and it is on the platform`,
    "An accountant voids or settles it on the platform by hand, then closes it here.",
    "State",
  );
}

function expectIssuable({ currency: own, total, untaxed }: InvoiceRecord, currency: string): void {
  if (own !== currency)
    throw refused(
      "other-currency",
      `it comes to ${amountText(total, own)}, and the platform's amounts are in ${currency}`,
      "Bill it outside the platform and close it here.",
      "Currency/Code",
    );
  if (total.sign < 0 || untaxed.sign < 0)
    throw refused(
      "credit-note",
      `this is a credit note of ${amountText(total, own)}; the platform takes none`,
      "An accountant settles it with the customer, notes it on the credited invoice there, and closes it here.",
      "Total",
    );
}

/** @throws Refused when there are no lines, or more than the platform takes. */
function billed(record: InvoiceRecord): readonly Line[] {
  const lines = amountLines(record);
  if (lines === null)
    throw refused(
      "no-lines",
      "the invoice's lines were not exported",
      "Export the invoices together with their lines.",
    );
  if (lines.length === 0)
    throw refused(
      "no-lines",
      "the invoice has no lines",
      "An accountant looks at it in the ERP, and closes it here.",
    );
  if (lines.length > LINES_MAX)
    throw refused(
      "too-many-lines",
      `the invoice has ${lines.length} lines, the platform takes ${LINES_MAX}`,
      `Split it in the ERP, or: ${BY_HAND}`,
    );
  return lines;
}

interface Sums {
  readonly subtotal: Decimal;
  readonly tax: Decimal;
  readonly total: Decimal;
  readonly lineItems: readonly { readonly amount: Decimal }[];
  readonly taxLines?: readonly { readonly amount: Decimal }[];
}

/** To the cent, or it is work for a person. Taxes that were not exported cannot be added up. */
function expectToAddUp({ subtotal, tax, total, lineItems, taxLines }: Sums): void {
  const sums = [
    ["the lines", amountOf(lineItems), "Untaxed", subtotal],
    ["the taxes", taxLines === undefined ? tax : amountOf(taxLines), "Tax", tax],
    ["Untaxed and Tax", subtotal.plus(tax), "Total", total],
  ] as const;
  for (const [what, found, field, amount] of sums)
    if (!found.equals(amount))
      throw refused(
        "does-not-add-up",
        `the invoice does not add up: ${what} are ${amountText(found)}, ${field} is ${amountText(amount)}`,
        "Read heads, lines and taxes again, together; if it stays so, an accountant looks at it in the ERP.",
        field,
      );
}

/* A line of an ERP invoice as a line item of the platform (specification part 4, rule I1). */

type Line = NonNullable<InvoiceRecord["lines"]>[number];

const GALLON = "gal";
const BOL = /(?:BOL|B\/L)\s*#?\s*(\d{5,})/gi;
/** How a quantity is written that the platform has no field for: at the end of the description. */
const QUANTITY = /\[(\d+(?:\.\d+)?) gal\]$/;

/**
 * Gallons and rate go out when they are whole gallons and give the amount to the cent; otherwise the amount alone, and
 * the exact quantity in the description: the platform's gallons are integers, and no amount is ever recomputed.
 * @throws Refused, NotMapped
 */
function lineItem(line: Line, references: References) {
  const amount = notNegative("Amount", cents("Amount", line.amount));
  const { quantity, unitPrice } = line;
  const gallons = line.unit === GALLON ? quantity : null;
  const exact =
    gallons !== null &&
    gallons.sign > 0 &&
    gallons.isInteger &&
    unitPrice !== null &&
    unitPrice.sign >= 0 &&
    unitPrice.times(gallons).round(2).equals(amount);
  const quantified = exact
    ? { gallons: plain(gallons), rate: plain(unitPrice) }
    : ({} as { gallons?: Decimal; rate?: Decimal });
  const text = line.description?.trim() || line.productName || line.product;
  const suffix = exact ? "" : quantityOf(line);
  const description = needed(200, "Description", `${text ?? ""}${suffix}`);
  return {
    description,
    amount,
    ...quantified,
    ...(line.product === null ? {} : { product: productOf(references, line.product) }),
    ...bolOf(description),
  };
}

/** The gallons of a line item made here. */
function gallonsOf(item: { description: string; gallons?: Numeric | null | undefined }): Decimal {
  if (item.gallons !== undefined && item.gallons !== null) return toDecimal(item.gallons);
  const [, written] = QUANTITY.exec(item.description) ?? [];
  return written === undefined ? Decimal.zero : Decimal.of(written);
}

/** Nothing for one piece of something. */
function quantityOf({ quantity, unit }: Line): string {
  if (quantity === null || (unit !== GALLON && quantity.equals(Decimal.one))) return "";
  return ` [${[quantity.plain(), unit].filter((part) => part !== null).join(" ")}]`;
}

const plain = (value: Decimal): Decimal => Decimal.of(value.plain());

/** The bills of lading that a line's text names. */
const bolsIn = (description: string): string[] =>
  [...description.matchAll(BOL)].flatMap(([, number]) => number ?? []);

/** The bill of lading in the text, with its zeros; when there are two, the text must do. */
function bolOf(description: string): { bolNumber?: string } {
  const [number, second] = bolsIn(description);
  return number === undefined || second !== undefined ? {} : { bolNumber: number };
}

/** With two decimal places, whatever digits it came with. @throws Refused for fractions of a cent. */
function cents(field: string, amount: Decimal | null): Decimal {
  if (amount !== null && amount.round(2).equals(amount)) return amount.round(2);
  throw refused(
    "no-cents",
    amount === null ? `a line has no ${field}` : `${field} ${amountText(amount)} is not in cents`,
    "Look at the invoice in the ERP; once it is corrected there, it is taken when it is read again.",
    field,
  );
}

/** @throws Refused: the platform takes no negative amounts. */
function notNegative(field: string, amount: Decimal): Decimal {
  if (amount.sign >= 0) return amount;
  throw refused(
    "negative-line",
    `a line has the negative amount ${amountText(amount)}; the platform takes none`,
    "An accountant bills the correction another way, or enters the net amount on the platform by hand.",
    field,
  );
}

/*
 * Customer invoices that are settled in full, as payments of the platform's; it knows no partial ones. Invoices that came
 * from the platform count too; what was settled there is not told again: it would move the day it was paid. They come from
 * the invoices (the heads will do), not from payments: a payment is one of several, and tells of a part that was due.
 */

export const bookedPaidInvoices = defineMapping({
  name: "books/paid-invoices",
  kind: INVOICE_PAYMENT,
  reads: "books.paidInvoices",
  writes: "platform.paidInvoices",
  leaves: {
    record: paths(`
      currency reference description comment partyCode partyName partyCompanyId invoiceDate dueDate
      dueDates untaxed tax lines taxes
    `),
    // Notes might replace the invoice's own.
    document: ["notes"],
  },
  input: InvoiceRecord,
  output: PaidInvoice,
  number: numberOf,
  map(record, references) {
    if (record.type !== "out") return skip("supplier invoice");
    const { id, number, platformId } = record;
    // A remittance knows an invoice by its number alone.
    const key = (id === number ? references.numbered?.("invoice", number) : null) ?? id;
    if (record.state === "paid" && record.paidByPlatform)
      return skip("paid on the platform", references.find("invoice", key) ?? platformId ?? id);
    if (record.state === "paid" && !record.lines?.length)
      expectAsDelivered(record, key, references);
    return settled(record, key, references);
  },
  about: aboutInvoice,
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
  throw refused(
    isOurs ? "other-amount" : "other-currency",
    isOurs
      ? `the payment calls the whole invoice ${amountText(total, ours)}, and it was delivered as ${delivered === null ? "another" : amountText(delivered, ours)}`
      : `the payment is in ${currency}, the invoice in ${ours}`,
    "Compare it with the payment that came; mark the invoice as paid on the platform by hand if it is, and close this.",
    isOurs ? "total" : "currency",
  );
}

/** It waits until its invoice is there. `key`: what links of the invoice are kept by. @throws Refused, WaitsFor */
function settled(
  record: InvoiceRecord,
  key: string,
  references: References,
): { invoiceId: string; paidAt?: string } | Skip {
  const { total, amountToPay: open, paidDate, clearedBy, platformId } = record;
  // Of those that came from the platform their own delivery tells it: see the sink's inspect.
  const paidByOthers = platformId === null ? record.paidByOthers : null;
  if (total.sign < 0) return skip("credit note");
  if (record.state !== "paid") return skip(unpaid({ ...record, paidByOthers }, key, references));
  if (open !== null && open.sign !== 0)
    throw refused(
      "does-not-add-up",
      `the invoice is paid, and ${amountText(open, record.currency)} of it is open`,
      "Read the invoices again; if it stays so, an accountant looks at it in the ERP.",
      "Amount to Pay",
    );
  // What the ERP booked from a table or file has an id of its own there, which no link knows.
  const invoiceId =
    references.find("invoice", key) ?? platformId ?? references.counterpart("invoice", key);
  if (!isMoney(record)) {
    // The platform knows paid and open: that something was credited or written off is for a person to say there. It may have
    // been paid there by the customer.
    const isTold = references.find(INVOICE_PAYMENT, key) !== null;
    const there = isTold ? "it is paid on the platform" : "the platform was not told of it";
    throw refused(
      "settled-otherwise",
      `${amountText(total, record.currency)} is settled in the ERP, and not with money alone: ${clearedBy}; ${there}`,
      `Is it to be paid on the platform? Then correct the field clearedBy to "${MONEY}" here and retry. If not, an accountant agrees it with the customer and closes it here.`,
      "clearedBy",
    );
  }
  return { invoiceId, ...(paidDate === null ? {} : { paidAt: noonOf(paidDate) }) };
}

/**
 * Why it is not paid. @throws Refused for one that was, since the platform cannot be told that it no longer is, and for
 * one that is paid in part (specification part 4: an invoice is marked paid as a whole)
 * @throws WaitsFor when a part is paid of one that is not on the platform yet
 */
function unpaid(record: InvoiceRecord, key: string, references: References): string {
  const { state, total, currency, amountToPay, paidByOthers, clearedBy } = record;
  if (references.find(INVOICE_PAYMENT, key) !== null)
    throw refused(
      "unpaid-after-delivery",
      `the invoice is "${state}" in the ERP, and paid on the platform`,
      "An accountant corrects it on the platform by hand, then closes it here.",
      "State",
    );
  if (state !== "posted") return state;
  const how = isMoney(record) ? "paid" : `settled (${clearedBy})`;
  if (paidByOthers !== null && references.counterpart("invoice", key) !== null)
    throw refused(
      "partly-paid",
      `${amountText(paidByOthers, currency)} of ${amountText(total, currency)} was ${how} in the ERP, ${amountToPay === null ? "the rest" : amountText(amountToPay, currency)} is open: the platform takes no part of a payment`,
      "Tell the customer if it matters. It is delivered by itself when it is paid in full, and goes away when the payment is taken back; or close it here.",
      "Amount to Pay",
    );
  return amountToPay === null || amountToPay.equals(total) ? "not paid" : "partly paid";
}

/* Price lists, of which each is a terminal, as rack prices. What is no plain price is refused by name. */

export const bookedRackPrices = defineMapping({
  name: "books/rack-prices",
  kind: "rack-price",
  reads: "books.prices",
  writes: "platform.rackPrices",
  tables: { products: COLUMNS.products, terminals: COLUMNS.terminals },
  input: PriceRecord,
  output: BulkRackPrice.shape.prices.element,
  number: (record) => priceKey(record),
  // It is for whoever loads at the terminal.
  about: ({ list }) => ({ partyName: list }),
  map: (record, references) => {
    const { product, minQuantity, taxIncluded } = record;
    if (minQuantity && minQuantity.sign !== 0)
      throw refused(
        "quantity-break",
        `the price holds from ${minQuantity.plain()} on`,
        "The platform has one price per terminal and product: agree quantity prices outside it.",
        "minQuantity",
      );
    if (taxIncluded === true)
      throw refused(
        "tax-included",
        "the list's prices include tax",
        "Rack prices are without tax: enter the price without it, or export a list that has none.",
        "taxIncluded",
      );
    return {
      terminalId: terminalOf(references, record.list),
      product: productOf(references, product),
      price: priceWithin(record.price, "price"),
      unit: record.unit === null ? tableUnit(references, product) : writtenUnit(record.unit),
    };
  },
});

/** The form of an IRS terminal control number: the platform knows terminals by it. */
const CONTROL_NUMBER = /^T-\d\d-[A-Z]{2}-\d{4}$/;

/** A list named by the control number alone is that terminal; any other name is looked up. @throws NotMapped */
function terminalOf(references: References, list: string): string {
  const name = list.trim();
  if (CONTROL_NUMBER.test(name)) return name;
  return needed(50, "terminal", cellOf(references, "terminals", name, "terminal"));
}

const PRICE_MAX = Decimal.of("999999");

/** Its shortest digits. @throws Refused: the platform takes prices above 0 and up to 999,999 */
function priceWithin(written: Decimal, field: string): Decimal {
  const price = plain(written);
  if (price.sign === 0)
    throw refused(
      "zero-price",
      "the price is 0",
      "Enter the price in the ERP, or remove the line.",
      field,
    );
  if (price.sign < 0)
    throw refused(
      "negative-price",
      `the price ${amountText(price)} is negative`,
      "Correct the price in the ERP; the platform takes none below zero.",
      field,
    );
  if (price.compare(PRICE_MAX) > 0)
    throw refused(
      "price-too-high",
      `the price ${amountText(price)} is above ${amountText(PRICE_MAX)}`,
      "Correct the price in the ERP; the platform takes none that high.",
      field,
    );
  return price;
}

type Unit = (typeof writtenPriceUnits)[number];

/** What the platform calls the units of the books; `t` is the metric ton. */
const UNITS: Readonly<Record<string, Unit>> = { gal: "gal", l: "ltr", bbl: "bbl", t: "mt" };

/** @throws Refused: a price for another unit would be another price */
function writtenUnit(symbol: string): Unit {
  const unit = UNITS[symbol];
  if (unit !== undefined) return unit;
  throw refused(
    "unknown-unit",
    `the price is for the unit "${symbol}"; the platform takes prices for ${Object.keys(UNITS).join(", ")}`,
    "Give the product one of these units in the books; the price is taken when it is read again.",
    "unit",
  );
}

/** From the table's column `unit`; US gallons when there is none. */
function tableUnit(references: References, product: string): Unit {
  const given = references.row("products", product)["unit"]?.trim() || "gal";
  const unit = writtenPriceUnits.find((known) => known === given);
  if (unit !== undefined) return unit;
  throw refused(
    "unknown-unit",
    `the unit "${given}" of ${product} is none of ${writtenPriceUnits.join(", ")}`,
    'Correct it in the cross-reference table "products" and retry.',
    "unit",
  );
}
