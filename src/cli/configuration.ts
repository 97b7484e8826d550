import type { Config } from "../config/config.ts";
import type { Depth } from "../config/check.ts";
import type { Mapping } from "../core/contract.ts";
import { hideSecrets } from "./answer.ts";

/**
 * The configuration of this command line, with every connector and mapping there is.
 * @throws SiteMappingsError when a module of the site's own mappings is wrong
 */
export async function loadConfiguration(
  file: string,
  depth?: Depth,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Config> {
  const [{ loadConfig, mappingsFolderIn }, { connectors }, shipped, platform] = await Promise.all([
    import("../config/config.ts"),
    import("../../connectors/index.ts"),
    import("../../mappings/index.ts"),
    import("../platform/parts.ts"),
  ]);
  const site = mappingsFolderIn(file, env);
  const own = site === null ? [] : await loadOwn(site);
  const mappings = [...shipped.mappings, ...own];
  const known = { env, connectors, mappings, platform: platform.platformOffers };
  const config = loadConfig(file, known, depth);
  hideSecrets(config.secrets);
  return config;
}

async function loadOwn(folder: string): Promise<readonly Mapping[]> {
  const { loadSiteMappings } = await import("../mapping/load.ts");
  return loadSiteMappings(folder);
}
