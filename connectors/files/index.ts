/** Exchange of files over a folder: what an ERP exports is read, what it imports is written. */
import { relative, resolve } from "node:path";
import {
  type AnswersConfig,
  FilesConfig,
  type SinkConfig,
  type SourceConfig,
  type TableSource,
  type X12Sink,
} from "./config.ts";
import { localDrop } from "./folder/local.ts";
import {
  type Drop,
  failure,
  isRightMissing,
  troubleOf,
  unavailable,
  type Wanted,
  withoutLinks,
} from "./folder/port.ts";
import { sftpDrop } from "./folder/sftp.ts";
import { filesHoldings } from "./holdings.ts";
import {
  checkFolder,
  checkRoot,
  Kept,
  list,
  type PlaceConfig,
  placeOf,
  type Site,
} from "./pickup.ts";
import { expectStaged, type FileSink, fileSink, foldersOf } from "./sink.ts";
import { archiveFolders, formatOf, openSource, wholeReader } from "./source.ts";
import {
  type Acknowledgement,
  defineConnector,
  type Examination,
  type FolderNeed,
  type Needs,
  type Offer,
  type OfferComplaint,
  type Offers,
  type Page,
  type Reading,
  type Source,
} from "../../src/core/contract.ts";
import { FileFault, type RecordReader } from "../../src/formats/format.ts";
import { answersReader } from "../../src/formats/idoc/read.ts";
import {
  InvalidProfile,
  openProfile,
  partsOf,
  type Profile,
} from "../../src/formats/table/profile.ts";
import { x12Reader } from "../../src/formats/x12/read.ts";
import { replyWriter } from "../../src/formats/x12/write.ts";

/** Where SAP's answers come from: the folder may come with the first of them. */
export function answersSource(config: AnswersConfig, files: FilesConfig, site: Site): Source {
  const heard = heardSource(answersReader, { config, files, site }, () => true);
  const folder = site.drop.at(config.folder);
  return {
    async *read(position, reading) {
      const found = await site.drop.look(folder).catch((error: unknown) => {
        throw notHeard(error, folder);
      });
      if (found !== null) yield* heard.read(position, reading);
    },
  };
}

/**
 * What receivers say of our documents: from a folder, and after a start first from its archive, where the store may be older
 * than its files (a restored one). Several sinks may share the folder: whichever reads a file first, each answer finds its own
 * delivery.
 */
function heardSource(
  reader: RecordReader,
  { config, files, site }: { config: PlaceConfig; files: FilesConfig; site: Site },
  mayBeOlder: () => boolean,
): Source {
  const { drop } = site;
  const folder = drop.at(config.folder);
  const place = placeOf(config, site);
  const source = openSource(wholeReader(reader), config, files, site);
  let isRemembered = false;
  return {
    async *read(position, reading) {
      try {
        if (!isRemembered && mayBeOlder()) {
          for (const one of await archiveFolders(place))
            yield* archived(reader, one, site, reading);
          isRemembered = !reading.signal.aborted;
        }
      } catch (error) {
        throw notHeard(error, folder);
      }
      yield* source.read(position, reading);
    },
  };
}

const notHeard = (error: unknown, folder: string) =>
  unavailable(error, `the answers in ${folder} cannot be read`);

/** Files, as many as one transaction takes. */
const PAGE = 200;

/** It was an answer when it was archived; what somebody else put there is none. */
async function* archived(
  reader: RecordReader,
  folder: string,
  { drop, note }: Pick<Site, "drop" | "note">,
  { signal }: Pick<Reading, "signal">,
): AsyncGenerator<Page> {
  if ((await drop.look(folder)) === null) return;
  let acknowledgements: Acknowledgement[] = [];
  for (const { name, kind } of await list(drop, folder)) {
    if (signal.aborted) return;
    const bytes = kind === "file" ? (await drop.read(drop.path.join(folder, name)))?.bytes : null;
    if (!bytes) continue;
    try {
      acknowledgements.push(...(reader.read(bytes, name).acknowledgements ?? []));
    } catch (error) {
      if (!(error instanceof FileFault)) throw error;
      note("answer refused", { file: name, reason: error.message });
    }
    if (acknowledgements.length < PAGE) continue;
    yield { changes: [], position: null, acknowledgements };
    acknowledgements = [];
  }
  if (acknowledgements.length > 0) yield { changes: [], position: null, acknowledgements };
}

/** Each setting by its name, opened. */
const opened = <Setting, End>(
  settings: Readonly<Record<string, Setting>>,
  open: (setting: Setting) => End,
): Record<string, End> =>
  Object.fromEntries(Object.entries(settings).map(([name, setting]) => [name, open(setting)]));

export const files = defineConnector<FilesConfig>({
  name: "files",
  config: FilesConfig,
  offers: offersOf,
  open(config, surroundings) {
    const { sftp } = config;
    const drop = withoutLinks(
      sftp === undefined
        ? localDrop(resolve(surroundings.folder, config.folder))
        : sftpDrop(sftp, config.folder),
    );
    const site: Site = { ...surroundings, drop, kept: new Kept() };
    const sinks = opened(config.sinks, (sink) => openSink(sink, config, site));
    const replies: FileSink[] = [];
    const sources = opened(config.sources, (source) => {
      const reply = repliesOf(source, site);
      if (reply !== null) replies.push(reply);
      return openSource(formatOf(source).read(source, site), source, config, site, reply);
    });
    return {
      sources,
      sinks,
      holdings: filesHoldings(config, site),
      async check() {
        // Folder by folder, and what is missing, is for `examine` to say.
        if (surroundings.looking === true) return checkRoot(drop);
        for (const { folder } of Object.values(config.sources))
          await checkFolder(drop, drop.at(folder));
        for (const sink of [...Object.values(sinks), ...replies]) await sink.check();
      },
      examine: (_, needs) => examineFiles(config, site, needs),
      async close() {
        for (const sink of [...Object.values(sinks), ...replies]) await sink.close();
        await drop.close();
      },
    };
  },
});

/** What answers the partner for the files of a source; null: nobody does. */
const repliesOf = (source: SourceConfig, site: Site): FileSink | null =>
  source.format === "x12" && source.replies !== undefined
    ? fileSink(source.replies, site, replyWriter(source.x12))
    : null;

/** With the source of what its partner acknowledges in files of their own. */
export function openSink(config: SinkConfig, files: FilesConfig, site: Site): FileSink {
  const sink = fileSink(config, site, formatOf(config).write(config, site));
  const source = acknowledgementsOf(config, files, site);
  if (source === null || sink.acknowledged === undefined) return sink;
  return { ...sink, acknowledged: { ...sink.acknowledged, source } };
}

/** Null: they come with other files, or not at all. */
function acknowledgementsOf(sink: SinkConfig, config: FilesConfig, site: Site): Source | null {
  if (sink.format === "idoc")
    return sink.answers === undefined ? null : answersSource(sink.answers, config, site);
  if (sink.format !== "x12" || sink.acknowledgements === undefined) return null;
  const reader = x12Reader({ layout: null, x12: sink.x12 }, site);
  const parts = { config: sink.acknowledgements, files: config, site };
  return heardSource(reader, parts, () => site.sender?.isRestored() === true);
}

/* What a `files` endpoint can be read from and written to, and the folders that this takes: told from its settings. */

/** What of the settings uses folders: it reads files there and moves them away, or writes them there. */
interface Usage {
  /** `source NAME`: how people are told of it. */
  readonly what: string;
  /** Where it stands in the settings; the second is the name of its source or sink. */
  readonly setting: readonly [string, string, ...string[]];
  readonly reads?: Pick<SourceConfig, "folder"> & Partial<Pick<SourceConfig, "archive" | "failed">>;
  readonly writes?: Pick<SinkConfig, "folder" | "staging">;
}

const usagesOf = ({ sources, sinks }: Pick<FilesConfig, "sources" | "sinks">): Usage[] => [
  ...Object.entries(sources).flatMap(([name, source]): Usage[] => {
    const setting = ["sources", name] as const;
    const reads: Usage = { what: `source ${name}`, setting, reads: source };
    if (source.format !== "x12" || source.replies === undefined) return [reads];
    const { replies: writes } = source;
    return [reads, { what: `replies of ${name}`, setting: [...setting, "replies"], writes }];
  }),
  ...Object.entries(sinks).flatMap(([name, sink]): Usage[] => {
    const setting = ["sinks", name] as const;
    // Answers are moved within their folder, and it may come with the first of them.
    const [heard, reads] =
      sink.format === "x12"
        ? ["acknowledgements", sink.acknowledgements]
        : ["answers", sink.format === "idoc" && sink.answers && { folder: sink.answers.folder }];
    return [
      { what: `sink ${name}`, setting, writes: sink },
      ...(reads ? [{ what: `${heard} of ${name}`, setting: [...setting, heard], reads }] : []),
    ] as Usage[];
  }),
];

/**
 * The folders of a usage, the one that the ERP uses first. A file that was read is renamed into a folder that is created when
 * the first one comes. The right to list a folder is needed to make a file's name durable in it. `at`: what a path is.
 */
function needsOf(
  { setting, reads, writes }: Usage,
  at: (...path: readonly string[]) => string,
): FolderNeed[] {
  const need = (name: string, path: string, isMade: boolean, rights = RIGHTS): FolderNeed => ({
    path,
    rights,
    created: isMade,
    setting: [...setting, name],
  });
  if (writes !== undefined) {
    const { target, staging } = foldersOf(writes, at);
    const owner = writes.staging === undefined ? "folder" : "staging";
    return [need("folder", target, true), need(owner, staging, true)];
  }
  if (reads === undefined) return [];
  const { folder, archive, failed } = reads;
  return [
    need("folder", at(folder), false),
    ...Object.entries({ archive, failed }).flatMap(([name, below]) =>
      below === undefined ? [] : [need(name, at(folder, below), true, ["w", "x"])],
    ),
  ];
}

const RIGHTS: FolderNeed["rights"] = ["r", "w", "x"];

/** Folders on a server need no right on this machine. */
export function offersOf(config: FilesConfig, base: string): Offers {
  const { folder, sftp, sources, sinks } = config;
  const root = sftp === undefined ? resolve(base, folder) : null;
  const usages = usagesOf(config);
  const offers = <Settings>(
    of: "sources" | "sinks",
    settings: Readonly<Record<string, Settings>>,
    formOf: (one: Settings) => string,
  ): Record<string, Offer> =>
    Object.fromEntries(
      Object.entries(settings).map(([name, one]) => {
        const own: Offer = { form: formOf(one), ...(of === "sources" ? { once: true } : {}) };
        if (root === null) return [name, own];
        const folders = usages
          .filter(({ setting }) => setting[0] === of && setting[1] === name)
          .flatMap((usage) => needsOf(usage, (...path) => resolve(root, ...path)));
        return [
          name,
          { ...own, folders: [...exchangeNeed(root, folders[0]?.path ?? root), ...folders] },
        ];
      }),
    );
  return {
    sources: offers("sources", sources, (one) => formatOf(one).reads(one)),
    sinks: offers("sinks", sinks, (one) => formatOf(one).writes(one)),
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

/**
 * The folder of the exchange itself is never made: where it is missing, a share is not mounted or the path is wrong. What
 * lies elsewhere does not need it.
 */
function exchangeNeed(root: string, folder: string): FolderNeed[] {
  const isInside = !relative(root, folder).startsWith("..");
  return isInside ? [{ path: root, rights: ["x"], created: false, setting: ["folder"] }] : [];
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
  // Invoices are told twice, as what is new and as what is paid.
  if (
    profile.layout.name !== layout.replace("paidInvoices", "invoices") &&
    profile.layout.name !== layout
  )
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

/*
 * What this user may do in the folders of the exchange, tried where the folders are ours alone and asked for where the
 * ERP looks too: nothing is ever put into those to try it.
 */

/** One line for the server, and one for each folder of the sources and sinks that flows use. */
export async function examineFiles(
  config: FilesConfig,
  site: Pick<Site, "drop" | "notebook">,
  { parts }: Pick<Needs, "parts">,
): Promise<Examination[]> {
  const { drop } = site;
  const examinations: Examination[] = [];
  const look = async (
    what: string,
    work: () => Promise<string | null>,
    wanted: readonly Wanted[] = [],
  ): Promise<void> => {
    try {
      const note = await work();
      examinations.push({ what, fault: null, ...(note === null ? {} : { note }) });
    } catch (error) {
      const { code, detail, next } = troubleOf(error);
      const advice = isRightMissing(code) ? await drop.rights.missing(wanted) : null;
      const fault = { code: code.toLowerCase(), message: detail, next: advice ?? next };
      examinations.push({ what, fault });
    }
  };
  if (drop.describe !== undefined)
    await look(`server ${drop.where}`, () => drop.describe?.() ?? Promise.resolve(null));
  for (const usage of usagesOf(config)) {
    const [first, ...others] = needsOf(usage, (...path) => drop.at(...path));
    // The folder of answers comes with the first of them.
    if (first === undefined || others.length === 0 || !parts.has(usage.setting[1])) continue;
    const needs = [first, ...others] as const;
    await look(`${usage.what}: ${first.path}`, () => noteOn(site, usage, needs), needs);
  }
  return examinations;
}

/**
 * Where the ERP looks too nothing is tried, and what is ours is. What is missing and may be made is a note. @throws what the
 * drop throws where something may not be done
 */
async function noteOn(
  site: Pick<Site, "drop" | "notebook">,
  { reads, writes }: Usage,
  [asked, ...ours]: readonly [FolderNeed, ...FolderNeed[]],
): Promise<string | null> {
  const { drop } = site;
  const { rights } = drop;
  if (writes !== undefined)
    await expectStaged(
      foldersOf(writes, (path) => drop.at(path)),
      site,
    );
  const isThere = await rights.expectWritable(asked.path);
  if (!isThere && !asked.created) throw failure("ENOENT", `${asked.path} is not there`);
  if (reads !== undefined) {
    await drop.visit(asked.path, () => {});
    await rights.expectOwn(asked.path);
  }
  const missing = isThere ? [] : [asked];
  for (const one of ours) {
    if (!(await rights.expectWritable(one.path))) missing.push(one);
    else {
      await tried(drop, one.path);
      if (isThere) await rights.expectTogether(asked.path, one.path);
    }
  }
  if (missing.length === 0) return null;
  if (reads !== undefined)
    return `${missing.map(({ setting }) => setting.at(-1)).join(" and ")} will be made with the first file`;
  const exchange = drop.at(".");
  if (asked.path.startsWith(exchange) && !(await rights.expectWritable(exchange)))
    throw failure("ENOENT", `${exchange} is not there`);
  return "it will be made at the start";
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
