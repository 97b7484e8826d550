/**
 * Memory of `fuelbridge run` alone: with the demo's two sides, and with 200,000 more invoices to take over; as soon as
 * it is in step, and at rest, when V8 has given back what the work left behind. The configuration is the demo's with
 * one change: the ERP gets those invoices in files of 200.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseDocument } from "yaml";
import { dropExports } from "../src/demo/world.ts";
import { table } from "../src/views/text.ts";
import { remoteOffice } from "../src/office/remote.ts";
import type { Office } from "../src/office/questions.ts";
import type { Status } from "../src/office/answers.ts";
import {
  cpuSecondsOf,
  inFolder,
  root,
  say,
  startPlatform,
  stop,
  verdict,
  whole,
} from "./support.ts";
import { memoryOf } from "../test/support/memory.ts";

const BACKFILL = 200_000;
const IN_STEP_MAX_MB = 150;
const GROWTH_MAX = 1.3;
const REST_MS = 130_000;

interface Memory {
  readonly inStep: number;
  readonly atRest: number;
  readonly peak: number;
}

export async function benchMemory(): Promise<void> {
  say("", "memory: the daemon alone");
  const small = await inFolder((folder) => memoryOfSite(folder, 0));
  const large = await inFolder((folder) => memoryOfSite(folder, BACKFILL));
  const rows = (["inStep", "atRest"] as const).map((when) => {
    const growth = large[when] / small[when];
    return [
      when === "inStep" ? "in step" : "at rest",
      whole(small[when]),
      `< ${IN_STEP_MAX_MB}`,
      verdict(small[when] < IN_STEP_MAX_MB),
      whole(large[when]),
      growth.toFixed(2),
      `<= ${GROWTH_MAX}`,
      verdict(growth <= GROWTH_MAX),
    ];
  });
  rows.push(["peak", whole(small.peak), "", "", whole(large.peak), "", "", ""]);
  const head = ["MEMORY", "DEMO MB", "TARGET", "", `WITH ${whole(BACKFILL)} MB`];
  say("", table([...head, "RATIO", "TARGET", ""], rows));
}

/** A new site in `folder`, run until both sides are in step. */
async function memoryOfSite(folder: string, backfill: number): Promise<Memory> {
  const demo = join(folder, "var", "demo");
  const config = writeConfig(join(folder, "config"));
  const platform = await startPlatform("demo");
  try {
    // Before the daemon's first look: their times are in the past, where no later walk begins.
    await platform.generateInvoices(backfill);
    dropExports(demo);
    writeFileSync(join(demo, "api-key"), `${platform.apiKey}\n`, { mode: 0o600 });
    mkdirSync(join(demo, "state"));
    const daemon = spawn(
      process.execPath,
      [...process.execArgv, join(root, "src", "launch.mjs"), "run", "--config", config],
      {
        stdio: ["ignore", "ignore", "inherit"],
        env: { ...process.env, FUELBRIDGE_PLATFORM_URL: platform.url },
      },
    );
    try {
      return await measure(daemon.pid as number, await reach(join(demo, "state")));
    } finally {
      await stop(daemon);
    }
  } finally {
    await platform.stop();
  }
}

function writeConfig(folder: string): string {
  cpSync(join(root, "config"), folder, { recursive: true });
  const file = join(folder, "demo.yaml");
  const document = parseDocument(readFileSync(file, "utf8"));
  const sink = ["endpoints", "erp", "sinks", "invoices"];
  document.setIn([...sink, "per"], "batch");
  document.setIn([...sink, "itemsMax"], 200);
  writeFileSync(file, String(document));
  return file;
}

async function reach(state: string): Promise<Office> {
  for (let tries = 0; tries < 100; tries++) {
    const office = await remoteOffice(state);
    if (office !== null) return office;
    await setTimeout(200);
  }
  throw new Error("the daemon did not start");
}

/** Has every flow look until nothing new comes and nothing is left to do, and lets it rest. */
async function measure(pid: number, office: Office): Promise<Memory> {
  const startedMs = performance.now();
  let status = await office.status();
  for (let before = ""; before !== progressOf(status);) {
    before = progressOf(status);
    status = await look(office);
  }
  const seconds = (performance.now() - startedMs) / 1_000;
  const { now: inStep, peak } = memoryOf(pid);
  const sum = (of: "received" | "delivered" | "quarantined"): string =>
    whole(status.flows.reduce((total, flow) => total + flow[of], 0));
  say(
    `  in step after ${whole(seconds)} s: ${sum("received")} received, ${sum("delivered")} delivered,` +
      ` ${sum("quarantined")} quarantined; ${whole(inStep)} MB, at most ${whole(peak)} MB`,
  );
  await setTimeout(REST_MS);
  return { inStep, atRest: memoryOf(pid).now, peak };
}

const progressOf = ({ flows }: Status): string =>
  flows.map(({ received, pending }) => `${received}-${pending}`).join();

async function look(office: Office): Promise<Status> {
  const since = new Date().toISOString();
  await office.runNow("all");
  for (;;) {
    await setTimeout(1_000);
    const status = await office.status();
    const failed = status.flows.find(({ lastError }) => lastError !== null);
    if (failed !== undefined) throw new Error(`${failed.name}: ${failed.lastError?.message}`);
    const looked = status.flows.every(
      ({ lastRunAt, state, pending }) =>
        state === "idle" && pending === 0 && lastRunAt !== null && lastRunAt >= since,
    );
    if (looked) return status;
  }
}

const COMPANIES = 20;
const COMPANIES_MAX_MB = 400;
const START_MAX_S = 3;

/** One process with 20 companies under one key: until all of them run, first and with their stores, and its memory in between. */
export async function benchCompanies(): Promise<void> {
  say("", `companies: ${COMPANIES} in one process`);
  await inFolder(async (folder) => {
    const platform = await startPlatform("demo");
    const config = writeCompanies(folder);
    mkdirSync(join(folder, "var", "demo"), { recursive: true });
    writeFileSync(join(folder, "var", "demo", "api-key"), `${platform.apiKey}\n`, { mode: 0o600 });
    try {
      const first = await startCompanies(config, platform.url);
      for (const name of COMPANY_NAMES) {
        const office = await reach(join(folder, "var", name, "state"));
        while (!(await office.status()).flows.every(({ lastRunAt }) => lastRunAt !== null))
          await setTimeout(500);
      }
      const { now, peak } = memoryOf(first.pid);
      await setTimeout(REST_MS);
      const rest = memoryOf(first.pid).now;
      await stop(first.daemon);
      const again = await startCompanies(config, platform.url);
      await stop(again.daemon);
      const start = (seconds: number): string[] => [
        seconds.toFixed(2),
        `< ${START_MAX_S}`,
        verdict(seconds < START_MAX_S),
      ];
      const rows = [
        ["first start, CPU s", ...start(first.cpuS)],
        ["start with stores, CPU s", ...start(again.cpuS)],
        [
          "all have looked, MB",
          whole(now),
          `< ${COMPANIES_MAX_MB}`,
          verdict(now < COMPANIES_MAX_MB),
        ],
        ["at rest, MB", whole(rest), "", ""],
        ["peak, MB", whole(peak), "", ""],
      ];
      say("", table(["COMPANIES", "", "TARGET", ""], rows));
    } finally {
      await platform.stop();
    }
  });
}

/** Until all of them run. `cpuS`: what it took by then. */
async function startCompanies(config: string, url: string) {
  const daemon = spawn(
    process.execPath,
    [...process.execArgv, join(root, "src", "launch.mjs"), "run", "--config", config],
    {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, FUELBRIDGE_PLATFORM_URL: url },
    },
  );
  const pid = daemon.pid as number;
  let running = 0;
  for await (const line of createInterface(daemon.stdout)) {
    if (line.includes("fuelbridge runs")) running++;
    if (running === COMPANIES) break;
  }
  daemon.stdout.resume();
  return { daemon, pid, cpuS: cpuSecondsOf(pid) };
}

const COMPANY_NAMES = Array.from({ length: COMPANIES }, (_, at) => `c${at}`);

/** The demo's configuration for each of them, over an ERP folder of its own; whose is what goes by the last digits of numbers. */
function writeCompanies(folder: string): string {
  cpSync(join(root, "config"), join(folder, "config"), { recursive: true });
  const file = join(folder, "config", "demo.yaml");
  for (const name of COMPANY_NAMES)
    mkdirSync(join(folder, "var", name, "erp", "export"), { recursive: true });
  const digits = (at: number): string => String(at).padStart(2, "0");
  const rules = COMPANY_NAMES.map((name, at) => `  ${name}: [{ number: ["*${digits(at)}"] }]\n`);
  const own = COMPANY_NAMES.map(
    (name) =>
      `  ${name}: { state: ../var/${name}/state, endpoints: { erp: { folder: ../var/${name}/erp } } }\n`,
  );
  const common = readFileSync(file, "utf8").replace("company: bluebonnet\n", "");
  const day = new Date().toISOString().slice(0, 10);
  writeFileSync(
    file,
    `${common}\nfirstStart: ${day}\nsites:\n${rules.join("")}companies:\n${own.join("")}`,
  );
  return file;
}
