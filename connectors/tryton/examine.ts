/** What must hold in Tryton before the next document goes: each thing with what to do when it does not. */
import {
  ledgerColumns,
  type CodeColumn,
  codeExaminations,
  type CodesFound,
  partiesFound,
} from "../../src/ledger/examine-codes.ts";
import { currencyCheck, pricePlacesCheck, wrongAccount } from "../../src/ledger/examine-company.ts";
import { type BookPeriod, periodExaminations } from "../../src/ledger/examine-periods.ts";
import { type Check, examined, exists, releaseExamination } from "../../src/ledger/examine.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import type { Examination, Needs } from "../../src/core/examination.ts";
import type { Fault } from "../../src/core/fault.ts";
import type { Books } from "./books.ts";
import { NoSuchCompany, TRYTON, unavailable } from "./errors.ts";
import { TESTED } from "./release.ts";
import { rightsLooks } from "./rights.ts";
import { flags, one, oneOrNone, texts } from "./rows.ts";
import { either, ofCompany, rowOf, rowsOf, where } from "./search.ts";
import { day } from "./values.ts";

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
  const { surroundings } = books;
  const between = (from: string, to: string) => periodsBetween(books, from, to);
  return [
    await releaseExamination(TRYTON, TESTED, () => books.tryton.release(), signal),
    ...(await looks([...rightsLooks(books, needs.parts), ...companyChecks(books, needs)])),
    ...(await periodExaminations({ books: TRYTON, surroundings, between }, needs)),
    ...(await looks(codeLooks(books))),
    ...(await codeExaminations(TRYTON, columnsOf(books), needs, signal)),
  ];
}

async function periodsBetween(books: Books, from: string, to: string): Promise<BookPeriod[]> {
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

const placesRemedy = (decimals: number): string =>
  `Set price_decimal = ${decimals} under [product] in trytond.conf. Tryton fixes it when the database is made: ask whoever looks after it.`;

function companyChecks(books: Books, needs: Needs): Check[] {
  const { lookup, config } = books;
  const kept = async (): Promise<string> => {
    const id = await lookup.company(config.company);
    const fields = { currency: one(texts("code")) };
    return (await rowOf(books, "company.company", id, fields)).currency.code;
  };
  return [
    currencyCheck(config, needs, kept),
    pricePlacesCheck(TRYTON.name, () => lookup.pricePlaces(), placesRemedy),
  ];
}

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

/** Of the tables that the mappings in `mappings/books` read. */
function columnsOf(books: Books): readonly CodeColumn[] {
  const { faults } = books.lookup;
  return ledgerColumns({
    product: async (codes) => ({ faults: await faults("product", codes) }),
    unit: async (codes) => ({ faults: await faults("unit", codes) }),
    async account(codes) {
      const absent = await faults("account", codes);
      return { faults: new Map([...absent, ...(await unusable(books, codes))]) };
    },
    party: (codes) => findParties(books, codes),
  });
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

async function findParties(books: Books, codes: readonly string[]): Promise<CodesFound> {
  const fields = { ...texts("code"), ...flags("active") };
  const asked = where({ "code in": codes });
  const rows = await rowsOf(books, "party.party", asked, fields, { inactive: true });
  const isActive = new Map(rows.map(({ code, active }) => [code, active]));
  return partiesFound(TRYTON.name, codes, isActive);
}
