/** What a `files` endpoint can be read from and written to, and the folders that this takes: told from its settings. */
import { relative, resolve } from "node:path";
import type { FilesConfig, SinkConfig, SourceConfig, TableSource, X12Sink } from "./config.ts";
import { type Drop, failure, isRightMissing, troubleOf, type Wanted } from "./folder/port.ts";
import { foldersOf } from "./sink.ts";
import { sinkForm, sourceForm } from "./source.ts";
import type { FolderNeed, Offer, OfferComplaint, Offers } from "../../src/core/contract.ts";
import type { Examination, Needs } from "../../src/core/examination.ts";
import type { Fault } from "../../src/core/fault.ts";
import { InvalidProfile, openProfile } from "../../src/formats/table/profile-load.ts";
import { partsOf, type Profile } from "../../src/formats/table/profile.ts";

/** Folders on a server need no right on this machine. */
export function offersOf({ folder, sftp, sources, sinks }: FilesConfig, base: string): Offers {
  const root = sftp === undefined ? resolve(base, folder) : null;
  return {
    sources: mapped(sources, (name, source) => sourceOffer(name, source, root)),
    sinks: mapped(sinks, (name, sink) => sinkOffer(name, sink, root)),
    complaints: [
      ...Object.entries(sources).flatMap(([name, source]) => {
        if (source.format !== "table") return [];
        const { layout, profile = layout, pick } = source;
        return complaintsOf(["sources", name], profile, base, layout, pick);
      }),
      ...Object.entries(sinks).flatMap(([name, sink]) => {
        if (sink.format === "x12") return unheard(name, sink, Object.values(sources));
        if (sink.format !== "table") return [];
        const { document, profile = `files/${document}` } = sink;
        return complaintsOf(["sinks", name], profile, base, `files.${document}`, {});
      }),
    ],
  };
}

/** Every document would be work for a person, because nobody reads what the partner says of it. */
function unheard(
  name: string,
  { acknowledgements, acknowledgeWithin }: X12Sink,
  sources: readonly SourceConfig[],
): OfferComplaint[] {
  const isHeard = acknowledgements !== undefined || sources.some(({ format }) => format === "x12");
  if (isHeard || acknowledgeWithin === null) return [];
  return [
    {
      setting: ["sinks", name, "acknowledgements"],
      message:
        "is missing: nothing reads the partner's 997, and each document is to be acknowledged",
      remedy: "Set the folder that they come in, or acknowledgeWithin: never.",
    },
  ];
}

/** What is wrong with a profile, and with it in this place. */
function complaintsOf(
  setting: readonly string[],
  name: string,
  base: string,
  layout: string,
  pick: TableSource["pick"],
): OfferComplaint[] {
  let profile: Profile;
  try {
    profile = openProfile(name, base);
  } catch (error) {
    if (!(error instanceof InvalidProfile)) throw error;
    return error.problems.map(({ line, column, setting: at, message, remedy }) => ({
      setting: [...setting, "profile"],
      message: `${error.file}:${line}:${column} ${at === "" ? "" : `${at}: `}${message}`,
      remedy,
    }));
  }
  const say = (at: string, message: string, remedy: string): OfferComplaint[] => [
    { setting: [...setting, at], message, remedy },
  ];
  if (profile.layout.name !== layout)
    return say(
      "profile",
      `${name} is a profile of ${profile.layout.name}, not of ${layout}`,
      "Take a profile of that layout, or another layout with a mapping that reads it.",
    );
  const parts = partsOf(profile);
  if (setting[0] === "sinks" && (parts.length > 1 || profile.across))
    return say(
      "profile",
      `${name} cannot be written: a document is one file with a row for each record`,
      "Take a profile without further files and without across.",
    );
  const unknown = (typeof pick === "string" ? [] : Object.keys(pick)).filter(
    (part) => !parts.includes(part),
  );
  if (unknown.length === 0) return [];
  return say(
    "pick",
    `the profile ${name} has no part ${unknown.join(", ")}`,
    `Its parts are ${parts.join(", ")}.`,
  );
}

/** A file that was read is renamed into a folder that is created when the first one comes. */
function sourceOffer(name: string, source: SourceConfig, root: string | null): Offer {
  const form = sourceForm(source);
  if (root === null) return { form };
  const folder = resolve(root, source.folder);
  const need = (setting: keyof SourceConfig, path: string): FolderNeed => ({
    path,
    rights: setting === "folder" ? ["r", "w", "x"] : ["w", "x"],
    created: setting !== "folder",
    setting: ["sources", name, setting],
  });
  return {
    form,
    folders: [
      ...exchangeNeed(root, folder),
      need("folder", folder),
      need("archive", resolve(folder, source.archive)),
      need("failed", resolve(folder, source.failed)),
      ...repliesNeeds(name, source, root),
    ],
  };
}

/**
 * The folder of the exchange itself is never made: where it is missing, a share is not mounted or the path is wrong. What
 * lies elsewhere does not need it.
 */
function exchangeNeed(root: string, folder: string): FolderNeed[] {
  const isInside = !relative(root, folder).startsWith("..");
  return isInside ? [{ path: root, rights: ["x"], created: false, setting: ["folder"] }] : [];
}

function repliesNeeds(name: string, source: SourceConfig, root: string): FolderNeed[] {
  if (source.format !== "x12" || source.replies === undefined) return [];
  const { target, staging } = foldersOf(source.replies, (path) => resolve(root, path));
  return [target, staging].map((path) => ({
    path,
    rights: ["r", "w", "x"],
    created: true,
    setting: ["sources", name, "replies", "folder"],
  }));
}

function acknowledgementsNeeds(name: string, sink: SinkConfig, root: string): FolderNeed[] {
  if (sink.format !== "x12" || sink.acknowledgements === undefined) return [];
  const { folder, archive, failed } = sink.acknowledgements;
  const at = resolve(root, folder);
  const setting = ["sinks", name, "acknowledgements", "folder"];
  return [
    { path: at, rights: ["r", "w", "x"], created: false, setting },
    { path: resolve(at, archive), rights: ["w", "x"], created: true, setting },
    { path: resolve(at, failed), rights: ["w", "x"], created: true, setting },
  ];
}

/** The right to list a folder is needed to make a file's name durable in it. */
function sinkOffer(name: string, sink: SinkConfig, root: string | null): Offer {
  const form = sinkForm(sink);
  if (root === null) return { form };
  const { target, staging } = foldersOf(sink, (path) => resolve(root, path));
  const need = (path: string, setting: "folder" | "staging"): FolderNeed => ({
    path,
    rights: ["r", "w", "x"],
    created: true,
    setting: ["sinks", name, setting],
  });
  const owner = sink.staging === undefined ? "folder" : "staging";
  return {
    form,
    folders: [
      ...exchangeNeed(root, target),
      need(target, "folder"),
      need(staging, owner),
      ...acknowledgementsNeeds(name, sink, root),
      ...answerFolders(name, sink, root),
    ],
  };
}

/** Where SAP puts its answers; they are moved within it. */
function answerFolders(name: string, sink: SinkConfig, root: string): FolderNeed[] {
  if (sink.format !== "idoc" || sink.answers === undefined) return [];
  const folder = resolve(root, sink.answers.folder);
  const setting = ["sinks", name, "answers", "folder"];
  return [{ path: folder, rights: ["r", "w", "x"], created: false, setting }];
}

const mapped = <In, Out>(
  from: Readonly<Record<string, In>>,
  to: (name: string, one: In) => Out,
): Record<string, Out> =>
  Object.fromEntries(Object.entries(from).map(([name, one]) => [name, to(name, one)]));

/*
 * What this user may do in the folders of the exchange, tried where the folders are ours alone and asked for where the
 * ERP looks too: nothing is ever put into those to try it.
 */

/** One line for the server, and one for each folder of the sources and sinks that flows use. */
export async function examineFiles(
  config: FilesConfig,
  drop: Drop,
  { parts }: Pick<Needs, "parts">,
): Promise<Examination[]> {
  const sources = Object.entries(config.sources).filter(([name]) => parts.has(name));
  const sinks = Object.entries(config.sinks).filter(([name]) => parts.has(name));
  const examinations: Examination[] = [];
  const look = async (
    what: string,
    work: () => Promise<string | null>,
    wanted: readonly Wanted[] = [],
  ): Promise<void> =>
    void examinations.push(await looked(what, work, () => drop.rights.missing(wanted)));
  if (drop.describe !== undefined)
    await look(`server ${drop.where}`, () => drop.describe?.() ?? Promise.resolve(null));
  for (const [name, source] of sources) {
    const folder = drop.at(source.folder);
    const wanted = [drop.at(source.folder, source.archive), drop.at(source.folder, source.failed)];
    await look(`source ${name}: ${folder}`, () => sourceNote(drop, source, folder), [
      { path: folder, rights: ["x", "r", "w"] },
      ...wanted.map((path): Wanted => ({ path, rights: ["x", "w"] })),
    ]);
    if (source.format !== "x12" || source.replies === undefined) continue;
    const { replies } = source;
    await look(`replies of ${name}: ${drop.at(replies.folder)}`, () => sinkNote(drop, replies));
  }
  for (const [name, sink] of sinks) {
    const { target, staging } = foldersOf(sink, (path) => drop.at(path));
    const wanted = [target, staging].map((path): Wanted => ({ path, rights: ["x", "r", "w"] }));
    await look(`sink ${name}: ${target}`, () => sinkNote(drop, sink), wanted);
    if (sink.format !== "x12" || sink.acknowledgements === undefined) continue;
    const { acknowledgements } = sink;
    const folder = drop.at(acknowledgements.folder);
    await look(`acknowledgements of ${name}: ${folder}`, () =>
      sourceNote(drop, acknowledgements, folder),
    );
  }
  return examinations;
}

/** Files are listed and read there, and moved into `archive` and `failed`, which are made when the first one comes. */
async function sourceNote(
  drop: Drop,
  source: Pick<SourceConfig, "folder" | "archive" | "failed">,
  folder: string,
): Promise<string | null> {
  const { rights } = drop;
  if (!(await rights.expectWritable(folder))) throw failure("ENOENT", `${folder} is not there`);
  await drop.list(folder);
  await rights.expectOwn(folder);
  const made: string[] = [];
  for (const setting of ["archive", "failed"] as const) {
    const target = drop.at(source.folder, source[setting]);
    if (!(await rights.expectWritable(target))) made.push(setting);
    else {
      await tried(drop, target);
      await rights.expectTogether(folder, target);
    }
  }
  return made.length === 0 ? null : `${made.join(" and ")} will be made with the first file`;
}

/** Files are written in the staging folder and moved from there. */
async function sinkNote(
  drop: Drop,
  sink: Pick<SinkConfig, "folder" | "staging">,
): Promise<string | null> {
  const { target, staging } = foldersOf(sink, (path) => drop.at(path));
  const isThere = await drop.rights.expectWritable(target);
  const isStaged = await drop.rights.expectWritable(staging);
  if (isStaged) await tried(drop, staging);
  if (!isThere || !isStaged) {
    const exchange = drop.at(".");
    const isInside = target.startsWith(exchange);
    if (isInside && !(await drop.rights.expectWritable(exchange)))
      throw failure("ENOENT", `${exchange} is not there`);
    return "it will be made at the start";
  }
  await drop.rights.expectTogether(target, staging);
  return null;
}

/** Writes a file, renames it, deletes it. Its name is none that is looked for. */
async function tried(drop: Drop, folder: string): Promise<void> {
  const one = drop.path.join(folder, `.fuelbridge-${process.pid}-tried`);
  const other = `${one}-renamed`;
  try {
    await drop.write(one, Buffer.from("tried by fuelbridge doctor\n"), "any");
    await drop.move(one, other);
  } finally {
    for (const path of [one, other]) await drop.remove(path);
  }
}

/** `missing`: advice for the right that is missing; null: none is known to be. */
async function looked(
  what: string,
  look: () => Promise<string | null>,
  missing: () => Promise<string | null>,
): Promise<Examination> {
  try {
    const note = await look();
    return { what, fault: null, ...(note === null ? {} : { note }) };
  } catch (error) {
    const { code, detail, next } = troubleOf(error);
    const advice = isRightMissing(code) ? await missing() : null;
    const fault: Fault = { code: code.toLowerCase(), message: detail, next: advice ?? next };
    return { what, fault };
  }
}
