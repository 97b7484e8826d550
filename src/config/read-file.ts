import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** Windows has no such flag. Elsewhere opening a pipe that nobody writes to would wait for ever. */
const NO_WAIT = (constants.O_NONBLOCK as number | undefined) ?? 0;

const PART_BYTES = 65_536;

/**
 * The bytes of a regular file (a link to one counts), never more than `bytesMax` of anything.
 * @throws what the file system throws; an Error in words for what is no file, or too long (see `causeOf`)
 */
export function readBounded(path: string, bytesMax: number): Buffer {
  const file = openSync(path, constants.O_RDONLY | NO_WAIT);
  try {
    const stats = fstatSync(file);
    if (stats.isDirectory()) throw new Error("it is a folder, not a file");
    if (!stats.isFile()) throw new Error("it is a device or a pipe, not a file");
    // The size that is told is a guess: files of the kernel say 0.
    const parts: Buffer[] = [];
    let length = 0;
    for (let read = -1; read !== 0 && length <= bytesMax; length += read) {
      const part = Buffer.allocUnsafe(Math.min(PART_BYTES, bytesMax + 1 - length));
      read = readSync(file, part, 0, part.length, null);
      parts.push(part.subarray(0, read));
    }
    if (length > bytesMax) throw new Error(`it is longer than ${inWords(bytesMax)}`);
    return Buffer.concat(parts);
  } finally {
    closeSync(file);
  }
}

const inWords = (bytes: number): string =>
  bytes >= 1_000_000 ? `${Math.floor(bytes / 1_000_000)} MB` : `${Math.floor(bytes / 1_000)} KB`;
