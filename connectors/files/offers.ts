/** What a `files` endpoint can be read from and written to, and the folders that this takes: told from its settings. */
import { resolve } from "node:path";
import type { FolderNeed, Offer, Offers } from "../../src/core/contract.ts";
import type { FilesConfig, SourceConfig } from "./config.ts";
import { type SinkConfig, stagingOf } from "./sink.ts";

export function offersOf({ folder, sources, sinks }: FilesConfig, base: string): Offers {
  const root = resolve(base, folder);
  return {
    sources: mapped(sources, (name, source) => sourceOffer(name, source, root)),
    sinks: mapped(sinks, (name, sink) => sinkOffer(name, sink, root)),
  };
}

/** A file that was read is renamed into a folder that is created when the first one comes. */
function sourceOffer(name: string, source: SourceConfig, root: string): Offer {
  const folder = resolve(root, source.folder);
  const need = (setting: keyof SourceConfig, path: string): FolderNeed => ({
    path,
    rights: setting === "folder" ? ["r", "w", "x"] : ["w", "x"],
    created: setting !== "folder",
    setting: ["sources", name, setting],
  });
  return {
    form: source.layout,
    folders: [
      need("folder", folder),
      need("archive", resolve(folder, source.archive)),
      need("failed", resolve(folder, source.failed)),
    ],
  };
}

/** The right to list a folder is needed to make a file's name durable in it. */
function sinkOffer(name: string, sink: SinkConfig, root: string): Offer {
  const target = resolve(root, sink.folder);
  const need = (path: string): FolderNeed => ({
    path,
    rights: ["r", "w", "x"],
    created: true,
    setting: ["sinks", name, "folder"],
  });
  return { form: `files.${sink.document}`, folders: [need(target), need(stagingOf(target))] };
}

const mapped = <In, Out>(
  from: Readonly<Record<string, In>>,
  to: (name: string, one: In) => Out,
): Record<string, Out> =>
  Object.fromEntries(Object.entries(from).map(([name, one]) => [name, to(name, one)]));
