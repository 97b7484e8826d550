/** What is looked at in books before the next document goes, one thing at a time. */
import type { Surroundings } from "../core/contract.ts";
import { Refused } from "../core/errors.ts";
import type { Cell, DayToBook, Examination, Needs } from "../core/examination.ts";
import type { Fault } from "../core/fault.ts";
import { CODES_MAX } from "./codes.ts";
import { unavailable } from "./errors.ts";
import type { Books } from "./port.ts";

/** What it is, and what is wrong with it. The second @throws Refused, a fault of the books */
export type Check = readonly [what: string, look: () => Promise<Fault | null>];

type Named = Pick<Books, "name" | "errors">;

/** It is there. @param find @throws Refused when it is not */
export const exists = (what: string, find: () => Promise<unknown>): Check => [
  what,
  async () => {
    await find();
    return null;
  },
];

/** Not being able to look is a fault as well. */
async function faultOf(books: Named, [, look]: Check): Promise<Fault | null> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof Refused) return error.fault;
    const { message, next } = unavailable(error, books);
    return { code: "unreadable", message, next };
  }
}

/** One after the other. @throws the signal's reason */
export async function examined(
  books: Named,
  looks: readonly Check[],
  signal: AbortSignal,
): Promise<Examination[]> {
  const examinations: Examination[] = [];
  for (const look of looks) {
    signal.throwIfAborted();
    examinations.push({ what: look[0], fault: await faultOf(books, look) });
  }
  return examinations;
}

/**
 * The release of the ERP. Documents go to one that no test runs against as well: what it has changed shows as refusals.
 * @param tested series that tests run against: `8.0`
 */
export async function releaseExamination(
  books: Named,
  tested: readonly string[],
  ask: () => Promise<{ readonly version: string; readonly series: string }>,
  signal: AbortSignal,
): Promise<Examination> {
  let release: Awaited<ReturnType<typeof ask>> | undefined;
  const asked = async () => void (release = await ask());
  const [told] = await examined(books, [exists(`release of ${books.name}`, asked)], signal);
  if (release === undefined) return told as Examination;
  const what = `${books.name} ${release.version}`;
  if (tested.includes(release.series)) return { what, fault: null };
  return {
    what,
    fault: null,
    note: `fuelbridge is tested with ${books.name} ${tested.join(" and ")}, not with ${release.series}: try it on a copy of the books first`,
  };
}

/*
 * What the cross-reference tables name in books: a code that names nothing there would send every document that needs it
 * to quarantine.
 */

/** What a column's codes name. */
export interface CodesNamed {
  /** What people call one, and several. */
  readonly what: readonly [one: string, several: string];
  /** At most {@link CODES_MAX} of them. @throws Refused, a fault of the books */
  find(codes: readonly string[]): Promise<CodesFound>;
}

export interface CodesFound {
  readonly faults: ReadonlyMap<string, Fault>;
  /** Not there, and made when they are needed. Left out: none. */
  readonly unknown?: readonly string[];
}

/** One that is missing is made with its first document; one that is not active keeps its code from being made. */
export function partiesFound(
  books: string,
  codes: readonly string[],
  isActive: ReadonlyMap<string, boolean>,
): CodesFound {
  const inactive = codes.filter((code) => isActive.get(code) === false);
  const faultOf = (code: string): Fault => ({
    code: "party-inactive",
    message: `the party ${code} is not active in ${books}`,
    next: `Activate the party ${code} in ${books}, or name another one in the table.`,
  });
  return {
    faults: new Map(inactive.map((code) => [code, faultOf(code)])),
    unknown: codes.filter((code) => !isActive.has(code)),
  };
}

/** A column of a table whose values are codes of the books, and the sinks whose documents carry them. */
export interface CodeColumn {
  readonly table: string;
  readonly column: string;
  readonly names: CodesNamed;
  readonly sinks: readonly string[];
}

type Finds = Readonly<Record<"product" | "unit" | "account" | "party", CodesNamed["find"]>>;

/**
 * The columns that the mappings `books/…` read, of those tables that name products, units, accounts and parties.
 */
export function ledgerColumns({ product, unit, account, party }: Finds): CodeColumn[] {
  const products: CodesNamed = { what: ["product", "products"], find: product };
  const units: CodesNamed = { what: ["unit", "units"], find: unit };
  const accounts: CodesNamed = { what: ["account", "accounts"], find: account };
  const parties: CodesNamed = { what: ["party", "parties"], find: party };
  const goods = ["orders", "shipments"];
  const of = (
    table: string,
    column: string,
    names: CodesNamed,
    ...sinks: string[]
  ): CodeColumn => ({
    table,
    column,
    names,
    sinks,
  });
  return [
    of("items", "item", products, ...goods, "invoices", "bills"),
    of("units", "symbol", units, ...goods, "invoices", "bills"),
    of("tax-accounts", "sales", accounts, "invoices"),
    of("tax-accounts", "purchases", accounts, "bills"),
    of("charge-accounts", "sales", accounts, "invoices"),
    of("charge-accounts", "purchases", accounts, "bills"),
    of("customers", "account", parties, ...goods, "invoices"),
    of("vendors", "account", parties, ...goods, "bills"),
  ];
}

/** Each column that a flow needs, and each code in it that documents cannot be booked with, with its lines. */
export async function codeExaminations(
  books: Pick<Books, "name" | "errors">,
  columns: readonly CodeColumn[],
  needs: Needs,
  signal: AbortSignal,
): Promise<Examination[]> {
  const examinations: Examination[] = [];
  for (const { table, column, names, sinks } of columns) {
    const cells = needs.column(table, column);
    const [first] = cells;
    if (first === undefined || !sinks.some((sink) => needs.parts.has(sink))) continue;
    signal.throwIfAborted();
    const byCode = Map.groupBy(cells, ({ value }) => value);
    const what = `${first.file} (${column}): ${byCode.size} ${names.what[byCode.size === 1 ? 0 : 1]}`;
    const faults = new Map<string, Fault>();
    const unknown: string[] = [];
    const looked = async (): Promise<Fault | null> => {
      const codes = [...byCode.keys()];
      for (let at = 0; at < codes.length; at += CODES_MAX) {
        const found = await names.find(codes.slice(at, at + CODES_MAX));
        for (const [code, fault] of found.faults) faults.set(code, fault);
        unknown.push(...(found.unknown ?? []));
      }
      return null;
    };
    const unreadable = await faultOf(books, [what, looked]);
    const note = noteOf(books.name, unknown, byCode);
    examinations.push({ what, fault: unreadable, ...(note === null ? {} : { note }) });
    for (const [code, fault] of faults)
      examinations.push({ what: placeOf(byCode.get(code) ?? []), fault });
  }
  return examinations;
}

const SHOWN_MAX = 5;

function noteOf(
  books: string,
  unknown: readonly string[],
  byCode: ReadonlyMap<string, readonly Cell[]>,
): string | null {
  if (unknown.length === 0) return null;
  const shown = unknown
    .slice(0, SHOWN_MAX)
    .map((code) => `${code} (line ${byCode.get(code)?.[0]?.line})`);
  const more = unknown.length > SHOWN_MAX ? ` and ${unknown.length - SHOWN_MAX} more` : "";
  return `not in ${books} by code, and created with the first document unless the platform's id is found: ${shown.join(", ")}${more}`;
}

const LINES_MAX = 10;

/** `crossref/tax-accounts.csv lines 12, 15` */
function placeOf(cells: readonly Cell[]): string {
  const lines = cells.map(({ line }) => line);
  const more = lines.length > LINES_MAX ? ` and ${lines.length - LINES_MAX} more` : "";
  const file = cells[0]?.file ?? "";
  return `${file} line${lines.length === 1 ? "" : "s"} ${lines.slice(0, LINES_MAX).join(", ")}${more}`;
}

/* What must hold for a company of the books and for its accounts before documents are booked: the same words for every ERP. */

/** A company of the books, as the configuration names it. */
interface CompanyNamed {
  readonly company: string;
  /** ISO 4217 */
  readonly currency: string;
}

/** @param kept the currency that its books are kept in @throws Refused, a fault of the books */
export const currencyCheck = (
  { company, currency }: CompanyNamed,
  needs: Pick<Needs, "currency">,
  kept: () => Promise<string>,
): Check => [
  `company "${company}" in ${currency}`,
  async () => {
    const its = await kept();
    const wrong = [currency, needs.currency].find((one) => one !== its);
    if (wrong === undefined) return null;
    return {
      code: "wrong-currency",
      message: `the books of ${company} are kept in ${its}, not in ${wrong}`,
      next: "Correct currency in the configuration, or name the company that keeps its books in it. Nothing is converted.",
    };
  },
];

/** Rack prices have six decimal places at the most. */
const PRICE_DECIMALS = 6;

/**
 * @param books what people call the books
 * @param places decimal places of a unit price in them @throws Refused, a fault of the books
 * @param remedy how people give prices {@link PRICE_DECIMALS} decimal places, a sentence
 */
export const pricePlacesCheck = (
  books: string,
  places: () => Promise<number>,
  remedy: (decimals: number) => string,
): Check => [
  `prices with ${PRICE_DECIMALS} decimal places`,
  async () => {
    const kept = await places();
    if (kept >= PRICE_DECIMALS) return null;
    return {
      code: "few-decimals",
      message: `${books} keeps prices with ${kept} decimal places; rack prices have up to ${PRICE_DECIMALS}`,
      next: `${remedy(PRICE_DECIMALS)} Until then invoice lines with such prices are booked as one piece at their amount, and orders with them wait for a person.`,
    };
  },
];

/** An account that documents cannot be booked on. @param is why: `is closed` */
export const wrongAccount = (code: string, is: string, next: string): Fault => ({
  code: "wrong-account",
  message: `account ${code} ${is}`,
  next,
});

/* The periods of what is about to be booked: of today and the next two months, and of documents that are stored and wait. */

/**
 * Books that are closed up to a day, and the documents that wait and are dated on or before it.
 * @param until `YYYY-MM-DD`; null: they are not closed @param where people open them: `QuickBooks (Settings, Advanced)`
 */
export function closingExamination(
  until: string | null,
  { days }: Pick<Needs, "days">,
  where: string,
): Examination {
  if (until === null) return { what: "closing date: none", fault: null };
  const count = sum(days.filter(({ day }) => day <= until));
  const wait = count === 1 ? "document that waits is" : "documents that wait are";
  const fault: Fault = {
    code: "closed-period",
    message: `${count} ${wait} dated on or before the closing date ${until}`,
    next: `An accountant opens the books in ${where}, or enters the documents by hand.`,
  };
  return { what: `books closed until ${until}`, fault: count === 0 ? null : fault };
}

/** Days are `YYYY-MM-DD`, both included. */
export interface BookPeriod {
  readonly name: string;
  readonly isOpen: boolean;
  readonly from: string;
  readonly to: string;
}

interface Periods {
  readonly books: Pick<Books, "name" | "errors">;
  readonly surroundings: Pick<Surroundings, "now" | "dayOf">;
  /** All that touch these days. @throws a fault of the books */
  readonly between: (from: string, to: string) => Promise<readonly BookPeriod[]>;
}

type Of = (date: string) => BookPeriod | undefined;

/** One call for all of them. */
export async function periodExaminations(
  { books, surroundings, between }: Periods,
  { days }: Pick<Needs, "days">,
): Promise<Examination[]> {
  const soon = monthsFrom(surroundings.dayOf(surroundings.now().toISOString()));
  const dates = [...soon, ...days.map((one) => one.day)].toSorted();
  let periods: readonly BookPeriod[] = [];
  const unreadable = await faultOf(books, [
    "periods",
    async () => {
      periods = await between(dates[0] ?? "", dates.at(-1) ?? "");
      return null;
    },
  ]);
  if (unreadable !== null) return [{ what: "periods", fault: unreadable }];
  const on: Of = (date) => periods.find(({ from, to }) => from <= date && date <= to);
  const fault = (date: string) => periodFault(books.name, date, on(date));
  return [
    ...soon.map((date) => ({ what: `open period for ${date}`, fault: fault(date) })),
    ...waiting(days, on, fault),
  ];
}

function periodFault(books: string, date: string, period: BookPeriod | undefined): Fault | null {
  if (period?.isOpen === true) return null;
  return {
    code: "closed-period",
    message: period ? `period ${period.name} is closed` : `there is no period for ${date}`,
    next: period
      ? `An accountant opens the period in ${books}.`
      : `An accountant creates the fiscal year with its periods in ${books}.`,
  };
}

/** One line for all that wait; or one for each period that cannot take its documents. */
function waiting(
  days: readonly DayToBook[],
  on: Of,
  faultOn: (date: string) => Fault | null,
): Examination[] {
  if (days.length === 0) return [];
  const shut = days.filter(({ day: date }) => faultOn(date) !== null);
  const byPeriod = Map.groupBy(shut, ({ day: date }) => on(date)?.name ?? date.slice(0, 7));
  if (shut.length === 0)
    return [{ what: `open periods for ${documents(sum(days))} that wait`, fault: null }];
  return [...byPeriod].map(([name, group]): Examination => {
    const first = group.map((one) => one.day).toSorted()[0] ?? "";
    const fault = faultOn(first);
    const flows = [...Map.groupBy(group, ({ flow }) => flow)]
      .map(([flow, its]) => `${sum(its)} of ${flow}`)
      .join(", ");
    const message = `${fault?.message ?? ""}: ${flows}, from ${first} on, cannot be booked`;
    return { what: `period ${name}`, fault: fault && { ...fault, message } };
  });
}

const sum = (days: readonly DayToBook[]): number => days.reduce((all, { count }) => all + count, 0);

const documents = (count: number): string => `${count} document${count === 1 ? "" : "s"}`;

/** Today and the first days of the next two months. */
function monthsFrom(today: string): string[] {
  const firstOf = (ahead: number): string => {
    const date = new Date(`${today.slice(0, 7)}-01T00:00:00Z`);
    date.setUTCMonth(date.getUTCMonth() + ahead);
    return date.toISOString().slice(0, 10);
  };
  return [today, firstOf(1), firstOf(2)];
}

/* The rights that the synchronisation's user needs in books that give them by model, by what it does. */

export interface RightsArea {
  /** What needs them: `orders`. */
  readonly what: string;
  /** The ERP's own groups that give them, for people. */
  readonly groups: string;
  /** Models by the rights that each needs: `{ "read write": "account.move.line" }`. */
  readonly models: Readonly<Record<string, string>>;
  /** Buttons by the model that they belong to: `{ "sale.sale": "quote confirm" }`. */
  readonly buttons?: Readonly<Record<string, string>>;
}

/** What an ERP tells of the user's rights. Every method @throws a fault of the ERP */
export interface Rights extends Pick<Books, "name"> {
  /** Where people activate what is missing, a sentence. */
  readonly remedy: string;
  /** Those of these models that the ERP has. */
  present(models: readonly string[]): Promise<ReadonlySet<string>>;
  /** By model, those of its rights that the user lacks. @param needed rights by model */
  lacking(needed: ReadonlyMap<string, readonly string[]>): Promise<readonly string[]>;
  /** Those of a model's buttons that the user may not press. */
  barred(model: string, buttons: readonly string[]): Promise<readonly string[]>;
  /** Why nobody has these rights here; null: people give them. */
  never?(area: RightsArea): Promise<Fault | null>;
}

/** One check for each area. */
export const rightsCheck = (rights: Rights, area: RightsArea): Check => [
  `rights: ${area.what}`,
  async () => (await rights.never?.(area)) ?? rightsFault(rights, area),
];

async function rightsFault(rights: Rights, area: RightsArea): Promise<Fault | null> {
  const needed = new Map(
    Object.entries(area.models).flatMap(([its, models]) =>
      models.split(" ").map((model) => [model, its.split(" ")] as const),
    ),
  );
  const present = await rights.present([...needed.keys()]);
  const without = [...needed.keys()].filter((model) => !present.has(model));
  if (without.length > 0)
    return {
      code: "no-module",
      message: `${rights.name} does not have ${without.join(", ")}`,
      next: rights.remedy,
    };
  const lacking = [...(await rights.lacking(needed))];
  for (const [model, buttons] of Object.entries(area.buttons ?? {}))
    for (const button of await rights.barred(model, buttons.split(" ")))
      lacking.push(`button ${button} of ${model}`);
  if (lacking.length === 0) return null;
  return {
    code: "no-right",
    message: `the user may not: ${lacking.join(", ")}`,
    next: `Add the user to these groups in ${rights.name}: ${area.groups}.`,
  };
}
