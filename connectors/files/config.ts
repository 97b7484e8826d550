/** The `files` section of a configuration. */
import { z } from "zod";
import { repeated } from "../../src/core/company.ts";
import { type DocumentName, documents } from "../../src/formats/documents.ts";
import { IdocSink, IdocSource } from "../../src/formats/idoc/config.ts";
import { layouts } from "../../src/formats/table/layouts/index.ts";
import { distinctEndings, origin, Pattern, target } from "./place.ts";
import { HEADS } from "../../src/formats/table/profile.ts";
import { SftpConfig } from "./folder/sftp-config.ts";
import { X12Sink, X12Source } from "./x12-ends.ts";

const names = layouts.map(({ name }) => name);

export const TableSource = z
  .strictObject({
    format: z.literal("table").default("table"),
    layout: z.enum(names).describe("What the records of the files are: which mappings take them."),
    profile: z
      .string()
      .min(1)
      .optional()
      .describe(
        "Where things stand in the files: a profile of yours (a path that ends in .yaml), or the name of a shipped one. Left out: the shipped one of the layout.",
      ),
    ...origin,
    pick: z
      .union([Pattern, z.record(z.string(), Pattern)])
      .describe("Which files of the folder, one * allowed; per part where an export has several."),
    encoding: z.enum(["auto", "utf-8", "windows-1252", "latin1"]).default("auto"),
    delimiter: z.enum(["auto", ",", ";", "\t", "|"]).default("auto"),
    holds: z
      .enum(["all", "changes"])
      .default("all")
      .describe(
        "Of customers, suppliers, prices and other lists: all, each file is the whole list, and what is missing in it is gone; changes, it has what changed.",
      ),
    labels: z.enum(["en", "de"]).optional().describe("The language of the column labels."),
    decimal: z.enum([".", ","]).optional().describe("Where it is not the language's own."),
  })
  .superRefine(({ layout, profile, pick }, context) => {
    const known = layouts.find(({ name }) => name === layout);
    // What parts a profile of a site has is known once it is read.
    if (known === undefined || profile !== undefined) return;
    if (layout.startsWith("books.")) {
      const message = `is missing: the files of ${layout} have no columns of their own; name a profile`;
      context.addIssue({ code: "custom", path: ["profile"], message });
    }
    const parts = [HEADS, ...known.optional];
    const given = typeof pick === "string" ? [HEADS] : Object.keys(pick);
    const unknown = given.filter((part) => !parts.includes(part));
    if (unknown.length === 0 && given.includes(HEADS)) return;
    const message = `${layout} is picked by the parts ${parts.join(", ")}; "${HEADS}" is needed`;
    context.addIssue({ code: "custom", path: ["pick"], message });
  });

export type TableSource = z.infer<typeof TableSource>;

/** A source of any format. */
export const SourceConfig = z
  .discriminatedUnion("format", [TableSource, IdocSource, X12Source])
  .refine(...distinctEndings);
export type SourceConfig = z.infer<typeof SourceConfig>;

export const TableSink = z
  .strictObject({
    format: z.literal("table").default("table"),
    document: z.enum(Object.keys(documents) as [DocumentName, ...DocumentName[]]),
    ...target,
    profile: z
      .string()
      .min(1)
      .optional()
      .describe(
        "Where things stand in the file: a profile of yours (a path that ends in .yaml), or the name of a shipped one. Left out: every field, as connectors/files/README.md has them.",
      ),
    per: z.enum(["document", "batch"]).default("document").describe("What one file holds."),
    itemsMax: z.int().min(1).max(1000).optional().describe("Documents in one file of a batch."),
    spreadsheetSafe: z
      .boolean()
      .default(true)
      .describe("Puts an apostrophe before text that a spreadsheet would run as a formula."),
    timeZone: repeated("timeZone"),
  })
  .refine(({ per, itemsMax }) => per === "batch" || (itemsMax ?? 1) === 1, {
    message: "more than one document in a file needs per: batch",
    path: ["itemsMax"],
  });
export type TableSink = z.infer<typeof TableSink>;

/** A sink of any format. */
export const SinkConfig = z
  .discriminatedUnion("format", [TableSink, IdocSink, X12Sink])
  .refine(...distinctEndings);
export type SinkConfig = z.infer<typeof SinkConfig>;

export const FilesConfig = z.strictObject({
  folder: z
    .string()
    .min(1)
    .describe("The folder that is shared with the ERP: here, or on the server of `sftp`."),
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
