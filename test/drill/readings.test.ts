import { expect, test } from "vitest";
import { covering, switches } from "./readings.ts";

test("in some set any two switches are both on, both off, and each on alone", () => {
  const names = Object.keys(switches);
  const sets = covering(names);
  for (const one of names)
    for (const other of names.filter((name) => name !== one))
      for (const [first, second] of [
        [true, true],
        [true, false],
        [false, false],
      ])
        expect(
          sets.some((set) => set.includes(one) === first && set.includes(other) === second),
          `${one} ${first}, ${other} ${second}`,
        ).toBe(true);
  expect(sets.length).toBeLessThan(9);
});
