/**
 * A daemon with so many documents in its store and its console, in a process of its own. Told "pull" on its standard
 * input, it reads what is new on the platform and says how long that took.
 */
import { once } from "node:events";
import { createInterface } from "node:readline";
import { composeDaemon } from "../src/app/compose.ts";
import { loadConfiguration } from "../src/app/configuration.ts";
import { openWeb } from "../src/app/services.ts";
import { openUsers } from "../src/web/users.ts";
import { pull } from "../src/engine/pull.ts";
import { openLog } from "../src/log.ts";
import { fillStore } from "./filling.ts";
import { NAME, PASSWORD } from "./console.ts";

const { FUELBRIDGE_CONFIG: file = "", FUELBRIDGE_DOCUMENTS: documents = "" } = process.env;
const config = await loadConfiguration(file);
const log = openLog({ level: "error", secrets: config.secrets, to: "stderr" });
const never = new AbortController().signal;

let pulls = 0;

const first = await composeDaemon(config, log);
const [reading] = first.daemon.flows;
if (reading === undefined) throw new Error("the configuration has no flow");
await pull(first.engine, reading, never);
await first.close();
fillStore(config.state, Number(documents));

const daemon = await composeDaemon(config, log);
const [flow] = daemon.daemon.flows;
if (flow === undefined) throw new Error("the configuration has no flow");
await openUsers(config.state, () => new Date()).add(NAME, "operator", PASSWORD);
const web = await openWeb(config, daemon, (message) => process.stderr.write(`${message}\n`));
const lines = createInterface({ input: process.stdin });
const [group] = await daemon.office.quarantine();
say({
  url: web?.url ?? "",
  group: group?.id ?? "",
  bytes: (await daemon.office.status()).store.bytes,
});
lines.on("line", (line) => {
  if (line === "pull") void measured();
});
await once(lines, "close");
await web?.close();
await daemon.close();

/** As a flow of its own each time, which has read nothing yet. */
async function measured(): Promise<void> {
  if (flow === undefined) return;
  const name = `bench-${++pulls}`;
  const fresh = { ...flow, name, flow: daemon.engine.store.flows.open(name).flow };
  const startedMs = performance.now();
  const { received, trouble } = await pull(daemon.engine, fresh, never);
  if (trouble !== null) throw new Error(trouble.message);
  say({ records: received, seconds: (performance.now() - startedMs) / 1_000 });
}

function say(report: object): void {
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
