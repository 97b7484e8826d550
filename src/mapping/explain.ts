/** What a record becomes, field by field: what was set from what, what nobody read, and what stays empty. */
import { z } from "zod";
import type { Figures, Mapping, References, Skip } from "../core/contract.ts";
import { Decimal } from "../core/decimal.ts";
import { Refused } from "../core/errors.ts";
import type { Fault } from "../core/record.ts";
import type { Json } from "../core/json.ts";
import { isPlain, type Read, watch } from "./watch.ts";

export interface Explanation {
  /** Null: the record does not say it. */
  readonly number: string | null;
  readonly outcome: Outcome;
  /** Every value of the document, in its order. */
  readonly fields: readonly Field[];
  /** Fields of the document that have no value in it; lists as one: `lines.spec`. */
  readonly empty: Coverage;
  /** Fields of the record that have a value which nobody read. */
  readonly unread: Coverage;
}

export type Outcome =
  | { readonly is: "document"; readonly document: object; readonly figures: Figures }
  | { readonly is: "skipped"; readonly reason: string }
  | { readonly is: "refused"; readonly fault: Fault };

export interface Field {
  /** `lines[0].item` */
  readonly path: string;
  readonly value: string;
  /** `copied`: as it was read. `made of`: the text contains what was read. `computed`: neither, or a constant. */
  readonly how: "copied" | "made of" | "computed";
  /** Where the value, or its parts, were read; empty where it was computed. */
  readonly from: readonly string[];
}

/** Each field is one or the other. */
export interface Coverage {
  /** The mapping says that it leaves them out ({@link Mapping.leaves}). */
  readonly onPurpose: readonly string[];
  readonly warned: readonly string[];
}

/** @param told the record as its source told it; `options`: those of the flow, as they were parsed. */
export function explain(
  mapping: Mapping,
  told: Json,
  given: { readonly references: References; readonly options: unknown },
): Explanation {
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
    number,
    outcome,
    fields: fieldsOf(filled, reads),
    empty: coverage(
      possible.filter((path) => !present.has(path)),
      document,
    ),
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
function checked(schema: z.ZodType, value: unknown, code: string): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const complaints = result.error.issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.join(".") || "record"}: ${message}`);
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
  if (!isPlain(value) || Object.keys(value).length === 0) {
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
  value === null || value === undefined || value === "" || isPlain(value);

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
function kinOf(
  matched: readonly { readonly path: string; readonly equal: readonly Read[] }[],
): ReadonlyMap<string, string> {
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

function coverage(paths: readonly string[], leaves: readonly string[]): Coverage {
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
