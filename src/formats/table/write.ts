/**
 * Records as the text of files, as a profile says: the one way in which this connector writes tables. Nothing is changed
 * silently: what a file has no room for is refused, with its field.
 */
import { hash } from "node:crypto";
import type { Item, Surroundings } from "../../core/contract.ts";
import { Decimal } from "../../core/decimal.ts";
import { Refused } from "../../core/errors.ts";
import type { FactLine, Facts, HoldingState } from "../../core/holdings.ts";
import { sortableInstant } from "../../core/keys.ts";
import { type DocumentName, documents } from "../documents.ts";
import { type DocumentWriter, FileFault, foreignTo, type Totals } from "../format.ts";
import { type Cell, type CellForm, type CellType, Unprintable, writeCell } from "./cells.ts";
import { openProfile } from "./profile-load.ts";
import { type Column, guardedAs, HEADS, isPlaced, type List, type Profile } from "./profile.ts";
import { columnsOf, draftsIn, headersOf, labelOf, openText, rowsOf } from "./read.ts";

export interface Writing {
  readonly profile: Profile;
  /** Puts an apostrophe before text that a spreadsheet would run as a formula. */
  readonly spreadsheetSafe: boolean;
  /** The calendar day of an instant, see `calendarOf`. */
  readonly dayOf: (instant: string) => string;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * What makes the text of one file of documents. The rows of a document are made once, however many files it is tried in.
 * @throws Refused when a value has no place in the file: a character that no reader can be trusted with, a text that is
 * too long
 */
function documentsWriter(
  name: DocumentName,
  { profile, spreadsheetSafe, dayOf }: Writing,
): (list: readonly unknown[]) => string {
  const writer = new Writer(guardedAs(profile, spreadsheetSafe), HEADS, dayOf);
  const known = new WeakMap<object, string>();
  const rowsOf = (unchecked: unknown): string => {
    const document: Fields = documents[name].schema.parse(unchecked);
    const { version } = document;
    const isDated = typeof version === "string";
    return writer.text(writer.rowsOf(isDated ? { ...document, version: utc(version) } : document));
  };
  return (list) =>
    writer.text(writer.header()) +
    list
      .map((document) => {
        const rows = known.get(document as object) ?? rowsOf(document);
        known.set(document as object, rows);
        return rows;
      })
      .join("");
}

/** The text of one file of documents. @throws Refused, as {@link documentsWriter} */
export const writeDocuments = (
  name: DocumentName,
  list: readonly unknown[],
  writing: Writing,
): string => documentsWriter(name, writing)(list);

/** UTC with six or nine fraction digits: texts of one form, of which the greatest is the latest. */
const utc = (instant: string): string => sortableInstant(instant)?.replace(/000Z$/, "Z") ?? instant;

/** The text of one part of an export. `dayOf`: see {@link Writing}. @throws Refused */
export function writeRecords(
  profile: Profile,
  records: readonly Fields[],
  part = HEADS,
  dayOf: (instant: string) => string = (day) => day,
): string {
  const writer = new Writer(profile, part, dayOf);
  return writer.text([...writer.header(), ...records.flatMap((record) => writer.rowsOf(record))]);
}

/** A cell to be written, and whether it is text. */
interface WrittenCell {
  readonly column: Column;
  readonly text: string | null;
  readonly isText: boolean;
}

class Writer {
  readonly #profile: Profile;
  readonly #part: string;
  readonly #dayOf: (instant: string) => string;
  readonly #language: string;
  readonly #form: CellForm;
  readonly #delimiter: string;
  /** By the label, or of each kind of row by its own place. */
  readonly #labels: readonly string[];

  constructor(profile: Profile, part: string, dayOf: (instant: string) => string) {
    this.#profile = profile;
    this.#part = part;
    this.#dayOf = dayOf;
    const [language = ""] = Object.keys(profile.languages);
    const { decimal = ".", dates = [] } = profile.languages[language] ?? {};
    this.#language = language;
    this.#form = { decimal, dates, ...profile.form };
    this.#delimiter = profile.delimiter === "auto" ? "," : profile.delimiter;
    const labels = columnsOf(profile, part).flatMap((column) => labelOf(column, language) ?? []);
    const first = profile.order.filter((label) => labels.includes(label));
    this.#labels = [...new Set([...first, ...labels])];
  }

  /** Lines with their ends. */
  text(lines: readonly string[]): string {
    const end = this.#profile.lineEnd === "crlf" ? "\r\n" : "\n";
    return lines.map((line) => `${line}${end}`).join("");
  }

  header(): string[] {
    const { header, record } = this.#profile;
    if (header === 0 || this.#profile.file === "fixed") return [];
    if (header !== "tags")
      return [
        ...Array<string>(header - 1).fill(""),
        this.#labels.map((label) => this.#quoted(label, false)).join(this.#delimiter),
      ];
    const lines = [...headersOf(this.#profile, this.#language)].map(([tag, labels]) =>
      [`!${tag}`, ...labels].join(this.#delimiter),
    );
    const closing = typeof record === "object" && "tag" in record ? record.closing : undefined;
    return closing === undefined ? lines : [...lines, `!${closing}`];
  }

  /** The rows of a record, as the profile says which rows it is. */
  rowsOf(record: Fields): string[] {
    const { record: mode, head, lists } = this.#profile;
    if (this.#part !== HEADS) return this.#joinedRows(record);
    const own = lists.filter(({ part }) => part === null);
    const heads = (): WrittenCell[] => this.#cells(head, record, "");
    if (typeof mode === "object" && "tag" in mode)
      return [
        this.#row(mode.tag, heads()),
        ...own.flatMap((list) => this.#listRows(list, record, [])),
        ...(mode.closing === undefined ? [] : [this.#row(mode.closing, [])]),
      ];
    if (typeof mode === "object" && "same" in mode) {
      const rows = own.flatMap((list) => this.#listRows(list, record, heads()));
      return rows.length > 0 ? rows : [this.#row(null, heads())];
    }
    const most = Math.max(1, ...own.map(({ name }) => elementsOf(record, name).length));
    return Array.from({ length: most }, (_, at) =>
      this.#row(null, [
        ...(at === 0 ? heads() : []),
        ...own.flatMap((list) => this.#element(list, record, at)),
      ]),
    );
  }

  #listRows(list: List, record: Fields, before: readonly WrittenCell[]): string[] {
    return elementsOf(record, list.name).map((element, at) =>
      this.#row(tagOf(list, element), [
        ...before,
        ...this.#cells(list.repeats, record, ""),
        ...this.#counted(list, at),
        ...this.#element(list, record, at),
      ]),
    );
  }

  #joinedRows(record: Fields): string[] {
    const list = this.#profile.lists.find(({ part }) => part === this.#part);
    if (list === undefined) return [];
    return elementsOf(record, list.name).map((_, at) =>
      this.#row(null, this.#element(list, record, at)),
    );
  }

  #element(list: List, record: Fields, at: number): WrittenCell[] {
    const element = elementsOf(record, list.name)[at];
    return element === undefined ? [] : this.#cells(list.columns, element, `${list.name}[${at}].`);
  }

  #counted({ counts }: List, at: number): WrittenCell[] {
    return counts === null ? [] : [this.#cell(counts, Decimal.of(String(at + 1)), "decimal", "")];
  }

  #cells(columns: readonly Column[], values: Fields, at: string): WrittenCell[] {
    return columns.filter(isPlaced).map((column) => {
      const { name, field, constant } = column;
      if (constant !== null) return { column, text: constant, isText: true };
      const type = field?.type ?? "text";
      const value = values[name];
      const shown = type === "day" && typeof value === "string" ? this.#dayOf(value) : value;
      return this.#cell(column, shown, type, `${at}${name}`);
    });
  }

  #cell(column: Column, value: unknown, type: CellType, field: string): WrittenCell {
    try {
      const text = writeCell(type, value, { ...this.#form, ...column.form });
      if (text !== null) this.#checkRoom(text, column);
      return { column, text, isText: type !== "decimal" };
    } catch (error) {
      throw refusal(error, field);
    }
  }

  /** @throws RangeError as the end of a sentence */
  #checkRoom(text: string, { most }: Column): void {
    const { file, quotes, encoding } = this.#profile;
    const foreign = foreignTo(text, encoding);
    if (foreign !== null)
      throw new Unprintable(`has the character "${foreign}", which is not in ${encoding}`);
    const length = text.isWellFormed() ? Array.from(text).length : text.length;
    if (most !== null && length > most)
      throw new RangeError(`is ${length} characters long; the file has room for ${most}`);
    if (file === "fixed" && text.trim() !== text)
      throw new RangeError("begins or ends with a blank, which fixed width cannot keep");
    const bars = file === "fixed" ? ["\n", "\r"] : ["\n", "\r", this.#delimiter];
    if (file !== "fixed" && quotes !== "none") return;
    const bar = bars.find((one) => text.includes(one));
    if (bar !== undefined)
      throw new RangeError(
        `has ${bar === this.#delimiter ? "the delimiter" : "a line break"} in it, and the file has no quotes`,
      );
  }

  /** A line of the file. `tag`: what kind of row it is. */
  #row(tag: string | null, cells: readonly WrittenCell[]): string {
    const { tag: tagColumn, header, file } = this.#profile;
    const all: readonly WrittenCell[] =
      tag !== null && tagColumn !== null
        ? [{ column: tagColumn, text: tag, isText: true }, ...cells]
        : cells;
    if (file === "fixed") return fixedLine(all);
    if (header === "tags")
      return [tag ?? "", ...all.map(({ text, isText }) => this.#quoted(text, isText))].join(
        this.#delimiter,
      );
    const places = new Map(
      all.map((one) => [labelOf(one.column, this.#language) ?? one.column.index, one]),
    );
    const keys = header === 0 ? Array.from({ length: this.#width() }, (_, at) => at) : this.#labels;
    return keys
      .map((key) => places.get(key))
      .map((one) => this.#quoted(one?.text ?? null, one?.isText === true))
      .join(this.#delimiter);
  }

  #width(): number {
    return Math.max(...columnsOf(this.#profile, this.#part).map(({ index }) => index ?? -1)) + 1;
  }

  #quoted(text: string | null, isText: boolean): string {
    if (text === null) return "";
    const { quotes } = this.#profile;
    if (quotes === "none") return text;
    const isNeeded = text.includes(this.#delimiter) || /["\r\n]/.test(text);
    return isNeeded || (quotes === "text" && isText) ? `"${text.replaceAll('"', '""')}"` : text;
  }
}

const elementsOf = (record: Fields, name: string): readonly Fields[] =>
  (record[name] ?? []) as readonly Fields[];

/** Of several tags, the first whose field has a value. */
const tagOf = ({ tags }: List, element: Fields): string | null =>
  [...(tags ?? [])].find(([, field]) => field === "" || !isNone(element[field]))?.[0] ?? null;

const isNone = (value: unknown): boolean => value === null || value === undefined || value === "";

/** Text to the left, numbers to the right; what has its decimals implied is filled up with zeros. */
function fixedLine(cells: readonly WrittenCell[]): string {
  const line: string[] = [];
  for (const { column, text, isText } of cells) {
    const { slice, form } = column;
    if (slice === null || text === null) continue;
    const characters = Array.from(text);
    const missing = slice.length - characters.length;
    const minus = form.implied !== undefined && text.startsWith("-") ? 1 : 0;
    const filled = isText
      ? characters
      : form.implied === undefined
        ? [...Array<string>(missing).fill(" "), ...characters]
        : [
            ...characters.slice(0, minus),
            ...Array<string>(missing).fill("0"),
            ...characters.slice(minus),
          ];
    for (const [at, character] of filled.entries()) line[slice.from + at] = character;
  }
  return Array.from(line, (character) => character ?? " ").join("");
}

function refusal(error: unknown, field: string): unknown {
  if (!(error instanceof RangeError)) return error;
  const isUnprintable = error instanceof Unprintable;
  return new Refused({
    code: isUnprintable ? "unprintable" : "no-room",
    message: `${field} ${error.message}`,
    next: isUnprintable
      ? "Correct the text on the platform; the corrected version is delivered by itself."
      : "Correct it on the platform, or give it room in the profile; then retry it.",
    field,
  });
}

/* Documents as tables, laid out as a profile says. */

/** What is written, and into which files. */
interface TableSettings {
  readonly document: DocumentName;
  /** A profile of the site, or a shipped one; left out: the shipped one of the document. */
  readonly profile?: string | undefined;
  readonly per: "document" | "batch";
  readonly itemsMax?: number | undefined;
  readonly spreadsheetSafe: boolean;
}

const BATCH_ITEMS_MAX = 200;
const NAME_MAX = 100;

/** @throws InvalidProfile */
export function tableWriter(
  config: TableSettings,
  surroundings: Pick<Surroundings, "folder" | "dayOf">,
): DocumentWriter {
  const writing = writingOf(config, surroundings);
  const { encoding, ending } = writing.profile;
  const write = documentsWriter(config.document, writing);
  return {
    form: `files.${config.document}`,
    operation: documents[config.document].operation,
    writes: "upsert",
    itemsMax: config.per === "batch" ? (config.itemsMax ?? BATCH_ITEMS_MAX) : 1,
    encoding,
    nameOf: (items) => nameOf(config, items, ending),
    textOf: (items) => write(items.map(({ document }) => document)),
    totalsOf: (name, body) => totalsIn(writing, name, body),
  };
}

/** @throws InvalidProfile */
export const writingOf = (
  { document, profile, spreadsheetSafe }: TableSettings,
  { folder, dayOf }: Pick<Surroundings, "folder" | "dayOf">,
): Writing => ({
  profile: openProfile(profile ?? `files/${document}`, folder),
  spreadsheetSafe,
  dayOf,
});

/** Follows from number, id and revision alone; characters that are safe on every file system and in every shell. */
function nameOf(config: TableSettings, items: readonly Item[], ending: string): string {
  const [item] = items;
  if (config.per === "batch" || item === undefined) {
    const content = JSON.stringify(items.map(({ id, revision }) => [id, revision]));
    return `${config.document}_${items.length}_${hash8(content)}.${ending}`;
  }
  const rest = `_${hash8(item.id)}_${hash8(item.revision)}.${ending}`;
  const number = item.number.replace(/[^A-Za-z0-9.-]+/g, "-");
  return `${`${config.document}_${number}`.slice(0, NAME_MAX - rest.length)}${rest}`;
}

const hash8 = (text: string): string => hash("sha256", text, "hex").slice(0, 8);

/* Our own import files read back: what we wrote, in the words of the documents. */

/** The documents of {@link documents} that both sides hold. */
export type InvoiceName = "customer-invoices" | "supplier-invoices";
export type HeldName = InvoiceName | "orders" | "delivery-tickets";

/** One document of a file. */
export interface Written {
  /** The platform's id. */
  readonly id: string;
  /** Sorts by age. */
  readonly version: string;
  readonly facts: Facts;
}

/**
 * Every document of one file, read as it was written.
 * @throws Error for a text that is not as the profile says
 */
export async function readWritten(
  document: HeldName,
  text: string,
  { profile, spreadsheetSafe, dayOf }: Writing,
): Promise<Written[]> {
  if (text === "") return [];
  const drafts = await draftsIn(guardedAs(profile, spreadsheetSafe), text);
  return drafts.map(({ values, problems: [problem] }) => {
    if (problem !== undefined) throw new FileFault(problem.message, problem.line, problem.column);
    const head = values as Row;
    const version = sortableInstant(textIn(head, "version") ?? "") ?? "";
    const facts =
      document === "orders" || document === "delivery-tickets"
        ? goodsFacts(document, head, version === "" ? "" : dayOf(version))
        : factsOf(document, head);
    return { id: textIn(head, "id") ?? "", version, facts };
  });
}

/** Whether files of a profile tell which document they are of, and which version of it. */
export const tellsWhich = ({ head }: Profile): boolean =>
  ["id", "number", "version"].every((name) => head.some((column) => column.name === name));

type Row = Readonly<Record<string, Cell | readonly Row[]>>;

const STATES: Readonly<Record<string, HoldingState>> = {
  DRAFT: "draft",
  OUTSTANDING: "open",
  OVERDUE: "open",
  PAID: "paid",
  DISPUTED: "disputed",
  VOID: "ended",
};

/** Statuses of orders and of tickets that are not confirmed, and not signed yet; what is neither is posted. */
const GOODS_STATES: Readonly<Record<string, HoldingState>> = {
  DRAFT: "draft",
  POSTED: "draft",
  BIDDING: "draft",
  ASSIGNED: "draft",
  ISSUED: "draft",
  CANCELLED: "ended",
  VOID: "ended",
};

/**
 * An order has no day of its own in a file: it is dated by its last change, as the platform's list is asked.
 * @param changed the company's day of the last change; empty: the file does not say it
 */
function goodsFacts(document: "orders" | "delivery-tickets", head: Row, changed: string): Facts {
  const isOrder = document === "orders";
  const day = isOrder ? null : textIn(head, "deliveryDate");
  return {
    number: textIn(head, "number") ?? "",
    state: GOODS_STATES[textIn(head, "status") ?? ""] ?? "posted",
    days: { date: day ?? changed },
    words: isOrder ? {} : { reference: textIn(head, "bolNumber") },
    lines: rowsIn(head, "lines").map((row) => ({
      product: textIn(row, "item"),
      quantity: decimalIn(row, isOrder ? "quantity" : "netGallons"),
      unit: isOrder ? textIn(row, "unit") : "gal",
      unitPrice: isOrder ? decimalIn(row, "rate") : null,
      amount: Decimal.zero,
    })),
  };
}

/** What is open no import file says; a currency neither. */
function factsOf(document: InvoiceName, head: Row): Facts {
  const sale = document === "customer-invoices";
  const state = STATES[textIn(head, "status") ?? ""];
  return {
    number: textIn(head, "number") ?? "",
    party: textIn(head, sale ? "customer" : "vendor"),
    ...(state === undefined ? {} : { state }),
    days: {
      date: textIn(head, "invoiceDate"),
      due: textIn(head, "dueDate"),
      paid: textIn(head, "paidDate"),
    },
    money: {
      untaxed: decimalIn(head, "subtotal"),
      tax: decimalIn(head, "taxTotal"),
      total: decimalIn(head, "total"),
    },
    words: {
      side: sale ? "sale" : "purchase",
      order: joined(head, { poNumber: "PO", contractNumber: "contract" }),
      notes: textIn(head, "notes"),
    },
    lines: rowsIn(head, "lines").map(lineOf),
    taxes: rowsIn(head, "taxes").map((row) => ({
      code: joined(row, { taxCode: "", authority: "", product: "" }) ?? "",
      amount: decimalIn(row, "amount") ?? Decimal.zero,
    })),
  };
}

const lineOf = (row: Row): FactLine => ({
  product: textIn(row, "item"),
  quantity: decimalIn(row, "gallons"),
  unit: decimalIn(row, "gallons") === null ? null : "gal",
  unitPrice: decimalIn(row, "rate"),
  amount: decimalIn(row, "amount") ?? Decimal.zero,
  text: joined(row, LINE_WORDS),
});

/** Columns of a line that have no field of their own among facts. */
const LINE_WORDS = {
  description: "",
  product: "product",
  spec: "spec",
  grossGallons: "gross gal",
  netGallons: "net gal",
  bolNumber: "BOL",
  deliveryTicket: "ticket",
  location: "location",
  carrier: "carrier",
  deliveredDate: "delivered",
} as const;

const rowsIn = (row: Row, field: string): readonly Row[] => (row[field] ?? []) as readonly Row[];

/** Null: there is none, or no column. */
function textIn(row: Row, field: string): string | null {
  const value = row[field];
  if (value instanceof Decimal) return value.text;
  return typeof value === "string" && value !== "" ? value : null;
}

const decimalIn = (row: Row, field: string): Decimal | null => {
  const value = row[field];
  return value instanceof Decimal ? value : null;
};

const joined = (row: Row, labels: Readonly<Record<string, string>>): string | null =>
  Object.entries(labels)
    .flatMap(([column, label]) => {
      const text = textIn(row, column);
      return text === null ? [] : [label === "" ? text : `${label} ${text}`];
    })
    .join(", ") || null;

/** The rows and sums of a text of ours. @throws FileFault for a text that is not as the profile says */
async function totalsIn(
  { profile, spreadsheetSafe }: Pick<Writing, "profile" | "spreadsheetSafe">,
  name: string,
  body: string,
): Promise<Totals> {
  const table = await openText(guardedAs(profile, spreadsheetSafe), body, name, { sums: null });
  for await (const _ of rowsOf(table));
  const { rows = 0, sums = [] } = table.tally ?? {};
  return {
    rows,
    sums: Object.fromEntries([...sums].map(([label, sum]) => [label, sum.plain()])),
  };
}
