/** What the benchmarks share: processes of their own, what those use, and figures for people. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { request } from "undici";

export const root = join(import.meta.dirname, "..");
/** Where the launcher keeps compiled code. */
const CACHE = join(root, "node_modules", ".cache", "fuelbridge");

export interface Platform {
  readonly url: string;
  readonly controlUrl: string;
  /** The supplier's. */
  readonly apiKey: string;
  readonly pid: number;
  generateInvoices(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** The sandbox in a process and in memory of its own, with limits that nobody reaches. */
export async function startPlatform(scenario: string): Promise<Platform> {
  const child = spawn(
    process.execPath,
    [join(root, "src", "main.ts"), "sandbox", "--port", "0", "--scenario", scenario],
    { stdio: ["ignore", "pipe", "ignore"] },
  );
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    once(child, "exit"),
  ])) as [unknown];
  if (typeof line !== "string") throw new Error("the sandbox did not start");
  const { baseUrl, controlUrl } = JSON.parse(line) as { baseUrl: string; controlUrl: string };
  return {
    url: baseUrl,
    controlUrl,
    apiKey: await unlimitedKey(controlUrl),
    pid: child.pid as number,
    generateInvoices: async (invoices) => {
      await control(controlUrl, "POST", "/generate", { key: "supplier", invoices });
    },
    stop: () => stop(child),
  };
}

/** The supplier's key, from which all limits are taken. */
export async function unlimitedKey(controlUrl: string): Promise<string> {
  const { keys } = (await control(controlUrl, "GET", "/keys")) as {
    keys: { name: string; key: string }[];
  };
  const many = 1_000_000_000;
  await control(controlUrl, "POST", "/limits", {
    key: "supplier",
    perMinute: many,
    monthlyCap: many,
  });
  return keys.find(({ name }) => name === "supplier")?.key ?? "";
}

async function control(
  url: string,
  method: "GET" | "POST" | "PATCH",
  path: string,
  order?: object,
): Promise<unknown> {
  const { statusCode, body } = await request(url + path, {
    method,
    body: order === undefined ? null : JSON.stringify(order),
    headersTimeout: 0,
  });
  const answer = await body.text();
  if (statusCode !== 200) throw new Error(`the sandbox answered ${statusCode}: ${answer}`);
  return JSON.parse(answer) as unknown;
}

/** Moves the due dates of so many open invoices of a sandbox, unseen: their times of change stay. */
export async function moveDueDates(controlUrl: string, invoices: number): Promise<void> {
  const { records } = (await control(controlUrl, "GET", "/records/invoices")) as {
    records: { id: string; status: string; updatedAt: string }[];
  };
  const open = records.filter(({ status }) => status === "OUTSTANDING");
  for (const { id, updatedAt } of open.slice(0, invoices)) {
    const moved = { dueDate: "2031-01-31T18:00:00Z", updatedAt };
    await control(controlUrl, "PATCH", `/records/invoices/${id}`, moved);
  }
}

/** What a process has computed so far. */
export function cpuSecondsOf(pid: number): number {
  const [, fields = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user, system] = fields.split(" ").slice(11, 13).map(Number) as [number, number];
  return (user + system) / TICKS_PER_S;
}

const TICKS_PER_S = 100;

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
}

/** Runs a file of this folder in a fresh process and returns what it reports on standard output. */
export async function inChild<Report>(
  file: string,
  env: Readonly<Record<string, string>>,
  flags: readonly string[] = [],
): Promise<Report> {
  const script = join(import.meta.dirname, file);
  const child = spawn(process.execPath, [...process.execArgv, ...flags, script], {
    stdio: ["ignore", "pipe", "inherit"],
    // Compiled code is kept as the launcher has it kept, on both sides: stripping types is no part of the product.
    env: { ...process.env, NODE_COMPILE_CACHE: CACHE, ...env },
  });
  const [report] = await Promise.all([text(child.stdout), once(child, "close")]);
  if (child.exitCode !== 0) throw new Error(`${file} ended with ${child.exitCode}`);
  return JSON.parse(report) as Report;
}

export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "fuelbridge-bench-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A file of these pieces, which are made as they are written. */
export const writePieces = (path: string, pieces: Iterable<string>): Promise<void> =>
  pipeline(Readable.from(pieces), createWriteStream(path));

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  const [low = Number.NaN, high = low] = [
    sorted[Math.ceil(middle) - 1],
    sorted[Math.floor(middle)],
  ];
  return (low + high) / 2;
}

export const whole = (value: number): string => Math.round(value).toLocaleString("en-US");
export const verdict = (met: boolean): string => (met ? "PASS" : "below");

export function say(...lines: readonly string[]): void {
  process.stdout.write(`${lines.join("\n")}\n`);
}
