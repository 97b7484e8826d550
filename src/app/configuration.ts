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
  const connectors = await connectorsOf(connectorsIn(written));
  const mappings = [...shipped.mappings, ...(await ownMappings(mappingsFolderIn(written)))];
  const known = { env, connectors, mappings, platform: platform.platformOffers };
  const config = completeConfig(written, known, depth);
  scrub = scrubber(config.secrets);
  return config;
}

/** All of them where one is not known, or none is named: what is wrong is then told with every name there is. */
async function connectorsOf(names: readonly (string | null)[]): Promise<readonly Connector[]> {
  const { connectorsNamed, isConnector } = await import("../../connectors/index.ts");
  const known = names.filter((name) => name !== null && isConnector(name)) as string[];
  return names.length > 0 && known.length === names.length
    ? connectorsNamed(known)
    : connectorsNamed();
}

/**
 * The JSON Schema of the configuration. `file`: a configuration whose own mappings are in it, too; null: the shipped
 * mappings alone. Only the setting `mappings` is read of it, so the rest may be wrong.
 * @throws ConfigurationError when there is no such file, SiteMappingsError when a module of its mappings is wrong
 */
export async function configurationSchema(file: string | null): Promise<object> {
  const [{ mappingsFolderIn, readConfig }, { jsonSchema }, { connectorsNamed }, { mappings }] =
    await Promise.all([
      import("../config/config.ts"),
      import("../config/editors.ts"),
      import("../../connectors/index.ts"),
      import("../../mappings/index.ts"),
    ]);
  const own = file === null ? null : mappingsFolderIn(readConfig(file, process.env));
  return jsonSchema(await connectorsNamed(), [...mappings, ...(await ownMappings(own))]);
}

async function ownMappings(folder: string | null): Promise<readonly Mapping[]> {
  if (folder === null) return [];
  const { loadSiteMappings } = await import("../mapping/load.ts");
  return loadSiteMappings(folder);
}
