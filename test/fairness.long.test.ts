/**
 * One site's backfill and another's invoice under one API key: engines, stores and the platform's sink, by a clock that the test
 * moves. The ordinary run asks the key alone (src/platform/key.test.ts).
 *
 * @module-tag numbers
 */
import { expect, test } from "vitest";
import { z } from "zod";
import { type Change, defineMapping, type Source } from "../src/core/contract.ts";
import { type Purpose, usualBudget, WINDOW_MS } from "../src/core/budget.ts";
import type { Clock } from "../src/core/time.ts";
import { Daemon } from "../src/engine/daemon.ts";
import { type Exchanger, openKey, type PlatformRequest } from "../src/platform/client.ts";
import { invoices } from "../src/platform/sinks/sinks.ts";
import { openSink } from "../src/platform/sinks/write.ts";
import { engineOn } from "./support/engine.ts";
import { tempFolder } from "./support/folder.ts";
import { runs } from "./support/runs.ts";

const MINUTE = 60_000;
/** Of the platform, for each request. */
const ANSWER_MS = 120;
const PAGE = 500;
/** For a look, a write, and a turn behind the other one that asks. */
const KEPT_MS = 5_000;
const DOCUMENTS = runs(0, 20_000, 100_000);

/** Whoever pauses waits until the time has come; it comes when nobody has anything left to do. */
function sharedClock() {
  let nowMs = Date.parse("2026-11-01T06:00:00Z");
  const waiting = new Map<() => void, number>();
  const clock: Clock = {
    now: () => ({ boot: "boot", monoMs: nowMs, wallMs: nowMs }),
    pause: (ms, signal) =>
      new Promise((resolve) => {
        const wake = (): void => {
          waiting.delete(wake);
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        if (signal?.aborted) return resolve();
        signal?.addEventListener("abort", wake);
        waiting.set(wake, nowMs + ms);
      }),
    chance: () => 0.5,
  };
  return {
    clock,
    passUntil: async (isOver: () => boolean): Promise<void> => {
      while (!isOver()) {
        // An engine that has work gives way by turns.
        for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
        if (waiting.size === 0) continue;
        nowMs = Math.max(nowMs, Math.min(...waiting.values()));
        for (const [wake, atMs] of waiting) if (atMs <= nowMs) wake();
      }
    },
  };
}

/** What the platform keeps of invoices, and when each request came. */
function platform(clock: Clock) {
  const asked: number[] = [];
  const kept = new Map<string, number>();
  async function answer({ method, path, body }: PlatformRequest): Promise<object> {
    asked.push(clock.now().monoMs);
    await clock.pause(ANSWER_MS);
    if (method === "POST") {
      const { invoiceNumber } = JSON.parse(body ?? "") as { invoiceNumber: string };
      expect(kept.has(invoiceNumber)).toBe(false);
      kept.set(invoiceNumber, clock.now().monoMs);
      return { success: true, data: { id: `id-${invoiceNumber}`, status: "OUTSTANDING" } };
    }
    expect(kept.has(new URLSearchParams(path.split("?")[1]).get("search") ?? "")).toBe(false);
    const meta = { total: 0, page: 1, pageSize: 100, totalPages: 0, hasMore: false };
    return { success: true, data: [], meta };
  }
  return { asked, kept, answer };
}

const mapping = defineMapping({
  name: "test/invoices",
  kind: "invoice",
  input: z.looseObject({ invoiceNumber: z.string() }),
  output: z.looseObject({}),
  number: ({ invoiceNumber }) => invoiceNumber,
  map: (invoice) => invoice,
  figures: () => ({ amount: null, gallons: null }),
});

const invoice = (number: string): Change => ({
  id: number,
  version: null,
  text: JSON.stringify({
    invoiceNumber: number,
    subtotal: 10,
    tax: 0,
    total: 10,
    lineItems: [{ description: "fuel", amount: 10 }],
  }),
});

test(
  `a backfill of ${DOCUMENTS} documents at one site delays no invoice of two others by more than a minute, through both engines`,
  { timeout: 1_800_000 },
  async () => {
    const { clock, passUntil } = sharedClock();
    const there = platform(clock);
    const budget = { ...usualBudget, perMonth: 10_000_000 };
    const sites = ["north", "south", "west"];
    const sharers = sites.map((site) => ({ site, weight: 1, away: () => null }));
    const key = openKey({ clock, budget }, sharers);
    const stopping = new AbortController();
    /** When each invoice of the others came. */
    const came = new Map<string, number>();
    const running = sites.map((site, at) => {
      const bench = engineOn(tempFolder());
      const spent: Partial<Record<Purpose, number>> = {};
      const governor = key.join(site, {
        spent: () => ({ ...spent }),
        spend: (_, purpose) => void (spent[purpose] = (spent[purpose] ?? 0) + 1),
        closedUntil: () => null,
      });
      const exchange: Exchanger["exchange"] = async (request) => {
        const admission = await governor.admit(request.purpose);
        if (!admission.admitted) {
          const { admitted: _, ...why } = admission;
          return { kind: "held", ...why };
        }
        const text = JSON.stringify(await there.answer(request));
        return { kind: "answer", status: 200, headers: {}, text };
      };
      const client = { exchange } as Exchanger;
      const sink = openSink(invoices, {
        client,
        clock,
        purpose: "read-back",
        settleMs: null,
        ourselves: async () => null,
      });
      let read = 0;
      const source: Source = {
        async *read() {
          if (site !== "north") {
            const number = `${site}-${read++}`;
            came.set(number, clock.now().monoMs);
            return yield { changes: [invoice(number)], position: read };
          }
          for (; read < DOCUMENTS; read += PAGE)
            yield {
              changes: Array.from({ length: Math.min(PAGE, DOCUMENTS - read) }, (_, one) =>
                invoice(`north-${read + one}`),
              ),
              position: read,
            };
        },
      };
      // Each at its own time.
      const schedule = { everyMs: 47_000 + 11_003 * at };
      const flow = bench.flow({ mapping, sink, source, schedule, name: site });
      return new Daemon({ ...bench.engine, clock }, [flow]).run(stopping.signal);
    });
    let ended = 0;
    for (const one of running) void one.finally(() => ended++);
    await passUntil(() => there.kept.size - came.size >= DOCUMENTS || ended > 0);
    stopping.abort();
    await passUntil(() => ended === sites.length);
    await Promise.all(running);
    expect([...there.kept.keys()].filter((number) => number.startsWith("north-"))).toHaveLength(
      DOCUMENTS,
    );
    const delays = [...came].flatMap(([number, fromMs]) => {
      const untilMs = there.kept.get(number) ?? clock.now().monoMs;
      return untilMs - fromMs;
    });
    expect(delays.length).toBeGreaterThan(10);
    expect(Math.max(...delays)).toBeLessThanOrEqual(MINUTE);
    // Places are kept for those that may ask: without them, 45 s.
    expect(Math.max(...delays)).toBeLessThanOrEqual(KEPT_MS);
    // The platform's minute is kept, and the backfill has what the others leave.
    const { asked } = there;
    for (const [at, atMs] of asked.entries())
      expect(atMs - (asked[at - budget.perMinute] ?? -Infinity)).toBeGreaterThan(MINUTE);
    const minutes = ((asked.at(-1) ?? 0) - (asked[0] ?? 0)) / WINDOW_MS;
    expect(minutes).toBeLessThan(((2 * DOCUMENTS) / (0.9 * budget.perMinute)) * 1.1 + 1);
  },
);
