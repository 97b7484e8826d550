/** The demo's two sides: the platform's sandbox as a process of its own, and an ERP that is a folder of files. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parse } from "csv-parse/sync";
import { request } from "undici";
import { drop } from "./erp.ts";
import { EnvironmentError } from "../core/errors.ts";
import { type Json, parseExact, stringifyExact } from "../core/json.ts";

export const root = join(import.meta.dirname, "..", "..");
export const exportsFolder = join(root, "test", "data", "tryton-export");

/** What the demo's ERP has exported when it begins, and the file of the project that each is made of. */
const EXPORTS: readonly (readonly [name: string, source: string])[] = [
  ["customers.csv", "customers.csv"],
  ["suppliers.csv", "suppliers.csv"],
  ["price-lists.csv", "price-lists.csv"],
  ["customer-invoice-taxes.csv", "customer-invoice-taxes.csv"],
  ["customer-invoice-lines.csv", "customer-invoice-lines.csv"],
  ["customer-invoices.csv", "customer-invoices.csv"],
  // The heads once more, for those that were paid since.
  ["paid-invoices.csv", "customer-invoices.csv"],
];

/** Parties that both sides know when the demo begins: the table that names them is the ERP's list, too. */
const KNOWN: Readonly<Record<string, string>> = {
  "customers.csv": "customers.csv",
  "suppliers.csv": "vendors.csv",
};
/** The port that config/demo.yaml falls back to, so that commands beside the demo find the platform. */
const PORT = 8085;
/** The demo's platform, whatever port it has got: the address in config/demo.yaml, which the demo's store is bound to. */
export const PLATFORM = `http://127.0.0.1:${PORT}/v1/public`;

/** Puts the ERP's exports into a new demo folder, as an ERP should: whole files, moved into place. */
export function dropExports(folder: string): boolean {
  if (!existsSync(exportsFolder))
    throw new EnvironmentError(
      `The demo's data is not here (${exportsFolder}).`,
      "Run the demo in a clone of the project: `npm run demo`.",
    );
  if (existsSync(join(folder, "state"))) return false;
  mkdirSync(join(folder, "erp", "export"), { recursive: true });
  for (const [name] of EXPORTS) drop(folder, name, exported(name));
  return true;
}

/** What the demo's ERP has exported under this name when it begins: the whole list. */
export function exported(name: string): string {
  const [, source = name] = EXPORTS.find(([one]) => one === name) ?? [];
  return readFileSync(join(exportsFolder, source), "utf8") + known(name);
}

/** Rows of parties that the platform's scenario has too, in the columns of the ERP's list: ID, Code, Name. */
function known(name: string): string {
  const table = KNOWN[name];
  if (table === undefined) return "";
  const rows = parse(readFileSync(join(root, "config", "crossref", table)), {
    columns: true,
  }) as { account: string; name: string }[];
  const empty = ",".repeat(PARTY_COLUMNS - 3);
  return rows
    .map(
      ({ account, name }, at) =>
        `${9_000 + at},${account},"${name.replaceAll('"', '""')}"${empty}\r\n`,
    )
    .join("");
}

/** Of `customers.csv` and `suppliers.csv`. */
const PARTY_COLUMNS = 13;

/** Starts the platform over its own file in the demo folder and writes down the API key for the configuration. */
export async function startPlatform(folder: string) {
  mkdirSync(folder, { recursive: true });
  const { child, ready } = await launch(join(folder, "platform.sqlite"), PORT).catch(() =>
    launch(join(folder, "platform.sqlite"), 0),
  );
  const control = async (
    path: string,
    method: "GET" | "POST" | "PATCH" = "GET",
    told?: object,
  ): Promise<Record<string, Json>> => {
    const sent = told === undefined ? null : stringifyExact(told);
    const { statusCode, body } = await request(ready.controlUrl + path, { method, body: sent });
    const text = await body.text();
    if (statusCode >= 300) throw new Error(`the sandbox answered ${statusCode}: ${text}`);
    return parseExact(text) as Record<string, Json>;
  };
  const { keys } = (await control("/keys")) as unknown as { keys: Key[] };
  const supplier = keys.find(({ name }) => name === "supplier") as Key;
  const keyFile = join(folder, "api-key");
  writeFileSync(keyFile, `${supplier.key}\n`, { mode: 0o600 });
  chmodSync(keyFile, 0o600);
  return {
    folder,
    url: ready.baseUrl,
    companyId: supplier.companyId,
    /** Raw records of the platform, whoever owns them, numbers exact. */
    records: async (resource: string) =>
      (await control(`/records/${resource}`))["records"] as readonly Record<string, Json>[],
    /** What the platform's people do: no rule of the API applies. */
    async add(resource: string, record: Members) {
      await control(`/records/${resource}`, "POST", { key: supplier.name, records: [record] });
    },
    async change(resource: string, id: string, changes: Members) {
      await control(`/records/${resource}/${id}`, "PATCH", changes);
    },
    /** POST, PUT and DELETE requests that the platform has seen. */
    writes: async () => {
      const { requests } = (await control("/requests")) as unknown as {
        requests: { method: string }[];
      };
      return requests.filter(({ method }) => method !== "GET").length;
    },
    stop: () => stop(child),
  };
}

export type World = Awaited<ReturnType<typeof startPlatform>>;
type Members = Readonly<Record<string, Json>>;

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
