/** Exchange of files over a folder: what an ERP exports is read, what it imports is written. */
import { resolve } from "node:path";
import { defineConnector, type Source } from "../../src/core/contract.ts";
import { FilesConfig, type SinkConfig, type SourceConfig } from "./config.ts";
import { type Site, withoutLinks } from "./folder/port.ts";
import { examineFiles } from "./examine.ts";
import { filesHoldings } from "./holdings.ts";
import { answersSource } from "./idoc-answers.ts";
import { Kept } from "./kept.ts";
import { localDrop } from "./folder/local.ts";
import { offersOf } from "./offers.ts";
import { checkFolder, checkRoot } from "./pickup.ts";
import { sftpDrop } from "./folder/sftp.ts";
import { wholeReader } from "./reader.ts";
import { checkSinks, type FileSink, fileSink, openSinks } from "./sink.ts";
import { openSource, openSourceWith } from "./source.ts";
import { x12Reader } from "../../src/formats/x12/reader.ts";
import { replyWriter } from "../../src/formats/x12/writer.ts";

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
    const sources = Object.entries(config.sources);
    const sinks = withAcknowledgements(openSinks(config.sinks, site), config, site);
    const replies = new Map(sources.map(([name, source]) => [name, repliesOf(source, site)]));
    return {
      sources: Object.fromEntries(
        sources.map(([name, source]) => [
          name,
          openSource(source, config, site, replies.get(name) ?? null),
        ]),
      ),
      sinks,
      holdings: filesHoldings(config, site),
      async check() {
        // Folder by folder, and what is missing, is for `examine` to say.
        if (surroundings.looking === true) return checkRoot(drop);
        for (const [, source] of sources) await checkFolder(drop, drop.at(source.folder));
        for (const sink of Object.values(sinks)) await sink.ready();
        for (const reply of replies.values()) await reply?.ready();
        await checkSinks(config.sinks, site);
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

/** Sinks whose partner acknowledges in files of their own. */
const withAcknowledgements = (
  sinks: Readonly<Record<string, FileSink>>,
  config: FilesConfig,
  site: Site,
): Record<string, FileSink> =>
  Object.fromEntries(
    Object.entries(sinks).map(([name, sink]) => {
      const settings = config.sinks[name];
      const source = settings === undefined ? null : acknowledgementsOf(settings, config, site);
      if (source === null || sink.acknowledged === undefined) return [name, sink];
      return [name, { ...sink, acknowledged: { ...sink.acknowledged, source } }];
    }),
  );

/** Null: they come with other files, or not at all. */
function acknowledgementsOf(sink: SinkConfig, config: FilesConfig, site: Site): Source | null {
  if (sink.format === "idoc")
    return sink.answers === undefined ? null : answersSource(sink.answers, config, site);
  if (sink.format !== "x12" || sink.acknowledgements === undefined) return null;
  const reader = wholeReader(x12Reader({ layout: null, x12: sink.x12 }, site));
  return openSourceWith(reader, sink.acknowledgements, config, site);
}
