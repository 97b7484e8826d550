/** Settings that sources and sinks of every format have: where their files lie and how they are called. */
import { z } from "zod";

const Marker = z.string().regex(/^\.[A-Za-z0-9]{1,16}$/, "is an ending like .ok");

/** For `refine`, wherever {@link origin}, {@link folders} or {@link target} is: marker and manifest have two names. */
export const distinctEndings: [
  (one: {
    readonly marker?: string | undefined;
    readonly manifest?: string | undefined;
  }) => boolean,
  { readonly message: string; path: string[] },
] = [
  ({ marker, manifest }) => marker === undefined || marker !== manifest,
  { message: "is the marker's ending, too", path: ["manifest"] },
];

export const Pattern = z
  .string()
  .min(1)
  .max(120)
  .refine((text) => text.split("*").length <= 2, "may have one * only")
  .refine((text) => !/[/\\]/.test(text), "is a file name, not a path");

/** Where files are read from, and where they go then. */
export const folders = {
  folder: z.string().min(1).default(".").describe("Where they are, from the connector's folder."),
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
  failed: z.string().min(1).default("failed").describe("Where files go that need a person."),
};

/** The same of a source: something is to come into it from time to time. */
export const origin = {
  ...folders,
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
};

/** Where files are written. */
export const target = {
  folder: z.string().min(1).describe("Where the ERP looks for files, from the connector's folder."),
  staging: z
    .string()
    .min(1)
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
