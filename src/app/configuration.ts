import type { Config } from "../config/config.ts";
import type { Depth } from "../config/check.ts";
import type { Connector, Mapping } from "../core/contract.ts";
import { scrubber } from "../config/scrub.ts";

let scrub = scrubber([]);

/** `text` without secrets: what looks like one in any case, and those of the configuration once it is read. */
export const scrubbed = (text: string): string => scrub(text);

/**
 * The configuration of this command line, with the connectors that it names and every mapping there is.
 * @throws SiteMappingsError when a module of the site's own mappings is wrong
 */
export async function loadConfiguration(
  file: string,
  depth?: Depth,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Config> {
  const [{ completeConfig, connectorsIn, mappingsFolderIn, readConfig }, shipped, platform] =
    await Promise.all([
      import("../config/config.ts"),
      import("../../mappings/index.ts"),
      import("../platform/parts.ts"),
    ]);
  const written = readConfig(file, env);
  const connectors = await connectorsNamed(connectorsIn(written));
  const mappings = [...shipped.mappings, ...(await ownMappings(mappingsFolderIn(written)))];
  const known = { env, connectors, mappings, platform: platform.platformOffers };
  const config = completeConfig(written, known, depth);
  scrub = scrubber(config.secrets);
  return config;
}

/** Loaded alone where a configuration has no others: every command starts sooner by what it does not load. */
const ALONE: Readonly<Record<string, () => Promise<Connector>>> = {
  files: async () => (await import("../../connectors/files/index.ts")).files,
  tryton: async () => (await import("../../connectors/tryton/index.ts")).tryton,
};

/** All of them where one is not known here, or none is named: what is wrong is then told with every name there is. */
async function connectorsNamed(names: readonly (string | null)[]): Promise<readonly Connector[]> {
  const loads = names.map((name) => ALONE[name ?? ""]);
  const isAlone = loads.length > 0 && loads.every((load) => load !== undefined);
  if (isAlone) return Promise.all(loads.map((load) => load()));
  return (await import("../../connectors/index.ts")).connectors;
}

/**
 * The JSON Schema of the configuration. `file`: a configuration whose own mappings are in it, too; null: the shipped
 * mappings alone. Only the setting `mappings` is read of it, so the rest may be wrong.
 * @throws ConfigurationError when there is no such file, SiteMappingsError when a module of its mappings is wrong
 */
export async function configurationSchema(file: string | null): Promise<object> {
  const [{ mappingsFolderIn, readConfig }, { jsonSchema }, { connectors }, { mappings }] =
    await Promise.all([
      import("../config/config.ts"),
      import("../config/schema.ts"),
      import("../../connectors/index.ts"),
      import("../../mappings/index.ts"),
    ]);
  const own = file === null ? null : mappingsFolderIn(readConfig(file, process.env));
  return jsonSchema(connectors, [...mappings, ...(await ownMappings(own))]);
}

async function ownMappings(folder: string | null): Promise<readonly Mapping[]> {
  if (folder === null) return [];
  const { loadSiteMappings } = await import("../mapping/load.ts");
  return loadSiteMappings(folder);
}
