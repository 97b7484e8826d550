/** What must hold in QuickBooks before the next document goes: each thing with what to do when it does not. */
import {
  type Check,
  closingExamination,
  type CodeColumn,
  codeExaminations,
  type CodesNamed,
  examined,
  exists,
} from "../../src/ledger/examine.ts";
import { faultOf as faultOfRow, unavailable } from "../../src/ledger/errors.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import type { Examination, Needs } from "../../src/core/examination.ts";
import type { Fault } from "../../src/core/fault.ts";
import type { CodeKind } from "../../src/ledger/codes.ts";
import { ACCOUNT, CLASS, ITEM, LOCATION, type Online, unfit } from "./online.ts";
import { errors, QUICKBOOKS } from "./errors.ts";
import { CompanyRow, type PreferencesRow } from "./rows.ts";
import { authoriseBy, EARLY_DAYS, readTokens, tokenFile } from "./tokens.ts";

/** @throws SourceUnavailable when the company cannot be asked, or nothing may be written into it */
export async function checkOnline(online: Online, signal: AbortSignal): Promise<void> {
  let why: ReturnType<typeof unfit>;
  try {
    why = unfit(online, await online.preferences(signal));
  } catch (error) {
    throw unavailable(error, QUICKBOOKS);
  }
  if (why === null) return;
  const { message, next } = unfitFault(why);
  throw new SourceUnavailable(message, { next });
}

const unfitFault = (why: { readonly code: string; readonly message: string }): Fault =>
  faultOfRow(errors.find(({ when }) => when.code?.test(why.code)) ?? null, why.message);

/** A person must sign in again within the week. That there is no token at all is a stop, and told as one. */
export function warningsOf(online: Pick<Online, "config" | "surroundings">): readonly Fault[] {
  const { fault } = authorisation(online);
  return fault?.code === SOON ? [fault] : [];
}

export async function examineOnline(
  online: Online,
  signal: AbortSignal,
  needs: Needs,
): Promise<readonly Examination[]> {
  return [
    authorisation(online),
    ...(await examined(QUICKBOOKS, looks(online, signal), signal)),
    await closing(online, signal, needs),
    ...(await codeExaminations(QUICKBOOKS, columnsOf(online), needs, signal)),
  ];
}

const SOON = "authorise-soon";

/** Days until a person must authorise anew; `no-tokens` where there are none. */
function authorisation({
  config,
  surroundings,
}: Pick<Online, "config" | "surroundings">): Examination {
  const file = tokenFile(config, surroundings.folder);
  const next =
    "Run `fuelbridge quickbooks authorise` and sign in as an administrator of the company.";
  try {
    const { day, days } = authoriseBy(readTokens(file, config.company), surroundings.now());
    const what = `authorised until ${day}`;
    if (days > EARLY_DAYS) return { what, fault: null };
    const message = `the authorisation of company ${config.company} ends on ${day}, in ${Math.max(days, 0)} days`;
    return { what, fault: { code: SOON, message, next } };
  } catch (error) {
    const { message } = unavailable(error, QUICKBOOKS);
    return { what: "authorisation", fault: { code: "not-authorised", message, next } };
  }
}

function looks(online: Online, signal: AbortSignal): Check[] {
  const { config, names, wire, surroundings } = online;
  const { charge } = config.items;
  const { expense, paymentsMade, paymentsReceived, receivable, payable } = config.accounts;
  const named = (kind: CodeKind, code: string): Check =>
    exists(`${kind.what} ${code}`, () => names.codes.expected(kind, code));
  const preferring = (what: string, look: (row: PreferencesRow) => Fault | null): Check => [
    what,
    async () => look(await online.preferences(signal)),
  ];
  return [
    [
      `company ${config.company}`,
      async () => {
        const [company] = await wire.query("CompanyInfo", "", CompanyRow, signal);
        if (company !== undefined)
          surroundings.note("QuickBooks company", { name: company.CompanyName });
        return null;
      },
    ],
    preferring(`company in ${surroundings.currency}, with numbers of our own`, (row) => {
      const why = unfit(online, row);
      return why === null ? null : unfitFault(why);
    }),
    preferring(`sales tax: ${config.salesTax}`, ({ TaxPrefs }) =>
      salesTaxFault(config.salesTax, TaxPrefs.UsingSalesTax),
    ),
    named(ITEM, charge),
    ...config.taxItems.map((item) => named(ITEM, item)),
    named(ACCOUNT, expense),
    named(ACCOUNT, paymentsMade),
    ...[paymentsReceived, receivable, payable].flatMap((code) =>
      code === undefined ? [] : [named(ACCOUNT, code)],
    ),
    ...(config.class === undefined ? [] : [named(CLASS, config.class)]),
    ...(config.location === undefined ? [] : [named(LOCATION, config.location)]),
  ];
}

function salesTaxFault(set: string, isUsed: boolean): Fault | null {
  if (set === "not-taxable" || !isUsed) return null;
  return {
    code: "sales-tax-on",
    message: "the company uses sales tax, and lines that carry no mark may be taxed by QuickBooks",
    next: "Set salesTax: not-taxable.",
  };
}

/** Documents that wait and whose day is closed; what comes later is refused one by one. */
async function closing(online: Online, signal: AbortSignal, needs: Needs): Promise<Examination> {
  let until: string | null = null;
  const asked = exists("closing date", async () => {
    until = (await online.preferences(signal)).AccountingInfoPrefs.BookCloseDate;
  });
  const [told] = await examined(QUICKBOOKS, [asked], signal);
  if (until === null) return told as Examination;
  return closingExamination(until, needs, "QuickBooks (Settings, Advanced, Accounting)");
}

/** What the cross-reference tables name in QuickBooks. */
function columnsOf(online: Online): CodeColumn[] {
  const of = (kind: CodeKind, several: string): CodesNamed => ({
    what: [kind.what, several],
    find: async (codes) => ({
      faults: await online.names.codes.faults(kind, codes),
      unknown: [],
    }),
  });
  const items = of(ITEM, "items");
  const accounts = of(ACCOUNT, "accounts");
  return [
    { table: "items", column: "item", names: items, sinks: ["orders", "invoices", "bills"] },
    { table: "tax-accounts", column: "sales", names: items, sinks: ["invoices"] },
    { table: "tax-accounts", column: "purchases", names: accounts, sinks: ["bills"] },
    { table: "charge-accounts", column: "sales", names: items, sinks: ["invoices"] },
    { table: "charge-accounts", column: "purchases", names: accounts, sinks: ["bills"] },
  ];
}
