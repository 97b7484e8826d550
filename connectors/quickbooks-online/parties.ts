/**
 * Customers and vendors, as documents need them. Documents and links call them by their ids (`C-58`, `V-77`), which no
 * rename changes; a cross-reference may call them by their display names. The platform's id of one that we made stands in
 * its notes, which no query can search: before a party is made, all of that list are read once.
 */
import { Refused } from "../../src/core/errors.ts";
import type { Party } from "../../src/ledger/documents.ts";
import { partiesOnce, partyFacts } from "../../src/ledger/entries.ts";
import { markOf, platformIdIn } from "../../src/ledger/notes.ts";
import {
  type Call,
  type Desired,
  type Entry,
  LedgerError,
  type LedgerSide,
} from "../../src/ledger/port.ts";
import type { Table } from "../../src/ledger/table.ts";
import { createUnderName } from "../quickbooks/parties.ts";
import { cut, NAME_MOST, oneLine, partyName, sameName, suffixed } from "../quickbooks/text.ts";
import type { Online } from "./online.ts";
import { ANY, having, listed, walk } from "./queries.ts";
import { isId, partyCode, type PartyRow, SIDES } from "./rows.ts";

interface PartyValues {
  readonly code: string;
  readonly name: string | null;
}
/** `code`: what documents call it. */
interface FoundParty extends PartyValues {
  readonly mark: string | null;
  readonly row: PartyRow;
}

export function partyTable(
  online: Online,
  side: LedgerSide,
): Table<"party", PartyValues, FoundParty> {
  const { wire } = online;
  const { role, party: table } = SIDES[side];
  const found = (row: PartyRow): FoundParty => ({
    row,
    code: partyCode(side, row.Id),
    name: row.DisplayName,
    mark: platformIdIn(row.Notes),
  });

  /** Under its name, else with the suffix of its list. @throws Refused, LedgerError */
  const create = (party: Party, call: Call): Promise<string> =>
    createUnderName({
      side: role,
      code: party.code,
      most: NAME_MOST.online,
      held: oneLine,
      policy: online.config.sameName,
      taken: "6240",
      write: async (name) =>
        partyCode(side, await wire.write(table.entity, partyBody(party, name), call)),
      async there(name) {
        const rows = await having(wire, table, { DisplayName: [name] }, call.signal, [ANY]);
        const own = rows.find((row) => isOf(side, row, party));
        return own === undefined ? null : partyCode(side, own.Id);
      },
    });

  return {
    ...partiesOnce(["posted", "cancelled"], 1),
    records: {
      async search({ desired = [] }, { signal }) {
        const codes = desired.map(({ document }) => document.code);
        const names = codes.filter((code) => idIn(side, code) === null);
        const suffixes = names.map((name) => suffixed(name, role, NAME_MOST.online));
        const fields = {
          Id: codes.flatMap((code) => idIn(side, code) ?? []),
          DisplayName: [...names, ...suffixes],
        };
        const rows = await having(wire, table, fields, signal, [ANY]);
        const isAbsent = desired.some((one) => rows.every((row) => !isOf(side, row, one.document)));
        const all = isAbsent ? new Map<string, PartyRow>() : null;
        if (all !== null)
          for await (const page of walk(wire, { ...table, where: [ANY] }, signal))
            for (const row of page.rows) all.set(row.Id, row);
        const those = all === null ? rows : [...all.values()];
        return desired.flatMap((one) => foundFor(side, one, those.map(found)));
      },
      async *list(_, from, signal) {
        const all = [{ ...table, where: [ANY] }];
        for await (const { rows, position } of listed(wire, all, from, signal))
          yield { rows: rows.map(found), position };
      },
      create: (all, call) =>
        Promise.all(all.map(({ desired: { document } }) => create(document, call))),
    },
    write: ({ code }) => ({
      code,
      name: idIn(side, code) === null ? partyName(code, NAME_MOST.online, oneLine) : code,
    }),
    facts: ({ code, name }) => partyFacts(code, name),
    read: ({ code, mark, row }) => ({
      id: partyCode(side, row.Id),
      mark,
      number: code,
      status: row.Active ? "posted" : "cancelled",
      version: row.SyncToken,
    }),
  };
}

/** The id in `C-58`; null: it is a name. */
function idIn(side: LedgerSide, code: string): string | null {
  const id = code.slice(2);
  return code === partyCode(side, id) && isId(id) ? id : null;
}

/** By its id, by the platform's id, or by the name that the cross-reference gives a party without one. */
function isOf(side: LedgerSide, row: PartyRow, { code, companyId }: Party): boolean {
  const mark = platformIdIn(row.Notes);
  if (row.Id === idIn(side, code) || mark === companyId) return true;
  return mark === null && sameName(row.DisplayName ?? "", code);
}

/**
 * Where one has the platform's id in its notes, a name says nothing. One whose notes have another company's id is told
 * with that, under the code that was asked for: the driver has a person decide.
 */
function foundFor(
  side: LedgerSide,
  { document }: Pick<Desired<"party">, "document">,
  all: readonly FoundParty[],
): FoundParty[] {
  const { code, companyId } = document;
  const these = all.filter(({ row }) => isOf(side, row, document));
  const others = all.filter(({ name }) => sameName(name ?? "", code));
  const chosen = [
    these.filter(({ row }) => row.Id === idIn(side, code)),
    these.filter(({ mark }) => mark === companyId),
    these,
    others,
  ].find((some) => some.length > 0);
  return (chosen ?? []).map((one) => {
    const mark = one.mark ?? companyId;
    return mark === companyId ? { ...one, mark } : { ...one, mark, code };
  });
}

/** Members stand in the order of Intuit's schema. */
export const partyBody = ({ companyId, name }: Party, DisplayName: string): object => ({
  CompanyName: cut(oneLine(name), NAME_MOST.online),
  DisplayName,
  Notes: markOf(companyId),
});

const rowOf = (payer: Entry | null): PartyRow | null =>
  payer === null ? null : (payer.native as FoundParty).row;

/** Its id in QuickBooks. @throws LedgerError `raced` when it was made and no query shows it yet */
export function partyIdOf(payer: Entry | null): string {
  const row = rowOf(payer);
  if (row !== null) return row.Id;
  throw new LedgerError("answered", "the party of the document is not shown yet", { code: "5010" });
}

/** @throws Refused when its documents are kept in another currency */
export function inCurrency({ surroundings }: Online, payer: Entry | null): void {
  const { CurrencyRef = null, DisplayName = null } = rowOf(payer) ?? {};
  if (CurrencyRef === null || CurrencyRef.value === surroundings.currency) return;
  throw new Refused({
    code: "other-currency",
    message: `${DisplayName ?? "the party"} is kept in ${CurrencyRef.value} in QuickBooks, the document is in ${surroundings.currency}`,
    next: "Name a party in the company's own currency in the cross-reference, then retry; nothing is converted.",
    field: "party",
  });
}
