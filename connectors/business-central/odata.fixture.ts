/** Query options as the API takes them: `or` joins conditions on one field only, and what it does not know is refused. */
import { Decimal } from "../../src/core/decimal.ts";
import { FIELDS } from "./metadata.fixture.ts";
import { refuse } from "./refusal.fixture.ts";

type Row = Readonly<Record<string, unknown>>;

export interface Query {
  readonly skip: number;
  /** Lists by their names, and the lists in their lines. */
  readonly expand: ReadonlyMap<string, readonly string[]>;
  select(rows: readonly Row[]): readonly Row[];
  /** The same query from a place on. */
  linkAt(skip: number): string;
}

const KNOWN = new Set(["$filter", "$expand", "$orderby", "$top", "aid", "$skiptoken"]);

export function queryOf(set: string, search: string): Query {
  const asked = Object.fromEntries(new URLSearchParams(search));
  for (const name of Object.keys(asked))
    if (!KNOWN.has(name)) refuse("BadRequest", `The query parameter '${name}' is not supported.`);
  const fields = FIELDS[set];
  const expand = new Map<string, readonly string[]>();
  for (const one of asked["$expand"]?.split(",") ?? []) {
    const [, name = "", inner] = /^(\w+)(?:\(\$expand=(\w+)\))?$/.exec(one) ?? [];
    for (const [has, its] of [
      [fields, name],
      ...(inner === undefined ? [] : [[FIELDS[name], inner] as const]),
    ] as const)
      if (has?.get(its)?.type !== "lines")
        refuse("BadRequest", `Could not find a property named '${its}'.`);
    expand.set(name, inner === undefined ? [] : [inner]);
  }
  const [order, direction] = asked["$orderby"]?.split(" ") ?? [];
  if (order !== undefined && fields?.has(order) !== true)
    refuse("BadRequest", `Could not find a property named '${order}'.`);
  const isWanted = asked["$filter"] === undefined ? () => true : filterOf(set, asked["$filter"]);
  const top = Number(asked["$top"] ?? Infinity);
  return {
    skip: Number(asked["$skiptoken"] ?? 0),
    expand,
    select(rows) {
      const found = rows.filter(isWanted);
      if (order !== undefined) found.sort((one, other) => compared(one[order], other[order]));
      return (direction === "desc" ? found.toReversed() : found).slice(0, top);
    },
    linkAt: (skip) =>
      `?${new URLSearchParams({ ...asked, aid: "FIN", $skiptoken: String(skip) }).toString()}`,
  };
}

/** Lines are told only when they are asked for. */
export function shown(set: string, row: Row, { expand }: Query): object {
  const names = [...(FIELDS[set]?.values() ?? [])].filter(
    ({ name, type }) => type !== "lines" || expand.has(name),
  );
  return Object.fromEntries(
    names.map(({ name, type }) => [
      name,
      type === "lines"
        ? (row[name] as Row[]).map((line) => ({
            "@odata.etag": 'W/"line"',
            ...shown(name, line, {
              ...NONE,
              expand: new Map(expand.get(name)?.map((inner) => [inner, []])),
            }),
          }))
        : row[name],
    ]),
  );
}

const NONE: Query = { skip: 0, expand: new Map(), select: (rows) => rows, linkAt: () => "" };

const BEGINS = /^\(?(startswith|endswith)\((\w+),'((?:[^']|'')*)'\)\)?$/;
const CONDITION = /^\(?(\w+) (eq|ne|gt|ge|lt|le) ('(?:[^']|'')*'|[^\s')]+)\)?$/;

function filterOf(set: string, filter: string): (row: Row) => boolean {
  // What stands in quotes may have these words in it.
  const parts = filter.split(/ (and|or) (?=(?:[^']*'[^']*')*[^']*$)/);
  const all: { or: boolean; field: string; is: (row: Row) => boolean }[] = [];
  for (let at = 0; at < parts.length; at += 2) {
    const [, how, begun, part = ""] = BEGINS.exec(parts[at] ?? "") ?? [];
    if (begun !== undefined) {
      if (FIELDS[set]?.has(begun) !== true) refuse("BadRequest", `Could not find '${begun}'.`);
      all.push({
        or: parts[at - 1] === "or",
        field: begun,
        is: (row) =>
          how === "endswith"
            ? String(row[begun]).endsWith(part)
            : String(row[begun]).startsWith(part),
      });
      continue;
    }
    const [, field = "", operator = "", literal = ""] = CONDITION.exec(parts[at] ?? "") ?? [];
    if (field === "") refuse("BadRequest", `Invalid filter clause: ${parts[at]}`);
    const known = FIELDS[set]?.get(field);
    if (known === undefined) return refuse("BadRequest", `Could not find '${field}'.`);
    const isQuoted = literal.startsWith("'");
    // Microsoft writes a boolean and an enumeration's value as both.
    if (isQuoted !== (known.type === "text" || known.type === "code"))
      refuse("BadRequest", `A literal of type ${known.type} is no ${literal}.`);
    const wanted = isQuoted ? literal.slice(1, -1).replaceAll("''", "'") : literal;
    const value = known.type === "code" ? wanted.toUpperCase() : wanted;
    all.push({
      or: parts[at - 1] === "or",
      field,
      is: (row) => OPERATORS[operator]?.(compared(row[field], value)) ?? false,
    });
  }
  const isOr = all.some(({ or }) => or);
  if (isOr && new Set(all.map(({ field }) => field)).size > 1)
    refuse(
      "BadRequest_MethodNotImplemented",
      "Filters with OR on different fields are not supported.",
    );
  return (row) => (isOr ? all.some(({ is }) => is(row)) : all.every(({ is }) => is(row)));
}

const OPERATORS: Readonly<Record<string, (order: number) => boolean>> = {
  eq: (order) => order === 0,
  ne: (order) => order !== 0,
  gt: (order) => order > 0,
  ge: (order) => order >= 0,
  lt: (order) => order < 0,
  le: (order) => order <= 0,
};

function compared(one: unknown, other: unknown): number {
  if (one instanceof Decimal) return one.compare(Decimal.of(String(other)));
  const [a, b] = [String(one), String(other)];
  const times = [a, b].map((text) =>
    /^\d{4}-\d{2}-\d{2}T/.test(text) ? Date.parse(text) : Number.NaN,
  );
  if (times.every((ms) => !Number.isNaN(ms))) return Math.sign((times[0] ?? 0) - (times[1] ?? 0));
  return a < b ? -1 : a > b ? 1 : 0;
}
