/** What a command loads: modules are most of what a short command computes, so they are counted here. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { layOut } from "../../test/support/site.ts";
import { root } from "../demo/world.ts";

/** Prints what was loaded, ours and others', when the process ends. */
const HOOK = `
import { registerHooks } from "node:module";
const files = [];
registerHooks({ load: (url, context, next) => (files.push(url), next(url, context)) });
process.on("exit", () => {
  const builtin = process.moduleLoadList.filter((name) => name.startsWith("NativeModule "));
  process._rawDebug(JSON.stringify({ files, builtin }));
});`;

interface Loaded {
  /** URLs, without those of Node itself. */
  readonly files: readonly string[];
  /** `NativeModule http` */
  readonly builtin: readonly string[];
}

function loadedBy(...words: string[]): Loaded {
  const hook = `data:text/javascript,${encodeURIComponent(HOOK)}`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", hook, join(root, "src", "main.ts"), ...words],
    { encoding: "utf8", env: { ...process.env, NO_COLOR: "1" } },
  );
  expect(status, stdout + stderr.slice(0, 1_000)).toBe(0);
  const { files, builtin } = JSON.parse(stderr) as Loaded;
  return { files: files.filter((url) => url.startsWith("file:")), builtin };
}

/** What only some sites, servers or other commands need. */
const APART =
  /node_modules\/(?:@opentelemetry|prom-client|pino|pdfkit|nodemailer|hono|@hono|ssh2|bullmq|ioredis|read-excel-file|fast-xml-parser|@node-rs|undici)|\/src\/(?:sandbox|web|demo|queue\/shared)|\/connectors\/(?:tryton|quickbooks|example)/;

test("--version loads the program and none of its commands", () => {
  const { files } = loadedBy("--version");
  expect(files.length).toBeLessThan(30);
  expect(files.filter((url) => /node_modules\/(?!commander)|\/src\/cli\/status/.test(url))).toEqual(
    [],
  );
});

test("status loads no other command, no server and no connector that the configuration does not name", () => {
  const folder = tempFolder();
  layOut(folder);
  mkdirSync(join(folder, "var", "demo"), { recursive: true });
  writeFileSync(join(folder, "var", "demo", "api-key"), `svc_live_${"0".repeat(40)}\n`, {
    mode: 0o600,
  });
  const config = join(folder, "config", "demo.yaml");
  const { files, builtin } = loadedBy("status", "--config", config);
  expect(files.length).toBeLessThan(700);
  expect(files.filter((url) => APART.test(url))).toEqual([]);
  // Node's own fetch comes with an import of node:http by name.
  expect(builtin).toContain("NativeModule http");
  expect(builtin).not.toContain("NativeModule internal/deps/undici/undici");
});
