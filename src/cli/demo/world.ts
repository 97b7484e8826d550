/** The demo's two sides: the platform's sandbox as a process of its own, and an ERP that is a folder of files. */
import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { request } from "undici";
import { EnvironmentError } from "../../core/errors.ts";
import { type Json, parseExact } from "../../core/json.ts";

export const root = join(import.meta.dirname, "..", "..", "..");
export const exportsFolder = join(root, "test", "data", "tryton-export");

/** What the demo's ERP has exported when it begins. */
const EXPORTS = [
  "customers.csv",
  "suppliers.csv",
  "price-lists.csv",
  "customer-invoice-taxes.csv",
  "customer-invoice-lines.csv",
  "customer-invoices.csv",
];
/** The port that config/demo.yaml falls back to, so that commands beside the demo find the platform. */
const PORT = 8085;
/** The demo's platform, whatever port it has got: the address in config/demo.yaml, which the demo's store is bound to. */
export const PLATFORM = `http://127.0.0.1:${PORT}/v1/public`;

export interface World {
  readonly url: string;
  readonly companyId: string;
  /** Raw records of the platform, whoever owns them, numbers exact. */
  records(resource: string): Promise<readonly Record<string, Json>[]>;
  /** POST, PUT and DELETE requests that the platform has seen. */
  writes(): Promise<number>;
  stop(): Promise<void>;
}

/** Puts the ERP's exports into a new demo folder, as an ERP should: whole files, moved into place. */
export function dropExports(folder: string): boolean {
  if (!existsSync(exportsFolder))
    throw new EnvironmentError(
      `The demo's data is not here (${exportsFolder}).`,
      "Run the demo in a clone of the project: `npm run demo`.",
    );
  const drop = join(folder, "erp", "export");
  if (existsSync(join(folder, "state"))) return false;
  mkdirSync(drop, { recursive: true });
  for (const name of EXPORTS) {
    copyFileSync(join(exportsFolder, name), join(drop, `${name}.tmp`));
    renameSync(join(drop, `${name}.tmp`), join(drop, name));
  }
  return true;
}

/** Starts the platform over its own file in the demo folder and writes down the API key for the configuration. */
export async function startPlatform(folder: string): Promise<World> {
  mkdirSync(folder, { recursive: true });
  const { child, ready } = await launch(join(folder, "platform.sqlite"), PORT).catch(() =>
    launch(join(folder, "platform.sqlite"), 0),
  );
  const control = async (path: string): Promise<Record<string, Json>> => {
    const { statusCode, body } = await request(ready.controlUrl + path);
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`the sandbox answered ${statusCode}: ${text}`);
    return parseExact(text) as Record<string, Json>;
  };
  const { keys } = (await control("/keys")) as unknown as { keys: Key[] };
  const supplier = keys.find(({ name }) => name === "supplier") as Key;
  const keyFile = join(folder, "api-key");
  writeFileSync(keyFile, `${supplier.key}\n`, { mode: 0o600 });
  chmodSync(keyFile, 0o600);
  return {
    url: ready.baseUrl,
    companyId: supplier.companyId,
    records: async (resource) =>
      (await control(`/records/${resource}`))["records"] as readonly Record<string, Json>[],
    writes: async () => {
      const { requests } = (await control("/requests")) as unknown as {
        requests: { method: string }[];
      };
      return requests.filter(({ method }) => method !== "GET").length;
    },
    stop: () => stop(child),
  };
}

interface Key {
  readonly name: string;
  readonly key: string;
  readonly companyId: string;
}

interface Ready {
  readonly baseUrl: string;
  readonly controlUrl: string;
}

async function launch(db: string, port: number): Promise<{ child: ChildProcess; ready: Ready }> {
  const args = ["sandbox", "--port", String(port), "--db", db, "--scenario", "demo"];
  const child = spawn(process.execPath, [join(root, "src", "launch.mjs"), ...args], {
    // A group of its own: Ctrl-C stops the daemon first, and the daemon then stops the platform.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, FUELBRIDGE_DEMO: randomUUID() },
  });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-2_000);
  });
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([once(lines, "line"), once(child, "exit")]);
  const [line] = first as [unknown];
  if (typeof line === "string") return { child, ready: JSON.parse(line) as Ready };
  throw new EnvironmentError(
    `The demo's platform did not start: ${complaint.trim() || `exit ${String(line)}`}`,
    "Look at the message; removing the folder var/demo starts the demo anew.",
  );
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
}
