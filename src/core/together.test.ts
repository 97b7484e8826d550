import { expect, it } from "vitest";
import { together } from "./together.ts";

it("calls of one turn go together, those that come meanwhile after them, each with its own answer", async () => {
  const went: number[][] = [];
  const double = together(3, async (numbers: readonly number[]) => {
    went.push([...numbers]);
    await Promise.resolve();
    return numbers.map((number) => 2 * number);
  });
  const soon = async (number: number): Promise<number> => {
    for (let tick = 0; tick < number; tick++) await Promise.resolve();
    return double(number);
  };
  const four = Promise.all([1, 2, 3, 4].map(soon));
  expect(await soon(5)).toBe(10);
  expect(await four).toEqual([2, 4, 6, 8]);
  expect(went).toEqual([
    [1, 2, 3],
    [4, 5],
  ]);
});

it("a failure is told to each that went together, and the next go again", async () => {
  let isBroken = true;
  const call = together(8, async (words: readonly string[]) => {
    if (isBroken) throw new Error("lost");
    return words;
  });
  expect((await Promise.allSettled(["a", "b"].map(call))).map(({ status }) => status)).toEqual([
    "rejected",
    "rejected",
  ]);
  isBroken = false;
  expect(await call("c")).toBe("c");
});
