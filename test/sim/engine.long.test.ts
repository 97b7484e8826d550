/**
 * A simulation that finds nothing proves nothing: with an old fault put back, it must find that.
 *
 * @module-tag numbers
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mutants } from "./engine/mutants.ts";

test.each(Object.keys(mutants))("the simulation can fail, it finds: %s", (mutant) => {
  const program = join(import.meta.dirname, "engine", "index.ts");
  const args = [program, "--seeds", "400", "--mutant", mutant];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect({ status, stderr }, stdout).toEqual({ status: 1, stderr: "" });
  expect(stdout).toContain("first: seed");
});
