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
    if (child !== null) await end("SIGKILL");
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

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    const ended = new Promise<number | null>((resolve) => child?.once("exit", resolve));
    child?.kill(signal);
    child = (await ended, null);
    return ended;
  }

  it("after a kill everything goes on: records, keys, records of keys, clock, limits, faults, log", async () => {
    const before = await start();
    const written = await before.post("/invoices", invoice(), { idem: KEY });
    await before.advance(86_000);
    await before.read({ readLagSeconds: 1 });
    await before.control("POST", "/limits", { key: "supplier", perMinute: 7 });
    await before.arm({ kind: "status", status: 500, path: "/orders" });
    const now = Date.parse((await before.control<{ now: string }>("GET", "/clock")).now);
    await end("SIGKILL");

    const after = await start();
    const clock = Date.parse((await after.control<{ now: string }>("GET", "/clock")).now);
    expect(clock).toBeGreaterThanOrEqual(now);
    expect(clock).toBeLessThan(now + 60_000);
    const replay = await after.post("/invoices", invoice(), { idem: KEY });
    expect([replay.text, replay.headers.get("Idempotency-Replayed")]).toEqual([
      written.text,
      "true",
    ]);
    expect(replay.headers.get("RateLimit-Limit")).toBe("7");
    expect(await after.records("invoices")).toHaveLength(1);
    expect((await after.get("/orders")).status).toBe(500);
    expect(await after.control("GET", "/readings")).toMatchObject({ readLagSeconds: 1 });
    expect((await after.requests()).map(({ seq, status }) => [seq, status])).toEqual([
      [1, 201],
      [2, 201],
      [3, 500],
    ]);
  });

  it("a key that was in flight has an unknown outcome for 60 seconds", async () => {
    const before = await start();
    await before.arm({ kind: "delay", ms: 60_000 });
    const torn = expect(before.post("/invoices", invoice(), { idem: KEY })).rejects.toThrow();
    while ((await before.requests()).length === 0) await new Promise(setImmediate);
    await end("SIGKILL");
    await torn;

    const after = await start();
    const held = await after.post("/invoices", invoice(), { idem: KEY });
    expect([held.status, held.json.error.code]).toEqual([409, "IDEMPOTENCY_OUTCOME_UNKNOWN"]);
    await after.advance(60);
    expect((await after.post("/invoices", invoice(), { idem: KEY })).status).toBe(201);
    expect(await after.records("invoices")).toHaveLength(1);
  });

  it("SIGTERM finishes what is in flight and ends with 0", async () => {
    const sandbox = await start();
    await sandbox.arm({ kind: "delay", ms: 200 });
    const answer = sandbox.post("/invoices", invoice(), { idem: KEY });
    while ((await sandbox.requests()).length === 0) await new Promise(setImmediate);
    const code = end("SIGTERM");
    expect((await answer).status).toBe(201);
    expect(await code).toBe(0);
  });
});
