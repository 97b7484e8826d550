/** One company's books in QuickBooks Online, as every part of this connector uses them. */
import type { Surroundings } from "../../src/core/contract.ts";
import { type CodeKind, type Codes, openCodes } from "../../src/ledger/codes.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import type { QuickbooksOnlineConfig } from "./config.ts";
import { having } from "./queries.ts";
import { NamedRow, PreferencesRow } from "./rows.ts";
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
  codeOf(
    kind: CodeKind,
    ref: { readonly value: string; readonly name?: string | null | undefined },
  ): string;
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
    codeOf: ({ what }, { value, name }) => named.get(`${what} ${value}`) ?? name ?? value,
  };
}

/** By name, accounts by number as well: one whose number is another's name is told twice. Case does not count. */
async function namedRows(wire: Wire, kind: NameKind, desired: readonly string[]): Promise<Named[]> {
  const table = { entity: kind.entity, schema: NamedRow };
  const found = new Map<string, Named>();
  for (const field of kind === ACCOUNT ? (["AcctNum", "Name"] as const) : (["Name"] as const))
    for (const row of await having(wire, table, { [field]: desired }, never))
      for (const code of desired)
        if (code.toLowerCase() === row[field]?.toLowerCase())
          found.set(JSON.stringify([code, row.Id]), { code, id: row.Id });
  return [...found.values()];
}

export interface Online {
  readonly config: QuickbooksOnlineConfig;
  readonly surroundings: Surroundings;
  readonly wire: Wire;
  readonly names: Names;
  /** Kept for ten minutes. @throws LedgerError */
  preferences(signal: AbortSignal): Promise<PreferencesRow>;
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
        const [row] = await wire.query("Preferences", "", PreferencesRow, signal);
        if (row === undefined) throw new LedgerError("torn", "QuickBooks tells no preferences");
        return row;
      }),
  };
}

const unfit = (code: string, message: string): LedgerError =>
  new LedgerError("answered", message, { code });

/** @throws LedgerError when nothing may be written into this company: its code is one of errors.ts */
export async function expectFit(online: Online, signal: AbortSignal): Promise<void> {
  const { CurrencyPrefs, SalesFormsPrefs } = await online.preferences(signal);
  const { MultiCurrencyEnabled, HomeCurrency } = CurrencyPrefs;
  const { currency } = online.surroundings;
  if (HomeCurrency !== null && HomeCurrency.value !== currency)
    throw unfit(
      "wrong-currency",
      `the company keeps its books in ${HomeCurrency.value}, not in ${currency}`,
    );
  if (MultiCurrencyEnabled && online.config.multicurrency === "refuse")
    throw unfit("multicurrency", "the company uses several currencies");
  if (!SalesFormsPrefs.CustomTxnNumbers)
    throw unfit(
      "own-numbers",
      "QuickBooks gives invoices numbers of its own: custom transaction numbers are off",
    );
}
