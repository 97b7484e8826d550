/**
 * Delivers documents as files into a folder that an ERP watches. A file is written and checked in the staging folder and
 * moved in whole; nothing partial is ever under a name that the ERP looks for. The move is atomic, and its proof is the
 * staging file: it is ours alone, so once it is gone the file was delivered, even when the ERP has already taken it.
 */
import { hash } from "node:crypto";
import { posix } from "node:path";
import { z } from "zod";
import { repeated } from "../../src/core/company.ts";
import type { Item, Outgoing, Sink, Surroundings } from "../../src/core/contract.ts";
import {
  done,
  type Finding,
  keyless,
  nothingDone,
  type Policy,
  unknown,
} from "../../src/core/outcome.ts";
import { contentAt, writeDurably } from "./disk.ts";
import { type DocumentName, documents } from "./documents.ts";
import { type Drop, failure, type Site } from "./drop.ts";
import { type Folders, makingFolders, markedSince } from "./staging.ts";
import { answerTo, SPARED_MS, troubleOf, unavailable } from "./trouble.ts";
import { bytesOf } from "./bytes.ts";
import { manifestText } from "./manifest.ts";
import { openProfile } from "./profile-open.ts";
import { writeDocuments, type Writing } from "./write.ts";

export const Marker = z.string().regex(/^\.[A-Za-z0-9]{1,16}$/, "is an ending like .ok");

export const SinkConfig = z
  .strictObject({
    document: z.enum(Object.keys(documents) as [DocumentName, ...DocumentName[]]),
    folder: z
      .string()
      .min(1)
      .describe("Where the ERP looks for files, from the connector's folder."),
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
  })
  .refine(({ marker, manifest }) => marker === undefined || marker !== manifest, {
    message: "is the marker's ending, too",
    path: ["manifest"],
  });
export type SinkConfig = z.infer<typeof SinkConfig>;

const BATCH_ITEMS_MAX = 200;
const NAME_MAX = 100;

/** A disk tells the truth at once, so one look settles what is unknown, and the same file may always be moved again. */
const POLICY: Policy = keyless;

/** Another writer took the name: that is for a person, and everything stops until somebody looked. */
const OTHERS_FILE = { person: "now", stop: "split-brain" } as const;

export interface FileSink extends Sink {
  /** Makes the folders where they could not be made before. @throws SourceUnavailable */
  ready(): Promise<void>;
}

/**
 * Folders that are missing are created: at once on this machine, else before the first document. Where that fails it is
 * tried again before each document, whose trouble is then that one and not the missing folder that follows from it.
 */
export function openSinks(
  sinks: Readonly<Record<string, SinkConfig>>,
  site: Site,
): Record<string, FileSink> {
  return Object.fromEntries(
    Object.entries(sinks).map(([name, config]) => [name, fileSink(config, site)]),
  );
}

/** Every folder can be written to. @throws SourceUnavailable naming the first that cannot. */
export async function checkSinks(
  sinks: Readonly<Record<string, SinkConfig>>,
  { drop }: Pick<Site, "drop">,
): Promise<void> {
  for (const config of Object.values(sinks)) {
    const { target, staging } = foldersOf(config, (path) => drop.at(path));
    try {
      for (const folder of [target, staging])
        if (!(await drop.rights.expectWritable(folder)))
          throw failure("ENOENT", `the folder ${folder} is not there`);
      await drop.rights.expectTogether(target, staging);
    } catch (error) {
      throw unavailable(error, `cannot write to ${target}`);
    }
  }
}

function fileSink(config: SinkConfig, site: Site): FileSink {
  const { drop } = site;
  const writing = writingOf(config, site);
  const { ending } = writing.profile;
  const folders = foldersOf(config, (path) => drop.at(path));
  const ready = makingFolders(folders, site);
  const placesOf = (request: Outgoing) => placesIn(config, site, writing, request);
  return {
    operation: documents[config.document].operation,
    writes: "upsert",
    itemsMax: config.per === "batch" ? (config.itemsMax ?? BATCH_ITEMS_MAX) : 1,
    policy: POLICY,
    ready,

    freeze: (items) => ({
      target: posix.join(config.folder.replaceAll("\\", "/"), nameOf(config, items, ending)),
      body: writeDocuments(
        config.document,
        items.map((item) => item.document),
        writing,
      ),
    }),

    async prepare(request) {
      await ready();
      const { staging, files } = await placesOf(request).catch((error: unknown) => {
        throw unavailable(error, `cannot make the manifest of ${request.target}`);
      });
      for (const { part, bytes } of files)
        try {
          const wasSent = request.firstSentAt !== null;
          // A staging file that is gone after a send was delivered: writing it anew would deliver it again.
          if (wasSent && (await contentAt(drop, part, bytes)) !== "other") continue;
          await writeDurably(drop, part, bytes, wasSent ? "existing" : "any");
          await drop.syncFolder(staging);
        } catch (error) {
          throw unavailable(error, `cannot write ${part}`);
        }
    },

    async send(request) {
      let moved: "not" | "maybe" | "first" = "not";
      try {
        const { folder, staging, files } = await placesOf(request);
        for (const [index, { part, final, bytes }] of files.entries()) {
          const there = await contentAt(drop, final, bytes);
          if (there === "other")
            return unknown(`${final} is there with other content`, OTHERS_FILE);
          if (there === "same") await drop.remove(part);
          else {
            const staged = await contentAt(drop, part, bytes);
            if (staged === "other") return nothingDone(`${part} is not complete`);
            // Looked for, then renamed: link and unlink would refuse by themselves to overwrite, but leave a moment in
            // which the ERP can take the file while the staging file still says that it was not delivered.
            if (staged === "same") {
              if (moved === "not") moved = "maybe";
              await drop.move(part, final);
            }
            // The ERP may have taken the file before its manifest or marker was moved after it.
            else if (!(await isAnyStaged(drop, files.slice(index + 1))))
              return unknown(`${part} is gone`, { holdMs: SPARED_MS });
          }
          moved = "first";
        }
        await drop.syncFolder(folder);
        await drop.syncFolder(staging);
        return done(`moved to ${files[0].final}`, idsOf(request));
      } catch (error) {
        if (moved === "first") return unknown(troubleOf(error).detail, { holdMs: SPARED_MS });
        return answerTo(error, moved === "maybe");
      }
    },

    forgets: true,
    async find(request): Promise<Finding> {
      try {
        await ready();
        const { staging, files } = await placesOf(request);
        for (const { part, final, bytes } of files) {
          const there = await contentAt(drop, final, bytes);
          if (there === "other")
            return { found: "different", detail: `${final} has other content` };
          if (there === "same") continue;
          if ((await drop.look(part)) !== null)
            return { found: "none", detail: `${part} was not moved` };
          if (request.firstSentAt === null) return { found: "none", detail: "never sent" };
          const since = await markedSince(drop, staging);
          // A new folder, or a disk that is not the one we wrote to, knows nothing of this file.
          if (since === null || since > request.firstSentAt)
            return { found: "unreadable", detail: `${staging} was made after this file was sent` };
        }
        return { found: "exact", ids: idsOf(request), detail: `${files[0].final} was delivered` };
      } catch (error) {
        return { found: "unreadable", detail: troubleOf(error).detail };
      }
    },
  };
}

async function isAnyStaged(drop: Drop, files: readonly Placed[]): Promise<boolean> {
  for (const { part } of files) if ((await drop.look(part)) !== null) return true;
  return false;
}

interface Placed {
  readonly part: string;
  readonly final: string;
  readonly bytes: Buffer;
}

/** The file of a request, then its manifest and its marker where it has any, in the order in which they are moved. */
async function placesIn(
  config: SinkConfig,
  { drop }: Site,
  writing: Writing,
  { target, body, items }: Outgoing,
): Promise<{ folder: string; staging: string; files: readonly [Placed, ...Placed[]] }> {
  const { encoding } = writing.profile;
  const name = posix.basename(target);
  // The folder that it was frozen for.
  const frozen = { ...config, folder: posix.dirname(target) };
  const { target: folder, staging } = foldersOf(frozen, (path) => drop.at(path));
  const placed = (name: string, text: string): Placed => ({
    part: drop.path.join(staging, `${name}.part`),
    final: drop.path.join(folder, name),
    bytes: bytesOf(text, encoding),
  });
  const file = placed(name, body);
  const { bytes } = file;
  const beside: Placed[] = [];
  const add = (ending: string, text: string): void =>
    void beside.push({ ...placed(`${name}${ending}`, text), bytes: Buffer.from(text) });
  if (config.manifest !== undefined)
    add(config.manifest, await manifestText(writing, { name, bytes, body }, items.length));
  if (config.marker !== undefined) {
    const sha256 = hash("sha256", bytes, "hex");
    const told = { file: name, bytes: bytes.length, sha256, documents: items.length };
    add(config.marker, `${JSON.stringify(told)}\n`);
  }
  return { folder, staging, files: [file, ...beside] };
}

/**
 * Staging is beside the target by default, so that a file is moved and not copied. `at`: what a path of the
 * configuration is.
 */
export function foldersOf(
  { folder, staging }: Pick<SinkConfig, "folder" | "staging">,
  at: (path: string) => string,
): Folders {
  const target = at(folder);
  return { target, staging: staging === undefined ? `${target}.staging` : at(staging) };
}

/** @throws InvalidProfile */
export const writingOf = (
  { document, profile, spreadsheetSafe }: SinkConfig,
  { folder, dayOf }: Pick<Surroundings, "folder" | "dayOf">,
): Writing => ({
  profile: openProfile(profile ?? `files/${document}`, folder),
  spreadsheetSafe,
  dayOf,
});

/** The file; in one with several documents, each by its own id in it. */
const idsOf = ({ target, items }: Outgoing): string[] =>
  items.map(({ id }) => (items.length === 1 ? target : `${target}#${id}`));
/** Follows from number, id and revision alone; characters that are safe on every file system and in every shell. */
function nameOf(config: SinkConfig, items: readonly Item[], ending: string): string {
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
