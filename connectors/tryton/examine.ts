/** What must hold in Tryton before the next document goes: each thing with what to do when it does not. */
import type { Examination, Needs } from "../../src/core/examination.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import type { Fault } from "../../src/core/fault.ts";
import type { Books } from "./books.ts";
import { codeExaminations } from "../../src/books/examine-codes.ts";
import { currencyCheck, pricePlacesCheck, wrongAccount } from "../../src/books/examine-company.ts";
import { type BookPeriod, periodExaminations } from "../../src/books/examine-periods.ts";
import { columnsOf } from "./examine-codes.ts";
import { examined, exists, type Check } from "../../src/books/examine.ts";
import { type Release, TESTED } from "./release.ts";
import { rightsLooks } from "./rights.ts";
import { NoSuchCompany, TRYTON, unavailable } from "./errors.ts";
import { ofCompany, rowOf, rowsOf } from "./search.ts";
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
    await releaseExamination(books, signal),
    ...(await looks([...rightsLooks(books, needs.parts), ...companyChecks(books, needs)])),
    ...(await periodExaminations({ books: TRYTON, surroundings, between }, needs)),
    ...(await looks(codeLooks(books))),
    ...(await codeExaminations(TRYTON, columnsOf(books), needs, signal)),
  ];
}

interface PeriodRow {
  readonly name: string;
  readonly state: string;
  readonly start_date: string;
  readonly end_date: string;
}

async function periodsBetween(books: Books, from: string, to: string): Promise<BookPeriod[]> {
  const domain = [
    await ofCompany(books),
    ["type", "=", "standard"],
    ["end_date", ">=", day(from)],
    ["start_date", "<=", day(to)],
  ];
  const fields = "name state start_date end_date";
  const rows = await rowsOf<PeriodRow>(books, "account.period", domain, fields);
  return rows.map(({ name, state, start_date, end_date }) => ({
    name,
    isOpen: state === "open",
    from: start_date,
    to: end_date,
  }));
}

/** Documents go to a release that no test runs against as well: what it has changed shows as refusals. */
async function releaseExamination({ tryton }: Books, signal: AbortSignal): Promise<Examination> {
  let release: Release | undefined;
  const asked = async () => void (release = await tryton.release());
  const [told] = await examined(TRYTON, [exists("release of Tryton", asked)], signal);
  if (release === undefined) return told as Examination;
  const what = `Tryton ${release.version}`;
  if (TESTED.includes(release.series)) return { what, fault: null };
  const tested = TESTED.join(" and ");
  return {
    what,
    fault: null,
    note: `fuelbridge is tested with Tryton ${tested}, not with ${release.series}: try it on a copy of the books first`,
  };
}

const placesRemedy = (decimals: number): string =>
  `Set price_decimal = ${decimals} under [product] in trytond.conf. Tryton fixes it when the database is made: ask whoever looks after it.`;

function companyChecks(books: Books, needs: Needs): Check[] {
  const { lookup, config } = books;
  const kept = async (): Promise<string> => {
    const id = await lookup.company(config.company);
    const company = await rowOf<CompanyRow>(books, "company.company", id, "currency.code");
    return company["currency."].code;
  };
  return [
    currencyCheck(config, needs, kept),
    pricePlacesCheck(TRYTON.name, () => lookup.pricePlaces(), placesRemedy),
  ];
}

interface CompanyRow {
  readonly "currency.": { readonly code: string };
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
  const row = await rowOf<{ closed: unknown; "type.": Record<string, unknown> | null }>(
    books,
    "account.account",
    await books.lookup.account(code),
    "closed type(receivable payable revenue expense)",
  );
  if (!row.closed && row["type."]?.[kind]) return null;
  const next = `Set accounts.${kind} to an open account whose type is marked as ${kind} in Tryton.`;
  return wrongAccount(code, row.closed ? "is closed" : `is no ${kind} account`, next);
}

async function journalFault(
  books: Books,
  code: string,
  kind: (typeof JOURNALS)[number],
): Promise<Fault | null> {
  const id = await books.lookup.journal(code);
  const row = await rowOf<{ type: string }>(books, "account.journal", id, "type");
  if (row.type === kind) return null;
  return {
    code: "wrong-journal",
    message: `journal ${code} is of type ${row.type}, not ${kind}`,
    next: `Set journals.${kind} to a journal of type ${kind}.`,
  };
}
