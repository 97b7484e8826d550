/**
 * The last move of a set of files that was read, with their manifests and markers. It is several renames: what is to be moved is written down beside the
 * files before the first one and deleted after the last, so that a crash in between leaves no part behind, which would
 * wait for the others for ever or be read with parts of a later export.
 */
import { z } from "zod";
import type { Drop } from "./folder/port.ts";
import { archivedName, type Found, moveAway, writeErrors } from "./pickup.ts";
import { unavailable } from "./folder/trouble.ts";

const Refused = z.strictObject({
  file: z.string(),
  line: z.number(),
  column: z.string().optional(),
  reason: z.string(),
});

const File = z.strictObject({ name: z.string(), size: z.number(), mtimeMs: z.number() });

const Move = z.strictObject({
  /** Of the set: all its files get it, so that they are still a set when they are put back. */
  hash: z.string(),
  target: z.string(),
  /** `manifest`: of this file, with its name; it goes where its file goes. */
  files: z.array(File.extend({ manifest: File.optional() })),
  /** Why the set was not read; the reason goes beside its file. */
  error: Refused.nullable(),
});
export type Move = z.infer<typeof Move>;

interface Place {
  readonly drop: Drop;
  readonly folder: string;
  readonly marker: string | null;
}

/** No pattern fits a name that ends in `.tmp`. */
const NOTE = /^\.fuelbridge-[0-9a-f]{8}\.tmp$/;
const noteOf = ({ hash }: Move): string => `.fuelbridge-${hash.slice(0, 8)}.tmp`;

/**
 * Returns what each file is called now, by its name.
 * @throws Blocked, SourceUnavailable when a file cannot be moved; {@link finishMoves} goes on with it
 */
export async function moveSet(place: Place, move: Move): Promise<ReadonlyMap<string, string>> {
  const { drop, folder } = place;
  const [first] = move.files;
  if (move.files.length === 1 && first?.manifest === undefined) return moveFiles(place, move);
  const note = drop.path.join(folder, noteOf(move));
  await drop.write(note, Buffer.from(JSON.stringify(move)), "any").catch((cause: unknown) => {
    throw unavailable(cause, `the file ${note} cannot be written`);
  });
  const moved = await moveFiles(place, move);
  await remove(drop, note);
  return moved;
}

/**
 * Ends the moves that a crash has interrupted. Call it before the folder is read. True: there were any.
 * @throws Blocked, SourceUnavailable when a file cannot be moved
 */
export async function finishMoves(place: Place, listed: readonly Found[]): Promise<boolean> {
  const { drop, folder } = place;
  let isAny = false;
  for (const { name } of listed) {
    if (!NOTE.test(name)) continue;
    isAny = true;
    const note = drop.path.join(folder, name);
    const move = moveIn(await textOf(drop, note));
    // Cut off while it was written: no file was moved yet.
    if (move !== null) await moveFiles(place, move);
    await remove(drop, note);
  }
  return isAny;
}

async function moveFiles(
  { drop, folder, marker }: Place,
  move: Move,
): Promise<ReadonlyMap<string, string>> {
  const { hash, target, error } = move;
  const moved = new Map<string, string>();
  for (const { manifest, ...file } of move.files) {
    const archived = archivedName(file.name, hash);
    const movedAs = await moveAway(drop, folder, file, target, archived);
    // It was moved before a crash.
    const named = movedAs === file.name ? archived : movedAs;
    moved.set(file.name, named);
    // After its file: what is left without one makes no other file readable, for that must be at rest, too.
    if (marker !== null) await remove(drop, drop.path.join(folder, `${file.name}${marker}`));
    if (manifest !== undefined)
      await moveAway(
        drop,
        folder,
        manifest,
        target,
        `${named}${manifest.name.slice(file.name.length)}`,
      );
    if (error?.file !== file.name) continue;
    await writeErrors(drop, target, named, [{ ...error, column: error.column ?? "" }]);
  }
  return moved;
}

async function textOf(drop: Drop, path: string): Promise<string> {
  const file = await drop.open(path).catch((cause: unknown) => {
    throw unavailable(cause, `the file ${path} cannot be read`);
  });
  if (file === null) return "";
  try {
    const { size } = await file.look();
    const bytes = Buffer.alloc(Math.min(size, NOTE_BYTES_MAX));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return bytes.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

const NOTE_BYTES_MAX = 65_536;

function moveIn(text: string): Move | null {
  try {
    return Move.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

async function remove(drop: Drop, path: string): Promise<void> {
  await drop.remove(path).catch((cause: unknown) => {
    throw unavailable(cause, `the file ${path} is of no more use and cannot be deleted`);
  });
}
