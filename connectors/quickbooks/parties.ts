/**
 * Customers and vendors of both QuickBooks: a document's party is found by its name or its id, else by the platform's id in
 * its notes, else it is created. How one is read and written is each connector's {@link PartyList}.
 */
import type { Change } from "../../src/core/contract.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Party } from "../../src/ledger/documents.ts";
import { partiesOnce, partyChange, partyFacts, some } from "../../src/ledger/entries.ts";
import { markOf, platformIdIn } from "../../src/ledger/notes.ts";
import {
  type Call,
  type Desired,
  type Entry,
  LedgerError,
  type RowPage,
} from "../../src/ledger/port.ts";
import type { Table } from "../../src/ledger/table.ts";
import { partyName, sameName, type Side, suffixed } from "./text.ts";
import { AHEAD_MS, stampBefore } from "./walk.ts";

/** What people call it in a message. */
export const BOOKS = "QuickBooks";

/** A customer or vendor as QuickBooks has it. */
export interface PartyRow {
  /** QuickBooks' own, which no rename changes: `58`, `80000001-1699900000`. */
  readonly id: string;
  /** No other one of its list has it. */
  readonly name: string;
  /** As the platform is told it. */
  readonly title: string;
  /** With the platform's id of the company, where it came from there. */
  readonly notes: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  /** Null: it has no address. */
  readonly address: {
    readonly lines: readonly (string | null | undefined)[];
    readonly city: string | null;
    readonly state: string | null;
    readonly zip: string | null;
    readonly country: string | null;
  } | null;
  readonly active: boolean;
  readonly version: string | null;
  /** Null: the company's own, or it does not say. */
  readonly currency: string | null;
  /** A job: its invoices are its customer's, and it is not told. */
  readonly isJob: boolean;
}

/** A list of customers or vendors. Every method @throws LedgerError */
export interface PartyList {
  readonly side: Side;
  /** What is an id of QuickBooks in a code. */
  readonly id: RegExp;
  /** A site's own name of a party may look like such a code: `V-2001`. Left out: none does. */
  readonly namesLikeIds?: true;
  /** Characters of a name, and how these books change text. */
  readonly most: number;
  readonly held: (text: string) => string;
  /** What is done when another list has the name. */
  readonly sameName: "refuse" | "suffix";
  /** QuickBooks' code for a name that is taken. */
  readonly taken: string;
  /** What documents call it. */
  called(row: PartyRow): string;
  find(
    names: { readonly ids?: readonly string[]; readonly names?: readonly string[] },
    signal: AbortSignal,
  ): Promise<PartyRow[]>;
  list(from: string | null, signal: AbortSignal): AsyncIterable<RowPage<PartyRow>>;
  /** Notes of all that changed at or after a stamp (null: of all), each with its id and its stamp. */
  notes(since: string | null, signal: AbortSignal): Promise<readonly Noted[]>;
  /** Makes it. What documents call it. */
  write(party: Party, name: string, call: Call): Promise<string>;
  /** Which session of QuickBooks this is: in the next one the company may be a restored one. Left out: all are one. */
  session?(): number | undefined;
}

interface Noted {
  readonly id: string;
  readonly at: string;
  readonly notes: string | null;
}

/** One that documents are about. */
interface FoundParty {
  readonly row: PartyRow;
  readonly name: string;
  /** What documents call it. */
  readonly code: string;
  readonly mark: string | null;
}

const LETTERS: Readonly<Record<Side, string>> = { customer: "C", vendor: "V" };

/** As sources and links call it: `C-58`; a vendor is `V-77`. */
export const partyCode = (side: Side, id: string): string => `${LETTERS[side]}-${id}`;

/** QuickBooks' own id in such a code; null: the code is a name. */
function idIn({ side, id: pattern }: PartyList, code: string): string | null {
  const id = code.slice(2);
  return code === partyCode(side, id) && pattern.test(id) ? id : null;
}

/** QuickBooks' record of a document's party; null: it is not there. */
export const partyOf = (payer: Entry | null | undefined): PartyRow | null =>
  (payer?.native as FoundParty | undefined)?.row ?? null;

export function partyTable(
  list: PartyList,
  now: () => Date,
): Table<"party", Pick<FoundParty, "code" | "name">, FoundParty> {
  const { side } = list;
  const marked = markedIn(list, now);
  const found = (
    row: PartyRow,
    code = list.called(row),
    mark = platformIdIn(row.notes),
  ): FoundParty => ({
    row,
    name: row.name,
    code,
    mark,
  });

  /** What of these may be it: by its id, by the platform's id, or by its name. One of another company keeps its code. */
  function foundFor(
    { mark, number: code }: Desired<"party">,
    rows: readonly PartyRow[],
  ): FoundParty[] {
    const [id, name] = [idIn(list, code), (row: PartyRow): boolean => sameName(row.name, code)];
    const those = rows.filter(
      (row) => row.id === id || name(row) || platformIdIn(row.notes) === mark,
    );
    const isSure = (row: PartyRow): boolean => row.id === id || platformIdIn(row.notes) === mark;
    const hasSure = those.some(isSure);
    return those.map((row) => {
      const own = platformIdIn(row.notes) ?? mark;
      if (own !== mark) return found(row, code, own);
      // A name counts where nothing else says which one it is.
      return isSure(row) || !hasSure ? found(row, list.called(row), mark) : found(row, code, null);
    });
  }

  return {
    ...partiesOnce(["posted", "cancelled"], 1),
    write: ({ code }: Party) => ({ code, name: code }),
    facts: ({ code, name }) => partyFacts(code, name),
    read: ({ row, code, mark }) => ({
      id: list.called(row),
      mark,
      number: code,
      status: row.active ? "posted" : "cancelled",
      version: row.version,
    }),
    tell: ({ native }) => toldParty(side, native.row),
    records: {
      async search({ desired = [] }, { signal }) {
        const codes = desired.map(({ number }) => number);
        const ids = codes.flatMap((code) => idIn(list, code) ?? []);
        const names = codes.filter((code) => list.namesLikeIds || idIn(list, code) === null);
        const named = await list.find({ ids, names }, signal);
        const absent = desired.filter((one) => foundFor(one, named).length === 0);
        const marks = absent.map(({ mark }) => mark);
        const rows = marks.length === 0 ? named : [...named, ...(await marked(marks, signal))];
        const each = [...new Map(rows.map((row) => [row.id, row])).values()];
        return desired.flatMap((one) => foundFor(one, each));
      },
      async *list(_scope, from, signal) {
        for await (const { rows, ...page } of list.list(from, signal))
          yield { ...page, rows: rows.map((row) => found(row)) };
      },
      create: ({ desired }, call) => create(list, desired.document, call),
    },
  };
}

/** Under its code, else under the code with the suffix of its list. @throws Refused, LedgerError */
async function create(list: PartyList, party: Party, call: Call): Promise<string> {
  const { side, most } = list;
  const { code } = party;
  if (list.namesLikeIds === undefined && idIn(list, code) !== null)
    throw new Refused({
      code: "party-gone",
      message: `the ${side} ${code} (${party.name}) is not in QuickBooks any more: it was deleted or merged`,
      next: `Write ${markOf(party.companyId)} into the notes of the ${side} in QuickBooks that counts now; then retry.`,
      field: "party",
    });
  const name = partyName(code, most, list.held);
  try {
    return await list.write(party, name, call);
  } catch (error) {
    if (!(error instanceof LedgerError) || error.code !== list.taken) throw error;
    // Somebody was faster.
    const [there] = await list.find({ names: [name] }, call.signal);
    if (there !== undefined) return list.called(there);
    const other = suffixed(name, side, most);
    if (list.sameName === "suffix") return await list.write(party, other, call);
    throw new Refused({
      code: "name-taken",
      message: `QuickBooks has the name ${JSON.stringify(name)} in another list, so no ${side} can have it`,
      next: `Give the company another code in the cross-reference (${other}), or rename the other one in QuickBooks; or set sameName: suffix. Then retry.`,
      field: "party",
    });
  }
}

/*
 * By the platform's id in their notes, which QuickBooks cannot be asked for (ADR 0017). In each session all of a list are
 * read once; after that, those that have changed since.
 */

/** Machines of one company file stamp by clocks of their own. */
const OVERLAP_MS = 10 * 60_000;
/** All is read again after so long: when summer time ends, stamps go back by an hour. */
const KEPT_MS = 3_600_000;

/** What is known of one list: the greatest stamp there was (empty: none), and marks by QuickBooks' ids. @param readAt by our clock, ms */
const emptyIndex = (session: number | undefined, readAt: number) => ({
  session,
  readAt,
  newest: "",
  marks: new Map<string, string | null>(),
});

/** Finds parties by their marks, as they are when they are found. */
function markedIn(list: PartyList, now: () => Date) {
  let known = emptyIndex(undefined, 0);
  return async (marks: readonly string[], signal: AbortSignal): Promise<PartyRow[]> => {
    const nowMs = now().getTime();
    const session = list.session?.();
    const isGood =
      known.session === session &&
      known.newest !== "" &&
      Math.abs(nowMs - known.readAt) < KEPT_MS &&
      // A record that was stamped by a clock which was ahead would hide what changes now.
      Date.parse(`${known.newest}Z`) <= nowMs + AHEAD_MS;
    if (!isGood) known = emptyIndex(session, nowMs);
    const since = isGood ? stampBefore(known.newest, OVERLAP_MS) : null;
    for (const { id, at, notes } of await list.notes(since, signal)) {
      known.marks.set(id, platformIdIn(notes));
      if (at > known.newest) known.newest = at;
    }
    const ids = [...known.marks].flatMap(([id, mark]) =>
      mark !== null && marks.includes(mark) ? [id] : [],
    );
    // One that was deleted or whose notes were changed meanwhile is not it any more.
    const rows = await list.find({ ids }, signal);
    return rows.filter(({ notes }) => marks.includes(platformIdIn(notes) ?? ""));
  };
}

/* As sources tell them. */

/** Null: a job. */
export function toldParty(side: Side, row: PartyRow): Change | null {
  if (row.isJob) return null;
  const { lines = [], city = null, state = null, zip = null, country = null } = row.address ?? {};
  const region = row.address === null ? NOWHERE : regionOf(country, state);
  return partyChange(BOOKS, {
    code: partyCode(side, row.id),
    name: row.title,
    isCustomer: side === "customer",
    isSupplier: side === "vendor",
    companyId: platformIdIn(row.notes),
    email: row.email,
    phone: row.phone,
    street: some(lines.filter((line) => some(line) !== null).join("\n")),
    city,
    state: region.state,
    zip,
    country: region.country,
    active: row.active,
  });
}

/** One that was deleted, of which its id and at most a name are left: it is told as inactive. */
export const goneParty = (side: Side, id: string, name: string): Change =>
  partyChange(BOOKS, {
    code: partyCode(side, id),
    name,
    isCustomer: side === "customer",
    isSupplier: side === "vendor",
    active: false,
  });

const NOWHERE = { country: null, state: null };
const AMERICA = /^(?:|US|USA|U\.S\.A\.|UNITED STATES(?: OF AMERICA)?)$/;

/**
 * Country (ISO 3166-1) and state (ISO 3166-2). People write a country as they like: what is no code and not America is left
 * out, and a state without a country, too.
 */
function regionOf(
  country: string | null,
  state: string | null,
): { readonly country: string | null; readonly state: string | null } {
  const upper = country?.trim().toUpperCase() ?? "";
  const code = AMERICA.test(upper) ? "US" : /^[A-Z]{2}$/.test(upper) ? upper : null;
  const part = state?.trim().toUpperCase() ?? "";
  const isCode = code !== null && /^[A-Z]{2,3}$/.test(part);
  return { country: code, state: isCode ? `${code}-${part}` : null };
}
