import { expect, test } from "vitest";
import type { Desired, Entry } from "./port.ts";
import { identify } from "./plan.ts";
import { can, desired, entry } from "./plan.fixture.ts";

const marks = { own: "id-1", other: "id-2", none: null } as const;
type Mark = keyof typeof marks;

/** All rows that can come from a look, each with what makes it. */
const rows = (["own", "other", "none"] as const).flatMap((mark) =>
  [true, false].flatMap((isBound) =>
    [true, false].flatMap((hasNumber) =>
      [true, false].flatMap((hasParty) =>
        [true, false].map((isLive) => ({ mark, isBound, hasNumber, hasParty, isLive })),
      ),
    ),
  ),
);

const rowOf = ({ mark, isBound, hasNumber, hasParty, isLive }: (typeof rows)[number]): Entry =>
  entry({
    id: isBound ? "S-1" : "S-2",
    mark: marks[mark],
    number: hasNumber ? "FL-1" : "FL-2",
    party: hasParty ? "C-1" : "C-2",
    status: isLive ? "posted" : "cancelled",
  });

const told = (
  wantedOne: Desired,
  all: readonly Entry[],
  numbered: "once" | "per-party",
): string => {
  const [found] = identify([wantedOne], all, { ...can, numbered });
  return found?.is === "one" ? found.by : (found?.is ?? "");
};

test.each(["once", "per-party"] as const)(
  "numbers %s: one row is ours by our mark, else by its link, else by number and party; or it takes our number",
  (numbered) => {
    for (const row of rows) {
      const { mark, isBound, hasNumber, hasParty, isLive } = row;
      const has = (...names: Mark[]): boolean => names.includes(mark);
      const expected = has("own")
        ? "mark"
        : has("none") && isBound
          ? "binding"
          : has("none") && hasNumber && hasParty
            ? "number"
            : hasNumber && (numbered === "once" || (isLive && hasParty))
              ? "taken"
              : "none";
      expect(told(desired({ binding: "S-1" }), [rowOf(row)], numbered), JSON.stringify(row)).toBe(
        expected,
      );
    }
  },
);

test("of two rows the stronger identity counts, and two of one identity are several, unless one alone is not cancelled", () => {
  const order = ["mark", "binding", "number"];
  for (const one of rows)
    for (const other of rows) {
      const [first, second] = [one, other].map((row) =>
        told(desired({ binding: "S-1" }), [rowOf(row)], "per-party"),
      ) as [string, string];
      const ranks = [first, second].map((by) => order.indexOf(by)).filter((rank) => rank >= 0);
      const both = told(desired({ binding: "S-1" }), [rowOf(one), rowOf(other)], "per-party");
      const text = JSON.stringify([one, other]);
      if (ranks.length === 2 && first === second)
        expect(both, text).toBe(one.isLive === other.isLive ? "several" : first);
      else if (ranks.length > 0) expect(both, text).toBe(order[Math.min(...ranks)]);
      else expect(both, text).toBe([first, second].includes("taken") ? "taken" : "none");
    }
});

test("the second document of one number and party in a request is taken, unless one of them is void", () => {
  const [first, second] = [desired({}), desired({ mark: "id-2" })];
  const both = identify([first, second], [], can).map(({ is }) => is);
  expect(both).toEqual(["none", "taken"]);
  const ended = identify([{ ...first, target: "cancelled" }, second], [], can);
  expect(ended.map(({ is }) => is)).toEqual(["none", "none"]);
});

test("what people entered for its party under its number in another writing is never booked beside, nor taken for it", () => {
  const typed = { mark: null, id: "S-2", number: " fl1" } as const;
  const toldOf = (more: Partial<Entry>, target: Desired["target"] = "posted") =>
    identify([desired({ target })], [entry({ ...typed, ...more })], can)[0]?.is;
  for (const number of ["FL1", "FL 1", "fl/1", "FL-1."]) expect(toldOf({ number })).toBe("alike");
  expect(toldOf({ status: "draft" })).toBe("alike");
  expect(toldOf({}, "cancelled")).toBe("alike");
  for (const other of [{ number: "FL-10" }, { number: "FL-01" }, { number: null }])
    expect(toldOf(other)).toBe("none");
  expect(toldOf({ party: "C-2" })).toBe("none");
  expect(toldOf({ mark: "id-2" })).toBe("none");
  expect(toldOf({ status: "cancelled" })).toBe("none");
  const own = entry({ id: "S-1" });
  expect(identify([desired({})], [own, entry(typed)], can)[0]).toMatchObject({ is: "one" });
  expect(identify([desired({ number: "--" })], [entry({ ...typed, number: "/" })], can)).toEqual([
    { is: "none" },
  ]);
});

test("a document without a party is told by its mark and link only", () => {
  const payment = desired({ party: null });
  expect(told(payment, [entry({ mark: null, id: "S-2", party: null })], "once")).toBe("none");
});
