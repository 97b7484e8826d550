/**
 * Customers and vendors, as documents need them. Documents and links call them by their ids (`C-58`, `V-77`), which no
 * rename changes; a cross-reference may call them by their display names. The platform's id of one that we made stands in
 * its notes, which no query can search: before a party is made, all of that list are read once.
 */
import {
  type Call,
  type Desired,
  type Entry,
  LedgerError,
  type PartyAdapter,
  PLAIN_ENTRY,
} from "../../src/ledger/port.ts";
import { markOf, platformIdIn } from "../../src/ledger/notes.ts";
import type { Party } from "../../src/ledger/documents.ts";
import { orRefused, partiesOnce } from "../../src/ledger/entries.ts";
import { Refused } from "../../src/core/errors.ts";
import { cut, NAME_MOST, oneLine, partyName, sameName, suffixed } from "../quickbooks/text.ts";
import { type DocumentKind, partyCode } from "./documents.ts";
import type { Online } from "./online.ts";
import { having, isId, PartyRow, walk } from "./rows.ts";

const PARTY_ENTITY = { invoice: "Customer", bill: "Vendor" } as const;
const SIDE = { invoice: "customer", bill: "vendor" } as const;
const ANY = " AND Active IN (true, false)";

export function partyAdapter(online: Online, kind: DocumentKind): PartyAdapter {
  const { wire } = online;
  const entity = PARTY_ENTITY[kind];
  const told = (row: PartyRow): Entry<PartyRow> => entryOf(kind, row);
  return {
    ...partiesOnce(["posted", "cancelled"], 1),
    expected: (parties) =>
      orRefused(parties, async ({ code }) => ({
        number: code,
        words: {
          name: idIn(kind, code) === null ? partyName(code, NAME_MOST.online, oneLine) : code,
        },
      })),
    async locate(desired, { signal }) {
      const codes = desired.map(({ document }) => document.code);
      const Id = codes.flatMap((code) => idIn(kind, code) ?? []);
      const DisplayName = codes.filter((code) => idIn(kind, code) === null);
      const suffixes = DisplayName.map((name) => suffixed(name, SIDE[kind], NAME_MOST.online));
      const rows = await having(
        wire,
        entity,
        PartyRow,
        { Id, DisplayName: [...DisplayName, ...suffixes] },
        signal,
        ANY,
      );
      const absent = desired.some((one) => rows.every((row) => !isOf(kind, row, one)));
      const all = absent ? await everyone(online, kind, signal) : rows;
      return desired.flatMap((one) => entriesFor(kind, one, all, told));
    },
    create: (desired, call) =>
      Promise.all(desired.map(({ document }) => create(online, kind, document, call))),
  };
}

/** The id in `C-58`; null: it is a name. */
function idIn(kind: DocumentKind, code: string): string | null {
  const id = code.slice(2);
  return code === partyCode(kind, id) && isId(id) ? id : null;
}

const markIn = ({ Notes }: PartyRow): string | null => platformIdIn(Notes);

/** By its id, by the platform's id, or by the name that the cross-reference gives a party without one. */
function isOf(
  kind: DocumentKind,
  row: PartyRow,
  { document: { code, companyId } }: Pick<Desired<"party">, "document">,
): boolean {
  const mark = markIn(row);
  if (row.Id === idIn(kind, code) || mark === companyId) return true;
  return mark === null && sameName(row.DisplayName ?? "", code);
}

/**
 * Where one has the platform's id in its notes, a name says nothing. One whose notes have another company's id is told
 * with that, under the code that was asked for: the driver has a person decide.
 */
function entriesFor(
  kind: DocumentKind,
  desired: Desired<"party">,
  rows: readonly PartyRow[],
  told: (row: PartyRow) => Entry<PartyRow>,
): Entry<PartyRow>[] {
  const { code, companyId } = desired.document;
  const these = rows.filter((row) => isOf(kind, row, desired));
  const marked = these.filter((row) => markIn(row) === companyId);
  const named = these.filter((row) => row.Id === idIn(kind, code));
  const chosen = named.length > 0 ? named : marked.length > 0 ? marked : these;
  const others = rows.filter((row) => sameName(row.DisplayName ?? "", code));
  return (chosen.length > 0 ? chosen : others).map((row) => {
    const mark = markIn(row) ?? companyId;
    return mark === companyId ? { ...told(row), mark } : { ...told(row), mark, number: code };
  });
}

async function everyone(
  { wire }: Online,
  kind: DocumentKind,
  signal: AbortSignal,
): Promise<PartyRow[]> {
  const where = "WHERE Active IN (true, false)";
  const all = new Map<string, PartyRow>();
  const of = { entity: PARTY_ENTITY[kind], schema: PartyRow, where, stamp: "CreateTime" } as const;
  for await (const { rows } of walk(wire, of, null, signal))
    for (const row of rows) all.set(row.Id, row);
  return [...all.values()];
}

/** Under its name, else with the suffix of its list. @throws Refused, LedgerError */
async function create(
  { wire, config }: Online,
  kind: DocumentKind,
  party: Party,
  call: Call,
): Promise<string> {
  const entity = PARTY_ENTITY[kind];
  const name = partyName(party.code, NAME_MOST.online, oneLine);
  const write = async (DisplayName: string): Promise<string> =>
    partyCode(kind, await wire.write(entity, partyBody(party, DisplayName), call));
  try {
    return await write(name);
  } catch (error) {
    if (!(error instanceof LedgerError) || error.code !== "6240") throw error;
    const names = { DisplayName: [name] };
    const rows = await having(wire, entity, PartyRow, names, call.signal, ANY);
    // Ours: somebody was faster, and the next look finds it.
    if (rows.some((row) => isOf(kind, row, { document: party }))) throw error;
    if (config.sameName === "suffix")
      return await write(suffixed(name, SIDE[kind], NAME_MOST.online));
    throw new Refused({
      code: "name-in-use",
      message: `another party in QuickBooks has the name ${name}`,
      next: "Give one of them another name, or set sameName: suffix; then retry.",
      field: "party",
    });
  }
}

/** Members stand in the order of Intuit's schema. */
export const partyBody = ({ companyId, name }: Party, DisplayName: string): object => ({
  CompanyName: cut(oneLine(name), NAME_MOST.online),
  DisplayName,
  Notes: markOf(companyId),
});

/** Its id in QuickBooks. @throws LedgerError `raced` when it was made and no query shows it yet */
export function partyIdOf(payer: Entry | null): string {
  if (payer !== null) return (payer.native as PartyRow).Id;
  throw new LedgerError("answered", "the party of the document is not shown yet", { code: "5010" });
}

/** @throws Refused when its documents are kept in another currency */
export function inCurrency({ surroundings }: Online, payer: Entry | null): void {
  const { CurrencyRef = null, DisplayName = null } = (payer?.native as PartyRow | undefined) ?? {};
  if (CurrencyRef === null || CurrencyRef.value === surroundings.currency) return;
  throw new Refused({
    code: "other-currency",
    message: `${DisplayName ?? "the party"} is kept in ${CurrencyRef.value} in QuickBooks, the document is in ${surroundings.currency}`,
    next: "Name a party in the company's own currency in the cross-reference, then retry; nothing is converted.",
    field: "party",
  });
}

const entryOf = (kind: DocumentKind, row: PartyRow): Entry<PartyRow> => ({
  ...PLAIN_ENTRY,
  id: partyCode(kind, row.Id),
  mark: markIn(row),
  number: partyCode(kind, row.Id),
  status: row.Active ? "posted" : "cancelled",
  facts: { number: partyCode(kind, row.Id), words: { name: row.DisplayName } },
  version: row.SyncToken,
  native: row,
});
