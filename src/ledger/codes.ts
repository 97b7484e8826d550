/**
 * Codes that people use in books, and the rows behind them. What people set up once is kept for ten minutes, and what is
 * missing is asked for again each time: somebody may have created it.
 */
import { Refused } from "../core/errors.ts";
import { inGroups } from "../core/groups.ts";
import type { Fault } from "../core/record.ts";
import { isWithin } from "../core/time.ts";

/** Something that books name by codes. */
export interface CodeKind {
  /** What people call it: `account`. */
  readonly what: string;
  /** What people call its code: `code`, `symbol`, `name`. */
  readonly called: string;
}

interface CodesOptions<Kind extends CodeKind, Row> {
  /** What people call the books: `Tryton`. */
  readonly books: string;
  readonly now: () => Date;
  /** Rows of these codes; at most `most` in all where it is given. @throws a fault of the books */
  readonly rowsOf: (
    kind: Kind,
    codes: readonly string[],
    most: number | null,
  ) => Promise<readonly Row[]>;
  readonly codeOf: (kind: Kind, row: Row) => string;
}

/** Every method @throws a fault of the books. */
interface Codes<Kind extends CodeKind, Row> {
  /** The only row of a code, not kept. Null: there is none. @throws Refused when there are several */
  find(kind: Kind, code: string): Promise<Row | null>;
  /** Those of these codes that one row has, in one call, not kept. */
  findAll(kind: Kind, codes: readonly string[]): Promise<ReadonlyMap<string, Row>>;
  /** The only row of a code, not kept. @throws Refused when there is none, or several */
  expected(kind: Kind, code: string): Promise<Row>;
  /** The same, kept. @throws Refused */
  row(kind: Kind, code: string): Promise<Row>;
  /** What `load` makes of a code, kept under it. */
  kept<Made>(kind: Pick<CodeKind, "what">, code: string, load: () => Promise<Made>): Promise<Made>;
  /**
   * Keeps what `made` makes of the rows of those codes that are not known yet, in one call. What is not there, or twice, is
   * told to whoever needs it.
   */
  load(kind: Kind, codes: readonly string[], made?: (row: Row) => Promise<unknown>): Promise<void>;
  /** What is kept is asked for again. */
  forget(): void;
  /** Those of these codes that name nothing, or more than one thing: {@link CODES_MAX} in one call. */
  faults(kind: Kind, codes: readonly string[]): Promise<ReadonlyMap<string, Fault>>;
}

/** Codes that one call asks for. */
export const CODES_MAX = 500;

const KEPT_MS = 600_000;

export function openCodes<Kind extends CodeKind, Row>(
  options: CodesOptions<Kind, Row>,
): Codes<Kind, Row> {
  const { books, rowsOf, codeOf } = options;
  const kept = new Map<string, { readonly value: unknown; readonly sinceMs: number }>();
  const keyOf = ({ what }: Pick<CodeKind, "what">, code: string): string => `${what} ${code}`;
  const has = (key: string): boolean => {
    const known = kept.get(key);
    return known !== undefined && isWithin(known.sinceMs, KEPT_MS, options.now().getTime());
  };
  const keep = (key: string, value: unknown): void =>
    void kept.set(key, { value, sinceMs: options.now().getTime() });
  const grouped = (kind: Kind, rows: readonly Row[]): Map<string, Row[]> =>
    Map.groupBy(rows, (row) => codeOf(kind, row));

  const codes: Codes<Kind, Row> = {
    async find(kind, code) {
      const [row, another] = await rowsOf(kind, [code], 2);
      if (another !== undefined) throw new Refused(twice(books, kind, code));
      return row ?? null;
    },
    async findAll(kind, desired) {
      const named = grouped(kind, await rowsOf(kind, desired, null));
      return new Map(
        [...named].flatMap(([code, [row, another]]) =>
          row === undefined || another !== undefined ? [] : [[code, row] as const],
        ),
      );
    },
    async expected(kind, code) {
      const row = await codes.find(kind, code);
      if (row === null) throw new Refused(missing(books, kind, code));
      return row;
    },
    row: (kind, code) => codes.kept(kind, code, () => codes.expected(kind, code)),
    async kept<Made>(
      kind: Pick<CodeKind, "what">,
      code: string,
      load: () => Promise<Made>,
    ): Promise<Made> {
      const key = keyOf(kind, code);
      if (!has(key)) keep(key, await load());
      return kept.get(key)?.value as Made;
    },
    async load(kind, desired, made = async (row) => row) {
      const unknown = new Set(desired.filter((code) => !has(keyOf(kind, code))));
      if (unknown.size === 0) return;
      for (const [code, row] of await codes.findAll(kind, [...unknown]))
        keep(keyOf(kind, code), await made(row));
    },
    forget: () => kept.clear(),
    async faults(kind, desired) {
      const faults = new Map<string, Fault>();
      for (const asked of inGroups(desired, CODES_MAX)) {
        const named = grouped(kind, await rowsOf(kind, asked, null));
        for (const code of asked) {
          const count = named.get(code)?.length ?? 0;
          if (count !== 1) faults.set(code, (count === 0 ? missing : twice)(books, kind, code));
        }
      }
      return faults;
    },
  };
  return codes;
}

const missing = (books: string, { what, called }: CodeKind, code: string): Fault => ({
  code: `not-in-${books.toLowerCase()}`,
  message: `${books} has no ${what} ${code}`,
  next: `Create the ${what} in ${books} (${called} "${code}"), or correct the cross-reference or the setting that says ${code}; then retry.`,
  field: what,
});

const twice = (books: string, { what, called }: CodeKind, code: string): Fault => ({
  code: `twice-in-${books.toLowerCase()}`,
  message: `${books} has more than one ${what} ${code}`,
  next: `Give all but one of them another ${called} in ${books}, or deactivate them; then retry.`,
  field: what,
});
