/** What changed in QuickBooks: parties, customer invoices with what was paid on them, and item prices. */
import type { Standing } from "../../src/books/adapter.ts";
import { invoiceRecord, some } from "../../src/books/facts.ts";
import { platformIdIn } from "../../src/books/marks.ts";
import type { InvoiceRecord, PartyRecord, PriceRecord } from "../../src/books/records.ts";
import type { Change, Source } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { stringifyExact } from "../../src/core/json.ts";
import { paidBy, regionOf, taxesOf } from "../quickbooks/told.ts";
import {
  amountLines,
  type DocumentKind,
  isVoided,
  itemIn,
  partyCode,
  standingOf,
} from "./documents.ts";
import { changeSource } from "./changes.ts";
import { feed } from "./feeds.ts";
import { goneInvoice, goneItem, goneParty, openInvoices } from "./gone.ts";
import type { Online } from "./online.ts";
import { ENTITY, linksOf, paymentsOf } from "./paid.ts";
import { DocumentRow, ItemRow, PartyRow, PaymentRow } from "./rows.ts";
import { having } from "./tables.ts";

const KINDS = ["invoice", "bill"] as const;
const PARTIES = { invoice: "Customer", bill: "Vendor" } as const;
const ANY = " AND Active IN (true, false)";

/** Customers and vendors in one source: a record is twice its id, and one more for a vendor. */
export const partySource = (online: Online): Source =>
  changeSource(
    online.wire,
    KINDS.map((kind, at) =>
      feed(online, PARTIES[kind], ANY, PartyRow, {
        recordsOf: ({ Id }) => [Number(Id) * 2 + at],
        gone: (rows) => Promise.resolve(goneParty(kind, rows)),
      }),
    ),
    {
      details: (records, signal) => partyChanges(online, records, signal),
      now: () => online.surroundings.now(),
    },
  );

/** A payment changes its invoices, whether or not QuickBooks stamps these anew. */
const invoicesBy = (online: Online, numberOf: (row: DocumentRow) => string): Source =>
  changeSource(
    online.wire,
    [
      feed(online, "Invoice", "", DocumentRow, {
        recordsOf: ({ Id }) => [Number(Id)],
        gone: (rows) => Promise.resolve({ changes: rows.map((row) => goneInvoice(online, row)) }),
      }),
      feed(online, "Payment", "", PaymentRow, {
        recordsOf: (row) => linksOf(row).map(Number),
        // Nothing says which invoices it had paid: they are among those that are open now.
        gone: async (_, signal) => ({ records: await openInvoices(online, signal) }),
        isGone: isVoided,
      }),
    ],
    {
      details: (records, signal) => invoiceChanges(online, records, signal, numberOf),
      now: () => online.surroundings.now(),
    },
  );

/** Customer invoices. One that is void is told by its id alone, as links call it, so that its mapping sees that it was told before. */
export const invoiceSource = (online: Online): Source =>
  invoicesBy(online, ({ Id, DocNumber, TotalAmt }) =>
    DocNumber === null || TotalAmt.sign === 0 ? Id : DocNumber,
  );

/** The same by their ids: what a mapping of paid invoices looks links up by. */
export const paidInvoiceSource = (online: Online): Source => invoicesBy(online, ({ Id }) => Id);

export const priceSource = (online: Online): Source =>
  changeSource(
    online.wire,
    [
      feed(online, "Item", ANY, ItemRow, {
        recordsOf: ({ Id }) => [Number(Id)],
        gone: (rows) => Promise.resolve({ notices: rows.map(goneItem) }),
      }),
    ],
    {
      details: (records, signal) => priceChanges(online, records, signal),
      now: () => online.surroundings.now(),
    },
  );

async function partyChanges(
  { wire }: Online,
  records: readonly number[],
  signal: AbortSignal,
): Promise<Change[]> {
  const changes: Change[] = [];
  for (const [at, kind] of KINDS.entries()) {
    const Id = records
      .filter((record) => record % 2 === at)
      .map((record) => String((record - at) / 2));
    const rows = await having(wire, PARTIES[kind], PartyRow, { Id }, signal, ANY);
    changes.push(...rows.map((row) => partyChange(kind, row)));
  }
  return changes;
}

function partyChange(kind: DocumentKind, row: PartyRow): Change {
  const { BillAddr = null } = row;
  const lines = [BillAddr?.Line1, BillAddr?.Line2, BillAddr?.Line3];
  const { country, state } = regionOf(
    BillAddr === null
      ? null
      : { country: BillAddr.Country ?? null, state: BillAddr.CountrySubDivisionCode ?? null },
  );
  const code = partyCode(kind, row.Id);
  const record = {
    code,
    name: row.DisplayName,
    isCustomer: kind === "invoice",
    isSupplier: kind === "bill",
    companyId: platformIdIn(row.Notes),
    email: row.PrimaryEmailAddr?.Address ?? null,
    phone: row.PrimaryPhone?.FreeFormNumber ?? null,
    street: some(lines.filter((line) => some(line) !== null).join("\n")),
    city: BillAddr?.City ?? null,
    state,
    zip: BillAddr?.PostalCode ?? null,
    country,
    active: row.Active,
  };
  return { id: code, version: null, text: stringifyExact(record satisfies PartyRecord) };
}

async function invoiceChanges(
  online: Online,
  records: readonly number[],
  signal: AbortSignal,
  numberOf: (row: DocumentRow) => string,
): Promise<Change[]> {
  const Id = records.map(String);
  const rows = await having(online.wire, ENTITY.invoice, DocumentRow, { Id }, signal);
  const payments = await paymentsOf(online, "invoice", rows, signal);
  const change = await invoiceChange(online, rows, payments, signal);
  return rows.map((row) => change(row, numberOf(row)));
}

/** What a source tells of these invoices, under a number. @throws BookError */
export async function invoiceChange(
  online: Online,
  rows: readonly DocumentRow[],
  payments: readonly PaymentRow[],
  signal: AbortSignal,
): Promise<(row: DocumentRow, number: string) => Change> {
  const { wire, names, surroundings, config } = online;
  const Id = rows.flatMap(({ CustomerRef }) => CustomerRef?.value ?? []);
  const customers = await having(wire, "Customer", PartyRow, { Id }, signal, ANY);
  const companies = new Map(customers.map((one) => [one.Id, platformIdIn(one.Notes)]));
  return (row, number) => {
    const on = payments.filter((payment) => linksOf(payment).includes(row.Id));
    const standing = standingOf("invoice", surroundings.currency, names, row, on);
    const record = recordOf(row, standing, {
      number,
      taxItems: config.taxItems,
      partyCompanyId: companies.get(row.CustomerRef?.value ?? "") ?? null,
      products: amountLines(row).map((line) => itemIn(names, line)),
    });
    return { id: row.Id, version: null, text: stringifyExact(record) };
  };
}

const STATES = { settled: "paid", cancelled: "cancelled" } as const;

function recordOf(
  row: DocumentRow,
  standing: Standing,
  told: {
    readonly number: string;
    readonly taxItems: readonly string[];
    readonly partyCompanyId: string | null;
    /** Of its lines, in their order. */
    readonly products: readonly (string | null)[];
  },
): InvoiceRecord {
  const { facts, rung, mark, paid: paidDate } = standing;
  const isTax = (product: string | null): boolean =>
    product !== null && told.taxItems.includes(product);
  const all = facts.lines ?? [];
  const taxes = all.filter(({ product }) => isTax(product));
  const salesTax = row.TxnTaxDetail?.TotalTax ?? Decimal.zero;
  const tax = Decimal.sum(taxes.map(({ amount }) => amount)).plus(salesTax);
  const untaxed = row.TotalAmt.minus(tax);
  return invoiceRecord(
    {
      ...facts,
      money: { untaxed, tax, total: row.TotalAmt },
      lines: all.filter(({ product }) => !isTax(product)),
      taxes: taxesOf(taxes, salesTax, untaxed),
    },
    {
      number: told.number,
      id: row.Id,
      state: rung === "settled" || rung === "cancelled" ? STATES[rung] : "posted",
      partyCompanyId: told.partyCompanyId,
      dueDate: row.DueDate,
      open: row.Balance,
      paidDate,
      ...paidBy(standing, row.TotalAmt.minus(row.Balance)),
      platformId: mark,
      productNames: told.products.filter((product) => !isTax(product)),
    },
  );
}

async function priceChanges(
  { wire, config }: Online,
  records: readonly number[],
  signal: AbortSignal,
): Promise<Change[]> {
  const { prices } = config;
  if (prices === undefined) return [];
  const rows = await having(wire, "Item", ItemRow, { Id: records.map(String) }, signal);
  return rows.flatMap(({ Name: product, UnitPrice, PurchaseCost }) => {
    const price = prices.of === "sales" ? UnitPrice : PurchaseCost;
    // An item without a price (a category, a tax) is none of the prices.
    if (price === null || price.sign === 0) return [];
    const { list, unit } = prices;
    const record = { list, product, price, unit } satisfies PriceRecord;
    return [{ id: `${list}|${product}`, version: null, text: stringifyExact(record) }];
  });
}
