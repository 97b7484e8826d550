/**
 * Our side: the engine's pull with the platform and the store as the configuration puts them together; with
 * `FUELBRIDGE_ROAD` the whole road: mapped, frozen and written into files as well.
 */
import { composeDaemon } from "../src/app/compose.ts";
import { loadConfiguration } from "../src/app/configuration.ts";
import { pull } from "../src/engine/pull.ts";
import { push } from "../src/engine/daemon.ts";
import { openLog } from "../src/log.ts";
import { report } from "./usage.ts";

const config = await loadConfiguration(process.env["FUELBRIDGE_CONFIG"] ?? "");
const log = openLog({ level: "warn", secrets: config.secrets, to: "stderr" });
const composed = await composeDaemon(config, log);
const [flow] = composed.daemon.flows;
if (flow === undefined) throw new Error("the configuration has no flow");

await report(async () => {
  const { signal } = new AbortController();
  const { received, trouble } = await pull(composed.engine, flow, signal);
  if (trouble !== null) throw new Error(trouble.message);
  if (process.env["FUELBRIDGE_ROAD"] === undefined) return received;
  while ((await push(composed.engine, flow, signal)).progress > 0);
  const counts = composed.engine.store.deliveries.counts(flow.flow);
  // Drafts are left out by the flow.
  return (counts.get("delivered") ?? 0) + (counts.get("skipped") ?? 0);
});
await composed.close();
