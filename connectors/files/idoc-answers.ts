/** Where SAP's answers come from: a folder, and after a start what lies in its archive. */
import type { Acknowledgement, Page, Reading, Source } from "../../src/core/contract.ts";
import type { FilesConfig } from "./config.ts";
import { FileFault } from "../../src/formats/table/csv.ts";
import { readWhole } from "./disk.ts";
import type { Site } from "./folder/port.ts";
import { list } from "./pickup.ts";
import { wholeReader } from "./reader.ts";
import { openSourceWith } from "./source.ts";
import { unavailable } from "./folder/trouble.ts";
import { answersOf, answersReader } from "../../src/formats/idoc/answers.ts";
import type { AnswersConfig } from "../../src/formats/idoc/config.ts";
import { idocsIn } from "../../src/formats/idoc/xml.ts";

/**
 * Several sinks may share the folder: whichever reads a file first, each answer finds its own delivery. What lies in the
 * archive is told again after a start, for a store that is older than its files (a restored one) and one from before.
 */
export function answersSource(config: AnswersConfig, files: FilesConfig, site: Site): Source {
  const { drop } = site;
  const folder = drop.at(config.folder);
  const archive = drop.at(config.folder, config.archive);
  const source = openSourceWith(wholeReader(answersReader(site)), config, files, site);
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
  for (const { name, regular } of await list(drop, folder)) {
    if (signal.aborted) return;
    const bytes = regular ? await readWhole(drop, drop.path.join(folder, name)) : null;
    if (bytes === null) continue;
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
