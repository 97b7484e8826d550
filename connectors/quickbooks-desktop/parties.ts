/** Customers and vendors: a document's party by its name, else by the platform's id in its notes, else created. */
import {
  PLAIN_ENTRY,
  LedgerError,
  type PartyAdapter,
  type Entry,
  type Desired,
} from "../../src/ledger/port.ts";
import type { Party } from "../../src/ledger/documents.ts";
import { partiesOnce } from "../../src/ledger/entries.ts";
import { markOf, platformIdIn } from "../../src/ledger/notes.ts";
import { Refused } from "../../src/core/errors.ts";
import { ascii, NAME_MOST, partyName, sameName, type Side, suffixed } from "../quickbooks/text.ts";
import type { DesktopConfig } from "./config.ts";
import { byId, markedIn } from "./lists.ts";
import { guidOf, heldText, listIdIn, only } from "./rows.ts";
import type { Element } from "./qbxml.ts";
import type { Wire } from "./wire.ts";

type Asked = Pick<Wire, "read" | "write"> & Partial<Pick<Wire, "session">>;

const FIELDS = ["ListID", "EditSequence", "Name", "FullName", "IsActive", "CompanyName", "Notes"];

/** What each side is asked by. */
export const QUERIES = { customer: "CustomerQuery", vendor: "VendorQuery" } as const;

export function partyAdapter(
  wire: Asked,
  { sameName: policy, terms }: Pick<DesktopConfig, "sameName" | "terms">,
  side: Side,
  now: () => Date,
): PartyAdapter {
  const query = QUERIES[side];
  const add = side === "customer" ? "CustomerAdd" : "VendorAdd";
  const most = NAME_MOST.desktop;
  const named = async (names: readonly string[], signal: AbortSignal): Promise<Element[]> => {
    const [reply] = await wire.read(
      [{ name: query, values: { FullName: names, IncludeRetElement: FIELDS } }],
      signal,
    );
    return [...(reply?.rets ?? [])];
  };
  const marked = markedIn(wire, query, now, { markIn, fields: FIELDS });
  return {
    ...partiesOnce(["posted", "cancelled"], 1),
    expected: async (parties) =>
      parties.map(({ code, name }) => ({
        number: code,
        words: { name: heldText(name, most) },
      })),
    async locate(desired, { signal }) {
      const codes = desired.map(({ number }) => number);
      const known = await linked(wire, side, desired, signal);
      const names = codes.filter((code) => listIdIn(side, code) === null);
      const rows = names.length === 0 ? [] : await named(names.map(queryable), signal);
      // A company file names without regard to case; a site's table need not.
      const found = [...known, ...rows.map((row) => entryOf(row, codes))];
      const missing = desired.filter(
        ({ number, mark }) =>
          !found.some((one) => one.number === number || (one.mark === mark && known.includes(one))),
      );
      if (missing.length === 0) return found;
      const others = await marked(
        missing.map(({ mark }) => mark),
        signal,
      );
      return [...found, ...others.map((row) => entryOf(row, codes))];
    },
    async create([desired], { signal }) {
      if (desired === undefined) return [];
      const { mark, document } = desired;
      if (listIdIn(side, document.code) !== null) throw goneFrom(side, document);
      const name = partyName(document.code, most, ascii);
      const values = {
        CompanyName: heldText(document.name, most),
        TermsRef: terms[side] === undefined ? null : { FullName: terms[side] },
        Notes: markOf(mark),
        ExternalGUID: guidOf(mark),
      };
      const write = async (Name: string): Promise<readonly string[]> => {
        const { rets } = await wire.write(
          { name: add, values: { [add]: { Name, ...values } } },
          signal,
        );
        return [fullName(only(rets))];
      };
      try {
        return await write(name);
      } catch (error) {
        if (!(error instanceof LedgerError) || error.code !== "3100") throw error;
        const [there] = await named([name], signal);
        if (there !== undefined) return [fullName(there)];
        if (policy === "suffix") return await write(suffixed(name, side, most));
        throw new Refused({
          code: "name-taken",
          message: `QuickBooks has the name ${JSON.stringify(name)} in another list, so no ${side} can have it`,
          next: `Give the company another code in the cross-reference (${suffixed(name, side, most)}), or rename the other one in QuickBooks; or set sameName: suffix. Then retry.`,
          field: "party",
        });
      }
    },
  };
}

/** Those that links call by an id: sources told of them. Documents name them as they are called now. @throws LedgerError */
async function linked(
  wire: Asked,
  side: Side,
  desired: readonly Desired<"party">[],
  signal: AbortSignal,
): Promise<Entry<Element>[]> {
  const ids = desired.flatMap(({ number }) => listIdIn(side, number) ?? []);
  const rows = await byId(wire, QUERIES[side], ids, signal, { IncludeRetElement: FIELDS });
  return desired.flatMap(({ number, mark }) => {
    const id = listIdIn(side, number);
    return rows
      .filter((row) => row.text("ListID") === id)
      .map((row) => {
        const shown = markIn(row);
        const isOfAnother = shown !== null && shown !== mark;
        return isOfAnother ? { ...entryOf(row, []), number } : { ...entryOf(row, []), mark };
      });
  });
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

function entryOf(row: Element, codes: readonly string[]): Entry<Element> {
  const name = fullName(row);
  const number = codes.find((code) => sameName(code, name)) ?? name;
  return {
    ...PLAIN_ENTRY,
    id: name,
    mark: markIn(row),
    number,
    status: row.yes("IsActive") === false ? "cancelled" : "posted",
    facts: { number, words: { name: row.text("CompanyName") } },
    version: row.text("EditSequence"),
    native: row,
  };
}
