/**
 * Seconds of `npm run demo -- --once` in a fresh clone of this repository's last commit: from nothing installed, with
 * an empty npm cache, and then with the dependencies there and the demo's folder gone.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { table } from "../src/views/text.ts";
import { inFolder, median, root, say, verdict } from "./support.ts";

const RUNS = 3;
const NOTHING_MAX_S = 60;
const INSTALLED_MAX_S = 15;

export async function benchDemo(): Promise<void> {
  await inFolder(async (folder) => {
    const clone = join(folder, "fuelbridge");
    const env = { ...strangersEnvironment(), npm_config_cache: join(folder, "npm-cache") };
    const demo = () => seconds("npm", ["run", "demo", "--", "--once"], clone, env);

    say("", "demo: a clone, nothing installed");
    const cloning = await seconds("git", ["clone", "--quiet", root, clone], folder, env);
    const first = await demo();
    const again: number[] = [];
    for (let at = 0; at < RUNS; at++) {
      rmSync(join(clone, "var"), { recursive: true });
      again.push(await demo());
      say(`  a fresh demo folder: ${again.at(-1)?.toFixed(1)} s`);
    }
    const rows = [
      ["from nothing installed", cloning + first, NOTHING_MAX_S] as const,
      ["with dependencies", median(again), INSTALLED_MAX_S] as const,
    ].map(([what, took, max]) => [what, took.toFixed(1), `<= ${max}`, verdict(took <= max)]);
    say("", table(["DEMO", "SECONDS", "TARGET", ""], rows));
  });
}

/** Without what npm and the launcher have put into ours: a stranger has neither our node nor our npm settings. */
function strangersEnvironment(): NodeJS.ProcessEnv {
  const { PATH = "", ...rest } = process.env;
  const kept = Object.entries(rest).filter(([name]) => !/^(npm|node)_/i.test(name));
  const path = PATH.split(delimiter).filter((part) => !part.includes("node_modules"));
  return { ...Object.fromEntries(kept), PATH: path.join(delimiter) };
}

/** How long a command takes. @throws Error with its last words when it fails */
async function seconds(
  command: string,
  args: readonly string[],
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const startedMs = performance.now();
  const child = spawn(command, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  let words = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      words = (words + chunk.toString()).slice(-4_000);
    });
  await once(child, "close");
  if (child.exitCode !== 0) throw new Error(`${command} ended with ${child.exitCode}:\n${words}`);
  return (performance.now() - startedMs) / 1_000;
}
