/** What a kill makes of a key in flight; test/conformance/process.test.ts has what else the sandbox keeps through one. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Driver, invoice } from "./driver.suite.ts";

const KEY = "restart-test-key-001";
const CHILD = `
const { runSandbox } = await import(${JSON.stringify(new URL("server.ts", import.meta.url).href)});
await runSandbox({ db: process.argv[1], scenario: "empty" });
`;

describe("restarts", () => {
  let folder: string;
  let child: ChildProcess | null = null;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "fuelbridge-sandbox-"));
  });
  afterEach(async () => {
    if (child !== null) await end();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A sandbox in a process of its own, with the state of the one before. */
  async function start(): Promise<Driver> {
    const args = ["--input-type=module", "-e", CHILD, join(folder, "state.db")];
    child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    const line = await new Promise<string>((resolve) => {
      child?.stdout?.once("data", (data: Buffer) => resolve(data.toString()));
    });
    const { baseUrl, controlUrl } = JSON.parse(line) as { baseUrl: string; controlUrl: string };
    return new Driver({ baseUrl, controlUrl, close: () => Promise.resolve() });
  }

  async function end(): Promise<void> {
    const ended = new Promise((resolve) => child?.once("exit", resolve));
    child?.kill("SIGKILL");
    await ended;
    child = null;
  }

  it("a key that was in flight has an unknown outcome for 60 seconds", async () => {
    const before = await start();
    await before.arm({ kind: "delay", ms: 60_000 });
    const torn = expect(before.post("/invoices", invoice(), { idem: KEY })).rejects.toThrow();
    while ((await before.requests()).length === 0) await new Promise(setImmediate);
    await end();
    await torn;

    const after = await start();
    const held = await after.post("/invoices", invoice(), { idem: KEY });
    expect([held.status, held.json.error.code]).toEqual([409, "IDEMPOTENCY_OUTCOME_UNKNOWN"]);
    await after.advance(60);
    expect((await after.post("/invoices", invoice(), { idem: KEY })).status).toBe(201);
    expect(await after.records("invoices")).toHaveLength(1);
  });
});
