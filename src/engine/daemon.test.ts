import { expect, test } from "vitest";
import type { TestClock } from "../../test/support/clock.ts";
import { bill, engineOn, pagesOf, receiver } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import type { Clock } from "../core/moment.ts";
import { Daemon } from "./daemon.ts";

const MINUTE = 60_000;

/** Stops the daemon when `done`, or after `minutes` of its clock; a run that was started ends before time goes on. */
function stoppingClock(
  clock: TestClock,
  stop: AbortController,
  minutes: number,
  done = () => false,
): Clock {
  const until = clock.now().wallMs + minutes * MINUTE;
  return {
    ...clock,
    async pause(ms, by) {
      for (let turns = 0; turns < 3; turns++) await new Promise((resolve) => setImmediate(resolve));
      await clock.pause(by?.aborted ? 0 : ms);
      if (done() || clock.now().wallMs >= until) stop.abort();
    },
  };
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
  const stop = new AbortController();
  const clock = stoppingClock(bench.clock, stop, 3.5);
  await new Daemon({ ...bench.engine, clock }, [flow]).run(stop.signal);
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
  const stop = new AbortController();
  const clock = stoppingClock(bench.clock, stop, 60, () => counts().get("quarantined") === 1);
  await new Daemon({ ...bench.engine, clock }, [flow]).run(stop.signal);
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
  const stop = new AbortController();
  const clock = stoppingClock(bench.clock, stop, 60);
  await new Daemon({ ...bench.engine, clock }, [bench.flow({ sink, source })]).run(stop.signal);
  expect(reads).toBeGreaterThan(5);
  expect(reads).toBeLessThan(40);
});

test("it rests once after work, and not while there is nothing to rest from", async () => {
  const bench = engineOn(tempFolder());
  let rests = 0;
  const source = pagesOf([{ changes: [bill("INV-1", "1")], position: 1 }]);
  const flow = bench.flow({ sink: receiver(), source });
  const stop = new AbortController();
  const clock = stoppingClock(bench.clock, stop, 5);
  const engine = { ...bench.engine, clock, rest: () => rests++ };
  await new Daemon(engine, [flow]).run(stop.signal);
  expect(rests).toBe(1);
});
