/** In which fields two frozen bodies differ: JSON by path, CSV by line and column. */
import { parse } from "csv-parse/sync";
import { distinctly } from "../core/text.ts";
import { Decimal } from "../core/decimal.ts";
import { parseExact } from "../core/json.ts";
import { leavesOf, shownValue } from "./explain.ts";

export interface ChangedField {
  readonly field: string;
  /** Null: it is not there. */
  readonly before: string | null;
  readonly now: string | null;
}

/**
 * `before`: a body that carried `of` documents, this one at `place`; `body`: one of this one alone. Null: the body of
 * several documents cannot be taken apart.
 */
export function changedFields(
  before: { readonly body: string; readonly place: number; readonly of: number },
  body: string,
): readonly ChangedField[] | null {
  const whole = fieldsOf(before.body);
  const fresh = fieldsOf(body);
  const old = before.of === 1 ? whole : alone(whole, before);
  if (old === null) return null;
  const names = new Set([...old.keys(), ...fresh.keys()]);
  return [...names].flatMap((field) => {
    const [one, other] = [old.get(field), fresh.get(field)];
    if (isSame(one, other)) return [];
    const [before, now] = [shown(one), shown(other)];
    if (before === null || now === null) return [{ field, before, now }];
    const [was, is] = distinctly(before, now);
    return [{ field, before: was, now: is }];
  });
}

const shown = (value: unknown): string | null => (value === undefined ? null : shownValue(value));

const isSame = (one: unknown, other: unknown): boolean =>
  one instanceof Decimal && other instanceof Decimal ? one.equals(other) : one === other;

/** By path: `[0].document.lines[1].item`, `line 2.item`. */
function fieldsOf(body: string): ReadonlyMap<string, unknown> {
  try {
    return new Map(leavesOf(parseExact(body)));
  } catch {
    const rows: unknown = parse(body, { columns: true, bom: true, relax_column_count: true });
    return new Map(leavesOf(rows));
  }
}

/** Of a list with one element for each document: that element, as if it were the only one. */
function alone(
  fields: ReadonlyMap<string, unknown>,
  { place, of }: { readonly place: number; readonly of: number },
): ReadonlyMap<string, unknown> | null {
  const first = [...fields.keys()].find((path) => path.includes(`[${of - 1}]`));
  const list = first?.slice(0, first.indexOf(`[${of - 1}]`));
  if (list === undefined || [...fields.keys()].some((path) => path.startsWith(`${list}[${of}]`)))
    return null;
  const own = `${list}[${place}]`;
  return new Map(
    [...fields].flatMap(([path, value]) => {
      if (path.startsWith(own)) return [[`${list}[0]${path.slice(own.length)}`, value]];
      return path.startsWith(`${list}[`) ? [] : [[path, value]];
    }),
  );
}
