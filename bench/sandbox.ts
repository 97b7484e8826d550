/**
 * The sandbox alone, with its state in a file: pages of 100 records, the first page of a walk, memory. Rates are what one
 * client gets who asks for one page after the other, so one core at most is at work for it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { request } from "undici";
import { table } from "../src/views/text.ts";
import { inFolder, median, root, say, stop, verdict, whole } from "./support.ts";
import { memoryOf } from "../test/support/memory.ts";

const PAGES = 500;
const PAGES_PER_MINUTE_MIN = 5_000;
const FIRST_PAGE_MS_MAX = 20;
const MEMORY_MB_MAX = 300;
const DAY_MS = 24 * 3_600_000;

export async function benchSandbox(records: number): Promise<void> {
  await inFolder(async (folder) => {
    const db = join(folder, "sandbox.db");
    const first = await begin(db);
    try {
      say("", `sandbox: ${whole(records)} invoices in a file`);
      const seconds = await timed(() =>
        first.control("/generate", { key: "supplier", invoices: records }),
      );
      const peak = memoryOf(first.pid)?.peak ?? Number.NaN;
      say(
        `  generated in ${whole(seconds)} s, ${whole(records / seconds)}/s, at most ${whole(peak)} MB`,
      );
    } finally {
      await stop(first.child);
    }
    const sandbox = await begin(db);
    try {
      await measure(sandbox, records);
    } finally {
      await stop(sandbox.child);
    }
  });
}

interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly control: (path: string, order: object) => Promise<void>;
  /** A page of invoices; its next cursor, when it has one. */
  readonly page: (query: string) => Promise<string | null>;
}

async function measure({ pid, page }: Running, records: number): Promise<void> {
  const pages = Math.ceil(records / 100);
  const random = (): number => 1 + Math.floor(Math.random() * pages);
  await rate(async () => void (await page("page=1")));
  const walk = { cursor: null as string | null };
  const rows: string[][] = [];
  const perMinute = async (name: string, ask: () => Promise<unknown>): Promise<void> => {
    const value = await rate(ask);
    const met = verdict(value >= PAGES_PER_MINUTE_MIN);
    rows.push([name, `${whole(value)}/min`, `>= ${whole(PAGES_PER_MINUTE_MIN)}`, met]);
  };
  await perMinute("the first page of a list", () => page("page=1"));
  await perMinute("any page of a list", () => page(`page=${random()}`));
  await perMinute("page after page of a walk", async () => {
    const where =
      walk.cursor === null ? "updatedSince=1970-01-01T00:00:00Z" : `cursor=${walk.cursor}`;
    walk.cursor = await page(where);
  });
  for (const [name, since] of [
    ["everything", () => 0],
    ["any time of the month", () => Date.now() - Math.random() * 30 * DAY_MS],
  ] as const) {
    const times: number[] = [];
    for (let at = 0; at < PAGES; at++)
      times.push(await timed(() => page(`updatedSince=${new Date(since()).toISOString()}`)));
    const ms = median(times) * 1_000;
    const met = verdict(ms < FIRST_PAGE_MS_MAX);
    rows.push([
      `a walk's first page, since ${name}`,
      `${ms.toFixed(1)} ms`,
      `< ${FIRST_PAGE_MS_MAX} ms`,
      met,
    ]);
  }
  const memory = memoryOf(pid);
  if (memory !== null)
    rows.push([
      "memory, at most",
      `${whole(memory.peak)} MB`,
      `< ${MEMORY_MB_MAX} MB`,
      verdict(memory.peak < MEMORY_MB_MAX),
    ]);
  say("", table(["SANDBOX", "", "TARGET", ""], rows));
}

async function rate(ask: () => Promise<unknown>): Promise<number> {
  const seconds = await timed(async () => {
    for (let at = 0; at < PAGES; at++) await ask();
  });
  return (PAGES / seconds) * 60;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return (performance.now() - startedMs) / 1_000;
}

async function begin(db: string): Promise<Running> {
  const child = spawn(
    process.execPath,
    [join(root, "src", "main.ts"), "sandbox", "--db", db, "--scenario", "empty"],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    once(child, "exit"),
  ])) as [unknown];
  if (typeof line !== "string") throw new Error("the sandbox did not start");
  const { baseUrl, controlUrl } = JSON.parse(line) as { baseUrl: string; controlUrl: string };
  const asked = async (url: string, order: object | null, headers: Record<string, string>) => {
    const { statusCode, body } = await request(url, {
      method: order === null ? "GET" : "POST",
      body: order === null ? null : JSON.stringify(order),
      headers,
      headersTimeout: 0,
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`the sandbox answered ${statusCode}: ${text}`);
    return text;
  };
  const { keys } = JSON.parse(await asked(`${controlUrl}/keys`, null, {})) as {
    keys: { name: string; key: string }[];
  };
  const key = keys.find(({ name }) => name === "supplier")?.key ?? "";
  const control = async (path: string, order: object): Promise<void> => {
    await asked(controlUrl + path, order, {});
  };
  const many = 1_000_000_000;
  await control("/limits", { key: "supplier", perMinute: many, monthlyCap: many });
  return {
    child,
    pid: child.pid as number,
    control,
    page: async (query) => {
      const url = `${baseUrl}/invoices?pageSize=100&${query}`;
      const text = await asked(url, null, { "X-API-Key": key });
      // Reading a whole page would cost this process more than it costs the sandbox to write it.
      return /"nextCursor":"([^"]+)"/.exec(text.slice(-2_000))?.[1] ?? null;
    },
  };
}
