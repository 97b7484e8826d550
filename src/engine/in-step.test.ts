/** When both sides are in step, and what keeps them from it. */
import { expect, test } from "vitest";
import { bill, engineOn, pagesOf, type Receiver, receiver } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import type { Page } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { Daemon } from "./daemon.ts";
import type { Flow } from "./engine.ts";
import { outOfStep, type Reason } from "./in-step.ts";

const signal = new AbortController().signal;

/** What `once` leaves as reasons, with these parts. */
async function after(sink: Receiver, flow: Partial<Flow> = {}): Promise<Reason[]> {
  const bench = engineOn(tempFolder());
  const { engine } = bench;
  const source = pagesOf([{ changes: [bill("INV-1", "1")], position: 1 }]);
  const flows = [bench.flow({ sink, source, ...flow })];
  const { inStep } = await new Daemon(engine, flows).once(signal);
  const reasons = outOfStep(engine, flows);
  expect(inStep).toBe(reasons.every(({ held }) => held));
  engine.store.close();
  return reasons;
}

test("in step is what was read whole and delivered whole", async () => {
  expect(await after(receiver())).toEqual([]);
});

test("a receiver that stays stopped is named with its first cause, beside what waits for it", async () => {
  const trouble = new SourceUnavailable("cannot create /srv/erp/import: EACCES", {
    next: "Give that right.",
  });
  const sink = receiver({ prepare: () => Promise.reject(trouble) });
  expect(await after(sink)).toMatchObject([
    {
      code: "stopped",
      flow: null,
      message: "stopped (receiver, platform): cannot create /srv/erp/import: EACCES",
      next: "Give that right.",
      held: false,
    },
    { code: "pending", flow: "bills", count: 1, held: false },
  ]);
});

test("a source that could not be read is unread, with its trouble", async () => {
  const trouble = new SourceUnavailable("EACCES: invoices.csv", { next: "Give that right." });
  const source = { read: () => failing(trouble) };
  expect(await after(receiver(), { source })).toMatchObject([
    { code: "unread", flow: "bills", message: "EACCES: invoices.csv", held: false },
  ]);
});

test("what is paused keeps both sides out of step, though nothing is left to do", async () => {
  expect(await after(receiver(), { paused: true })).toMatchObject([
    { code: "paused", flow: "bills", held: true },
  ]);
});

test("what was never read is not in step", () => {
  const bench = engineOn(tempFolder());
  const { engine } = bench;
  const flows = [bench.flow({ sink: receiver(), source: pagesOf() })];
  expect(outOfStep(engine, flows)).toMatchObject([{ code: "never-read", flow: "bills" }]);
  engine.store.close();
});

test("a stop keeps both sides out of step though nothing is pending", () => {
  const { engine } = engineOn(tempFolder());
  const stop = {
    breaker: "receiver",
    scope: "erp",
    sinceMs: 0,
    retryMs: 1,
    message: "m",
    next: "n",
  };
  engine.store.transaction(() => engine.store.journal.trip(stop));
  expect(outOfStep(engine, [])).toMatchObject([{ code: "stopped", flow: null, held: false }]);
  engine.store.close();
});

async function* failing(error: Error): AsyncGenerator<Page> {
  yield { changes: [], position: 1 };
  throw error;
}
