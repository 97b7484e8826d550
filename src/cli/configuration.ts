import type { Config } from "../config/config.ts";
import { hideSecrets } from "./answer.ts";

/** The configuration of this command line, with every connector and mapping there is. */
export async function loadConfiguration(file: string): Promise<Config> {
  const [{ loadConfig }, { connectors }, { mappings }, platform] = await Promise.all([
    import("../config/config.ts"),
    import("../../connectors/index.ts"),
    import("../../mappings/index.ts"),
    import("../platform/endpoint.ts"),
  ]);
  const config = loadConfig(file, {
    env: process.env,
    connectors,
    mappings,
    platform: { sources: platform.platformSources, sinks: platform.platformSinks },
  });
  hideSecrets(config.secrets);
  return config;
}
