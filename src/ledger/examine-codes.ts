/**
 * What the cross-reference tables name in books: a code that names nothing there would send every document that needs it
 * to quarantine.
 */
import type { Cell, Examination, Needs } from "../core/examination.ts";
import type { Fault } from "../core/fault.ts";
import type { Books } from "./port.ts";
import { CODES_MAX } from "./codes.ts";
import { faultOf } from "./examine.ts";

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
 * The columns that the mappings in `mappings/books` read, of those tables that name products, units, accounts and parties.
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
