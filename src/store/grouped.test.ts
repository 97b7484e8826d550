import { expect, test } from "vitest";
import { grouped } from "./database.ts";

test("when one work throws, the others are done without it", async () => {
  const done: string[] = [];
  const together = grouped((work) => {
    const before = done.length;
    try {
      work();
    } catch (error) {
      done.length = before;
      throw error;
    }
  });
  const ends = await Promise.allSettled([
    together(() => done.push("first")),
    together(() => {
      throw new Error("a fault");
    }),
    together(() => done.push("last")),
  ]);
  expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(done).toEqual(["first", "last"]);
});

test("a commit that fails by itself is not made again", async () => {
  let commits = 0;
  const together = grouped((work) => {
    commits++;
    work();
    throw new Error("the disk");
  });
  const ends = await Promise.allSettled([together(() => 1), together(() => 2)]);
  expect(ends.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(commits).toBe(1);
});
