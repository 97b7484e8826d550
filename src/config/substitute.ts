/**
 * `${VAR}`, `${VAR:-default}` and `${file:PATH}` inside one string of the configuration; `$${` is a plain `${`. The
 * file is parsed first and substituted after, so what comes in is text and stays text: it never becomes structure.
 */
import { resolve } from "node:path";
import { causeOf, type Complaint } from "./problems.ts";
import { readBounded } from "./read-file.ts";

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
export function sourceOf(made: Substituted | null): string | null {
  if (made === null || made.references.length === 0) return null;
  return made.references
    .map(({ kind, name }) => (kind === "file" ? `\${file:${name}}` : `\${${name}}`))
    .join(" and ");
}
