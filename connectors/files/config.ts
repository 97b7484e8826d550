/** Settings that sources and sinks of every format have: where their files lie and how they are called. */
import { z } from "zod";
import { choice } from "../../src/core/settings.ts";
import { SftpConfig } from "./folder/sftp.ts";
import { type DocumentName, documents } from "../../src/formats/documents.ts";
import {
  CondSource,
  CremasSource,
  DebmasSource,
  DelvrySink,
  InvoicSink,
  OrdersSink,
} from "../../src/formats/idoc/config.ts";
import { layouts } from "../../src/formats/table/layouts.ts";
import { HEADS } from "../../src/formats/table/profile.ts";
import { x12Documents, x12Layouts, X12Options } from "../../src/formats/x12/config.ts";

const text = z.string().min(1);
const Marker = z.string().regex(/^\.[A-Za-z0-9]{1,16}$/, "is an ending like .ok");

type Endings = Partial<Record<"marker" | "manifest", string | undefined>>;

/** Wherever {@link origin}, {@link folders} or {@link target} is: marker and manifest have two names. */
const withDistinctEndings = <S extends z.ZodType<Endings>>(schema: S): S =>
  schema.refine(({ marker, manifest }) => marker === undefined || marker !== manifest, {
    message: "is the marker's ending, too",
    path: ["manifest"],
  });

const Pattern = text
  .max(120)
  .refine((text) => text.split("*").length <= 2, "may have one * only")
  .refine((text) => !/[/\\]/.test(text), "is a file name, not a path");

/** `36h`, `2d`, in milliseconds once parsed. */
const HoursOrDays = z
  .string()
  .regex(/^[1-9]\d{0,3}[hd]$/, "is a number of hours or days: 36h, 2d")
  .transform((text) => Number(text.slice(0, -1)) * (text.endsWith("d") ? 86_400_000 : 3_600_000));

/** Where files are read from, and where they go then. */
const folders = {
  folder: text.default(".").describe("Where they are, from the connector's folder."),
  marker: Marker.optional().describe(
    "A file is read when a file with this ending more lies beside it: .ok. Left out: none is asked for.",
  ),
  manifest: Marker.optional().describe(
    "Beside each file lies its manifest, under its name with this ending more: .manifest. A file that does not agree with it is not read. Left out: none is asked for.",
  ),
  archive: text.default("archive").describe("Where files go that were read."),
  keepDays: z
    .int()
    .min(1)
    .max(36_500)
    .optional()
    .describe(
      "Files that were read are put into one folder a day, and deleted after so many days. Left out: they are kept.",
    ),
  failed: text.default("failed").describe("Where files go that need a person."),
};

/** The same of a source: something is to come into it from time to time. */
const origin = {
  ...folders,
  silence: z
    .union([z.literal("off"), HoursOrDays])
    .optional()
    .describe(
      "A person is told when no file came for so long: 36h, 2d. Left out: for longer than ever before. off: never.",
    ),
};

/** Where files are written. */
const target = {
  folder: text.describe("Where the ERP looks for files, from the connector's folder."),
  staging: text
    .optional()
    .describe(
      "Where files are written before they are moved: on the same file system, and ours alone; <folder>.staging.",
    ),
  marker: Marker.optional().describe(
    "After each file, one with this ending more says that it is whole: .ok. Left out: none is written.",
  ),
  manifest: Marker.optional().describe(
    "After each file, and before its marker, one with this ending more has its counts and sums: .manifest. Left out: none is written.",
  ),
};

/** How many documents a file has. */
const batches = {
  per: choice(["document", "batch"], "What one file holds."),
  itemsMax: z.int().min(1).max(1000).optional().describe("Documents in one file of a batch."),
};

type Batches = z.ZodType<{ readonly per: string; readonly itemsMax?: number | undefined }>;

/** Wherever {@link batches} are. */
const withBatches = <S extends Batches>(schema: S): S =>
  schema.refine(({ per, itemsMax = 1 }) => per === "batch" || itemsMax === 1, {
    message: "more than one document in a file needs per: batch",
    path: ["itemsMax"],
  });

/* Sources and sinks of the format `x12`, as the configuration has them. */

const X12Source = z
  .strictObject({
    format: z.literal("x12"),
    layout: z
      .enum(x12Layouts)
      .describe("What the sets become: 810 invoices, 832 prices, 820 invoices that were paid."),
    ...origin,
    pick: Pattern.describe("Which files of the folder, one * allowed."),
    x12: X12Options,
    replies: z
      .strictObject({ folder: target.folder, staging: target.staging })
      .optional()
      .describe("Where a 997 is written for each group that was read; left out: none is."),
  })
  .refine(({ layout, x12 }) => layout !== "books.invoices" || x12.ourCode !== undefined, {
    message: "is missing: only invoices that our company issued are taken, and this names it",
    path: ["x12", "ourCode"],
  });

export const X12Sink = withBatches(
  z.strictObject({
    format: z.literal("x12"),
    document: z.enum(x12Documents).describe("What is written: invoices as 810, orders as 850."),
    ...target,
    x12: X12Options,
    ...batches,
    acknowledgements: withDistinctEndings(z.strictObject({ ...folders, pick: Pattern }))
      .optional()
      .describe(
        "Where files of nothing but 997 come from the partner. Left out: they come with the files of the endpoint's x12 sources, or not at all.",
      ),
    acknowledgeWithin: z
      .union([z.literal("never").transform(() => null), HoursOrDays])
      .prefault("24h")
      .describe(
        "A document that the partner has not acknowledged so long after it was sent is work for a person: such as 24h or 3d. never: acknowledgements are not awaited.",
      ),
  }),
);
export type X12Sink = z.infer<typeof X12Sink>;

/* The `files` section of a configuration. */

const ownProfile = (leftOut: string) =>
  text
    .optional()
    .describe(
      `Where things stand in the files: a profile of yours (a path that ends in .yaml), or the name of a shipped one. Left out: ${leftOut}`,
    );

const names = layouts.map(({ name }) => name);

export const TableSource = z
  .strictObject({
    format: z.literal("table").default("table"),
    layout: z.enum(names).describe("What the records of the files are: which mappings take them."),
    profile: ownProfile("the shipped one of the layout."),
    ...origin,
    pick: z
      .union([Pattern, z.record(z.string(), Pattern)])
      .describe("Which files of the folder, one * allowed; per part where an export has several."),
    encoding: z.enum(["auto", "utf-8", "windows-1252", "latin1"]).default("auto"),
    holds: choice(
      ["all", "changes"],
      "Of customers, suppliers, prices and other lists: all, each file is the whole list, and what is missing in it is gone; changes, it has what changed.",
    ),
  })
  .refine(({ layout, profile }) => profile !== undefined || !layout.startsWith("books."), {
    message: "is missing: files of neutral records have no columns of their own; name a profile",
    path: ["profile"],
  })
  // What parts a profile has is known once it is read.
  .refine(({ pick }) => typeof pick === "string" || Object.hasOwn(pick, HEADS), {
    message: `names the part "${HEADS}" at least`,
    path: ["pick"],
  });

export type TableSource = z.infer<typeof TableSource>;

/** The settings of one message of SAP, with the folder that its files come from. */
const idocSource = <S extends z.ZodRawShape>({ shape }: z.ZodObject<S>) =>
  z.strictObject({
    format: z.literal("idoc"),
    ...origin,
    pick: Pattern.describe("Which files of the folder, one * allowed."),
    ...shape,
  });
const IdocSource = z.discriminatedUnion("message", [
  idocSource(DebmasSource),
  idocSource(CremasSource),
  idocSource(CondSource),
]);

/** A source of any format. */
export const SourceConfig = withDistinctEndings(
  z.discriminatedUnion("format", [TableSource, IdocSource, X12Source]),
);
export type SourceConfig = z.infer<typeof SourceConfig>;

export const TableSink = withBatches(
  z.strictObject({
    format: z.literal("table").default("table"),
    document: z.enum(Object.keys(documents) as [DocumentName, ...DocumentName[]]),
    ...target,
    profile: ownProfile("every field, as connectors/files/README.md has them."),
    ...batches,
    spreadsheetSafe: z
      .boolean()
      .optional()
      .describe(
        "Puts an apostrophe before text that a spreadsheet would run as a formula. Left out: not where the profile is of fixed width or says `formulas: plain`, as for IIF.",
      ),
  }),
);
export type TableSink = z.infer<typeof TableSink>;

export const AnswersConfig = z
  .strictObject({
    folder: text.describe("Where SAP puts ALEAUD and STATUS files, from the connector's folder."),
    pick: Pattern.default("*.xml"),
    archive: folders.archive.describe(
      "Where they go when they were read. They are the memory of what SAP answered.",
    ),
    failed: folders.failed,
    withinHours: z
      .int()
      .min(1)
      .max(8760)
      .optional()
      .describe(
        "A document that SAP says nothing of for so long after it was delivered is for a person. Left out: nobody is told.",
      ),
  })
  .describe("What SAP answers. Left out: nobody knows here what SAP did with a document.");
export type AnswersConfig = z.infer<typeof AnswersConfig>;

const idocSink = <S extends z.ZodRawShape>({ shape }: z.ZodObject<S>) =>
  z.strictObject({
    format: z.literal("idoc"),
    ...target,
    ...shape,
    answers: AnswersConfig.optional(),
  });
const IdocSink = z.discriminatedUnion("message", [
  idocSink(InvoicSink),
  idocSink(OrdersSink),
  idocSink(DelvrySink),
]);

/** A sink of any format. */
export const SinkConfig = withDistinctEndings(
  z.discriminatedUnion("format", [TableSink, IdocSink, X12Sink]),
);
export type SinkConfig = z.infer<typeof SinkConfig>;

export const FilesConfig = z.strictObject({
  folder: text.describe(
    "The folder that is shared with the ERP: here, or on the server of `sftp`.",
  ),
  sftp: SftpConfig.optional().describe("The server that has the folder; left out: this machine."),
  sources: z.record(z.string(), SourceConfig).default({}),
  sinks: z.record(z.string(), SinkConfig).default({}),
  settleMs: z
    .int()
    .min(0)
    .max(600_000)
    .default(2000)
    .describe("A file is read when it has not changed for this long."),
  maxBytes: z
    .int()
    .min(1)
    .max(10_000_000_000)
    .default(500_000_000)
    .describe(
      "Larger files are taken for a mistake: they stay, hold back newer ones, and are told.",
    ),
});

export type FilesConfig = z.infer<typeof FilesConfig>;
