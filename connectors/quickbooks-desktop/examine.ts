/** What must hold in QuickBooks before the next document goes, by what its last session of a new day told. */
import { z } from "zod";
import type { Notebook } from "../../src/core/contract.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import type { Examination, Needs } from "../../src/core/examination.ts";
import type { Fault } from "../../src/core/fault.ts";
import { closingExamination, type CodeColumn, codeExaminations } from "../../src/ledger/examine.ts";
import { LedgerError } from "../../src/ledger/port.ts";
import type { DesktopConfig } from "./config.ts";
import type { Querying, Reply, Request } from "./qbxml.ts";
import { errors } from "./status.ts";
import { sameName } from "../quickbooks/text.ts";

export async function examineDesktop(
  config: DesktopConfig,
  told: Told,
  needs: Needs,
  signal: AbortSignal,
): Promise<readonly Examination[]> {
  const { company, accounts, items, taxCodes, paymentMethods, terms, classes } = told;
  const on = [
    company.salesTax === true ? "sales tax on" : null,
    company.multiCurrency === true ? "multicurrency on" : null,
  ];
  const note = [company.product ?? "product unknown", company.country, ...on, `told at ${told.at}`];
  const named = (what: string, name: string | undefined, all: readonly string[] | null) =>
    name === undefined ? [] : [{ what: `${what} ${name}`, ...found(told, what, name, all) }];
  return [
    {
      what: `company ${company.company}`,
      fault: null,
      note: note.filter((one) => one !== null).join(", "),
    },
    ...(company.preferences
      ? [{ what: "sales tax", fault: salesTaxFault(company.salesTax, config.taxCode) }]
      : [untold(told, "preferences", "sales tax, currencies and the closing date")]),
    ...[config.chargeItem, ...config.taxItems].flatMap((item) => named("item", item, items)),
    ...named("sales tax code", config.taxCode, taxCodes),
    ...named("account", config.bankAccount, accounts),
    ...named("account", config.depositAccount, accounts),
    ...named("account", config.receivableAccount, accounts),
    ...named("account", config.payableAccount, accounts),
    ...named("class", config.class, classes),
    ...named("payment method", config.paymentMethod, paymentMethods),
    ...named("terms", config.terms.customer, terms),
    ...named("terms", config.terms.vendor, terms),
    ...(company.preferences ? [closingExamination(company.closingDate, needs, CLOSED_IN)] : []),
    ...(items === null
      ? [untold(told, "items", "the items that the cross-reference names")]
      : await codeExaminations(
          { name: "QuickBooks", errors },
          columnsOf(told, items),
          needs,
          signal,
        )),
  ];
}

function found(
  told: Told,
  what: string,
  name: string,
  all: readonly string[] | null,
): Omit<Examination, "what"> {
  if (all === null) return { fault: untold(told, `${what} list`, `${what} ${name}`).fault };
  return { fault: missing(told, what, name, all) };
}

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

function missing({ at }: Told, what: string, name: string, all: readonly string[]): Fault | null {
  if (all.some((one) => sameName(one, name))) return null;
  return {
    code: "not-in-quickbooks",
    message: `QuickBooks had no active ${what} ${JSON.stringify(name)} when it told its lists at ${at}`,
    next: `Create the ${what} in QuickBooks, make it active there, or correct the configuration or the table that names it (full names: Fuel:ULSD2). QuickBooks tells its lists again in the first session of the next day.`,
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

const CLOSED_IN = "QuickBooks (Edit, Preferences, Accounting, Company Preferences)";

/** Products, taxes and accounts of the tables are items of QuickBooks. */
function columnsOf(told: Told, items: readonly string[]): CodeColumn[] {
  const find = async (codes: readonly string[]) => ({
    faults: new Map(
      codes.flatMap((code) => {
        const fault = missing(told, "item", code, items);
        return fault === null ? [] : [[code, fault] as const];
      }),
    ),
    unknown: [],
  });
  const names = { what: ["item", "items"], find } as const;
  return [
    { table: "items", column: "item", names, sinks: ["invoices", "bills", "orders", "shipments"] },
    { table: "tax-accounts", column: "sales", names, sinks: ["invoices"] },
    { table: "tax-accounts", column: "purchases", names, sinks: ["bills"] },
    { table: "charge-accounts", column: "sales", names, sinks: ["invoices"] },
    { table: "charge-accounts", column: "purchases", names, sinks: ["bills"] },
  ];
}

/* What QuickBooks told of its company file in the first session of a day: what `doctor` examines, for it cannot ask. */

const names = z.array(z.string()).nullable();

const Told = z.object({
  /** ISO 8601 UTC. */
  at: z.string(),
  company: z.object({
    company: z.string(),
    product: z.string().nullable(),
    country: z.string().nullable(),
    preferences: z.boolean(),
    salesTax: z.boolean().nullable(),
    multiCurrency: z.boolean().nullable(),
    closingDate: z.string().nullable(),
  }),
  /** Full names of what is active there; null: QuickBooks did not tell them. */
  accounts: names,
  items: names,
  taxCodes: names,
  paymentMethods: names,
  terms: names.default(null),
  classes: names.default(null),
});
type Told = z.infer<typeof Told>;

const NAME = "company";

/** Null: there was no session yet. */
export function toldIn(notebook: Notebook | undefined): Told | null {
  const text = notebook?.get(NAME) ?? null;
  return text === null ? null : (Told.safeParse(JSON.parse(text)).data ?? null);
}

/** Asks for the lists and stores them. @throws LedgerError when the session ended meanwhile, StorageError */
export async function tell(
  wire: Querying,
  notebook: Notebook,
  company: Company,
  at: string,
  signal: AbortSignal,
): Promise<void> {
  const told: Told = {
    at,
    company,
    accounts: await namesOf(wire, "AccountQuery", signal),
    items: await namesOf(wire, "ItemQuery", signal),
    taxCodes: await namesOf(wire, "SalesTaxCodeQuery", signal),
    paymentMethods: await namesOf(wire, "PaymentMethodQuery", signal),
    terms: await namesOf(wire, "StandardTermsQuery", signal),
    classes: await namesOf(wire, "ClassQuery", signal),
  };
  notebook.set(NAME, JSON.stringify(told));
}

/** Null where this edition does not have the list, or it is switched off. */
async function namesOf(
  wire: Querying,
  name: string,
  signal: AbortSignal,
): Promise<string[] | null> {
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
