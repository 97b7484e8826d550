/** Our side: the engine's pull with the platform and the store as the configuration puts them together. */
import { composeDaemon } from "../src/app/compose.ts";
import { loadConfiguration } from "../src/app/configuration.ts";
import { pull } from "../src/engine/pull.ts";
import { openLog } from "../src/log.ts";
import { report } from "./usage.ts";

const config = await loadConfiguration(process.env["FUELBRIDGE_CONFIG"] ?? "");
const log = openLog({ level: "warn", secrets: config.secrets, to: "stderr" });
const composed = await composeDaemon(config, log);
const [flow] = composed.daemon.flows;
if (flow === undefined) throw new Error("the configuration has no flow");

await report(async () => {
  const { received, trouble } = await pull(composed.engine, flow, new AbortController().signal);
  if (trouble !== null) throw new Error(trouble.message);
  return received;
});
await composed.close();
