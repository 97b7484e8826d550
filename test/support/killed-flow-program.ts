/**
 * Runs a flow of two documents into a format over a store and a folder, and is gone, by SIGKILL, right after its nth call
 * of the file system or transaction of the store.
 */
import { countCalls } from "./counted-calls.ts";
import type { FormatName } from "./killed-flow.ts";

const [, , format = "", folder = "", step = ""] = process.argv;
let steps = 0;
const counted = (): void => {
  if (++steps === Number(step)) process.kill(process.pid, "SIGKILL");
};
countCalls(counted);
// Only now: the folder takes its calls when it is loaded.
const { runFlow } = await import("../../src/engine/daemon.ts");
const { killedFlow } = await import("./killed-flow.ts");
const { engine, flow } = killedFlow(folder, format as FormatName);
const { store } = engine;
const transaction = store.transaction.bind(store);
Object.assign(store, {
  transaction<T>(work: () => T): T {
    const result = transaction(work);
    counted();
    return result;
  },
});
await runFlow(engine, flow, new AbortController().signal);
