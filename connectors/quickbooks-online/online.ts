/** One company's books in QuickBooks Online, as every part of this connector uses them. */
import { LedgerError } from "../../src/ledger/port.ts";
import type { Surroundings } from "../../src/core/contract.ts";
import { openNames, type Names } from "./codes.ts";
import type { QuickbooksOnlineConfig } from "./config.ts";
import { PreferencesRow } from "./rows.ts";
import type { Wire } from "./wire.ts";

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
