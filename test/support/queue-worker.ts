/**
 * A worker as a process, to be killed: `node queue-worker.ts REDIS_URL FILE`. Its sink `things` writes a line into the
 * file, waits as many ms as the body says, and answers. It says `ready` once it takes jobs.
 */
import { appendFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { openSharedWorker } from "../../src/queue/shared.ts";
import { endpointOf, sharedOptions } from "./shared-options.ts";

const [url = "", file = ""] = process.argv.slice(2);
const worker = openSharedWorker(sharedOptions({ url }), (governor) =>
  endpointOf({
    things: {
      async send({ body, key }) {
        const admission = await governor.admit("write");
        if (!admission.admitted) return { outcome: "nothing", detail: admission.detail };
        appendFileSync(file, `${key} ${process.pid}\n`);
        await pause(Number(body));
        return { outcome: "done", detail: "200", ids: [key] };
      },
    },
  }),
);
await worker.looked;
process.stdout.write("ready\n");
process.on("SIGTERM", () => void worker.close().then(() => process.exit(0)));
