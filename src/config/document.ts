/**
 * YAML into a plain value that remembers where each part of it was written. YAML 1.2 core: no merge keys, no tags, few
 * aliases, no key twice, no name that JavaScript gives a meaning to.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { resolve } from "node:path";
import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
import { aboutMachine } from "../core/errors.ts";
import { causeOf, type Complaint, type Path, type Problem, settingOf } from "./problems.ts";

interface Place {
  readonly line: number;
  readonly column: number;
}

export interface Document {
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** Of the value at `path`, or of what is nearest above it. */
  place(path: Path, part?: "key" | "value"): Place;
  /** True when the value at `path`, or a part of it, could not be substituted: there is a problem about it already. */
  broken(path: Path): boolean;
  /**
   * Where the value at `path`, or a part of it, came from, as the configuration names it (`${file:PATH}`): such a value is
   * never shown. Null: it is written there.
   */
  source(path: Path): string | null;
  /** Every single value (not a list or map), with what its text is made of. */
  readonly scalars: readonly Scalar[];
}

export interface Scalar {
  readonly path: Path;
  readonly made: Substituted | null;
}

const BYTES_MAX = 1_048_576;
const ALIASES_MAX = 100;
const DEPTH_MAX = 50;
const FORBIDDEN_KEYS = new Set(["__proto__", "constructor", "prototype", "<<"]);

export function readDocument(text: string, outside: Outside): Document {
  const lines = new LineCounter();
  const problems: Problem[] = [];
  const scalars: Scalar[] = [];
  const offsets = new Map<string, { key: number; value: number }>();
  const broken = new Set<string>();
  const document = parseDocument(text.length > BYTES_MAX ? "" : text, {
    lineCounter: lines,
    schema: "core",
    merge: false,
    prettyErrors: false,
    stringKeys: true,
  });
  let aliases = 0;

  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const report = (path: Path, offset: number, complaint: Complaint): void => {
    problems.push({ ...placeAt(offset), setting: settingOf(path), ...complaint });
  };

  function visit(written: unknown, path: Path): unknown {
    if (!isNode(written)) return null;
    const at = written.range?.[0] ?? 0;
    const place = id(path);
    offsets.set(place, { key: offsets.get(place)?.key ?? at, value: at });
    const node = isAlias(written) ? written.resolve(document) : written;
    if (isAlias(written)) aliases += 1;
    if (isAlias(written) && node === undefined)
      report(path, at, {
        message: `*${written.source} refers to nothing`,
        remedy: `Mark a value above it with &${written.source}, or put the text into quotes.`,
      });
    if (path.length > DEPTH_MAX || aliases > ALIASES_MAX) {
      if (broken.size === 0) report(path, at, TOO_MUCH);
      broken.add(place);
      return null;
    }
    if (isMap(node)) return mapOf(node.items, path);
    if (isSeq(node)) return node.items.map((item, index) => visit(item, [...path, index]));
    if (!isScalar(node)) return null;
    const made = typeof node.value === "string" ? substitute(node.value, outside) : null;
    scalars.push({ path, made });
    for (const complaint of made?.complaints ?? []) report(path, at, complaint);
    if (made !== null && made.complaints.length > 0) broken.add(place);
    return made === null ? node.value : made.text;
  }

  function mapOf(items: readonly { key: unknown; value: unknown }[], path: Path): object {
    const map: Record<string, unknown> = {};
    for (const { key, value } of items) {
      const name = isScalar(key) ? String(key.value) : "";
      const at = [...path, name];
      const from = isNode(key) ? (key.range?.[0] ?? 0) : 0;
      offsets.set(id(at), { key: from, value: from });
      if (!FORBIDDEN_KEYS.has(name)) map[name] = visit(value, at);
      else
        report(at, from, {
          message: "cannot be the name of a setting",
          remedy: "Merge keys and the inner names of JavaScript are not supported: write it out.",
        });
    }
    return map;
  }

  function place(path: Path, part: "key" | "value" = "value"): Place {
    const found = offsets.get(id(path));
    if (found === undefined && path.length > 0) return place(path.slice(0, -1), "key");
    return placeAt(found?.[part] ?? 0);
  }

  if (text.length > BYTES_MAX)
    report([], 0, { message: "is longer than 1 MB", remedy: "No configuration is." });
  const errors = [...document.errors, ...document.warnings];
  for (const { offset, ...complaint } of complaintsOf(errors, text)) report([], offset, complaint);
  return {
    value: problems.length > 0 ? null : visit(document.contents, []),
    problems,
    scalars,
    place,
    broken: (path) => broken.has(id(path)),
    source: (path) => sourceIn(scalars, path),
  };
}

/** {@link Document.source} of a document of these. */
export function sourceIn(scalars: readonly Scalar[], path: Path): string | null {
  const isInside = ({ path: at }: Scalar): boolean =>
    path.every((step, index) => String(step) === String(at[index]));
  const sources = scalars.filter(isInside).map(({ made }) => sourceOf(made));
  return sources.find((source) => source !== null) ?? null;
}

const TOO_MUCH: Complaint = {
  message: "is nested too deeply or repeats itself too often",
  remedy: `At most ${DEPTH_MAX} levels and ${ALIASES_MAX} aliases are read.`,
};

const id = (path: Path): string => JSON.stringify(path.map(String));

type YamlError = Readonly<Record<"code" | "message", string>> & { readonly pos: [number, number] };

/** One cause has many errors: tabs one a line, an open quote whatever comes after it. Each is told once. */
function complaintsOf(
  errors: readonly YamlError[],
  text: string,
): (Complaint & { readonly offset: number })[] {
  const [tab, ...tabs] = errors.length === 0 ? [] : text.matchAll(/^ *\t[\t ]*(?=\S)/gm);
  if (tab !== undefined)
    return [
      {
        offset: tab.index,
        message: `is not YAML here: ${tabs.length === 0 ? "this line begins with a tab" : `this line and ${tabs.length} more begin with tabs`}`,
        remedy:
          "YAML is indented with spaces only: replace each tab at the beginning of a line by spaces.",
      },
    ];
  return [...Map.groupBy(errors, ({ code }) => code).values()].flatMap(([error, ...alike]) => {
    if (error === undefined) return [];
    const { message, pos } = error;
    const more = alike.length > 0 ? ` (and so in ${alike.length} more places)` : "";
    return {
      offset: pos[0],
      message: `is not YAML here: ${message.replace(/\.$/, "")}${more}`,
      remedy: /flow|Plain value cannot start/i.test(message)
        ? 'Put a value with ${...} into quotes when it stands inside { } or [ ]: { port: "${PORT}" }.'
        : "Look at the indentation, the colons and the quotes of this line and the one before.",
    };
  });
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

interface Outside {
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
    if (!("text" in found)) {
      complaints.push(found);
      literal = literal.replace(whole, "");
      return "";
    }
    // A default is written in the file itself.
    literal = literal.replace(whole, () => (found.reference === null ? found.text : ""));
    if (found.reference !== null) references.push(found.reference);
    return found.text;
  });
  return { text, references, literal, complaints };
}

/** `reference`: null for a default. */
type Found = Complaint | { readonly text: string; readonly reference: Reference | null };

const FORMS = "${NAME}, ${NAME:-default} or ${file:PATH}; $${ is a plain ${";
const UNCLOSED: Complaint = {
  message: "has a ${ that is never closed",
  remedy: `Close it with }: ${FORMS}.`,
};

function lookUp(inside: string, { env, folder }: Outside): Found {
  const file = FILE.exec(inside)?.[1];
  if (file !== undefined) return readReferenced(file, resolve(folder, file));
  const [, name, fallback] = VARIABLE.exec(inside) ?? [];
  if (name === undefined || inside.includes("${"))
    return { message: `"\${${inside}}" refers to nothing`, remedy: `Right would be ${FORMS}.` };
  const value = env[name];
  // As in a shell: `:-` stands in for a variable that is not set or empty.
  if (fallback !== undefined && (value === undefined || value === ""))
    return { text: fallback, reference: null };
  if (value !== undefined) return { text: value, reference: { kind: "variable", name } };
  return {
    message: `the environment variable ${name} is not set`,
    remedy: `Set it where the service starts. What is no secret may have a default: \${${name}:-default}.`,
  };
}

function readReferenced(name: string, path: string): Found {
  try {
    const text = readText(path, FILE_BYTES_MAX).replace(/\r?\n$/, "");
    return { text, reference: { kind: "file", name, path } };
  } catch (error) {
    return {
      message: `the file ${path} cannot be read (${causeOf(error)})`,
      remedy:
        aboutMachine(causeOf(error)) ??
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

/** Windows has no such flag. Elsewhere opening a pipe that nobody writes to would wait for ever. */
const NO_WAIT = (constants.O_NONBLOCK as number | undefined) ?? 0;

const PART_BYTES = 65_536;

/**
 * The UTF-8 text of a regular file (a link to one counts), never more than `bytesMax` of anything.
 * @throws what the file system throws; an Error in words for what is no file, or too long (see `causeOf`)
 */
export function readText(path: string, bytesMax: number): string {
  const file = openSync(path, constants.O_RDONLY | NO_WAIT);
  try {
    const stats = fstatSync(file);
    if (stats.isDirectory()) throw new Error("it is a folder, not a file");
    if (!stats.isFile()) throw new Error("it is a device or a pipe, not a file");
    // The size that is told is a guess: files of the kernel say 0.
    const parts: Buffer[] = [];
    let length = 0;
    for (let read = -1; read !== 0 && length <= bytesMax; length += read) {
      const part = Buffer.allocUnsafe(Math.min(PART_BYTES, bytesMax + 1 - length));
      read = readSync(file, part, 0, part.length, null);
      parts.push(part.subarray(0, read));
    }
    const [size, unit] = bytesMax >= 1_000_000 ? [1_000_000, "MB"] : [1_000, "KB"];
    if (length > bytesMax)
      throw new Error(`it is longer than ${Math.floor(bytesMax / size)} ${unit}`);
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(parts));
  } finally {
    closeSync(file);
  }
}
