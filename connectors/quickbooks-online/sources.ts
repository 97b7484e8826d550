/** What changed in QuickBooks: parties, customer invoices with what was paid on them, and item prices. */
import type { Change, Page, Reading, Source } from "../../src/core/contract.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import type { Json } from "../../src/core/json.ts";
import { numberTwice, partyChange } from "../../src/ledger/entries.ts";
import { sorted, unavailable } from "../../src/ledger/errors.ts";
import type { LedgerSide } from "../../src/ledger/port.ts";
import { type Mark, type StampFeed, stampSource } from "../../src/ledger/stamps.ts";
import type { PriceTable, Telling } from "../../src/ledger/table.ts";
import { deletedInvoice } from "../quickbooks/lines.ts";
import { goneParty, partyRecord } from "../quickbooks/parties.ts";
import { memoIn } from "../quickbooks/text.ts";
import { type InvoiceRow, linksOf, unknownLine, wholeRows } from "./documents.ts";
import { QUICKBOOKS } from "./errors.ts";
import type { Online } from "./online.ts";
import { ANY, having, OPEN, walk } from "./queries.ts";
import {
  BOTH,
  type Entity,
  isVoided,
  ItemRow,
  partyCode,
  type PartyRow,
  PayingRow,
  SIDES,
  stampOf,
} from "./rows.ts";
import { type Changed, type ChangedRow, CHANGES_MOST } from "./wire.ts";

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

type Captured = Pick<PayingRow, "Id" | "Line" | "PrivateNote" | "TotalAmt">;

/** An entity whose changes are changes of a source's records. */
interface Feed {
  readonly entity: Entity;
  /** Conditions of its rows. */
  readonly where: readonly string[];
  /** The records that a row is, or is a part of. */
  records(row: Captured): readonly number[];
  /** Of rows that were deleted. @throws LedgerError */
  gone(rows: readonly ChangedRow[], signal: AbortSignal): Gone | Promise<Gone>;
  /** Is a row that is still there to be treated as a deleted one as well? Left out: never. */
  isGone?(row: Captured): boolean;
}

/** Stored with the flow, beside the marks of the walks by stamps. */
interface Position {
  /** Everything up to `at` (QuickBooks' clock, UTC) was told; of the last minutes before it, `told` has what. */
  readonly cdc?: { readonly at: string; readonly told: readonly string[] };
  /** A walk by stamps is under way that began at this instant of QuickBooks' clock. */
  readonly begun?: string;
  readonly [feed: string]: unknown;
}

const DAY_MS = 86_400_000;
/** Less than Intuit's 30 days: the two clocks may differ. */
const WINDOW_MS = 28 * DAY_MS;
/** A row may be shown some time after its stamp: so much is asked for again. */
const OVERLAP_MS = 10 * 60_000;
const PAGE_RECORDS = 100;

interface Walking {
  readonly online: Online;
  readonly feeds: readonly Feed[];
  /** Records as they are now. @throws LedgerError */
  readonly details: (records: readonly number[], signal: AbortSignal) => Promise<Change[]>;
}

function changeSource(walking: Walking): Source {
  const { online, feeds, details } = walking;
  const byStamps = stampSource({
    feeds: feeds.map((feed) => stampsOf(online, feed)),
    details,
    now: () => online.surroundings.now(),
    unavailable: (error) => unavailable(error, QUICKBOOKS),
  });
  return {
    async *read(from, reading) {
      try {
        yield* readOn(walking, (from ?? {}) as unknown as Position, byStamps, reading);
      } catch (error) {
        if (error instanceof SourceUnavailable) throw error;
        const told = unavailable(error, QUICKBOOKS);
        if (!reading.signal.aborted) throw told;
      }
    },
  };
}

async function* readOn(
  walking: Walking,
  position: Position,
  byStamps: Source,
  reading: Reading,
): AsyncGenerator<Page> {
  const { feeds, details, online } = walking;
  const { signal } = reading;
  const { cdc, begun, ...marks } = position;
  if (signal.aborted) return;
  if (cdc === undefined || begun !== undefined) {
    const start = begun ?? (await online.wire.time(signal));
    return yield* walked(byStamps, { ...marks, begun: start }, reading);
  }
  const told = await capture(walking, cdc.at, signal);
  const isWhole = told !== null && told.rows.length < CHANGES_MOST;
  const before = new Set(isWhole ? cdc.told : []);
  const fresh = (told?.rows ?? []).filter((row) => !before.has(keyOf(row)));
  const age = Date.parse(told?.time ?? cdc.at) - Date.parse(cdc.at);
  if (isWhole && fresh.length === 0 && age < DAY_MS) return;
  const gone = await goneIn(feeds, fresh, signal);
  const there = isWhole ? fresh.filter(({ deleted }) => !deleted) : [];
  const records = there.flatMap((row) =>
    feeds.filter(({ entity }) => entity === row.entity).flatMap((feed) => feed.records(row)),
  );
  const all = [...new Set([...records, ...gone.records])];
  for (let at = 0; at < all.length && !signal.aborted; at += PAGE_RECORDS)
    yield pageOf(position, await details(all.slice(at, at + PAGE_RECORDS), signal));
  if (signal.aborted) return;
  if (isWhole) {
    // What may come again in the next answer.
    const late = new Date(Date.parse(told.time) - OVERLAP_MS);
    const again = told.rows.filter(({ at }) => at === null || new Date(at) >= late).map(keyOf);
    const next = { ...position, cdc: { at: told.time, told: again } };
    return yield pageOf(next, gone.changes, gone.notices);
  }
  // All up to `cdc.at` was told: the walk begins there.
  const mark: Mark = { since: stampOf(cdc.at), seenAt: null, settled: false, walk: null };
  const next: Position = {
    ...Object.fromEntries(feeds.map(({ entity }) => [entity, mark])),
    begun: told?.time ?? (await online.wire.time(signal)),
  };
  const notice = `QuickBooks did not tell all that changed since ${cdc.at}: what is there is read by its stamps, what was deleted is not told. Run fuelbridge reconcile from that day on.`;
  yield pageOf(next, gone.changes, [...gone.notices, notice]);
  yield* walked(byStamps, next, reading);
}

/** By stamps, from the beginning or from a mark. What changes meanwhile is told by the next capture. */
async function* walked(byStamps: Source, start: Position, reading: Reading): AsyncGenerator<Page> {
  let last: Position = start;
  for await (const page of byStamps.read(start as unknown as Json, reading)) {
    last = page.position as unknown as Position;
    yield page;
  }
  if (reading.signal.aborted) return;
  const { begun, ...marks } = last;
  yield pageOf({ ...marks, cdc: { at: begun ?? "", told: [] } });
}

/** Null: QuickBooks does not tell so far back. @throws LedgerError */
async function capture(
  { online, feeds }: Walking,
  at: string,
  signal: AbortSignal,
): Promise<Changed | null> {
  if (online.surroundings.now().getTime() - Date.parse(at) > WINDOW_MS) return null;
  const since = new Date(Date.parse(at) - OVERLAP_MS).toISOString();
  const entities = feeds.map(({ entity }) => entity);
  try {
    return await online.wire.changes(entities, since, signal);
  } catch (error) {
    if (sorted(error, "read", QUICKBOOKS.errors).sort === "data") return null;
    throw error;
  }
}

const keyOf = ({ entity, Id, deleted, SyncToken, at }: ChangedRow): string =>
  `${entity} ${Id} ${deleted ? "deleted" : SyncToken} ${at ?? ""}`.trim();

/** Of deleted rows, and of those that count as deleted. @throws LedgerError */
async function goneIn(
  feeds: readonly Feed[],
  rows: readonly ChangedRow[],
  signal: AbortSignal,
): Promise<Required<Gone>> {
  const all: Gone[] = [];
  for (const feed of feeds) {
    const own = rows.filter(({ entity }) => entity === feed.entity);
    const gone = own.filter((row) => row.deleted || feed.isGone?.(row) === true);
    if (gone.length > 0) all.push(await feed.gone(gone, signal));
  }
  return {
    changes: all.flatMap(({ changes = [] }) => changes),
    records: all.flatMap(({ records = [] }) => records),
    notices: all.flatMap(({ notices = [] }) => notices),
  };
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

/** An entity's rows in the order of their last change. */
function stampsOf({ wire }: Pick<Online, "wire">, feed: Feed): StampFeed {
  const { entity, where } = feed;
  return {
    name: entity,
    once: true,
    async newest(signal) {
      const conditions = where.length === 0 ? "" : `WHERE ${where.join(" AND ")} `;
      const order = "ORDERBY MetaData.LastUpdatedTime DESC STARTPOSITION 1 MAXRESULTS 1";
      const [row] = await wire.query(entity, `${conditions}${order}`, PayingRow, signal);
      return row === undefined ? null : stampOf(row.MetaData.LastUpdatedTime);
    },
    async page(after, until, most, signal) {
      const second = after.at.slice(0, 19);
      const rows = new Map<string, { at: string; id: number; record: number }>();
      const stamp = "LastUpdatedTime";
      const all = { entity, schema: PayingRow, where, stamp, from: `${second}+00:00` } as const;
      for await (const page of walk(wire, all, signal)) {
        for (const row of page.rows) {
          const place = { at: stampOf(row.MetaData.LastUpdatedTime), id: Number(row.Id) };
          const isAfter = place.at > second || (place.at === second && place.id > after.id);
          if (isAfter && place.at <= until)
            for (const record of feed.records(row))
              rows.set(`${row.Id} ${record}`, { ...place, record });
        }
        // Rows of the last second may not all be here yet.
        const last = page.last === null ? "" : stampOf(page.last);
        if (last > until || [...rows.values()].filter(({ at }) => at < last).length >= most) break;
      }
      const inOrder = [...rows.values()].toSorted(
        (one, other) => Number(one.at > other.at) - Number(one.at < other.at) || one.id - other.id,
      );
      return inOrder.slice(0, most);
    },
  };
}

/* Customers and vendors in one source: a record is twice its id, and one more for a vendor. */

export const partySource = (online: Online): Source =>
  changeSource({
    online,
    feeds: BOTH.map((side, at) => ({
      entity: SIDES[side].party.entity,
      where: [ANY],
      records: ({ Id }) => [Number(Id) * 2 + at],
      gone: (rows) => goneParties(side, rows),
    })),
    async details(records, signal) {
      const changes: Change[] = [];
      for (const [at, side] of BOTH.entries()) {
        const own = records.filter((record) => record % 2 === at);
        const Id = own.map((record) => String((record - at) / 2));
        const rows = await having(online.wire, SIDES[side].party, { Id }, signal, [ANY]);
        changes.push(...rows.map((row) => changeOf(side, row)));
      }
      return changes;
    },
  });

/** QuickBooks deletes a party only by merging it into another one: the connection stays until a person looks. */
function goneParties(side: LedgerSide, rows: readonly ChangedRow[]): Gone {
  const { role } = SIDES[side];
  const codes = rows.map(({ Id }) => partyCode(side, Id));
  return {
    changes: codes.map((code) => partyChange(QUICKBOOKS.name, goneParty(role, code, code))),
    notices: codes.map(
      (code) =>
        `QuickBooks has ${code} no more: it was deleted, or merged into another ${role}. The platform keeps its company and connection; end the connection there if it should not be used, and correct cross-references that name ${code}.`,
    ),
  };
}

/** Every customer and vendor as it is now, inactive ones too. @throws LedgerError */
export async function* everyParty(
  { wire }: Online,
  signal: AbortSignal,
): AsyncGenerator<readonly Change[]> {
  for (const side of BOTH)
    for await (const { rows } of walk(wire, { ...SIDES[side].party, where: [ANY] }, signal))
      yield rows.map((row) => changeOf(side, row));
}

function changeOf(side: LedgerSide, row: PartyRow): Change {
  const at = row.BillAddr ?? null;
  const record = partyRecord({
    side: SIDES[side].role,
    code: partyCode(side, row.Id),
    name: row.DisplayName ?? "",
    notes: row.Notes,
    email: row.PrimaryEmailAddr?.Address ?? null,
    phone: row.PrimaryPhone?.FreeFormNumber ?? null,
    address: at && {
      lines: [at.Line1, at.Line2, at.Line3],
      city: at.City,
      state: at.CountrySubDivisionCode,
      zip: at.PostalCode,
      country: at.Country,
    },
    active: row.Active,
  });
  return partyChange(QUICKBOOKS.name, record);
}

/** Customer invoices. A payment changes its invoices, whether or not QuickBooks stamps these anew. */
export const invoicesChanged =
  (online: Online, { withFaults }: { readonly withFaults: boolean }) =>
  ({ tell }: Telling<InvoiceRow>): Source =>
    changeSource({
      online,
      feeds: [
        {
          entity: SIDES.sale.document.entity,
          where: [],
          records: ({ Id }) => [Number(Id)],
          gone: (rows) => ({ changes: rows.map((row) => goneInvoice(online, row)) }),
        },
        {
          entity: SIDES.sale.payment.entity,
          where: [],
          records: (row) => linksOf(row, "sale").map(Number),
          // Nothing says which invoices it had paid: they are among those that are open now.
          gone: async (_, signal) => ({ records: await openInvoices(online, signal) }),
          isGone: isVoided,
        },
      ],
      async details(records, signal) {
        const Id = records.map(String);
        const rows = await having(online.wire, SIDES.sale.document, { Id }, signal);
        const whole = await wholeRows(online, "sale", rows, signal);
        return tell(withFaults ? await withFaultsOf(online, whole, signal) : whole);
      },
    });

/** Of a deleted record only its id is left. */
const goneInvoice = ({ surroundings }: Online, { Id, at }: ChangedRow): Change =>
  deletedInvoice(Id, "deleted", {
    party: "unknown",
    days: { date: surroundings.dayOf(at ?? surroundings.now().toISOString()) },
    words: { currency: surroundings.currency },
  });

/** Ids of those that have something to pay. @throws LedgerError */
async function openInvoices({ wire }: Online, signal: AbortSignal): Promise<number[]> {
  const table = { ...SIDES.sale.document, where: [OPEN] };
  const ids: number[] = [];
  for await (const { rows } of walk(wire, table, signal))
    ids.push(...rows.map(({ Id }) => Number(Id)));
  return ids;
}

/** Of those that people made: QuickBooks takes a number twice, and knows lines that we do not. @throws LedgerError */
async function withFaultsOf(
  { wire }: Online,
  rows: readonly InvoiceRow[],
  signal: AbortSignal,
): Promise<InvoiceRow[]> {
  const made = rows.filter((row) => !isVoided(row) && memoIn(row.PrivateNote) === null);
  const DocNumber = made.flatMap((row) => row.DocNumber ?? []);
  const all = await having(wire, SIDES.sale.document, { DocNumber }, signal);
  const others = all.filter((row) => !isVoided(row));
  return rows.map((row) => {
    const { Id, DocNumber: number } = row;
    if (!made.includes(row)) return row;
    const isTwice = others.some((one) => one.Id !== Id && one.DocNumber === number);
    const fault =
      number !== null && isTwice ? numberTwice(QUICKBOOKS.name, number) : unknownLine(row);
    return fault === null ? row : { ...row, fault };
  });
}

/** Prices of items; an item without one (a category, a tax) is none of them. */
export const priceTable = (
  online: Online,
  { list, of, unit }: NonNullable<Online["config"]["prices"]>,
): PriceTable<ItemRow> => ({
  records: {
    changed: ({ tell }) =>
      changeSource({
        online,
        feeds: [
          {
            entity: "Item",
            where: [ANY],
            records: ({ Id }) => [Number(Id)],
            // A price is told by the item's name, which is gone with it.
            gone: (rows) => ({
              notices: rows.map(
                ({ Id }) =>
                  `QuickBooks has item ${Id} no more: a price of it that the platform has stays there until a person changes it.`,
              ),
            }),
          },
        ],
        async details(records, signal) {
          const table = { entity: "Item", schema: ItemRow } as const;
          const rows = await having(online.wire, table, { Id: records.map(String) }, signal);
          // Items of different categories may have one name.
          const Name = [...new Set(rows.map((row) => row.Name))];
          return tell(await having(online.wire, table, { Name }, signal));
        },
      }),
  },
  line({ Name: code, UnitPrice, PurchaseCost }) {
    const price = of === "sales" ? UnitPrice : PurchaseCost;
    if (price === null || price.sign === 0) return null;
    return { list, code, name: code, unit, formula: price.text, byQuantity: false };
  },
});
