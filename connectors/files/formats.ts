/** The formats that files come and go in: a further one is a line in each function here, and in `config.ts`. */
import type { SinkConfig, SourceConfig } from "./config.ts";
import type { Site } from "./drop.ts";
import type { DocumentWriter, RecordReader } from "./format.ts";
import { profileOf, type Reader, tableReader, wholeReader } from "./reader.ts";
import { tableWriter } from "./table-writer.ts";

/** @throws InvalidProfile */
export function writerOf(config: SinkConfig, site: Site): DocumentWriter {
  return tableWriter(config, site);
}

/** @throws InvalidProfile */
export function readerOf(config: SourceConfig, site: Site): Reader {
  const records = recordsOf(config, site);
  return records === null
    ? tableReader(config, profileOf(config, site.folder), site)
    : wholeReader(records);
}

/** Null: the files are tables. */
function recordsOf(_config: SourceConfig, _site: Site): RecordReader | null {
  return null;
}

/** What the records of a source are, told without reading any. */
export const sourceForm = (source: SourceConfig): string => source.layout;

/** What the documents of a sink are. */
export const sinkForm = (sink: SinkConfig): string => `files.${sink.document}`;
