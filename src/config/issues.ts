/** What zod found, in words: the bad value as it is, and what would be right from the field's description. */
import { z } from "zod";
import { type JsonSchema, schemasAt } from "./json-schema.ts";
import { type Complaint, didYouMean, type Path, shown } from "./problems.ts";

export interface Finding extends Complaint {
  readonly path: Path;
  /** What is wrong is the name of the setting, not its value. */
  readonly part: "key" | "value";
}

/** As `safeParse`; a schema of a site's own mapping that throws has one complaint, which is what it threw. */
export function parsedBy(schema: z.ZodType, value: unknown): z.ZodSafeParseResult<unknown> {
  try {
    return schema.safeParse(value);
  } catch (error) {
    return z
      .custom(() => false, `makes the mapping's schema fail: ${String(error)}`)
      .safeParse(value);
  }
}

/** `source`: where the value at a path came from ({@link Document.source}); null: it may be shown. */
export function explainIssues(
  issues: readonly z.core.$ZodIssue[],
  root: unknown,
  schema: JsonSchema,
  source: (path: Path) => string | null,
): readonly Finding[] {
  return issues.flatMap((issue) => explainIssue(issue, root, schema, source));
}

function explainIssue(
  issue: z.core.$ZodIssue,
  root: unknown,
  schema: JsonSchema,
  source: (path: Path) => string | null,
): readonly Finding[] {
  const { path } = issue;
  const value = valueAt(root, path);
  const here = schemasAt(schema, path, root);
  const right = here.find(({ description }) => description !== undefined)?.description;
  const declared =
    path[0] === "flows"
      ? "The mapping's `options` declare what is right."
      : "See the connector's README.";
  const remedy = right ?? declared;
  const hidden = here.some((part) => part.secret === true) ? "its value" : hiddenBy(source(path));
  const bad = hidden ?? (typeof value === "object" ? "it" : shown(value));
  const found = (message: string, advice = remedy): readonly Finding[] => [
    { path, part: "value", message, remedy: advice },
  ];
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => ({
        path: [...path, key],
        part: "key",
        message: "there is no such setting",
        remedy: didYouMean(key, settingsOf(here)),
      }));
    case "invalid_type":
      if (value === undefined) return found("is missing");
      if (value === null) return found("has no value");
      return found(
        `${bad} is ${kindOf(value)}, not ${article(issue.expected)}`,
        typeAdvice(value, remedy),
      );
    case "invalid_value":
      if (value === undefined) return found("is missing");
      return found(
        `${bad} is not possible here`,
        typeof value === "string" && hidden === null
          ? didYouMean(value, issue.values.map(String))
          : remedy,
      );
    case "too_small":
      return found(
        `${bad} is too ${issue.origin === "string" ? "short" : "small"}; the least is ${issue.minimum}`,
      );
    case "too_big":
      return found(
        `${bad} is too ${issue.origin === "string" ? "long" : "large"}; the most is ${issue.maximum}`,
      );
    case "invalid_union":
      return explainUnion(issue, root, schema, source) ?? found(`${bad} is not possible here`);
    case "custom":
      return found(`${bad} ${issue.message}`);
    case "invalid_format":
    case "invalid_element":
    case "invalid_key":
    case "not_multiple_of":
      return found(`${bad} does not have the right form`);
  }
}

/** The alternative that was probably meant: the one with the fewest mistakes. */
function explainUnion(
  issue: z.core.$ZodIssueInvalidUnion,
  root: unknown,
  schema: JsonSchema,
  source: (path: Path) => string | null,
): readonly Finding[] | null {
  const [fewest] = issue.errors.toSorted((a, b) => a.length - b.length);
  if (fewest === undefined || fewest.length === 0) return null;
  const located = fewest.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
  return explainIssues(located, root, schema, source);
}

/** In place of a value that came from elsewhere; null: it may be shown. */
export const hiddenBy = (source: string | null): string | null =>
  source === null ? null : `its value (from ${source})`;

export const valueAt = (root: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (value, step) => (value as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[step],
    root,
  );

const settingsOf = (schemas: readonly JsonSchema[]): string[] => [
  ...new Set(schemas.flatMap(({ properties }) => Object.keys(properties ?? {}))),
];

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "a list" : article(typeof value);
}

const WORDS: Readonly<Record<string, string>> = {
  string: "text",
  int: "a whole number",
  object: "a group of settings",
  record: "a group of settings",
  array: "a list",
  boolean: "true or false",
};
const article = (type: string): string => WORDS[type] ?? `a ${type}`;

function typeAdvice(value: unknown, remedy: string): string {
  return typeof value === "string"
    ? `${remedy} (In quotes, or through \${...}, a value is always text.)`
    : remedy;
}
