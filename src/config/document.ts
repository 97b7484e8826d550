/**
 * YAML into a plain value that remembers where each part of it was written. YAML 1.2 core: no merge keys, no tags, few
 * aliases, no key twice, no name that JavaScript gives a meaning to.
 */
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { causeOf, type Complaint, type Path, type Problem, settingOf } from "./problems.ts";
import { resolve } from "node:path";
import { readBounded } from "./read-file.ts";

/** A value of a configuration that has settings of its own, by their names. */
export type Group = Readonly<Record<string, unknown>>;

export const isGroup = (value: unknown): value is Group =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export interface Document {
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** Of the value at `path`, or of what is nearest above it. */
  place(path: Path, part?: "key" | "value"): { line: number; column: number };
  /** True when the value at `path`, or a part of it, could not be substituted: there is a problem about it already. */
  broken(path: Path): boolean;
  /**
   * Where the value at `path`, or a part of it, came from, as the configuration names it (`${file:PATH}`): such a value is
   * never shown. Null: it is written there.
   */
  source(path: Path): string | null;
  /** Every single value (not a list or map), with what its text is made of. */
  readonly scalars: readonly { readonly path: Path; readonly made: Substituted | null }[];
}

const BYTES_MAX = 1_048_576;
const ALIASES_MAX = 100;
const DEPTH_MAX = 50;
const FORBIDDEN_KEYS = new Set(["__proto__", "constructor", "prototype"]);

export function readDocument(text: string, outside: Outside): Document {
  const reading = new Reading(text, outside);
  reading.run();
  return reading;
}

class Reading implements Document {
  value: unknown = null;
  readonly problems: Problem[] = [];
  readonly scalars: { path: Path; made: Substituted | null }[] = [];
  readonly #lines = new LineCounter();
  readonly #offsets = new Map<string, { key: number; value: number }>();
  readonly #broken: string[] = [];
  readonly #text: string;
  readonly #outside: Outside;
  #aliases = 0;

  constructor(text: string, outside: Outside) {
    this.#text = text;
    this.#outside = outside;
  }

  run(): void {
    if (this.#text.length > BYTES_MAX) {
      this.#report([], 0, { message: "is longer than 1 MB", remedy: "No configuration is." });
      return;
    }
    const document = parseDocument(this.#text, {
      lineCounter: this.#lines,
      schema: "core",
      merge: false,
      prettyErrors: false,
      stringKeys: true,
    });
    const found = [...document.errors, ...document.warnings];
    if (found.length > 0) {
      this.#explain(found);
      return;
    }
    const resolve = (node: Node): Node | undefined =>
      isAlias(node) ? node.resolve(document) : node;
    this.value = this.#visit(document.contents, [], resolve);
  }

  /** One cause has many errors: tabs one a line, an open quote whatever comes after it. Each is told once. */
  #explain(errors: readonly { code: string; message: string; pos: readonly [number, number] }[]) {
    const indented = [...this.#text.matchAll(/^ *\t[\t ]*(?=\S)/gm)];
    const [first] = indented;
    if (first !== undefined) {
      this.#report([], first.index, tabs(indented.length));
      return;
    }
    for (const alike of Map.groupBy(errors, ({ code }) => code).values()) {
      const [{ message, pos } = { message: "", pos: [0] }] = alike;
      const more = alike.length > 1 ? ` (and so in ${alike.length - 1} more places)` : "";
      const complaint = inWords(message);
      this.#report([], pos[0], { ...complaint, message: `${complaint.message}${more}` });
    }
  }

  place(path: Path, part: "key" | "value" = "value"): { line: number; column: number } {
    const offsets = this.#offsets.get(id(path));
    if (offsets === undefined && path.length > 0) return this.place(path.slice(0, -1), "key");
    const { line, col } = this.#lines.linePos(offsets?.[part] ?? 0);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  }

  source(path: Path): string | null {
    const inside = ({ path: at }: { path: Path }): boolean =>
      path.every((step, index) => String(step) === String(at[index]));
    const sources = this.scalars.filter(inside).map(({ made }) => sourceOf(made));
    return sources.find((source) => source !== null) ?? null;
  }

  broken(path: Path): boolean {
    return this.#broken.includes(id(path));
  }

  #visit(written: unknown, path: Path, resolve: (node: Node) => Node | undefined): unknown {
    const node = isNode(written) ? resolve(written) : undefined;
    const from = isNode(written) ? (written.range?.[0] ?? 0) : undefined;
    if (from !== undefined) this.#note(path, { value: from });
    if (isAlias(written)) this.#aliases += 1;
    if (isAlias(written) && node === undefined)
      this.#report(path, from, {
        message: `*${written.source} refers to nothing`,
        remedy: `Mark a value above it with &${written.source}, or put the text into quotes.`,
      });
    if (path.length > DEPTH_MAX || this.#aliases > ALIASES_MAX) {
      if (this.#broken.push(id(path)) === 1) this.#report(path, from, TOO_MUCH);
      return null;
    }
    if (isMap(node)) return this.#map(node.items, path, resolve);
    if (isSeq(node)) return node.items.map((item, at) => this.#visit(item, [...path, at], resolve));
    if (!isScalar(node)) return null;
    if (typeof node.value !== "string") {
      this.scalars.push({ path, made: null });
      return node.value;
    }
    const made = substitute(node.value, this.#outside);
    this.scalars.push({ path, made });
    for (const complaint of made.complaints) this.#report(path, from, complaint);
    if (made.complaints.length > 0) this.#broken.push(id(path));
    return made.text;
  }

  #map(
    items: readonly { key: unknown; value: unknown }[],
    path: Path,
    resolve: (node: Node) => Node | undefined,
  ): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    for (const { key, value } of items) {
      const name = isScalar(key) ? String(key.value) : "";
      const at = [...path, name];
      const from = isNode(key) ? (key.range?.[0] ?? 0) : 0;
      this.#note(at, { key: from, value: from });
      if (FORBIDDEN_KEYS.has(name) || name === "<<")
        this.#report(at, from, {
          message: "cannot be the name of a setting",
          remedy: "Merge keys and the inner names of JavaScript are not supported: write it out.",
        });
      else map[name] = this.#visit(value, at, resolve);
    }
    return map;
  }

  #note(path: Path, offsets: { key?: number; value: number }): void {
    const before = this.#offsets.get(id(path));
    const key = offsets.key ?? before?.key ?? offsets.value;
    this.#offsets.set(id(path), { key, value: offsets.value });
  }

  #report(path: Path, offset: number | undefined, complaint: Complaint): void {
    const { line, col } = this.#lines.linePos(offset ?? 0);
    const setting = settingOf(path);
    this.problems.push({
      line: Math.max(line, 1),
      column: Math.max(col, 1),
      setting,
      ...complaint,
    });
  }
}

const TOO_MUCH: Complaint = {
  message: "is nested too deeply or repeats itself too often",
  remedy: `At most ${DEPTH_MAX} levels and ${ALIASES_MAX} aliases are read.`,
};

const id = (path: Path): string => JSON.stringify(path.map(String));
const isNode = (value: unknown): value is Node =>
  isAlias(value) || isMap(value) || isSeq(value) || isScalar(value);

const tabs = (lines: number): Complaint => ({
  message: `is not YAML here: ${lines === 1 ? "this line begins with a tab" : `this line and ${lines - 1} more begin with tabs`}`,
  remedy:
    "YAML is indented with spaces only: replace each tab at the beginning of a line by spaces.",
});

function inWords(message: string): Complaint {
  const braces = /flow|Plain value cannot start/i.test(message);
  return {
    message: `is not YAML here: ${message.replace(/\.$/, "")}`,
    remedy: braces
      ? 'Put a value with ${...} into quotes when it stands inside { } or [ ]: { port: "${PORT}" }.'
      : "Look at the indentation, the colons and the quotes of this line and the one before.",
  };
}

/*
 * `${VAR}`, `${VAR:-default}` and `${file:PATH}` inside one string of the configuration; `$${` is a plain `${`. The
 * file is parsed first and substituted after, so what comes in is text and stays text: it never becomes structure.
 */

export interface Substituted {
  readonly text: string;
  /** What came from elsewhere. */
  readonly references: readonly Reference[];
  /** What is written in the file itself: the text without its references, and their defaults. */
  readonly literal: string;
  readonly complaints: readonly Complaint[];
}

type Reference =
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "file"; readonly name: string; readonly path: string };

export interface Outside {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The configuration's own folder: where relative paths start. */
  readonly folder: string;
}

const REFERENCE = /\$\$\{|\$\{([^}]*)\}?/g;
const VARIABLE = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;
const FILE = /^file:(?!-)(.+)$/s;
const FILE_BYTES_MAX = 64_000;

export function substitute(source: string, outside: Outside): Substituted {
  const references: Reference[] = [];
  const complaints: Complaint[] = [];
  let literal = source;
  const text = source.replace(REFERENCE, (whole: string, inside: string | undefined) => {
    if (inside === undefined) return "${";
    const found = whole.endsWith("}") ? lookUp(inside, outside) : UNCLOSED;
    literal = literal.replace(whole, () => ("fallback" in found ? found.fallback : ""));
    if ("reference" in found) references.push(found.reference);
    if ("text" in found) return found.text;
    complaints.push(found);
    return "";
  });
  return { text, references, literal, complaints };
}

type Found = Complaint | { readonly text: string; readonly reference: Reference } | Default;
interface Default {
  readonly text: string;
  readonly fallback: string;
}

const FORMS = "${NAME}, ${NAME:-default} or ${file:PATH}; $${ is a plain ${";
const UNCLOSED: Complaint = {
  message: "has a ${ that is never closed",
  remedy: `Close it with }: ${FORMS}.`,
};

function lookUp(inside: string, outside: Outside): Found {
  const file = FILE.exec(inside)?.[1];
  if (file !== undefined) return readReferenced(file, outside);
  const [, name, fallback] = VARIABLE.exec(inside) ?? [];
  if (name === undefined || inside.includes("${"))
    return { message: `"\${${inside}}" refers to nothing`, remedy: `Right would be ${FORMS}.` };
  const value = outside.env[name];
  // As in a shell: `:-` stands in for a variable that is not set or empty.
  if (fallback !== undefined && (value === undefined || value === ""))
    return { text: fallback, fallback };
  if (value !== undefined) return { text: value, reference: { kind: "variable", name } };
  return {
    message: `the environment variable ${name} is not set`,
    remedy: `Set it where the service starts. What is no secret may have a default: \${${name}:-default}.`,
  };
}

function readReferenced(name: string, { folder }: Outside): Found {
  const path = resolve(folder, name);
  try {
    const bytes = readBounded(path, FILE_BYTES_MAX);
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/\r?\n$/, "");
    return { text, reference: { kind: "file", name, path } };
  } catch (error) {
    return {
      message: `the file ${path} cannot be read (${causeOf(error)})`,
      remedy:
        "Create it as UTF-8 text that the service's user can read, with nothing but the value.",
    };
  }
}

/** Where a value came from, in the words of the configuration: `${file:secrets/name}`; null: it is written there. */
function sourceOf(made: Substituted | null): string | null {
  if (made === null || made.references.length === 0) return null;
  return made.references
    .map(({ kind, name }) => (kind === "file" ? `\${file:${name}}` : `\${${name}}`))
    .join(" and ");
}
