/** A file that others may read at any time: they find what it was, or all of what it becomes, also after a loss of power. */
import { randomUUID } from "node:crypto";
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";

/**
 * Written beside it, synced, renamed. What root writes belongs to whom the file belonged, or its folder: a service whose
 * administrator ran a command goes on.
 * @param mode from its first byte on @throws what the file system refuses; the file is as it was then
 */
export function writeWhole(file: string, text: string, mode = 0o600): void {
  const folder = dirname(file);
  const unfinished = `${file}.${randomUUID()}.tmp`;
  try {
    writeFileSync(unfinished, text, { mode, flag: "wx", flush: true });
    // The process may mask rights.
    chmodSync(unfinished, mode);
    const { uid, gid } = statSync(existsSync(file) ? file : folder);
    if (process.getuid?.() === 0 && uid !== 0) chownSync(unfinished, uid, gid);
    renameSync(unfinished, file);
  } finally {
    rmSync(unfinished, { force: true });
  }
  if (process.platform === "win32") return;
  const opened = openSync(folder, "r");
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
