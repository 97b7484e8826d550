/** A store of so many documents, and what 1,000 more cost: stored, delivered, changed, read again unchanged. */
import { pull } from "../src/engine/pull.ts";
import { push } from "../src/engine/daemon.ts";
import { fillStore } from "./filling.ts";
import type { Steps } from "./growth.ts";
import { change, nothing, siteOf } from "./outbound-site.ts";

const { FUELBRIDGE_FOLDER: folder = "", FUELBRIDGE_DOCUMENTS: documents = "" } = process.env;
const RECORDS = 5_000;
const PAGE = 200;
const never = new AbortController().signal;

const first = siteOf(folder, nothing, 1, () => ({ gallons: 1 }));
await pull(first.engine, first.flow, never);
first.store.close();
fillStore(folder, Number(documents));
const { store, engine, flow } = siteOf(folder, nothing, 0, () => ({}));

let version = 0;
const fresh = {
  ...flow,
  source: {
    async *read() {
      for (let first = 0; first < RECORDS; first += PAGE) {
        const changes = Array.from({ length: PAGE }, (_, at) =>
          change(10_000_000 + first + at, () => ({ gallons: 7_500 + version })),
        );
        yield { changes, position: first };
      }
    },
  },
};
const steps: Steps = {
  insert: await cpuMs(() => pull(engine, fresh, never)),
  deliver: await cpuMs(() => push(engine, fresh, never)),
  unchanged: await cpuMs(() => pull(engine, fresh, never)),
  update: await cpuMs(() => {
    version++;
    return pull(engine, fresh, never);
  }),
};
const counts = store.deliveries.counts(flow.flow);
if (counts.get("pending") !== RECORDS)
  throw new Error(`${counts.get("pending")} of ${RECORDS} wait`);
store.close();
process.stdout.write(`${JSON.stringify(steps)}\n`);

/** Of 1,000 records. */
async function cpuMs(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / RECORDS;
}
