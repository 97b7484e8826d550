/**
 * Delivers documents as files into a folder that an ERP watches. A file is written and checked in `<folder>.staging`
 * and moved in whole; nothing partial is ever under a name that the ERP looks for. The move is atomic, and its proof is
 * the staging file: it is ours alone, so once it is gone the file was delivered, even when the ERP has already taken it.
 */
import { hash } from "node:crypto";
import { constants, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { access, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, posix, resolve } from "node:path";
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
import { contentAt, exists, syncFolder, writeDurably } from "./disk.ts";
import { type DocumentName, documents } from "./documents.ts";
import { answerTo, SPARED_MS, troubleOf, unavailable } from "./trouble.ts";
import { bytesOf } from "./bytes.ts";
import { openProfile } from "./profile-open.ts";
import { writeDocuments, type Writing } from "./write.ts";

export const SinkConfig = z
  .strictObject({
    document: z.enum(Object.keys(documents) as [DocumentName, ...DocumentName[]]),
    folder: z
      .string()
      .min(1)
      .describe("Where the ERP looks for files, from the connector's folder."),
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
export type SinkConfig = z.infer<typeof SinkConfig>;

const BATCH_ITEMS_MAX = 200;
const NAME_MAX = 100;

/** A disk tells the truth at once, so one look settles what is unknown, and the same file may always be moved again. */
const POLICY: Policy = keyless;

/** Another writer took the name: that is for a person, and everything stops until somebody looked. */
const OTHERS_FILE = { person: "now", stop: "split-brain" } as const;

/**
 * Folders that are missing are created here. Where that fails it is tried again before each document, whose trouble is
 * then that one and not the missing folder that follows from it.
 */
export function openSinks(
  sinks: Readonly<Record<string, SinkConfig>>,
  folder: string,
  surroundings: Surroundings,
): Record<string, Sink> {
  return Object.fromEntries(
    Object.entries(sinks).map(([name, config]) => {
      const folders = makingFolders(resolve(folder, config.folder), surroundings);
      return [name, fileSink(config, folder, surroundings, folders)];
    }),
  );
}

/** Every folder can be written to. @throws SourceUnavailable naming the first that cannot. */
export async function checkSinks(
  sinks: Readonly<Record<string, SinkConfig>>,
  folder: string,
): Promise<void> {
  for (const config of Object.values(sinks)) {
    const target = resolve(folder, config.folder);
    try {
      await access(target, constants.W_OK | constants.X_OK);
      await access(stagingOf(target), constants.W_OK | constants.X_OK);
      if ((await stat(target)).dev !== (await stat(stagingOf(target))).dev)
        throw Object.assign(new Error(`EXDEV: ${target} is a file system of its own`), {
          code: "EXDEV",
        });
    } catch (error) {
      throw unavailable(error, `cannot write to ${target}`);
    }
  }
}

function fileSink(
  config: SinkConfig,
  folder: string,
  surroundings: Surroundings,
  expectFolders: () => void,
): Sink {
  const writing = writingOf(config, surroundings);
  const { encoding, ending } = writing.profile;
  const where = (request: Outgoing) => {
    const final = resolve(folder, request.target);
    const staging = stagingOf(dirname(final));
    return { final, staging, part: join(staging, `${basename(final)}.part`) };
  };
  return {
    operation: documents[config.document].operation,
    writes: "upsert",
    itemsMax: config.per === "batch" ? (config.itemsMax ?? BATCH_ITEMS_MAX) : 1,
    policy: POLICY,

    freeze: (items) => ({
      target: posix.join(config.folder.replaceAll("\\", "/"), nameOf(config, items, ending)),
      body: writeDocuments(
        config.document,
        items.map((item) => item.document),
        writing,
      ),
    }),

    async prepare(request) {
      const { staging, part } = where(request);
      expectFolders();
      try {
        // A staging file that is gone after a send was delivered: writing it anew would deliver it again.
        if (request.firstSentAt !== null && !(await exists(part))) return;
        await writeDurably(part, bytesOf(request.body, encoding));
        await syncFolder(staging);
      } catch (error) {
        throw unavailable(error, `cannot write ${part}`);
      }
    },

    async send(request) {
      const { final, staging, part } = where(request);
      const bytes = bytesOf(request.body, encoding);
      try {
        const there = await contentAt(final, bytes);
        if (there === "other") return unknown(`${final} is there with other content`, OTHERS_FILE);
        if (there === "none") {
          const staged = await contentAt(part, bytes);
          if (staged === "none") return unknown(`${part} is gone`, { holdMs: SPARED_MS });
          if (staged === "other") return nothingDone(`${part} is not complete`);
          // Checked, then renamed: link and unlink would refuse by themselves to overwrite, but leave a moment in which
          // the ERP can take the file while the staging file still says that it was not delivered.
          await rename(part, final);
        } else await rm(part, { force: true });
        await syncFolder(dirname(final));
        await syncFolder(staging);
        return done(`moved to ${final}`, idsOf(request));
      } catch (error) {
        return answerTo(error);
      }
    },

    forgets: true,
    async find(request): Promise<Finding> {
      const { final, staging, part } = where(request);
      try {
        const there = await contentAt(final, bytesOf(request.body, encoding));
        if (there === "other") return { found: "different", detail: `${final} has other content` };
        if (there === "same") return exact(request, `${final} is there`);
        if (await exists(part)) return { found: "none", detail: `${part} was not moved` };
        if (request.firstSentAt === null) return { found: "none", detail: "never sent" };
        const since = await readFile(join(staging, MARK), "utf8");
        // A new folder, or a disk that is not the one we wrote to, knows nothing of this file.
        if (since > request.firstSentAt)
          return { found: "unreadable", detail: `${staging} was made after this file was sent` };
        return exact(request, `${basename(final)} was delivered and taken`);
      } catch (error) {
        return { found: "unreadable", detail: troubleOf(error).detail };
      }
    },
  };
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
const exact = (request: Outgoing, detail: string): Finding => ({
  found: "exact",
  ids: idsOf(request),
  detail,
});

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

/** Beside the target and on its file system, so that a file is moved and not copied. */
export const stagingOf = (target: string): string => `${target}.staging`;

/** In the staging folder: since when it is this folder, by our clock. */
const MARK = ".since";

/**
 * Makes the folders. Returns what makes them where they could not be made before, and says why they cannot.
 * A folder that was there and is gone is not made anew: the share that it is on may be missing.
 */
function makingFolders(target: string, surroundings: Surroundings): () => void {
  let isMade = false;
  const make = (): void => {
    if (isMade) return;
    try {
      mkdirSync(target, { recursive: true });
      mkdirSync(stagingOf(target), { recursive: true });
      const mark = join(stagingOf(target), MARK);
      if (!existsSync(mark)) writeFileSync(mark, surroundings.now().toISOString(), { flag: "wx" });
    } catch (error) {
      throw unavailable(error, `cannot create ${target} or ${stagingOf(target)}`);
    }
    isMade = true;
  };
  if (surroundings.looking === true) return make;
  try {
    make();
  } catch (error) {
    surroundings.note("folder not created", {
      folder: target,
      detail: (error as Error).message,
    });
  }
  return make;
}
