/**
 * What changed in QuickBooks: parties, customer invoices with what was paid on them, and item prices. Change data capture
 * (ADR 0017) tells the changes of all entities of a source in one call, and what was deleted. It reaches back 30 days and
 * tells at most 1,000 objects; what is older, or more, is queried by stamps, which tell no deletions: a notice says so.
 */
import type { Change, Source } from "../../src/core/contract.ts";
import { sorted } from "../../src/ledger/errors.ts";
import { SIDES as BOTH } from "../../src/ledger/port.ts";
import type { Telling } from "../../src/ledger/stamps.ts";
import type { PriceTable } from "../../src/ledger/table.ts";
import {
  deletedInvoice,
  goneNotice,
  goneParty,
  goneWithPrice,
  partyCode,
  type TellingInvoices,
  toldParty,
} from "../quickbooks/documents.ts";
import type { Element } from "../quickbooks/element.ts";
import type { Side } from "../quickbooks/text.ts";
import { type List, type Listing, walkedSource } from "../quickbooks/walk.ts";
import { linksOf } from "./documents.ts";
import {
  changedIn,
  type ChangedRow,
  CHANGES_MOST,
  type Entity,
  QUICKBOOKS,
  SIDES,
} from "./wire.ts";
import { ANY, having, nameBefore, type Online, OPEN, partyRow, walked } from "./online.ts";
import { DAY_MS } from "../../src/core/time.ts";

interface Capturing {
  readonly online: Online;
  readonly entities: readonly Entity[];
  /** Conditions of their rows. */
  readonly where?: readonly string[];
  /** What is told of these, as they are now. @throws LedgerError */
  changes(rows: readonly ChangedRow[], signal: AbortSignal): Promise<readonly Change[]>;
  /** What a person must know of one that was deleted. */
  gone?(row: ChangedRow): string;
}

/** Less than Intuit's 30 days: the two clocks may differ. */
const WINDOW_MS = 28 * DAY_MS;

function capturedList(capturing: Capturing) {
  const { online, entities, where = [] } = capturing;
  const { wire, surroundings } = online;

  /** Null: QuickBooks does not tell so far back. @throws LedgerError */
  async function captured(from: string, signal: AbortSignal) {
    const since = new Date(`${from}Z`);
    if (surroundings.now().getTime() - since.getTime() > WINDOW_MS) return null;
    try {
      return await wire.changes(entities, since.toISOString(), signal);
    } catch (error) {
      if (sorted(error, "read", QUICKBOOKS.errors).row?.sort === "data") return null;
      throw error;
    }
  }

  async function listing(from: string | null, signal: AbortSignal): Promise<Listing<ChangedRow>> {
    const told = from === null ? null : await captured(from, signal);
    if (told !== null && told.rows.length < CHANGES_MOST) {
      // Once a day, so that where nothing changes the next call does not reach too far back.
      const isOld = Date.parse(told.time) - Date.parse(`${from}Z`) > DAY_MS;
      return { rows: told.rows, until: isOld ? told.time.slice(0, 19) : undefined };
    }
    // What changes while this is read is told by the next capture.
    const until = (await wire.time(signal)).slice(0, 19);
    const rows = told?.rows.filter(({ deleted }) => deleted) ?? [];
    for (const entity of entities) {
      const all = { entity, where, stamp: "LastUpdatedTime", from } as const;
      rows.push(...(await walked(wire, all, signal)).map((row) => changedIn(entity, row)));
    }
    const notice = `QuickBooks did not tell all that changed since ${from}Z: what is there is read by its stamps, what was deleted is not told. Run fuelbridge reconcile from that day on.`;
    return { rows, until, notices: from === null ? [] : [notice] };
  }

  return {
    name: entities.join(" "),
    kind: "stamped",
    clock: "server",
    rows: listing,
    changes(ids, rows, signal) {
      const those = ids.flatMap((id) => rows.get(id) ?? []);
      return capturing.changes(those, signal);
    },
    notice: (row) => (row.deleted ? (capturing.gone?.(row) ?? null) : null),
  } satisfies List<ChangedRow>;
}

/** Ids of those that are still there. */
const idsOf = (rows: readonly ChangedRow[], of: Entity): string[] =>
  rows.flatMap(({ entity, deleted, key }) => (entity === of && !deleted ? [key] : []));

/* Customers and vendors in one source. */

const roleOf = ({ entity }: ChangedRow): Side =>
  entity === SIDES.sale.party ? "customer" : "vendor";

export const partySource = (online: Online, telling: Telling<never>): Source => {
  const list = capturedList({
    online,
    entities: BOTH.map((side) => SIDES[side].party),
    where: [ANY],
    gone: (row) => goneNotice(roleOf(row), row.key),
    async changes(rows, signal) {
      const gone = rows.filter(({ deleted }) => deleted);
      const changes = gone.map((row) =>
        goneParty(roleOf(row), row.key, partyCode(roleOf(row), row.key)),
      );
      for (const side of BOTH) {
        const { party, role } = SIDES[side];
        const Id = idsOf(rows, party);
        const found = await having(online.wire, party, { Id }, signal, [ANY]);
        changes.push(
          ...found.map(partyRow(online, side)).flatMap((row) => toldParty(role, row) ?? []),
        );
      }
      return changes;
    },
  });
  return { ...walkedSource({ ...telling, lists: [list] }), keepsIds: true };
};

/** Customer invoices. A payment changes its invoices, whether or not QuickBooks stamps these anew. */
export function invoicesChanged(online: Online, { tell, ...telling }: TellingInvoices): Source {
  const { document, payment } = SIDES.sale;
  const list = capturedList({
    online,
    entities: [document, payment],
    async changes(rows, signal) {
      const invoices = rows.filter(({ entity }) => entity === document);
      const payments = rows.filter(({ entity }) => entity === payment);
      // Nothing says which invoices a payment had paid that is gone or was changed: they are among those that are open now.
      const isGone = payments.some(({ deleted, row }) => deleted || row.text("SyncToken") !== "0");
      const open = isGone
        ? await walked(online.wire, { entity: document, where: [OPEN] }, signal)
        : [];
      const ids = [
        ...idsOf(invoices, document),
        ...payments.flatMap((row) => linksOf(row.row, "sale")),
        ...open.map((row) => row.needed("Id")),
      ];
      return [
        ...invoices.filter(({ deleted }) => deleted).map((row) => goneInvoice(online, row)),
        ...(await tell(ids, signal)),
      ];
    },
  });
  return walkedSource({ ...telling, lists: [list] });
}

/** Of a deleted record only its id is left. */
const goneInvoice = ({ surroundings }: Online, { key, row }: ChangedRow): Change => {
  const at = row.child("MetaData")?.instant("LastUpdatedTime") ?? surroundings.now().toISOString();
  return deletedInvoice(key, "deleted", {
    party: "unknown",
    days: { date: surroundings.dayOf(at) },
    words: { currency: surroundings.currency },
  });
};

/** Prices of items; an item without one (a category, a tax), or that is inactive, is none of them. */
export const priceTable = (
  online: Online,
  { list, of, unit }: NonNullable<Online["config"]["prices"]>,
): PriceTable<Element> => ({
  records: {
    changed: ({ tell, ...telling }) => {
      const items = capturedList({
        online,
        entities: ["Item"],
        where: [ANY],
        gone: ({ key }) => goneWithPrice(`item ${key}`),
        async changes(rows, signal) {
          const Id = idsOf(rows, "Item");
          const found = await having(online.wire, "Item", { Id }, signal, [ANY]);
          // Items of different categories may have one name, and one that is inactive had it.
          const Name = found.map((row) => nameBefore(row.needed("Name")));
          return tell(await having(online.wire, "Item", { Name }, signal));
        },
      });
      return walkedSource({ ...telling, lists: [items] });
    },
  },
  line(row) {
    const code = row.needed("Name");
    const isSold = of === "sales";
    const price = row.decimal(isSold ? "UnitPrice" : "PurchaseCost");
    const taxIncluded = row.yes(isSold ? "SalesTaxIncluded" : "PurchaseTaxIncluded") === true;
    if (row.yes("Active") === false || price === null || price.sign === 0) return null;
    return { list, code, name: code, unit, formula: price.text, taxIncluded };
  },
});
