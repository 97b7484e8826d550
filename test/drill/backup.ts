/**
 * The store, while no daemon holds it: a backup of it, put in its place again after more was sent (as people do after
 * a disk has died), and what can be learned or broken by looking inside.
 */
import { copyFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import Database from "better-sqlite3";
import { sumAnew } from "../support/sums.ts";
import { OfficeError } from "../../src/core/errors.ts";
import { remoteOffice } from "../../src/office/remote.ts";
import type { Random } from "../../src/sandbox/scenes/random.ts";
import type { Books } from "./books.ts";
import type { Site } from "./site.ts";

const storeOf = ({ state }: Site): string => join(state, "fuelbridge.sqlite");
const backupOf = ({ folder }: Site): string => join(folder, "backup.sqlite");

/** Only while no daemon runs, like the other one. */
export function backUp(site: Site): void {
  if (!existsSync(storeOf(site))) return;
  rmSync(backupOf(site), { force: true });
  const database = new Database(storeOf(site));
  database.prepare("vacuum into ?").run(backupOf(site));
  database.close();
}

/** The exports since then are dropped again, since nobody else knows of them. False when there is no backup yet. */
export function putBack(site: Site, books: Books): boolean {
  if (!existsSync(backupOf(site))) return false;
  for (const end of ["", "-wal", "-shm"]) rmSync(storeOf(site) + end, { force: true });
  copyFileSync(backupOf(site), storeOf(site));
  books.exportAgain();
  return true;
}

/** Sabotage: every send under way is taken for one that never was. */
export function forgetSends(site: Site): void {
  if (!existsSync(storeOf(site))) return;
  const database = new Database(storeOf(site));
  database.exec(
    `update request set state = 'ready', machine = json_set(machine, '$.state', 'ready', '$.sends', 0,
       '$.unresolved', null, '$.firstSentWallMs', null, '$.notBefore', null, '$.preflighted', json('true'))
     where state in ('sending', 'unknown')`,
  );
  sumAnew(database);
  database.close();
}

const HOUR_MS = 3_600_000;

/** A night that failed is tried again after an hour: it has passed. */
export function hourLater(site: Site): void {
  if (!existsSync(storeOf(site))) return;
  const database = new Database(storeOf(site));
  database.exec(
    `update deep_walk set failed_ms = failed_ms - ${HOUR_MS} where failed_ms is not null;
     update reconciliation_run set started_ms = started_ms - ${HOUR_MS}, ended_ms = ended_ms - ${HOUR_MS}
       where state = 'failed'`,
  );
  sumAnew(database);
  database.close();
}

/** Nights that ended well, and those that did not. */
export interface Nights {
  readonly done: number;
  readonly failed: number;
}

export function nightsOf(site: Site): Nights {
  const database = new Database(storeOf(site), { readonly: true });
  try {
    const count = (state: string): number =>
      database
        .prepare<[string], number>("select count(*) from reconciliation_run where state = ?")
        .pluck()
        .get(state) as number;
    return { done: count("done"), failed: count("failed") };
  } finally {
    database.close();
  }
}

/** How often a restart found a send without an outcome. */
export function killedInTheAir(site: Site): number {
  const database = new Database(storeOf(site));
  try {
    return database
      .prepare<[], number>(
        "select count(*) from audit where event = 'restart' and detail = 'sending'",
      )
      .pluck()
      .get() as number;
  } finally {
    database.close();
  }
}

const LOOKS_MS = 2_500;
/** A machine that is busy takes so long to read everything. */
const READS_MS = 300_000;

/** A person releases it once all was read since: before that it is refused. */
async function released(office: Awaited<ReturnType<typeof remoteOffice>>): Promise<void> {
  const over = performance.now() + READS_MS;
  for (;;)
    try {
      await office?.release("restored", "drill");
      return;
    } catch (error) {
      if (!(error instanceof OfficeError) || performance.now() > over) throw error;
      await pause(200);
    }
}

/**
 * The first lives on a restored store: nothing is sent, not even after a kill, until a person has released it.
 * @throws Error when something was
 */
export async function recover(site: Site, random: Random): Promise<void> {
  const before = await site.platform.writes();
  for (let life = random.int(1, 2); life >= 0; life--) {
    const daemon = site.start("run");
    await daemon.said('"fuelbridge runs"');
    const office = await remoteOffice(site.state);
    await office?.runNow("all");
    await pause(random.int(0, LOOKS_MS));
    const stops = (await office?.status())?.stops ?? [];
    const sent = (await site.platform.writes()) - before;
    if (sent > 0) throw new Error(`a restored store sent ${sent} writes before it was released`);
    if (!stops.some(({ breaker }) => breaker === "restored"))
      throw new Error(`a restored store is not stopped: ${JSON.stringify(stops)}`);
    if (life === 0) await released(office);
    daemon.kill("SIGKILL");
    await daemon.ended;
  }
}
