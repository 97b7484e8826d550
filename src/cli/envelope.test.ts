/** `--json` and narrow screens, of every command that there is: the commander program is walked, no list is kept. */
import { join } from "node:path";
import type { Command } from "commander";
import { pino } from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import { configuredSite } from "../../test/support/configured.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { commandHere } from "../../test/support/here.ts";
import { serveAdmin } from "../office/server.ts";
import { composeDaemon } from "../app/compose.ts";
import { loadConfiguration } from "../app/configuration.ts";
import { commandName, thisPerson } from "./command.ts";
import { makeProgram } from "./program.ts";

const leavesOf = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
const leaves = leavesOf(await makeProgram()).map((command) => ({
  name: commandName(command),
  command,
}));

/** They run until a signal comes, or start what costs seconds; each has a test of its own. */
const LONG = new Set(["run", "worker", "sandbox", "demo", "once", "init"]);
/** A flow that is not paused: it reads a folder. */
const AT_WORK = "paid-invoices";
const working = (yaml: string): string =>
  yaml.replace(/(\n {2}paid-invoices:(?:\n {4}.*)*?)\n {4}paused: true/, "$1");

/** Arguments with which a site that has done nothing yet answers, where it needs some. */
const GIVEN: Readonly<Record<string, readonly string[]>> = {
  now: [AT_WORK],
  trace: ["INV-1"],
  map: ["orders", "--last", "1"],
  plan: ["--stored"],
  "profile try": ["orders", "nowhere.csv"],
  "quarantine show": ["q0000000"],
  "quarantine retry": ["all"],
  "quarantine close": ["all", "--note", "settled"],
  "quarantine assign": ["all", "--to", "ann"],
  "quarantine edit": ["1", "product=ULSD", "--note", "typing error"],
  "quarantine note": ["all", "called them"],
  release: ["doubled"],
  // It was never read to its end.
  backfill: ["orders", "--from", "2026-10-01", "--to", "2026-10-31", "--note", "missing"],
  pause: ["orders", "--note", "stocktaking"],
  resume: ["orders", "--note", "done"],
  "user add": ["ann", "--generate"],
  "user passwd": ["ann", "--generate"],
  "user remove": ["ann"],
  // It has files.
  "evidence make": [import.meta.dirname],
  "evidence verify": ["nowhere"],
  reconcile: ["--last"],
  completion: ["bash"],
};

test.each(leaves)("$name answers a wrong option with the one envelope", async ({ name }) => {
  const said = await commandHere(...name.split(" "), "--no-such-option", "--json");
  expect(said).toMatchObject({ code: 2, err: "" });
  expect(said.out.endsWith("\n") && said.out.indexOf("\n") === said.out.length - 1).toBe(true);
  expect(JSON.parse(said.out)).toEqual({
    ok: false,
    command: name,
    error: { code: "usage", message: expect.any(String), next: expect.any(String) },
  });
});

test("every command answers with one line of JSON in the one envelope", async () => {
  const { file } = configuredSite(working);
  // A daemon answers, as it usually does: no command opens the store by itself.
  const config = await loadConfiguration(file);
  const daemon = await composeDaemon(config, pino({ level: "silent" }));
  const { office } = daemon;
  const admin = await serveAdmin({ office, state: config.state, port: 0, secrets: [] });
  onTestFinished(async () => {
    await admin.close();
    await daemon.close();
  });
  for (const { name, command } of leaves) {
    if (LONG.has(name)) continue;
    const isConfigured = command.options.some(({ long }) => long === "--config");
    const args = [
      ...name.split(" "),
      ...(GIVEN[name] ?? command.registeredArguments.filter((one) => one.required).map(() => "x")),
      ...(isConfigured ? ["--config", file] : []),
    ];
    const said = await commandHere(...args, "--json");
    expect(said.out.trim().split("\n"), args.join(" ")).toHaveLength(1);
    const envelope = JSON.parse(said.out) as { ok: boolean; command: string; error?: object };
    expect(envelope.command).toBe(name);
    if (envelope.ok) expect(envelope).toHaveProperty("data");
    else {
      const { code, message, next } = envelope.error as Record<string, string>;
      expect([code, message, next].every((text) => text !== undefined && text !== "")).toBe(true);
      expect(code, args.join(" ")).not.toBe("unexpected");
      expect(said.code).not.toBe(0);
    }
  }
  // Who asked for it is kept, also where no reason was given.
  const asked = { from: null, to: null, after: 0, people: true };
  const { entries } = await office.audit(asked);
  expect(entries).toContainEqual(expect.objectContaining({ event: "run now", who: thisPerson() }));
});

test("tables of status and quarantine fit into 50 columns, and hold no colours where NO_COLOR is set", async () => {
  const { file } = configuredSite();
  vi.stubEnv("COLUMNS", "50");
  vi.stubEnv("NO_COLOR", "1");
  const { out } = await commandHere("status", "--config", file);
  expect(out).not.toContain("\u001B[");
  const table = out.split("\n").filter((line) => /^(FLOW|orders|invoices) {2}/.test(line));
  for (const line of table) expect(line.length, line).toBeLessThanOrEqual(50);
  const nowhere = await commandHere("status", "--config", join(tempFolder(), "none.yaml"));
  expect(nowhere.err).toMatch(/^fuelbridge: .*\n {2}\S/);
});

test("every command takes --config but those that read no configuration", () => {
  const bare = leaves
    .filter(({ command }) => !command.options.some(({ long }) => long === "--config"))
    .map(({ name }) => name);
  expect(bare.toSorted()).toEqual(BARE);
});

const BARE = [
  "completion",
  "demo",
  "openapi",
  "profile list",
  "profile schema",
  "profile try",
  "sandbox",
  "sql schema",
];
