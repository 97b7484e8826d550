/** A profile from its text, checked against its layout: every mistake is told with its line and what would fit. */
import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { type Document, isNode, LineCounter, parseDocument } from "yaml";
import type { z } from "zod";
import { defined } from "../../core/defined.ts";
import { ConfigurationError } from "../../core/errors.ts";
import { remembered } from "../../core/remembered.ts";
import { type CellForm, foldedAs, formOf, ISO, readCell } from "./cells.ts";
import { documentLayouts, type Field, type Fields, type Layout, layouts } from "./layouts.ts";
import { type ColumnFile, type ListFile, ProfileFile } from "./settings.ts";

/* A profile: where the fields of a layout stand in the files of one ERP. */

/** Where a field stands, and how it is written there. */
export interface Column {
  /** The field; of a constant that no record has: whatever the profile calls it. */
  readonly name: string;
  /** Null: no record has it. */
  readonly field: Field | null;
  /** What stands above it in the header. */
  readonly label: string | null;
  /** Without a header: from 0. */
  readonly index: number | null;
  /** Of fixed width: from 0. */
  readonly slice: { readonly from: number; readonly length: number } | null;
  /** No more characters than this are written. */
  readonly most: number | null;
  readonly constant: string | null;
  readonly optional: boolean;
  readonly form: Partial<CellForm>;
  /** It is made of these columns, in the file's order; null: it is one. */
  readonly parts: readonly Part[] | null;
  /** What stands between the texts of its parts; null: they are added up. */
  readonly glue: string | null;
}

interface Part {
  readonly column: Column;
  /** It is taken off, not added. */
  readonly isLess: boolean;
}

/** Whether it stands in the file: a constant may not. */
export const isPlaced = ({ label, index, slice, parts }: Column): boolean =>
  label !== null || index !== null || slice !== null || parts !== null;

/** A profile whose parts fit each other and its layout. */
export type Profile = NonNullable<ReturnType<typeof compiled>>;
export type List = Profile["lists"][number];

/** The part of an export that its records begin in; the only one of most. */
export const HEADS = "heads";

/** The parts of an export, the first being {@link HEADS}. */
export const partsOf = ({ lists }: Profile): string[] => [
  HEADS,
  ...lists.flatMap(({ part }) => part ?? []),
];

/**
 * The kinds of rows in a part of an export, left out: in all of it. `tags`: what the tag column says in them, null: any row
 * may be one. Rows of lists have fields of the head besides (`repeats`), and may be numbered (`counts`).
 */
export const kindsOf = ({ tags, head, heading, footer, lists }: Profile, part?: string) => [
  ...(part === undefined || part === HEADS
    ? [{ tags, columns: head }, heading, footer]
    : []
  ).flatMap((one) => (one === null ? [] : [{ ...NO_LIST, ...one }])),
  ...lists.filter((one) => part === undefined || (one.part ?? HEADS) === part),
];

const NO_LIST: Pick<List, "repeats" | "counts"> = { repeats: [], counts: [] };

/** With or without an apostrophe before text that a spreadsheet would run, whatever the profile says. */
export const guardedAs = (profile: Profile, guarded: boolean): Profile => ({
  ...profile,
  form: { ...profile.form, guarded },
});

/* The text of a profile into a {@link Profile}. */

interface ProfileProblem {
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

/** Takes what is wrong with a setting; a path leads from the top to it. */
type Complain = (path: readonly PropertyKey[], message: string, remedy: string) => void;

/** `called`: how messages call it. `more`: layouts it may be of, besides the connector's own. @throws InvalidProfile */
export function parseProfile(text: string, called: string, more: readonly Layout[] = []): Profile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const problems: ProfileProblem[] = document.errors.map(({ message, pos }) => {
    const { line, col } = lines.linePos(pos[0]);
    const remedy = "Correct the YAML: two blanks for each level, a colon after each name.";
    return { line, column: col, setting: "", message: `is no YAML: ${message}`, remedy };
  });
  const complain: Complain = (path, message, remedy) => {
    const { line, column } = placeOf(document, lines, path);
    problems.push({ line, column, setting: path.map(String).join("."), message, remedy });
  };
  if (problems.length > 0) throw new InvalidProfile(called, problems);
  const { data, error } = ProfileFile.safeParse(document.toJS() ?? {}, { jitless: true });
  for (const issue of error?.issues ?? [])
    for (const { path, message, remedy } of explained(issue, [])) complain(path, message, remedy);
  const profile = data === undefined ? null : compiled(data, complain, more);
  if (problems.length > 0 || profile === null) throw new InvalidProfile(called, problems);
  return profile;
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

/* The settings of a profile, if its parts fit each other and its layout. */

/** Null: there is no such layout. */
function compiled(settings: ProfileFile, complain: Complain, more: readonly Layout[]) {
  const known = [...layouts, ...documentLayouts.values(), ...more];
  const layout = known.find(({ name }) => name === settings.layout);
  if (layout === undefined) {
    const names = known.map(({ name }) => name).join(", ");
    complain(["layout"], `"${settings.layout}" is no layout`, `Right would be one of ${names}.`);
    return null;
  }
  const { numbers, dates, empty, tag, heading, footer, trailer = null, ...rest } = settings;
  const isRead = !isWritten(layout);
  const column = columnMaker(settings, complain);
  const columns = (
    given: ProfileFile["columns"],
    fields: Fields,
    path: readonly string[],
    joins?: string,
  ): Column[] =>
    Object.entries(given).map(([name, one]) => {
      const isOwn =
        name === joins || (typeof one !== "string" && one.constant !== undefined && hasPlace(one));
      if (!Object.hasOwn(fields, name) && !isOwn)
        complain([...path, name], `${layout.name} has no such field`, oneOf(fields));
      return column(name, one, fields[name] ?? null, [...path, name]);
    });
  const expectField = (name: string, fields: object, path: readonly string[]): void => {
    if (Object.hasOwn(fields, name)) return;
    const message = name === "" ? "names the field that joins both files" : `"${name}" is no field`;
    complain(path, message, oneOf(fields));
  };
  /** Rows with this tag say something of others; null: there are none. */
  const tagged = (setting: "heading" | "footer", one: typeof heading) =>
    one === undefined
      ? null
      : {
          tag: one.tag,
          tags: onlyTag(one.tag),
          columns: columns(one.columns, layout.head, [setting, "columns"]),
        };
  const listOf = (name: string, list: ListFile) => {
    const fields = layout.lists[name];
    const path = ["lists", name];
    if (fields === undefined) {
      complain(path, `${layout.name} has no list "${name}"`, oneOf(layout.lists));
      return null;
    }
    const { file = null, on = "", by = "", tag, counts, repeats = {}, when = null } = list;
    if (when !== null) expectField(when, list.columns, [...path, "when"]);
    if (file !== null) {
      expectField(on, layout.head, [...path, "on"]);
      expectField(by, list.columns, [...path, "by"]);
    }
    const tags = typeof tag === "string" ? { [tag]: "" } : tag;
    for (const field of Object.values(tags ?? {}))
      if (field !== "") expectField(field, list.columns, [...path, "tag"]);
    return {
      name,
      /** The part of the export that has its rows; null: they stand among those of the heads. */
      part: file,
      on,
      by,
      /** What the tag column says, and the field whose value makes it so ("": any); null: every row may have some of it. */
      tags: tags === undefined ? null : new Map(Object.entries(tags)),
      /** The column that numbers its rows, if any. */
      counts: counts === undefined ? [] : [column(name, counts, null, [...path, "counts"])],
      repeats: columns(repeats, layout.head, [...path, "repeats"]),
      // What joins the rows of two files may be no field of the list.
      columns: columns(list.columns, fields, [...path, "columns"], by),
      /** The field without which a row has none of the list. */
      when,
    };
  };
  const form: CellForm = {
    numbers,
    dates: daysIn(settings.file, dates),
    ...(empty.length > 0 ? { empty: new Set(empty) } : {}),
    ...(rest.formulas === "guarded" ? { guarded: true } : {}),
    ...(isRead ? {} : { long: true }),
  };
  const profile = {
    ...rest,
    /** Of all that it says. */
    digest: hash("sha256", JSON.stringify(settings)),
    header: rest.file === "fixed" ? 0 : rest.header,
    layout,
    /** Of every cell. */
    form,
    tag: tag === undefined ? null : column("tag", tag, null, ["tag"]),
    /** Of the rows that a record begins with; null: no tag says so. */
    tags: typeof rest.record === "object" && "tag" in rest.record ? onlyTag(rest.record.tag) : null,
    heading: tagged("heading", heading),
    footer: tagged("footer", footer),
    /** Where the last row says what the file comes to. */
    trailer: trailer && {
      tag: trailer.tag,
      in: trailer.in === undefined ? null : column("in", trailer.in, null, ["trailer", "in"]),
      /** Tags of the rows that are counted; null: all are. */
      of: trailer.of === undefined ? null : new Set(trailer.of),
      /** Of lines, rows and records. */
      counts: (["lines", "rows", "records"] as const).flatMap((what) => {
        const one = trailer[what];
        return one === undefined ? [] : filled(column(what, one, COUNT, ["trailer", what]));
      }),
      /** By the label of the column that is summed. */
      sums: Object.entries(trailer.sums).map(([label, one]) =>
        column(label, one, COUNT, ["trailer", "sums", label]),
      ),
    },
    head: columns(rest.columns, layout.head, ["columns"]),
    lists: Object.entries(rest.lists).flatMap(([name, list]) =>
      [list].flat().flatMap((one) => listOf(name, one) ?? []),
    ),
  };
  checkNumbers(profile, complain);
  if (rest.file === "xlsx") checkWorkbook(profile, complain);
  if (!isRead) checkWritten(profile, complain);
  checkRecord(profile, expectField, complain);
  if (isRead) checkWhole(profile, complain);
  for (const name of ["header", "cell"] as const)
    if (isRead && rest.across !== undefined)
      expectField(rest.across[name], layout.head, ["across", name]);
  return profile;
}

/** As the tags of a list are: with any value of any field. */
const onlyTag = (tag: string): Map<string, string> => new Map([[tag, ""]]);

/** What a trailer says. */
const COUNT: Field = { type: "decimal", filled: true };

/** Zeros may fill a count up: it means the same. */
const filled = (one: Column): Column => ({
  ...one,
  form: { ...one.form, numbers: { leadingZeros: true, ...one.form.numbers } },
});

/** Of the documents that we write. */
const isWritten = ({ name }: Layout): boolean => name.startsWith("files.");

const hasPlace = ({ label, column, at }: ColumnFile): boolean =>
  label !== undefined || column !== undefined || at !== undefined;

const oneOf = (known: object): string => {
  const names = Object.keys(known);
  return names.length === 0 ? "It has none." : `Right would be one of ${names.join(", ")}.`;
};

/** A day in a workbook has no form of its own: it is told as ISO 8601 has it. */
const daysIn = (file: ProfileFile["file"], dates: readonly string[]): readonly string[] =>
  file === "xlsx" ? [...dates, "yyyy-MM-dd[ HH:mm:ss]"] : dates;

/** By the kind of a file: what is said of a column that has no place in it. */
const NO_PLACE = {
  fixed: ["has no place", "Give at and length: the first character, from 1, and how many."],
  numbered: ["has no place", "The file has no header: give column, from 1."],
  labelled: ["has no label", "Give label: what stands above it in the header."],
} as const;

const columnMaker = ({ file, header }: ProfileFile, complain: Complain) => {
  const make = (
    name: string,
    given: string | ColumnFile,
    field: Field | null,
    path: readonly string[],
  ): Column => {
    const settings: ColumnFile = typeof given === "string" ? { label: given } : given;
    const { label = null, column, at, length, constant = null, optional = false } = settings;
    const { values, anyCase, empty, numbers, dates, decimals, negated } = settings;
    const { join, plus = [], minus = [], with: glue = "" } = settings;
    const isFixed = file === "fixed";
    const isMade = join !== undefined || plus.length > 0 || minus.length > 0;
    if (
      isMade &&
      (hasPlace(settings) ||
        constant !== null ||
        (join !== undefined && plus.length + minus.length > 0))
    )
      complain(path, "has two places", "Give one of a place, join, and plus with minus.");
    const words = Object.keys(values ?? {}).map((word) => foldedAs(anyCase === true, word));
    if (new Set(words).size < words.length)
      complain([...path, "values"], "has one word twice", "Remove anyCase, or one of the two.");
    const partsIn = (setting: string, given: readonly (string | ColumnFile)[], isLess = false) =>
      given.map((one, part) => ({
        column: make(name, one, field, [...path, setting, String(part)]),
        isLess,
      }));
    if (!isMade && (constant === null || hasPlace(settings))) {
      const kind = isFixed ? "fixed" : header === 0 ? "numbered" : "labelled";
      const place = { fixed: length && at, numbered: column, labelled: settings.label }[kind];
      const [message, remedy] = NO_PLACE[kind];
      if (place === undefined) complain(path, message, remedy);
      const places = [settings.label, column, isFixed ? at : undefined];
      if (places.filter((one) => one !== undefined).length > 1)
        complain(path, "has two places", "Give one of label, column, and at with length.");
    }
    if (constant !== null && field !== null)
      try {
        if (!isMade) readCell(field.type, constant, ISO);
      } catch (error) {
        const remedy = "Numbers have a decimal point here, days are yyyy-MM-dd, flags 1 or 0.";
        complain([...path, "constant"], (error as RangeError).message, remedy);
      }
    return {
      name,
      field,
      label,
      index: column === undefined ? null : column - 1,
      slice: isFixed && at !== undefined ? { from: at - 1, length: length ?? 0 } : null,
      most: length ?? null,
      constant,
      optional,
      form: defined({
        values: values && new Map(Object.entries(values)),
        anyCase,
        empty: empty && new Set(empty),
        numbers,
        dates: dates && daysIn(file, dates),
        implied: decimals,
        negated,
      }),
      parts: isMade
        ? [
            ...partsIn("join", join ?? []),
            ...partsIn("plus", plus),
            ...partsIn("minus", minus, true),
          ]
        : null,
      glue: join === undefined ? null : glue,
    };
  };
  return make;
};

/** What stands in rows of records, and in those that say something of them. */
const allColumns = (profile: Profile): Column[] =>
  kindsOf(profile).flatMap(({ columns }) => columns);

/** What would read one number as two: the same sign twice. */
function checkNumbers(profile: Profile, complain: Complain): void {
  const { form } = profile;
  const forms = [form, ...allColumns(profile).map((column) => formOf(form, column.form))];
  if (forms.some(({ numbers: { thousands, decimal = "." } }) => thousands === decimal))
    complain(
      ["numbers"],
      "thousands and decimal are the same sign",
      'Give both: numbers: { thousands: ".", decimal: "," }.',
    );
}

/** What is read only: it says nothing of how one field becomes several cells. */
function checkWritten(
  { head, lists, heading, footer, trailer, balance }: Profile,
  complain: Complain,
): void {
  const all = [...head, ...lists.flatMap(({ columns }) => columns)];
  const made = all.find(({ parts }) => parts !== null);
  if (balance !== undefined && !all.some(({ label }) => label === balance))
    complain(["balance"], `no column has the label "${balance}"`, "Name the label of the amounts.");
  const twice = lists.find(({ name }, at) => lists.findIndex((one) => one.name === name) !== at);
  const what = made?.name ?? twice?.name ?? heading?.tag ?? footer?.tag ?? trailer?.tag;
  if (what !== undefined)
    complain(
      [],
      `${what} is made of several columns or rows, which are read and not written`,
      "Remove join, plus, minus, heading, footer, trailer, and all but one place of a list.",
    );
}

/** Its numbers have no sign of their own, and it is not written. */
function checkWorkbook({ layout, form }: Profile, complain: Complain): void {
  if (isWritten(layout))
    complain(["file"], "workbooks are read, not written", "Write csv: spreadsheets open it.");
  if (form.numbers.decimal === ",")
    complain(
      ["numbers", "decimal"],
      "a workbook has numbers, which have no decimal comma",
      "Remove it. Numbers that are entered as text are read with a decimal point.",
    );
}

/** What says where a record begins is there. */
function checkRecord(
  profile: Profile,
  expectField: (name: string, fields: object, path: readonly string[]) => void,
  complain: Complain,
): void {
  const { layout, record, tag, tags, lists, header, heading, footer, trailer } = profile;
  const isTagged = tags !== null;
  if (typeof record === "object" && !isTagged)
    for (const [setting, fields] of Object.entries(record) as [string, string[]][])
      for (const name of fields) expectField(name, layout.head, ["record", setting]);
  const beside = heading === null ? footer && "footer" : "heading";
  const isAsked = isTagged || beside !== null || lists.some(({ tags }) => tags !== null);
  if (beside !== null && !isTagged)
    complain([beside], "has no tag beside it that records begin with", "Say record: { tag: D }.");
  const isMarked = trailer !== null && (trailer.in === null || trailer.of !== null);
  const numbers = allColumns(profile)
    .filter(({ field }) => field?.type === "decimal")
    .map(({ label, name }) => label ?? name);
  for (const { name } of trailer?.sums ?? [])
    if (!numbers.includes(name))
      complain(
        ["trailer", "sums", name],
        "is no column of numbers",
        `Right would be one of ${numbers.join(", ")}.`,
      );
  if ((isAsked || isMarked) && tag === null && header !== "tags")
    complain(["tag"], "is missing", "Name the column that says what a row is: tag: record.");
  if (record === "row" && lists.some(({ part }) => part === null))
    complain(
      ["record"],
      "each row is a record, and no row is left for its lists",
      "Say which rows belong together: continues, { same: [...] } or { tag: ... }.",
    );
}

/** No field is missing that a record cannot do without. */
function checkWhole(
  { layout, head, heading, footer, lists, across }: Profile,
  complain: Complain,
): void {
  const check = (
    fields: Fields,
    given: readonly (string | undefined)[],
    path: readonly string[],
    of: string,
  ): void => {
    for (const [name, { filled }] of Object.entries(fields))
      if (filled && !given.includes(name))
        complain(
          path,
          `the field ${name} of ${of} is missing`,
          `Say where it stands (${name}: LABEL), or give what it always is (${name}: { constant: TEXT }).`,
        );
  };
  const heads = [head, heading?.columns ?? [], footer?.columns ?? []].flatMap(namesOf);
  check(layout.head, [...heads, across?.header, across?.cell], ["columns"], layout.name);
  for (const { name, columns } of lists)
    check(layout.lists[name] ?? {}, namesOf(columns), ["lists", name, "columns"], name);
}

const namesOf = (columns: readonly Column[]): string[] => columns.map(({ name }) => name);

/* Profiles by their names: shipped ones and those of a site, read alike. */

/** A folder of the shipped `config`: beside the program, compiled or not. Undefined: it is not installed. */
export const shippedFolder = (name: string): string | undefined =>
  ["../../../config", "../../../../config"]
    .map((path) => join(import.meta.dirname, path, name))
    .find((path) => existsSync(path));

const SHIPPED = shippedFolder("profiles");

/**
 * A profile by the name of a shipped one (`titan/bol-deliveries`), or by a path that ends in `.yaml`, relative to
 * `folder`.
 * @throws InvalidProfile when it is missing or wrong, with file, line, and what would fit
 */
export const openProfile = (name: string, folder: string): Profile =>
  isPath(name) ? readProfile(resolve(folder, name), name) : shippedProfile(name);

const shippedProfile = remembered((name: string): Profile => {
  const names = shippedProfiles();
  if (!names.includes(name))
    throw unusable(
      name,
      `there is no shipped profile "${name}"`,
      `Name a file of yours by a path that ends in .yaml, or one of ${names.join(", ")}.`,
    );
  return readProfile(join(SHIPPED ?? "", `${name}.yaml`), name);
});

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
    throw unusable(
      called,
      `it cannot be read: ${(error as Error).message}`,
      "Create it, or correct the path; it starts at the configuration's folder. docs/profiles.md has an example.",
    );
  }
  return parseProfile(text, called);
}

/** Nothing of it was read. */
const unusable = (called: string, message: string, remedy: string): InvalidProfile =>
  new InvalidProfile(called, [{ line: 1, column: 1, setting: "", message, remedy }]);
