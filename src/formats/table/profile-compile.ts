/** The settings of a profile into a {@link Profile}, if its parts fit each other and its layout. */
import { type CellForm, readCell, type CellType } from "./cells.ts";
import { documentLayouts } from "../documents.ts";
import { layouts } from "./layouts/index.ts";
import type { Field, Fields, Layout } from "./layouts/table.ts";
import type { Column, List, Profile } from "./profile.ts";
import type { ParsedProfile } from "./profile-file.ts";
import type { ColumnFile, ProfileFile } from "./profile-schema.ts";

/** `more`: layouts it may be of besides the connector's own. @throws InvalidProfile */
export function compileProfile(parsed: ParsedProfile, more: readonly Layout[] = []): Profile {
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
      this.#expectField(by, fields, [...path, "by"]);
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
      columns: this.#columns(Object.entries(columns), fields, [...path, "columns"]),
    };
  }

  #expectField(name: string, fields: Fields, path: readonly string[]): void {
    if (Object.hasOwn(fields, name)) return;
    const message = name === "" ? "names the field that joins both files" : `"${name}" is no field`;
    this.#complain(path, message, oneOf(Object.keys(fields)));
  }

  #columns(entries: readonly Entry[], fields: Fields, path: readonly string[]): Column[] {
    return entries.map(([name, given]) => {
      const field = Object.hasOwn(fields, name) ? (fields[name] as Field) : null;
      const at = [...path, name];
      const isOwn = typeof given !== "string" && given.constant !== undefined && hasPlace(given);
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
