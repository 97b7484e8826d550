/** What became of files that were put by {@link putBadFiles}. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { BadFile } from "./bad-files.ts";

export interface Outcome {
  readonly good: readonly string[];
  readonly bad: readonly string[];
  readonly left: readonly string[];
}

/** Each file met its fate, and nothing came of it besides. */
export function expectFates(folder: string, put: readonly BadFile[], told: Outcome): void {
  const namesIn = (sub: string): string[] => {
    const names = readdirSync(join(folder, sub));
    return names.map((name) => name.replace(/\.[0-9a-f]{8}/, ""));
  };
  const failed = new Set(namesIn("failed"));
  const archived = new Set(namesIn("archive"));
  const there = new Set(readdirSync(folder));
  const good = new Set(told.good);
  const found = put.map(({ kind, name, good: [a, b] }, at) => {
    const stem = name.replace(/\.csv$/, "");
    const read = [a, b].filter((code) => good.has(code)).length;
    const isQuarantined = told.bad.includes(`X${at}`);
    const where = failed.has(name)
      ? failed.has(`${stem}.errors.csv`)
        ? "refused"
        : "without a report"
      : archived.has(name)
        ? "archived"
        : there.has(name)
          ? "left"
          : "lost";
    return [kind, where, read, isQuarantined];
  });
  expect(found).toEqual(
    put.map(({ kind, fate }) => {
      if (fate === "left") return [kind, "left", 0, false];
      if (fate === "refused") return [kind, "refused", 0, false];
      return fate === "cut" ? [kind, "refused", 1, false] : [kind, "archived", 2, fate === "rows"];
    }),
  );
  expect(told.left.length).toBe(put.filter(({ fate }) => fate === "left").length);
}
