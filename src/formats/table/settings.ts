/**
 * What a profile may say: a YAML file that tells where the fields of a layout stand in the files of one ERP. It says
 * where things are and how they are written; what they mean is a mapping's.
 */
import { z } from "zod";
import { choice } from "../../core/settings.ts";
import { isDateForm, NumberSettings } from "./cells.ts";

const delimiters = [",", ";", "\t", "|", "^", "~"] as const;
const name = z.string().min(1).max(120);
const place = z.int().min(1).max(100_000);
const dates = z
  .array(
    z
      .string()
      .refine(
        isDateForm,
        "is made of yyyy, yy or cyy, MMMM, MMM, MM or M, dd or d (or DDD, the day of the year), and what stands between them; an end in brackets is not read, and has none of these: yyyy-MM-dd[ HH:mm], M/d/yyyy[ h:mm:ss a]",
      ),
  )
  .min(1)
  .describe("How days are written; the first one is written, all are read: MM/dd/yyyy.");

const placeSettings = {
  label: name.optional().describe("The label in the header."),
  column: place.optional().describe("Without a header: which column it is, from 1."),
  at: place.optional().describe("Of fixed width: the first character, from 1."),
  length: place
    .optional()
    .describe("Of fixed width: how many characters. Else: the most that may be written."),
  optional: z.boolean().optional().describe("The column may be missing; its field is empty then."),
};

const Parts = z.array(z.union([name, z.strictObject(placeSettings)])).min(1);

const ColumnSettings = z
  .strictObject({
    ...placeSettings,
    join: Parts.optional().describe(
      "Several columns as one text, in their order: [Division, Customer]. A row that has only some of them is refused.",
    ),
    with: z.string().default("").describe("What stands between the texts of join."),
    plus: Parts.optional().describe(
      "The sum of these columns, less those of minus. An empty one is refused, unless it is optional: then it is nothing.",
    ),
    minus: Parts.optional(),
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
    empty: z
      .array(z.string().min(1))
      .optional()
      .describe("Texts that mean an empty cell of this column, in place of the file's: [0]."),
    anyCase: z
      .boolean()
      .optional()
      .describe("Small and capital letters are the same in values and constant."),
    numbers: NumberSettings.optional().describe(
      "Where they are written otherwise than all others.",
    ),
    dates: dates.optional(),
    decimals: z
      .int()
      .min(0)
      .max(9)
      .optional()
      .describe("So many last digits are decimals, without a sign."),
    negated: z.boolean().optional().describe("The sign is the other way round in the file."),
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
    .union([z.string(), z.record(z.string(), z.string())])
    .optional()
    .describe(
      "What the tag column says in its rows. Several: { product: item, charge: '' } writes product where the field item has a value, else charge.",
    ),
  counts: z
    .union([name, ColumnSettings])
    .optional()
    .describe(
      "The column that numbers its rows, from 1. Two rows of one record with one number are refused when they are read.",
    ),
  repeats: Columns.optional().describe("Fields of the head that stand in its rows as well."),
  when: name
    .optional()
    .describe("A row in which this field is empty or 0 has none of the list: amount."),
  columns: Columns,
});

const Trailer = z
  .strictObject({
    tag: z.string().min(1).describe("What the column says in it: T, TOTAL."),
    in: z.union([name, ColumnSettings]).optional().describe("That column; left out: that of tag."),
    lines: z
      .union([name, ColumnSettings])
      .optional()
      .describe("Where it says how many lines the file has, itself and the header among them."),
    rows: z
      .union([name, ColumnSettings])
      .optional()
      .describe("Where it says how many rows there are without itself; those of `of` only."),
    of: z.array(z.string()).min(1).optional().describe("Tags of the rows that are counted: [D]."),
    records: z
      .union([name, ColumnSettings])
      .optional()
      .describe("Where it says how many records there are."),
    sums: Columns.default({}).describe(
      "Where it has the sum of a column of numbers, by its label, without a header by the field.",
    ),
  })
  .describe(
    "The last row, which says what the file comes to. A file without it, or that comes to something else, is refused whole.",
  );

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
    lineEnd: z
      .enum(["crlf", "lf", "cr"])
      .default("crlf")
      .describe(
        "Of files that are written; crlf and lf are read alike. cr is read, too: a return alone ends a line.",
      ),
    lastLineEnd: choice(
      ["required", "optional"],
      "optional: the last row may lack its line end; then nobody sees that a file was cut in its last cell.",
    ),
    lastDelimiter: choice(
      ["refused", "allowed"],
      "allowed: a row may end in one delimiter more than the header has, and the header in one more than its labels.",
    ),
    endOfFile: z
      .int()
      .min(0)
      .max(31)
      .optional()
      .describe("The code of the character that may end the file, as CP/M and DOS had it: 0x1A."),
    trim: z
      .boolean()
      .default(false)
      .describe("Blanks around a cell are no part of it, and may stand around its quotes."),
    header: z
      .union([z.int().min(0).max(1000), z.literal("tags")])
      .default(1)
      .describe(
        "The line that has the labels; 0: none. tags: each kind of row has one, which begins with !.",
      ),
    numbers: NumberSettings.default({}).describe("How numbers are written, besides plainly."),
    dates: dates.default(["yyyy-MM-dd"]),
    otherColumns: z.enum(["allowed", "refused"]).default("allowed"),
    empty: z.array(z.string().min(1)).default([]).describe("Texts that mean an empty cell: N/A."),
    formulas: z
      .enum(["guarded", "plain", "texts"])
      .optional()
      .describe(
        'guarded: an apostrophe stands before text that a spreadsheet would run. texts: a formula of one text, as programs keep zeros for Excel (="000417"), is read as that text.',
      ),
    leaveOut: z
      .record(name, z.array(z.string()).min(1))
      .default({})
      .describe(
        "Rows to leave out, by the text of a labelled column: { Terminal: [Total] }. Also by a field, by tag, and without a header by the number of a column.",
      ),
    tag: z.union([name, ColumnSettings]).optional().describe("The column that says what a row is."),
    record: z
      .union([
        z.enum(["row", "continues"]),
        z.strictObject({ inherits: z.array(name).min(1) }),
        z.strictObject({ same: z.array(name).min(1), first: z.array(name).optional() }),
        z.strictObject({ tag: z.string(), closing: name.optional() }),
      ])
      .default("row")
      .describe(
        "Which rows are a record. row: each. continues: rows whose head is empty belong above. inherits: each, and these fields stand on the first row only. same: neighbours that say the same of these fields; those of first stand on its first row, on the others there is nothing or 0. tag: a row with this tag begins one.",
      ),
    heading: z
      .strictObject({ tag: z.string(), columns: Columns })
      .optional()
      .describe(
        "Rows with this tag are no record: what they say holds for the records below, up to the next one.",
      ),
    footer: z
      .strictObject({ tag: z.string(), columns: Columns })
      .optional()
      .describe("A row with this tag ends a record: what it says is of the record as a whole."),
    trailer: Trailer.optional(),
    columns: Columns.default({}),
    order: z
      .array(name)
      .default([])
      .describe("The labels of a file that is written, in their order; others follow."),
    lists: z
      .record(name, z.union([ListSettings, z.array(ListSettings).min(1)]))
      .default({})
      .describe("Of each list, where its rows are; several: its rows are of several kinds."),
    balance: name
      .optional()
      .describe(
        "The label of amounts that come to nothing in each document; one that does not is not written.",
      ),
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
export type ColumnFile = Partial<z.infer<typeof ColumnSettings>>;

/** For editors: what {@link ProfileFile} is. */
export const profileSchema = (): unknown => ({
  ...z.toJSONSchema(ProfileFile, { io: "input", reused: "ref" }),
  title: "A profile of fuelbridge",
});

export type ListFile = z.infer<typeof ListSettings>;
