/** The formats that files come and go in: a further one is a line in each function here, and in `config.ts`. */
import type { SinkConfig, SourceConfig, TableSource } from "./config.ts";
import type { Site } from "./folder/port.ts";
import type { DocumentWriter, RecordReader } from "../../src/formats/format.ts";
import { idocReader, idocRecords } from "../../src/formats/idoc/reader.ts";
import { idocForm, idocWriter } from "../../src/formats/idoc/writer.ts";
import { profileOf, type Reader, tableReader, wholeReader } from "./reader.ts";
import { tableWriter } from "../../src/formats/table/table-writer.ts";
import { x12Reader } from "../../src/formats/x12/reader.ts";
import { x12Writer } from "../../src/formats/x12/writer.ts";

/** @throws InvalidProfile */
export function writerOf(config: SinkConfig, site: Site): DocumentWriter {
  if (config.format === "idoc") return idocWriter(config, site);
  return config.format === "x12" ? x12Writer(config, site) : tableWriter(config, site);
}

/** @throws InvalidProfile */
export function readerOf(config: SourceConfig, site: Site): Reader {
  return config.format === "table"
    ? tableReader(config, profileOf(config, site.folder), site)
    : wholeReader(recordsOf(config, site));
}

const recordsOf = (config: Exclude<SourceConfig, TableSource>, site: Site): RecordReader =>
  config.format === "idoc" ? idocReader(config, site) : x12Reader(config, site);

/** What the records of a source are, told without reading any. */
export const sourceForm = (source: SourceConfig): string =>
  source.format === "idoc" ? idocRecords(source) : source.layout;

/** What the documents of a sink are. */
export const sinkForm = (sink: SinkConfig): string =>
  sink.format === "idoc" ? idocForm(sink) : `files.${sink.document}`;
