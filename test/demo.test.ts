/** The demo as a newcomer starts it, in a copy of the checkout: it writes below its own folder. */
import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../src/cli/demo/world.ts";
import { exitCodes } from "../src/core/errors.ts";
import { tempFolder } from "./support/folder.ts";
import { launch } from "./support/site-program.ts";

const SLOW = 180_000;
const posix = test.skipIf(process.platform === "win32");

/** Without a lockfile beside it the launcher installs nothing: the modules are those of the checkout. */
function copyOfCheckout(): string {
  const home = tempFolder();
  for (const part of ["src", "connectors", "mappings", "config", "test/data", "package.json"])
    cpSync(join(root, part), join(home, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(home, "node_modules"), "junction");
  return home;
}

const demo = (home: string, ...args: string[]) => launch(home, ["demo", ...args]);

/** Command lines of processes that were started from this folder. */
const processesOf = (home: string): string[] =>
  execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes(home));

const FLOWS = [
  "orders",
  "delivery-tickets",
  "invoices-issued",
  "invoices-payable",
  "customers",
  "suppliers",
  "rack-prices",
  "invoices",
];

posix(
  "npm run demo -- --once shows both sides in step, and a second one that nothing changed",
  { timeout: SLOW },
  async () => {
    const home = copyOfCheckout();
    const first = await demo(home, "--once").ended;
    expect(first).toMatchObject({ code: exitCodes.ok, err: "" });
    // A file gets lines, not a picture that is drawn over.
    expect(first.out).not.toContain("\u001B");
    expect(first.out).toMatch(/^A new demo in var\/demo: /);
    expect(first.out).toMatch(/^\d+\.\d s {2}.*\d+ requests$/m);
    for (const flow of FLOWS)
      expect(first.out).toMatch(new RegExp(`^${flow} +platform +[1-9]\\d* .* equal$`, "m"));
    expect(first.out).toMatch(/In step after \d+\.\d s: both sides hold the same\./);

    const second = await demo(home, "--once").ended;
    expect(second).toMatchObject({ code: exitCodes.ok, err: "" });
    expect(second.out).toMatch(/^The demo in var\/demo again, where it stopped\./);
    expect(second.out).toContain("Nothing has changed: both sides were in step already");
    for (const flow of FLOWS)
      expect(second.out).toMatch(new RegExp(`^${flow} +platform +[1-9]\\d* .* equal$`, "m"));
    expect(processesOf(home)).toEqual([]);
    expect(first.out + second.out).not.toContain(
      readFileSync(join(home, "var", "demo", "api-key"), "utf8").trim(),
    );
  },
);

posix(
  "Ctrl-C ends the demo with 130, at work and afterwards, and leaves no process behind",
  { timeout: SLOW },
  async () => {
    const home = copyOfCheckout();
    const atWork = demo(home);
    await atWork.said(" requests\n");
    expect(processesOf(home).length).toBeGreaterThanOrEqual(2);
    atWork.kill("SIGINT");
    expect(await atWork.ended).toMatchObject({ code: exitCodes.interrupted, err: "" });
    expect(processesOf(home)).toEqual([]);

    const inStep = demo(home);
    await inStep.said("Going on; Ctrl-C stops.");
    inStep.kill("SIGINT");
    const { code, out, err } = await inStep.ended;
    expect({ code, err }).toEqual({ code: exitCodes.interrupted, err: "" });
    for (const flow of FLOWS)
      expect(out).toMatch(new RegExp(`^${flow} +platform +[1-9]\\d* .* equal$`, "m"));
    expect(processesOf(home)).toEqual([]);
  },
);
