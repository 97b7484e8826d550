/** A worker of {@link benchWorkers}, as a process: it sends what it is handed to the sandbox, and says `ready`. */
import { openSender } from "../src/platform/client.ts";
import { openSharedWorker } from "../src/queue/shared.ts";
import { sharedBy } from "./workers.ts";

const { FUELBRIDGE_URL: url = "", FUELBRIDGE_KEY: apiKey = "" } = process.env;
const { FUELBRIDGE_REDIS: port = "" } = process.env;
const sender = openSender({ url, apiKey, environment: "live", auth: "bearer", version: "bench" });
const worker = openSharedWorker(sharedBy(Number(port)), sender);
await worker.looked;
process.stdout.write("ready\n");
