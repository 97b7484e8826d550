/** What a `files` endpoint can be read from and written to, and the folders that this takes: told from its settings. */
import { resolve } from "node:path";
import type { FolderNeed, Offer, Offers } from "../../src/core/contract.ts";
import type { FilesConfig, SourceConfig } from "./config.ts";
import { foldersOf, type SinkConfig } from "./sink.ts";

/** Folders on a server need no right on this machine. */
export function offersOf({ folder, sftp, sources, sinks }: FilesConfig, base: string): Offers {
  const root = sftp === undefined ? resolve(base, folder) : null;
  return {
    sources: mapped(sources, (name, source) => sourceOffer(name, source, root)),
    sinks: mapped(sinks, (name, sink) => sinkOffer(name, sink, root)),
  };
}

/** A file that was read is renamed into a folder that is created when the first one comes. */
function sourceOffer(name: string, source: SourceConfig, root: string | null): Offer {
  if (root === null) return { form: source.layout };
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
function sinkOffer(name: string, sink: SinkConfig, root: string | null): Offer {
  const form = `files.${sink.document}`;
  if (root === null) return { form };
  const { target, staging } = foldersOf(sink, (path) => resolve(root, path));
  const need = (path: string, setting: "folder" | "staging"): FolderNeed => ({
    path,
    rights: ["r", "w", "x"],
    created: true,
    setting: ["sinks", name, setting],
  });
  const owner = sink.staging === undefined ? "folder" : "staging";
  return { form, folders: [need(target, "folder"), need(staging, owner)] };
}

const mapped = <In, Out>(
  from: Readonly<Record<string, In>>,
  to: (name: string, one: In) => Out,
): Record<string, Out> =>
  Object.fromEntries(Object.entries(from).map(([name, one]) => [name, to(name, one)]));
