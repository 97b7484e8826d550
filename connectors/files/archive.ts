/**
 * Files that were read, in one folder a day where they are deleted after a time: so that neither reading nor deleting
 * lists what is older.
 */
import { againAfterCut, type Entry, type Drop, troubleOf } from "./folder/port.ts";
import { list, listing, type Place, type Site } from "./pickup.ts";

const DAY = /^\d{4}-\d\d-\d\d$/;
const DAY_MS = 86_400_000;
/** Files that one reading deletes at most: there may be a year of them. */
const REMOVED_MAX = 500;

/** Where a file goes that was read now. */
export function dayFolder({ drop, archive, keepDays }: Place, site: Site): string {
  if (keepDays === null) return archive;
  return drop.path.join(archive, site.dayOf(site.now().toISOString()));
}

/**
 * Where files that were read may be, the newest first; none before the first one was read.
 * @throws SourceUnavailable when the archive cannot be listed: it is not empty for that
 */
export async function archiveFolders({ drop, archive }: Place): Promise<string[]> {
  const days = await listing(drop, archive, () => againAfterCut(() => daysIn(drop, archive)));
  if (days === null) return [];
  return [...days.toReversed().map((day) => drop.path.join(archive, day)), archive];
}

/**
 * Deletes what is older than `keepDays`. What cannot be deleted stays, with a line in the log. Returns the day that this is
 * done for; null: something is left. `doneFor`: what it returned before; a day is looked at once, for the archive is listed.
 */
export async function removeOld(
  { drop, archive, keepDays }: Place,
  site: Site,
  doneFor: string | null,
): Promise<string | null> {
  if (keepDays === null) return null;
  const oldest = site.dayOf(new Date(site.now().getTime() - keepDays * DAY_MS).toISOString());
  if (doneFor === oldest) return doneFor;
  let left = REMOVED_MAX;
  try {
    const days = await daysIn(drop, archive);
    if (days === null) return null;
    for (const day of days) {
      if (day >= oldest) return oldest;
      const folder = drop.path.join(archive, day);
      for (const { name } of await list(drop, folder)) {
        if (left-- === 0) return null;
        await drop.remove(drop.path.join(folder, name));
      }
      await drop.removeFolder(folder);
    }
    return oldest;
  } catch (error) {
    const { detail, next } = troubleOf(error);
    site.note("old files not deleted", { folder: archive, detail, next });
    return null;
  }
}

/** Days as text, the oldest first; null: there is no archive yet. */
async function daysIn(drop: Drop, archive: string): Promise<string[] | null> {
  if ((await drop.look(archive)) === null) return null;
  const days: string[] = [];
  const see = ({ kind, name }: Entry): void => void (kind === "folder" && days.push(name));
  await drop.visit(archive, see, (name) => DAY.test(name));
  return days.toSorted();
}
