/** What a whole list no longer has is told; a list that lost or grew too much is not believed before a person says so. */
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { files } from "../connectors/files/index.ts";
import { type Change, defineMapping, type Source } from "../src/core/contract.ts";
import { Daemon } from "../src/engine/daemon.ts";
import type { ListLimits } from "../src/engine/engine.ts";
import { storedStateOf } from "../src/engine/reconcile/plan.ts";
import { storeOffice } from "./support/office.ts";
import { testClock } from "./support/clock.ts";
import { engineOn, receiver } from "./support/engine.ts";
import { tempFolder } from "./support/folder.ts";
import { isThere } from "./support/machine.ts";
import { isLongRun, numbers } from "./support/runs.ts";
import { startSshd } from "./support/sshd.ts";
import { surroundingsIn } from "./support/surroundings.ts";

const HEADER =
  "Code,Name,City,State,ZIP,Country,Latitude,Longitude,Capacity,Operating Hours,Active";
const csv = (codes: readonly string[], name = "Plant"): string =>
  [
    HEADER,
    ...codes.map((code) => `${code},${name},Tulsa,OK,74101,US,36.1,-95.9,1000.50,,1`),
    "",
  ].join("\r\n");
const codes = (count: number, from = 1): string[] =>
  Array.from({ length: count }, (_, at) => `T${String(from + at).padStart(6, "0")}`);

const Terminal = z.looseObject({ code: z.string() });
const mapping = defineMapping<z.infer<typeof Terminal>, z.infer<typeof Terminal>>({
  name: "test/terminals",
  kind: "supplier-terminal",
  input: Terminal,
  output: Terminal,
  number: ({ code }) => code,
  map: (record) => record,
  figures: () => ({ amount: null, gallons: null }),
});

interface Lists {
  /** The source has this list from now on. */
  put(codes: readonly string[], name?: string): void;
  open: () => { readonly source: Source; readonly close: () => Promise<void> };
}

/** Lists that come as files, each under a name of its own. */
function listFiles(more: object = {}, settings: object = {}): Lists & { folder: string } {
  const folder = tempFolder();
  mkdirSync(join(folder, "in"));
  let number = 0;
  return {
    folder,
    put(list, name) {
      const path = join(folder, "in", `list-${++number}.csv`);
      writeFileSync(path, csv(list, name));
      utimesSync(path, 1_790_000_000, 1_790_000_000 + number);
    },
    open() {
      const it = { layout: "plain/terminals", folder: "in", pick: "list-*.csv", ...settings };
      const config = files.config.parse({ folder, settleMs: 0, sources: { it }, ...more });
      const endpoint = files.open(config, surroundingsIn(folder));
      return { source: endpoint.sources["it"] as Source, close: () => endpoint.close() };
    },
  };
}

/** A list that is read whole, page by page, as the platform's are (src/platform/walk.ts). */
function listPages(): Lists {
  let records: Change[] = [];
  return {
    put(list, name = "Plant") {
      records = list.map((code) => ({
        id: code,
        version: null,
        text: JSON.stringify({ code, name }),
      }));
    },
    open: () => ({
      source: {
        async *read() {
          for (let at = 0; at < records.length; at += 100) {
            const isLast = at + 100 >= records.length;
            const whole = { total: records.length, isLast, isComplete: isLast };
            const changes = records.slice(at, at + 100);
            yield { changes, position: null, list: { name: "/supplier-terminals", ...whole } };
          }
        },
      },
      close: async () => {},
    }),
  };
}

function site(lists: Lists, limits?: ListLimits) {
  const folder = tempFolder();
  const clock = testClock();
  const start = () => {
    const bench = engineOn(folder, clock);
    const { source, close } = lists.open();
    const sink = receiver({
      operation: "terminal.upsert",
      writes: "upsert",
      itemsMax: 200,
    });
    const flow = bench.flow({
      name: "terminals",
      mapping,
      sink,
      source,
      ...(limits === undefined ? {} : { limits }),
    });
    const daemon = new Daemon(bench.engine, [flow]);
    const { engine } = bench;
    const parts = { engine, flows: [flow], daemon, version: "0", startedAt: new Date(0) };
    return { bench, sink, daemon, office: storeOffice(parts), close };
  };
  let running = start();
  const stop = async (): Promise<void> => {
    await running.close();
    running.bench.store.close();
  };
  // Whoever looks at the store then closes it (support/seen.ts).
  onTestFinished(async () => running.close());
  return {
    office: () => running.office,
    restart: async (): Promise<void> => {
      await stop();
      running = start();
    },
    /** What a reconciliation knows of a record that only the platform has. */
    known: () => {
      const { engine } = running.bench;
      const plans = [
        { kind: "party", flows: engine.flows, platform: null, books: [], unasked: [] },
      ];
      const facts = { number: "T000100" };
      const holding = { kind: "party", id: "p", version: null, mark: null, change: null, facts };
      const one = {
        kind: "party",
        key: "platform:p",
        platform: [holding],
        books: [],
        lost: "T000100",
      };
      return storedStateOf({ engine, plans, moved: new Set() } as never, one as never);
    },
    /** Documents that were sent since the last call. */
    sent: (): number =>
      running.sink.sent
        .splice(0)
        .reduce((sum, { body }) => sum + (JSON.parse(body) as []).length, 0),
    once: async () => {
      clock.advance(60_000);
      const { inStep } = await running.daemon.once(new AbortController().signal);
      const status = await running.office.status();
      const [flow] = status.flows;
      return {
        inStep,
        healthy: status.healthy,
        unread: flow?.unread ?? [],
        delivered: flow?.delivered ?? 0,
        missing: status.quarantine.filter(({ code }) => code === "left-the-list"),
        flow,
      };
    },
  };
}

const BY = { by: "ann", note: "asked the ERP's people" };
/** What lists tell rests on no kind of folder: the one is asked in the ordinary run, the other one in the long run. */
const kinds = [
  ["files", () => listFiles()],
  ["SFTP", null],
] as const;

const asked = kinds.filter(([name]) =>
  name === "SFTP" ? isLongRun && isThere("sshd") : !isLongRun,
);

describe.each(asked)("%s", numbers, (_, made) => {
  const lists = async (): Promise<Lists> => {
    if (made !== null) return made();
    const sshd = await startSshd();
    onTestFinished(() => sshd.end());
    return listFiles({ sftp: sshd.sftp });
  };

  test("what was delivered and vanished from a whole list is told until it comes back", async () => {
    const list = await lists();
    const { once, restart, office } = site(list);
    list.put(codes(10));
    expect(await once()).toMatchObject({ inStep: true, delivered: 10, missing: [] });
    list.put(codes(9));
    const [group, ...others] = (await once()).missing;
    expect(others).toEqual([]);
    expect(group).toMatchObject({ count: 1, flow: "terminals", helps: ["correct", "resolve"] });
    const { deliveries } = await office().quarantineShow(group?.id ?? "");
    expect(deliveries).toMatchObject([{ number: "T000010" }]);
    expect(deliveries[0]?.cause).toMatch(/no longer has T000010 in its newest list, since 2026-/);
    await restart();
    // Another list that lacks it says nothing new.
    list.put(codes(9), "Depot");
    expect((await once()).missing).toMatchObject([{ count: 1, since: group?.since }]);
    list.put(codes(10), "Depot");
    expect(await once()).toMatchObject({ healthy: true, missing: [], inStep: true });
  });

  test("of a few records one that is missing is told, and more than one is a torn list", async () => {
    const list = await lists();
    const { once } = site(list);
    list.put(codes(4));
    await once();
    list.put(codes(3));
    expect(await once()).toMatchObject({ unread: [], missing: [{ count: 1 }] });
    list.put(codes(1));
    expect(await once()).toMatchObject({
      unread: [{ code: "list-shrunk" }],
      missing: [{ count: 1 }],
    });
  });

  test("2 of 120: torn, told once, nothing concluded, until a whole list comes", async () => {
    const list = await lists();
    const { once, restart, sent } = site(list);
    list.put(codes(120));
    await once();
    sent();
    list.put(codes(2), "Depot");
    const torn = await once();
    expect(torn).toMatchObject({ inStep: false, healthy: false, missing: [] });
    expect(torn.unread).toMatchObject([{ code: "list-shrunk" }]);
    expect(torn.unread[0]?.message).toMatch(/has 2 records and lacks 118 of the 120/);
    // What it has is read.
    expect(sent()).toBe(2);
    await restart();
    list.put(codes(3), "Depot");
    const again = await once();
    expect(again.unread.map(({ since }) => since)).toEqual([torn.unread[0]?.since]);
    expect(again.unread[0]?.message).toMatch(/has 3 records and lacks 117 of the 120/);
    list.put(codes(119));
    expect(await once()).toMatchObject({ unread: [], missing: [{ count: 1 }] });
  });

  test("a person says that a list which lost much is right: what it lacks is told", async () => {
    const list = await lists();
    const { once, office } = site(list);
    list.put(codes(20));
    await once();
    await expect(office().accept("terminals", "", BY)).rejects.toThrow("No list");
    list.put(codes(10));
    expect((await once()).missing).toEqual([]);
    expect(await office().accept("terminals", "", BY)).toEqual({ flow: "terminals", told: 10 });
    expect(await once()).toMatchObject({ unread: [], missing: [{ count: 10 }] });
    expect((await office().deeds(null)).deeds[0]).toMatchObject({
      event: "list accepted",
      by: "ann",
      reason: BY.note,
    });
    // Ten are the list now: one of them less is a tenth.
    list.put(codes(9));
    expect(await once()).toMatchObject({ unread: [], missing: [{ count: 11 }] });
  });

  test("119 known and 5,000 in the list: nothing of it is delivered before a person has released it", async () => {
    const list = await lists();
    const { once, sent, restart, office } = site(list);
    list.put(codes(119));
    await once();
    sent();
    list.put(codes(5_000), "Depot");
    const held = await once();
    expect(held).toMatchObject({ inStep: false, healthy: false, delivered: 119 });
    expect(held.unread).toMatchObject([{ what: "list-2.csv", code: "list-grew" }]);
    expect(held.unread[0]?.message).toMatch(/has 5000 records; the list before had 119/);
    await restart();
    expect((await once()).unread.map(({ since }) => since)).toEqual([held.unread[0]?.since]);
    expect([sent(), (await once()).flow?.received]).toEqual([0, 119]);
    expect(await office().accept("terminals", "", BY)).toEqual({ flow: "terminals", told: null });
    const taken = await once();
    expect(taken).toMatchObject({ inStep: true, unread: [], missing: [] });
    expect(sent()).toBe(5_000);
  });
});

test("a list that is read page by page has both brakes and tells what is gone", async () => {
  const list = listPages();
  const { once, sent, office } = site(list);
  list.put(codes(120));
  expect(await once()).toMatchObject({ delivered: 120 });
  sent();
  list.put(codes(119));
  expect(await once()).toMatchObject({ missing: [{ count: 1 }] });
  list.put(codes(2));
  expect(await once()).toMatchObject({
    unread: [{ code: "list-shrunk" }],
    missing: [{ count: 1 }],
  });
  list.put(codes(120));
  expect(await once()).toMatchObject({ unread: [], missing: [] });
  list.put(codes(5_000));
  expect(await once()).toMatchObject({ unread: [{ code: "list-grew" }], delivered: 120 });
  expect(sent()).toBe(0);
  await office().accept("terminals", "", BY);
  expect(await once()).toMatchObject({ unread: [], delivered: 5_000 });
});

test("a rate that left its list is told until its end has arrived as a document of its own", async () => {
  const bench = engineOn(tempFolder(), testClock());
  const [list, ends] = [listPages(), listPages()];
  const flows = (["freight-rate", "ended-freight-rate"] as const).map((kind, at) =>
    bench.flow({
      name: kind,
      mapping: { ...mapping, kind },
      sink: receiver({
        operation: kind,
        writes: "upsert",
        itemsMax: 200,
        send: async ({ items }) => ({
          outcome: "done",
          detail: "",
          ids: items.map(({ id }) => id),
        }),
      }),
      source: ([list, ends][at] as Lists).open().source,
    }),
  );
  const daemon = new Daemon(bench.engine, flows);
  const parts = { engine: bench.engine, flows, daemon, version: "0", startedAt: new Date(0) };
  const office = storeOffice(parts);
  const told = async (rates: readonly string[], ended: readonly string[]): Promise<string[]> => {
    list.put(rates);
    ends.put(ended);
    bench.clock.advance(60_000);
    await daemon.once(new AbortController().signal);
    const groups = (await office.quarantine()).map(({ id }) => office.quarantineShow(id));
    return (await Promise.all(groups)).flatMap(({ deliveries }) =>
      deliveries.map(({ number }) => number ?? ""),
    );
  };
  expect(await told(codes(10), [])).toEqual([]);
  // Its end may come after the list that lacks it.
  expect(await told(codes(9), codes(1, 10))).toEqual(["T000010"]);
  expect(await told(codes(8), codes(1, 10))).toEqual(["T000009"]);
  expect(await told(codes(8), codes(2, 9))).toEqual(["T000009"]);
  expect(await told(codes(8), codes(2, 9))).toEqual([]);
});

test("a reconciliation concludes nothing of what a torn or an overgrown list lacks", async () => {
  const list = listFiles();
  const { once, known, office } = site(list);
  list.put(codes(120));
  await once();
  expect(known().waits).toBeUndefined();
  list.put(codes(2));
  await once();
  expect(known().waits?.for).toMatch(/lacks 118 of the 120/);
  await office().accept("terminals", "", BY);
  expect(known()).toMatchObject({
    person: { why: expect.stringMatching(/no longer has T000100/) },
  });
  list.put(codes(5_000));
  await once();
  expect(known().waits?.for).toMatch(/has 5000 records; the list before had 2/);
});

test("a first list, and one that grows by less than 1,000, is taken whatever it has", async () => {
  const list = listFiles();
  const { once } = site(list);
  list.put(codes(3_000));
  expect(await once()).toMatchObject({ unread: [], delivered: 3_000 });
  const small = listFiles();
  const other = site(small);
  small.put(codes(3));
  await other.once();
  small.put(codes(900));
  expect(await other.once()).toMatchObject({ unread: [], delivered: 900 });
});

test("files that tell what changed are no whole lists: nothing is gone, and no brake holds", async () => {
  const list = listFiles({}, { holds: "changes" });
  const { once } = site(list);
  list.put(codes(100));
  await once();
  list.put(codes(2), "Depot");
  expect(await once()).toMatchObject({ unread: [], missing: [], inStep: true });
});

test("nothing is concluded from a list that is cut, or in which a record has no readable key", async () => {
  const list = listFiles();
  const { once } = site(list);
  list.put(codes(100));
  await once();
  writeFileSync(join(list.folder, "in", "list-x.csv"), csv(codes(90)).slice(0, -30));
  expect(await once()).toMatchObject({ missing: [], unread: [{ code: "cut" }] });
  writeFileSync(join(list.folder, "in", "list-y.csv"), csv([...codes(98), ""]));
  expect(await once()).toMatchObject({ missing: [] });
  expect(readdirSync(join(list.folder, "in", "archive")).length).toBe(2);
});

test("a share and a growth of a flow's own count", async () => {
  const list = listFiles();
  const { once } = site(list, { lostPercent: 50, growthTimes: 100 });
  list.put(codes(100));
  await once();
  list.put(codes(60));
  expect(await once()).toMatchObject({ unread: [], missing: [{ count: 40 }] });
  list.put(codes(4_000));
  expect(await once()).toMatchObject({ unread: [], missing: [], delivered: 4_000 });
});

test("a record that a person has settled is not told again, and is told anew when it went once more", async () => {
  const list = listFiles();
  const { once, office } = site(list);
  list.put(codes(10));
  await once();
  list.put(codes(9));
  const [group] = (await once()).missing;
  await office().resolve(group?.id ?? "", BY);
  list.put(codes(9), "Depot");
  expect(await once()).toMatchObject({ missing: [], healthy: true });
  list.put(codes(10), "Depot");
  await once();
  list.put(codes(9), "Depot");
  expect(await once()).toMatchObject({ missing: [{ count: 1 }] });
});
