/**
 * `npm run fates [-- tryton files] [--keep]`: plays the table of fates, of all connectors or of those named, and prints it
 * with the counts; exits with 1 while a cell is silent, doubled or lost. `--keep` writes those down as open (open.json),
 * so that their tests say when they are mended.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Cell, isBad, nameOf, printed } from "./table.ts";

const words = process.argv.slice(2);
const names = words.filter((word) => !word.startsWith("--"));
const folder = mkdtempSync(join(tmpdir(), "fuelbridge-fates-"));
const file = join(folder, "cells.jsonl");
writeFileSync(file, "");
const suites = names.length === 0 ? ["test/fates/"] : names.map((name) => `test/fates/${name}`);
const vitest = ["src/launch.mjs", "--tool", "vitest", "run", "--mode", "long", ...suites];
const { stdout } = spawnSync(process.execPath, vitest, {
  env: { ...process.env, FUELBRIDGE_FATES: file, FUELBRIDGE_NUMBERS: "all" },
  encoding: "utf8",
});
const cells = readFileSync(file, "utf8")
  .split("\n")
  .filter((line) => line !== "")
  .flatMap((line) => JSON.parse(line) as Cell[]);
rmSync(folder, { recursive: true });
process.stdout.write(printed(cells));
const bad = cells.filter(isBad);
if (words.includes("--keep")) {
  const kept = new URL("open.json", import.meta.url);
  const before = JSON.parse(readFileSync(kept, "utf8")) as Record<string, string>;
  const played = new Set(cells.map(nameOf));
  const others = Object.entries(before).filter(([name]) => !played.has(name));
  const open = [...others, ...bad.map((cell) => [nameOf(cell), cell.fate])];
  writeFileSync(
    kept,
    `${JSON.stringify(Object.fromEntries(open.toSorted(([one = ""], [other = ""]) => one.localeCompare(other, "en"))), null, 2)}\n`,
  );
}
if (cells.length === 0) process.stdout.write(stdout);
process.exitCode = bad.length > 0 || cells.length === 0 ? 1 : 0;
