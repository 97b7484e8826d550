/** Sends one request with the files sink and is gone, by SIGKILL, right after its nth call of the file system. */
import fs, { promises } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import type { Outgoing } from "../../src/core/contract.ts";

interface Send {
  readonly folder: string;
  readonly config: unknown;
  readonly sink: string;
  readonly request: Outgoing;
  readonly step: number;
}

const send = JSON.parse(process.argv[2] ?? "") as Send;
let isSending = false;
let steps = 0;
function count(): void {
  if (isSending && ++steps === send.step) process.kill(process.pid, "SIGKILL");
}
for (const name of ["lstat", "open", "read", "rename"] as const) {
  const real = fs[name] as (...args: unknown[]) => void;
  const counted = (...args: unknown[]): void => {
    const done = args.pop() as (...results: unknown[]) => void;
    real(...args, (...results: unknown[]) => {
      count();
      done(...results);
    });
  };
  Object.assign(fs, { [name]: Object.assign(counted, real) });
}
for (const name of ["rm", "stat"] as const) {
  const real = promises[name] as (...args: unknown[]) => Promise<unknown>;
  const counted = (...args: unknown[]): Promise<unknown> => real(...args).finally(count);
  Object.assign(promises, { [name]: counted });
}
syncBuiltinESMExports();
// Only now: the folder takes its calls when it is loaded.
const { files } = await import("../../connectors/files/index.ts");
const { surroundingsIn } = await import("../support/surroundings.ts");
const endpoint = files.open(files.config.parse(send.config), surroundingsIn(send.folder));
isSending = true;
await endpoint.sinks[send.sink]?.send(send.request, new AbortController().signal);
