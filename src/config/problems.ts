/**
 * What is wrong with a configuration: every problem with its place, the bad value as it is, and what would be right, which
 * is a setting's description.
 */
import { z } from "zod";
import { ConfigurationError } from "../core/errors.ts";

export interface Complaint {
  /** `"ten" is not a duration`: the end of a sentence that begins with the setting. */
  readonly message: string;
  readonly remedy: string;
}

export type Path = readonly PropertyKey[];

/** A complaint of a setting. */
export interface Finding extends Complaint {
  readonly path: Path;
  /** `key`: what is wrong is the name of the setting, not its value. */
  readonly part?: "key" | "value";
}

export interface Problem extends Complaint {
  readonly line: number;
  readonly column: number;
  /** `flows.orders.every`; empty for the file as a whole. */
  readonly setting: string;
  /** Where it is another file than the configuration: a table. */
  readonly file?: string;
}

export class InvalidConfiguration extends ConfigurationError {
  readonly problems: readonly Problem[];

  constructor(configuration: string, found: readonly Problem[]) {
    const problems = found.toSorted(
      (a, b) =>
        (a.file ?? "").localeCompare(b.file ?? "") || a.line - b.line || a.column - b.column,
    );
    const texts = problems.map(
      ({ file = configuration, line, column, setting, message, remedy }) =>
        `${file}:${line}:${column} ${setting === "" ? "" : `${setting}: `}${message}.\n    ${remedy}`,
    );
    super(
      `${configuration} has ${texts.length === 1 ? "a problem" : `${texts.length} problems`}:\n${texts.join("\n")}`,
      "Correct this, then look again with `fuelbridge check`.",
    );
    this.problems = problems;
  }
}

export const settingOf = (path: Path): string => path.map(String).join(".");

/** A value of a configuration that has settings of its own, by their names. */
export type Group = Readonly<Record<string, unknown>>;

export const isGroup = (value: unknown): value is Group =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const valueAt = (root: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (value, step) => (value as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[step],
    root,
  );

/** A value as people wrote it, cut to what fits a line; without the credentials that an address may carry. */
export function shown(value: unknown): string {
  const text = (JSON.stringify(value) ?? String(value)).replace(/\/\/[^/\s"]*@/g, "//[secret]@");
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** In place of a value that came from elsewhere; null: it may be shown. */
export const hiddenBy = (source: string | null): string | null =>
  source === null ? null : `its value (from ${source})`;

/** The candidate that was probably meant: two letters differ, in long words a third of them. */
function closest(word: string, candidates: readonly string[]): string | null {
  const [nearest] = candidates
    .map((candidate) => ({
      candidate,
      distance: edits(word.toLowerCase(), candidate.toLowerCase()),
    }))
    .filter(
      ({ candidate: { length }, distance }) => distance <= Math.max(length > 3 ? 2 : 1, length / 3),
    )
    .toSorted((one, other) => one.distance - other.distance);
  return nearest?.candidate ?? null;
}

/** `Did you mean "every"?`, or all that could be meant. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const one = closest(word, candidates);
  if (one !== null) return `Did you mean "${one}"?`;
  return candidates.length === 0
    ? "There is none to choose from."
    : `Right would be ${candidates.length > 1 ? "one of " : ""}${candidates.join(", ")}.`;
}

/** Levenshtein distance. */
function edits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** `ENOENT`, or the message of an error that has no such code. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}

/* What zod found, in words. */

type Issues = readonly z.core.$ZodIssue[];

/** As `safeParse`; a schema of a site's own mapping that throws has one complaint, which is what it threw. */
export function parsedBy(schema: z.ZodType, value: unknown): z.ZodSafeParseResult<unknown> {
  try {
    return schema.safeParse(value);
  } catch (error) {
    const message = `makes the mapping's schema fail: ${String(error)}`;
    return z.custom(() => false, message).safeParse(value);
  }
}

/** What issues are about. */
interface Subject {
  readonly value: unknown;
  readonly schema: z.ZodType;
  /** Where the value stands in the configuration. */
  readonly at: Path;
  /** Where the value at a path of the configuration came from ({@link Document.source}); null: it may be shown. */
  source(path: Path): string | null;
}

export const explainIssues = (issues: Issues, subject: Subject): readonly Finding[] =>
  issues.flatMap((issue) => explainIssue(issue, subject));

function explainIssue(issue: z.core.$ZodIssue, subject: Subject): readonly Finding[] {
  const path = [...subject.at, ...issue.path];
  const value = valueAt(subject.value, issue.path);
  const here = partsAt(subject.schema, issue.path, subject.value);
  const declared =
    path[0] === "flows"
      ? "The mapping's `options` declare what is right."
      : "See the connector's README.";
  const remedy = descriptionIn(here) ?? declared;
  const isSecret = here.some(isSecretPart);
  const hidden = isSecret ? "its value" : hiddenBy(subject.source(path));
  const bad = hidden ?? (typeof value === "object" ? "it" : shown(value));
  const found = (message: string, advice = remedy): readonly Finding[] => [
    { path, message, remedy: advice },
  ];
  switch (issue.code) {
    case "unrecognized_keys": {
      const known = new Set(here.flatMap((part) => Object.keys(definitionOf(part).shape ?? {})));
      return issue.keys.map((key) => ({
        path: [...path, key],
        part: "key",
        message: "there is no such setting",
        remedy: didYouMean(key, [...known]),
      }));
    }
    case "invalid_type": {
      if (value === undefined) return found("is missing");
      if (value === null) return found("has no value");
      const kind = Array.isArray(value) ? "a list" : article(typeof value);
      const quotes = " (In quotes, or through ${...}, a value is always text.)";
      const advice = typeof value === "string" ? `${remedy}${quotes}` : remedy;
      return found(`${bad} is ${kind}, not ${article(issue.expected)}`, advice);
    }
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
    case "invalid_union": {
      // The alternative that was probably meant: the one with the fewest mistakes.
      const [fewest = []] = issue.errors.toSorted((a, b) => a.length - b.length);
      const inner = fewest.map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
      return inner.length > 0
        ? explainIssues(inner, subject)
        : found(`${bad} is not possible here`);
    }
    case "custom":
      return found(`${bad} ${issue.message}`);
    case "invalid_format":
    case "invalid_element":
    case "invalid_key":
    case "not_multiple_of":
      return found(`${bad} does not have the right form`);
  }
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

/** The parts of schemas of all kinds, as zod keeps them. */
interface Definition {
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly out?: z.ZodType;
  readonly left?: z.ZodType;
  readonly right?: z.ZodType;
  readonly getter?: () => z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly items?: readonly z.ZodType[];
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly catchall?: z.ZodType;
  /** Of a constant. */
  readonly values?: readonly unknown[];
}

const definitionOf = (schema: z.ZodType): Definition => schema.def as unknown as Definition;

/** Every part of `schema` that is about the value at `path`, the outermost first; of alternatives those that its constants allow. */
function partsAt(schema: z.ZodType, path: Path, value: unknown): readonly z.ZodType[] {
  const { shape, items, element, valueType, catchall, options = [], ...def } = definitionOf(schema);
  const { innerType, in: before, out, left, right, getter } = def;
  const [step, ...rest] = path;
  const alike = [
    innerType,
    before,
    out,
    left,
    right,
    getter?.(),
    ...options.filter((one) => allows(one, value)),
  ].flatMap((one) => (one === undefined ? [] : partsAt(one, path, value)));
  if (step === undefined) return [schema, ...alike];
  const next = shape?.[String(step)] ?? items?.[Number(step)] ?? element ?? valueType ?? catchall;
  return next === undefined ? alike : [...alike, ...partsAt(next, rest, valueAt(value, [step]))];
}

const isSecretPart = (part: z.ZodType): boolean => z.globalRegistry.get(part)?.["secret"] === true;

/** Is the setting at `path` a secret (`.meta({ secret: true })`)? */
export const isSecretAt = (schema: z.ZodType, path: Path, value: unknown): boolean =>
  partsAt(schema, path, value).some(isSecretPart);

const descriptionIn = (parts: readonly z.ZodType[]): string | undefined =>
  parts.find(({ description }) => description !== undefined)?.description;

/** What a setting says of itself; undefined: nothing. */
export const descriptionOf = (schema: z.ZodType): string | undefined =>
  descriptionIn(partsAt(schema, [], undefined));

/** False when a constant (`type: bullmq`) says that `value` is another alternative. */
const allows = (schema: z.ZodType, value: unknown): boolean =>
  Object.entries(definitionOf(schema).shape ?? {}).every(([name, part]) => {
    const { values } = definitionOf(part);
    const written = valueAt(value, [name]);
    return values === undefined || written === undefined || values.includes(written);
  });
