/**
 * The settings as JSON Schema: editors complete and explain from it, and our own messages take their words from it. So
 * a field's description says what is right: `A duration such as 30s, 10m or 2h.`
 */
import { z } from "zod";
import type { CompanySetting } from "../core/settings.ts";
import type { Path } from "./problems.ts";

export interface JsonSchema {
  readonly description?: string;
  readonly secret?: boolean;
  /** What the configuration says of the company, and this repeats. */
  readonly company?: CompanySetting;
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly [keyword: string]: unknown;
}

/** Of one schema the same object each time: nobody changes it. */
export function toJsonSchema(schema: z.ZodType): JsonSchema {
  const known = converted.get(schema);
  if (known !== undefined) return known;
  const made = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema;
  converted.set(schema, made);
  return made;
}

const converted = new WeakMap<z.ZodType, JsonSchema>();

/** Every part of `root` that describes the value at `path`; of alternatives only those that its constants allow. */
export function schemasAt(root: JsonSchema, path: Path, value: unknown): readonly JsonSchema[] {
  const here = alternatives(root, value);
  const [step, ...rest] = path;
  if (step === undefined) return here;
  const inside = (value as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[step];
  return here.flatMap((schema) => {
    const next = schema.properties?.[String(step)] ?? schema.items ?? schema.additionalProperties;
    return typeof next === "object" ? schemasAt(next, rest, inside) : [];
  });
}

function alternatives(schema: JsonSchema, value: unknown): readonly JsonSchema[] {
  const choices = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => list ?? []);
  const fitting = choices.filter((choice) => fits(choice, value));
  return [schema, ...fitting.flatMap((choice) => alternatives(choice, value))];
}

/** False when a constant (`connector: files`) says that `value` is another alternative. */
function fits({ properties = {} }: JsonSchema, value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  const entries = Object.entries(value);
  return entries.every(([key, item]) => {
    const constant = properties[key]?.const;
    return constant === undefined || constant === item;
  });
}

/** Lets an editor accept `${...}` wherever a setting is more than any text. */
export function withReferences(schema: JsonSchema): JsonSchema {
  const inner = Object.fromEntries(
    Object.entries(schema).map(([keyword, part]) => [keyword, rewritten(keyword, part)]),
  );
  const narrow = NARROW.some((keyword) => keyword in inner);
  if (!narrow || inner["type"] !== "string") return inner;
  // What explains the setting stays outside, where editors look for it.
  const outside = Object.entries(inner).filter(([keyword]) => OUTSIDE.has(keyword));
  const exact = Object.entries(inner).filter(([keyword]) => !OUTSIDE.has(keyword));
  const reference = { type: "string", pattern: String.raw`\$\{.+\}` };
  return { ...Object.fromEntries(outside), anyOf: [Object.fromEntries(exact), reference] };
}

const NARROW = ["enum", "pattern", "format", "minLength", "maxLength"];
const OUTSIDE = new Set(["description", "default", "deprecated", "secret", "company"]);
const BY_NAME = new Set(["properties", "$defs"]);
const NESTED = new Set(["additionalProperties", "items"]);
const LISTS = new Set(["anyOf", "oneOf", "allOf"]);

function rewritten(keyword: string, part: unknown): unknown {
  if (LISTS.has(keyword)) return (part as JsonSchema[]).map(withReferences);
  if (typeof part !== "object" || part === null) return part;
  if (NESTED.has(keyword)) return withReferences(part as JsonSchema);
  if (!BY_NAME.has(keyword)) return part;
  const entries = Object.entries(part as Record<string, JsonSchema>);
  return Object.fromEntries(entries.map(([name, schema]) => [name, withReferences(schema)]));
}
