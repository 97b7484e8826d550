/** One company's books in QuickBooks Online, as every part of this connector uses them. */
import type { Surroundings } from "../../src/core/contract.ts";
import { type CodeKind, type Codes, openCodes } from "../../src/ledger/codes.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import { sameName } from "../quickbooks/text.ts";
import type { QuickbooksOnlineConfig } from "./config.ts";
import { having } from "./queries.ts";
import type { Wire } from "./wire.ts";

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
}

export interface Names {
  readonly codes: Codes<NameKind, Named>;
  /** @throws Refused when there is none, or several; LedgerError */
  id(kind: NameKind, code: string): Promise<string>;
  /** What documents call it, where one named it; else as QuickBooks calls it. */
  codeOf(kind: CodeKind, id: string, name: string | null): string;
}

const never = new AbortController().signal;

function openNames(wire: Wire, { now }: Pick<Surroundings, "now">): Names {
  const named = new Map<string, string>();
  const codes = openCodes<NameKind, Named>({
    books: "QuickBooks",
    now,
    async rowsOf(kind, desired, most) {
      const rows = await namedRows(wire, kind, desired);
      for (const { code, id } of rows) named.set(`${kind.what} ${id}`, code);
      return most === null ? rows : rows.slice(0, most);
    },
    codeOf: (_, { code }) => code,
  });
  return {
    codes,
    id: async (kind, code) => (await codes.row(kind, code)).id,
    codeOf: ({ what }, id, name) => named.get(`${what} ${id}`) ?? name ?? id,
  };
}

/** By name, accounts by number as well: one whose number is another's name is told twice. Case does not count. */
async function namedRows(wire: Wire, kind: NameKind, desired: readonly string[]): Promise<Named[]> {
  const found = new Map<string, Named>();
  for (const field of kind === ACCOUNT ? (["AcctNum", "Name"] as const) : (["Name"] as const))
    for (const row of await having(wire, kind.entity, { [field]: desired }, never))
      for (const code of desired)
        if (sameName(code, row.text(field) ?? ""))
          found.set(JSON.stringify([code, row.needed("Id")]), { code, id: row.needed("Id") });
  return [...found.values()];
}

/** What the company has set. */
interface Preferences {
  /** Null: it does not say. */
  readonly currency: string | null;
  readonly hasCurrencies: boolean;
  /** Numbers of documents are the site's. */
  readonly hasOwnNumbers: boolean;
  readonly hasSalesTax: boolean;
  /** `YYYY-MM-DD`; null: no day. */
  readonly closedUntil: string | null;
}

export interface Online {
  readonly config: QuickbooksOnlineConfig;
  readonly surroundings: Surroundings;
  readonly wire: Wire;
  readonly names: Names;
  /** Kept for ten minutes. @throws LedgerError */
  preferences(signal: AbortSignal): Promise<Preferences>;
}

export function openOnline(
  config: QuickbooksOnlineConfig,
  surroundings: Surroundings,
  wire: Wire,
): Online {
  const names = openNames(wire, surroundings);
  return {
    config,
    surroundings,
    wire,
    names,
    preferences: (signal) =>
      names.codes.kept({ what: "preferences" }, "", async () => {
        const [row] = await wire.query("Preferences", "", signal);
        if (row === undefined) throw new LedgerError("torn", "QuickBooks tells no preferences");
        const [currencies, forms] = [row.child("CurrencyPrefs"), row.child("SalesFormsPrefs")];
        return {
          currency: currencies?.ref("HomeCurrency").id ?? null,
          hasCurrencies: currencies?.yes("MultiCurrencyEnabled") === true,
          hasOwnNumbers: forms?.yes("CustomTxnNumbers") === true,
          hasSalesTax: row.child("TaxPrefs")?.yes("UsingSalesTax") === true,
          closedUntil: row.child("AccountingInfoPrefs")?.day("BookCloseDate") ?? null,
        };
      }),
  };
}

const unfit = (code: string, message: string): LedgerError =>
  new LedgerError("answered", message, { code });

/** @throws LedgerError when nothing may be written into this company: its code is one of errors.ts */
export async function expectFit(online: Online, signal: AbortSignal): Promise<void> {
  const { currency: home, hasCurrencies, hasOwnNumbers } = await online.preferences(signal);
  const { currency } = online.surroundings;
  if (home !== null && home !== currency)
    throw unfit("wrong-currency", `the company keeps its books in ${home}, not in ${currency}`);
  if (hasCurrencies && online.config.multicurrency === "refuse")
    throw unfit("multicurrency", "the company uses several currencies");
  if (!hasOwnNumbers)
    throw unfit(
      "own-numbers",
      "QuickBooks gives invoices numbers of its own: custom transaction numbers are off",
    );
}
