/** What the file sink asks of a drop. Everything here throws what the drop throws (see trouble.ts). */
import { type Drop, failure, type Over } from "./folder/port.ts";

/** Truncates what an interrupted write left, and returns once the disk has the bytes and gives them back. */
export async function writeDurably(
  drop: Drop,
  path: string,
  bytes: Buffer,
  over: Over,
): Promise<void> {
  await drop.write(path, bytes, over);
  if ((await contentAt(drop, path, bytes)) !== "same")
    throw failure("EIO", `${path} did not keep what was written`);
}

/** A link or a folder under the name counts as other content: it is not followed. */
export async function contentAt(
  drop: Drop,
  path: string,
  bytes: Buffer,
): Promise<"same" | "other" | "none"> {
  const found = await drop.look(path);
  if (found === null) {
    if ((await drop.look(drop.path.dirname(path))) !== null) return "none";
    throw failure("ENOENT", `the folder of ${path} is not there`);
  }
  if (found.kind !== "file" || found.size !== bytes.length) return "other";
  // It may have been taken since.
  const there = await readWhole(drop, path);
  if (there === null) return "none";
  return there.equals(bytes) ? "same" : "other";
}

/** A whole file, as long as it was when it was opened; null when it is not there. */
export async function readWhole(drop: Drop, path: string): Promise<Buffer | null> {
  const file = await drop.open(path);
  if (file === null) return null;
  try {
    const { size } = await file.look();
    const buffer = Buffer.alloc(size);
    let length = 0;
    for (let more = -1; more !== 0 && length < buffer.length; length += more)
      more = (await file.read(buffer, length, buffer.length - length, length)).bytesRead;
    return buffer.subarray(0, length);
  } finally {
    await file.close();
  }
}
