/**
 * Real Tryton servers. The books are made once per machine and kept; each test gets a copy of its own, which a running
 * server serves at once under the copy's name.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { isThere } from "./machine.ts";
import { CLERK, COMPANY, setUpBooks, SYNC } from "./tryton-setup.ts";

/** For `describe.skipIf(!trytonIsThere)`. */
export const trytonIsThere: boolean = isThere("trytond");

export interface TrytonSettings {
  /** Seconds without a call after which a session is no longer fresh (Tryton: 300); 3600 here when left out. */
  readonly sessionTimeout?: number;
  /** How often it repeats what meets a locked database (Tryton: 5, each time after 5 s). */
  readonly retry?: number;
  /** Modules beyond Tryton's own, and the folder on PYTHONPATH where Python finds them. */
  readonly modules?: { readonly folder: string; readonly names: readonly string[] };
}

/** A copy of the books, of its own. */
export interface Books {
  /** Of the server. */
  readonly url: string;
  readonly database: string;
  /** The company's name. */
  readonly company: string;
  /** The synchronisation's. */
  readonly user: string;
  readonly password: string;
  readonly admin: { readonly user: string; readonly password: string };
  /** Somebody of the office. */
  readonly clerk: { readonly user: string; readonly password: string };
  /** The database file (SQLite). */
  readonly path: string;
  /** Copies the books as they are now; `restore` puts that copy in their place: a backup. Nothing may be under way. */
  keep(): string;
  restore(kept: string): void;
}

export interface TrytonServer {
  readonly url: string;
  /** Fresh books; `name` becomes the database's. */
  copy(name: string): Books;
  /** Hangs: takes connections and answers nothing. */
  pause(): void;
  resume(): void;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again where it was. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A server for the tests of one file. */
export function useTryton(settings: TrytonSettings = {}): TrytonServer {
  let server: TrytonServer | undefined;
  beforeAll(async () => {
    server = await startTryton(settings);
  }, START_MS);
  afterAll(() => server?.stop());
  const there = (): TrytonServer => {
    if (server === undefined) throw new Error("Tryton has not been started");
    return server;
  };
  return {
    get url() {
      return there().url;
    },
    copy: (name) => there().copy(name),
    pause: () => there().pause(),
    resume: () => there().resume(),
    kill: () => there().kill(),
    restart: () => there().restart(),
    stop: () => there().stop(),
  };
}

export async function startTryton(settings: TrytonSettings = {}): Promise<TrytonServer> {
  const prepared = await preparedBooks();
  const folder = mkdtempSync(join(tmpdir(), "fuelbridge-tryton-"));
  const template = join(folder, "template.sqlite");
  copyFileSync(prepared, template);
  const daemon = await Daemon.open(folder, settings);
  if (settings.modules !== undefined) addModules(daemon, template, settings.modules.names);
  await daemon.start();
  return {
    url: daemon.url,
    copy: (name) => copyOf(daemon, template, name),
    pause: () => daemon.signal("SIGSTOP"),
    resume: () => daemon.signal("SIGCONT"),
    kill: () => daemon.end("SIGKILL"),
    restart: () => daemon.start(),
    async stop() {
      await daemon.end("SIGTERM");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const TRYTOND = "/usr/bin/trytond";
const START_MS = 180_000;
const ADMIN = { user: "admin", password: "admin-pass-4711" };

function copyOf(daemon: Daemon, template: string, name: string): Books {
  const path = daemon.pathOf(name);
  copyFileSync(template, path);
  let copies = 0;
  return {
    url: daemon.url,
    database: name,
    company: COMPANY,
    ...SYNC,
    admin: ADMIN,
    clerk: CLERK,
    path,
    keep() {
      const kept = `${path}.${++copies}`;
      copyFileSync(path, kept);
      return kept;
    },
    restore(kept) {
      copyFileSync(kept, `${path}.restored`);
      renameSync(`${path}.restored`, path);
    },
  };
}

function addModules(daemon: Daemon, template: string, names: readonly string[]): void {
  const path = daemon.pathOf("template");
  copyFileSync(template, path);
  daemon.admin("template", names);
  renameSync(path, template);
}

/** One trytond, in a folder of its own. */
class Daemon {
  readonly url: string;
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  #child: ChildProcess | null = null;

  private constructor(folder: string, port: number, env: NodeJS.ProcessEnv) {
    this.url = `http://127.0.0.1:${port}`;
    this.#folder = folder;
    this.#env = env;
  }

  static async open(folder: string, { sessionTimeout = 3600, retry = 5, modules }: TrytonSettings) {
    const port = await freePort();
    const databases = join(folder, "db");
    mkdirSync(databases);
    const lines = [
      `[web]\nlisten = 127.0.0.1:${port}\nroot =`,
      `[database]\nuri = sqlite://\npath = ${databases}\nretry = ${retry}`,
      `[session]\ntimeout = ${sessionTimeout}`,
      "[product]\nprice_decimal = 6",
    ];
    writeFileSync(join(folder, "trytond.conf"), `${lines.join("\n")}\n`);
    writeFileSync(join(folder, "pass"), `${ADMIN.password}\n`, { mode: 0o600 });
    return new Daemon(folder, port, {
      PATH: process.env["PATH"],
      HOME: folder,
      TRYTONPASSFILE: join(folder, "pass"),
      PYTHONDONTWRITEBYTECODE: "1",
      ...(modules === undefined ? {} : { PYTHONPATH: modules.folder }),
    });
  }

  pathOf = (database: string): string => join(this.#folder, "db", `${database}.sqlite`);

  /** Activates modules in a database; an empty file becomes one. */
  admin(database: string, modules: readonly string[]): void {
    const config = join(this.#folder, "trytond.conf");
    const args = ["-c", config, "-d", database, "--email", "office@example.test"];
    execFileSync(`${TRYTOND}-admin`, [...args, "--activate-dependencies", "-u", ...modules], {
      env: this.#env,
      stdio: ["ignore", "ignore", "pipe"],
    });
  }

  async start(): Promise<void> {
    const log = openSync(join(this.#folder, "trytond.log"), "a");
    const child = spawn(TRYTOND, ["-c", join(this.#folder, "trytond.conf")], {
      env: this.#env,
      stdio: ["ignore", log, log],
    });
    this.#child = child;
    // A test worker that is ended takes its server along.
    const orphaned = (): void => void child.kill("SIGKILL");
    process.once("exit", orphaned);
    child.once("exit", () => process.removeListener("exit", orphaned));
    await until(`trytond (${this.#folder}/trytond.log)`, async () => {
      if (child.exitCode !== null) throw new Error(this.#lastWords());
      return answers(this.url);
    });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  async end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGCONT");
    child.kill(signal);
    await ended;
  }

  #lastWords(): string {
    return readFileSync(join(this.#folder, "trytond.log"), "utf8").slice(-2000);
  }
}

/** The path of the books that copies are made of. Several test workers may ask at once: one makes them. */
async function preparedBooks(): Promise<string> {
  const root = join(tmpdir(), `fuelbridge-tryton-books-${process.getuid?.() ?? 0}`);
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const ready = join(root, `${cacheKey()}.sqlite`);
  const lock = `${ready}.lock`;
  await until("the books of another worker", async () => {
    if (existsSync(ready)) return true;
    if (!taken(lock)) return false;
    try {
      await makeBooks(root, ready);
    } finally {
      rmSync(lock, { recursive: true, force: true });
    }
    return true;
  });
  return ready;
}

/** A lock that nobody renews: its maker is gone when it is older than making takes. */
function taken(lock: string): boolean {
  try {
    if (Date.now() - statSync(lock).mtimeMs > START_MS)
      rmSync(lock, { recursive: true, force: true });
  } catch {
    // There is none.
  }
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}

async function makeBooks(root: string, ready: string): Promise<void> {
  const folder = mkdtempSync(join(root, "making-"));
  const daemon = await Daemon.open(folder, {});
  try {
    const path = daemon.pathOf("books");
    writeFileSync(path, "");
    daemon.admin("books", MODULES);
    await daemon.start();
    await setUpBooks({ url: daemon.url, database: "books", ...ADMIN });
    await daemon.end("SIGTERM");
    renameSync(path, ready);
  } finally {
    await daemon.end("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

const MODULES = [
  "account_invoice",
  "account_payment",
  "sale",
  "purchase",
  "product_price_list",
  "sale_price_list",
];

/** Other packages, or another set-up: other books. */
function cacheKey(): string {
  const hash = createHash("sha256");
  hash.update(execFileSync("/usr/bin/dpkg-query", ["-W", "tryton-server", "tryton-modules-*"]));
  for (const file of ["tryton-setup.ts", "../../config/crossref/items.csv"])
    hash.update(readFileSync(new URL(file, import.meta.url)));
  hash.update(JSON.stringify([MODULES, ADMIN]));
  return hash.digest("hex").slice(0, 16);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function answers(url: string): Promise<boolean> {
  try {
    const body = JSON.stringify({ id: 0, method: "common.server.version", params: [] });
    const headers = { "content-type": "application/json" };
    const response = await fetch(url, { method: "POST", headers, body });
    return response.ok;
  } catch {
    return false;
  }
}

async function until(what: string, done: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (!(await done())) {
    if (Date.now() > deadline) throw new Error(`${what}: not within ${START_MS / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
