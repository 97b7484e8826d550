/** The text of a profile into its settings, every mistake with its line and what would fit. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { type Document, isNode, LineCounter, parseDocument } from "yaml";
import type { z } from "zod";
import { ConfigurationError } from "../../core/errors.ts";
import { type CellForm, type CellType, readCell } from "./cells.ts";
import { documentLayouts, type Field, type Fields, type Layout, layouts } from "./layouts.ts";
import { type Column, type ColumnFile, type List, type Profile, ProfileFile } from "./profile.ts";

export interface ProfileProblem {
  readonly line: number;
  readonly column: number;
  /** `columns.total.dates`; empty for the file as a whole. */
  readonly setting: string;
  /** The end of a sentence that begins with the setting. */
  readonly message: string;
  readonly remedy: string;
}

/** A profile that cannot be used: nothing is read or written with it. */
export class InvalidProfile extends ConfigurationError {
  readonly file: string;
  readonly problems: readonly ProfileProblem[];

  constructor(file: string, problems: readonly ProfileProblem[]) {
    const told = problems.map(
      ({ line, column, setting, message, remedy }) =>
        `${file}:${line}:${column} ${setting === "" ? "" : `${setting}: `}${message}.\n    ${remedy}`,
    );
    super(
      `The profile ${file} cannot be used:\n${told.join("\n")}`,
      "Correct the profile, then try it with `fuelbridge profile try FILE --profile PROFILE`.",
    );
    this.file = file;
    this.problems = problems;
  }
}

/** Settings, and where they stand. */
export interface ParsedProfile {
  readonly settings: ProfileFile;
  /** Collects what is wrong with a setting; a path leads from the top to it. */
  readonly complain: (path: readonly PropertyKey[], message: string, remedy: string) => void;
  /** @throws InvalidProfile when anything was complained of */
  readonly done: () => void;
}

/** @throws InvalidProfile */
function parseProfileFile(text: string, file: string): ParsedProfile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const problems: ProfileProblem[] = document.errors.map(({ message, pos }) => {
    const { line, col } = lines.linePos(pos[0]);
    const remedy = "Correct the YAML: two blanks for each level, a colon after each name.";
    return { line, column: col, setting: "", message: `is no YAML: ${message}`, remedy };
  });
  const complain = (path: readonly PropertyKey[], message: string, remedy: string): void => {
    const { line, column } = placeOf(document, lines, path);
    problems.push({ line, column, setting: path.map(String).join("."), message, remedy });
  };
  const done = (): void => {
    if (problems.length > 0) throw new InvalidProfile(file, problems);
  };
  done();
  const value: unknown = document.toJS() ?? {};
  const parsed = ProfileFile.safeParse(value);
  if (parsed.success) return { settings: parsed.data, complain, done };
  for (const { path, message, remedy } of parsed.error.issues.flatMap((issue) =>
    explained(issue, []),
  ))
    complain(path, message, remedy);
  throw new InvalidProfile(file, problems);
}

interface Explained {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly remedy: string;
}

type Issue = z.core.$ZodIssue;

/** Of several forms that a setting may have, the one that was meant: it goes deepest, and has fewest faults. */
function explained(issue: Issue, above: readonly PropertyKey[]): Explained[] {
  const path = [...above, ...issue.path];
  if (issue.code === "invalid_union") {
    const branches = issue.errors.filter((branch) => branch.length > 0);
    const meant = branches.toSorted((one, other) => depthOf(other) - depthOf(one))[0];
    if (meant !== undefined && depthOf(meant) > 0)
      return meant.flatMap((inner) => explained(inner, path));
    return [{ path, message: "has none of the forms it may have", remedy: formsOf(issue) }];
  }
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: "is no setting of a profile",
      remedy: `Remove it, or correct its name.${path.length === 0 ? ` Right would be one of ${Object.keys(ProfileFile.shape).join(", ")}.` : ""}`,
    }));
  return [{ path, message: issue.message, remedy: formsOf(issue) }];
}

const depthOf = (issues: readonly z.core.$ZodIssue[]): number =>
  Math.max(...issues.map(({ path, code }) => path.length + (code === "unrecognized_keys" ? 1 : 0)));

function formsOf(issue: Issue): string {
  if (issue.code === "invalid_type" && issue.expected === "string")
    return 'Put the value into quotes: "1".';
  if (issue.code === "invalid_value") return `Right would be one of ${issue.values.join(", ")}.`;
  return "docs/profiles.md has every setting with an example.";
}

/** Of the setting, or of the nearest above it that is written. */
function placeOf(
  document: Document.Parsed,
  lines: LineCounter,
  path: readonly PropertyKey[],
): { line: number; column: number } {
  for (let depth = path.length; depth > 0; depth--) {
    const found = document.getIn(path.slice(0, depth), true);
    if (!isNode(found) || !found.range) continue;
    const { line, col } = lines.linePos(found.range[0]);
    return { line, column: col };
  }
  return { line: 1, column: 1 };
}

/* The settings of a profile into a {@link Profile}, if its parts fit each other and its layout. */

/** `more`: layouts it may be of besides the connector's own. @throws InvalidProfile */
function compileProfile(parsed: ParsedProfile, more: readonly Layout[] = []): Profile {
  const { settings, complain, done } = parsed;
  const known = [...layouts, ...documentLayouts.values(), ...more];
  const layout = known.find(({ name }) => name === settings.layout);
  if (layout === undefined) {
    const names = known.map(({ name }) => name).join(", ");
    complain(["layout"], `"${settings.layout}" is no layout`, `Right would be one of ${names}.`);
    done();
  }
  const profile = new Compiler(parsed, layout as Layout).profile();
  done();
  return profile;
}

/** Values of constants are written as in our own files. */
const ISO: CellForm = { decimal: ".", dates: ["yyyy-MM-dd"] };

type Entry = readonly [name: string, column: string | ColumnFile];

class Compiler {
  readonly #settings: ProfileFile;
  readonly #complain: ParsedProfile["complain"];
  readonly #layout: Layout;

  constructor({ settings, complain }: ParsedProfile, layout: Layout) {
    this.#settings = settings;
    this.#complain = complain;
    this.#layout = layout;
  }

  profile(): Profile {
    const { languages, decimal, dates, empty, formulas, tag, ...rest } = this.#settings;
    const head = this.#columns(Object.entries(rest.columns), this.#layout.head, ["columns"]);
    const lists = Object.keys(rest.lists).flatMap((name) => this.#list(name) ?? []);
    const profile: Profile = {
      ...rest,
      header: rest.file === "fixed" ? 0 : rest.header,
      layout: this.#layout,
      languages: Object.fromEntries(
        Object.entries(languages ?? { en: { decimal, dates } }).map(([one, written]) => [
          one,
          { ...written, dates: this.#dates(written.dates) },
        ]),
      ),
      form: {
        ...(empty.length > 0 ? { empty: new Set(empty) } : {}),
        ...(formulas === "guarded" ? { guarded: true } : {}),
        ...(isWritten(this.#layout) ? { long: true } : {}),
      },
      tag: tag === undefined ? null : this.#column(["tag", tag], null, ["tag"]),
      head,
      lists,
    };
    this.#checkWorkbook();
    this.#checkRecord(profile);
    this.#checkWhole(profile);
    return profile;
  }

  #list(name: string): List | null {
    const settings = this.#settings.lists[name];
    const fields = this.#layout.lists[name];
    const path = ["lists", name];
    if (settings === undefined || fields === undefined) {
      const names = Object.keys(this.#layout.lists);
      this.#complain(path, `${this.#layout.name} has no list "${name}"`, oneOf(names));
      return null;
    }
    const { file = null, on = "", by = "", tag, counts, repeats = {}, columns } = settings;
    if (file !== null) {
      this.#expectField(on, this.#layout.head, [...path, "on"]);
      this.#expectField(by, columns, [...path, "by"]);
    }
    return {
      name,
      part: file,
      on,
      by,
      tags:
        tag === undefined
          ? null
          : new Map(typeof tag === "string" ? [[tag, ""]] : Object.entries(tag)),
      counts: counts === undefined ? null : this.#column([name, counts], null, [...path, "counts"]),
      repeats: this.#columns(Object.entries(repeats), this.#layout.head, [...path, "repeats"]),
      // What joins the rows of two files may be no field of the list.
      columns: this.#columns(Object.entries(columns), fields, [...path, "columns"], by),
    };
  }

  #expectField(name: string, fields: object, path: readonly string[]): void {
    if (Object.hasOwn(fields, name)) return;
    const message = name === "" ? "names the field that joins both files" : `"${name}" is no field`;
    this.#complain(path, message, oneOf(Object.keys(fields)));
  }

  #columns(
    entries: readonly Entry[],
    fields: Fields,
    path: readonly string[],
    joins?: string,
  ): Column[] {
    return entries.map(([name, given]) => {
      const field = Object.hasOwn(fields, name) ? (fields[name] as Field) : null;
      const at = [...path, name];
      const isOwn =
        name === joins ||
        (typeof given !== "string" && given.constant !== undefined && hasPlace(given));
      if (field === null && !isOwn)
        this.#complain(at, `${this.#layout.name} has no such field`, oneOf(Object.keys(fields)));
      return this.#column([name, given], field, at);
    });
  }

  #column([name, given]: Entry, field: Field | null, path: readonly string[]): Column {
    const settings: ColumnFile = typeof given === "string" ? { label: given } : given;
    const { label, column, at, length, constant = null, optional = false } = settings;
    this.#checkPlace(settings, path);
    if (typeof label === "object") this.#checkLanguages(Object.keys(label), path);
    const { values, decimal, dates, decimals, negated } = settings;
    const isFixed = this.#settings.file === "fixed";
    const made: Column = {
      name,
      field,
      labels: label === undefined ? null : typeof label === "string" ? { "": label } : label,
      index: column === undefined ? null : column - 1,
      slice: isFixed && at !== undefined ? { from: at - 1, length: length ?? 0 } : null,
      most: length ?? null,
      constant,
      optional,
      form: {
        ...(values === undefined ? {} : { values: new Map(Object.entries(values)) }),
        ...(decimal === undefined ? {} : { decimal }),
        ...(dates === undefined ? {} : { dates: this.#dates(dates) }),
        ...(decimals === undefined ? {} : { implied: decimals }),
        ...(negated === undefined ? {} : { negated }),
      },
    };
    if (constant !== null && field !== null) this.#checkConstant(field.type, constant, path);
    return made;
  }

  #checkPlace(settings: ColumnFile, path: readonly string[]): void {
    const { file, header } = this.#settings;
    const { label, column, at, length, constant } = settings;
    if (constant !== undefined && !hasPlace(settings)) return;
    if (file === "fixed") {
      if (at === undefined || length === undefined)
        this.#complain(
          path,
          "has no place",
          "Give at and length: the first character, from 1, and how many.",
        );
    } else if (header === 0) {
      if (column === undefined)
        this.#complain(path, "has no place", "The file has no header: give column, from 1.");
    } else if (label === undefined)
      this.#complain(path, "has no label", "Give label: what stands above it in the header.");
    if (
      [label, column, file === "fixed" ? at : undefined].filter((one) => one !== undefined).length >
      1
    )
      this.#complain(path, "has two places", "Give one of label, column, and at with length.");
  }

  #checkLanguages(given: readonly string[], path: readonly string[]): void {
    const known = Object.keys(this.#settings.languages ?? {});
    for (const one of given)
      if (!known.includes(one))
        this.#complain(
          [...path, "label", one],
          "is no language of the profile",
          `Right would be one of those under "languages": ${known.join(", ") || "there are none"}.`,
        );
  }

  #checkConstant(type: CellType, constant: string, path: readonly string[]): void {
    try {
      readCell(type, constant, ISO);
    } catch (error) {
      const remedy = "Numbers have a decimal point here, days are yyyy-MM-dd, flags 1 or 0.";
      this.#complain([...path, "constant"], (error as RangeError).message, remedy);
    }
  }

  /** A day in a workbook has no form of its own: it is told as ISO 8601 has it. */
  #dates(dates: readonly string[]): readonly string[] {
    return this.#settings.file === "xlsx" ? [...dates, "yyyy-MM-dd[ HH:mm:ss]"] : dates;
  }

  /** Its numbers have no sign of their own, and it is not written. */
  #checkWorkbook(): void {
    const { file, decimal, languages } = this.#settings;
    if (file !== "xlsx") return;
    if (isWritten(this.#layout))
      this.#complain(
        ["file"],
        "workbooks are read, not written",
        "Write csv: spreadsheets open it.",
      );
    if (decimal === "," || Object.values(languages ?? {}).some((one) => one.decimal === ","))
      this.#complain(
        ["decimal"],
        "a workbook has numbers, which have no decimal comma",
        "Remove it. Numbers that are entered as text are read with a decimal point.",
      );
  }

  /** What says where a record begins is there. */
  #checkRecord({ record, tag, lists, header }: Profile): void {
    if (typeof record === "object" && ("same" in record || "inherits" in record)) {
      const [setting, fields] = Object.entries(record)[0] as [string, string[]];
      for (const name of fields) this.#expectField(name, this.#layout.head, ["record", setting]);
    }
    const tagged =
      lists.some(({ tags }) => tags !== null) || (typeof record === "object" && "tag" in record);
    if (tagged && tag === null && header !== "tags")
      this.#complain(
        ["tag"],
        "is missing",
        "Name the column that says what a row is: tag: record.",
      );
    if (record === "row" && lists.some(({ part }) => part === null))
      this.#complain(
        ["record"],
        "each row is a record, and no row is left for its lists",
        "Say which rows belong together: continues, { same: [...] } or { tag: ... }.",
      );
  }

  /** No field is missing that a record cannot do without. A document that is only written may lack any. */
  #checkWhole({ head, lists, across }: Profile): void {
    if (isWritten(this.#layout)) return;
    const given = new Set([...head.map(({ name }) => name), across?.header, across?.cell]);
    for (const [name, { filled }] of Object.entries(this.#layout.head))
      if (filled && !given.has(name))
        this.#complain(
          ["columns"],
          `the field ${name} of ${this.#layout.name} is missing`,
          `Say where it stands (${name}: LABEL), or give what it always is (${name}: { constant: TEXT }).`,
        );
    for (const { name: list, columns } of lists)
      for (const [name, { filled }] of Object.entries(this.#layout.lists[list] ?? {}))
        if (filled && !columns.some((column) => column.name === name))
          this.#complain(
            ["lists", list, "columns"],
            `the field ${name} of ${list} is missing`,
            `Say where it stands (${name}: LABEL), or give a constant.`,
          );
    for (const [setting, name] of Object.entries(across ?? {}))
      if (typeof name === "string") this.#expectField(name, this.#layout.head, ["across", setting]);
  }
}

/** Of the documents that we write. */
const isWritten = ({ name }: Layout): boolean => name.startsWith("files.");

const hasPlace = ({ label, column, at }: ColumnFile): boolean =>
  label !== undefined || column !== undefined || at !== undefined;

const oneOf = (names: readonly string[]): string =>
  names.length === 0 ? "It has none." : `Right would be one of ${names.join(", ")}.`;

/* Profiles by their names: shipped ones and those of a site, read alike. */

/** The shipped ones: beside the program, compiled or not. */
const SHIPPED = ["../../../config/profiles", "../../../../config/profiles"]
  .map((path) => join(import.meta.dirname, path))
  .find((path) => existsSync(path));

const opened = new Map<string, Profile>();

/**
 * A profile by the name of a shipped one (`titan/bol-deliveries`), or by a path that ends in `.yaml`, relative to
 * `folder`.
 * @throws InvalidProfile when it is missing or wrong, with file, line, and what would fit
 */
export function openProfile(name: string, folder: string): Profile {
  if (isPath(name)) return readProfile(resolve(folder, name), name);
  const known = opened.get(name);
  if (known !== undefined) return known;
  const names = shippedProfiles();
  if (!names.includes(name))
    throw new InvalidProfile(name, [
      {
        line: 1,
        column: 1,
        setting: "",
        message: `there is no shipped profile "${name}"`,
        remedy: `Name a file of yours by a path that ends in .yaml, or one of ${names.join(", ")}.`,
      },
    ]);
  const profile = readProfile(join(SHIPPED ?? "", `${name}.yaml`), name);
  opened.set(name, profile);
  return profile;
}

const isPath = (name: string): boolean => /\.ya?ml$/i.test(name);

/** The names of all shipped profiles. */
export function shippedProfiles(): string[] {
  if (SHIPPED === undefined) return [];
  return readdirSync(SHIPPED, { recursive: true, withFileTypes: true })
    .filter(({ name }) => name.endsWith(".yaml"))
    .map(({ parentPath, name }) => relative(SHIPPED, join(parentPath, name)))
    .map((path) => path.replaceAll("\\", "/").replace(/\.yaml$/, ""))
    .toSorted();
}

function readProfile(path: string, called: string): Profile {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const message = `it cannot be read: ${(error as Error).message}`;
    const remedy =
      "Create it, or correct the path; it starts at the configuration's folder. docs/profiles.md has an example.";
    throw new InvalidProfile(called, [{ line: 1, column: 1, setting: "", message, remedy }]);
  }
  return parseProfile(text, called);
}

/** `called`: how messages call it. `layouts`: those it may be of, besides the connector's own. @throws InvalidProfile */
export function parseProfile(
  text: string,
  called: string,
  layouts: readonly Layout[] = [],
): Profile {
  const file = parseProfileFile(text, called);
  return compileProfile(file, layouts);
}
