/** Sends one request with the files sink and is gone, by SIGKILL, right after its nth call of the file system. */
import type { Outgoing } from "../../src/core/contract.ts";
import { countCalls } from "../support/counted-calls.ts";

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
countCalls(count);
// Only now: the folder takes its calls when it is loaded.
const { files } = await import("../../connectors/files/index.ts");
const { surroundingsIn } = await import("../support/surroundings.ts");
const endpoint = files.open(files.config.parse(send.config), surroundingsIn(send.folder));
isSending = true;
await endpoint.sinks[send.sink]?.send(send.request, new AbortController().signal);
