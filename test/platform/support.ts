/** The platform's side of fuelbridge against a sandbox over HTTP, with one clock for both. */
import { onTestFinished } from "vitest";
import type {
  Change,
  Endpoint,
  Item,
  Outgoing,
  Page,
  Reading,
  Sink,
  Source,
} from "../../src/core/contract.ts";
import { Refused, SourceUnavailable } from "../../src/core/errors.ts";
import type { Fault } from "../../src/core/record.ts";
import { type Json, parseExact } from "../../src/core/json.ts";
import { unread, type Walk, type WalkPosition } from "../../src/core/watermark.ts";
import {
  type Budget,
  type Governor,
  type Purpose,
  type Spent,
  usualBudget,
} from "../../src/core/budget.ts";
import { calendarOf, type Clock } from "../../src/core/time.ts";
import {
  type Exchanger,
  openClient,
  openGovernor,
  type PlatformOptions,
} from "../../src/platform/client.ts";
import { type EndpointOptions, openPlatform } from "../../src/platform/endpoint.ts";
import { useSandbox } from "../conformance/support.ts";
import { testClock, type TestClock } from "../support/clock.ts";

export const never = new AbortController().signal;

/** What a client is opened with when a test does not care. */
export function clientOptions(options: Partial<PlatformOptions> = {}): PlatformOptions {
  return {
    url: "http://platform.test/v1/public",
    apiKey: "svc_live_a-key-for-tests",
    auth: "bearer",
    environment: "live",
    clock: testClock(),
    governor: counting().governor,
    version: "0.0.0-test",
    ...options,
  };
}

/** A client that is closed when the test ends. */
export function clientFor(options: Partial<PlatformOptions> = {}): Exchanger {
  const client = openClient(clientOptions(options));
  onTestFinished(() => client.close());
  return client;
}

/** A sandbox for one file, and clients of it. */
export function usePlatform(scenario: "empty" | "conformance" | "demo" = "empty") {
  const sandbox = useSandbox(scenario);
  const { control } = sandbox;
  const reach = (options: Partial<PlatformOptions> = {}, key = "supplier") =>
    clientOptions({ url: sandbox.urls().baseUrl, apiKey: sandbox.secret(key), ...options });
  const endpoint = (options: Partial<EndpointOptions> = {}, key = "supplier"): Endpoint => {
    const opened = openPlatform({
      ...reach(options, key),
      overlapMs: 300_000,
      settleMs: null,
      dayOf: calendarOf("America/Chicago"),
      ...options,
    });
    onTestFinished(() => opened.close());
    return opened;
  };

  return {
    ...sandbox,
    reach,
    client: (options: Partial<PlatformOptions> = {}, key = "supplier"): Exchanger =>
      clientFor(reach(options, key)),

    endpoint,
    sink(name: string, options: Partial<EndpointOptions> = {}, key = "supplier"): Sink {
      const sink = endpoint(options, key).sinks[name];
      if (sink === undefined) throw new Error(`the platform takes no ${name}`);
      return sink;
    },

    /** A clock that moves the sandbox's whenever it pauses. */
    async clock(): Promise<TestClock> {
      const clock = testClock(await control.now());
      return {
        ...clock,
        async pause(ms, signal) {
          if (signal?.aborted) return;
          await control.advance(ms / 1000);
          clock.advance(ms);
        },
      };
    },

    /** More than any test asks for. */
    unlimited: (key = "supplier") =>
      control.limits({ key, perMinute: 1_000_000, monthlyCap: 1_000_000 }),
  };
}

/** Admits everything, and counts it by purpose. */
export function counting() {
  const counts = new Map<Purpose, number>();
  const governor: Governor = {
    async admit(purpose) {
      counts.set(purpose, (counts.get(purpose) ?? 0) + 1);
      return { admitted: true };
    },
    learn: () => {},
  };
  return { governor, counts: () => Object.fromEntries(counts) };
}

/** A month that is kept in memory; `used` is what was spent of every month before. */
export function governed(clock: Clock, budget: Partial<Budget> = {}, used: Spent = {}) {
  const spent: Partial<Record<Purpose | "lost", number>> = { ...used };
  return openGovernor({
    clock,
    budget: { ...usualBudget, ...budget },
    ledger: {
      spent: () => spent,
      spend: (_, purpose) => void (spent[purpose] = (spent[purpose] ?? 0) + 1),
      closedUntil: () => null,
    },
  });
}

/** What the engine lends a source; this one has stored nothing. */
export const reading = (options: Partial<Reading> = {}): Reading => ({
  signal: never,
  known: () => null,
  stored: () => false,
  ...options,
});

export const positionOf = (page: Page | undefined): WalkPosition =>
  page?.position as unknown as WalkPosition;

/**
 * The pages of a run from `position`, and what ended it early. `between` is called after each page with its number
 * from 1; the run stops there when it returns true.
 */
export async function walked(
  source: Source,
  position: WalkPosition | null = null,
  between: (page: Page, number: number) => unknown = () => false,
  by = reading(),
): Promise<{ pages: Page[]; position: WalkPosition; trouble: SourceUnavailable | null }> {
  const pages: Page[] = [];
  const reached = () => (pages.length === 0 ? (position ?? unread) : positionOf(pages.at(-1)));
  try {
    for await (const page of source.read(position as unknown as Json, by)) {
      pages.push(page);
      if ((await between(page, pages.length)) === true) break;
    }
    return { pages, position: reached(), trouble: null };
  } catch (error) {
    if (!(error instanceof SourceUnavailable)) throw error;
    return { pages, position: reached(), trouble: error };
  }
}

/** A walk under way that goes on with this cursor. */
export const walkAt = (cursor: string, walk: Partial<Walk> = {}): Walk => ({
  since: "2026-01-01T00:00:00.000Z",
  cursor,
  latest: null,
  startedAt: "2026-11-21T12:00:00.000000000Z",
  pages: 1,
  restarts: 0,
  ...walk,
});

export const idsIn = (pages: readonly Page[]): string[] =>
  pages.flatMap(({ changes }) => changes.map(({ id }: Change) => id));

/** Items of a request, each by its number, with the documents in this JSON: numbers keep their digits. */
export const items = (...documents: readonly string[]): Item[] =>
  documents.map((text, at) => ({
    number: String(at + 1),
    id: String(at + 1),
    revision: "r1",
    document: parseExact(text),
    counterpart: null,
  }));

/** What a sink is asked to send, or to look for, for these documents. */
export const outgoing = (
  sink: Sink,
  documents: readonly string[],
  more: Partial<Outgoing> = {},
): Outgoing => ({
  ...sink.freeze(items(...documents)),
  key: "fb1_test_0123456789abcdef",
  items: items(...documents),
  firstSentAt: null,
  ...more,
});

/** The fault for which a sink refuses these documents; null when it takes them. */
export function faultFor(sink: Sink, ...documents: readonly string[]): Fault | null {
  try {
    sink.freeze(items(...documents));
    return null;
  } catch (error) {
    if (error instanceof Refused) return error.fault;
    throw error;
  }
}
