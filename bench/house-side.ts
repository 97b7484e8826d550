/**
 * One invoice of the platform becomes a file (bench/house.ts): what is entered between the start of the daemon and its
 * end, by V8's own count. Files that only the start needs are not in it.
 */
import { Session } from "node:inspector/promises";
import { composeDaemon } from "../src/app/compose.ts";
import { loadConfiguration } from "../src/app/configuration.ts";
import { openLog } from "../src/log.ts";
import { root } from "./support.ts";

const { FUELBRIDGE_CONFIG: path = "" } = process.env;
const config = await loadConfiguration(path);
const log = openLog({ level: "error", secrets: config.secrets, to: "stderr" });
const composed = await composeDaemon(config, log);
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
await composed.once(new AbortController().signal);
const { result } = await session.post("Profiler.takePreciseCoverage");
await composed.close();

const production = new RegExp(`^file://${root}/(?:src|connectors|mappings)/`);
const entered = result
  .filter(({ url }) => production.test(url))
  .map(({ url, functions }) => ({
    file: url.replace(`file://${root}/`, ""),
    // The first "function" of a file is its body, which runs when it is loaded.
    functions: functions.filter(
      ({ ranges: [range], functionName }) =>
        (range?.count ?? 0) > 0 && !(functionName === "" && range?.startOffset === 0),
    ).length,
  }))
  .filter(({ functions }) => functions > 0);
process.stdout.write(JSON.stringify(entered));
