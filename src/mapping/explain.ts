/**
 * What a record becomes, field by field: what was set from what, what nobody read, and what stays empty; and in which fields
 * two frozen bodies differ (JSON by path, CSV by line and column).
 */
import type { FaultCode } from "../core/faults.ts";
import { parse } from "csv-parse/sync";
import { z } from "zod";
import type { Figures, Mapping, References, Skip } from "../core/contract.ts";
import { Decimal } from "../core/decimal.ts";
import { complaintOf, Refused } from "../core/errors.ts";
import type { Fault } from "../core/record.ts";
import { distinctly } from "../core/text.ts";
import { namedDay } from "../core/time.ts";
import { type Json, parseExact } from "../core/json.ts";
import { isGroup } from "../core/record.ts";

type Outcome =
  | { readonly is: "document"; readonly document: object; readonly figures: Figures }
  | { readonly is: "skipped"; readonly reason: string }
  | { readonly is: "refused"; readonly fault: Fault };

interface Field {
  /** `lines[0].item` */
  readonly path: string;
  readonly value: string;
  /** `copied`: as it was read. `made of`: the text contains what was read. `computed`: neither, or a constant. */
  readonly how: "copied" | "made of" | "computed";
  /** Where the value, or its parts, were read; empty where it was computed. */
  readonly from: readonly string[];
}

export type Explanation = ReturnType<typeof explain>;
/** Fields that a mapping says it leaves out, and those that it does not. */
export type Coverage = ReturnType<typeof coverage>;

/** @param told the record as its source told it; `options`: those of the flow, as they were parsed. */
export function explain(
  mapping: Mapping,
  told: Json,
  given: { readonly references: References; readonly options: unknown },
) {
  const { reads, watched, references } = watch();
  const using =
    given.options === undefined
      ? mapping
      : (mapping.using?.(watched(given.options, "options")) ?? mapping);
  let number: string | null = null;
  let outcome: Outcome;
  try {
    const record = watched(checked(mapping.input, told, "does-not-fit"), "record");
    number = using.number(record);
    outcome = mapped(using, record, references(given.references));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    outcome = { is: "refused", fault: error.fault };
  }
  const leaves = outcome.is === "document" ? [...leavesOf(outcome.document)] : [];
  const filled = leaves.filter(([, value]) => !isEmpty(value));
  const looked = reads.filter(
    (one) =>
      one.of === "record" && (!one.copied || filled.some(([, value]) => isSame(value, one.value))),
  );
  const read = new Set(looked.map(({ path }) => nameOf(path)));
  const unread = [...leavesOf(told as unknown)].filter(
    ([path, value]) => !isEmpty(value) && !read.has(nameOf(path)),
  );
  const present = new Set(filled.map(([path]) => nameOf(path)));
  const possible = outcome.is === "document" ? pathsOf(schemaOf(mapping.output)) : [];
  const { record = [], document = [] } = mapping.leaves ?? {};
  return {
    /** Null: the record does not say it. */
    number,
    outcome,
    /** Every value of the document, in its order. */
    fields: fieldsOf(filled, reads),
    /** Fields of the document that have no value in it; lists as one: `lines.spec`. */
    empty: coverage(
      possible.filter((path) => !present.has(path)),
      document,
    ),
    /** Fields of the record that have a value which nobody read. */
    unread: coverage(outcome.is === "document" ? unread.map(([path]) => nameOf(path)) : [], record),
  };
}

function mapped(mapping: Mapping, record: unknown, references: References): Outcome {
  const out = mapping.map(record, references) as Skip | object;
  if ("skip" in out && typeof out.skip === "string") return { is: "skipped", reason: out.skip };
  const document = checked(mapping.output, out, "mapping-output") as object;
  return { is: "document", document, figures: mapping.figures(document) };
}

/** @throws Refused with the schema's complaints */
function checked(schema: z.ZodType, value: unknown, code: FaultCode): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const complaints = result.error.issues.slice(0, 3).map(complaintOf);
  throw new Refused({
    code,
    message: complaints.join("; "),
    next:
      code === "does-not-fit"
        ? "Correct the record where it comes from."
        : "Correct the mapping: it makes a document that its receiver does not take.",
  });
}

/** Every single value with its path, in their order; an empty list is one. */
export function* leavesOf(value: unknown, path = ""): Generator<[path: string, value: unknown]> {
  if (!isGroup(value) || Object.keys(value).length === 0) {
    yield [path, value];
    return;
  }
  for (const [key, inside] of Object.entries(value) as [string, unknown][]) {
    const at = Array.isArray(value) ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
    yield* leavesOf(inside, at);
  }
}

/** A field without the places in its lists: `lines.item` of `lines[0].item`. */
const nameOf = (path: string): string => path.replace(/\[\d+\]/g, "");

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === "" || isGroup(value);

const isSame = (one: unknown, other: unknown): boolean =>
  one instanceof Decimal && other instanceof Decimal ? one.equals(other) : one === other;

/** As people read it: digits of a number, letters of a text. */
export const shownValue = (value: unknown): string =>
  value instanceof Decimal ? value.text : typeof value === "string" ? value : JSON.stringify(value);

const FROM_MAX = 3;

/** What was read is told apart by its value: of several with the same one, the nearest is meant. */
function fieldsOf(
  filled: readonly (readonly [string, unknown])[],
  reads: readonly Read[],
): Field[] {
  const matched = filled.map(([path, value]) => ({
    path,
    value,
    equal: reads.filter((one) => isSame(one.value, value)),
  }));
  const kin = kinOf(matched);
  return matched.map(({ path, value, equal }) => {
    const shown = shownValue(value);
    if (equal.length > 0)
      return {
        path,
        value: shown,
        how: "copied",
        from: nearest(path, equal, kin.get(groupOf(path))),
      };
    const parts = reads.filter((one) => {
      const text = isEmpty(one.value) ? "" : shownValue(one.value);
      return typeof value === "string" && text.length > 1 && value.includes(text);
    });
    const from = [...new Set(parts.map((one) => one.from))];
    return { path, value: shown, how: from.length > 0 ? "made of" : "computed", from };
  });
}

/** The group that a field stands in: `lines` of `lines[0].item`. */
const groupOf = (path: string): string => nameOf(path).replace(/(?:^|\.)[^.]*$/, "");
const groupOfRead = ({ of, table, path }: Read): string =>
  of === "record" ? groupOf(path) : `${of} ${table}`;

/** By group of the document: the group of the record that most of its values can only come from. */
function kinOf(matched: readonly { readonly path: string; readonly equal: readonly Read[] }[]) {
  const counts = new Map<string, Map<string, number>>();
  for (const { path, equal } of matched) {
    const [only = "", ...others] = new Set(equal.map(groupOfRead));
    if (equal.length === 0 || others.length > 0) continue;
    const group = counts.get(groupOf(path)) ?? new Map<string, number>();
    counts.set(groupOf(path), group.set(only, (group.get(only) ?? 0) + 1));
  }
  return new Map([...counts].map(([path, group]) => [path, most(group)]));
}

const most = (group: ReadonlyMap<string, number>): string =>
  [...group].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? "";

/** The last name of a path. */
const lastOf = (path: string): string => (/(\w+)(?:\[\d+\])?$/.exec(path)?.[1] ?? "").toLowerCase();
const placesOf = (path: string): string => (path.match(/\[\d+\]/g) ?? []).join("");
const isCell = ({ of }: Read): boolean => of === "table";

function nearest(path: string, reads: readonly Read[], kin: string | undefined): string[] {
  const isKin = (one: Read): boolean => groupOfRead(one) === kin;
  const isNamed = (one: Read): boolean => lastOf(one.path) === lastOf(path);
  const isPlaced = (one: Read): boolean => placesOf(one.path) === placesOf(path);
  const order: readonly ((one: Read) => boolean)[] = [
    (one) => isKin(one) && isNamed(one) && isPlaced(one),
    (one) => isCell(one) && isNamed(one),
    (one) => isKin(one) && isPlaced(one),
    isKin,
    isPlaced,
  ];
  const fitting = order.map((fits) => reads.filter(fits)).find((some) => some.length > 0) ?? reads;
  return [...new Set(fitting.map(({ from }) => from))].slice(0, FROM_MAX);
}

/** Each field is one or the other: the mapping says that it leaves it out ({@link Mapping.leaves}), or not. */
function coverage(paths: readonly string[], leaves: readonly string[]) {
  const each = [...new Set(paths)];
  const isLeft = (path: string): boolean =>
    leaves.some((one) => path === one || path.startsWith(`${one}.`));
  return {
    onPurpose: each.filter(isLeft),
    warned: each.filter((path) => !isLeft(path)),
  };
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

const schemaOf = (output: z.ZodType): Schema =>
  z.toJSONSchema(output, { io: "output", unrepresentable: "any" }) as Schema;

/** Every field that a document can have, lists as one. */
function pathsOf(schema: Schema, path = ""): string[] {
  const parts = [schema, ...(schema.anyOf ?? [])];
  const inside = parts.flatMap(({ properties = {}, items }) => [
    ...Object.entries(properties).flatMap(([name, part]) =>
      pathsOf(part, path === "" ? name : `${path}.${name}`),
    ),
    ...(items === undefined ? [] : pathsOf(items, path)),
  ]);
  return inside.length === 0 ? [path] : [...new Set(inside)];
}

/** A value that a mapping read. */
interface Read {
  readonly of: "record" | "options" | "table" | "other";
  /** The table's name; else empty. */
  readonly table: string;
  /** Where it stands there: `lines[0].product`, the column of a cell; of a day the path of the instant. */
  readonly path: string;
  /** For people, and read by nothing: `lines[0].product`, `items.csv, row ULSD, column item`, `option company`. */
  readonly from: string;
  readonly value: unknown;
  /** Taken over with all that stood beside it (`{ ...record }`), so that nobody knows whether it was looked at. */
  readonly copied: boolean;
}

/** `watched`: the value, which tells what is read of it. */
function watch() {
  const reads: Read[] = [];
  /** The property that was described last: one that is read right after is copied (`{ ...record }`). */
  let described = "";

  const note = (from: string, value: unknown, where: Partial<Read> = {}): void => {
    reads.push({ of: "other", table: "", path: "", copied: false, ...where, from, value });
  };

  function watched<Value>(value: Value, of: "record" | "options", path = ""): Value {
    if (!isGroup(value)) return value;
    // A copy: what a schema has frozen could not be watched.
    const open = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Value &
      object;
    return new Proxy(open, {
      getOwnPropertyDescriptor(target, key) {
        described = `${path}/${String(key)}`;
        return Reflect.getOwnPropertyDescriptor(target, key);
      },
      get(target, key) {
        const inside = Reflect.get(target, key) as unknown;
        const isElement = Array.isArray(target) && !/^\d+$/.test(String(key));
        if (typeof key === "symbol" || isElement || typeof inside === "function") return inside;
        const at = Array.isArray(target)
          ? `${path}[${key}]`
          : `${path}${path === "" ? "" : "."}${key}`;
        const copied = described === `${path}/${key}`;
        described = "";
        if (isGroup(inside)) return watched(inside, of, at);
        note(of === "options" ? `option ${at}` : at, inside, { of, path: at, copied });
        return inside;
      },
    });
  }

  const link = (kind: string, id: string, value: string | null): void =>
    note(`link of ${kind} ${id}`, value);

  return {
    reads,
    watched: <Value>(value: Value, of: "record" | "options") => watched(value, of),
    references: (given: References): References => ({
      ...given,
      get currency() {
        note("currency of the configuration", given.currency);
        return given.currency;
      },
      dayOf(instant) {
        const day = given.dayOf(instant);
        const source = reads.findLast(
          ({ value }) =>
            value === instant || (typeof value === "string" && namedDay(value) === instant),
        );
        note(`day of ${source?.from ?? instant}`, day, { path: source?.path ?? "" });
        return day;
      },
      find(kind, id) {
        const found = given.find(kind, id);
        link(kind, id, found);
        return found;
      },
      counterpart(kind, id) {
        const found = given.counterpart(kind, id);
        link(kind, id, found);
        return found;
      },
      row(table, key) {
        const row = given.row(table, key);
        return new Proxy(row, {
          get(cells, column) {
            const value = cells[String(column)];
            const path = String(column);
            note(`${table}.csv, row ${key}, column ${path}`, value, { of: "table", table, path });
            return value;
          },
        });
      },
    }),
  };
}

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
  const whole = bodyFields(before.body);
  const fresh = bodyFields(body);
  const old = before.of === 1 ? whole : alone(whole, before);
  if (old === null) return null;
  const names = new Set([...old.keys(), ...fresh.keys()]);
  return [...names].flatMap((field) => {
    const [one, other] = [old.get(field), fresh.get(field)];
    if (isSame(one, other)) return [];
    const [before, now] = [shownOrNone(one), shownOrNone(other)];
    if (before === null || now === null) return [{ field, before, now }];
    const [was, is] = distinctly(before, now);
    return [{ field, before: was, now: is }];
  });
}

const shownOrNone = (value: unknown): string | null =>
  value === undefined ? null : shownValue(value);

/** By path: `[0].document.lines[1].item`, `line 2.item`. */
function bodyFields(body: string): ReadonlyMap<string, unknown> {
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
