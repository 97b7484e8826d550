/** What changed in QuickBooks: parties, customer invoices with what was paid on them, and item prices. */
import type { z } from "zod";
import type { Change, Page, Reading, Source } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import type { Fault } from "../../src/core/fault.ts";
import { type Json, stringifyExact } from "../../src/core/json.ts";
import type { PartyRecord, PriceRecord } from "../../src/ledger/documents.ts";
import { numberTwice, partyChange, some } from "../../src/ledger/entries.ts";
import { sorted, unavailable } from "../../src/ledger/errors.ts";
import { platformIdIn } from "../../src/ledger/notes.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import { type Mark, type StampFeed, type Stamps, stampSource } from "../../src/ledger/stamps.ts";
import {
  type DocumentKind,
  ENTITY,
  entryOf,
  isVoided,
  linksOf,
  partyCode,
  paymentsOf,
  unknownLine,
} from "./documents.ts";
import { QUICKBOOKS } from "./errors.ts";
import type { Online } from "./online.ts";
import {
  DocumentRow,
  having,
  ItemRow,
  listed,
  PartyRow,
  PaymentRow,
  stampOf,
  walk,
} from "./rows.ts";
import { type Changed, type ChangedRow, CHANGES_MOST, type Entity, type Wire } from "./wire.ts";
import { deletedInvoice, inactiveParty, invoiceChange, regionOf } from "../quickbooks/lines.ts";
import { memoIn } from "../quickbooks/text.ts";

/*
 * What changed in QuickBooks since the last look, by change data capture (ADR 0017): one call tells the changes of all
 * entities of a source, and what was deleted. It reaches back 30 days and tells at most 1,000 objects; what is older, or
 * more, is walked by stamps (src/ledger/stamps.ts), which tell no deletions: a notice says so.
 */

/** What becomes of records that are there no more. */
interface Gone {
  /** How they are told. */
  readonly changes?: readonly Change[];
  /** Records that may have changed with them, and are read again. */
  readonly records?: readonly number[];
  /** For a person. */
  readonly notices?: readonly string[];
}

/** An entity whose changes are changes of a source's records. */
interface Feed {
  readonly entity: Entity;
  readonly stamps: StampFeed;
  /** The records that a row is, or is a part of. @throws LedgerError when it does not have QuickBooks' form */
  recordsOf(row: unknown): readonly number[];
  /** Of rows that were deleted. @throws LedgerError */
  gone(rows: readonly ChangedRow[], signal: AbortSignal): Promise<Gone>;
  /** Is a row that is still there to be treated as a deleted one as well? Left out: never. */
  isGone?(row: unknown): boolean;
}

/** Stored with the flow, beside the marks of the walks by stamps. */
interface Position {
  /** Everything up to `at` (QuickBooks' clock, UTC) was told; of the last minutes before it, `told` has what. */
  readonly cdc?: { readonly at: string; readonly told: readonly string[] };
  /** A walk by stamps is under way that began at this instant of QuickBooks' clock. */
  readonly begun?: string;
  readonly [feed: string]: unknown;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Less than Intuit's 30 days: the two clocks may differ. */
const WINDOW_MS = 28 * DAY_MS;
/** A row may be shown some time after its stamp: so much is asked for again. */
const OVERLAP_MS = 10 * MINUTE_MS;
const PAGE_RECORDS = 100;

function changeSource(
  wire: Wire,
  feeds: readonly Feed[],
  more: Pick<Stamps, "details" | "now">,
): Source {
  const walk = stampSource({
    ...more,
    feeds: feeds.map(({ stamps }) => stamps),
    unavailable: (error) => unavailable(error, QUICKBOOKS),
  });
  const changes: Changes = { wire, feeds, details: more.details, now: more.now };
  return {
    async *read(from, reading) {
      const position = (from ?? {}) as unknown as Position;
      try {
        yield* readOn(changes, position, walk, reading);
      } catch (error) {
        if (error instanceof SourceUnavailable) throw error;
        const told = unavailable(error, QUICKBOOKS);
        if (!reading.signal.aborted) throw told;
      }
    },
  };
}

interface Changes extends Pick<Stamps, "details" | "now"> {
  readonly wire: Wire;
  readonly feeds: readonly Feed[];
}

async function* readOn(
  changes: Changes,
  position: Position,
  walk: Source,
  reading: Reading,
): AsyncGenerator<Page> {
  const { signal } = reading;
  const { cdc, begun, ...marks } = position;
  if (signal.aborted) return;
  if (cdc === undefined || begun !== undefined) {
    const start = begun ?? (await changes.wire.time(signal));
    return yield* walked(walk, { ...marks, begun: start }, reading);
  }
  const told = await capture(changes, cdc.at, signal);
  if (told !== null && told.rows.length < CHANGES_MOST) {
    return yield* captured(changes, position, told, signal);
  }
  // All up to `cdc.at` was told: the walk begins there.
  const since = stampOf(cdc.at);
  const mark: Mark = { since, seenAt: null, settled: false, walk: null };
  const next: Position = {
    ...Object.fromEntries(changes.feeds.map(({ stamps }) => [stamps.name, mark])),
    begun: told?.time ?? (await changes.wire.time(signal)),
  };
  const gone = await goneIn(changes, told?.rows ?? [], signal);
  yield* detailed(changes, position, gone.records, signal);
  if (signal.aborted) return;
  yield pageOf(next, gone.changes, [...gone.notices, untold(cdc.at)]);
  yield* walked(walk, next, reading);
}

const untold = (since: string): string =>
  `QuickBooks did not tell all that changed since ${since}: what is there is read by its stamps, what was deleted is not told. Run fuelbridge reconcile from that day on.`;

/** By stamps, from the beginning or from a mark. What changes meanwhile is told by the next capture. */
async function* walked(walk: Source, start: Position, reading: Reading): AsyncGenerator<Page> {
  let last: Position = start;
  for await (const page of walk.read(start as unknown as Json, reading)) {
    last = page.position as unknown as Position;
    yield page;
  }
  if (reading.signal.aborted) return;
  const { begun, ...marks } = last;
  yield pageOf({ ...marks, cdc: { at: begun ?? "", told: [] } });
}

/** Null: QuickBooks does not tell so far back. @throws LedgerError */
async function capture(
  { wire, feeds, now }: Changes,
  at: string,
  signal: AbortSignal,
): Promise<Changed | null> {
  if (now().getTime() - Date.parse(at) > WINDOW_MS) return null;
  const since = new Date(Date.parse(at) - OVERLAP_MS).toISOString();
  try {
    return await wire.changes(
      feeds.map(({ entity }) => entity),
      since,
      signal,
    );
  } catch (error) {
    if (sorted(error, "read", QUICKBOOKS.errors).sort === "data") return null;
    throw error;
  }
}

async function* captured(
  changes: Changes,
  position: Position,
  { time, rows }: Changed,
  signal: AbortSignal,
): AsyncGenerator<Page> {
  const before = new Set(position.cdc?.told);
  const fresh = rows.filter((row) => !before.has(keyOf(row)));
  const age = Date.parse(time) - Date.parse(position.cdc?.at ?? time);
  if (fresh.length === 0 && age < DAY_MS) return;
  const gone = await goneIn(changes, fresh, signal);
  const feedOf = new Map(changes.feeds.map((feed) => [feed.entity, feed]));
  const there = fresh.filter(({ deleted }) => !deleted);
  const records = [
    ...new Set([
      ...there.flatMap(({ entity, row }) => feedOf.get(entity)?.recordsOf(row) ?? []),
      ...gone.records,
    ]),
  ];
  yield* detailed(changes, position, records, signal);
  if (signal.aborted) return;
  // What may come again in the next answer.
  const late = new Date(Date.parse(time) - OVERLAP_MS);
  const told = rows.filter(({ at }) => at === null || new Date(at) >= late).map(keyOf);
  yield pageOf({ ...position, cdc: { at: time, told } }, gone.changes, gone.notices);
}

async function* detailed(
  { details }: Changes,
  position: Position,
  records: readonly number[],
  signal: AbortSignal,
): AsyncGenerator<Page> {
  for (let at = 0; at < records.length && !signal.aborted; at += PAGE_RECORDS)
    yield pageOf(position, await details(records.slice(at, at + PAGE_RECORDS), signal));
}

const keyOf = ({ entity, id, deleted, syncToken, at }: ChangedRow): string =>
  `${entity} ${id} ${deleted ? "deleted" : syncToken} ${at ?? ""}`.trim();

/** Of deleted rows, and of those that count as deleted. */
async function goneIn(
  { feeds }: Changes,
  rows: readonly ChangedRow[],
  signal: AbortSignal,
): Promise<Required<Gone>> {
  const changes: Change[] = [];
  const records: number[] = [];
  const notices: string[] = [];
  for (const feed of feeds) {
    const of = rows.filter(
      ({ entity, deleted, row }) =>
        entity === feed.entity && (deleted || feed.isGone?.(row) === true),
    );
    if (of.length === 0) continue;
    const gone = await feed.gone(of, signal);
    changes.push(...(gone.changes ?? []));
    records.push(...(gone.records ?? []));
    notices.push(...(gone.notices ?? []));
  }
  return { changes, records, notices };
}

const pageOf = (
  position: Position,
  changes: readonly Change[] = [],
  notices: readonly string[] = [],
): Page => ({
  changes,
  position: position as unknown as Json,
  ...(notices.length === 0 ? {} : { notices }),
});

/* An entity of QuickBooks as a feed of a source: its rows, as change data capture and as queries tell them. */

interface Stamped {
  readonly Id: string;
  readonly MetaData: { readonly CreateTime: string; readonly LastUpdatedTime: string };
}

interface Of<Captured> {
  /** What must be told of a change: all of a record is read by its id. */
  readonly captured: z.ZodType<Captured>;
  readonly recordsOf: (row: Captured) => readonly number[];
  readonly gone: Feed["gone"];
  /** Left out: none that is there counts as gone. */
  readonly isGone?: (row: Captured) => boolean;
}

/** @param more a further condition */
function feed<Captured, Row extends Stamped & Captured>(
  online: Online,
  entity: Entity,
  more: string,
  schema: z.ZodType<Row>,
  { captured, recordsOf, gone, isGone }: Of<Captured>,
): Feed {
  const rowOf = (row: unknown): Captured => {
    const parsed = captured.safeParse(row);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    const where = `${entity} ${issue?.path.join(".") ?? ""}`;
    throw new LedgerError("torn", `changes: ${where}: ${issue?.message ?? "has another form"}`);
  };
  return {
    entity,
    stamps: stampsOf(online, entity, more, schema, recordsOf),
    recordsOf: (row) => recordsOf(rowOf(row)),
    gone,
    ...(isGone === undefined ? {} : { isGone: (row) => isGone(rowOf(row)) }),
  };
}

/** @param more a further condition @param recordsOf the records that a row is, or is a part of */
function stampsOf<Row extends Stamped>(
  { wire }: Online,
  entity: Entity,
  more: string,
  schema: z.ZodType<Row>,
  recordsOf: (row: Row) => readonly number[],
): Feed["stamps"] {
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

/*
 * Records that QuickBooks has no more, as sources tell them. Of a deleted record only its id is left: an invoice is told
 * as deleted, a party as inactive, and a person is told what nothing else tells.
 */

const goneInvoice = ({ surroundings }: Online, { id, at }: ChangedRow): Change =>
  deletedInvoice(id, "deleted", {
    party: "unknown",
    days: { date: surroundings.dayOf(at ?? surroundings.now().toISOString()) },
    words: { currency: surroundings.currency },
  });

/** Ids of those that have something to pay. @throws LedgerError */
async function openInvoices({ wire }: Online, signal: AbortSignal): Promise<number[]> {
  const of = { entity: "Invoice", schema: DocumentRow } as const;
  const ids: number[] = [];
  for await (const { rows } of listed(wire, of, ["WHERE Balance > '0'"], null, signal))
    ids.push(...rows.map(({ Id }) => Number(Id)));
  return ids;
}

/** A price is told by the item's name, which is gone with it. */
const goneItem = ({ id }: Pick<ChangedRow, "id">): string =>
  `QuickBooks has item ${id} no more: a price of it that the platform has stays there until a person changes it.`;

/** QuickBooks deletes a party only by merging it into another one: the connection stays until a person looks. */
function goneParty(kind: DocumentKind, rows: readonly ChangedRow[]): Gone {
  const codes = rows.map(({ id }) => partyCode(kind, id));
  return {
    changes: codes.map((code) => {
      const [isCustomer, isSupplier] = [kind === "invoice", kind === "bill"];
      const record = inactiveParty({ code, name: code, isCustomer, isSupplier });
      return partyChange(QUICKBOOKS.name, record);
    }),
    notices: codes.map(
      (code) =>
        `QuickBooks has ${code} no more: it was deleted, or merged into another ${kind === "invoice" ? "customer" : "vendor"}. The platform keeps its company and connection; end the connection there if it should not be used, and correct cross-references that name ${code}.`,
    ),
  };
}

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
  const change = await invoiceTeller(online, rows, payments, signal);
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
export async function invoiceTeller(
  { wire, names, surroundings, config }: Online,
  rows: readonly DocumentRow[],
  payments: readonly PaymentRow[],
  signal: AbortSignal,
): Promise<(row: DocumentRow, number: string) => Change> {
  const Id = rows.flatMap(({ CustomerRef }) => CustomerRef?.value ?? []);
  const customers = await having(wire, "Customer", PartyRow, { Id }, signal, ANY);
  const companies = new Map(customers.map((one) => [one.Id, platformIdIn(one.Notes)]));
  return (row, number) => {
    const on = payments.filter((payment) => linksOf(payment, "invoice").includes(row.Id));
    const entry = entryOf("invoice", surroundings.currency, names, row, on);
    return invoiceChange(entry, {
      id: row.Id,
      number,
      facts: entry.facts,
      lines: entry.facts.lines ?? [],
      taxItems: config.taxItems,
      salesTax: row.TxnTaxDetail?.TotalTax ?? Decimal.zero,
      total: row.TotalAmt,
      open: row.Balance,
      dueDate: row.DueDate,
      partyCompanyId: companies.get(row.CustomerRef?.value ?? "") ?? null,
    });
  };
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
