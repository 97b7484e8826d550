/** Exchange of files over a folder: what an ERP exports is read, what it imports is written. */
import { resolve } from "node:path";
import { type AnswersConfig, FilesConfig, type SinkConfig, type SourceConfig } from "./config.ts";
import { localDrop } from "./folder/local.ts";
import { unavailable, withoutLinks } from "./folder/port.ts";
import { sftpDrop } from "./folder/sftp.ts";
import { examineFiles, offersOf } from "./folders.ts";
import { filesHoldings } from "./holdings.ts";
import { checkFolder, checkRoot, Kept, list, type Site } from "./pickup.ts";
import { type FileSink, fileSink } from "./sink.ts";
import { formatOf, openSource, wholeReader } from "./source.ts";
import {
  type Acknowledgement,
  defineConnector,
  type Page,
  type Reading,
  type Source,
} from "../../src/core/contract.ts";
import { FileFault } from "../../src/formats/format.ts";
import { answersOf, answersReader } from "../../src/formats/idoc/answers.ts";
import { idocsIn } from "../../src/formats/idoc/xml.ts";
import { x12Reader } from "../../src/formats/x12/read.ts";
import { replyWriter } from "../../src/formats/x12/write.ts";

/**
 * Where SAP's answers come from: a folder, and after a start what lies in its archive, for a store that is older than its
 * files (a restored one). Several sinks may share the folder: whichever reads a file first, each answer finds its own
 * delivery.
 */
export function answersSource(config: AnswersConfig, files: FilesConfig, site: Site): Source {
  const { drop } = site;
  const folder = drop.at(config.folder);
  const archive = drop.at(config.folder, config.archive);
  const source = openSource(wholeReader(answersReader(site)), config, files, site);
  let isRemembered = false;
  return {
    async *read(position, reading) {
      try {
        if ((await drop.look(folder)) === null) return;
        if (!isRemembered) {
          yield* archived(archive, site, reading);
          isRemembered = !reading.signal.aborted;
        }
      } catch (error) {
        throw unavailable(error, `the answers in ${folder} cannot be read`);
      }
      yield* source.read(position, reading);
    },
  };
}

/** Files, as many as one transaction takes. */
const PAGE = 200;

/** It was an answer when it was archived; what somebody else put there is none. */
async function* archived(
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
      acknowledgements.push(...idocsIn(bytes, name).flatMap(answersOf));
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
      examine: (_, needs) => examineFiles(config, drop, needs),
      close: () => drop.close(),
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
  const reader = wholeReader(x12Reader({ layout: null, x12: sink.x12 }, site));
  return openSource(reader, sink.acknowledgements, config, site);
}
