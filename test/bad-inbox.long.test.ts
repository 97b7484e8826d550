/**
 * Five hundred counted bad files of four formats, and good ones among them, in the inboxes of real flows to the sandbox: each
 * bad file is rejected with a report, told, or loses its bad rows only; every good row arrives; no row is lost.
 *
 * @module-tag numbers
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { expectFates, isRejected, type PutFile, putInboxes } from "./files/bad-inbox.ts";
import { usePlatform } from "./platform/support.ts";
import type { Told } from "./support/bad-inbox-program.ts";
import { tempFolder } from "./support/folder.ts";

const PROGRAM = join(import.meta.dirname, "support", "bad-inbox-program.ts");
const SEED = 20_261_123;
const BAD = 500;
const MAX_MB = 200;
const platform = usePlatform("empty");
const run = promisify(execFile);

/** As the launcher starts the daemon. */
async function read(folder: string): Promise<Told> {
  await platform.unlimited();
  const nowMs = await platform.control.now();
  const reach = [platform.urls().baseUrl, platform.secret("supplier"), String(nowMs)];
  const { stdout } = await run(
    process.execPath,
    ["--max-semi-space-size=4", PROGRAM, folder, ...reach],
    { encoding: "utf8", maxBuffer: 100_000_000 },
  );
  return JSON.parse(stdout) as Told;
}

test("of 500 bad files of four formats each is rejected with a report, told, or loses its bad rows; every other row arrives, in less than 200 MB", async () => {
  const folder = tempFolder();
  const put = await putInboxes(folder, BAD, { seed: SEED, endlessMb: 100 });
  const good = put.filter(({ kind }) => kind === "good");
  expect(put.length - good.length).toBe(BAD);
  const told = await read(folder);

  expectFates(folder, put, told.rows);
  // What was rejected is told by its name, what is left beside it; a list that lost too much is told besides.
  const isTold = ({ format, name }: PutFile): boolean =>
    told.obstacles.some(({ flow, what }) => flow === format && what === name);
  expect(put.filter((file) => isRejected(file) && !isTold(file))).toEqual([]);
  const rest = told.obstacles.filter(({ code }) => code !== "list-shrunk");
  expect(rest.length).toBe(put.filter((file) => file.fate === "left" || isRejected(file)).length);

  // The platform holds what the store says was delivered, and nothing else.
  const held = (await platform.control.stored("rack-prices", "supplier")) as {
    terminalId: string;
    product: string;
  }[];
  const all = new Set(told.rows.flatMap(({ id, state }) => (state === "delivered" ? [id] : [])));
  expect(held.map(({ terminalId, product }) => `${terminalId}|${product}`).toSorted()).toEqual(
    [...all].toSorted(),
  );
  process.stdout.write(
    `${put.length} files, ${put.length * 3} rows: ${all.size} delivered, ${told.rows.length - all.size} quarantined, ` +
      `${put.filter(isRejected).length} files rejected; ${Math.round(told.peakMb)} MB\n`,
  );
  expect(told.peakMb).toBeLessThan(MAX_MB);
});
