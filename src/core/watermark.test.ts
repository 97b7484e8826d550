import * as fc from "fast-check";
import { expect, test } from "vitest";
import { numbers, runs } from "../../test/support/runs.ts";
import { testClock } from "../../test/support/clock.ts";
import { sortableInstant } from "./keys.ts";
import {
  afterPage as afterPageAt,
  begun,
  begunAgain,
  unread,
  type Walk,
  type WalkPosition,
} from "./watermark.ts";

const OVERLAP_MS = 300_000;
const afterPage = (from: WalkPosition, by: Walk, page: Parameters<typeof afterPageAt>[2]) =>
  afterPageAt(from, by, page, testClock().now());

const walk: Walk = {
  since: "1970-01-01T00:00:00.000Z",
  cursor: null,
  latest: null,
  startedAt: "2026-11-21T10:00:00.000000000Z",
  pages: 0,
  restarts: 0,
};
const nine = "2026-11-21T09:00:00.000000000Z";
const eleven = "2026-11-21T11:00:00.000000000Z";

test("the watermark holds until the walk is complete", () => {
  const middle = afterPage(unread, walk, { cursor: "c1", latest: nine });
  expect(middle.watermark).toBeNull();
  expect(middle.walk).toMatchObject({ cursor: "c1", latest: nine, pages: 1 });
  const end = afterPage(middle, middle.walk as Walk, { cursor: null, latest: null });
  expect(end).toEqual({ watermark: nine, walk: null, reached: testClock().now() });
});

test("it never passes the server's clock at the walk's start", () => {
  expect(afterPage(unread, walk, { cursor: null, latest: eleven }).watermark).toBe(walk.startedAt);
});

test("it never moves back behind what was read, and an empty walk leaves it", () => {
  const eight = "2026-11-21T08:00:00.000000000Z";
  const position = { watermark: nine, walk };
  expect(afterPage(position, walk, { cursor: null, latest: eight }).watermark).toBe(nine);
  expect(afterPage(position, walk, { cursor: null, latest: null }).watermark).toBe(nine);
  const clockless = { ...walk, startedAt: "" };
  expect(afterPage(position, clockless, { cursor: null, latest: null }).watermark).toBe(nine);
});

test("left ahead by a server's clock that was ahead once, it comes back to that clock", () => {
  const position = { watermark: eleven, walk };
  expect(afterPage(position, walk, { cursor: null, latest: nine }).watermark).toBe(walk.startedAt);
  expect(afterPage(position, walk, { cursor: null, latest: null }).watermark).toBe(walk.startedAt);
});

test("the overlap is asked for again; nothing read yet asks for everything", () => {
  const since = (position: WalkPosition): string =>
    begun(position, OVERLAP_MS, testClock().now()).since;
  expect(since({ watermark: nine, walk: null })).toBe("2026-11-21T08:55:00.000Z");
  expect(since(unread)).toBe("1970-01-01T00:00:00.000Z");
});

const [before, itself] = ["2026-11-21T08:55:00.000Z", "2026-11-21T09:00:00.000Z"];

/** Looks by which nothing new comes, so many minutes after the mark was reached; where each began. */
function looks(
  minutes: readonly (number | "restart")[],
  from: Partial<WalkPosition> = {},
): string[] {
  const clock = testClock();
  const startMs = clock.now().monoMs;
  let position: WalkPosition = { watermark: nine, walk: null, reached: clock.now(), ...from };
  return minutes.flatMap((at) => {
    if (at === "restart") clock.restart();
    if (at === "restart") return [];
    clock.advance(startMs + at * 60_000 - clock.now().monoMs);
    const look = { ...begun(position, OVERLAP_MS, clock.now()), startedAt: walk.startedAt };
    position = afterPageAt(position, look, { cursor: null, latest: nine }, clock.now());
    return [look.since];
  });
}

test("the mark alone is asked for once a whole walk began twice the overlap after it was reached", () => {
  expect(looks([1, 5, 9, 10, 20, 900])).toEqual([before, before, before, before, itself, itself]);
});

test("after a start of the process the overlap is waited for anew; what was settled stays so", () => {
  expect(looks([1, "restart", 60, 69, 70, 80])).toEqual([before, before, before, before, itself]);
  expect(looks([10, "restart", 20])).toEqual([before, itself]);
  expect(looks(["restart", 60, 61, 70, 71])).toEqual([before, before, before, itself]);
});

test("a longer overlap is asked for again, although a shorter one was settled", () => {
  const clock = testClock();
  const settled = { watermark: nine, walk: null, reached: clock.now(), settledMs: OVERLAP_MS };
  expect(begun(settled, OVERLAP_MS, clock.now()).since).toBe(itself);
  expect(begun(settled, OVERLAP_MS + 1, clock.now()).since).toBe("2026-11-21T08:54:59.999Z");
});

test("a walk that begins again settles what it would have settled, and a new mark settles nothing", () => {
  const settling = { ...walk, since: before, settlesMs: OVERLAP_MS };
  expect(begunAgain(settling)).toMatchObject({ since: before, settlesMs: OVERLAP_MS, restarts: 1 });
  const position = { watermark: nine, walk: null, settledMs: OVERLAP_MS };
  const ten = "2026-11-21T09:30:00.000000000Z";
  const end = afterPage(position, settling, { cursor: null, latest: ten });
  expect(end).toEqual({ watermark: ten, walk: null, reached: testClock().now() });
});

test(
  "nothing is passed over that is committed within the overlap, by whatever clock of the platform",
  numbers,
  () => {
    const seconds = (max: number) => fc.integer({ min: 0, max });
    const written = fc.record({ at: seconds(3_600), late: seconds(300), behind: seconds(300) });
    const looked = fc.tuple(seconds(400), fc.boolean());
    fc.assert(
      fc.property(
        fc.array(written, { maxLength: 12 }),
        fc.array(looked, { maxLength: 25 }),
        fc.integer({ min: -7_200, max: 7_200 }),
        fc.boolean(),
        (writes, turns, aheadS, isInclusive) => {
          const clock = testClock();
          const fromMs = clock.now().wallMs;
          const records = writes.map(({ at, late, behind }) => ({
            shownMs: fromMs + (at + late) * 1_000,
            // The clocks of a platform differ by no more than what its writes' lateness leaves of the overlap.
            updatedMs: fromMs + (at - Math.min(behind, 300 - late)) * 1_000,
          }));
          const seen = new Set<object>();
          let position: WalkPosition = unread;
          const look = (): void => {
            const { wallMs } = clock.now();
            const begins = begun(position, OVERLAP_MS, clock.now());
            const sinceMs = Date.parse(begins.since) + (isInclusive ? 0 : 1);
            const told = records.filter((one) => one.shownMs <= wallMs && one.updatedMs >= sinceMs);
            for (const one of told) seen.add(one);
            const instant = (ms: number): string =>
              sortableInstant(new Date(ms).toISOString()) ?? "";
            const latest =
              told
                .map(({ updatedMs }) => instant(updatedMs))
                .toSorted()
                .at(-1) ?? null;
            const startedAt = instant(wallMs + aheadS * 1_000);
            clock.advance(2_000);
            const ends = { cursor: null, latest };
            position = afterPageAt(position, { ...begins, startedAt }, ends, clock.now());
          };
          for (const [pauseS, isRestart] of turns) {
            clock.advance(pauseS * 1_000);
            if (isRestart && pauseS < 30) clock.restart();
            look();
          }
          clock.advance(8_000_000);
          look();
          expect(seen.size).toBe(records.length);
        },
      ),
      { numRuns: runs(2_000, 50_000) },
    );
  },
);
