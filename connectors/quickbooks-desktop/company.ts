/** What each session asks first: whose company file this is, and what it has. */
import { SourceUnavailable } from "../../src/core/errors.ts";
import { type Reply, textOf, yesOf } from "./read.ts";
import { child, type Element } from "./xml.ts";
import type { Request } from "./write.ts";

export const HELLO: readonly Request[] = [
  { name: "HostQuery", values: {} },
  { name: "CompanyQuery", values: {} },
  { name: "PreferencesQuery", values: {} },
];

/** As QuickBooks says it; null: it did not say. */
export interface Company {
  readonly company: string;
  /** `QuickBooks Enterprise Solutions 24.0`. */
  readonly product: string | null;
  readonly country: string | null;
  /** It told its preferences: without them nothing is known of sales tax, currencies and the closing date. */
  readonly preferences: boolean;
  readonly salesTax: boolean | null;
  readonly multiCurrency: boolean | null;
  /** Documents up to this day (`YYYY-MM-DD`) are not changed without a password. */
  readonly closingDate: string | null;
}

/** @throws SourceUnavailable when it is another company's file */
export function companyIn(
  [host, company, preferences]: readonly (Reply | null)[],
  named: string,
): Company {
  const [hostRet, companyRet, preferencesRet] = [host, company, preferences].map(
    (reply) => reply?.rets[0] ?? null,
  );
  const name = companyRet ? textOf(companyRet, "CompanyName") : null;
  if (name !== named)
    throw new SourceUnavailable(
      `QuickBooks has the company ${JSON.stringify(name)} open, not ${JSON.stringify(named)}`,
      {
        next: "Open the right company file in QuickBooks, or set companyFile; or correct company in the configuration.",
        waitMs: 60_000,
      },
    );
  const groupOf = (name: string): Element | null =>
    preferencesRet ? child(preferencesRet, name) : null;
  const multiCurrency = groupOf("MultiCurrencyPreferences");
  const accounting = groupOf("AccountingPreferences");
  return {
    company: name,
    product: hostRet ? textOf(hostRet, "ProductName") : null,
    country: hostRet ? textOf(hostRet, "Country") : null,
    preferences: preferencesRet !== null,
    salesTax: groupOf("SalesTaxPreferences") === null ? null : true,
    multiCurrency: multiCurrency && yesOf(multiCurrency, "IsMultiCurrencyOn"),
    closingDate: accounting && textOf(accounting, "ClosingDate"),
  };
}
