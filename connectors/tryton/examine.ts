/** What must hold in Tryton before the next document goes: each thing with what to do when it does not. */
import { Decimal } from "../../src/core/decimal.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import type { DayToBook, Examination, Needs } from "../../src/core/contract.ts";
import type { Fault } from "../../src/core/record.ts";
import { reading } from "../../src/ledger/errors.ts";
import {
  type Check,
  type CodeColumn,
  codeExaminations,
  type CodesFound,
  type CodesNamed,
  examined,
  exists,
  faultOf,
} from "../../src/ledger/examine.ts";
import { inPages } from "../../src/ledger/holdings.ts";
import type { Books } from "./books.ts";
import { rightsLooks } from "./rights.ts";
import {
  amounts,
  day,
  either,
  flags,
  ofCompany,
  one,
  oneOrNone,
  rowOf,
  type RowOf,
  rowsOf,
  texts,
  where,
} from "./rows.ts";
import { NoSuchCompany, TESTED, TRYTON, unavailable } from "./wire.ts";

/** @throws SourceUnavailable when Tryton, its database, the user or the company is not there */
export async function checkTryton({ tryton, config }: Books, signal: AbortSignal): Promise<void> {
  try {
    await tryton.call("model.res.user.get_preferences", [true], { signal });
  } catch (error) {
    const told = unavailable(error);
    if (!(error instanceof NoSuchCompany)) throw told;
    const next = `Correct company in the configuration, or add it to the companies of the user ${config.user} in Tryton.`;
    throw new SourceUnavailable(told.message, { next, cause: error });
  }
}

export async function examineTryton(
  books: Books,
  signal: AbortSignal,
  needs: Needs,
): Promise<readonly Examination[]> {
  const looks = (all: readonly Check[]): Promise<Examination[]> => examined(TRYTON, all, signal);
  return [
    await releaseExamination(books, signal),
    ...(await looks([...rightsLooks(books, needs.parts), ...companyChecks(books, needs)])),
    ...(await periodExaminations(books, needs)),
    ...(await looks(codeLooks(books))),
    ...(await codeExaminations(TRYTON, columnsOf(books), needs, signal)),
  ];
}

/** Documents go to a release that no test runs against as well: what it has changed shows as refusals. */
async function releaseExamination(books: Books, signal: AbortSignal): Promise<Examination> {
  const { name } = TRYTON;
  const asked = exists(`release of ${name}`, () => books.tryton.release());
  const [told] = await examined(TRYTON, [asked], signal);
  if (told?.fault !== null) return told as Examination;
  const { version, series } = await books.tryton.release();
  const what = `${name} ${version}`;
  if (TESTED.includes(series)) return { what, fault: null };
  const note = `fuelbridge is tested with ${name} ${TESTED.join(" and ")}, not with ${series}: try it on a copy of the books first`;
  return { what, fault: null, note };
}

/* The periods of what is about to be booked: of today and the next two months, and of documents that are stored and wait. */

/** Days are `YYYY-MM-DD`, both included. */
interface Period {
  readonly name: string;
  readonly isOpen: boolean;
  readonly from: string;
  readonly to: string;
}

type Of = (date: string) => Period | undefined;

/** One call for all of them. */
async function periodExaminations(
  books: Books,
  { days }: Pick<Needs, "days">,
): Promise<Examination[]> {
  const { surroundings } = books;
  const soon = monthsFrom(surroundings.dayOf(surroundings.now().toISOString()));
  const dates = [...soon, ...days.map((one) => one.day)].toSorted();
  let periods: readonly Period[] = [];
  const unreadable = await faultOf(TRYTON, [
    "periods",
    async () => {
      periods = await periodsBetween(books, dates[0] ?? "", dates.at(-1) ?? "");
      return null;
    },
  ]);
  if (unreadable !== null) return [{ what: "periods", fault: unreadable }];
  const on: Of = (date) => periods.find(({ from, to }) => from <= date && date <= to);
  const fault = (date: string) => periodFault(date, on(date));
  return [
    ...soon.map((date) => ({ what: `open period for ${date}`, fault: fault(date) })),
    ...waiting(days, on, fault),
  ];
}

function periodFault(date: string, period: Period | undefined): Fault | null {
  if (period?.isOpen === true) return null;
  return {
    code: "closed-period",
    message: period ? `period ${period.name} is closed` : `there is no period for ${date}`,
    next: period
      ? `An accountant opens the period in ${TRYTON.name}.`
      : `An accountant creates the fiscal year with its periods in ${TRYTON.name}.`,
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

async function periodsBetween(books: Books, from: string, to: string): Promise<Period[]> {
  const domain = where({
    ...(await ofCompany(books)),
    "type =": "standard",
    "end_date >=": day(from),
    "start_date <=": day(to),
  });
  const fields = texts("name state start_date end_date");
  const rows = await rowsOf(books, "account.period", domain, fields);
  return rows.map(({ name, state, start_date, end_date }) => ({
    name,
    isOpen: state === "open",
    from: start_date,
    to: end_date,
  }));
}

/** Rack prices have six decimal places at the most. */
const PRICE_DECIMALS = 6;

const companyChecks = ({ lookup, config, tryton }: Books, needs: Needs): Check[] => [
  [
    `company "${config.company}" in ${config.currency}`,
    async () => {
      const id = await lookup.company(config.company);
      const fields = { currency: one(texts("code")) };
      const its = (await rowOf({ tryton }, "company.company", id, fields)).currency.code;
      const wrong = [config.currency, needs.currency].find((currency) => currency !== its);
      if (wrong === undefined) return null;
      return {
        code: "wrong-currency",
        message: `the books of ${config.company} are kept in ${its}, not in ${wrong}`,
        next: "Correct currency in the configuration, or name the company that keeps its books in it. Nothing is converted.",
      };
    },
  ],
  [
    `prices with ${PRICE_DECIMALS} decimal places`,
    async () => {
      const kept = await lookup.pricePlaces();
      if (kept >= PRICE_DECIMALS) return null;
      return {
        code: "few-decimals",
        message: `${TRYTON.name} keeps prices with ${kept} decimal places; rack prices have up to ${PRICE_DECIMALS}`,
        next: `Set price_decimal = ${PRICE_DECIMALS} under [product] in trytond.conf. Tryton fixes it when the database is made: ask whoever looks after it. Until then invoice lines with such prices are booked as one piece at their amount, and orders with them wait for a person.`,
      };
    },
  ],
];

const ACCOUNTS = ["receivable", "payable", "revenue", "expense"] as const;
const JOURNALS = ["revenue", "expense"] as const;

/** Every code that the configuration names. */
function codeLooks(books: Books): Check[] {
  const { lookup, config } = books;
  const { accounts, journals, paymentMethod, paymentTerm, warehouse } = config;
  return [
    ...ACCOUNTS.map((kind): Check => [
      `account ${accounts[kind]} (${kind})`,
      () => accountFault(books, accounts[kind], kind),
    ]),
    ...JOURNALS.map((kind): Check => [
      `journal ${journals[kind]} (${kind})`,
      () => journalFault(books, journals[kind], kind),
    ]),
    exists(`payment method "${paymentMethod}"`, () => lookup.paymentMethod(paymentMethod)),
    ...(paymentTerm === undefined
      ? []
      : [exists(`payment term "${paymentTerm}"`, () => lookup.paymentTerm(paymentTerm))]),
    exists(`warehouse ${warehouse}`, () => lookup.location(warehouse)),
    exists("unit gal", () => lookup.unit("gal")),
  ];
}

async function accountFault(
  books: Books,
  code: string,
  kind: (typeof ACCOUNTS)[number],
): Promise<Fault | null> {
  const id = await books.lookup.account(code);
  const { closed, type } = await rowOf(books, "account.account", id, ACCOUNT);
  if (!closed && type?.[kind] === true) return null;
  const next = `Set accounts.${kind} to an open account whose type is marked as ${kind} in Tryton.`;
  return wrongAccount(code, closed ? "is closed" : `is no ${kind} account`, next);
}

/** An account that documents cannot be booked on. @param is why: `is closed` */
const wrongAccount = (code: string, is: string, next: string): Fault => ({
  code: "wrong-account",
  message: `account ${code} ${is}`,
  next,
});

const ACCOUNT = {
  ...flags("closed"),
  type: oneOrNone(flags("receivable payable revenue expense")),
};

async function journalFault(
  books: Books,
  code: string,
  kind: (typeof JOURNALS)[number],
): Promise<Fault | null> {
  const id = await books.lookup.journal(code);
  const { type } = await rowOf(books, "account.journal", id, texts("type"));
  if (type === kind) return null;
  return {
    code: "wrong-journal",
    message: `journal ${code} is of type ${type}, not ${kind}`,
    next: `Set journals.${kind} to a journal of type ${kind}.`,
  };
}

const columnsFor = (
  what: CodesNamed["what"],
  find: CodesNamed["find"],
  columns: Readonly<Record<string, readonly string[]>>,
): CodeColumn[] =>
  Object.entries(columns).map(([cell, sinks]) => {
    const [table = "", column = ""] = cell.split(".");
    return { table, column, names: { what, find }, sinks };
  });

/** The columns that mappings read, of those tables that name products, units, accounts and parties. */
function columnsOf(books: Books): readonly CodeColumn[] {
  const { faults } = books.lookup;
  const goods = ["orders", "shipments"];
  const documents = [...goods, "invoices", "bills"];
  const accounts = async (codes: readonly string[]) => {
    const absent = await faults("account", codes);
    return { faults: new Map([...absent, ...(await unusable(books, codes))]) };
  };
  return [
    ...columnsFor(
      ["product", "products"],
      async (all) => ({ faults: await faults("product", all) }),
      {
        "items.item": documents,
      },
    ),
    ...columnsFor(["unit", "units"], async (all) => ({ faults: await faults("unit", all) }), {
      "units.symbol": documents,
    }),
    ...columnsFor(["account", "accounts"], accounts, {
      "tax-accounts.sales": ["invoices"],
      "tax-accounts.purchases": ["bills"],
      "charge-accounts.sales": ["invoices"],
      "charge-accounts.purchases": ["bills"],
    }),
    ...columnsFor(["party", "parties"], (codes) => findParties(books, codes), {
      "customers.account": [...goods, "invoices"],
      "vendors.account": [...goods, "bills"],
    }),
  ];
}

/** Accounts that Tryton books nothing on: closed ones, and headings, which have no type. */
async function unusable(
  books: Books,
  codes: readonly string[],
): Promise<ReadonlyMap<string, Fault>> {
  const unfit = either({ "closed =": true, "type =": null });
  const domain = [...where({ "code in": codes, ...(await ofCompany(books)) }), unfit];
  const fields = { ...texts("code"), ...flags("closed") };
  const rows = await rowsOf(books, "account.account", domain, fields);
  const next = "Name an open account with a type in the table, or open this one in Tryton.";
  const unusableOf = ({ code, closed }: (typeof rows)[number]) =>
    wrongAccount(code, closed ? "is closed" : "is a heading, without type", next);
  return new Map(rows.map((row) => [row.code, unusableOf(row)]));
}

const inactiveFault = (code: string): Fault => ({
  code: "party-inactive",
  message: `the party ${code} is not active in ${TRYTON.name}`,
  next: `Activate the party ${code} in ${TRYTON.name}, or name another one in the table.`,
});

/** One that is missing is made with its first document; one that is not active keeps its code from being made. */
async function findParties(books: Books, codes: readonly string[]): Promise<CodesFound> {
  const fields = { ...texts("code"), ...flags("active") };
  const asked = where({ "code in": codes });
  const rows = await rowsOf(books, "party.party", asked, fields, { inactive: true });
  const known = new Set(rows.map(({ code }) => code));
  const inactive = rows.filter(({ active }) => !active);
  return {
    faults: new Map(inactive.map(({ code }) => [code, inactiveFault(code)])),
    unknown: codes.filter((code) => !known.has(code)),
  };
}

/* What parties owe by the ledger, beside what their invoices say is open. */

/**
 * What parties owe us (`invoice`), or we owe them (`bill`), by the lines of the ledger's receivable or payable accounts
 * that are not reconciled. @throws SourceUnavailable
 */
export const controlOf = (
  books: Books,
  kind: "invoice" | "bill",
  signal: AbortSignal,
): Promise<{ readonly party: string; readonly open: Decimal }[]> =>
  reading(TRYTON, async () => {
    const sums = new Map<string, Decimal>();
    for await (const page of entriesOf(books, kind === "invoice", signal))
      for (const { party, open } of page)
        sums.set(party, (sums.get(party) ?? Decimal.zero).plus(open));
    return [...sums]
      .map(([party, open]) => ({ party, open }))
      .filter(({ open }) => open.sign !== 0);
  });

async function* entriesOf(books: Books, isOwedToUs: boolean, signal: AbortSignal) {
  const open = where({
    ...(await ofCompany(books, "move.company")),
    "move.state =": "posted",
    [`account.type.${isOwedToUs ? "receivable" : "payable"} =`]: true,
    "reconciliation =": null,
  });
  const read = (id: number): Promise<Line[]> => {
    const domain = [...open, ["id", ">", id]];
    return rowsOf(books, "account.move.line", domain, LINE, { most: ROWS, signal });
  };
  for await (const { rows } of inPages(0, ({ id }: Line) => id, read, ROWS))
    yield rows.map(({ party, debit, credit }) => ({
      party: party?.code ?? "",
      open: isOwedToUs ? debit.minus(credit) : credit.minus(debit),
    }));
}

/** Of the ledger in one call. */
const ROWS = 1_000;

const LINE = { ...amounts("debit credit"), party: oneOrNone(texts("code")) };
type Line = RowOf<typeof LINE>;
