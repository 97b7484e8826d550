/**
 * Memory of `fuelbridge run` alone: in step with the demo's two sides, and in step again after 200,000 more invoices.
 * The configuration is the demo's with one change: the ERP gets those invoices in files of 200 and not in 200,000.
 */
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseDocument } from "yaml";
import { dropExports } from "../src/cli/demo/world.ts";
import { table } from "../src/cli/table.ts";
import { remoteOffice } from "../src/console/remote.ts";
import type { Office, Status } from "../src/report/office.ts";
import { inFolder, memoryOf, root, say, startPlatform, stop, verdict, whole } from "./support.ts";

const BACKFILL = 200_000;
const IN_STEP_MAX_MB = 150;
const GROWTH_MAX = 1.3;

export async function benchMemory(): Promise<void> {
  await inFolder(async (folder) => {
    const demo = join(folder, "var", "demo");
    const config = writeConfig(join(folder, "config"));
    const platform = await startPlatform("demo");
    dropExports(demo);
    writeFileSync(join(demo, "api-key"), `${platform.apiKey}\n`, { mode: 0o600 });
    mkdirSync(join(demo, "state"), { recursive: true });
    const daemon = spawn(
      process.execPath,
      [...process.execArgv, join(root, "src", "main.ts"), "run", "--config", config],
      {
        stdio: ["ignore", "ignore", "inherit"],
        env: { ...process.env, FUELBRIDGE_PLATFORM_URL: platform.url },
      },
    );
    try {
      const pid = daemon.pid as number;
      const office = await reach(join(demo, "state"));
      say("", "memory: the daemon alone");
      const small = await measure(pid, office);
      await platform.generateInvoices(BACKFILL);
      const large = await measure(pid, office);
      tell(small, large);
    } finally {
      await stop(daemon);
      await platform.stop();
    }
  });
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

interface Measured {
  readonly status: Status;
  readonly memory: { now: number; peak: number };
}

/** Has every flow look until nothing new comes and nothing is left to do. */
async function measure(pid: number, office: Office): Promise<Measured> {
  const startedMs = performance.now();
  let status = await office.status();
  for (let before = ""; before !== progressOf(status);) {
    before = progressOf(status);
    status = await look(office);
  }
  const memory = memoryOf(pid);
  if (memory === null) throw new Error("only Linux tells the memory of another process");
  const seconds = (performance.now() - startedMs) / 1_000;
  const sum = (of: "received" | "delivered" | "quarantined"): string =>
    whole(status.flows.reduce((total, flow) => total + flow[of], 0));
  say(
    `  in step after ${whole(seconds)} s: ${sum("received")} received, ${sum("delivered")} delivered,` +
      ` ${sum("quarantined")} quarantined; ${whole(memory.now)} MB, at most ${whole(memory.peak)} MB`,
  );
  return { status, memory };
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

function tell({ memory: small }: Measured, { memory: large }: Measured): void {
  const growth = large.now / small.now;
  const rows = [
    ["in step", small, `< ${IN_STEP_MAX_MB} MB`, small.now < IN_STEP_MAX_MB] as const,
    [
      `after ${whole(BACKFILL)}: ${growth.toFixed(2)} times`,
      large,
      `<= ${GROWTH_MAX} times`,
      growth <= GROWTH_MAX,
    ] as const,
  ].map(([what, { now, peak }, target, met]) => [
    what,
    whole(now),
    whole(peak),
    target,
    verdict(met),
  ]);
  say("", table(["MEMORY", "MB", "PEAK MB", "TARGET", ""], rows));
}
