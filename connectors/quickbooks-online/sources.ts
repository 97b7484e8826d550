/** What changed in QuickBooks: parties, customer invoices with what was paid on them, and item prices. */
import type { Entry } from "../../src/ledger/port.ts";
import { numberTwice, partyChange } from "../../src/ledger/changes.ts";
import { invoiceRecord, some } from "../../src/ledger/facts.ts";
import { platformIdIn } from "../../src/ledger/marks.ts";
import type { InvoiceRecord, PartyRecord, PriceRecord } from "../../src/ledger/records.ts";
import type { Change, Source } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { Fault } from "../../src/core/fault.ts";
import { stringifyExact } from "../../src/core/json.ts";
import { memoIn } from "../quickbooks/memos.ts";
import { paidBy, regionOf, taxesOf } from "../quickbooks/told.ts";
import { type DocumentKind, isVoided, partyCode, entryOf } from "./documents.ts";
import { changeSource } from "./changes.ts";
import { QUICKBOOKS } from "./errors.ts";
import { feed } from "./feeds.ts";
import { goneInvoice, goneItem, goneParty, openInvoices } from "./gone.ts";
import { amountLines, itemIn, unknownLine } from "./lines.ts";
import type { Online } from "./online.ts";
import { ENTITY, linksOf, paymentsOf } from "./paid.ts";
import { DocumentRow, ItemRow, PartyRow, PaymentRow } from "./rows.ts";
import { having, walk } from "./tables.ts";

const KINDS = ["invoice", "bill"] as const;
const Identified = DocumentRow.pick({ Id: true });
const PARTIES = { invoice: "Customer", bill: "Vendor" } as const;
const ANY = " AND Active IN (true, false)";

/** Customers and vendors in one source: a record is twice its id, and one more for a vendor. */
export const partySource = (online: Online): Source =>
  changeSource(
    online.wire,
    KINDS.map((kind, at) =>
      feed(online, PARTIES[kind], ANY, PartyRow, {
        captured: Identified,
        recordsOf: ({ Id }) => [Number(Id) * 2 + at],
        gone: (rows) => Promise.resolve(goneParty(kind, rows)),
      }),
    ),
    {
      details: (records, signal) => partyChanges(online, records, signal),
      now: () => online.surroundings.now(),
    },
  );

interface Telling {
  readonly numberOf: (row: DocumentRow) => string;
  /** What keeps some of these from being told. Left out: nothing. @throws LedgerError */
  readonly faultsOf?: typeof faultsOf;
}

/** A payment changes its invoices, whether or not QuickBooks stamps these anew. */
const invoicesBy = (online: Online, telling: Telling): Source =>
  changeSource(
    online.wire,
    [
      feed(online, "Invoice", "", DocumentRow, {
        captured: Identified,
        recordsOf: ({ Id }) => [Number(Id)],
        gone: (rows) => Promise.resolve({ changes: rows.map((row) => goneInvoice(online, row)) }),
      }),
      feed(online, "Payment", "", PaymentRow, {
        captured: PaymentRow.pick({ Line: true, TotalAmt: true, PrivateNote: true }),
        recordsOf: (row) => linksOf(row, "invoice").map(Number),
        // Nothing says which invoices it had paid: they are among those that are open now.
        gone: async (_, signal) => ({ records: await openInvoices(online, signal) }),
        isGone: isVoided,
      }),
    ],
    {
      details: (records, signal) => invoiceChanges(online, records, signal, telling),
      now: () => online.surroundings.now(),
    },
  );

/** Customer invoices. One that is void is told by its id alone, as links call it, so that its mapping sees that it was told before. */
export const invoiceSource = (online: Online): Source =>
  invoicesBy(online, { numberOf: issuedNumber, faultsOf });

/** What people know it by; of one without an amount, or without a number, its id. */
export const issuedNumber = ({ Id, DocNumber, TotalAmt }: DocumentRow): string =>
  DocNumber === null || TotalAmt.sign === 0 ? Id : DocNumber;

/** The same by their ids, and whatever their lines are: what a mapping of paid invoices looks links up by. */
export const paidInvoiceSource = (online: Online): Source =>
  invoicesBy(online, { numberOf: ({ Id }) => Id });

export const priceSource = (online: Online): Source =>
  changeSource(
    online.wire,
    [
      feed(online, "Item", ANY, ItemRow, {
        captured: Identified,
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
    changes.push(...rows.map((row) => partyChange(QUICKBOOKS.name, partyOf(kind, row))));
  }
  return changes;
}

/** Every customer and vendor as it is now, inactive ones too. @throws LedgerError */
export async function* everyParty(
  { wire }: Online,
  signal: AbortSignal,
): AsyncGenerator<readonly Change[]> {
  const where = "WHERE Active IN (true, false)";
  for (const kind of KINDS) {
    const of = { entity: PARTIES[kind], schema: PartyRow, where, stamp: "CreateTime" } as const;
    for await (const { rows } of walk(wire, of, null, signal))
      yield rows.map((row) => partyChange(QUICKBOOKS.name, partyOf(kind, row)));
  }
}

function partyOf(kind: DocumentKind, row: PartyRow): PartyRecord {
  const { BillAddr = null } = row;
  const lines = [BillAddr?.Line1, BillAddr?.Line2, BillAddr?.Line3];
  const { country, state } = regionOf(
    BillAddr === null
      ? null
      : { country: BillAddr.Country ?? null, state: BillAddr.CountrySubDivisionCode ?? null },
  );
  return {
    code: partyCode(kind, row.Id),
    name: row.DisplayName ?? "",
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
}

async function invoiceChanges(
  online: Online,
  records: readonly number[],
  signal: AbortSignal,
  { numberOf, faultsOf: faultsIn }: Telling,
): Promise<Change[]> {
  const Id = records.map(String);
  const rows = await having(online.wire, ENTITY.invoice, DocumentRow, { Id }, signal);
  const payments = await paymentsOf(online, "invoice", rows, signal);
  const change = await invoiceChange(online, rows, payments, signal);
  const faultOf = await faultsIn?.(online, rows, signal);
  return rows.map((row) => {
    const fault = faultOf?.(row) ?? null;
    return { ...change(row, numberOf(row)), ...(fault === null ? {} : { fault }) };
  });
}

/** Of those that people made: QuickBooks takes a number twice, and knows lines that we do not. @throws LedgerError */
async function faultsOf(
  { wire }: Online,
  rows: readonly DocumentRow[],
  signal: AbortSignal,
): Promise<(row: DocumentRow) => Fault | null> {
  const made = rows.filter((row) => !isVoided(row) && memoIn(row.PrivateNote) === null);
  const DocNumber = made.flatMap((row) => row.DocNumber ?? []);
  const all = await having(wire, ENTITY.invoice, DocumentRow, { DocNumber }, signal);
  const others = all.filter((row) => !isVoided(row));
  return (row) => {
    const { Id, DocNumber: number } = row;
    if (!made.includes(row)) return null;
    const isTwice = others.some((one) => one.Id !== Id && one.DocNumber === number);
    return number !== null && isTwice ? numberTwice(QUICKBOOKS.name, number) : unknownLine(row);
  };
}

/** What a source tells of these invoices, under a number. @throws LedgerError */
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
    const on = payments.filter((payment) => linksOf(payment, "invoice").includes(row.Id));
    const entry = entryOf("invoice", surroundings.currency, names, row, on);
    const record = recordOf(row, entry, {
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
  entry: Entry,
  told: {
    readonly number: string;
    readonly taxItems: readonly string[];
    readonly partyCompanyId: string | null;
    /** Of its lines, in their order. */
    readonly products: readonly (string | null)[];
  },
): InvoiceRecord {
  const { facts, status, mark, paid: paidDate } = entry;
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
      state: status === "settled" || status === "cancelled" ? STATES[status] : "posted",
      partyCompanyId: told.partyCompanyId,
      dueDate: row.DueDate,
      open: row.Balance,
      paidDate,
      ...paidBy(entry, row.TotalAmt, row.Balance),
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
