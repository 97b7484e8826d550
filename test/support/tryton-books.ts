/** The books that tests work on copies of: made once per machine, for what the packages and the set-up are. */
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { testedSeries, versionsOf } from "./tryton-releases.ts";
import { setUpBooks } from "./tryton-setup.ts";
import {
  ADMIN,
  PASSWORDS,
  START_MS,
  TrytonDaemon,
  type TrytonSettings,
  until,
} from "./tryton-daemon.ts";

type Modules = TrytonSettings["modules"];

const MODULES = [
  "account_invoice",
  "account_payment",
  "sale",
  "purchase",
  "product_price_list",
  "sale_price_list",
];

/** The path of a database file. */
export async function preparedBooks(modules?: Modules): Promise<string> {
  const cache = process.env["FUELBRIDGE_TEST_CACHE"] ?? tmpdir();
  const root = join(cache, `fuelbridge-tryton-books-${process.getuid?.() ?? 0}`);
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const ready = join(root, `${cacheKey(modules)}.sqlite`);
  return madeOnce(ready, () => makeBooks(root, ready, modules));
}

/** The path `ready`, of a file that `make` makes. Several test workers may ask at once: one makes it, the others wait. */
export async function madeOnce(ready: string, make: () => Promise<void>): Promise<string> {
  const lock = `${ready}.lock`;
  await until("the books of another worker", async () => {
    if (existsSync(ready)) return true;
    if (!taken(lock)) return false;
    try {
      await make();
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

/** With further modules they are a copy of the books without, in which these are activated. */
async function makeBooks(root: string, ready: string, modules: Modules): Promise<void> {
  const without = modules === undefined ? null : await preparedBooks();
  const folder = mkdtempSync(join(root, "making-"));
  const daemon = await TrytonDaemon.open(folder, modules === undefined ? {} : { modules });
  try {
    const path = daemon.pathOf("books");
    if (without === null) writeFileSync(path, "");
    else copyFileSync(without, path);
    daemon.admin("books", modules?.names ?? MODULES);
    intoOneFile(path);
    if (without === null) {
      await daemon.start();
      await setUpBooks({ url: daemon.url, database: "books", ...ADMIN });
      await daemon.end("SIGTERM");
    }
    renameSync(path, ready);
  } finally {
    await daemon.end("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

/** 8.0 keeps a log of writes beside the file, which copies of the file lack: see tryton-server.py. */
function intoOneFile(path: string): void {
  const file = new Database(path);
  file.pragma("journal_mode = delete");
  file.close();
}

/** Other packages, another set-up or other modules: other books. */
function cacheKey(modules: Modules): string {
  const hash = createHash("sha256");
  hash.update(versionsOf(testedSeries));
  for (const file of ["tryton-setup.ts", "../../config/crossref/items.csv"])
    hash.update(readFileSync(new URL(file, import.meta.url)));
  if (modules !== undefined)
    for (const file of globSync(join(modules.folder, "*/*.{py,xml,cfg}")).sort())
      hash.update(readFileSync(file));
  hash.update(JSON.stringify([MODULES, modules?.names ?? [], ADMIN, PASSWORDS]));
  return hash.digest("hex").slice(0, 16);
}
