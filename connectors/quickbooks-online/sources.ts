/** What changed in QuickBooks: parties, customer invoices with what was paid on them, and item prices, by their stamps. */
import type { z } from "zod";
import type { Books, Standing } from "../../src/books/adapter.ts";
import { invoiceRecord, some } from "../../src/books/facts.ts";
import { platformIdIn } from "../../src/books/marks.ts";
import type { InvoiceRecord, PartyRecord, PriceRecord } from "../../src/books/records.ts";
import { type StampFeed, stampSource } from "../../src/books/stamps.ts";
import type { Change, Source } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { stringifyExact } from "../../src/core/json.ts";
import { unavailable } from "../../src/books/errors.ts";
import { amountLines, type DocumentKind, itemIn, partyCode, standingOf } from "./documents.ts";
import type { Online } from "./online.ts";
import { ENTITY, linksOf, paymentsOf } from "./paid.ts";
import { DocumentRow, ItemRow, PartyRow, PaymentRow, stampOf } from "./rows.ts";
import { having, walk } from "./tables.ts";
import type { Entity } from "./wire.ts";

const KINDS = ["invoice", "bill"] as const;
const PARTIES = { invoice: "Customer", bill: "Vendor" } as const;
const ANY = " AND Active IN (true, false)";

/** Customers and vendors in one source: a record is twice its id, and one more for a vendor. */
export const partySource = (online: Online, books: Books): Source =>
  source(
    online,
    books,
    KINDS.map((kind, at) =>
      feed(online, PARTIES[kind], ANY, PartyRow, ({ Id }) => [Number(Id) * 2 + at]),
    ),
    (records, signal) => partyChanges(online, records, signal),
  );

/** A payment changes its invoices, whether or not QuickBooks stamps these anew. */
const invoiceFeeds = (online: Online): StampFeed[] => [
  feed(online, "Invoice", "", DocumentRow, ({ Id }) => [Number(Id)]),
  feed(online, "Payment", "", PaymentRow, (row) => linksOf(row).map(Number)),
];

/** Customer invoices. One that is void is told by its id alone, as links call it, so that its mapping sees that it was told before. */
export const invoiceSource = (online: Online, books: Books): Source =>
  source(online, books, invoiceFeeds(online), (records, signal) =>
    invoiceChanges(online, records, signal, ({ Id, DocNumber, TotalAmt }) =>
      DocNumber === null || TotalAmt.sign === 0 ? Id : DocNumber,
    ),
  );

/** The same by their ids: what a mapping of paid invoices looks links up by. */
export const paidInvoiceSource = (online: Online, books: Books): Source =>
  source(online, books, invoiceFeeds(online), (records, signal) =>
    invoiceChanges(online, records, signal, ({ Id }) => Id),
  );

export const priceSource = (online: Online, books: Books): Source =>
  source(
    online,
    books,
    [feed(online, "Item", ANY, ItemRow, ({ Id }) => [Number(Id)])],
    (records, signal) => priceChanges(online, records, signal),
  );

function source(
  { surroundings }: Online,
  books: Books,
  feeds: readonly StampFeed[],
  details: (records: readonly number[], signal: AbortSignal) => Promise<readonly Change[]>,
): Source {
  return stampSource({
    feeds,
    details,
    now: () => surroundings.now(),
    unavailable: (error) => unavailable(error, books),
  });
}

interface Stamped {
  readonly Id: string;
  readonly MetaData: { readonly CreateTime: string; readonly LastUpdatedTime: string };
}

/** @param more a further condition @param recordsOf the records that a row is, or is a part of */
function feed<Row extends Stamped>(
  { wire }: Online,
  entity: Entity,
  more: string,
  schema: z.ZodType<Row>,
  recordsOf: (row: Row) => readonly number[],
): StampFeed {
  const where = more === "" ? "" : `WHERE ${more.replace(/^ AND /, "")}`;
  const of = { entity, schema, where, stamp: "LastUpdatedTime" } as const;
  return {
    name: entity,
    once: true,
    async newest(signal) {
      const order = "ORDERBY MetaData.LastUpdatedTime DESC STARTPOSITION 1 MAXRESULTS 1";
      const [row] = await wire.query(entity, `${where} ${order}`.trim(), schema, signal);
      return row === undefined ? null : stampOf(row.MetaData.LastUpdatedTime);
    },
    async page({ at, id }, until, most, signal) {
      const rows = new Map<string, { at: string; id: number; record: number }>();
      for await (const page of walk(wire, of, `${at.slice(0, 19)}+00:00`, signal)) {
        for (const row of page.rows) {
          const place = { at: stampOf(row.MetaData.LastUpdatedTime), id: Number(row.Id) };
          const isAfter =
            place.at > at.slice(0, 19) || (place.at === at.slice(0, 19) && place.id > id);
          if (isAfter && place.at <= until)
            for (const record of recordsOf(row))
              rows.set(`${row.Id} ${record}`, { ...place, record });
        }
        // Rows of the last second may not all be here yet.
        const last = page.last === null ? "" : stampOf(page.last);
        const whole = [...rows.values()].filter((row) => row.at < last);
        if (last > until || whole.length >= most) break;
      }
      return [...rows.values()].toSorted(inOrder).slice(0, most);
    },
  };
}

const inOrder = (
  one: { readonly at: string; readonly id: number },
  other: { readonly at: string; readonly id: number },
): number => (one.at < other.at ? -1 : one.at > other.at ? 1 : one.id - other.id);

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

const AMERICA = /^(?:|US|USA|U\.S\.A\.|UNITED STATES(?: OF AMERICA)?)$/;

function partyChange(kind: DocumentKind, row: PartyRow): Change {
  const { BillAddr = null } = row;
  const country = countryOf(BillAddr?.Country ?? null);
  const region = BillAddr?.CountrySubDivisionCode?.trim().toUpperCase() ?? "";
  const lines = [BillAddr?.Line1, BillAddr?.Line2, BillAddr?.Line3];
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
    state: country !== null && /^[A-Z]{2,3}$/.test(region) ? `${country}-${region}` : null,
    zip: BillAddr?.PostalCode ?? null,
    country: BillAddr === null ? null : country,
    active: row.Active,
  };
  return { id: code, version: null, text: stringifyExact(record satisfies PartyRecord) };
}

/** People write it as they like; what is no code and not America is left out. */
function countryOf(text: string | null): string | null {
  const upper = text?.trim().toUpperCase() ?? "";
  if (AMERICA.test(upper)) return "US";
  return /^[A-Z]{2}$/.test(upper) ? upper : null;
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
  { facts, rung, payments, mark, paid: paidDate }: Standing,
  told: {
    readonly number: string;
    readonly taxItems: readonly string[];
    readonly partyCompanyId: string | null;
    /** Of its lines, in their order. */
    readonly products: readonly (string | null)[];
  },
): InvoiceRecord {
  const isTax = (product: string | null): boolean =>
    product !== null && told.taxItems.includes(product);
  const all = facts.lines ?? [];
  const taxes = all.filter(({ product }) => isTax(product));
  const tax = Decimal.sum(taxes.map(({ amount }) => amount)).plus(
    row.TxnTaxDetail?.TotalTax ?? Decimal.zero,
  );
  const untaxed = row.TotalAmt.minus(tax);
  const ours = Decimal.sum(payments.filter((one) => one.mark !== null).map(({ amount }) => amount));
  const others = row.TotalAmt.minus(row.Balance).minus(ours);
  return invoiceRecord(
    {
      ...facts,
      money: { untaxed, tax, total: row.TotalAmt },
      lines: all.filter(({ product }) => !isTax(product)),
      taxes: taxesOf(taxes, row, untaxed),
    },
    {
      number: told.number,
      id: row.Id,
      state: rung === "settled" || rung === "cancelled" ? STATES[rung] : "posted",
      partyCompanyId: told.partyCompanyId,
      dueDate: row.DueDate,
      open: row.Balance,
      paidDate,
      paidByPlatform: rung === "settled" && payments.length > 0 && others.sign === 0,
      paidByOthers: rung === "posted" && others.sign > 0 ? others : null,
      platformId: mark,
      productNames: told.products.filter((product) => !isTax(product)),
    },
  );
}

/** Lines of tax items, and QuickBooks' own sales tax. */
function taxesOf(
  lines: readonly {
    readonly product: string | null;
    readonly amount: Decimal;
    readonly text?: string | null;
  }[],
  { TxnTaxDetail }: DocumentRow,
  base: Decimal,
) {
  const own = TxnTaxDetail?.TotalTax ?? Decimal.zero;
  return [
    ...lines.map(({ product, amount, text }) => ({
      code: product ?? "",
      text: some(text) ?? product ?? "",
      base,
      amount,
    })),
    ...(own.sign === 0 ? [] : [{ code: "Sales tax", text: "Sales tax", base, amount: own }]),
  ];
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
