/**
 * What config/tryton.yaml and config/example.yaml say at their heads, followed by the letter in a copy of the repository. The
 * documents of a small month go into a real Tryton.
 *
 * @module-tag numbers
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startSandbox } from "../../src/sandbox/server.ts";
import { controlOf } from "../conformance/support.ts";
import { tempFolder } from "../support/folder.ts";
import { trytonIsThere } from "../support/tryton.ts";

const root = join(import.meta.dirname, "../..");
const SLOW = 2_400_000;
/** A service's user: without a name, and without a right beside its own folders. Where we are not root, ourselves. */
const USER = process.getuid?.() === 0 ? 12_345 : undefined;

/** What git has, given to that user. */
function clone(): string {
  const copy = tempFolder();
  const told = execFileSync(
    "git",
    ["ls-files", "--cached", "--others", "--exclude-standard", "-z"],
    {
      cwd: root,
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  for (const path of told.split("\0").filter((one) => one !== ""))
    cpSync(join(root, path), join(copy, path));
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  if (USER !== undefined) execFileSync("chown", ["-hR", `${USER}:${USER}`, copy]);
  return copy;
}

/** In a shell, as that user. The exports of the recipe are `before`. */
function shell(folder: string, command: string, env: Readonly<Record<string, string>>) {
  const child = spawn("sh", ["-c", command], {
    cwd: folder,
    env: { PATH: `${process.env["PATH"]}`, HOME: folder, TMPDIR: folder, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    ...(USER === undefined ? {} : { uid: USER, gid: USER }),
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, said }));
  return { child, ended, said: () => said };
}

/** The commands at the head of a shipped configuration, without what is said of them. */
const recipeOf = (path: string): string[] =>
  [
    ...readFileSync(path, "utf8")
      .split(/^version:/m)[0]!
      .matchAll(/^# {3}(\S.*?)(?: {2,}.*)?$/gm),
  ].map(([, command = ""]) => command);

describe.skipIf(!trytonIsThere)("config/tryton.yaml", () => {
  test(
    "as it stands, its commands bring documents into a real Tryton, and nothing waits for a release",
    { timeout: SLOW },
    async () => {
      const folder = clone();
      const [start = "", exported = "", ...commands] = recipeOf(join(folder, "config/tryton.yaml"));
      expect(start).toBe("npm run tryton");
      const [platformPort, trytonPort] = ["18185", "18186"];
      const servers = shell(
        folder,
        `exec node src/launch.mjs --node test/tryton/try.ts --platform ${platformPort} --tryton ${trytonPort}`,
        {},
      );
      onTestFinished(() => void servers.child.kill("SIGTERM"));
      await expect.poll(servers.said, { timeout: SLOW, interval: 200 }).toContain("Ready;");
      const env = {
        FUELBRIDGE_PLATFORM_URL: `http://127.0.0.1:${platformPort}/v1/public`,
        FUELBRIDGE_TRYTON_URL: `http://127.0.0.1:${trytonPort}`,
      };
      const results = [];
      for (const command of commands.filter((one) => !/ run /.test(one)))
        results.push([command, await shell(folder, `${exported}; ${command}`, env).ended]);
      const told = JSON.stringify(results);
      expect(
        results.map(([, result]) => (result as { code: number }).code),
        told,
      ).toEqual([0, 0, 0]);
      expect(told).not.toContain("restored");
      const status = await shell(
        folder,
        `node src/launch.mjs status --json --config config/tryton.yaml`,
        env,
      ).ended;
      const { data } = JSON.parse(status.said) as {
        data: { stops: unknown[]; flows: { name: string; delivered: number }[] };
      };
      expect(data.stops).toEqual([]);
      expect(data.flows.find(({ name }) => name === "invoices-issued")?.delivered).toBeGreaterThan(
        20,
      );
      servers.child.kill("SIGTERM");
      await servers.ended;
    },
  );
});

test(
  "config/example.yaml, copied and changed where it says CHANGE, sends at its first start",
  { timeout: SLOW },
  async () => {
    const folder = clone();
    const platform = await startSandbox({ db: ":memory:", scenario: "demo" });
    onTestFinished(() => platform.close());
    const keys = await controlOf(() => platform.controlUrl).keys();
    const own = (path: string): string => {
      if (USER !== undefined) chownSync(path, USER, USER);
      return path;
    };
    for (const name of ["config/secrets", "exchange", "exchange/export"])
      own(mkdirSync(join(folder, name), { recursive: true }) ?? join(folder, name));
    writeFileSync(
      join(folder, "config/secrets/api-key"),
      keys.find(({ name }) => name === "supplier")?.key ?? "",
      { mode: 0o600 },
    );
    own(join(folder, "config/secrets/api-key"));
    const today = new Date().toISOString().slice(0, 10);
    const said: Readonly<Record<string, string>> = {
      company: "prairie",
      currency: "USD",
      state: join(folder, "state"),
      firstStart: today,
      url: platform.baseUrl,
      folder: join(folder, "exchange"),
    };
    // Each setting that follows a CHANGE, and nothing else.
    let change = false;
    const lines = readFileSync(join(folder, "config/example.yaml"), "utf8")
      .split("\n")
      .map((line) => {
        if (/^ *# CHANGE/.test(line)) change = true;
        const [, indent = "", name = ""] = /^( *)(\w+): /.exec(line) ?? [];
        if (!change || name === "") return line;
        change = false;
        return `${indent}${name}: ${said[name] ?? `nothing is known for ${name}`}`;
      });
    const config = join(folder, "config/fuelbridge.yaml");
    writeFileSync(config, lines.join("\n"));
    own(config);
    for (const command of ["check", "once"]) {
      const { code, said } = await shell(folder, `node src/launch.mjs ${command}`, {}).ended;
      expect([code, said]).toEqual([0, expect.not.stringContaining("restored")]);
    }
    expect(globSync("exchange/import/orders/*.csv", { cwd: folder }).length).toBeGreaterThan(50);
  },
);
