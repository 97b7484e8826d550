/** The demo in a copy of the checkout: it writes below its own folder. */
import { execFileSync } from "node:child_process";
import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../src/demo/world.ts";
import { launch, type Running } from "./site-program.ts";
import { tempFolder } from "./folder.ts";

export interface DemoCopy {
  readonly home: string;
  readonly demo: (...args: string[]) => Running;
  /** Command lines of processes that were started from this folder. */
  readonly processes: () => string[];
}

/** Without a lockfile beside it the launcher installs nothing: the modules are those of the checkout. */
export function demoCopy(): DemoCopy {
  const home = tempFolder();
  for (const part of ["src", "connectors", "mappings", "config", "test/data", "package.json"])
    cpSync(join(root, part), join(home, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(home, "node_modules"), "junction");
  return {
    home,
    demo: (...args) => launch(home, ["demo", ...args]),
    processes: () =>
      execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })
        .split("\n")
        .filter((line) => line.includes(home)),
  };
}
