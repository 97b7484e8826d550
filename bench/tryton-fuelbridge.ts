/** Our side: the whole daemon, from the platform's list to the last invoice posted and remembered. */
import { composeDaemon } from "../src/app/compose.ts";
import { loadConfiguration } from "../src/app/configuration.ts";
import { openLog } from "../src/log.ts";
import { report } from "./usage.ts";

const config = await loadConfiguration(process.env["FUELBRIDGE_CONFIG"] ?? "");
const log = openLog({ level: "warn", secrets: config.secrets, to: "stderr" });
const composed = await composeDaemon(config, log);

await report(async () => {
  const { inStep } = await composed.once(new AbortController().signal);
  if (!inStep) throw new Error("not in step");
  const { flows } = await composed.office.status();
  return flows[0]?.delivered ?? 0;
});
await composed.close();
