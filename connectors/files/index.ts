/** Exchange of files over a folder: what an ERP exports is read, what it imports is written. */
import { resolve } from "node:path";
import { defineConnector } from "../../src/core/contract.ts";
import { FilesConfig } from "./config.ts";
import type { Site } from "./drop.ts";
import { examineFiles } from "./examine.ts";
import { filesHoldings } from "./holdings.ts";
import { Kept } from "./kept.ts";
import { localDrop } from "./local.ts";
import { offersOf } from "./offers.ts";
import { checkFolder, checkRoot } from "./pickup.ts";
import { sftpDrop } from "./sftp/drop.ts";
import { checkSinks, openSinks } from "./sink.ts";
import { openSource } from "./source.ts";

export const files = defineConnector<FilesConfig>({
  name: "files",
  config: FilesConfig,
  offers: offersOf,
  open(config, surroundings) {
    const { sftp } = config;
    const drop =
      sftp === undefined
        ? localDrop(resolve(surroundings.folder, config.folder))
        : sftpDrop(sftp, config.folder);
    const site: Site = { ...surroundings, drop, kept: new Kept() };
    const sources = Object.entries(config.sources);
    const sinks = openSinks(config.sinks, site);
    return {
      sources: Object.fromEntries(
        sources.map(([name, source]) => [name, openSource(source, config, site)]),
      ),
      sinks,
      holdings: filesHoldings(config, site),
      async check() {
        // Folder by folder, and what is missing, is for `examine` to say.
        if (surroundings.looking === true) return checkRoot(drop);
        for (const [, source] of sources) await checkFolder(drop, drop.at(source.folder));
        for (const sink of Object.values(sinks)) await sink.ready();
        await checkSinks(config.sinks, site);
      },
      examine: (_, needs) => examineFiles(config, drop, needs),
      close: () => drop.close(),
    };
  },
});
