/** The settings as JSON Schema for editors: with `${...}` in place of values, and with `companies`. */
import type { Connector } from "../core/contract.ts";
import { defined } from "../core/defined.ts";
import { fullSchema, type JsonSchema, NAME, type WithOptions } from "./schema.ts";

/** For editors, through the modeline at the top of a configuration: `${...}` goes wherever a setting is more than any text. */
export const jsonSchema = (
  connectors: readonly Connector[],
  mappings: readonly WithOptions[],
): JsonSchema => withReferences(withCompanies(fullSchema(connectors, mappings))) as JsonSchema;

/** With `companies`: then what stands on top may be a part, and so is what each company says. */
function withCompanies({ required = [], properties = {}, ...rest }: JsonSchema): JsonSchema {
  const { version: _, ...own } = properties;
  const companies = {
    type: "object",
    description:
      "Several companies in one installation, by name: what differs from what stands on top, which they have in common.",
    propertyNames: { pattern: NAME.source },
    additionalProperties: {
      ...partOf({ properties: own, required }, "#"),
      additionalProperties: false,
    },
  };
  const anyOf = [{ required: ["version", "companies"] }, { required }];
  return { ...rest, properties: { ...properties, companies }, anyOf };
}

/** Any part of a schema, whose parts are found at `home`: nothing in it is required, and `~` takes it away. */
function partOf(schema: JsonSchema, home: string): JsonSchema {
  const { properties, description, additionalProperties: others = false } = schema;
  if (properties === undefined && others !== false)
    return { type: ["object", "null"], ...defined({ description }) };
  if (properties === undefined || !requires(schema))
    return { anyOf: [{ $ref: home }, { type: "null" }] };
  const parts = Object.entries(properties).map(
    ([name, part]) => [name, partOf(part, `${home}/properties/${name}`)] as const,
  );
  return {
    type: ["object", "null"],
    ...defined({ description }),
    properties: Object.fromEntries(parts),
  };
}

const requires = ({ required = [], properties = {} }: JsonSchema): boolean =>
  required.length > 0 || Object.values(properties).some(requires);

/** Of every schema inside, too; `key`: the keyword that it stands under. */
function withReferences(value: unknown, key = ""): unknown {
  if (PLAIN.has(key) || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => withReferences(item));
  const inner = Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      withReferences(part, BY_NAME.has(key) ? "" : name),
    ]),
  );
  if (inner["type"] !== "string" || !NARROW.some((keyword) => keyword in inner)) return inner;
  // What explains the setting stays outside, where editors look for it.
  const [outside, exact] = [true, false].map((isOutside) =>
    Object.fromEntries(
      Object.entries(inner).filter(([keyword]) => OUTSIDE.has(keyword) === isOutside),
    ),
  );
  const reference = { type: "string", pattern: String.raw`\$\{.+\}` };
  return { ...outside, anyOf: [exact, reference] };
}

const NARROW = ["enum", "pattern", "format", "minLength", "maxLength"];
const OUTSIDE = new Set(["description", "default", "deprecated", "secret"]);
/** Keywords whose value names schemas, and those whose value is none. */
const BY_NAME = new Set(["properties", "$defs"]);
const PLAIN = new Set(["enum", "required", "default", "propertyNames", "not", "const"]);
