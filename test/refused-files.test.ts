/** A file that is refused, or cut short, stands until a person has settled it or the same name comes whole. */
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { FIXED_PROFILE, formats as inboxes, rightOf } from "./files/bad-inbox.ts";
import { files } from "../connectors/files/index.ts";
import { workbook } from "./files/workbook.ts";
import { conditionsOf } from "../src/alerts/alerts.ts";
import { exposed } from "../src/office/metrics.ts";
import type { Source } from "../src/core/contract.ts";
import { Daemon } from "../src/engine/daemon.ts";
import { testClock } from "./support/clock.ts";
import { engineOn, receiver } from "./support/engine.ts";
import { officeOn } from "./support/office.ts";
import { tempFolder } from "./support/folder.ts";
import { surroundingsIn } from "./support/surroundings.ts";

const HEADER =
  "Code,Name,City,State,ZIP,Country,Latitude,Longitude,Capacity,Operating Hours,Active";
const csv = (...codes: string[]): string =>
  [
    HEADER,
    ...codes.map((code) => `${code},Plant,Tulsa,OK,74101,US,36.1,-95.9,1000.50,,1`),
    "",
  ].join("\r\n");
const rack = (head: string): Buffer =>
  workbook([
    ["Rack prices"],
    ["of today"],
    ["per gallon"],
    [head, "City", "ULSD No 2"],
    ["Gulf", "Houston", { number: "2.5" }],
  ]);
const tables = { layout: "plain/terminals", pick: "b*.dat" };

/** An engine over files that lie in a folder, opened anew by `restart`. */
function site(settings: Readonly<Record<string, unknown>>, more: object = {}) {
  const folder = tempFolder();
  const store = tempFolder();
  mkdirSync(join(folder, "in"));
  writeFileSync(join(folder, "fixed.yaml"), FIXED_PROFILE);
  const clock = testClock();
  const start = () => {
    const bench = engineOn(store, clock);
    const endpoint = files.open(
      files.config.parse({
        folder,
        settleMs: 0,
        sources: { it: { ...settings, folder: "in" } },
        ...more,
      }),
      surroundingsIn(folder, { now: () => new Date("2026-11-19T12:00:00Z") }),
    );
    const source = endpoint.sources["it"] as Source;
    // What becomes of the records is not asked here.
    const flow = { ...bench.flow({ name: "prices", sink: receiver(), source }), paused: false };
    const daemon = new Daemon(bench.engine, [flow]);
    const office = officeOn(bench.engine, [flow], daemon);
    return { bench, daemon, office, endpoint };
  };
  let running = start();
  const stop = async (): Promise<void> => {
    await running.endpoint.close();
    running.bench.store.close();
  };
  // Whoever looks at the store then closes it (support/seen.ts).
  onTestFinished(async () => running.endpoint.close());
  return {
    folder,
    office: () => running.office,
    put: (name: string, content: string | Buffer) =>
      writeFileSync(join(folder, "in", name), content),
    restart: async (): Promise<void> => {
      await stop();
      running = start();
    },
    once: async () => {
      clock.advance(60_000);
      const { inStep } = await running.daemon.once(new AbortController().signal);
      const status = await running.office.status();
      return { inStep, status, unread: status.flows[0]?.unread ?? [] };
    },
  };
}

const BY = { by: "ann", note: "called the ERP's people" };

interface Format {
  readonly name: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly right: string | Buffer;
  readonly refused: readonly (readonly [string, string | Buffer])[];
}

const formats: readonly Format[] = [
  {
    name: "CSV",
    settings: tables,
    right: csv("A", "B"),
    refused: [
      ["a header misspelt", csv("A").replace("Code", "Cod")],
      ["nothing at all", ""],
      ["a cut in a row", csv("A", "B").slice(0, -40)],
    ],
  },
  {
    name: "XLSX",
    settings: { layout: "books.prices", profile: "terminals/rack-workbook", pick: "b*.xlsx" },
    right: rack("Terminal"),
    refused: [
      ["a header misspelt", rack("Termnal")],
      ["an end too early", rack("Terminal").subarray(0, 200)],
    ],
  },
  {
    name: "fixed widths",
    settings: { layout: "books.prices", profile: "fixed.yaml", pick: "b*.txt" },
    right: `${"Rack".padEnd(16)}${"ULSD2".padEnd(12)}2.345\r\n`,
    refused: [
      ["nothing at all", ""],
      [
        "old Macintosh line ends",
        "Rack            ULSD2       2.345\rRack            E10         2\r",
      ],
    ],
  },
  ...["idoc", "x12"].map((name) => ({
    name,
    settings: { ...inboxes[name]?.source, pick: "b*.dat" },
    right: rightOf(name),
    refused: [
      ["nothing at all", ""],
      ["an end too early", rightOf(name).slice(0, 60)],
    ] as const,
  })),
];

describe.each(formats)("$name", ({ settings, right, refused }) => {
  const ending = String(settings["pick"]).slice(2);
  test.each(refused)("%s stands until the same name comes whole", async (_kind, content) => {
    const { put, once, restart } = site(settings);
    const name = `b1${ending}`;
    put(name, content);
    const first = await once();
    expect(first.inStep).toBe(false);
    expect(first.status.healthy).toBe(false);
    expect(first.unread).toMatchObject([{ what: name, lasts: true, awaited: false }]);
    const [{ message, next }] = first.unread as [(typeof first.unread)[number]];
    expect(message).toContain(name);
    expect(next).toContain("failed");
    const conditions = conditionsOf(first.status, { unreachableMs: 1 }, 0);
    expect(conditions.map(({ title }) => title)).toContain(`prices: ${name} was refused`);

    await restart();
    const second = await once();
    expect(second.unread.map(({ since }) => since)).toEqual([first.unread[0]?.since]);
    // The same bytes again are no news.
    put(name, content);
    expect((await once()).unread.map(({ since }) => since)).toEqual([first.unread[0]?.since]);
    put(`b2${ending}`, right);
    expect((await once()).unread.length).toBe(1);
    // Known bytes under the name settle it as well.
    put(name, right);
    expect((await once()).unread).toEqual([]);
  });
});

test("what was refused is settled by a person, with name and note in the audit, and only then", async () => {
  const { put, once, office, folder } = site(tables);
  put("b1.dat", "");
  put("b2.dat", csv("A", "B").slice(0, -40));
  expect((await once()).unread.map(({ what, code }) => [what, code])).toEqual([
    ["b1.dat", "refused"],
    ["b2.dat", "cut"],
  ]);
  const { text } = await exposed(office(), folder);
  expect(text).toMatch(/fuelbridge_unread_files\{[^}]*\} 2/);
  await expect(office().settleUnread("prices", "b3.dat", BY)).rejects.toThrow("b3.dat");
  await office().settleUnread("prices", "b1.dat", BY);
  expect((await once()).unread.map(({ what }) => what)).toEqual(["b2.dat"]);
  expect((await office().deeds(null)).deeds[0]).toMatchObject({
    event: "refusal settled",
    by: "ann",
    detail: "b1.dat",
    reason: BY.note,
  });
  // A person corrects the file itself, and puts it back under the name that it has in failed.
  const [cut = ""] = readdirSync(join(folder, "in", "failed")).filter((one) =>
    /^b2\.[0-9a-f]{8}\.dat$/.test(one),
  );
  const lies = readFileSync(join(folder, "in", "failed", cut), "utf8");
  expect(csv("A", "B").startsWith(lies)).toBe(true);
  writeFileSync(join(folder, "corrected"), csv("A", "C"));
  renameSync(join(folder, "corrected"), join(folder, "in", cut));
  expect(await once()).toMatchObject({ unread: [] });
});

test("a known file that comes again is no fault, and does not settle its own cut", async () => {
  const { put, once } = site(tables);
  put("b1.dat", csv("A", "B"));
  put("b2.dat", csv("A", "B"));
  expect((await once()).unread).toEqual([]);
  put("b3.dat", csv("A", "B").slice(0, -40));
  expect((await once()).unread.map(({ what }) => what)).toEqual(["b3.dat"]);
  put("b3.dat", csv("A", "B").slice(0, -40));
  expect((await once()).unread.map(({ what }) => what)).toEqual(["b3.dat"]);
});
