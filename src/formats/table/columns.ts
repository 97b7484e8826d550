/** Where the columns of a profile stand in one file: its header against the profile's labels. */
import { Decimal } from "../../core/decimal.ts";
import { push } from "../../core/groups.ts";
import { remembered } from "../../core/remembered.ts";
import { FileFault } from "../format.ts";
import {
  BadCell,
  type Cell,
  type CellForm,
  cellReader,
  foldedAs,
  formOf,
  ISO,
  readCell,
  unreadable,
} from "./cells.ts";
import type { Fields } from "./layouts.ts";
import { type Column, HEADS, isPlaced, kindsOf, type List, type Profile } from "./profile.ts";
import type { Row, Sheet } from "./text.ts";

interface Located {
  /** -1: the column is not there. */
  readonly indexOf: (column: Column) => number;
  /** How many cells the header has; null: there is none. */
  readonly width: number | null;
  /** The columns of a table with one record per cell. */
  readonly across: readonly { readonly label: string; readonly at: number }[];
  /** Where each kind of row has a header: takes one. */
  readonly relocate?: (header: readonly string[], line: number) => void;
}

/** @throws FileFault when columns are missing, unknown or there twice */
function locate(labels: readonly string[], profile: Profile, part: string): Located {
  if (profile.header === "tags") return taggedPlaces(profile);
  if (profile.header === 0) return { indexOf: ({ index }) => index ?? -1, width: null, across: [] };
  return byLabels(
    labels.map((label) => label.trim()),
    profile,
    columnsOf(profile, part),
  );
}

/** All columns of a part, each once. */
export function columnsOf(profile: Profile, part: string): Column[] {
  const { tag, trailer } = part === HEADS ? profile : { tag: null, trailer: null };
  return [
    ...(tag === null ? [] : [tag]),
    ...kindsOf(profile, part).flatMap(({ repeats, counts, columns }) =>
      [repeats, counts, columns].flat(),
    ),
    ...[trailer?.in ?? [], trailer?.counts ?? [], trailer?.sums ?? []].flat(),
  ].flatMap(onesOf);
}

/** A column, or those that it is made of. */
const onesOf = (one: Column): readonly Column[] => one.parts?.map(({ column }) => column) ?? [one];

function byLabels(
  header: readonly string[],
  { otherColumns, across }: Profile,
  columns: readonly Column[],
): Located {
  const named = columns.flatMap(({ label }) => label ?? []);
  const needed = columns.flatMap(({ label, optional }) => (optional ? [] : (label ?? [])));
  const missing = [...new Set(needed), ...(across?.columns ?? [])].filter(
    (label) => !header.includes(label),
  );
  const others = header.filter((label) => !named.includes(label));
  const unknown = otherColumns === "refused" && across === undefined ? others : [];
  if (missing.length > 0 || unknown.length > 0) throw headerFault(missing, unknown);
  const crossed =
    across === undefined
      ? []
      : others.filter(
          (label) =>
            label !== "" &&
            !across.except.includes(label) &&
            (across.columns?.includes(label) ?? true),
        );
  const used = new Set([...named, ...crossed]);
  const twice = header.find(
    (label, at) => header.indexOf(label) !== at && (otherColumns === "refused" || used.has(label)),
  );
  if (twice !== undefined)
    throw new FileFault(`has the column ${quoted([twice])} twice`, 1, twice.slice(0, LABEL_SHOWN));
  return {
    indexOf: ({ label }) => header.indexOf(label ?? ""),
    width: header.length,
    across: crossed.map((label) => ({ label, at: header.indexOf(label) })),
  };
}

/** Of a file in which each row begins with its tag, by tag the columns in their order. */
const columnsByTag = (profile: Profile): (readonly [string, readonly Column[]])[] =>
  kindsOf(profile).flatMap(({ tags, repeats, columns }) =>
    [...(tags?.keys() ?? [])].map(
      (one) => [one, [...repeats, ...columns].filter(isPlaced)] as const,
    ),
  );

/** Where each kind of row has a header of its own: its labels. */
export const headersOf = (profile: Profile): Map<string, string[]> =>
  new Map(
    columnsByTag(profile).map(([tag, columns]) => [tag, columns.map(({ label }) => label ?? "")]),
  );

/** Its tag is the first cell. Up to its header a kind of row has its columns in the profile's order. */
function taggedPlaces(profile: Profile): Located {
  const places = new Map<Column, number>();
  for (const [, columns] of columnsByTag(profile))
    for (const [at, column] of columns.entries()) places.set(column, at + 1);
  return {
    indexOf: (column) => places.get(column) ?? -1,
    width: null,
    across: [],
    /** The header of a kind of row: its columns stand where it says. @throws FileFault when one is missing */
    relocate([tag = "", ...labels], line) {
      for (const [kind, columns] of columnsByTag(profile)) {
        if (`!${kind}` !== tag) continue;
        const unknown = labels.find(
          (one) => one !== "" && !columns.some(({ label }) => label === one),
        );
        if (unknown !== undefined && profile.otherColumns === "refused")
          throw new FileFault(`has the unknown column ${unknown} after ${tag}`, line, tag);
        for (const column of columns) {
          const label = column.label ?? "";
          const at = labels.indexOf(label);
          if (at < 0 && !column.optional)
            throw new FileFault(`has no column ${label} after ${tag}`, line, tag);
          places.set(column, at < 0 ? -1 : at + 1);
        }
      }
    },
  };
}

function headerFault(missing: readonly string[], unknown: readonly string[]): FileFault {
  const parts = [
    ...(missing.length > 0 ? [`lacks the columns ${quoted(missing)}`] : []),
    ...(unknown.length > 0 ? [`has the unknown columns ${quoted(unknown)}`] : []),
  ];
  return new FileFault(parts.join(" and "), 1, missing[0] ?? "");
}

const LABELS_SHOWN = 30;
const LABEL_SHOWN = 60;

function quoted(labels: readonly string[]): string {
  const shown = labels.slice(0, LABELS_SHOWN).map((label) => `"${label.slice(0, LABEL_SHOWN)}"`);
  const more = labels.length - shown.length;
  return `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

type Find = (cells: readonly string[]) => string;
/** What it gives throws {@link BadCell}. */
type Value = (cells: readonly string[]) => Cell;

/** A column of this file. */
export type Place = ReturnType<typeof placeOf>;

/** What of a row becomes an entry. */
export interface Block {
  /** What the fields are that no column has: constants, null. In the order of the layout. */
  readonly template: Readonly<Record<string, Cell>>;
  readonly places: readonly Place[];
}

/** The same of rows that have one of these tags; null: any row may have it. */
interface Tagged extends Block, Pick<List, "tags"> {}

/** A file's sheet with its columns found. */
export type Table = ReturnType<typeof openTable>;

/**
 * Finds the columns in the header. `wanted`: the columns to be summed, null: all of numbers; left out: nothing is counted.
 * @throws FileFault when columns are missing, unknown or there twice.
 */
export function openTable(
  file: string,
  sheet: Sheet,
  profile: Profile,
  part: string,
  wanted?: readonly string[] | null,
) {
  const isHeads = part === HEADS;
  const own = profile.lists.filter((list) => list.part === (isHeads ? null : part));
  const { indexOf, width, across, relocate = () => {} } = locate(sheet.header, profile, part);
  const base = profile.form;
  const find = (one: Column): Find => {
    const { slice, form, parts } = one;
    if (parts !== null) {
      const finds = parts.map((part) => find(part.column));
      return (cells) => finds.map((own) => own(cells)).find((text) => text !== "") ?? "";
    }
    const isWhole = form.implied !== undefined;
    if (slice !== null) return ([line = ""]) => sliced(line, slice, isWhole);
    // Headers between the rows may move it.
    if (profile.header === "tags")
      return (cells) => {
        const cell = cells[indexOf(one)] ?? "";
        return profile.trim ? cell.trim() : cell;
      };
    const at = indexOf(one);
    return profile.trim ? (cells) => (cells[at] ?? "").trim() : (cells) => cells[at] ?? "";
  };
  const block = (columns: readonly Column[], fields: Fields): Block => ({
    template: templateOf(columns, fields),
    places: columns
      .filter((column) => column.constant === null || isPlaced(column))
      .map((column) => placeOf(column, find, base)),
  });
  const { layout, across: crossed, heading, footer } = profile;
  const tagged = (one: typeof heading) => {
    if (one === null) return null;
    const own = one.columns.flatMap(({ name, field }) => (field === null ? [] : [[name, field]]));
    return { ...one, ...block(one.columns, Object.fromEntries(own) as Fields) };
  };
  const [list] = own;
  const cell = layout.head[crossed?.cell ?? ""]?.type ?? "text";
  const read = cellReader(
    cell,
    formOf(base, profile.head.find(({ name }) => name === crossed?.cell)?.form ?? {}),
  );
  const places = (columns: readonly Column[]): Place[] =>
    columns.map((column) => placeOf(column, find, base));
  const tag =
    profile.tag === null ? (profile.header === "tags" ? firstCell : null) : find(profile.tag);
  const head: Tagged = isHeads
    ? { tags: profile.tags, ...block(profile.head, layout.head) }
    : { tags: null, ...block(list?.columns ?? [], layout.lists[list?.name ?? ""] ?? {}) };
  const lists = (isHeads ? own : []).map((one) => ({
    ...one,
    ...block(one.columns, layout.lists[one.name] ?? {}),
    /** The column that numbers its rows, where there is one. */
    numbered: places(one.counts),
  }));
  const beside = { heading: tagged(heading), footer: tagged(footer) };
  const cells = across.map(({ label, at }) => {
    const found: Find = (cells) => cells[at] ?? "";
    return { label, find: found, value: (cells: readonly string[]) => read(found(cells)) };
  });
  const trailer = isHeads && profile.trailer !== null ? trailerOf(profile.trailer) : null;
  function trailerOf(told: NonNullable<Profile["trailer"]>) {
    const mark = told.in === null ? tag : find(told.in);
    return {
      is: (cells: readonly string[]) => mark?.(cells).trim() === told.tag,
      counts: places(told.counts),
      /** By the label of the column that is summed. */
      sums: places(told.sums),
      /** Whether a row is of those that are counted. */
      isCounted: (cells: readonly string[]) => told.of?.has(tag?.(cells) ?? "") !== false,
      /** Once it was read. */
      row: null as Row | null,
      /** Rows that are counted, up to it. */
      rows: 0,
    };
  }
  const told = trailer?.sums.map(({ name }) => name);
  const sums = wanted === null ? null : (wanted ?? told) && [...(wanted ?? []), ...(told ?? [])];
  const kinds = [head, beside.heading ?? [], beside.footer ?? [], lists].flat();
  return {
    file,
    sheet,
    profile,
    /** Of the head; of another part of an export: of its list. */
    head,
    /** Of the lists in this file. */
    lists,
    /** What rows say of the records below them, and of the one above; null: there are none. */
    ...beside,
    /** One record per cell: where they stand. */
    across: cells,
    tag,
    /** The last row, which says what the file comes to. */
    trailer,
    leaves: isHeads ? leavesOf(profile, sheet.header, find, tag) : () => false,
    /** A record is a row, and has no lists. */
    isPlain:
      profile.record === "row" &&
      profile.tag === null &&
      heading === null &&
      Object.keys(layout.lists).length === 0,
    /** How many cells the header has; null: there is none. */
    width,
    /** How many cells a row needs where there is no header: those of the fields of its kind of rows. */
    needs: neededCells(kindsOf(profile, part), tag),
    relocate,
    /** Rows that the profile leaves out, and those of a record that the file stops in. */
    counted: { leftOut: 0, torn: 0 },
    /** Its rows and sums as of the rows that were read; null: nobody asked. */
    tally: sums === undefined ? null : new Tally(kinds, cells, tag, sums),
  };
}

/** By the tag of a row, where there are tags. A column that may be missing need not be there. */
function neededCells(kinds: ReturnType<typeof kindsOf>, tag: Find | null) {
  const needed = remembered((own: string) => {
    const fitting = kinds.filter(({ tags }) => tags === null || tag === null || tags.has(own));
    const columns = fitting.flatMap((one) => [...one.repeats, ...one.columns].flatMap(onesOf));
    return Math.max(
      0,
      ...columns.flatMap(({ index, optional }) => (index === null || optional ? [] : [index + 1])),
    );
  });
  return (cells: readonly string[]): number => needed(tag?.(cells) ?? "");
}

const firstCell: Find = ([cell = ""]) => cell;

/**
 * By characters, as people count them; blanks around a value fill it up. `isWhole`: a line that ends within it was cut, and
 * what is left of a number whose decimals are its last digits is another one.
 */
function sliced(
  line: string,
  { from, length }: { from: number; length: number },
  isWhole: boolean,
): string {
  const whole = ASTRAL.test(line)
    ? Array.from(line)
        .slice(from, from + length)
        .join("")
    : line.slice(from, from + length);
  const text = whole.trim();
  return isWhole && text !== "" && whole.length < length
    ? unreadable("is cut: the line ends within it", text)
    : text;
}

const ASTRAL = /[\ud800-\udfff]/;

const templateOf = (columns: readonly Column[], fields: Fields): Record<string, Cell> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { type, blank }]) => {
      const constant = columns.find((column) => column.name === name)?.constant ?? null;
      if (constant !== null) return [name, readCell(type, constant, ISO)];
      return [name, blank === true ? "" : null];
    }),
  );

function placeOf(column: Column, find: (column: Column) => Find, base: CellForm) {
  const { name, field, constant: must, optional, parts } = column;
  const { type = "text", filled = false, blank = false } = field ?? {};
  const form = formOf(base, column.form);
  const read = cellReader(type, form);
  const found = find(column);
  return {
    name,
    label: shownLabel(column),
    type,
    filled,
    blank,
    /** What stands there; of several columns: something, where any of them has something. */
    find: found,
    value:
      parts === null
        ? (cells: readonly string[]) => read(found(cells))
        : madeOf(column, find, read),
    /** What the cell must be; null: what it likes. It is no field then. */
    must: must === null ? null : foldedAs(form.anyCase === true, must),
    anyCase: form.anyCase === true,
    /** An empty cell is none that contradicts {@link must}. */
    optional,
  };
}

/** `Total - Tax` of a column that is made of these. */
function shownLabel({ parts, glue, label, name }: Column): string {
  return (
    parts
      ?.map(({ column: part, isLess }, at) => {
        const before = at === 0 ? "" : glue !== null ? ", " : isLess ? " - " : " + ";
        return `${before}${shownLabel(part)}`;
      })
      .join("") ??
    label ??
    name
  );
}

/** The value that several columns make together. */
function madeOf(
  { parts, glue }: Column,
  find: (column: Column) => Find,
  read: (cell: string) => Cell,
): Value {
  const all = (parts ?? []).map(({ column, isLess }) => ({
    label: shownLabel(column),
    isOptional: column.optional,
    isLess,
    find: find(column),
  }));
  return (cells) => {
    const found = all.map((part) => ({ ...part, text: part.find(cells) }));
    const filled = found.filter(({ text }) => text !== "");
    if (filled.length === 0) return null;
    const lacking = found.find(({ text, isOptional }) => text === "" && !isOptional);
    if (lacking !== undefined) throw new BadCell(`cannot be made, since ${lacking.label} is empty`);
    if (glue !== null) return read(filled.map(({ text }) => text).join(glue));
    return filled.reduce((sum, { text, isLess }) => {
      const value = read(text);
      if (!(value instanceof Decimal)) return sum;
      return isLess ? sum.minus(value) : sum.plus(value);
    }, Decimal.zero);
  };
}

/**
 * Rows that the profile leaves out: by any label of the header, or by the name of a field or of the tag.
 * @throws FileFault for a label that is not there: what is to be left out would be taken
 */
function leavesOf(
  profile: Profile,
  header: readonly string[],
  find: (column: Column) => Find,
  tag: Find | null,
): (cells: readonly string[]) => boolean {
  const columns = columnsOf(profile, HEADS);
  const rules = Object.entries(profile.leaveOut).map(([named, texts]) => {
    const isNumbered = profile.header === 0 && /^\d+$/.test(named);
    const place = isNumbered
      ? Number(named) - 1
      : header.findIndex((label) => label.trim() === named);
    const column = columns.find((one) => one.name === named);
    const isTag = named === "tag" && tag !== null;
    if (place < 0 && column === undefined && !isTag) throw headerFault([named], []);
    const own = column === undefined ? (tag ?? firstCell) : find(column);
    return {
      at: place < 0 ? own : (cells: readonly string[]) => cells[place] ?? "",
      texts: new Set(texts),
    };
  });
  if (rules.length === 0) return () => false;
  return (cells) => rules.some(({ at, texts }) => texts.has(at(cells).trim()));
}

/* Control totals of a file: how many rows it has, and the sums of its columns of numbers as they stand there. */

interface Summed extends Pick<Place, "value"> {
  /** Whether a row has it. */
  readonly isOn: (cells: readonly string[]) => boolean;
}

class Tally {
  rows = 0;
  readonly sums = new Map<string, Decimal>();
  /** The first cell of a column that is no number, by the column. */
  readonly unreadable = new Map<string, { readonly line: number; readonly message: string }>();
  /** By label. Rows of several kinds may each have a column of one name. */
  readonly #columns = new Map<string, Summed[]>();

  /** `wanted`: labels, where there is no header the names of fields; null: all columns of numbers. */
  constructor(
    kinds: readonly Tagged[],
    across: readonly Pick<Place, "label" | "value">[],
    tag: Find | null,
    wanted: readonly string[] | null,
  ) {
    const add = (label: string, summed: Summed): void => {
      if (wanted !== null && !wanted.includes(label)) return;
      push(this.#columns, label, summed);
      this.sums.set(label, Decimal.zero);
    };
    for (const { places, tags } of kinds)
      for (const { label, type, value } of places)
        if (type === "decimal") add(label, { value, isOn: (cells) => isOf({ tag }, tags, cells) });
    for (const { label, value } of across) add(label, { value, isOn: () => true });
  }

  take(line: number, cells: readonly string[]): void {
    this.rows++;
    for (const [name, places] of this.#columns) {
      const place = places.find(({ isOn }) => isOn(cells));
      if (place === undefined) continue;
      try {
        const value = place.value(cells);
        if (value instanceof Decimal)
          this.sums.set(name, (this.sums.get(name) ?? Decimal.zero).plus(value));
      } catch (error) {
        const { message } = error as RangeError;
        if (!this.unreadable.has(name)) this.unreadable.set(name, { line, message });
      }
    }
  }
}

/** Whether a row has one of these tags; null: any row does. */
export const isOf = (
  { tag }: { readonly tag: Find | null },
  tags: List["tags"],
  cells: readonly string[],
): boolean => tags === null || tags.has(tag?.(cells) ?? "");
