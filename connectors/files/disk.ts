/** What the file sink asks of a disk. Everything here throws what the file system throws (see trouble.ts). */
import { constants } from "node:fs";
import { lstat, open, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { troubleOf } from "./trouble.ts";

/** Truncates what an interrupted write left, and returns once the disk has the bytes and gives them back. */
export async function writeDurably(path: string, bytes: Buffer): Promise<void> {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
  const file = await open(path, O_WRONLY | O_CREAT | O_TRUNC | (O_NOFOLLOW ?? 0));
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  if ((await contentAt(path, bytes)) !== "same")
    throw Object.assign(new Error(`EIO: ${path} did not keep what was written`), { code: "EIO" });
}

/** A link or a folder under the name counts as other content: it is not followed. */
export async function contentAt(path: string, bytes: Buffer): Promise<"same" | "other" | "none"> {
  try {
    const found = await lstat(path);
    if (!found.isFile() || found.size !== bytes.length) return "other";
    return (await readFile(path)).equals(bytes) ? "same" : "other";
  } catch (error) {
    if (troubleOf(error).code === "ENOENT" && (await exists(dirname(path)))) return "none";
    throw error;
  }
}

export async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (troubleOf(error).code === "ENOENT") return false;
    throw error;
  }
}

/** A file's name is durable once its folder is. Windows has no such call; NTFS journals names by itself. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
