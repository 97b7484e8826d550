/**
 * The tickets of a CSV by the real engine into the real store (bench/documents.ts): what its flow pulls and, on the side
 * `mapped`, what of it is mapped and frozen. Nothing is sent.
 */
import { randomUUID } from "node:crypto";
import { composeDaemon } from "../src/app/compose.ts";
import { loadConfiguration } from "../src/app/configuration.ts";
import type { Engine, Flow } from "../src/engine/engine.ts";
import { freezeNext } from "../src/engine/daemon.ts";
import { pull } from "../src/engine/pull.ts";
import { openLog } from "../src/log.ts";
import { CUSTOMERS, SUPPLIERS } from "./documents.ts";
import { report } from "./usage.ts";

const { FUELBRIDGE_CONFIG: path = "", FUELBRIDGE_SIDE: side = "" } = process.env;
const config = await loadConfiguration(path);
const log = openLog({ level: "warn", secrets: config.secrets, to: "stderr" });
const composed = await composeDaemon(config, log);
const { engine } = composed;
const [flow] = composed.daemon.flows;
if (flow === undefined) throw new Error("the configuration has no flow");
linkParties(engine);

await report(async () => {
  const { received, trouble } = await pull(engine, flow, new AbortController().signal);
  if (trouble !== null) throw new Error(trouble.message);
  return side === "mapped" ? frozen(engine, flow) : received;
});
await composed.close();

/** Other flows have brought the parties before. */
function linkParties({ store }: Engine): void {
  const kinds = { customer: CUSTOMERS, supplier: SUPPLIERS } as const;
  const born = "erp";
  store.transaction(() => {
    for (const kind of ["customer", "supplier"] as const)
      for (const erpId of kinds[kind]) {
        const link = { kind, platformId: randomUUID(), erpId, born, number: erpId } as const;
        store.links.save({ ...link, content: null, amount: null }, 0);
      }
  });
}

function frozen(engine: Engine, flow: Flow): number {
  let count = 0;
  let after = 0;
  for (;;) {
    const round = freezeNext(engine, flow, after);
    if (round === null) return count;
    count += round.frozen;
    after = round.last;
  }
}
