/**
 * Mappings that a site defines: checked where they are defined, so that a mistake is told with its line. Node removes the
 * types of a module unread, so each part is checked here; what its functions return is checked when they return it.
 */
import { z } from "zod";
import { shipped } from "../../mappings/index.ts";
import {
  defineMapping as define,
  type Mapping,
  type References,
  skip,
  type Skip,
  type WrittenMapping,
} from "../core/contract.ts";
import { Refused } from "../core/errors.ts";
import type { FaultCode } from "../core/faults.ts";
import { kinds as knownKinds } from "../core/kinds.ts";
import { isGroup } from "../core/record.ts";

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
function expectName(name: unknown): void {
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
function remembered<Made extends object>(mapping: Made): Made {
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
const extensionParts = z.strictObject({
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
function expectParts(parts: z.ZodObject, written: unknown): void {
  const { error } = parts.safeParse(written);
  if (error === undefined) return;
  const name = isGroup(written) && "name" in written ? String(written.name) : "without a name";
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
function droppedFrom(output: z.ZodType, document: object): string[] {
  const { data, success } = output.safeParse(document);
  return success ? missingIn(data, document) : [];
}

function missingIn(kept: unknown, given: unknown, path = ""): string[] {
  if (!isGroup(given) || !isGroup(kept)) return [];
  const inside = kept as Readonly<Record<string, unknown>>;
  return Object.entries(given).flatMap(([name, value]) => {
    const at = Array.isArray(given) ? path : path === "" ? name : `${path}.${name}`;
    return name in inside ? missingIn(inside[name], value, at) : value === undefined ? [] : [at];
  });
}

/* A shipped mapping with a site's changes: the whole of it, single fields, a filter, a constant, a rule. */

type Shipped = (typeof shipped)[number];
export type ShippedName = Shipped["name"];
type Named<Name extends ShippedName> = Extract<Shipped, { readonly name: Name }>;
/** The records that a shipped mapping takes. */
export type RecordOf<Name extends ShippedName> = z.output<Named<Name>["input"]>;
/** The documents that a shipped mapping makes. */
export type DocumentOf<Name extends ShippedName> = z.output<Named<Name>["output"]>;

/** What a change of a mapping may look at. */
export interface Given<In, Out, Options> {
  readonly record: In;
  /** As the shipped mapping made it. */
  readonly document: Out;
  readonly references: References;
  readonly options: Options;
}

/** A document that breaks it is quarantined with this code, message and next step. */
export interface Rule<In, Out, Options> {
  readonly code: string;
  /** Looks at the document as it will leave. */
  broken(given: Given<In, Out, Options>): boolean;
  readonly message: string;
  /** One sentence: what a person should do. */
  readonly next: string;
  readonly field?: string;
}

/** What differs from the shipped mapping. What is left out stays as it is there. */
export interface Extension<In, Out extends object, Options> {
  /** The new mapping's name, as flows write it: `site/invoices`. */
  readonly name: string;
  /** Options beside those of the shipped mapping: an object's schema. */
  readonly options?: z.ZodType<Options>;
  /** Tables beside those of the shipped mapping. */
  readonly tables?: Mapping["tables"];
  /** The number that people know the record by. */
  number?(record: In, options: Options): string;
  /** Which records begin to go: true, or the reason why this one does not. Asked first, until the other side has it. */
  only?(record: In, references: References, options: Options): true | string;
  /** Fields of the document: each is a constant, or a function that gives the value. */
  readonly fields?: {
    readonly [Field in keyof Out]?: Out[Field] | ((given: Given<In, Out, Options>) => Out[Field]);
  };
  /** The whole document, after `fields`. @throws Refused */
  document?(given: Given<In, Out, Options>): Out | Skip;
  readonly rules?: readonly Rule<In, Out, Options>[];
  /** Fields that it leaves out on purpose, beside those of the shipped mapping. */
  readonly leaves?: Mapping["leaves"];
}

/**
 * Extends a shipped mapping by its name. The kind, both ends, the schemas and what is protected stay those of the shipped
 * one, and a document keeps its identity: its id, and in every field that had it the number.
 * @throws MappingMistake when there is no such mapping
 */
export function extend<const Name extends ShippedName, Options = unknown>(
  name: Name,
  extension: Extension<RecordOf<Name>, DocumentOf<Name>, Options>,
): Mapping<RecordOf<Name>, DocumentOf<Name>> {
  const given = extension as unknown as Extension<unknown, object, unknown>;
  expectParts(extensionParts, given);
  expectName(given.name);
  const base = shippedMapping(name) as unknown as Mapping<unknown, object>;
  expectFields(name, base.output, (given.fields ?? {}) as Readonly<Record<string, unknown>>);
  const schema = bothOptions(base.options, given.options);
  const using = (options: unknown): Mapping<unknown, object> => {
    const below = base.using?.(options) ?? base;
    const number = (record: unknown): string =>
      given.number === undefined ? below.number(record) : given.number(record, options);
    const tables = { ...below.tables, ...given.tables };
    return remembered({
      ...below,
      name: given.name,
      number,
      map: (record: unknown, references: References) =>
        mapped({ below, given, number, options }, record, references),
      ...(Object.keys(tables).length === 0 ? {} : { tables }),
      leaves: {
        record: [...(below.leaves?.record ?? []), ...(given.leaves?.record ?? [])],
        document: [...(below.leaves?.document ?? []), ...(given.leaves?.document ?? [])],
      },
      ...(schema === undefined ? {} : { options: schema, using }),
    });
  };
  return using(schema?.safeParse({}).data ?? {}) as unknown as Mapping<
    RecordOf<Name>,
    DocumentOf<Name>
  >;
}

/** The shipped mapping itself, for one that is built on it. @throws MappingMistake when there is none of this name */
export function shippedMapping<const Name extends ShippedName>(name: Name): Named<Name> {
  const found = shipped.find((one) => one.name === name);
  if (found !== undefined) return found as Named<Name>;
  throw new MappingMistake(
    `there is no shipped mapping ${JSON.stringify(name)}`,
    `Write one of ${shipped.map((one) => one.name).join(", ")}.`,
  );
}

interface Changed {
  readonly below: Mapping<unknown, object>;
  readonly given: Extension<unknown, object, unknown>;
  readonly number: (record: unknown) => string;
  readonly options: unknown;
}

function mapped(
  { below, given, number, options }: Changed,
  record: unknown,
  references: References,
): object {
  const goes =
    given.only === undefined ||
    references.isThere === true ||
    given.only(record, references, options);
  if (typeof goes === "string" && goes !== "") return skip(goes);
  if (goes !== true) returnedWrong("only", goes, "true, or the reason why the record is skipped");
  const made = below.map(record, references);
  if (isSkip(made)) return made;
  const about = { record, references, options };
  const fields = Object.entries(given.fields ?? {}).map(([field, value]: [string, unknown]) => [
    field,
    typeof value === "function" ? (value({ ...about, document: made }) as unknown) : value,
  ]);
  const set = { ...made, ...(Object.fromEntries(fields) as object) };
  const document = given.document === undefined ? set : given.document({ ...about, document: set });
  expectDocument("document", document);
  if (isSkip(document)) return document;
  expectSameIdentity(made, document, below.number(record), number(record));
  if (given.fields !== undefined || given.document !== undefined)
    expectNothingDropped(below, made, document);
  for (const rule of given.rules ?? []) {
    const broken = rule.broken({ ...about, document }) as unknown;
    if (broken === true) throw refusalOf(rule);
    if (broken !== false) returnedWrong(`the rule ${rule.code}`, broken, "true or false");
  }
  return document;
}

/** What both sides know a document by. */
const IDENTITY = ["id", "number", "invoiceNumber", "externalId"] as const;

const isSkip = (made: object): made is Skip => "skip" in made && typeof made.skip === "string";

/** A field that the schema of the documents drops would be set and never sent. @throws MappingMistake */
function expectNothingDropped({ name, output }: Mapping, made: object, document: object): void {
  const before = new Set(droppedFrom(output, made));
  const dropped = droppedFrom(output, document).filter((path) => !before.has(path));
  if (dropped.length > 0) throw unknownFields(name, output, dropped);
}

/** The names of `fields`, and the constants among them. @throws MappingMistake */
function expectFields(
  name: string,
  output: z.ZodType,
  fields: Readonly<Record<string, unknown>>,
): void {
  if (!(output instanceof z.ZodObject)) return;
  const shape = output.shape as Readonly<Record<string, z.ZodType>>;
  const isOpen = output.def.catchall !== undefined;
  const unknown = Object.keys(fields).filter((field) => !isOpen && !Object.hasOwn(shape, field));
  if (unknown.length > 0) throw unknownFields(name, output, unknown);
  for (const [field, value] of Object.entries(fields)) {
    if (typeof value === "function") continue;
    const issue = shape[field]?.safeParse(value).error?.issues[0];
    if (issue !== undefined)
      throw new MappingMistake(
        `the field ${[field, ...issue.path].join(".")} of fields does not fit: ${issue.message}`,
        'Write a value that the document takes. An amount or a quantity is Decimal.of("12.50").',
      );
  }
}

function unknownFields(name: string, output: z.ZodType, fields: readonly string[]): MappingMistake {
  const known = output instanceof z.ZodObject ? Object.keys(output.shape).join(", ") : "";
  return new MappingMistake(
    `the documents of ${name} have no field ${[...new Set(fields)].join(", ")}: nothing of it would be sent`,
    known === "" ? "Correct the name." : `Correct the name; fields are ${known}.`,
  );
}

/** What a document is found by must not part from what it is kept under. */
function expectSameIdentity(made: object, document: object, was: string, is: string): void {
  const before = made as Readonly<Record<string, unknown>>;
  const after = document as Readonly<Record<string, unknown>>;
  for (const field of IDENTITY) {
    const value = before[field];
    const expected = value === was && field !== "id" ? is : value;
    if (after[field] === expected || (value !== was && field !== "id")) continue;
    throw new Refused({
      code: "identity-changed",
      message: `the field ${field} of the document is ${JSON.stringify(after[field])}, and it is kept under ${JSON.stringify(expected)}`,
      next: "Correct the mapping: leave the id as it is, and change a number with `number` and in the document alike.",
      field,
    });
  }
}

function refusalOf({ code, message, next, field }: Rule<unknown, object, unknown>): Refused {
  // A code of the site's own may be retried and resolved.
  const fault = { code: code as FaultCode, message, next };
  return new Refused(field === undefined ? fault : { ...fault, field });
}

/** The options of both, each checked by the schema that declares it. @throws MappingMistake when they cannot be joined */
function bothOptions(
  below: z.ZodType | undefined,
  own: z.ZodType | undefined,
): z.ZodType | undefined {
  if (below === undefined || own === undefined) return own ?? below;
  if (!(below instanceof z.ZodObject) || !(own instanceof z.ZodObject))
    throw new MappingMistake(
      "the options of an extension are not the schema of an object",
      "Write options: z.strictObject({ ... }).",
    );
  return z.strictObject({ ...below.shape, ...own.shape });
}
