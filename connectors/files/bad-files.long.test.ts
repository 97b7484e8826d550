/**
 * Five hundred and more counted files as they should not be, and lines of 100 MB, in a process of their own: what becomes of
 * each, and the memory that it takes.
 *
 * @module-tag numbers
 */
import { execFileSync } from "node:child_process";
import { createWriteStream, readdirSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { putBadFiles } from "../../test/files/bad-files.ts";
import { expectFates, type Outcome } from "../../test/files/bad-files-suite.ts";

const PROGRAM = join(import.meta.dirname, "../../test/files/bad-files-program.ts");

/** As the launcher starts the daemon. */
const read = (folder: string): Outcome & { peakMb: number } =>
  JSON.parse(
    execFileSync(process.execPath, ["--max-semi-space-size=4", PROGRAM, folder], {
      encoding: "utf8",
      maxBuffer: 100_000_000,
    }),
  ) as Outcome & { peakMb: number };

test("of 528 bad files each is refused with a report, loses its bad rows only, or is told, in less than 200 MB", async () => {
  const folder = tempFolder();
  const put = await putBadFiles(folder, 16);
  expect(put.length).toBe(528);
  const told = read(folder);
  expectFates(folder, put, told);
  process.stdout.write(`${put.length} bad files: ${Math.round(told.peakMb)} MB\n`);
  expect(told.peakMb).toBeLessThan(200);
});

test("lines of 100 MB, with and without quotes, are refused with a report in less than 200 MB", async () => {
  const folder = tempFolder();
  const header =
    "Code,Name,City,State,ZIP,Country,Latitude,Longitude,Capacity,Operating Hours,Active\r\n";
  for (const [at, begin] of ["x", 'x,"', "x,"].entries()) {
    const file = createWriteStream(join(folder, `t${at}.csv`));
    file.write(`${header}A${at},Plant,,,,,,,,,1\r\n${begin}`);
    const piece = "y".repeat(1_000_000);
    for (let mb = 0; mb < 100; mb++) if (!file.write(piece)) await once(file, "drain");
    file.end(at === 2 ? "\r\n" : "");
    await finished(file);
  }
  const { peakMb } = read(folder);
  const failed = readdirSync(join(folder, "failed"));
  process.stdout.write(`lines of 100 MB: ${Math.round(peakMb)} MB\n`);
  expect(failed.filter((name) => name.endsWith(".errors.csv")).length).toBe(3);
  expect(peakMb).toBeLessThan(200);
});
