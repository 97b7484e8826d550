import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { root } from "../../src/demo/world.ts";
import { tempFolder } from "./folder.ts";

/**
 * The shipped demo configuration in a folder of the test's own, with every flow paused: the platform is not asked.
 * `change`: of its YAML.
 */
export function configuredSite(change: (yaml: string) => string = (yaml) => yaml) {
  vi.stubEnv("CANARY_KEY", "svc_live_canary0000");
  onTestFinished(() => void vi.unstubAllEnvs());
  const folder = tempFolder();
  cpSync(join(root, "config"), join(folder, "config"), { recursive: true });
  const exports = join(folder, "var", "demo", "erp", "export");
  mkdirSync(exports, { recursive: true });
  const file = join(folder, "config", "demo.yaml");
  const text = readFileSync(file, "utf8")
    .replace(/^( +apiKey:).*$/m, "$1 ${CANARY_KEY}")
    .replace(/every: \d+m/g, "$&\n    paused: true");
  writeFileSync(file, change(text));
  return { file, folder, exports };
}
