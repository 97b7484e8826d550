/** Sends one request with the files sink and is gone, by SIGKILL, right after its nth call of the file system. */
import { promises } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { files } from "../../connectors/files/index.ts";
import type { Outgoing } from "../../src/core/contract.ts";
import { surroundingsIn } from "../support/surroundings.ts";

interface Send {
  readonly folder: string;
  readonly config: unknown;
  readonly sink: string;
  readonly request: Outgoing;
  readonly step: number;
}

const send = JSON.parse(process.argv[2] ?? "") as Send;
const endpoint = files.open(files.config.parse(send.config), surroundingsIn(send.folder));
let steps = 0;
for (const name of ["lstat", "open", "readFile", "rename", "rm", "stat"] as const) {
  const real = promises[name] as (...args: unknown[]) => Promise<unknown>;
  const counted = async (...args: unknown[]): Promise<unknown> => {
    const result = await real(...args);
    if (++steps === send.step) process.kill(process.pid, "SIGKILL");
    return result;
  };
  Object.assign(promises, { [name]: counted });
}
syncBuiltinESMExports();
await endpoint.sinks[send.sink]?.send(send.request, new AbortController().signal);
