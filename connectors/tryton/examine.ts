/** What must hold in Tryton before the first document goes: each thing with what to do when it does not. */
import type { Examination } from "../../src/core/contract.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import type { Fault } from "../../src/core/fault.ts";
import type { Books } from "./books.ts";
import { faultOf, type Look } from "./look.ts";
import { rightsLooks } from "./rights.ts";
import { unavailable } from "./sources/unavailable.ts";
import { day } from "./values.ts";

/** @throws SourceUnavailable when Tryton, its database, the user or the company is not there */
export async function checkTryton({ tryton, config }: Books, signal: AbortSignal): Promise<void> {
  try {
    await tryton.call("model.res.user.get_preferences", [true], { signal });
  } catch (error) {
    const told = unavailable(error);
    if (!/has (?:no|more than one) company/.test(told.message)) throw told;
    const next = `Correct company in the configuration, or add it to the companies of the user ${config.user} in Tryton.`;
    throw new SourceUnavailable(told.message, { next, cause: error });
  }
}

export async function examineTryton(
  books: Books,
  signal: AbortSignal,
): Promise<readonly Examination[]> {
  const looks = [
    ...rightsLooks(books),
    ...companyLooks(books),
    ...periodLooks(books),
    ...codeLooks(books),
  ];
  const examinations: Examination[] = [];
  for (const look of looks) {
    signal.throwIfAborted();
    examinations.push({ what: look[0], fault: await faultOf(look) });
  }
  return examinations;
}

/** Rack prices have six decimal places at the most. */
const PRICE_DECIMALS = 6;

function companyLooks({ tryton, lookup, config }: Books): Look[] {
  const { company, currency } = config;
  return [
    [
      `company "${company}" in ${currency}`,
      async () => {
        const id = await lookup.company(company);
        const [row] = await tryton.call<[{ "currency.": { code: string } }]>(
          "model.company.company.read",
          [[id], ["currency.code"]],
        );
        const its = row["currency."].code;
        if (its === currency) return null;
        return {
          code: "wrong-currency",
          message: `the books of ${company} are kept in ${its}, not in ${currency}`,
          next: "Correct currency in the configuration, or name the company that keeps its books in it. Nothing is converted.",
        };
      },
    ],
    [
      `prices with ${PRICE_DECIMALS} decimal places`,
      async () => {
        const places = await lookup.pricePlaces();
        if (places >= PRICE_DECIMALS) return null;
        return {
          code: "few-decimals",
          message: `Tryton keeps prices with ${places} decimal places; rack prices have up to ${PRICE_DECIMALS}`,
          next: `Set price_decimal = ${PRICE_DECIMALS} under [product] in trytond.conf. Tryton fixes it when the database is made: ask whoever looks after it. Until then invoice lines with such prices are booked as one piece at their amount, and orders with them wait for a person.`,
        };
      },
    ],
  ];
}

/** Today's, and those that the next two months will need. */
function periodLooks({ tryton, surroundings }: Books): Look[] {
  return monthsFrom(surroundings.dayOf(surroundings.now().toISOString())).map((date) => [
    `open period for ${date}`,
    async () => {
      const domain = [
        ["company", "=", (await tryton.session()).company],
        ["type", "=", "standard"],
        ["start_date", "<=", day(date)],
        ["end_date", ">=", day(date)],
      ];
      const [period] = await tryton.call<{ name: string; state: string }[]>(
        "model.account.period.search_read",
        [domain, 0, 1, null, ["name", "state"]],
      );
      if (period?.state === "open") return null;
      return {
        code: "closed-period",
        message: period ? `period ${period.name} is closed` : `there is no period for ${date}`,
        next: period
          ? "An accountant opens the period in Tryton."
          : "An accountant creates the fiscal year with its periods in Tryton.",
      };
    },
  ]);
}

/** Today and the first days of the next two months. */
function monthsFrom(today: string): string[] {
  const firstOf = (ahead: number): string => {
    const date = new Date(`${today.slice(0, 7)}-01T00:00:00Z`);
    date.setUTCMonth(date.getUTCMonth() + ahead);
    return date.toISOString().slice(0, 10);
  };
  return [today, firstOf(1), firstOf(2)];
}

const ACCOUNTS = ["receivable", "payable", "revenue", "expense"] as const;
const JOURNALS = ["revenue", "expense"] as const;

/** Every code that the configuration names. */
function codeLooks(books: Books): Look[] {
  const { lookup, config } = books;
  const { accounts, journals, paymentMethod, paymentTerm, warehouse } = config;
  return [
    ...ACCOUNTS.map((kind): Look => [
      `account ${accounts[kind]} (${kind})`,
      () => accountFault(books, accounts[kind], kind),
    ]),
    ...JOURNALS.map((kind): Look => [
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

const exists = (what: string, find: () => Promise<unknown>): Look => [
  what,
  async () => {
    await find();
    return null;
  },
];

async function accountFault(
  { tryton, lookup }: Books,
  code: string,
  kind: (typeof ACCOUNTS)[number],
): Promise<Fault | null> {
  const fields = ["closed", "type.receivable", "type.payable", "type.revenue", "type.expense"];
  const [row] = await tryton.call<[{ closed: unknown; "type.": Record<string, unknown> | null }]>(
    "model.account.account.read",
    [[await lookup.account(code)], fields],
  );
  if (!row.closed && row["type."]?.[kind]) return null;
  return {
    code: "wrong-account",
    message: row.closed ? `account ${code} is closed` : `account ${code} is no ${kind} account`,
    next: `Set accounts.${kind} to an open account whose type is marked as ${kind} in Tryton.`,
  };
}

async function journalFault(
  { tryton, lookup }: Books,
  code: string,
  kind: (typeof JOURNALS)[number],
): Promise<Fault | null> {
  const [row] = await tryton.call<[{ type: string }]>("model.account.journal.read", [
    [await lookup.journal(code)],
    ["type"],
  ]);
  if (row.type === kind) return null;
  return {
    code: "wrong-journal",
    message: `journal ${code} is of type ${row.type}, not ${kind}`,
    next: `Set journals.${kind} to a journal of type ${kind}.`,
  };
}
