/** What must hold in QuickBooks before the next document goes, by what its last session of a new day told. */
import { codeExaminations, type CodeColumn } from "../../src/ledger/examine-codes.ts";
import type { Examination, Needs } from "../../src/core/examination.ts";
import type { Fault } from "../../src/core/fault.ts";
import { sameName } from "../quickbooks/names.ts";
import type { DesktopConfig } from "./config.ts";
import { errors } from "./status.ts";
import type { Told } from "./told.ts";

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
    ...(company.preferences ? [closing(company.closingDate, needs)] : []),
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

/** Documents that wait and whose day is closed. */
function closing(until: string | null, { days }: Needs): Examination {
  if (until === null) return { what: "closing date: none", fault: null };
  const what = `books closed until ${until}`;
  const count = days.filter(({ day }) => day <= until).reduce((sum, one) => sum + one.count, 0);
  if (count === 0) return { what, fault: null };
  return {
    what,
    fault: {
      code: "closed-period",
      message: `${count} ${count === 1 ? "document that waits is" : "documents that wait are"} dated on or before the closing date ${until}`,
      next: "An accountant opens the books in QuickBooks (Edit, Preferences, Accounting, Company Preferences), or enters the documents by hand.",
    },
  };
}

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
