/**
 * Runs a flow of two documents into a format over a store and a folder, and is gone, by SIGKILL, right after its nth call
 * of the file system or transaction of the store.
 */
import { promises } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { runFlow } from "../../src/engine/daemon.ts";
import { type FormatName, killedFlow } from "./killed-flow.ts";

const [, , format = "", folder = "", step = ""] = process.argv;
let steps = 0;
const counted = (): void => {
  if (++steps === Number(step)) process.kill(process.pid, "SIGKILL");
};
for (const name of ["lstat", "open", "readFile", "rename", "rm", "stat"] as const) {
  const real = promises[name] as (...args: unknown[]) => Promise<unknown>;
  const replaced = async (...args: unknown[]): Promise<unknown> => {
    const result = await real(...args);
    counted();
    return result;
  };
  Object.assign(promises, { [name]: replaced });
}
syncBuiltinESMExports();
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
