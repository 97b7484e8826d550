/**
 * A site of the test's own: the shipped demo configuration, the ERP's folders with its exports, and a platform. All of
 * it lies in one folder, so a site can be copied; fuelbridge works on it as the program that people start.
 */
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { onTestFinished } from "vitest";
import { dropExports, root, type World } from "../../src/demo/world.ts";
import { type Json, parseExact } from "../../src/core/json.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/server.ts";
import { markFile, storeFile } from "../../src/store/database.ts";
import { controlOf } from "../conformance/support.ts";
import { tempFolder } from "./folder.ts";
import { commandHere } from "./site-command.ts";
import { askHere } from "./site-office.ts";
import { fuelbridge, type Running, type Said } from "./site-program.ts";
import { madeOnce } from "./tryton-books.ts";

export type Members = Readonly<Record<string, Json>>;

export interface Site {
  readonly folder: string;
  /** The configuration file. */
  readonly config: string;
  /** Where the ERP imports, exports, and the store is. */
  readonly demo: string;
  readonly apiKey: string;
  readonly world: Omit<World, "add" | "change">;
  readonly control: ReturnType<typeof controlOf>;
  /** Starts a command on this site's configuration. */
  start(...args: string[]): Running;
  /** Runs a command on this site's configuration until it ends, as a program. */
  command(...args: string[]): Promise<Said>;
  /** The same within this process ({@link commandHere}). */
  here(...args: string[]): Promise<Said>;
  /** What a command tells with `--json`, asked in this process. @throws Error when it was refused */
  ask<Data>(...args: string[]): Promise<Data>;
  /** The same, by the whole command in this process: it asks the daemon that runs. @throws Error when it was refused */
  askCommand<Data>(...args: string[]): Promise<Data>;
  /** The same, by the program. @throws Error when it was refused */
  askProgram<Data>(...args: string[]): Promise<Data>;
  /** The daemon; ready when it says so. */
  daemon(): Promise<Running>;
  /** Ends the platform, and the programs that still run; the site can be copied then. */
  close(): Promise<void>;
}

/** Before anything has run: exports are dropped, the platform holds its demo month. */
export function layOut(folder: string, change: (yaml: string) => string = (yaml) => yaml): void {
  cpSync(join(root, "config"), join(folder, "config"), { recursive: true });
  const config = configOf(folder);
  writeFileSync(config, `${change(readFileSync(config, "utf8"))}\nfirstStart: ${today()}\n`);
  dropExports(demoOf(folder));
}

/** The platform of a site, with its state in the folder. A demo begins as the first one of the test run did. */
export async function platformIn(folder: string, scenario = "demo"): Promise<Sandbox> {
  const db = join(folder, "platform.sqlite");
  const run = process.env["FUELBRIDGE_TEST_RUN"];
  if (scenario === "demo" && run !== undefined && !existsSync(db)) {
    const first = join(run, "demo-platform.sqlite");
    await madeOnce(first, async () => {
      const making = await startSandbox({ db: `${first}.making`, scenario });
      await making.close();
      renameSync(`${first}.making`, first);
    });
    mkdirSync(folder, { recursive: true });
    copyFileSync(first, db);
  }
  return startSandbox({ db, scenario });
}

/** Starts the platform of a site that was laid out or copied; its state is in the folder. */
export async function openSite(folder: string): Promise<Site> {
  const config = configOf(folder);
  const demo = demoOf(folder);
  const sandbox = await platformIn(folder);
  const control = controlOf(() => sandbox.controlUrl);
  const supplier = (await control.keys()).find(({ name }) => name === "supplier");
  if (supplier === undefined) throw new Error("the sandbox has no supplier");
  mkdirSync(demo, { recursive: true });
  writeFileSync(join(demo, "api-key"), `${supplier.key}\n`, { mode: 0o600 });

  const env = { FUELBRIDGE_PLATFORM_URL: sandbox.baseUrl };
  const started: Running[] = [];
  const start = (...args: string[]): Running => {
    const running = fuelbridge([...args, "--config", config], env);
    started.push(running);
    return running;
  };
  const command = (...args: string[]): Promise<Said> => start(...args).ended;
  const here = (...args: string[]): Promise<Said> =>
    commandHere([...args, "--config", config], env);
  let closed: Promise<void> | null = null;
  return {
    folder,
    config,
    demo,
    apiKey: supplier.key,
    control,
    world: {
      folder: demo,
      url: sandbox.baseUrl,
      companyId: supplier.companyId,
      records: async (resource) => {
        const { text } = await control.ask("GET", `/records/${resource}`);
        return (parseExact(text) as unknown as { records: readonly Members[] }).records;
      },
      writes: async () =>
        (await control.requests()).filter(({ method }) => method !== "GET").length,
      stop: async () => {},
    },
    start,
    command,
    here,
    async ask<Data>(...args: string[]) {
      const known = await askHere(config, env, args);
      return known === null
        ? (dataOf(await here(...args, "--json")) as Data)
        : (known.data as Data);
    },
    async askCommand<Data>(...args: string[]) {
      return dataOf(await here(...args, "--json")) as Data;
    },
    async askProgram<Data>(...args: string[]) {
      return dataOf(await command(...args, "--json")) as Data;
    },
    async daemon() {
      const running = start("run");
      await running.said('"fuelbridge runs"');
      return running;
    },
    close: () => (closed ??= end(started, sandbox)),
  };
}

/** What a command answered with `--json`. @throws Error when it was refused */
export function dataOf({ out, err }: Said): unknown {
  const answer = JSON.parse(out || "null") as { ok: boolean; data: unknown } | null;
  if (answer?.ok !== true) throw new Error(out + err);
  return answer.data;
}

/** A test that fails leaves its daemon behind. */
async function end(started: readonly Running[], sandbox: Sandbox): Promise<void> {
  for (const running of started) running.kill("SIGKILL");
  await Promise.all(started.map(({ ended }) => ended));
  await sandbox.close();
}

/** A copy of a site that is closed, with its platform; it ends with the test. */
export async function copyOf(template: string): Promise<Site> {
  const folder = join(tempFolder(), "site");
  cpSync(template, folder, { recursive: true, preserveTimestamps: true });
  settleIn(join(demoOf(folder), "state"));
  return endingWithTest(await openSite(folder));
}

/** A copied store is taken for a restored one, and belongs to the platform at its old port: neither is what is tested. */
export function settleIn(state: string): void {
  const database = new Database(storeFile(state));
  database.exec("update identity set platform = null");
  database.close();
  const mark = JSON.parse(readFileSync(markFile(state), "utf8")) as object;
  const inode = String(statSync(markFile(state), { bigint: true }).ino);
  writeFileSync(markFile(state), JSON.stringify({ ...mark, inode, born: null }));
}

/** Laid out and not yet run: there is work in hand. It ends with the test. */
export async function atWork(change?: (yaml: string) => string): Promise<Site> {
  const folder = join(tempFolder(), "site");
  layOut(folder, change);
  return endingWithTest(await openSite(folder));
}

/** The other flows are paused. */
export const only =
  (...names: string[]) =>
  (yaml: string): string =>
    yaml.replaceAll(/^ {2}([\w-]+):\n {4}mapping: .*\n/gm, (flow, name: string) =>
      names.includes(name) ? flow : `${flow}    paused: true\n`,
    );

function endingWithTest(site: Site): Site {
  onTestFinished(() => site.close());
  return site;
}

/** A first start is taken for one within a day of that. */
export const today = (): string => new Date().toISOString().slice(0, 10);

const configOf = (folder: string): string => join(folder, "config", "demo.yaml");
const demoOf = (folder: string): string => join(folder, "var", "demo");
