/** What is looked at in books before the next document goes, one thing at a time. */
import { Refused } from "../core/errors.ts";
import type { Cell, Examination, Needs } from "../core/contract.ts";
import type { Fault } from "../core/record.ts";
import { defined } from "../core/defined.ts";
import { inGroups } from "../core/groups.ts";
import { CODES_MAX, type CodesNamed } from "./codes.ts";
import { unavailable } from "./errors.ts";
import type { Books } from "./port.ts";

/**
 * What it is, and what is wrong with it; or what was found of several things. Not being able to look is a fault as well.
 * The second @throws Refused, a fault of the books
 */
export type Check = readonly [
  what: string,
  look: () => Promise<Fault<string> | null | readonly Examination[]>,
];

/** Of books whose connector has nothing looked at. */
export const UNSEEN: Examination = {
  what: "codes, rights and closing date",
  fault: null,
  isUnseen: true,
};

type Named = Pick<Books, "name" | "errors">;

/** It is there. @param find @throws Refused when it is not */
export const exists = (what: string, find: () => Promise<unknown>): Check => [
  what,
  async () => {
    await find();
    return null;
  },
];

/** One after the other. @throws the signal's reason */
export async function examined(
  books: Named,
  looks: readonly (Check | Examination)[],
  signal: AbortSignal,
): Promise<Examination[]> {
  const examinations: Examination[] = [];
  for (const one of looks) {
    signal.throwIfAborted();
    if ("what" in one) {
      examinations.push(one);
      continue;
    }
    const [what, look] = one;
    try {
      const told = await look();
      if (told === null || "code" in told) examinations.push({ what, fault: told });
      else examinations.push(...told);
    } catch (error) {
      examinations.push({ what, fault: faultOf(books, error) });
    }
  }
  return examinations;
}

function faultOf(books: Named, error: unknown): Fault {
  if (error instanceof Refused) return error.fault;
  const { message, next } = unavailable(error, books);
  return { code: "unreadable", message, next };
}

/*
 * What the cross-reference tables name in books: a code that names nothing there would send every document that needs it
 * to quarantine.
 */

/** Each code that the configuration names, once; what is left out there is not looked at. */
export const namedChecks = (
  named: CodesNamed,
  ...codes: readonly (string | undefined)[]
): Check[] =>
  [...new Set(codes)]
    .filter((code) => code !== undefined)
    .map((code) => [
      `${named.what} ${code}`,
      async () => (await named.find([code])).faults.get(code) ?? null,
    ]);

/** Columns that mappings read, what they name in books, and the sinks whose documents carry that. */
const COLUMNS = [
  ["items", "item", "product", "orders shipments invoices bills"],
  ["units", "symbol", "unit", "orders shipments invoices bills"],
  ["tax-accounts", "sales", "sold", "invoices"],
  ["tax-accounts", "purchases", "bought", "bills"],
  ["charge-accounts", "sales", "sold", "invoices"],
  ["charge-accounts", "purchases", "bought", "bills"],
  ["customers", "account", "party", "orders shipments invoices"],
  ["vendors", "account", "party", "orders shipments bills"],
] as const;

/** What these books name by codes. `sold`, `bought`: taxes and charges of invoices, and of bills. */
export type CodesOf = Readonly<Partial<Record<(typeof COLUMNS)[number][2], CodesNamed>>>;

/** Each column that a flow needs, and each code in it that documents cannot be booked with, with its lines. */
export const codeChecks = (books: string, codes: CodesOf, needs: Needs): Check[] =>
  COLUMNS.flatMap(([table, column, of, sinks]): Check[] => {
    const names = codes[of];
    const cells = needs.column(table, column);
    const [first] = cells;
    const isNeeded = sinks.split(" ").some((sink) => needs.parts.has(sink));
    if (names === undefined || first === undefined || !isNeeded) return [];
    const byCode = Map.groupBy(cells, ({ value }) => value);
    const called = byCode.size === 1 ? names.what : (names.several ?? `${names.what}s`);
    const what = `${first.file} (${column}): ${byCode.size} ${called}`;
    return [[what, () => examinedCodes(books, what, names, byCode)]];
  });

async function examinedCodes(
  books: string,
  what: string,
  names: CodesNamed,
  byCode: ReadonlyMap<string, readonly Cell[]>,
): Promise<Examination[]> {
  const codes = [...byCode.keys()];
  const examinations: Examination[] = [];
  const unknown: string[] = [];
  for (const asked of inGroups(codes, CODES_MAX)) {
    const found = await names.find(asked);
    for (const code of asked) {
      const fault = found.faults.get(code);
      if (fault) examinations.push({ what: placeOf(byCode.get(code) ?? []), fault });
    }
    unknown.push(...(found.unknown ?? []));
  }
  const note = noteOf(books, unknown, byCode);
  return [{ what, fault: null, ...defined({ note }) }, ...examinations];
}

const SHOWN_MAX = 5;

function noteOf(
  books: string,
  unknown: readonly string[],
  byCode: ReadonlyMap<string, readonly Cell[]>,
): string | undefined {
  if (unknown.length === 0) return undefined;
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

/**
 * Books that are closed up to a day, and take nothing after another one; and the documents that wait and are dated so.
 * @param until the last closed day, `YYYY-MM-DD`; null: none @param where people open them: `QuickBooks (Settings, Advanced)`
 * @param last the last day that they take; left out, null: they take any
 */
export function closingExamination(
  until: string | null,
  { days }: Pick<Needs, "days">,
  where: string,
  last: string | null = null,
): Examination {
  const open = last === null ? "" : `, open until ${last}`;
  if (until === null && last === null) return { what: "closing date: none", fault: null };
  const shut = days.filter(
    ({ day }) => (until !== null && day <= until) || (last !== null && day > last),
  );
  const count = shut.reduce((sum, one) => sum + one.count, 0);
  const wait = count === 1 ? "document that waits is" : "documents that wait are";
  const when = [
    ...(until === null ? [] : [`on or before the closing date ${until}`]),
    ...(last === null ? [] : [`after the last open day ${last}`]),
  ];
  const fault: Fault = {
    code: "closed-period",
    message: `${count} ${wait} dated ${when.join(" or ")}`,
    next: `An accountant opens the books in ${where}, or enters the documents by hand.`,
  };
  return {
    what: `books closed until ${until ?? "none"}${open}`,
    fault: count === 0 ? null : fault,
  };
}
