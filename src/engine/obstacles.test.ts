import { expect, test } from "vitest";
import { engineOn, receiver } from "../../test/support/engine.ts";
import { officeOn } from "../../test/support/office.ts";
import { tempFolder } from "../../test/support/folder.ts";
import type { Obstacle, Source } from "../core/contract.ts";
import { SourceUnavailable } from "../core/errors.ts";
import { Daemon } from "./daemon.ts";

const large = (what: string, count = 0, awaited = false): Obstacle => ({
  what,
  fault: { code: "too-large", message: `${what} has 7 bytes.`, next: "Move it away." },
  awaited,
  behind: { count, names: [] },
});

test("what a source cannot read is told once, stays in the status since then, and keeps both sides from being in step", async () => {
  const bench = engineOn(tempFolder());
  let told: readonly Obstacle[] = [];
  let isThere = true;
  const source: Source = {
    // oxlint-disable-next-line require-yield
    async *read(_position, { hindered }) {
      for (const obstacle of told) hindered?.(obstacle);
      if (!isThere) throw new SourceUnavailable("the folder is gone", { next: "Mount it." });
    },
  };
  const flow = bench.flow({ sink: receiver(), source });
  const notes: string[] = [];
  const engine = {
    ...bench.engine,
    note: (event: string, { what }: Readonly<Record<string, unknown>>) =>
      void (typeof what === "string" && notes.push(`${event}: ${what}`)),
  };
  const daemon = new Daemon(engine, [flow]);
  const office = officeOn(engine, [flow], daemon);
  const once = async () => {
    const { inStep } = await daemon.once(new AbortController().signal);
    const { healthy, flows } = await office.status();
    return { inStep, healthy, unread: flows[0]?.unread ?? [] };
  };

  told = [large("a.csv", 1), large("b.csv", 0, true)];
  const first = await once();
  expect(first).toMatchObject({ inStep: false, healthy: false });
  expect(first.unread).toMatchObject([
    { what: "a.csv", code: "too-large", next: "Move it away.", behind: { count: 1 } },
    { what: "b.csv", awaited: true },
  ]);
  expect(notes).toEqual(["not read: a.csv", "not read yet: b.csv"]);

  // More waits behind it; it is the same file, and not told again.
  bench.clock.advance(60_000);
  told = [large("a.csv", 2)];
  const second = await once();
  expect(second.unread.map(({ since, behind }) => [since, behind.count])).toEqual([
    [first.unread[0]?.since, 2],
  ]);
  expect(notes.length).toBe(2);

  // What cannot be looked at says nothing of what lies there.
  isThere = false;
  told = [];
  expect((await once()).unread.length).toBe(1);
  isThere = true;
  expect(await once()).toMatchObject({ inStep: true, healthy: true, unread: [] });

  told = [large("b.csv", 0, true)];
  expect(await once()).toMatchObject({ inStep: false, healthy: true });
});
