/** What must hold in QuickBooks before the next document goes, by what its last session of a new day told. */
import { z } from "zod";
import type { Examination, Needs, Notebook } from "../../src/core/contract.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import type { Fault } from "../../src/core/record.ts";
import { closingExamination, type CodesOf, codeExaminations } from "../../src/ledger/examine.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import type { DesktopConfig } from "./config.ts";
import type { Reply, Request } from "./qbxml.ts";
import { errors } from "./status.ts";
import { sameName } from "../quickbooks/text.ts";

/**
 * Lists whose names are compared, as people call what is in them. QuickBooks tells them in the first session of a day, for
 * `doctor` cannot ask.
 */
const LISTS = {
  account: "AccountQuery",
  item: "ItemQuery",
  "sales tax code": "SalesTaxCodeQuery",
  "payment method": "PaymentMethodQuery",
  terms: "StandardTermsQuery",
  class: "ClassQuery",
} as const;
type List = keyof typeof LISTS;

/** Of the company, as QuickBooks says it; null: it did not say. */
const Company = z.object({
  company: z.string(),
  /** `QuickBooks Enterprise Solutions 24.0`. */
  product: z.string().nullable(),
  country: z.string().nullable(),
  /** It told its preferences: without them nothing is known of sales tax, currencies and the closing date. */
  preferences: z.boolean(),
  salesTax: z.boolean().nullable(),
  multiCurrency: z.boolean().nullable(),
  /** Documents up to this day (`YYYY-MM-DD`) are not changed without a password. */
  closingDate: z.string().nullable(),
});
export type Company = z.infer<typeof Company>;

const Told = z.object({
  /** ISO 8601 UTC. */
  at: z.string(),
  company: Company,
  /** Full names of what is active there, by {@link LISTS}; null: QuickBooks did not tell them. */
  lists: z.record(z.string(), z.array(z.string()).nullable()),
});
type Told = z.infer<typeof Told>;

export async function examineDesktop(
  config: DesktopConfig,
  told: Told,
  needs: Needs,
  signal: AbortSignal,
): Promise<readonly Examination[]> {
  const { company } = told;
  const note = [
    company.product ?? "product unknown",
    company.country,
    company.salesTax === true ? "sales tax on" : null,
    company.multiCurrency === true ? "multicurrency on" : null,
    `told at ${told.at}`,
  ];
  const names: readonly (readonly [List, string | undefined])[] = [
    ...[config.chargeItem, ...config.taxItems].map((item) => ["item", item] as const),
    ["sales tax code", config.taxCode],
    ["account", config.bankAccount],
    ["account", config.depositAccount],
    ["account", config.receivableAccount],
    ["account", config.payableAccount],
    ["class", config.class],
    ["payment method", config.paymentMethod],
    ["terms", config.terms.customer],
    ["terms", config.terms.vendor],
  ];
  return [
    {
      what: `company ${company.company}`,
      fault: null,
      note: note.filter((one) => one !== null).join(", "),
    },
    ...(company.preferences
      ? [{ what: "sales tax", fault: salesTaxFault(company.salesTax, config.taxCode) }]
      : [untold(told, "preferences", "sales tax, currencies and the closing date")]),
    ...names.flatMap(([list, name]) =>
      name === undefined ? [] : [{ what: `${list} ${name}`, fault: missing(told, list, name) }],
    ),
    ...(company.preferences ? [closingExamination(company.closingDate, needs, CLOSED_IN)] : []),
    ...(isTold(told, "item")
      ? await codeExaminations({ name: "QuickBooks", errors }, codesOf(told), needs, signal)
      : [untold(told, "items", "the items that the cross-reference names")]),
  ];
}

const CLOSED_IN = "QuickBooks (Edit, Preferences, Accounting, Company Preferences)";

const isTold = ({ lists }: Told, list: List): boolean => (lists[list] ?? null) !== null;

/** What was not told is not looked at, and is never said to be well. @param unseen what nobody knows of then */
function untold({ at }: Told, what: string, unseen: string): Examination {
  return {
    what,
    fault: {
      code: "not-told",
      message: `QuickBooks did not tell its ${what} at ${at}: nobody has looked at ${unseen}`,
      next: "In QuickBooks as Admin: switch on what the list belongs to, and give fuelbridge's user the right to read it (Edit, Preferences, Integrated Applications). It is asked for again in the first session of each day, and after `fuelbridge release`; without it, look there by hand.",
    },
  };
}

function missing(told: Told, list: List, name: string): Fault | null {
  if (!isTold(told, list)) return untold(told, `${list} list`, `${list} ${name}`).fault;
  if (told.lists[list]?.some((one) => sameName(one, name)) === true) return null;
  return {
    code: "not-in-quickbooks",
    message: `QuickBooks had no active ${list} ${JSON.stringify(name)} when it told its lists at ${told.at}`,
    next: `Create the ${list} in QuickBooks, make it active there, or correct the configuration or the table that names it (full names: Fuel:ULSD2). QuickBooks tells its lists again in the first session of the next day.`,
  };
}

function salesTaxFault(isOn: boolean | null, taxCode: string | undefined): Fault | null {
  if (isOn !== true || taxCode !== undefined) return null;
  return {
    code: "sales-tax-on",
    message: "sales tax is switched on, and no taxCode is set: QuickBooks may tax invoice lines",
    next: "Set taxCode to a sales tax code that is not taxed (Non).",
  };
}

/** Products, taxes and accounts of the tables are items of QuickBooks. */
function codesOf(told: Told): CodesOf {
  const find = async (codes: readonly string[]) => ({
    faults: new Map(
      codes.flatMap((code) => {
        const fault = missing(told, "item", code);
        return fault === null ? [] : [[code, fault] as const];
      }),
    ),
  });
  const items = { what: "item", find };
  return { product: items, sold: items, bought: items };
}

/* What QuickBooks told of its company file in the first session of a day. */

/** Who asks QuickBooks and changes nothing. */
export interface Reading {
  read(requests: readonly Request[], signal: AbortSignal): Promise<readonly Reply[]>;
}

const NAME = "company";

/** What a notebook has under a name; null: nothing, or something in another form. */
export function keptIn<T>(notebook: Notebook | undefined, name: string, schema: z.ZodType<T>) {
  const text = notebook?.get(name) ?? null;
  return text === null ? null : (schema.safeParse(JSON.parse(text)).data ?? null);
}

/** Null: there was no session yet. */
export const toldIn = (notebook: Notebook | undefined): Told | null => keptIn(notebook, NAME, Told);

/** Asks for the lists and stores them. @throws LedgerError when the session ended meanwhile, StorageError */
export async function tell(
  wire: Reading,
  notebook: Notebook,
  company: Company,
  at: string,
  signal: AbortSignal,
): Promise<void> {
  const told: Told = { at, company, lists: {} };
  for (const [list, query] of Object.entries(LISTS))
    told.lists[list] = await namesOf(wire, query, signal);
  notebook.set(NAME, JSON.stringify(told));
}

/** Null where this edition does not have the list, or it is switched off. */
async function namesOf(wire: Reading, name: string, signal: AbortSignal): Promise<string[] | null> {
  try {
    const IncludeRetElement = ["Name", "FullName"];
    const [reply] = await wire.read([{ name, values: { IncludeRetElement } }], signal);
    return (reply?.rets ?? []).flatMap((row) => row.text("FullName") ?? row.text("Name") ?? []);
  } catch (error) {
    if (error instanceof LedgerError && error.phase === "answered") return null;
    throw error;
  }
}

/* What each session asks first: whose company file this is, and what it has. */

export const HELLO: readonly Request[] = [
  { name: "HostQuery", values: {} },
  { name: "CompanyQuery", values: {} },
  { name: "PreferencesQuery", values: {} },
];

/** @throws SourceUnavailable when it is another company's file */
export function companyIn(
  [host, company, preferences]: readonly (Reply | null)[],
  named: string,
): Company {
  const [hostRet, companyRet, preferencesRet] = [host, company, preferences].map(
    (reply) => reply?.rets[0],
  );
  const name = companyRet?.text("CompanyName") ?? null;
  if (name !== named)
    throw new SourceUnavailable(
      `QuickBooks has the company ${JSON.stringify(name)} open, not ${JSON.stringify(named)}`,
      {
        next: "Open the right company file in QuickBooks, or set companyFile; or correct company in the configuration.",
        waitMs: 60_000,
      },
    );
  return {
    company: name,
    product: hostRet?.text("ProductName") ?? null,
    country: hostRet?.text("Country") ?? null,
    preferences: preferencesRet !== undefined,
    salesTax: preferencesRet?.child("SalesTaxPreferences") ? true : null,
    multiCurrency:
      preferencesRet?.child("MultiCurrencyPreferences")?.yes("IsMultiCurrencyOn") ?? null,
    closingDate: preferencesRet?.child("AccountingPreferences")?.text("ClosingDate") ?? null,
  };
}
