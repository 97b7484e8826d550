/** A worker of {@link benchWorkers}, as a process: it sends what it is handed to the sandbox, and says `ready`. */
import { openSharedWorker } from "../src/queue/shared.ts";
import { platformOver, sharedBy } from "./workers.ts";

const { FUELBRIDGE_URL: url = "", FUELBRIDGE_KEY: apiKey = "" } = process.env;
const { FUELBRIDGE_REDIS: port = "" } = process.env;
const worker = openSharedWorker(sharedBy(Number(port)), (governor) =>
  platformOver({ url, apiKey }, governor),
);
await worker.looked;
process.stdout.write("ready\n");
