/** Exchange of files over a folder: what an ERP exports is read, what it imports is written. */
import { resolve } from "node:path";
import { defineConnector } from "../../src/core/contract.ts";
import { FilesConfig } from "./config.ts";
import { examineFiles } from "./examine.ts";
import { offersOf } from "./offers.ts";
import { filesHoldings } from "./holdings.ts";
import { checkFolder, checkRoot } from "./pickup.ts";
import { checkSinks, openSinks } from "./sink.ts";
import { openSource, sourceFolder } from "./source.ts";

export const files = defineConnector<FilesConfig>({
  name: "files",
  config: FilesConfig,
  offers: offersOf,
  open(config, surroundings) {
    const folder = resolve(surroundings.folder, config.folder);
    const sources = Object.entries(config.sources);
    return {
      sources: Object.fromEntries(
        sources.map(([name, source]) => [name, openSource(source, config, surroundings)]),
      ),
      sinks: openSinks(config.sinks, folder, surroundings),
      holdings: filesHoldings(config, folder, surroundings),
      async check() {
        // Folder by folder, and what is missing, is for `examine` to say.
        if (surroundings.looking === true) return checkRoot(folder);
        for (const [, source] of sources)
          await checkFolder(sourceFolder(source, config, surroundings));
        await checkSinks(config.sinks, folder);
      },
      examine: (_, needs) => examineFiles(config, folder, surroundings, needs),
      async close() {},
    };
  },
});
