/** The sandbox as a process: its ready line, its signals, and what a kill -9 leaves behind. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { order } from "./samples.ts";
import { until } from "../support/site-program.ts";
import { clientOf, controlOf, idsOf, type Key, refused, times } from "./support.ts";

const folder = mkdtempSync(join(tmpdir(), "sandbox-"));
const children: ChildProcess[] = [];
afterAll(async () => {
  for (const child of children) await kill(child, "SIGKILL");
  rmSync(folder, { recursive: true });
});

async function kill(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }
  return child.exitCode;
}

/** Starts `fuelbridge sandbox` on a free port, without the launcher, which src/launch.test.ts has; resolves with its ready line. */
async function start(...args: string[]) {
  const child = spawn(process.execPath, ["src/main.ts", "sandbox", "--port", "0", ...args], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  children.push(child);
  const lines = createInterface({ input: child.stdout });
  const output: string[] = [];
  lines.on("line", (line) => output.push(line));
  await Promise.race([once(lines, "line"), once(child, "exit")]);
  const ready = JSON.parse(output[0] ?? "null") as { baseUrl: string; controlUrl: string };
  const control = controlOf(() => ready.controlUrl);
  const keys: Key[] = await control.keys();
  return {
    child,
    output,
    ready,
    control,
    ...clientOf(
      () => ready.baseUrl,
      () => keys,
    ),
  };
}

/** Whether it still takes new connections: it stops to with the first signal. */
const accepts = (control: ReturnType<typeof controlOf>): Promise<boolean> =>
  control.now().then(
    () => true,
    () => false,
  );
const database = (name: string): string[] => ["--db", join(folder, name)];
const WRITERS = 3;
const crash = (child: ChildProcess): Promise<number | null> => kill(child, "SIGKILL");

describe("start and stop", () => {
  it("prints exactly one line of JSON when it accepts requests, on a loopback address", async () => {
    const { child, output, ready } = await start();
    expect(ready).toEqual({
      event: "ready",
      baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1\/public$/) as string,
      controlUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/__sandbox__$/) as string,
    });
    await kill(child, "SIGTERM");
    expect(output).toHaveLength(1);
  });

  it("--scenario defaults to conformance", async () => {
    const { control } = await start();
    expect((await control.stored("orders")).length).toBeGreaterThan(0);
  });

  it.each(["SIGTERM", "SIGINT"] as const)(
    "%s: idle connections are closed at once, exits 0",
    async (signal) => {
      const { child, get } = await start();
      await get("/orders");
      const sent = performance.now();
      expect(await kill(child, signal)).toBe(0);
      expect(performance.now() - sent).toBeLessThan(5000);
    },
  );

  it("a second signal ends it", async () => {
    const { child, control, get } = await start();
    await control.fault({ kind: "delay", ms: 60_000 });
    const torn = expect(get("/orders")).rejects.toThrow();
    while ((await control.faults()).length > 0);
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    while (await accepts(control)) child.kill(0);
    child.kill("SIGTERM");
    await Promise.all([ended, torn]);
  });

  it("SIGTERM: finishes requests in flight", async () => {
    const { child, control, get } = await start();
    await control.fault({ kind: "delay", ms: 300 });
    const slow = get("/orders");
    while ((await control.faults()).length > 0);
    const ended = kill(child, "SIGTERM");
    expect((await slow).status).toBe(200);
    expect(await ended).toBe(0);
  });
});

describe("--db FILE goes on after kill -9 where it stopped", () => {
  const IDEMPOTENT = "one-and-the-same-key";
  const IN_FLIGHT = "another-key-in-flight";
  type Started = Awaited<ReturnType<typeof start>>;

  /** One sandbox that is killed amid its writes, and the one that goes on from its file. */
  async function killed() {
    const before = await start(...database("killed.db"), "--scenario", "empty");
    const { control } = before;
    const first = await before.post("/orders", order(), { key: IDEMPOTENT });
    const keys = await control.keys();
    const token = await control.token("supplier");
    await control.fault({ kind: "delay", ms: 60_000 });
    const torn = expect(before.post("/delivery-tickets", {}, { key: IN_FLIGHT })).rejects.toThrow();
    await until("the key in flight", async () => (await control.faults()).length === 0);
    const acknowledged: unknown[] = [first.data["id"]];
    const writer = async (): Promise<void> => {
      for (;;) acknowledged.push((await before.post("/orders", order())).data["id"]);
    };
    const writers = Promise.allSettled(times(WRITERS, writer));
    await until("writes", () => acknowledged.length >= 60);
    await crash(before.child);
    await Promise.all([torn, writers]);
    const after = await start(...database("killed.db"), "--scenario", "conformance");
    return { after, first, keys, token, acknowledged };
  }

  let after: Started;
  let was: Omit<Awaited<ReturnType<typeof killed>>, "after">;
  beforeAll(async () => {
    ({ after, ...was } = await killed());
  });

  it("records, keys and their scenario: --scenario is ignored", async () => {
    const stored = idsOf(await after.control.stored("orders"));
    expect(stored).toContain(was.first.data["id"]);
    // The scenario would have brought more.
    expect(stored.length - was.acknowledged.length).toBeLessThanOrEqual(WRITERS);
    expect(await after.control.stored("invoices")).toEqual([]);
    expect(await after.control.keys()).toEqual(was.keys);
  });

  it("idempotency records", async () => {
    const again = await after.post("/orders", order(), { key: IDEMPOTENT });
    expect([again.headers.get("idempotency-replayed"), again.text]).toEqual([
      "true",
      was.first.text,
    ]);
  });

  it("access tokens", async () => {
    const headers = { authorization: `Bearer ${was.token}` };
    expect((await after.get("/orders", { as: null, headers })).status).toBe(200);
  });

  it("W5: a key that was in flight has an unknown outcome for 60 seconds", async () => {
    const again = () => after.post("/delivery-tickets", {}, { key: IN_FLIGHT });
    expect(await again()).toMatchObject(refused(409, "IDEMPOTENCY_OUTCOME_UNKNOWN"));
    await after.control.advance(60);
    expect((await again()).status).toBe(201);
    expect(await after.control.stored("delivery-tickets")).toHaveLength(1);
  });

  it("nothing acknowledged is lost: a kill amid writes", async () => {
    const stored = new Set(idsOf(await after.control.stored("orders")));
    expect(was.acknowledged.filter((id) => !stored.has(id))).toEqual([]);
    expect(stored.size - was.acknowledged.length).toBeLessThanOrEqual(WRITERS);
  });

  it("clock, limits, counters, readings, armed faults, request log", async () => {
    const before = await start(...database("limits.db"));
    const now = await before.control.advance(1e6);
    await before.get("/orders");
    await before.control.limits({ key: "supplier", monthlyCap: 1 });
    await before.control.readings({ readLagSeconds: 5 });
    await before.control.fault({ kind: "status", status: 503 });
    const log = await before.control.requests();
    await crash(before.child);
    const after = await start(...database("limits.db"));
    expect(await after.control.now()).toBeGreaterThanOrEqual(now);
    expect(await after.control.limits({ key: "supplier" })).toMatchObject({ monthlyCap: 1 });
    expect(await after.control.readings({})).toMatchObject({ readLagSeconds: 5 });
    expect(await after.control.faults()).toHaveLength(1);
    expect(await after.control.requests()).toEqual(log);
    expect((await after.get("/orders")).status).toBe(429);
  });
});
