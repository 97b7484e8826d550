/**
 * The parts of a mapping as a site writes them. Node removes the types of a module unread, so each part is checked here,
 * where the mapping is defined; what its functions return is checked when they return it.
 */
import { z } from "zod";
import { MappingMistake } from "./mistake.ts";
import { isPlain } from "./watch.ts";

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
export const mappingParts = z.strictObject({
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
