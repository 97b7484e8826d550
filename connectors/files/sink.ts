/** What the file sink asks of a drop. Everything here throws what the drop throws (`troubleOf`). */
import { randomUUID } from "node:crypto";
import { posix } from "node:path";
import type { SinkConfig } from "./config.ts";
import {
  againAfterCut,
  allOf,
  answerTo,
  type Drop,
  failure,
  orUnavailable,
  type Over,
  SPARED_MS,
  troubleOf,
  unavailable,
  UNMOVED,
} from "./folder/port.ts";
import { checkRoot, type Site } from "./pickup.ts";
import type { Outgoing, Sink } from "../../src/core/contract.ts";
import { defined } from "../../src/core/defined.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import { done, type Finding, keyless, nothingDone, unknown } from "../../src/core/outcome.ts";
import type { Sender } from "../../src/core/notebook.ts";
import { bytesOf, type DocumentWriter } from "../../src/formats/format.ts";
import { manifestText } from "../../src/formats/manifest.ts";

/** Truncates what an interrupted write left, and returns once the disk has the bytes and gives them back. */
export async function writeDurably(
  drop: Drop,
  path: string,
  bytes: Buffer,
  over: Over,
): Promise<void> {
  await drop.write(path, bytes, over);
  if (!drop.isLocal && (await contentAt(drop, path, bytes)) !== "same")
    throw failure("EIO", `${path} did not keep what was written`);
}

type Content = "same" | "other" | "none";

/** Where there is nothing, its folder is there. @throws what the drop throws where it is not */
export async function contentAt(drop: Drop, path: string, bytes: Buffer): Promise<Content> {
  const content = await contentOf(drop, path, bytes);
  return content === "none" ? noneAt(drop, path) : content;
}

/** A link or a folder under the name counts as other content: it is not followed. */
async function contentOf(drop: Drop, path: string, bytes: Buffer): Promise<Content> {
  const there = await drop.read(path, bytes.length);
  if (there === null) return "none";
  return there.bytes?.equals(bytes) === true ? "same" : "other";
}

/** The same of a file that was read back after it was written: its length tells whether it is whole. */
async function lengthAt(drop: Drop, path: string, { length }: Buffer): Promise<Content> {
  const there = await drop.look(path);
  if (there !== null) return there.kind === "file" && there.size === length ? "same" : "other";
  return noneAt(drop, path);
}

async function noneAt(drop: Drop, path: string): Promise<"none"> {
  if ((await drop.look(drop.path.dirname(path))) !== null) return "none";
  throw failure("ENOENT", `the folder of ${path} is not there`);
}

/* The folders of a sink, and the mark in its staging folder that says since when it is that folder. */

/** Of a sink, as the drop calls them. */
type Folders = ReturnType<typeof foldersOf>;

/** Requests under way: so many share the waits for the disk, or for the line to a server. */
const AT_ONCE = 64;

/** In the staging folder, an instant by our clock, and what no other folder's has. */
const MARK = ".since";
const MARKED = /^(\d{4}-\d\d-\d\dT[\d:.]+Z)( [\da-f-]+)?$/;

/** What the notebook calls the instant since when files go to a folder. */
const usedSince = (target: string): string => `files were sent to ${target} since`;

/** What the folder is known by, and since when, ISO 8601 UTC; null: it has no mark. */
async function markOf(drop: Drop, staging: string) {
  const text = (await drop.read(drop.path.join(staging, MARK)))?.bytes?.toString("latin1") ?? "";
  const since = MARKED.exec(text)?.[1];
  return since === undefined ? null : { text, since };
}

/** What a folder was called when its mark was first seen. @throws SourceUnavailable */
async function firstNameOf(
  config: Placing,
  { target, staging }: Folders,
  { drop, notebook }: Site,
): Promise<string> {
  const mark = await orUnavailable(markOf(drop, staging), `cannot read ${staging}`);
  // Beside the folder it moved with it; elsewhere it may serve several folders, and tells if it lies to them as it did.
  const beside = config.staging === undefined ? "" : drop.path.relative(staging, target);
  const name = `the folder of ${mark?.text} ${beside}`.trimEnd();
  const known = notebook?.get(name) ?? null;
  if (known === null) notebook?.set(name, target);
  return known ?? target;
}

/** The marks that are being made. Sinks that share a staging folder share its mark. */
const marking = new WeakMap<Drop, Map<string, Promise<void>>>();

/** Makes the mark of a folder that has none; once, whoever asks meanwhile: two writers of one file spoil it for each other. */
function mark({ drop, now }: Pick<Site, "drop" | "now">, staging: string): Promise<void> {
  const here = marking.get(drop) ?? new Map<string, Promise<void>>();
  marking.set(drop, here);
  const make = async (): Promise<void> => {
    if ((await markOf(drop, staging)) !== null) return;
    const text = `${now().toISOString()} ${randomUUID()}`;
    await drop.write(drop.path.join(staging, MARK), Buffer.from(text), "any");
  };
  const made = here.get(staging) ?? make().finally(() => here.delete(staging));
  here.set(staging, made);
  return made;
}

/**
 * The staging folder that files went by must be there: the share that it is on may be missing, and what is written in its
 * place would be delivered where nobody looks. @throws SourceUnavailable where it is gone; what the drop throws
 */
export async function expectStaged(
  { target, staging }: Folders,
  { drop, notebook }: Pick<Site, "drop" | "notebook">,
): Promise<void> {
  const since = notebook?.get(usedSince(target)) ?? null;
  if (since !== null && (await drop.look(staging)) === null)
    throw new SourceUnavailable(`${staging} is gone, which was there on ${since.slice(0, 10)}`, {
      next: `Mount the share that it is on. Only if ${target} is a new folder, and the ERP has taken all files of the old one, create ${staging}.`,
    });
}

/**
 * What makes the folders, and says why it cannot; on this machine they are made at once, until `settled`. The connector's own
 * folder is never made, and one of a sink that was there and is gone is not made anew, after a restart neither
 * ({@link expectStaged}).
 */
function makingFolders(
  folders: Folders,
  site: Site,
): { readonly ready: () => Promise<void>; readonly settled: Promise<void> } {
  const { target, staging } = folders;
  const { drop } = site;
  let isMade = false;
  let making: Promise<void> | null = null;
  const make = async (): Promise<void> => {
    try {
      await checkRoot(drop);
      await expectStaged(folders, site);
      await drop.makeFolder(target);
      await drop.makeFolder(staging);
      await mark(site, staging);
      isMade = true;
    } catch (error) {
      const [above, beside] = [target, staging].map((path) => drop.path.dirname(path));
      const missing = await missingTo(drop, { target: beside ?? "", staging: above ?? "" });
      throw unavailable(error, `cannot create ${target} or ${staging}`, missing);
    } finally {
      making = null;
    }
  };
  const ready = async (): Promise<void> => {
    if (!isMade) await (making ??= make());
  };
  const settled =
    drop.isLocal && site.looking !== true
      ? ready().catch((error: unknown) =>
          site.note("folder not created", { folder: target, detail: (error as Error).message }),
        )
      : Promise.resolve();
  return { ready, settled };
}

/** So long a look at who else sends counts for all that is sent meanwhile. */
const CLAIMED_MS = 100;

/**
 * Before a file is sent, each tenth of a second: who sent here last? Then this process says that it does. A store that was set back
 * together with its machine learns so that more was sent than it knows, and of two that run at once the first one stops.
 */
function claiming(site: Site): (staging: string) => Promise<void> {
  const { drop, sender, notebook } = site;
  /** `untilMs`: it counts until then, and at least until it is done; a second one would write the same file meanwhile. */
  const looks = new Map<string, { untilMs: number; readonly look: Promise<void> }>();
  const ours = new Set<string>();
  const look = async (staging: string, { store, says, whose }: Sender): Promise<void> => {
    const path = drop.path.join(staging, `.sender-${store}`);
    const said = (await drop.read(path, 1_000))?.bytes?.toString("latin1") ?? "";
    const last = whose(said);
    if (ours.delete(staging) && last !== "ours" && last !== null)
      throw new SourceUnavailable(`another process sends from a copy of this store: ${path}`, {
        stop: "split-brain",
        next: "Find the other machine or state folder that runs for this company and stop it; then `fuelbridge release split-brain`.",
      });
    const told = `restored by ${path}`;
    if (last === "ahead" && notebook?.get(told) !== said) {
      notebook?.set(told, said);
      throw new SourceUnavailable(`more was sent than this store knows: ${path}`, {
        stop: "restored",
        next: "See `fuelbridge status`.",
      });
    }
    await drop.write(path, Buffer.from(says(site.now())), "any");
    ours.add(staging);
  };
  return (staging) => {
    if (sender === undefined) return Promise.resolve();
    const untilMs = performance.now() + CLAIMED_MS;
    const before = looks.get(staging);
    if (before !== undefined && performance.now() < before.untilMs) return before.look;
    const done = (): void => void (one.untilMs = untilMs);
    const one = { untilMs: Infinity, look: look(staging, sender).finally(done) };
    looks.set(staging, one);
    return one.look;
  };
}

/*
 * Delivers documents as files into a folder that an ERP watches. A file is written and checked in the staging folder and
 * moved in whole; nothing partial is ever under a name that the ERP looks for. The move is atomic, and its proof is the
 * staging file: it is ours alone, so once it is gone the file was delivered, even when the ERP has already taken it.
 */

/** Another writer took the name: that is for a person, and everything stops until somebody looked. */
const OTHERS_FILE = { person: "now", stop: "split-brain" } as const;

export interface FileSink extends Sink {
  /** Its folders are there, or could be made, and can be written to. @throws SourceUnavailable naming what cannot */
  check(): Promise<void>;
  /** Its folders are no longer being made, and nothing is told of them any more. */
  close(): Promise<void>;
}

/** Where the files of a sink go. */
type Placing = Pick<SinkConfig, "folder" | "staging" | "marker" | "manifest">;

/**
 * What a writer makes of documents, delivered as files. Folders that are missing are created: at once on this machine, else
 * before the first document. Where that fails it is tried again before each document, whose trouble is then that one and
 * not the missing folder that follows from it.
 */
export function fileSink(config: Placing, site: Site, writer: DocumentWriter): FileSink {
  const { drop } = site;
  const { concerns, skips, inspect, sequence, acknowledged } = writer;
  const folders = foldersOf(config, (path) => drop.at(path));
  const { ready, settled } = makingFolders(folders, site);
  const claim = claiming(site);
  let isNoted = false;
  const noteUse = (): void => {
    if (isNoted) return;
    const name = usedSince(folders.target);
    if (site.notebook?.get(name) === null) site.notebook.set(name, site.now().toISOString());
    isNoted = true;
  };
  const idsOf = (request: Outgoing): readonly string[] =>
    writer.idsOf?.(request) ?? pathsOf(request);
  const placesOf = (request: Outgoing) => placesIn(config, site, writer, request);
  return {
    operation: writer.operation,
    writes: writer.writes,
    itemsMax: writer.itemsMax,
    atOnce: AT_ONCE,
    // A disk tells the truth at once, so one look settles what is unknown, and the same file may always be moved again.
    policy: keyless,
    ...defined({ concerns, skips, inspect, sequence, acknowledged }),
    close: () => settled,

    async check() {
      await ready();
      try {
        for (const folder of [folders.target, folders.staging])
          if (!(await drop.rights.expectWritable(folder)))
            throw failure("ENOENT", `the folder ${folder} is not there`);
        await drop.rights.expectTogether(folders.target, folders.staging);
      } catch (error) {
        throw unavailable(error, `cannot write to ${folders.target}`);
      }
    },

    freeze: (items, number) => ({
      target: posix.join(config.folder.replaceAll("\\", "/"), writer.nameOf(items, number)),
      body: writer.textOf(items, number),
    }),

    async place() {
      await ready();
      return firstNameOf(config, folders, site);
    },

    async prepare(request) {
      await ready();
      noteUse();
      const what = `cannot make the manifest of ${request.target}`;
      const { staging, files } = await orUnavailable(placesOf(request), what);
      await orUnavailable(claim(staging), `cannot say in ${staging} who sends`);
      const wasSent = request.firstSentAt !== null;
      const staged = files.map(async ({ part, bytes }) => {
        try {
          // A staging file that is gone after a send was delivered: writing it anew would deliver it again.
          if (wasSent && (await contentAt(drop, part, bytes)) !== "other") return;
          await writeDurably(drop, part, bytes, wasSent ? "existing" : "any");
          await drop.syncFolder(staging);
        } catch (error) {
          throw unavailable(error, `cannot write ${part}`, await missingTo(drop, folders));
        }
      });
      await allOf(staged);
    },

    async send(request) {
      let moved: "not" | "maybe" | "first" = "not";
      try {
        const { folder, staging, files } = await placesOf(request);
        const found = await allOf(
          files.map(({ part, final, bytes }) =>
            allOf([contentOf(drop, final, bytes), lengthAt(drop, part, bytes)]),
          ),
        );
        for (const [index, { part, final }] of files.entries()) {
          const [there, staged] = found[index] as (typeof found)[number];
          if (there === "other")
            return unknown(`${final} is there with other content`, OTHERS_FILE);
          if (there === "same") await drop.remove(part);
          else {
            if (staged === "other") return nothingDone(`${part} is not complete`);
            // Looked for, then renamed: link and unlink would refuse by themselves to overwrite, but leave a moment in
            // which the ERP can take the file while the staging file still says that it was not delivered.
            if (staged === "same") {
              if (moved === "not") moved = "maybe";
              await moveOnce(drop, part, final);
            } else {
              await noneAt(drop, final);
              // The ERP may have taken the file before its manifest or marker was moved after it.
              if (!found.slice(index + 1).some(([, later]) => later !== "none"))
                return unknown(`${part} is gone`, { holdMs: SPARED_MS });
            }
          }
          moved = "first";
        }
        await drop.syncFolder(folder);
        await drop.syncFolder(staging);
        return done(`moved to ${files[0].final}`, idsOf(request));
      } catch (error) {
        if (moved === "first") return unknown(troubleOf(error).detail, { holdMs: SPARED_MS });
        return answerTo(error, moved === "maybe", await missingTo(drop, folders));
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
          const mark = await markOf(drop, staging);
          // A new folder, or a disk that is not the one we wrote to, knows nothing of this file.
          if (mark === null || mark.since > request.firstSentAt)
            return { found: "unreadable", detail: `${staging} was made after this file was sent` };
        }
        return { found: "exact", ids: idsOf(request), detail: `${files[0].final} was delivered` };
      } catch (error) {
        return { found: "unreadable", detail: troubleOf(error).detail };
      }
    },
  };
}

/** Advice for the first right that is missing to write in these folders; null: none is, as far as can be asked. */
const missingTo = (drop: Drop, { target, staging }: Folders): Promise<string | null> =>
  drop.rights.missing([staging, target].map((path) => ({ path, rights: ["x", "w"] })));

/**
 * What is in the staging folder is ours alone. So where the line was cut and the file is gone from there, it was moved; and
 * while it lies there it may be moved again, for one of two moves finds nothing any more. Where the server answered that it
 * failed, and the file lies there and not in the target, nothing was moved, and the next file fares no better.
 */
const moveOnce = (drop: Drop, part: string, final: string): Promise<void> =>
  againAfterCut(
    () => drop.move(part, final),
    async () => {
      if ((await drop.look(part)) !== null) await drop.move(part, final);
    },
  ).catch(async (error: unknown) => {
    if ((error as { code?: unknown }).code !== "EFAILED") throw error;
    const lies = await allOf([drop.look(part), drop.look(final)]).then(
      ([staged, there]) => staged !== null && there === null,
      () => false,
    );
    throw lies ? failure(UNMOVED, `the server did not move ${part} to ${final}`, error) : error;
  });

interface Placed {
  readonly part: string;
  readonly final: string;
  readonly bytes: Buffer;
}

/** The file of a request, then its manifest and its marker where it has any, in the order in which they are moved. */
async function placesIn(
  config: Placing,
  { drop }: Site,
  writer: DocumentWriter,
  { target, body, items }: Outgoing,
): Promise<{ folder: string; staging: string; files: readonly [Placed, ...Placed[]] }> {
  const name = posix.basename(target);
  // Where they are now, if they have moved since it was frozen (Sink.place).
  const { target: folder, staging } = foldersOf(config, (path) => drop.at(path));
  const placed = (name: string, bytes: Buffer): Placed => ({
    part: drop.path.join(staging, `${name}.part`),
    final: drop.path.join(folder, name),
    bytes,
  });
  const bytes = bytesOf(body, writer.encoding);
  const file = placed(name, bytes);
  const beside: Placed[] = [];
  const add = (ending: string, text: string): void =>
    void beside.push(placed(`${name}${ending}`, Buffer.from(text)));
  if (config.manifest !== undefined) {
    const totals = (await writer.totalsOf?.(name, body)) ?? null;
    add(config.manifest, manifestText({ name, bytes }, items.length, totals));
  }
  if (config.marker !== undefined)
    add(config.marker, manifestText({ name, bytes }, items.length, null));
  return { folder, staging, files: [file, ...beside] };
}

/**
 * Staging is beside the target by default, so that a file is moved and not copied. `at`: what a path of the
 * configuration is.
 */
export function foldersOf(
  { folder, staging }: Pick<SinkConfig, "folder" | "staging">,
  at: (path: string) => string,
) {
  const target = at(folder);
  return { target, staging: staging === undefined ? `${target}.staging` : at(staging) };
}

/** The file; in one with several documents, each by its own id in it. */
const pathsOf = ({ target, items }: Outgoing): string[] =>
  items.map(({ id }) => (items.length === 1 ? target : `${target}#${id}`));
