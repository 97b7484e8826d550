/**
 * Real Tryton servers. The books are made once per machine and kept; each test gets a copy of its own, which a running
 * server serves at once under the copy's name.
 */
import { createHash } from "node:crypto";
import { copyFileSync, globSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { madeOnce, preparedBooks } from "./tryton-books.ts";
import { ADMIN, START_MS, TrytonDaemon, type TrytonSettings } from "./tryton-daemon.ts";
import { isInstalled, testedSeries } from "./tryton-releases.ts";
import { CLERK, COMPANY, SYNC } from "./tryton-setup.ts";

/** For `describe.skipIf(!trytonIsThere)`. */
export const trytonIsThere: boolean = isInstalled(testedSeries);

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
  /** Fresh books; the database is called `name` and a number. With `of` a copy of what {@link filled} has made. */
  copy(name: string, of?: string): Books;
  /** The path of books that `fill` has worked in: once in a test run for each `key`, which names all that it does. */
  filled(key: string, fill: (books: Books) => Promise<void>): Promise<string>;
  /** Hangs: takes connections and answers nothing. */
  pause(): void;
  resume(): void;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again where it was. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A server for the tests of one suite; the suites of a worker that ask for the same settings share it, one by one. */
export function useTryton(settings: TrytonSettings = {}): TrytonServer {
  let server: Awaited<ReturnType<typeof openServer>> | undefined;
  const copies: Books[] = [];
  beforeAll(async () => {
    server = await sharedServer(settings);
  }, START_MS);
  afterAll(async () => {
    for (const { path } of copies)
      for (const file of globSync(`${path}*`)) rmSync(file, { force: true });
    await server?.awake();
  });
  const there = (): TrytonServer => {
    if (server === undefined) throw new Error("Tryton has not been started");
    return server;
  };
  return {
    get url() {
      return there().url;
    },
    copy(name, of) {
      const books = there().copy(name, of);
      copies.push(books);
      return books;
    },
    filled: (key, fill) => there().filled(key, fill),
    pause: () => there().pause(),
    resume: () => there().resume(),
    kill: () => there().kill(),
    restart: () => there().restart(),
    stop: () => there().stop(),
  };
}

const shared = new Map<string, ReturnType<typeof openServer>>();

function sharedServer(settings: TrytonSettings): ReturnType<typeof openServer> {
  const key = JSON.stringify(settings);
  const known = shared.get(key) ?? openServer(settings);
  shared.set(key, known);
  return known;
}

/** One of its own, for whoever stops it. */
export const startTryton = (settings: TrytonSettings = {}): Promise<TrytonServer> =>
  openServer(settings);

/** Another program may take the port between the moment that it is found free and the server's start. */
async function startedDaemon(settings: TrytonSettings, tries = 3) {
  const folder = mkdtempSync(join(process.env["FUELBRIDGE_TEST_RUN"] ?? tmpdir(), "tryton-"));
  const daemon = await TrytonDaemon.open(folder, settings);
  try {
    await daemon.start();
    return { daemon, folder };
  } catch (error) {
    const isTaken = error instanceof Error && error.message.includes("Address already in use");
    if (!isTaken || tries === 1) throw error;
    return startedDaemon(settings, tries - 1);
  }
}

async function openServer(settings: TrytonSettings) {
  const prepared = await preparedBooks(settings.modules);
  const { daemon, folder } = await startedDaemon(settings);
  let copies = 0;
  return {
    url: daemon.url,
    copy: (name: string, of = prepared) => copyOf(daemon, of, `${name}_${++copies}`),
    filled(key: string, fill: (books: Books) => Promise<void>) {
      const hash = createHash("sha256")
        .update(JSON.stringify([prepared, key]))
        .digest("hex");
      const ready = join(dirname(folder), `${hash.slice(0, 16)}.sqlite`);
      return madeOnce(ready, async () => {
        const books = copyOf(daemon, prepared, `filling_${++copies}`);
        await fill(books);
        copyFileSync(books.path, `${ready}.making`);
        renameSync(`${ready}.making`, ready);
      });
    },
    pause: () => daemon.signal("SIGSTOP"),
    resume: () => daemon.signal("SIGCONT"),
    kill: () => daemon.end("SIGKILL"),
    restart: () => daemon.start(),
    /** Whatever a test that failed has left: it answers again. */
    async awake() {
      daemon.signal("SIGCONT");
      if (!daemon.isRunning()) await daemon.start();
    },
    async stop() {
      await daemon.end("SIGTERM");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Its name ends with what it is a copy of: see tryton-server.py. */
function copyOf(daemon: TrytonDaemon, of: string, title: string): Books {
  const name = `${title}_of_${basename(of, ".sqlite")}`;
  const path = daemon.pathOf(name);
  copyFileSync(of, path);
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
