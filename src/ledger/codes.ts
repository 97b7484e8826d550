/**
 * Codes that people use in books, and the rows behind them. What people set up once is kept for ten minutes, and what is
 * missing is asked for again each time: somebody may have created it.
 */
import { Refused } from "../core/errors.ts";
import type { Fault } from "../core/record.ts";
import { isWithin } from "../core/time.ts";

/** Something that books name by codes. */
export interface CodeKind {
  /** What people call it: `account`. */
  readonly what: string;
  /** What people call its code: `code`, `symbol`, `name`. */
  readonly called: string;
}

/** Left out: it is active. Nothing new is booked with what is not. */
interface Active {
  readonly active?: boolean;
  /** What people call that, and what is done about it: `is blocked`, `Take the block off`. */
  readonly inactive?: readonly [is: string, remedy: string];
}

/** What codes name, as it is looked at before documents go (examine.ts). */
export interface CodesNamed extends Pick<CodeKind, "what"> {
  /** What people call several, where that is not the same with an `s`. */
  readonly several?: string;
  /** At most {@link CODES_MAX} of them. @throws Refused, a fault of the books */
  find(codes: readonly string[]): Promise<CodesFound>;
}

export interface CodesFound {
  /** Why a code cannot be used. Null, left out: it can. */
  readonly faults: ReadonlyMap<string, Fault<string> | null>;
  /** Not there, and made when they are needed. Left out: none. */
  readonly unknown?: readonly string[];
}

interface CodesOptions<Kind extends CodeKind, Row extends Active> {
  /** What people call the books: `Tryton`. */
  readonly books: string;
  readonly now: () => Date;
  /** Rows of these codes, of what is not active too. @throws a fault of the books */
  readonly rowsOf: (kind: Kind, codes: readonly string[]) => Promise<readonly Row[]>;
  readonly codeOf: (kind: Kind, row: Row) => string;
}

/** Codes that one call asks for. */
export const CODES_MAX = 500;

const KEPT_MS = 600_000;

/** Every method @throws a fault of the books. */
export function openCodes<Kind extends CodeKind, Row extends Active>(
  options: CodesOptions<Kind, Row>,
) {
  const { books, rowsOf, codeOf } = options;
  const memory = new Map<string, { readonly value: unknown; readonly sinceMs: number }>();
  const keyOf = ({ what }: Pick<CodeKind, "what">, code: string): string => `${what} ${code}`;
  const has = (key: string): boolean => {
    const known = memory.get(key);
    return known !== undefined && isWithin(known.sinceMs, KEPT_MS, options.now().getTime());
  };
  const keep = (key: string, value: unknown): void =>
    void memory.set(key, { value, sinceMs: options.now().getTime() });
  const grouped = async (kind: Kind, codes: readonly string[]): Promise<Map<string, Row[]>> =>
    Map.groupBy(await rowsOf(kind, codes), (row) => codeOf(kind, row));
  /** A code names what is active; else what was, which documents that are booked still have. */
  const named = (rows: readonly Row[]): readonly Row[] => {
    const active = rows.filter(isActive);
    return active.length > 0 ? active : rows;
  };

  /** The only row of a code, not kept, to read what is booked. @throws Refused when there is none, or several */
  async function expected(kind: Kind, code: string): Promise<Row> {
    const [row, another] = named(await rowsOf(kind, [code]));
    if (another !== undefined) throw new Refused(twice(books, kind, code));
    if (row === undefined) throw new Refused(missing(books, kind, code));
    return row;
  }

  /** What `load` makes of a code, kept under it. */
  async function kept<Made>(
    kind: Pick<CodeKind, "what">,
    code: string,
    load: () => Promise<Made>,
  ): Promise<Made> {
    const key = keyOf(kind, code);
    if (!has(key)) keep(key, await load());
    return memory.get(key)?.value as Made;
  }

  return {
    expected,
    kept,
    /** The only row of a code, kept. @throws Refused */
    row: (kind: Kind, code: string) => kept(kind, code, () => expected(kind, code)),
    /** What a new document gets, of what is kept of a code. What somebody has activated since is taken at once. @throws Refused */
    async booked<Known extends Active>(
      kind: Kind,
      code: string,
      known: Known,
    ): Promise<Known | Row> {
      const now = isActive(known) ? known : await expected(kind, code);
      if (!isActive(now)) throw new Refused(inactive(books, kind, code, now.inactive));
      return now;
    },
    /**
     * Keeps what `made` makes of the rows of those codes that are not known yet, in one call. What is not there, or twice, is
     * told to whoever needs it.
     */
    async load(
      kind: Kind,
      desired: readonly string[],
      made: (row: Row) => Promise<unknown> = async (row) => row,
    ): Promise<void> {
      const unknown = new Set(desired.filter((code) => !has(keyOf(kind, code))));
      if (unknown.size === 0) return;
      for (const [code, rows] of await grouped(kind, [...unknown])) {
        const [row, another] = named(rows);
        if (row !== undefined && another === undefined) keep(keyOf(kind, code), await made(row));
      }
    },
    /** What is kept is asked for again. */
    forget: () => memory.clear(),
    /** For what is looked at before documents go: nothing can be booked with what has a fault. */
    named: (kind: Kind): CodesNamed => ({
      ...kind,
      async find(codes) {
        const rows = await grouped(kind, codes);
        const faultOf = (code: string): Fault | null => {
          const [row, another] = named(rows.get(code) ?? []);
          if (another !== undefined) return twice(books, kind, code);
          if (row === undefined) return missing(books, kind, code);
          return isActive(row) ? null : inactive(books, kind, code, row.inactive);
        };
        return { faults: new Map(codes.map((code) => [code, faultOf(code)])) };
      },
    }),
  };
}

const isActive = ({ active = true }: Active): boolean => active;

const slug = (books: string): string => books.toLowerCase().replaceAll(" ", "-");

const missing = (books: string, { what, called }: CodeKind, code: string): Fault => ({
  code: `not-in-${slug(books)}`,
  message: `${books} has no ${what} ${code}`,
  next: `Create the ${what} in ${books} (${called} "${code}"), or correct the cross-reference or the setting that says ${code}; then retry.`,
  field: what,
});

/** Of what may be read and not be booked any more. */
export const inactive = (
  books: string,
  { what, called }: CodeKind,
  code: string,
  [is, remedy]: NonNullable<Active["inactive"]> = ["is not active", `Activate the ${what}`],
): Fault => ({
  code: "inactive",
  message: `the ${what} ${code} ${is} in ${books}`,
  next: `${remedy} in ${books} (${called} "${code}"), or name another one in the cross-reference; then retry.`,
  field: what,
});

const twice = (books: string, { what, called }: CodeKind, code: string): Fault => ({
  code: `twice-in-${slug(books)}`,
  message: `${books} has more than one ${what} ${code}`,
  next: `Give all but one of them another ${called} in ${books}, or deactivate them; then retry.`,
  field: what,
});
