import type { Config } from "../config/config.ts";
import type { Depth } from "../config/check.ts";
import { hideSecrets } from "./answer.ts";

/** The configuration of this command line, with every connector and mapping there is. */
export async function loadConfiguration(file: string, depth?: Depth): Promise<Config> {
  const [{ loadConfig }, { connectors }, { mappings }, { platformOffers }] = await Promise.all([
    import("../config/config.ts"),
    import("../../connectors/index.ts"),
    import("../../mappings/index.ts"),
    import("../platform/parts.ts"),
  ]);
  const known = { env: process.env, connectors, mappings, platform: platformOffers };
  const config = loadConfig(file, known, depth);
  hideSecrets(config.secrets);
  return config;
}
