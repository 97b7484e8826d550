/** For programs that are killed in the middle of their work: calls of the file system, counted as they end. */
import fs, { promises } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/** What takes its calls when it is loaded must be imported afterwards. */
export function countCalls(count: () => void): void {
  for (const name of ["fsync", "lstat", "open", "read", "rename", "write"] as const) {
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
  for (const name of ["lstatSync", "openSync", "readSync", "renameSync", "writeSync"] as const) {
    const real = fs[name] as (...args: unknown[]) => unknown;
    const counted = (...args: unknown[]): unknown => {
      try {
        return real(...args);
      } finally {
        count();
      }
    };
    Object.assign(fs, { [name]: Object.assign(counted, real) });
  }
  for (const name of ["readFile", "rm", "stat"] as const) {
    const real = promises[name] as (...args: unknown[]) => Promise<unknown>;
    const counted = (...args: unknown[]): Promise<unknown> => real(...args).finally(count);
    Object.assign(promises, { [name]: counted });
  }
  syncBuiltinESMExports();
}
