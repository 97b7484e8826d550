/**
 * A worker as a process, to be killed: `node queue-worker.ts REDIS_URL FILE`. What it is to send it writes into the file as a line, waits
 * as many ms as the body says, and answers. It says `ready` once it takes jobs.
 */
import { appendFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { openSharedWorker } from "../../src/queue/shared.ts";
import { done, sharedOptions, type TestRequest } from "./shared-options.ts";

const [url = "", file = ""] = process.argv.slice(2);
const worker = openSharedWorker(sharedOptions({ url }), {
  async send({ body, idempotencyKey }: TestRequest) {
    appendFileSync(file, `${idempotencyKey} ${process.pid}\n`);
    await pause(Number(body));
    return done(idempotencyKey);
  },
  close: async () => {},
});
await worker.looked;
process.stdout.write("ready\n");
process.on("SIGTERM", () => void worker.close().then(() => process.exit(0)));
