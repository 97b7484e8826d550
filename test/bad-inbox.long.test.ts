/**
 * Five hundred counted bad files of four formats, and good ones among them, in the inboxes of real flows to the sandbox: each
 * bad file is rejected with a report, told, or loses its bad rows only; every good row arrives; no row is lost.
 *
 * @module-tag numbers
 */
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { formats, type PutFile, putInboxes } from "./files/bad-inbox.ts";
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

/** Where a file lies now. */
function placeOf(folder: string, { format, name }: PutFile): string {
  const inbox = join(folder, format);
  const original = (one: string): string => one.replace(/\.[0-9a-f]{8}(?=\.(?:errors|dat))/, "");
  const namesIn = (sub: string): string[] => readdirSync(join(inbox, sub)).map(original);
  if (readdirSync(inbox).includes(name)) return "left";
  const failed = namesIn("failed");
  if (!failed.includes(name)) return namesIn("archive").includes(name) ? "archived" : "lost";
  return failed.includes(name.replace(/dat$/, "errors.csv")) ? "rejected" : "without a report";
}

/** What must become of a file: where it lies, how many of its rows arrived, and whether some are quarantined. */
const FATES = {
  good: ["archived", 3, false],
  row: ["archived", 2, true],
  set: ["archived", 0, true],
  cut: ["rejected", 2, false],
  end: ["rejected", 3, false],
  torn: ["rejected", 0, true],
  refused: ["rejected", 0, false],
  left: ["left", 0, false],
} as const;

test("of 500 bad files of four formats each is rejected with a report, told, or loses its bad rows; every other row arrives, in less than 200 MB", async () => {
  const folder = tempFolder();
  for (const format of Object.keys(formats))
    for (const sub of ["", "archive", "failed"])
      mkdirSync(join(folder, format, sub), { recursive: true });
  const put = await putInboxes(folder, BAD, SEED);
  const good = put.filter(({ kind }) => kind === "good");
  expect(put.length - good.length).toBe(BAD);
  const told = await read(folder);

  const found = put.map((file) => {
    const own = told.rows.filter(
      ({ flow, origin }) =>
        flow === file.format && (origin === file.name || origin.startsWith(`${file.name} `)),
    );
    const isDelivered = new Set(
      own.flatMap(({ id, state }) => (state === "delivered" ? [id] : [])),
    );
    const delivered = file.rows.filter((row) => isDelivered.has(row)).length;
    const others = own.filter(({ state }) => state !== "delivered" && state !== "quarantined");
    const isQuarantined = own.some(({ state }) => state === "quarantined");
    const where = placeOf(folder, file);
    return { file, where, delivered, isQuarantined, others, extra: isDelivered.size - delivered };
  });
  expect(
    found.map(
      ({ file: { format, kind, name }, where, delivered, isQuarantined, others, extra }) => [
        [format, kind, name],
        [where, delivered, isQuarantined],
        [others, extra],
      ],
    ),
  ).toEqual(
    put.map(({ format, kind, name, fate }) => [[format, kind, name], FATES[fate], [[], 0]]),
  );
  const count = (is: (fate: PutFile["fate"]) => boolean): number =>
    put.filter(({ fate }) => is(fate)).length;
  // What was rejected is told by its name, what is left beside it; a list that lost too much is told besides.
  const isTold = ({ format, name }: PutFile): boolean =>
    told.obstacles.some(({ flow, what }) => flow === format && what === name);
  const isRejected = (fate: PutFile["fate"]): boolean => FATES[fate][0] === "rejected";
  expect(put.filter((file) => isRejected(file.fate) && !isTold(file))).toEqual([]);
  const rest = told.obstacles.filter(({ code }) => code !== "list-shrunk");
  expect(rest.length).toBe(count((fate) => fate === "left" || isRejected(fate)));

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
      `${count((fate) => fate === "refused")} files rejected; ${Math.round(told.peakMb)} MB\n`,
  );
  expect(told.peakMb).toBeLessThan(MAX_MB);
});
