import { expect, test } from "vitest";
import type { TestClock } from "../../test/support/clock.ts";
import { bill, engineOn, pagesOf, receiver } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import type { Clock } from "../core/moment.ts";
import { Daemon } from "./daemon.ts";
import type { Engine, Flow } from "./engine.ts";

const MINUTE = 60_000;

/** Runs the daemon until `done`, or for `minutes` of its clock; a run that was started ends before time goes on. */
async function runFor(
  { clock, ...engine }: Engine & { clock: TestClock },
  flow: Flow,
  minutes: number,
  done = () => false,
): Promise<void> {
  const stop = new AbortController();
  const until = clock.now().wallMs + minutes * MINUTE;
  const pause: Clock["pause"] = async (ms, by) => {
    while (daemon.isRunning(flow.name)) await new Promise((resolve) => setImmediate(resolve));
    await clock.pause(by?.aborted ? 0 : ms);
    if (done() || clock.now().wallMs >= until) stop.abort();
  };
  const daemon = new Daemon({ ...engine, clock: { ...clock, pause } }, [flow]);
  await daemon.run(stop.signal);
}

test("an overdue flow runs once however long nothing ran, then on its schedule", async () => {
  const bench = engineOn(tempFolder());
  let reads = 0;
  const source = {
    async *read() {
      reads++;
      yield { changes: [], position: reads };
    },
  };
  const flow = bench.flow({ sink: receiver(), source });
  await runFor({ ...bench.engine, clock: bench.clock }, flow, 3.5);
  expect(reads).toBeGreaterThanOrEqual(3);
  expect(reads).toBeLessThanOrEqual(5);
});

test("a refused batch is halved at once, not at the next look", async () => {
  const bench = engineOn(tempFolder());
  const sink = receiver({ itemsMax: 200, writes: "upsert" });
  const whole = sink.send.bind(sink);
  const fault = { code: "bad", message: "price is 0", next: "" };
  sink.send = async (request, signal) =>
    request.body.includes('"INV-37"')
      ? { name: "invalid", detail: "400", fault }
      : whole(request, signal);
  const changes = Array.from({ length: 100 }, (_, index) => bill(`INV-${index}`, "1"));
  let reads = 0;
  const source = {
    async *read() {
      reads++;
      yield { changes, position: reads };
    },
  };
  const flow = bench.flow({ sink, source, schedule: { everyMs: 24 * 3_600_000 } });
  const counts = () => bench.store.deliveries.counts(flow.flow);
  const isAlone = (): boolean => counts().get("quarantined") === 1;
  await runFor({ ...bench.engine, clock: bench.clock }, flow, 60, isAlone);
  expect(counts()).toEqual(
    new Map([
      ["delivered", 99],
      ["quarantined", 1],
    ]),
  );
  expect(reads).toBe(1);
});

test("a read-back that cannot be made is tried ever more seldom", async () => {
  const bench = engineOn(tempFolder());
  let reads = 0;
  const sink = receiver({
    send: async () => ({ name: "failed", detail: "500" }),
    find: async () => {
      reads++;
      return { found: "unreadable", detail: "503" };
    },
  });
  const source = pagesOf([{ changes: [bill("INV-1", "1")], position: 1 }]);
  await runFor({ ...bench.engine, clock: bench.clock }, bench.flow({ sink, source }), 60);
  expect(reads).toBeGreaterThan(5);
  expect(reads).toBeLessThan(40);
});

test("it rests once after work, and not while there is nothing to rest from", async () => {
  const bench = engineOn(tempFolder());
  let rests = 0;
  const source = pagesOf([{ changes: [bill("INV-1", "1")], position: 1 }]);
  const flow = bench.flow({ sink: receiver(), source });
  await runFor({ ...bench.engine, clock: bench.clock, rest: () => rests++ }, flow, 5);
  expect(rests).toBe(1);
});
