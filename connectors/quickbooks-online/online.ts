/** One company's books in QuickBooks Online, as every part of this connector uses them. */
import type { Surroundings } from "../../src/core/contract.ts";
import { type CodeKind, type Codes, openCodes } from "../../src/ledger/codes.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import type { QuickbooksOnlineConfig } from "./config.ts";
import { AccountRow, having, ItemRow, PreferencesRow } from "./rows.ts";
import type { Wire } from "./wire.ts";

/* Names that people use in QuickBooks, and the ids behind them. */

interface NamedRow {
  /** What it is called: the name, or the account's number. */
  readonly code: string;
  readonly id: string;
}

export const ITEM: CodeKind = { what: "item", called: "name" };
export const ACCOUNT: CodeKind = { what: "account", called: "number or name" };
export const CLASS: CodeKind = { what: "class", called: "name" };
export const LOCATION: CodeKind = { what: "location", called: "name" };

export interface Names {
  readonly codes: Codes<CodeKind, NamedRow>;
  /** @throws Refused when there is none, or several */
  id(kind: CodeKind, code: string): Promise<string>;
  /** What documents call it, where one named it; else as QuickBooks calls it. */
  codeOf(kind: CodeKind, id: string, otherwise: string | null): string;
}

const NamedEntity = ItemRow.pick({ Id: true, Name: true });

const never = new AbortController().signal;

function openNames(wire: Wire, { now }: Pick<Surroundings, "now">): Names {
  const named = new Map<string, string>();
  const codes = openCodes<CodeKind, NamedRow>({
    books: "QuickBooks",
    now,
    rowsOf: async (kind, desired, most) => {
      const rows =
        kind === ACCOUNT
          ? await accounts(wire, desired)
          : await byName(wire, ENTITIES.get(kind) ?? "Item", desired);
      for (const { code, id } of rows) named.set(`${kind.what} ${id}`, code);
      return most === null ? rows : rows.slice(0, most);
    },
    codeOf: (_, { code }) => code,
  });
  return {
    codes,
    id: async (kind, code) => (await codes.row(kind, code)).id,
    codeOf: (kind, id, otherwise) => named.get(`${kind.what} ${id}`) ?? otherwise ?? id,
  };
}

const ENTITIES = new Map([
  [ITEM, "Item"],
  [CLASS, "Class"],
  [LOCATION, "Department"],
] as const);

async function byName(
  wire: Wire,
  entity: "Item" | "Class" | "Department",
  names: readonly string[],
): Promise<NamedRow[]> {
  const rows = await having(wire, entity, NamedEntity, { Name: names }, never);
  return rows.flatMap(({ Id, Name }) => desiredAs(names, Name).map((code) => ({ code, id: Id })));
}

/** By number and by name: an account whose number is another's name is told twice. */
async function accounts(wire: Wire, desired: readonly string[]): Promise<NamedRow[]> {
  const rows: NamedRow[] = [];
  for (const field of ["AcctNum", "Name"] as const)
    for (const row of await having(wire, "Account", AccountRow, { [field]: desired }, never))
      for (const code of desiredAs(desired, row[field] ?? ""))
        if (!rows.some((one) => one.code === code && one.id === row.Id))
          rows.push({ code, id: row.Id });
  return rows;
}

/** QuickBooks compares names without regard to case. */
const desiredAs = (desired: readonly string[], name: string): string[] => [
  ...new Set(desired.filter((one) => one.toLowerCase() === name.toLowerCase())),
];

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

/** Why nothing may be written into this company; null: nothing. `code` is one of errors.ts. */
export function unfit(
  { config, surroundings }: Pick<Online, "config" | "surroundings">,
  { CurrencyPrefs, SalesFormsPrefs }: PreferencesRow,
): { readonly code: string; readonly message: string } | null {
  const { MultiCurrencyEnabled, HomeCurrency } = CurrencyPrefs;
  const { currency } = surroundings;
  if (HomeCurrency !== null && HomeCurrency.value !== currency)
    return {
      code: "wrong-currency",
      message: `the company keeps its books in ${HomeCurrency.value}, not in ${currency}`,
    };
  if (MultiCurrencyEnabled && config.multicurrency === "refuse")
    return { code: "multicurrency", message: "the company uses several currencies" };
  if (!SalesFormsPrefs.CustomTxnNumbers)
    return {
      code: "own-numbers",
      message: "QuickBooks gives invoices numbers of its own: custom transaction numbers are off",
    };
  return null;
}

/** @throws LedgerError when nothing may be written into this company */
export async function expectFit(online: Online, signal: AbortSignal): Promise<void> {
  const why = unfit(online, await online.preferences(signal));
  if (why !== null) throw new LedgerError("answered", why.message, { code: why.code });
}
