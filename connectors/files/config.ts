/** The `files` section of a configuration. */
import { z } from "zod";
import { layouts } from "./layouts/index.ts";
import { HEADS } from "./profile.ts";
import { SftpConfig } from "./sftp/config.ts";
import { Marker, SinkConfig } from "./sink.ts";

const names = layouts.map(({ name }) => name);

const Pattern = z
  .string()
  .min(1)
  .max(120)
  .refine((text) => text.split("*").length <= 2, "may have one * only")
  .refine((text) => !/[/\\]/.test(text), "is a file name, not a path");

export const SourceConfig = z
  .strictObject({
    layout: z.enum(names).describe("What the records of the files are: which mappings take them."),
    profile: z
      .string()
      .min(1)
      .optional()
      .describe(
        "Where things stand in the files: a profile of yours (a path that ends in .yaml), or the name of a shipped one. Left out: the shipped one of the layout.",
      ),
    folder: z.string().min(1).default(".").describe("Where they are, from the connector's folder."),
    pick: z
      .union([Pattern, z.record(z.string(), Pattern)])
      .describe("Which files of the folder, one * allowed; per part where an export has several."),
    encoding: z.enum(["auto", "utf-8", "windows-1252", "latin1"]).default("auto"),
    delimiter: z.enum(["auto", ",", ";", "\t", "|"]).default("auto"),
    labels: z.enum(["en", "de"]).optional().describe("The language of the column labels."),
    decimal: z.enum([".", ","]).optional().describe("Where it is not the language's own."),
    marker: Marker.optional().describe(
      "A file is read when a file with this ending more lies beside it: .ok. Left out: none is asked for.",
    ),
    manifest: Marker.optional().describe(
      "Beside each file lies its manifest, under its name with this ending more: .manifest. A file that does not agree with it is not read. Left out: none is asked for.",
    ),
    archive: z.string().min(1).default("archive").describe("Where files go that were read."),
    keepDays: z
      .int()
      .min(1)
      .max(36_500)
      .optional()
      .describe(
        "Files that were read are put into one folder a day, and deleted after so many days. Left out: they are kept.",
      ),
    silence: z
      .union([
        z.literal("off"),
        z
          .string()
          .regex(/^[1-9]\d{0,3}[hd]$/, "is a number of hours or days: 36h, 2d")
          .transform(
            (text) => Number(text.slice(0, -1)) * (text.endsWith("d") ? 86_400_000 : 3_600_000),
          ),
      ])
      .optional()
      .describe(
        "A person is told when no file came for so long: 36h, 2d. Left out: for longer than ever before. off: never.",
      ),
    failed: z.string().min(1).default("failed").describe("Where files go that need a person."),
  })
  .superRefine(({ layout, profile, pick, marker, manifest }, context) => {
    if (marker !== undefined && marker === manifest)
      context.addIssue({
        code: "custom",
        path: ["manifest"],
        message: "is the marker's ending, too",
      });
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

export type SourceConfig = z.infer<typeof SourceConfig>;

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
