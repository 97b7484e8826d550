/** One trytond, in a folder of its own. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { programsOf, testedSeries } from "./tryton-releases.ts";

export interface TrytonSettings {
  /** Seconds without a call after which a session is no longer fresh (Tryton: 300); 3600 here when left out. */
  readonly sessionTimeout?: number;
  /** How often it repeats what meets a locked database (Tryton: 5, each time after 5 s). */
  readonly retry?: number;
  /** Modules beyond Tryton's own, and the folder on PYTHONPATH where Python finds them. */
  readonly modules?: { readonly folder: string; readonly names: readonly string[] };
  /** Left out: a free one. */
  readonly port?: number;
  /** Tryton's server unchanged (tryton-server.py says what it saves otherwise). */
  readonly unchanged?: boolean;
}

export const START_MS = 600_000;
export const ADMIN = { user: "admin", password: "admin-pass-4711" };

const { python, server, admin } = programsOf(testedSeries);
/** Runs trytond. */
const SERVER_PROGRAM = new URL("tryton-server.py", import.meta.url).pathname;
/** Tryton's own hash takes a third of a second of computing for each login. */
export const PASSWORDS = `[passlib]
schemes = pbkdf2_sha512
pbkdf2_sha512__min_rounds = 1
pbkdf2_sha512__default_rounds = 1
`;

export class TrytonDaemon {
  readonly url: string;
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #unchanged: boolean;
  #child: ChildProcess | null = null;

  private constructor(
    folder: string,
    port: number,
    env: NodeJS.ProcessEnv,
    { unchanged = false }: TrytonSettings,
  ) {
    this.url = `http://127.0.0.1:${port}`;
    this.#folder = folder;
    this.#env = env;
    this.#unchanged = unchanged;
  }

  static async open(folder: string, settings: TrytonSettings) {
    const { sessionTimeout = 3600, retry = 5, modules } = settings;
    const port = settings.port ?? (await freePort());
    const databases = join(folder, "db");
    const config = join(folder, "trytond.conf");
    mkdirSync(databases, { recursive: true });
    const lines = [
      `[web]\nlisten = 127.0.0.1:${port}\nroot =`,
      `[database]\nuri = sqlite://\npath = ${databases}\nretry = ${retry}`,
      `[session]\ntimeout = ${sessionTimeout}`,
      `[password]\npasslib = ${join(folder, "passlib.conf")}`,
      "[product]\nprice_decimal = 6",
    ];
    writeFileSync(config, `${lines.join("\n")}\n`);
    writeFileSync(join(folder, "passlib.conf"), PASSWORDS);
    writeFileSync(join(folder, "pass"), `${ADMIN.password}\n`, { mode: 0o600 });
    return new TrytonDaemon(
      folder,
      port,
      {
        PATH: process.env["PATH"],
        HOME: folder,
        TRYTOND_CONFIG: config,
        TRYTONPASSFILE: join(folder, "pass"),
        PYTHONDONTWRITEBYTECODE: "1",
        ...(modules === undefined ? {} : { PYTHONPATH: modules.folder }),
      },
      settings,
    );
  }

  pathOf = (database: string): string => join(this.#folder, "db", `${database}.sqlite`);

  /** Activates modules in a database; an empty file becomes one. */
  admin(database: string, modules: readonly string[]): void {
    const args = ["-d", database, "--email", "office@example.test", "--activate-dependencies"];
    execFileSync(python, [admin, ...args, "-u", ...modules], {
      env: this.#env,
      stdio: ["ignore", "ignore", "pipe"],
    });
  }

  async start(): Promise<void> {
    const log = openSync(join(this.#folder, "trytond.log"), "a");
    const child = spawn(python, [SERVER_PROGRAM, server], {
      env: { ...this.#env, FUELBRIDGE_TRYTON: this.#unchanged ? "unchanged" : "sharing" },
      stdio: ["ignore", log, log],
    });
    this.#child = child;
    await until(`trytond (${this.#folder}/trytond.log)`, async () => {
      if (child.exitCode !== null) throw new Error(this.#lastWords());
      return answers(this.url);
    });
  }

  isRunning(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
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
    const answered = [url, `${url}/rpc/`].map((at) => fetch(at, { method: "POST", headers, body }));
    return (await Promise.all(answered)).some(({ ok }) => ok);
  } catch {
    return false;
  }
}

/** @throws Error after {@link START_MS} */
export async function until(what: string, done: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (!(await done())) {
    if (Date.now() > deadline) throw new Error(`${what}: not within ${START_MS / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
