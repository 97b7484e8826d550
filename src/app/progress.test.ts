import { expect, test, vi } from "vitest";
import { flowProgress, openProgress, type Screen } from "./progress.ts";

/** A terminal of `columns`, its last line as it shows, and a clock. */
function terminal({ columns = 80, isTTY = true } = {}) {
  let shown = "";
  let written = "";
  let now = 1_000;
  const screen: Screen = {
    isTTY,
    columns,
    write: (text: string | Uint8Array) => {
      written += String(text);
      for (const part of String(text).split("\r\u001B[K").slice(1)) shown = part;
      if (!String(text).startsWith("\r")) shown += String(text);
      return true;
    },
  };
  const line = openProgress(screen, () => now);
  return {
    line,
    shown: () => shown,
    written: () => written,
    at: (seconds: number) => {
      now = 1_000 + seconds * 1_000;
    },
  };
}

const stand = (count: number, share: number | null) => () => ({
  what: "prices: reading",
  count,
  unit: "rows",
  share,
});

test("work of more than two seconds shows count, share, rate and time left on a terminal, and takes the line away", () => {
  const { line, shown, at } = terminal();
  line.show(stand(0, 0));
  at(1.9);
  line.show(stand(19_000, 0.19));
  expect(shown()).toBe("");
  at(4);
  line.show(stand(40_000, 0.4));
  expect(shown()).toBe("prices: reading, 40,000 rows, 40 %, 10,000/s, 6 s left");
  at(4.1);
  line.show(() => {
    throw new Error("it is asked too often");
  });
  line.clear();
  expect(shown()).toBe("");
});

test("after a quiet time a line goes by itself, and new work is shown after two seconds again", () => {
  vi.useFakeTimers();
  try {
    const { line, shown, at } = terminal();
    line.show(stand(0, null));
    at(3);
    line.show(stand(30, null));
    expect(shown()).toBe("prices: reading, 30 rows, 10/s");
    vi.advanceTimersByTime(10_000);
    expect(shown()).toBe("");
    at(60);
    line.show(stand(31, null));
    expect(shown()).toBe("");
  } finally {
    vi.useRealTimers();
  }
});

test.each([
  ["a pipe", { isTTY: false }, undefined],
  ["a terminal that cannot draw", { isTTY: true }, "dumb"],
])("%s gets nothing", (_name, options, term) => {
  if (term !== undefined) vi.stubEnv("TERM", term);
  const { line, written, at } = terminal(options);
  line.show(stand(0, 0));
  at(5);
  line.show(stand(1, 0.5));
  line.clear();
  expect(written()).toBe("");
  vi.unstubAllEnvs();
});

test("a narrow terminal gets a line that fits, without colours", () => {
  const { line, shown, written, at } = terminal({ columns: 20 });
  line.show(stand(0, 0));
  at(5);
  line.show(stand(1_000, 0.5));
  expect(shown()).toBe("prices: reading, 1,");
  expect(written()).not.toContain("\u001B[3");
});

test("deliveries are told in documents: those that are done, and the share of all", () => {
  const { line, shown, at } = terminal();
  let done = 0;
  const progress = flowProgress(line, () => ({ done, left: 200 - done }));
  progress({ flow: "prices", step: "delivering", count: null, share: null });
  at(10);
  done = 50;
  progress({ flow: "prices", step: "delivering", count: null, share: null });
  expect(shown()).toBe("prices: delivering, 50 documents, 25 %, 5/s, 30 s left");
});
