/** Customers and vendors: a document's party by its name, else by the platform's id in its notes, else created. */
import type { Change } from "../../src/core/contract.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Party } from "../../src/ledger/documents.ts";
import { partiesOnce, partyChange, partyFacts } from "../../src/ledger/entries.ts";
import { markOf, platformIdIn } from "../../src/ledger/notes.ts";
import type { Desired } from "../../src/ledger/port.ts";
import type { Table } from "../../src/ledger/table.ts";
import { createUnderName, goneParty as goneRecord, partyRecord } from "../quickbooks/parties.ts";
import { ascii, NAME_MOST, sameName, type Side } from "../quickbooks/text.ts";
import type { DesktopConfig } from "./config.ts";
import type { Element, Values } from "./qbxml.ts";
import {
  allOf,
  type Asked,
  byListId,
  guidOf,
  heldText,
  named,
  pages,
  recordsOf,
  written,
} from "./records.ts";
import { AHEAD_MS, stampBefore, stampOf } from "./walk.ts";
import type { Wire } from "./wire.ts";

type AskedInSession = Asked & Partial<Pick<Wire, "session">>;

/** What people call it in a message. */
export const BOOKS = "QuickBooks";

/** As QuickBooks calls both. */
export const PARTIES = {
  customer: { table: "Customer", letter: "C", address: "BillAddress" },
  vendor: { table: "Vendor", letter: "V", address: "VendorAddress" },
} as const;
export const SIDES = ["customer", "vendor"] as const;

/* Sources and links call them by ids, which no rename changes. */

/** `C-80000001-1699900000`. */
export const partyCode = (side: Side, listId: string): string =>
  `${PARTIES[side].letter}-${listId}`;

/** The ListID in a code of that side; null: it is a name. */
function listIdIn(side: Side, code: string): string | null {
  const [, letter, id = ""] = /^([CV])-([0-9A-F]{1,8}-\d{1,10})$/.exec(code) ?? [];
  return letter === PARTIES[side].letter ? id : null;
}

const MOST = NAME_MOST.desktop;
const FIELDS = ["ListID", "EditSequence", "Name", "FullName", "IsActive", "CompanyName", "Notes"];

interface Kept {
  readonly code: string;
  readonly name: string | null;
}
interface PartyRow extends Kept {
  readonly row: Element;
  readonly number: string;
  readonly mark: string | null;
}

/** The party of a document that is made. */
export function partyRef({ party, payer }: Pick<Desired, "party" | "payer">): Values {
  const ListID = (payer?.native as PartyRow | undefined)?.row.text("ListID") ?? null;
  return ListID === null ? { FullName: party } : { ListID };
}

export function partyTable(
  wire: AskedInSession,
  { sameName: policy, terms }: Pick<DesktopConfig, "sameName" | "terms">,
  side: Side,
  now: () => Date,
): Table<"party", Kept, PartyRow> {
  const { table } = PARTIES[side];
  const [query, add] = [`${table}Query`, `${table}Add`];
  const withNames = async (names: readonly string[], signal: AbortSignal): Promise<Element[]> => {
    const values = { FullName: names, IncludeRetElement: FIELDS };
    return await recordsOf(wire, names.length === 0 ? [] : [{ name: query, values }], signal);
  };
  const marked = markedIn(wire, query, now);
  return {
    ...partiesOnce(["posted", "cancelled"], 1),
    write: ({ code, name }: Party) => ({ code, name: heldText(name, MOST) }),
    facts: ({ code, name }) => partyFacts(code, name),
    read: ({ row, number, mark }) => ({
      id: fullName(row),
      mark,
      number,
      status: row.yes("IsActive") === false ? "cancelled" : "posted",
      version: row.text("EditSequence"),
    }),
    tell: ({ native }) => toldParty(side, native.row),
    records: {
      async search({ desired = [] }, { signal }) {
        const codes = desired.map(({ number }) => number);
        const known = await linked(wire, side, desired, signal);
        const names = codes.filter((code) => listIdIn(side, code) === null).map(queryable);
        // A company file names without regard to case; a site's table need not.
        const found = (await withNames(names, signal)).map((row) => rowOf(row, codes));
        const missing = desired.filter(
          ({ number, mark }) =>
            ![...known, ...found].some((one) => one.number === number) &&
            !known.some((one) => one.mark === mark),
        );
        const marks = missing.map(({ mark }) => mark);
        const others = marks.length === 0 ? [] : await marked(marks, signal);
        return [...known, ...found, ...others.map((row) => rowOf(row, codes))];
      },
      async *list(_scope, from, signal) {
        const lists = [{ name: query, values: { ActiveStatus: "All" } }];
        for await (const { rets, position } of pages(wire, lists, from, signal))
          yield { rows: rets.map((row) => rowOf(row, [])), position };
      },
      async create([one], { signal }) {
        if (one === undefined) return [];
        const { mark, document } = one.desired;
        if (listIdIn(side, document.code) !== null) throw goneFrom(side, document);
        return createUnderName({
          side,
          code: document.code,
          most: MOST,
          held: ascii,
          policy,
          taken: "3100",
          async there(name) {
            const [row] = await withNames([name], signal);
            return row === undefined ? null : [fullName(row)];
          },
          async write(Name) {
            const content = {
              Name,
              CompanyName: one.values.name,
              TermsRef: named(terms[side]),
              Notes: markOf(mark),
              ExternalGUID: guidOf(mark),
            };
            return [fullName(await written(wire, add, content, signal))];
          },
        });
      },
    },
  };
}

/** Those that links call by an id: sources told of them. Documents name them as they are called now. @throws LedgerError */
async function linked(
  wire: Asked,
  side: Side,
  desired: readonly Desired<"party">[],
  signal: AbortSignal,
): Promise<PartyRow[]> {
  const ids = desired.flatMap(({ number }) => listIdIn(side, number) ?? []);
  const more = { IncludeRetElement: FIELDS };
  const rows = await byListId(wire, `${PARTIES[side].table}Query`, ids, signal, more);
  return desired.flatMap(({ number, mark }) =>
    rows
      .filter((row) => row.text("ListID") === listIdIn(side, number))
      .map((row) => {
        const isOfAnother = (markIn(row) ?? mark) !== mark;
        return { ...rowOf(row, []), ...(isOfAnother ? { number } : { mark }) };
      }),
  );
}

const goneFrom = (side: Side, { code, name, companyId }: Party): Refused =>
  new Refused({
    code: "party-gone",
    message: `the ${side} ${code} (${name}) is not in QuickBooks any more: it was deleted or merged`,
    next: `Write ${markOf(companyId)} into the notes of the ${side} in QuickBooks that counts now; then retry.`,
    field: "party",
  });

const markIn = (row: Element): string | null => platformIdIn(row.text("Notes"));
const fullName = (row: Element): string => row.text("FullName") ?? row.needed("Name");

/** A name that QuickBooks can be asked for: it refuses longer ones. */
const queryable = (code: string): string => ascii(code).slice(0, 209) || "?";

function rowOf(row: Element, codes: readonly string[]): PartyRow {
  const name = fullName(row);
  const code = codes.find((one) => sameName(one, name)) ?? name;
  return { row, code, number: code, mark: markIn(row), name: row.text("CompanyName") };
}

/* As sources tell them. */

/** Null: a job, whose invoices are its customer's. */
export function toldParty(side: Side, row: Element): Change | null {
  if (row.child("ParentRef") !== null) return null;
  const address = row.child(PARTIES[side].address);
  const at = (name: string): string | null => address?.text(name) ?? null;
  const names = ["Name", "FullName", "CompanyName"].map((name) => row.text(name)?.toLowerCase());
  // QuickBooks writes the name into the first line of an address.
  const lines = ["Addr1", "Addr2", "Addr3"]
    .flatMap((name) => at(name) ?? [])
    .filter((line) => !names.includes(line.toLowerCase()));
  const record = partyRecord({
    side,
    code: partyCode(side, row.needed("ListID")),
    name: row.text("CompanyName") ?? row.needed("Name"),
    notes: row.text("Notes"),
    email: row.text("Email"),
    phone: row.text("Phone"),
    address: address && {
      lines,
      city: at("City"),
      state: at("State"),
      zip: at("PostalCode"),
      country: at("Country"),
    },
    active: row.yes("IsActive") !== false,
  });
  return partyChange(BOOKS, record);
}

/** One that was deleted, of which its code and at most a name are left: it is told as inactive. */
export const goneParty = (side: Side, id: string, name: string | null): Change =>
  partyChange(BOOKS, goneRecord(side, partyCode(side, id), name ?? "(deleted)"));

/*
 * Customers, or vendors, by the platform's id in their notes, which QuickBooks cannot be asked for (ADR 0017). In each
 * session all of them are read once; after that, those that have changed since.
 */

/** What is known of one list. */
interface Index {
  /** The session in which all of it was read: in the next one, the company file may be a restored one. */
  readonly session: number | undefined;
  /** By our clock, ms. */
  readonly readAt: number;
  /** The greatest stamp there was; empty: there was none. */
  newest: string;
  /** By ListIDs. */
  readonly marks: Map<string, string | null>;
}
/** Machines of one company file stamp by clocks of their own. */
const OVERLAP_MS = 10 * 60_000;
/** All is read again after so long: when summer time ends, stamps go back by an hour. */
const KEPT_MS = 3_600_000;

/** Finds records by their marks, as they are when they are found. */
function markedIn(
  wire: AskedInSession,
  name: string,
  now: () => Date,
): (marks: readonly string[], signal: AbortSignal) => Promise<Element[]> {
  let index: Index | null = null;
  return async (marks, signal) => {
    const nowMs = now().getTime();
    const { session } = wire;
    const isGood =
      index !== null &&
      index.session === session &&
      index.newest !== "" &&
      Math.abs(nowMs - index.readAt) < KEPT_MS &&
      // A record that was stamped by a clock which was ahead would hide what changes now.
      Date.parse(`${index.newest}Z`) <= nowMs + AHEAD_MS;
    const known: Index =
      index !== null && isGood ? index : { session, readAt: nowMs, newest: "", marks: new Map() };
    const values = {
      ActiveStatus: "All",
      FromModifiedDate: isGood ? stampBefore(known.newest, OVERLAP_MS) : null,
      IncludeRetElement: ["ListID", "TimeModified", "Notes"],
    };
    for (const row of await allOf(wire, { name, values }, signal)) {
      known.marks.set(row.needed("ListID"), markIn(row));
      const stamp = stampOf(row, "TimeModified");
      if (stamp > known.newest) known.newest = stamp;
    }
    index = known;
    const ids = [...known.marks].filter(([, mark]) => mark !== null && marks.includes(mark));
    const found = ids.map(([id]) => id);
    const rows = await byListId(wire, name, found, signal, { IncludeRetElement: FIELDS });
    // One that was deleted or whose notes were changed meanwhile is not it any more.
    return rows.filter((row) => marks.includes(markIn(row) ?? ""));
  };
}
