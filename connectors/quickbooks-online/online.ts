/** One company's books in QuickBooks Online, as every part of this connector uses them. */
import type { Surroundings } from "../../src/core/contract.ts";
import { Refused } from "../../src/core/errors.ts";
import { inGroups } from "../../src/core/groups.ts";
import type { Scope } from "../../src/core/holdings.ts";
import { type CodeKind, inactive, openCodes } from "../../src/ledger/codes.ts";
import type { Party } from "../../src/ledger/documents.ts";
import { markOf } from "../../src/ledger/entries.ts";
import { type Entry, LedgerError, type LedgerSide } from "../../src/ledger/port.ts";
import { conditionsIn, rowsIn, unitedPages } from "../../src/ledger/stamps.ts";
import { notes } from "../../src/ledger/table.ts";
import {
  BOOKS,
  expectOwnCurrency,
  partyCode,
  type PartyList,
  partyOf,
  type PartyRow,
} from "../quickbooks/documents.ts";
import type { Element } from "../quickbooks/element.ts";
import { cut, NAME_MOST, oneLine, sameName } from "../quickbooks/text.ts";
import type { QuickbooksOnlineConfig } from "./config.ts";
import { type Entity, identityOf, SIDES, stampOf, type Wire } from "./wire.ts";

/* Names that people use in QuickBooks, and the ids behind them. */

export const ITEM = { what: "item", called: "name", entity: "Item" } as const;
export const ACCOUNT = { what: "account", called: "number or name", entity: "Account" } as const;
export const CLASS = { what: "class", called: "name", entity: "Class" } as const;
export const LOCATION = { what: "location", called: "name", entity: "Department" } as const;
export type NameKind = typeof ITEM | typeof ACCOUNT | typeof CLASS | typeof LOCATION;

interface Named {
  /** What it is called: the name, or the account's number. */
  readonly code: string;
  readonly id: string;
  readonly active: boolean;
}

export type Names = ReturnType<typeof openNames>;

const never = new AbortController().signal;

function openNames(wire: Wire, { now }: Pick<Surroundings, "now">) {
  const named = new Map<string, string>();
  const codes = openCodes<NameKind, Named>({
    books: "QuickBooks",
    now,
    async rowsOf(kind, desired) {
      const rows = await namedRows(wire, kind, desired);
      for (const { code, id } of rows) named.set(`${kind.what} ${id}`, code);
      return rows;
    },
    codeOf: (_, { code }) => code,
  });
  return {
    codes,
    /** @throws Refused when there is none, or several; LedgerError */
    id: async (kind: NameKind, code: string) => (await codes.row(kind, code)).id,
    /** The same of what is active. @throws Refused, LedgerError */
    booked: async (kind: NameKind, code: string) =>
      (await codes.booked(kind, code, await codes.row(kind, code))).id,
    /** What documents call it, where one named it; else as QuickBooks calls it. */
    codeOf: ({ what }: CodeKind, id: string, name: string | null) =>
      named.get(`${what} ${id}`) ?? nameBefore(name ?? id),
  };
}

/**
 * By name, accounts by number as well: one whose number is another's name is told twice. Case does not count. Intuit's query
 * cannot ask for a number (intuit/QuickBooks-V3-DotNET-SDK issue 163), so all accounts are read.
 */
async function namedRows(wire: Wire, kind: NameKind, desired: readonly string[]): Promise<Named[]> {
  const found = new Map<string, Named>();
  const { entity } = kind;
  const [fields, rows] =
    kind === ACCOUNT
      ? [["AcctNum", "Name"], await walked(wire, { entity, where: [ANY] }, never)]
      : [["Name"], await having(wire, entity, { Name: spelt(desired) }, never, [ANY])];
  for (const row of rows)
    for (const { name, active } of fields.map((field) => nameOf(row, field)))
      for (const code of desired.filter((one) => sameName(one, name))) {
        const id = row.needed("Id");
        found.set(JSON.stringify([code, id]), { code, id, active });
      }
  return [...found.values()];
}

export type Online = ReturnType<typeof openOnline>;

export function openOnline(config: QuickbooksOnlineConfig, surroundings: Surroundings, wire: Wire) {
  const names = openNames(wire, surroundings);
  return {
    config,
    surroundings,
    notebook: surroundings.notebook ?? notes(),
    wire,
    names,
    /** What the company has set; kept for ten minutes. @throws LedgerError */
    preferences: (signal: AbortSignal): Promise<Element> =>
      names.codes.kept({ what: "preferences" }, "", async () => {
        const [row] = await wire.query("Preferences", "", signal);
        if (row === undefined) throw new LedgerError("torn", "QuickBooks tells no preferences");
        return row;
      }),
  };
}

const unfit = (code: string, message: string): LedgerError =>
  new LedgerError("answered", message, { code });

/** @throws LedgerError when nothing may be written into this company: its code is one of wire.ts */
export async function expectFit(online: Online, signal: AbortSignal): Promise<void> {
  const preferences = await online.preferences(signal);
  const currencies = preferences.child("CurrencyPrefs");
  const home = currencies?.ref("HomeCurrency").id ?? null;
  const { currency } = online.surroundings;
  if (home !== null && home !== currency)
    throw unfit("wrong-currency", `the company keeps its books in ${home}, not in ${currency}`);
  if (currencies?.yes("MultiCurrencyEnabled") === true && online.config.multicurrency === "refuse")
    throw unfit("multicurrency", "the company uses several currencies");
  if (preferences.child("SalesFormsPrefs")?.yes("CustomTxnNumbers") !== true)
    throw unfit(
      "own-numbers",
      "QuickBooks gives invoices numbers of its own: custom transaction numbers are off",
    );
}

/* QuickBooks' tables as every part of this connector reads them. */

/** Rows of one answer: Intuit gives up to 1000. */
const PAGE = 200;
/** A page with fewer rows is the last one. One with more may have been cut short by a server that gives fewer than asked. */
const FEW = 10;
/** Values of one `IN`. */
const AMONG = 50;
/** Inactive ones as well. */
export const ANY = "Active IN (true, false)";

interface Walk {
  readonly entity: Entity;
  /** Conditions, of which all hold. */
  readonly where?: readonly string[];
  /** The order: what is made meanwhile comes last, and nothing is passed over when rows leave. Left out: `CreateTime`. */
  readonly stamp?: "CreateTime" | "LastUpdatedTime";
  /** The stamp to begin at (UTC without a zone). Left out, null: the first one. */
  readonly from?: string | null;
  /** So many there can be. Left out: nobody knows. */
  readonly most?: number;
}

/**
 * Those that have one of these values, each once: what another field has found is not asked for by its id, for each query is a
 * read that Intuit meters. @param where further conditions @throws LedgerError
 */
export async function having(
  wire: Wire,
  entity: Entity,
  { Id = [], ...fields }: Readonly<Record<string, readonly string[]>>,
  signal: AbortSignal,
  where: readonly string[] = [],
): Promise<Element[]> {
  const found = new Map<string, Element>();
  for (const [field, values] of Object.entries({ ...fields, Id })) {
    const unseen = field === "Id" ? values.filter((id) => !found.has(id)) : values;
    for (const asked of inGroups([...new Set(unseen)], AMONG)) {
      const conditions = [`${field} IN (${asked.map(quoted).join(", ")})`, ...where];
      const most = field === "Id" ? { most: asked.length } : {};
      const rows = await walked(wire, { entity, where: conditions, ...most }, signal);
      for (const row of rows) found.set(row.needed("Id"), row);
    }
  }
  return [...found.values()];
}

/** All of them. @throws LedgerError */
export const walked = (wire: Wire, list: Walk, signal: AbortSignal): Promise<Element[]> =>
  rowsIn(walk(wire, list, signal));

/** In the order of a stamp; rows of the very second that it begins at come again. @throws LedgerError */
async function* walk(
  wire: Wire,
  { entity, where = [], stamp = "CreateTime", from = null, most }: Walk,
  signal: AbortSignal,
) {
  let after = from;
  /** Rows of this second that were read: several pages may share one. */
  let start = 1;
  for (let goesOn = true; goesOn;) {
    const all =
      after === null ? where : [...where, `MetaData.${stamp} >= ${quoted(`${after}+00:00`)}`];
    const both = all.length === 0 ? "" : `WHERE ${all.join(" AND ")} `;
    const rest = `${both}ORDERBY MetaData.${stamp} STARTPOSITION ${start} MAXRESULTS ${PAGE}`;
    const rows = await wire.query(entity, rest, signal);
    goesOn = rows.length >= FEW && rows.length !== most;
    // Rows without stamps (accounts) are all of one second.
    const stamps = rows.map((row) => stampOf(row, stamp) || after);
    const last = stamps.at(-1) ?? after;
    // After a whole page that second is read again: a row of it may have left meanwhile.
    if (last === after) start += rows.length;
    else start = rows.length === PAGE ? 1 : stamps.filter((one) => one === last).length + 1;
    after = last;
    yield { rows, last };
  }
}

/** Something of it is to be paid. */
export const OPEN = "Balance > '0'";

/** Lists in pages, one after the other; the position says which list, and where in it. @param made what rows are made */
export const listed = <Row>(
  wire: Wire,
  lists: readonly Walk[],
  from: string | null,
  signal: AbortSignal,
  made: (rows: readonly Element[], entity: Entity) => Promise<readonly Row[]> | readonly Row[],
) =>
  unitedPages(
    lists.map(
      (list) =>
        async function* (start: string | null) {
          for await (const { rows, last } of walk(wire, { ...list, from: start }, signal))
            yield { rows: await made(rows, list.entity), position: last ?? "" };
        },
    ),
    from,
  );

/** An entity in a scope, for {@link listed}: each condition a walk of its own, for the query language has no OR. */
export const inScope = (entity: Entity, scope: Scope): Walk[] =>
  conditionsIn(scope, {
    dated: (from, to) => `TxnDate >= ${quoted(from)} AND TxnDate <= ${quoted(to)}`,
    changed: (since) => `MetaData.LastUpdatedTime >= ${quoted(`${since.slice(0, 19)}+00:00`)}`,
    open: OPEN,
  }).map((condition) => ({ entity, where: [condition] }));

/** A text of the query language. */
export const quoted = (text: string): string =>
  `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

/* Customers and vendors in QuickBooks Online. Documents and links call them by their ids: `C-58`, `V-77`. */

export function partyList(online: Online, side: LedgerSide): PartyList {
  const { wire, config } = online;
  const { role, party: entity } = SIDES[side];
  const all = { entity, where: [ANY] };
  const read = partyRow(online, side);
  const memory = memoryOf(online, side);
  return {
    side: role,
    id: /^\d{1,15}$/,
    namesLikeIds: true,
    most: NAME_MOST.online,
    held: oneLine,
    sameName: config.sameName,
    taken: TAKEN,
    called: ({ id }) => partyCode(role, id),
    async find({ ids: Id = [], names = [] }, signal) {
      const DisplayName = spelt(names);
      return (await having(wire, entity, { Id, DisplayName }, signal, [ANY])).map(read);
    },
    list: (from, signal) => listed(wire, [all], from, signal, (rows) => rows.map(read)),
    async notes(since, signal) {
      const changed = { ...all, stamp: "LastUpdatedTime", from: since } as const;
      return (await walked(wire, changed, signal)).map((row) => ({
        id: row.needed("Id"),
        at: stampOf(row),
        notes: read(row).notes,
      }));
    },
    async write(party, name, call) {
      // Before it is made: an answer that is lost would leave it nobody's.
      memory?.set(name, markOf(party.companyId));
      try {
        return partyCode(role, await wire.write(entity, partyBody(party, name), call));
      } catch (error) {
        if (error instanceof LedgerError && error.code === TAKEN) memory?.set(name, null);
        throw error;
      }
    },
  };
}

/** A name that another record has. */
const TAKEN = "6240";

/**
 * Intuit's interface neither keeps nor tells the notes of a vendor (issue 365 of its .NET SDK): the store remembers for which
 * company one was made, by its name until it was seen, then by its id.
 */
function memoryOf({ notebook }: Online, side: LedgerSide) {
  if (side === "sale") return null;
  const key = (name: string): string => `notes of ${SIDES[side].role} ${name}`;
  const set = (name: string, text: string | null): void => notebook.set(key(name), text);
  return {
    set,
    notesOf(id: string, name: string): string | null {
      const made = notebook.get(key(name)) ?? null;
      if (made === null) return notebook.get(key(id)) ?? null;
      set(id, made);
      // Another one may have this name from now on.
      set(name, null);
      return made;
    },
  };
}

/** What QuickBooks adds to the name of one that somebody makes inactive: another one may have the name from then on. */
const DELETED = " (deleted)";

/** As it has these names, whether they are active or not. */
const spelt = (names: readonly string[]): string[] =>
  names.flatMap((name) => [name, `${name}${DELETED}`]);

/** The name that it had, and that documents and the other side know. */
export const nameBefore = (shown: string): string =>
  shown.endsWith(DELETED) ? shown.slice(0, -DELETED.length) : shown;

function nameOf(row: Element, field: string) {
  const [shown, active] = [row.text(field) ?? "", row.yes("Active") !== false];
  return { name: active ? shown : nameBefore(shown), active };
}

export function partyRow(online: Online, side: LedgerSide) {
  const memory = memoryOf(online, side);
  return (row: Element): PartyRow => {
    const address = row.child("BillAddr");
    const at = (name: string): string | null => address?.text(name) ?? null;
    const { name, active } = nameOf(row, "DisplayName");
    return {
      ...identityOf(row),
      name,
      title: name,
      notes: row.text("Notes") ?? memory?.notesOf(row.needed("Id"), name) ?? null,
      email: row.child("PrimaryEmailAddr")?.text("Address") ?? null,
      phone: row.child("PrimaryPhone")?.text("FreeFormNumber") ?? null,
      address: address && {
        lines: ["Line1", "Line2", "Line3"].map(at),
        city: at("City"),
        state: at("CountrySubDivisionCode"),
        zip: at("PostalCode"),
        country: at("Country"),
      },
      active,
      currency: row.ref("CurrencyRef").id,
      isJob: false,
    };
  };
}

/** Members stand in the order of Intuit's schema. */
export const partyBody = ({ companyId, name }: Party, DisplayName: string): object => ({
  CompanyName: cut(oneLine(name), NAME_MOST.online),
  DisplayName,
  Notes: markOf(companyId),
});

/**
 * Its id in QuickBooks. QuickBooks would not say which party is inactive. @throws Refused when no document can be made for it,
 * LedgerError `raced` when it was made and no query shows it yet
 */
export function partyIdOf({ surroundings }: Online, side: LedgerSide, payer: Entry | null): string {
  const row = partyOf(payer);
  if (row === null)
    throw new LedgerError("answered", "the party of the document is not shown yet", {
      code: "5010",
    });
  const { id, currency, name, active } = row;
  if (!active) throw new Refused(inactive(BOOKS, { what: SIDES[side].role, called: "name" }, name));
  expectOwnCurrency(currency === surroundings.currency ? null : currency, name);
  return id;
}
