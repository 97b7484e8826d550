/** The JSON Schema that editors complete and explain a configuration from. */
import type { Connector } from "../core/contract.ts";
import { fullSchema, type JsonSchema, type WithOptions } from "./schema.ts";

/** For editors, through the modeline at the top of a configuration: `${...}` goes wherever a setting is more than any text. */
export const jsonSchema = (
  connectors: readonly Connector[],
  mappings: readonly WithOptions[],
): JsonSchema => withReferences(fullSchema(connectors, mappings)) as JsonSchema;

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
