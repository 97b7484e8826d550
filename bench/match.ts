/**
 * Seconds and memory of `fuelbridge match` over so many invoices, bills among them, with their orders and tickets: a month of the
 * sandbox with 8 % errors, read by flows into a store, and stored again and again under other numbers and ids.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import Database from "better-sqlite3";
import { storedId } from "../src/store/statements.ts";
import { storeFile } from "../src/store/database.ts";
import type { MatchReport } from "../src/match/report.ts";
import { startSandbox } from "../src/sandbox/server.ts";
import { table } from "../src/views/text.ts";
import { monthSite } from "../test/support/matched.ts";
import { sumAnew } from "../test/support/sums.ts";
import { inFolder, median, root, say, unlimitedKey, verdict, whole } from "./support.ts";

const TARGET_S = 60;
const TARGET_MB = 300;
/** Of the sandbox's month. */
const INVOICES = 2_000;

interface Usage {
  readonly cpuSeconds: number;
  readonly wallSeconds: number;
  readonly peakMb: number;
}

export async function benchMatch(invoices: number, rounds: number): Promise<void> {
  const sides = await inFolder(async (folder) => {
    const sandbox = await startSandbox({
      scenario: "month",
      month: { trades: INVOICES / 2, faults: 80 },
    });
    try {
      const platform = {
        MATCH_URL: sandbox.baseUrl,
        MATCH_KEY: await unlimitedKey(sandbox.controlUrl),
      };
      const config = monthSite(join(root, "config", "crossref"));
      writeFileSync(join(folder, "config.yaml"), config);
      mkdirSync(join(folder, "erp"));
      await fuelbridge(folder, platform, "once");
      repeat(folder, invoices / INVOICES);
      say("", `match: ${whole(invoices)} invoices, CPU seconds, wall seconds (peak MB)`);
      const measured: Usage[] = [];
      for (let at = 0; at < rounds; at++) {
        const words = ["match", "--from", "2000-01-01", "--json"];
        const { usage, answer } = await fuelbridge(folder, platform, ...words);
        const { data } = JSON.parse(answer) as { data: MatchReport };
        if (data.invoices.all < invoices)
          throw new Error(`${data.invoices.all} of ${invoices} invoices were matched`);
        measured.push(usage);
        const [cpu, wall] = [usage.cpuSeconds, usage.wallSeconds].map((one) => one.toFixed(2));
        say(`  fuelbridge ${cpu}, ${wall} (${whole(usage.peakMb)})`);
      }
      return measured;
    } finally {
      await sandbox.close();
    }
  });
  const cpu = median(sides.map(({ cpuSeconds }) => cpuSeconds));
  const wall = median(sides.map(({ wallSeconds }) => wallSeconds));
  const peak = Math.max(...sides.map(({ peakMb }) => peakMb));
  say(
    "",
    table(
      ["MATCH", "CPU S", "WALL S", "TARGET", "", "PEAK MB", "TARGET", ""],
      [
        [
          `${whole(invoices)} invoices`,
          cpu.toFixed(2),
          wall.toFixed(2),
          `< ${TARGET_S}`,
          verdict(Math.max(cpu, wall) < TARGET_S),
          whole(peak),
          `< ${TARGET_MB}`,
          verdict(peak < TARGET_MB),
        ],
      ],
    ),
  );
}

/** A command by its launcher, as people start it: what it took and answered. What it found makes it end with 1. */
async function fuelbridge(
  folder: string,
  platform: Readonly<Record<string, string>>,
  ...words: readonly string[]
): Promise<{ readonly usage: Usage; readonly answer: string }> {
  const file = join(folder, "usage.json");
  const hook = pathToFileURL(join(import.meta.dirname, "usage-at-exit.ts")).href;
  const startedMs = performance.now();
  const child = spawn(
    process.execPath,
    [join(root, "src", "launch.mjs"), ...words, "--config", join(folder, "config.yaml")],
    {
      stdio: ["ignore", "pipe", "inherit"],
      env: {
        ...process.env,
        ...platform,
        MALLOC_ARENA_MAX: "2",
        FUELBRIDGE_USAGE: file,
        NODE_OPTIONS: `--max-semi-space-size=4 --import ${hook}`,
      },
    },
  );
  const [answer] = await Promise.all([text(child.stdout), once(child, "close")]);
  const wallSeconds = (performance.now() - startedMs) / 1_000;
  const used = JSON.parse(readFileSync(file, "utf8")) as Omit<Usage, "wallSeconds">;
  return { usage: { ...used, wallSeconds }, answer };
}

/** What is another one in each month: the beginning of ids, and the beginning of numbers. */
const MONTHLY =
  /(?<="(?:id|orderId)":").{8}|(?<="(?:invoiceNumber|ticketNumber|deliveryTicket|bolNumber)":")/g;

/** Stores each paper again until it is there so many times. */
function repeat(folder: string, times: number): void {
  const database = new Database(storeFile(join(folder, "state")));
  database.pragma("synchronous = off");
  const papers = database
    .prepare<[], { flow: number; version: string; revision: string; text: string }>(
      `select flow, version, revision, text from record join flow using (flow)
       where flow.name in ('orders', 'tickets', 'issued', 'payable') order by record`,
    )
    .all();
  const insert = database.prepare(
    "insert into record (flow, id, version, revision, text) values (?, ?, ?, ?, ?)",
  );
  database.transaction(() => {
    for (let month = 1; month < times; month++)
      for (const { flow, version, revision, text: paper } of papers) {
        const other = paper.split(MONTHLY).join(month.toString(16).padStart(8, "0"));
        const { id } = JSON.parse(other) as { id: string };
        insert.run(flow, storedId(id), version, revision, other);
      }
    sumAnew(database);
  })();
  database.close();
}
