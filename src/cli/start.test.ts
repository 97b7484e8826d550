/** What a command loads: modules are most of what a short command computes, so they are counted here. */
import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { configuredSite } from "../../test/support/configured.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { layOut } from "../../test/support/site.ts";
import { composeDaemon } from "../app/compose.ts";
import { loadConfiguration } from "../app/configuration.ts";
import { root } from "../demo/world.ts";
import { serveAdmin } from "../office/server.ts";

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

const argsFor = (words: readonly string[]): string[] => [
  "--import",
  `data:text/javascript,${encodeURIComponent(HOOK)}`,
  join(root, "src", "main.ts"),
  ...words,
];
const OPTIONS = { env: { ...process.env, NO_COLOR: "1" } };

function loadedBy(...words: string[]): Loaded {
  const { status, stdout, stderr } = spawnSync(process.execPath, argsFor(words), {
    encoding: "utf8",
    ...OPTIONS,
  });
  expect(status, stdout + stderr.slice(0, 1_000)).toBe(0);
  return loadedIn(stderr);
}

/** The same of a command that asks this process. */
async function loadedBeside(...words: string[]): Promise<Loaded> {
  const { stderr } = await promisify(execFile)(process.execPath, argsFor(words), OPTIONS);
  return loadedIn(stderr);
}

function loadedIn(stderr: string): Loaded {
  const { files, builtin } = JSON.parse(stderr) as Loaded;
  return { files: files.filter((url) => url.startsWith("file:")), builtin };
}

/** What only some sites, servers or other commands need. */
const APART =
  /node_modules\/(?:@opentelemetry|prom-client|pino|pdfkit|nodemailer|hono|@hono|ssh2|bullmq|ioredis|fast-xml-parser|@node-rs|undici)|\/src\/(?:sandbox|web|demo|queue\/shared)|\/connectors\/(?:tryton|quickbooks|example)/;

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

test("what a running daemon answers is shown without the configuration, the store and what checks either", async () => {
  const { file } = configuredSite();
  const config = await loadConfiguration(file);
  const daemon = await composeDaemon(config, pino({ level: "silent" }));
  onTestFinished(() => daemon.close());
  const admin = await serveAdmin({
    office: daemon.office,
    state: config.state,
    port: 0,
    secrets: [],
  });
  onTestFinished(() => admin.close());
  const { files } = await loadedBeside("status", "--config", file);
  expect(files.length).toBeLessThan(40);
  expect(files.filter((url) => /node_modules\/(?!commander)/.test(url))).toEqual([]);
});
