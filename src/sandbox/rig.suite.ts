/** A sandbox that ends in several ways and goes on with its state, for tests. */
import { copyFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Sandbox, startSandbox } from "./server.ts";

export interface Rig {
  readonly controlUrl: string;
  readonly baseUrl: string;
  /** Lets the oldest delayed write go on. */
  readonly release: () => void;
  readonly restart: () => Promise<void>;
  readonly crash: () => Promise<void>;
  readonly end: () => Promise<void>;
}

/**
 * In this process. Its crash is a copy of the files as they are at that moment: what a kill leaves. `parked` holds what
 * lets the delayed writes go on, oldest first.
 */
export async function inProcess(folder: string, parked: (() => void)[]): Promise<Rig> {
  let db = join(folder, "0.db");
  let lives = 0;
  let sandbox: Sandbox = await startSandbox({ db, scenario: "empty" });
  const next = async (): Promise<void> => {
    sandbox = await startSandbox({ db });
  };
  return {
    get controlUrl() {
      return sandbox.controlUrl;
    },
    get baseUrl() {
      return sandbox.baseUrl;
    },
    release: () => parked.shift()?.(),
    restart: async () => {
      await sandbox.close();
      await next();
    },
    crash: async () => {
      const [before, dead] = [sandbox, db];
      db = join(folder, `${++lives}.db`);
      for (const part of ["", "-wal"])
        if (existsSync(dead + part)) copyFileSync(dead + part, db + part);
      await next();
      for (const go of parked.splice(0)) go();
      await before.close();
      for (const part of ["", "-wal"]) rmSync(dead + part, { force: true });
    },
    end: () => sandbox.close(),
  };
}

/** A control request that succeeds. */
export async function control<T>(
  rig: Rig,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const answer = await fetch(rig.controlUrl + path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}
