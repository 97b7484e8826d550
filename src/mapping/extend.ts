/** A shipped mapping with a site's changes: the whole of it, single fields, a filter, a constant, a rule. */
import { z } from "zod";
import { shipped } from "../../mappings/index.ts";
import { type Mapping, type References, skip, type Skip } from "../core/contract.ts";
import { Refused } from "../core/errors.ts";
import {
  droppedFrom,
  expectDocument,
  expectName,
  expectParts,
  extensionParts,
  MappingMistake,
  remembered,
  returnedWrong,
} from "./define.ts";

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
  /** Which records go: true, or the reason why this one does not. It is asked first. */
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
  const goes = given.only === undefined ? true : given.only(record, references, options);
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
  return new Refused({ code, message, next, ...(field === undefined ? {} : { field }) });
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
