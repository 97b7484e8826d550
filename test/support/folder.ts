import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder of the test's own, removed when it ends. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "fuelbridge-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A file system in memory is in the place of this folder until the test ends, where this user may mount one. */
export function isMounted(folder: string, how: string): boolean {
  const mounted = spawnSync("/bin/mount", ["-t", "tmpfs", "-o", how, "tmpfs", folder]);
  if (mounted.status === 0) onTestFinished(() => void spawnSync("/bin/umount", [folder]));
  return mounted.status === 0;
}
