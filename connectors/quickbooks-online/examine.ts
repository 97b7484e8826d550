/** What must hold in QuickBooks before the next document goes: each thing with what to do when it does not. */
import type { Examination, Needs } from "../../src/core/contract.ts";
import type { Fault } from "../../src/core/record.ts";
import { unavailable } from "../../src/ledger/errors.ts";
import {
  type Check,
  closingExamination,
  codeChecks,
  type CodesOf,
  namedChecks,
} from "../../src/ledger/examine.ts";
import { AUTHORISE, QUICKBOOKS } from "./wire.ts";
import { ACCOUNT, CLASS, ITEM, LOCATION, type NameKind, type Online } from "./online.ts";
import { authoriseBy, EARLY_DAYS, readTokens, tokenFile } from "./tokens.ts";

/** A person must sign in again within the week. That there is no token at all is a stop, and told as one. */
export function warningsOf(
  online: Pick<Online, "config" | "surroundings">,
): readonly Fault<string>[] {
  const { fault } = authorisation(online);
  return fault?.code === SOON ? [fault] : [];
}

const SOON = "authorise-soon";

/** Days until a person must authorise anew; `not-authorised` where there are no tokens. */
function authorisation({
  config,
  surroundings,
}: Pick<Online, "config" | "surroundings">): Examination {
  const file = tokenFile(config, surroundings.folder);
  try {
    const { day, days } = authoriseBy(readTokens(file, config.company), surroundings.now());
    const what = `authorised until ${day}`;
    if (days > EARLY_DAYS) return { what, fault: null };
    const message = `the authorisation of company ${config.company} ends on ${day}, in ${Math.max(days, 0)} days`;
    return { what, fault: { code: SOON, message, next: AUTHORISE } };
  } catch (error) {
    const { message } = unavailable(error, QUICKBOOKS);
    return { what: "authorisation", fault: { code: "not-authorised", message, next: AUTHORISE } };
  }
}

export function checksOf(
  online: Online,
  needs: Needs,
  signal: AbortSignal,
): (Check | Examination)[] {
  const { config } = online;
  const { expense, paymentsMade, paymentsReceived, receivable, payable } = config.accounts;
  const named = (kind: NameKind, ...codes: (string | undefined)[]) =>
    namedChecks(online.names.codes.named(kind), ...codes);
  return [
    authorisation(online),
    [
      `sales tax: ${config.salesTax}`,
      async () => {
        const taxes = (await online.preferences(signal)).child("TaxPrefs");
        const isOn = taxes?.yes("UsingSalesTax") === true;
        return config.salesTax === "off" && isOn ? SALES_TAX_ON : null;
      },
    ],
    ...named(ITEM, config.items.charge, ...config.taxItems),
    ...named(ACCOUNT, expense, paymentsMade, paymentsReceived, receivable, payable),
    ...named(CLASS, config.class),
    ...named(LOCATION, config.location),
    [
      "closing date",
      async () => {
        const accounting = (await online.preferences(signal)).child("AccountingInfoPrefs");
        const until = accounting?.day("BookCloseDate") ?? null;
        return [closingExamination(until, needs, CLOSED_IN)];
      },
    ],
    ...codeChecks(QUICKBOOKS.name, codesOf(online), needs),
  ];
}

const SALES_TAX_ON: Fault = {
  code: "sales-tax-on",
  message: "the company uses sales tax, and lines that carry no mark may be taxed by QuickBooks",
  next: "Set salesTax: not-taxable.",
};

const CLOSED_IN = "QuickBooks (Settings, Advanced, Accounting)";

/** Taxes and charges are items where we sell, and accounts where we buy. */
const codesOf = ({ names: { codes } }: Online): CodesOf => ({
  product: codes.named(ITEM),
  sold: codes.named(ITEM),
  bought: codes.named(ACCOUNT),
});
