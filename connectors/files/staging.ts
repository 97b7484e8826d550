/** The folders of a sink, and the mark in its staging folder that says since when it is that folder. */
import type { Drop, Site } from "./folder/port.ts";
import { readWhole } from "./disk.ts";
import { unavailable } from "./folder/trouble.ts";

/** Of a sink, as the drop calls them. */
export interface Folders {
  readonly target: string;
  readonly staging: string;
}

/** In the staging folder, an instant by our clock. */
const MARK = ".since";
const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** ISO 8601 UTC; null: the folder has no mark. */
export async function markedSince(drop: Drop, staging: string): Promise<string | null> {
  const text = (await readWhole(drop, drop.path.join(staging, MARK)))?.toString("latin1") ?? "";
  return INSTANT.test(text) ? text : null;
}

/**
 * What makes the folders, and says why it cannot; on this machine they are being made when it returns.
 * A folder that was there and is gone is not made anew: the share that it is on may be missing.
 */
export function makingFolders({ target, staging }: Folders, site: Site): () => Promise<void> {
  const { drop } = site;
  let isMade = false;
  let making: Promise<void> | null = null;
  const make = async (): Promise<void> => {
    try {
      await drop.makeFolder(target);
      await drop.makeFolder(staging);
      const since = site.now().toISOString();
      if ((await markedSince(drop, staging)) === null)
        await drop.write(drop.path.join(staging, MARK), Buffer.from(since), "any");
      isMade = true;
    } catch (error) {
      const above = [target, staging].map((path) => drop.path.dirname(path));
      const missing = await drop.rights.missing(
        above.map((path) => ({ path, rights: ["x", "w"] })),
      );
      throw unavailable(error, `cannot create ${target} or ${staging}`, missing);
    } finally {
      making = null;
    }
  };
  const ready = async (): Promise<void> => {
    if (!isMade) await (making ??= make());
  };
  if (drop.isLocal && site.looking !== true)
    ready().catch((error: unknown) =>
      site.note("folder not created", { folder: target, detail: (error as Error).message }),
    );
  return ready;
}
