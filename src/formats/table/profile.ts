/**
 * What a profile may say: a YAML file that tells where the fields of a layout stand in the files of one ERP. It says
 * where things are and how they are written; what they mean is a mapping's.
 */
import { z } from "zod";
import { type CellForm, isDateForm } from "./cells.ts";
import type { Field, Layout } from "./layouts.ts";
import type { TextForm } from "./text.ts";

const delimiters = [",", ";", "\t", "|"] as const;
const name = z.string().min(1).max(120);
const place = z.int().min(1).max(100_000);
const sign = z.enum([".", ","]);
const dates = z
  .array(
    z
      .string()
      .refine(
        isDateForm,
        "is made of yyyy or yy, MM or M, dd or d, and what stands between them; an end in brackets is not read: yyyy-MM-dd[ HH:mm]",
      ),
  )
  .min(1)
  .describe("How days are written; the first one is written, all are read: MM/dd/yyyy.");

const Label = z.union([name, z.record(name, name)]);

const ColumnSettings = z
  .strictObject({
    label: Label.optional().describe(
      "The label in the header; by language: { en: Number, de: Nummer }.",
    ),
    column: place.optional().describe("Without a header: which column it is, from 1."),
    at: place.optional().describe("Of fixed width: the first character, from 1."),
    length: place
      .optional()
      .describe("Of fixed width: how many characters. Else: the most that may be written."),
    constant: z
      .string()
      .optional()
      .describe(
        "The same for every record. With a label or place it is written, and what is read must be it.",
      ),
    values: z
      .record(z.string(), z.string())
      .optional()
      .describe("What stands in the file, and what it is: { Gallons: gal }."),
    decimal: sign.optional(),
    dates: dates.optional(),
    decimals: z
      .int()
      .min(0)
      .max(9)
      .optional()
      .describe("So many last digits are decimals, without a sign."),
    negated: z.boolean().optional().describe("The sign is the other way round in the file."),
    optional: z
      .boolean()
      .optional()
      .describe("The column may be missing; its field is empty then."),
  })
  .describe("Where a field stands and how it is written.");

const Columns = z.record(name, z.union([name, ColumnSettings]));

const ListSettings = z.strictObject({
  file: name
    .optional()
    .describe("The part of the export that has its rows, where it is a file of its own."),
  on: name.optional().describe("The field of the head that those rows name."),
  by: name.optional().describe("The field of those rows that names the head."),
  tag: z
    .union([name, z.record(name, z.string())])
    .optional()
    .describe(
      "What the tag column says in its rows. Several: { product: item, charge: '' } writes product where the field item has a value, else charge.",
    ),
  counts: z
    .union([name, ColumnSettings])
    .optional()
    .describe("The column that numbers its rows, from 1."),
  repeats: Columns.optional().describe("Fields of the head that stand in its rows as well."),
  columns: Columns,
});

export const ProfileFile = z
  .strictObject({
    about: z.string().optional().describe("What it is, for people."),
    layout: name.describe(
      "What its records or documents are: plain/delivery-tickets, files.orders.",
    ),
    file: z.enum(["csv", "fixed", "xlsx"]).default("csv"),
    sheet: z
      .union([name, z.int().min(1).max(1_000)])
      .default(1)
      .describe("Of a workbook (xlsx): the name or the number of its sheet."),
    encoding: z.enum(["auto", "utf-8", "windows-1252", "latin1"]).default("auto"),
    delimiter: z.enum(["auto", ...delimiters]).default("auto"),
    quotes: z
      .enum(["text", "needed", "none"])
      .default("needed")
      .describe("What is written in quotes. none: a quote is a character like others."),
    ending: z
      .string()
      .regex(/^[a-z0-9]{1,8}$/, "is a file name's ending: csv, txt, iif")
      .default("csv")
      .describe("Of the names of files that are written."),
    lineEnd: z.enum(["crlf", "lf"]).default("crlf"),
    header: z
      .union([z.int().min(0).max(1000), z.literal("tags")])
      .default(1)
      .describe(
        "The line that has the labels; 0: none. tags: each kind of row has one, which begins with !.",
      ),
    decimal: sign.default("."),
    dates: dates.default(["yyyy-MM-dd"]),
    languages: z
      .record(name, z.strictObject({ decimal: sign, dates }))
      .optional()
      .describe("Where labels are given by language: how numbers and days are written in each."),
    otherColumns: z.enum(["allowed", "refused"]).default("allowed"),
    empty: z.array(z.string().min(1)).default([]).describe("Texts that mean an empty cell: N/A."),
    formulas: z
      .enum(["guarded", "plain"])
      .default("plain")
      .describe("guarded: an apostrophe stands before text that a spreadsheet would run."),
    leaveOut: z
      .record(name, z.array(z.string()).min(1))
      .default({})
      .describe("Rows to leave out, by the text of a labelled column: { Terminal: [Total] }."),
    tag: z.union([name, ColumnSettings]).optional().describe("The column that says what a row is."),
    record: z
      .union([
        z.enum(["row", "continues"]),
        z.strictObject({ inherits: z.array(name).min(1) }),
        z.strictObject({ same: z.array(name).min(1) }),
        z.strictObject({ tag: name, closing: name.optional() }),
      ])
      .default("row")
      .describe(
        "Which rows are a record. row: each. continues: rows whose head is empty belong above. inherits: each, and these fields stand on the first row only. same: neighbours that say the same of these fields. tag: a row with this tag begins one.",
      ),
    columns: Columns.default({}),
    order: z
      .array(name)
      .default([])
      .describe("The labels of a file that is written, in their order; others follow."),
    lists: z.record(name, ListSettings).default({}),
    across: z
      .strictObject({
        header: name.describe("The field that the labels of the columns are."),
        cell: name.describe("The field that their cells are."),
        columns: z
          .array(name)
          .min(1)
          .optional()
          .describe("Those labels; else all that have no other use."),
        except: z.array(name).default([]).describe("Labels of columns that are none of them."),
      })
      .optional()
      .describe("A table with one record per cell: terminals down, products across."),
  })
  .describe("Where the fields of a layout stand in a file.");

export type ProfileFile = z.infer<typeof ProfileFile>;
export type ColumnFile = z.infer<typeof ColumnSettings>;

/** For editors: what {@link ProfileFile} is. */
export const profileSchema = (): unknown => ({
  ...z.toJSONSchema(ProfileFile, { io: "input" }),
  title: "A profile of fuelbridge",
});

/* A profile: where the fields of a layout stand in the files of one ERP. */

/** Where a field stands, and how it is written there. */
export interface Column {
  /** The field; of a constant that no record has: whatever the profile calls it. */
  readonly name: string;
  /** Null: no record has it. */
  readonly field: Field | null;
  /** By language; the same in all of them under "". */
  readonly labels: Readonly<Record<string, string>> | null;
  /** Without a header: from 0. */
  readonly index: number | null;
  /** Of fixed width: from 0. */
  readonly slice: { readonly from: number; readonly length: number } | null;
  /** No more characters than this are written. */
  readonly most: number | null;
  readonly constant: string | null;
  readonly optional: boolean;
  readonly form: Partial<CellForm>;
}

/** Whether it stands in the file: a constant may not. */
export const isPlaced = ({ labels, index, slice }: Column): boolean =>
  labels !== null || index !== null || slice !== null;

export interface List {
  readonly name: string;
  /** The part of the export that has its rows; null: they stand among those of the heads. */
  readonly part: string | null;
  readonly on: string;
  readonly by: string;
  /** What the tag column says, and the field whose value makes it so ("": any); null: every row may have some of it. */
  readonly tags: ReadonlyMap<string, string> | null;
  readonly counts: Column | null;
  readonly repeats: readonly Column[];
  readonly columns: readonly Column[];
}

/** A profile whose parts fit each other and its layout. */
export interface Profile extends Pick<
  ProfileFile,
  | "about"
  | "file"
  | "sheet"
  | "encoding"
  | "delimiter"
  | "quotes"
  | "ending"
  | "lineEnd"
  | "header"
  | "otherColumns"
  | "leaveOut"
  | "across"
  | "order"
  | "record"
> {
  readonly layout: Layout;
  readonly languages: Readonly<Record<string, Pick<CellForm, "decimal" | "dates">>>;
  /** Of every cell. */
  readonly form: Pick<CellForm, "empty" | "guarded" | "long">;
  readonly tag: Column | null;
  readonly head: readonly Column[];
  readonly lists: readonly List[];
}

/** The part of an export that its records begin in; the only one of most. */
export const HEADS = "heads";

/** The parts of an export, the first being {@link HEADS}. */
export const partsOf = ({ lists }: Profile): string[] => [
  HEADS,
  ...lists.flatMap(({ part }) => part ?? []),
];

/** How a text with this profile is cut into rows and cells. `delimiter`: in place of the profile's, unless `auto`. */
export const textFormOf = (
  { file, delimiter: own, quotes, header }: Profile,
  delimiter: ProfileFile["delimiter"] = "auto",
): TextForm => ({
  delimiter: file === "fixed" ? null : delimiter === "auto" ? own : delimiter,
  quotes: file !== "fixed" && quotes !== "none",
  header: header === "tags" ? 0 : header,
});

/** With or without an apostrophe before text that a spreadsheet would run, whatever the profile says. */
export const guardedAs = (profile: Profile, guarded: boolean): Profile => ({
  ...profile,
  form: { ...profile.form, guarded },
});
