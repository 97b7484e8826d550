/**
 * Mappings that a site defines: checked where they are defined, so that a mistake is told with its line. Node removes the
 * types of a module unread, so each part is checked here; what its functions return is checked when they return it.
 */
import { z } from "zod";
import { shipped } from "../../mappings/index.ts";
import { defineMapping as define, type Mapping, type WrittenMapping } from "../core/contract.ts";
import { kinds as knownKinds } from "../core/kinds.ts";
import { isPlain } from "./explain.ts";

/** A mistake in a site's module. The loader adds the file and the line that it was made in. */
export class MappingMistake extends Error {
  /** One sentence: what to do. */
  readonly next: string;

  constructor(message: string, next: string) {
    super(message);
    this.name = "MappingMistake";
    this.next = next;
  }
}

const NAME = /^[a-z0-9][a-z0-9-]*\/[a-z0-9][a-z0-9-]*$/;

/** Where each mapping of a site was defined: a stack whose first frame in the site's folder is that line. */
const defined = new WeakMap<object, string>();

/** The stack of the call that defined it; null: neither `defineMapping` nor `extend` made it. */
export const definedAt = (value: unknown): string | null =>
  typeof value === "object" && value !== null ? (defined.get(value) ?? null) : null;

/**
 * A mapping of the site's own: one kind of record in, one kind of document out.
 * @throws MappingMistake when a part of it is missing, or does not go with the shipped mappings to the same sink
 */
export function defineMapping<In, Out, Options = unknown, const Name extends string = string>(
  written: WrittenMapping<In, Out, Options, Name>,
): Mapping<In, Out> & { readonly name: Name } {
  expectWhole(written as WrittenMapping<unknown, unknown, unknown>);
  return remembered(define(written));
}

/** @throws MappingMistake for a name that no site's mapping may have */
export function expectName(name: unknown): void {
  if (typeof name !== "string" || !NAME.test(name))
    throw new MappingMistake(
      `the name ${JSON.stringify(name)} is no name of a mapping`,
      'Write FOLDER/NAME in lower-case letters, digits and hyphens, for example "site/invoices".',
    );
  if (shipped.some((one) => one.name === name))
    throw new MappingMistake(
      `the mapping ${name} comes with fuelbridge`,
      'Take another name, for example one that begins with "site/", and name it in the flow.',
    );
}

/** @returns the mapping, with the place that it is defined at kept for {@link definedAt} */
export function remembered<Made extends object>(mapping: Made): Made {
  defined.set(mapping, new Error("defined here").stack ?? "");
  return mapping;
}

function expectWhole(written: WrittenMapping<unknown, unknown, unknown>): void {
  expectParts(mappingParts, written);
  expectName(written.name);
  const { name, kind, writes, posts } = written;
  if (!Object.hasOwn(knownKinds, kind))
    throw new MappingMistake(
      `the mapping ${name} is of the kind ${kind}, which fuelbridge does not know`,
      `Write one of: ${Object.keys(knownKinds).join(", ")}. Links are kept by kind.`,
    );
  const alike = shipped.filter((one) => one.writes === writes);
  const kinds = new Set<string>(alike.map((one) => one.kind));
  if (alike.length > 0 && !kinds.has(kind))
    throw new MappingMistake(
      `the mapping ${name} writes to ${writes} and is of the kind ${kind}`,
      `Write kind: "${[...kinds].join('" or "')}". Links are kept by kind: a document of another kind would be delivered a second time.`,
    );
  if (posts !== true && alike.some((one: Mapping) => one.kind === kind && one.posts === true))
    throw new MappingMistake(
      `the mapping ${name} writes to ${writes} without posts: true`,
      "Add posts: true. It keeps an amount that changes after posting from being overwritten.",
    );
}

const must = (what: string, is: (value: unknown) => boolean): z.ZodType =>
  z.custom(is, `must be ${what}`);
const isFunction = (value: unknown): boolean => typeof value === "function";

const work = must("a function", isFunction);
const text = z.string("must be a text").min(1, "must be a text");
const texts = z.array(text, "must be a list of texts");
const schema = must("a schema, for example z.strictObject({ ... })", (value) =>
  isFunction((value as Partial<z.ZodType> | null | undefined)?.safeParse),
);
const tables = z.record(z.string(), texts.min(1, "must name the key's column"), {
  error: "must be tables with their columns: { items: ['product', 'item'] }",
});
const leaves = z.strictObject(
  { record: texts.optional(), document: texts.optional() },
  {
    error: (issue) => (issue.code === "invalid_type" ? "must be { record, document }" : undefined),
  },
);
const rule = z.strictObject(
  { code: text, broken: work, message: text, next: text, field: text.optional() },
  { error: (issue) => (issue.code === "invalid_type" ? "must be a rule" : undefined) },
);

/** What `extend` takes. */
export const extensionParts = z.strictObject({
  name: z.unknown(),
  options: schema.optional(),
  tables: tables.optional(),
  number: work.optional(),
  only: work.optional(),
  fields: z.record(z.string(), z.unknown(), { error: "must be fields with values" }).optional(),
  document: work.optional(),
  rules: z.array(rule, { error: "must be a list of rules" }).optional(),
  leaves: leaves.optional(),
});

/** What `defineMapping` takes. */
const mappingParts = z.strictObject({
  name: z.unknown(),
  kind: text,
  reads: text,
  writes: text,
  input: schema,
  output: schema,
  number: work,
  map: work,
  figures: work.optional(),
  options: schema.optional(),
  tables: z.union([tables, work], "must be tables with their columns, or a function").optional(),
  posts: z.boolean("must be true or false").optional(),
  bookedOn: work.optional(),
  likeness: work.optional(),
  about: work.optional(),
  settles: z.strictObject({ kind: text, of: work }).optional(),
  leaves: leaves.optional(),
});

/** @throws MappingMistake that names every part which is missing, wrong or unknown */
export function expectParts(parts: z.ZodObject, written: unknown): void {
  const { error } = parts.safeParse(written);
  if (error === undefined) return;
  const name = isPlain(written) && "name" in written ? String(written.name) : "without a name";
  const complaints = error.issues.map(({ code, path, message, ...issue }) => {
    const at = path.join(".");
    if (code === "unrecognized_keys" && "keys" in issue)
      return `has no part ${issue.keys.map((key) => [...path, key].join(".")).join(", ")}`;
    if (path.length === 0) return "has no parts";
    const value = path.reduce<unknown>(
      (inside, step) => (inside as Readonly<Record<PropertyKey, unknown>> | undefined)?.[step],
      written,
    );
    return value === undefined ? `has no ${at}` : `is wrong in ${at}, which ${message}`;
  });
  throw new MappingMistake(
    `the mapping ${name} ${complaints.join("; ")}`,
    `Parts are ${Object.keys(parts.shape).join(", ")}: docs/site-mappings.md says what each is.`,
  );
}

/** @throws MappingMistake: a part returned what it must not return; nothing is decided by a guess */
export function returnedWrong(part: string, value: unknown, must: string): never {
  throw new MappingMistake(
    `${part} returned ${shownReturn(value)}, and must return ${must}`,
    value instanceof Promise
      ? "Leave out async: a mapping computes and waits for nothing."
      : "Correct the mapping there.",
  );
}

/** @throws MappingMistake when a function returned neither a document nor a skip */
export function expectDocument(part: string, made: unknown): asserts made is object {
  if (typeof made !== "object" || made === null || made instanceof Promise)
    returnedWrong(part, made, 'a document or skip("reason")');
}

const shownReturn = (value: unknown): string =>
  value instanceof Promise ? "a promise" : (JSON.stringify(value) ?? String(value));

/**
 * Fields that a document has and its schema drops without a word, by path: nothing of them would be sent.
 * Empty for a document that does not fit at all, which is refused later with the schema's complaint.
 */
export function droppedFrom(output: z.ZodType, document: object): string[] {
  const { data, success } = output.safeParse(document);
  return success ? missingIn(data, document) : [];
}

function missingIn(kept: unknown, given: unknown, path = ""): string[] {
  if (!isPlain(given) || !isPlain(kept)) return [];
  const inside = kept as Readonly<Record<string, unknown>>;
  return Object.entries(given).flatMap(([name, value]) => {
    const at = Array.isArray(given) ? path : path === "" ? name : `${path}.${name}`;
    return name in inside ? missingIn(inside[name], value, at) : value === undefined ? [] : [at];
  });
}
