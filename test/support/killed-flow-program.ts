/**
 * Runs a flow of two documents into a format over a store and a folder, and is gone, by SIGKILL, right after its nth call
 * of the file system or transaction of the store.
 */
import fs, { promises } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import type { FormatName } from "./killed-flow.ts";

const [, , format = "", folder = "", step = ""] = process.argv;
let steps = 0;
const counted = (): void => {
  if (++steps === Number(step)) process.kill(process.pid, "SIGKILL");
};
for (const name of ["fsync", "lstat", "open", "read", "rename", "write"] as const) {
  const real = fs[name] as (...args: unknown[]) => void;
  const replaced = (...args: unknown[]): void => {
    const done = args.pop() as (...results: unknown[]) => void;
    real(...args, (...results: unknown[]) => {
      counted();
      done(...results);
    });
  };
  Object.assign(fs, { [name]: Object.assign(replaced, real) });
}
for (const name of ["readFile", "rm", "stat"] as const) {
  const real = promises[name] as (...args: unknown[]) => Promise<unknown>;
  const replaced = (...args: unknown[]): Promise<unknown> => real(...args).finally(counted);
  Object.assign(promises, { [name]: replaced });
}
syncBuiltinESMExports();
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
