/**
 * What the cross-reference tables name in Tryton: a code that names nothing there would send every document that needs
 * it to quarantine. One call per kind and 500 codes.
 */
import type { Cell, Examination, Needs } from "../../src/core/examination.ts";
import type { Fault } from "../../src/core/fault.ts";
import type { Books } from "./books.ts";
import { faultOf } from "./look.ts";
import { CODES_MAX } from "../../src/books/codes.ts";

type Named = "account" | "product" | "unit" | "party";

/** A column of a table whose values are codes of Tryton, and the sinks whose documents carry them. */
interface Column {
  readonly table: string;
  readonly column: string;
  readonly names: Named;
  readonly sinks: readonly string[];
}

const ALL = ["orders", "shipments", "invoices", "bills"] as const;

/** Of the tables that the mappings in `mappings/books` read. */
const columns: readonly Column[] = [
  { table: "items", column: "item", names: "product", sinks: ALL },
  { table: "tryton-units", column: "symbol", names: "unit", sinks: ALL },
  { table: "tryton-taxes", column: "sales", names: "account", sinks: ["invoices"] },
  { table: "tryton-taxes", column: "purchases", names: "account", sinks: ["bills"] },
  { table: "tryton-accounts", column: "sales", names: "account", sinks: ["invoices"] },
  { table: "tryton-accounts", column: "purchases", names: "account", sinks: ["bills"] },
  {
    table: "customers",
    column: "account",
    names: "party",
    sinks: ["orders", "shipments", "invoices"],
  },
  { table: "vendors", column: "account", names: "party", sinks: ["orders", "shipments", "bills"] },
];

/** Each column that a flow needs, and each code in it that documents cannot be booked with, with its lines. */
export async function codeExaminations(
  books: Books,
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
    const named = byCode.size === 1 ? names : PLURALS[names];
    const what = `${first.file} (${column}): ${byCode.size} ${named}`;
    let found: Found = { faults: new Map(), unknown: [] };
    const looked = async (): Promise<Fault | null> => {
      found = await FINDS[names](books, [...byCode.keys()]);
      return null;
    };
    const unreadable = await faultOf([what, looked]);
    const note = noteOf(found.unknown, byCode);
    examinations.push({ what, fault: unreadable, ...(note === null ? {} : { note }) });
    for (const [code, fault] of found.faults)
      examinations.push({ what: placeOf(byCode.get(code) ?? []), fault });
  }
  return examinations;
}

const PLURALS: Readonly<Record<Named, string>> = {
  account: "accounts",
  product: "products",
  unit: "units",
  party: "parties",
};

interface Found {
  readonly faults: ReadonlyMap<string, Fault>;
  /** Not there, and made when they are needed. */
  readonly unknown: readonly string[];
}

const FINDS: Readonly<Record<Named, (books: Books, codes: readonly string[]) => Promise<Found>>> = {
  account: async (books, codes) => {
    const faults = await books.lookup.faults("account", codes);
    return { faults: new Map([...faults, ...(await unusable(books, codes))]), unknown: [] };
  },
  product: async ({ lookup }, codes) => ({
    faults: await lookup.faults("product", codes),
    unknown: [],
  }),
  unit: async ({ lookup }, codes) => ({ faults: await lookup.faults("unit", codes), unknown: [] }),
  party: findParties,
};

function* chunks(codes: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < codes.length; at += CODES_MAX) yield codes.slice(at, at + CODES_MAX);
}

/** Accounts that Tryton books nothing on: closed ones, and headings, which have no type. */
async function unusable(
  { tryton }: Books,
  codes: readonly string[],
): Promise<ReadonlyMap<string, Fault>> {
  const faults = new Map<string, Fault>();
  const { company } = await tryton.session();
  for (const chunk of chunks(codes)) {
    const domain = [
      ["code", "in", chunk],
      ["company", "=", company],
      ["OR", ["closed", "=", true], ["type", "=", null]],
    ];
    const rows = await tryton.call<{ code: string; closed: unknown }[]>(
      "model.account.account.search_read",
      [domain, 0, null, null, ["code", "closed"]],
    );
    for (const { code, closed } of rows)
      faults.set(code, {
        code: "wrong-account",
        message: closed
          ? `account ${code} is closed`
          : `account ${code} is a heading, without type`,
        next: "Name an open account with a type in the table, or open this one in Tryton.",
      });
  }
  return faults;
}

/** One that is missing is made with its first document; one that is not active keeps its code from being made. */
async function findParties({ tryton }: Books, codes: readonly string[]): Promise<Found> {
  const active = new Map<string, boolean>();
  for (const chunk of chunks(codes)) {
    const rows = await tryton.call<{ code: string; active: unknown }[]>(
      "model.party.party.search_read",
      [[["code", "in", chunk]], 0, null, null, ["code", "active"]],
      { context: { active_test: false } },
    );
    for (const row of rows) active.set(row.code, Boolean(row.active));
  }
  const inactive = codes.filter((code) => active.get(code) === false);
  return {
    faults: new Map(
      inactive.map((code) => [
        code,
        {
          code: "party-inactive",
          message: `the party ${code} is not active in Tryton`,
          next: `Activate the party ${code} in Tryton, or name another one in the table.`,
        },
      ]),
    ),
    unknown: codes.filter((code) => !active.has(code)),
  };
}

const SHOWN_MAX = 5;

function noteOf(
  unknown: readonly string[],
  byCode: ReadonlyMap<string, readonly Cell[]>,
): string | null {
  if (unknown.length === 0) return null;
  const shown = unknown
    .slice(0, SHOWN_MAX)
    .map((code) => `${code} (line ${byCode.get(code)?.[0]?.line})`);
  const more = unknown.length > SHOWN_MAX ? ` and ${unknown.length - SHOWN_MAX} more` : "";
  return `not in Tryton by code, and created with the first document unless the platform's id is found: ${shown.join(", ")}${more}`;
}

const LINES_MAX = 10;

/** `crossref/tryton-taxes.csv lines 12, 15` */
function placeOf(cells: readonly Cell[]): string {
  const lines = cells.map(({ line }) => line);
  const more = lines.length > LINES_MAX ? ` and ${lines.length - LINES_MAX} more` : "";
  const file = cells[0]?.file ?? "";
  return `${file} line${lines.length === 1 ? "" : "s"} ${lines.slice(0, LINES_MAX).join(", ")}${more}`;
}
