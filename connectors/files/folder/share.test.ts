/** A mounted share: renames that fail half way, files that another program holds open, names in other case. */
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { FilesConfig, type SourceConfig } from "../config.ts";
import { localDrop } from "./local.ts";
import { type Drop, failure } from "./port.ts";
import type { Site } from "../pickup.ts";
import type { FileSink } from "../sink.ts";
import { formatOf, openSource } from "../source.ts";
import type { Obstacle, Outgoing, Reading } from "../../../src/core/contract.ts";
import { config, invoice, item, sinkOf } from "../../../test/files/sink.ts";
import { HEADER } from "../../../test/files/kit.ts";
import { surroundingsIn } from "../../../test/support/surroundings.ts";

const signal = new AbortController().signal;
const CUSTOMER = `${HEADER}\r\n1,1,Acme,,,,,Dock St,77520,Baytown,US-TX,US,\r\n`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "share-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

/** A share whose next move goes wrong so. */
const siteWith = (move: Drop["move"] | null): Site => {
  const drop = localDrop(folder);
  let next = move;
  return {
    ...surroundingsIn(folder, { now: () => new Date("2026-03-02T08:00:00Z") }),
    drop: {
      ...drop,
      move: (from, to) => {
        const wrong = next;
        next = null;
        return wrong === null ? drop.move(from, to) : wrong(from, to);
      },
    },
  };
};

async function staged(move: Drop["move"]): Promise<{ sink: FileSink; request: Outgoing }> {
  const sink = sinkOf(config(), siteWith(move));
  const items = [item(invoice())];
  const request = { ...sink.freeze(items), key: "fb1_key", items, firstSentAt: null };
  await sink.prepare?.(request, signal);
  return { sink, request: { ...request, firstSentAt: "2026-03-02T09:00:00.000Z" } };
}

test("a rename that left both names is found as delivered, and leaves one file", async () => {
  const { sink, request } = await staged(async (from, to) => {
    await copyFile(from, to);
    throw failure("EIO", "the server went away");
  });
  expect(await sink.send(request, signal)).toMatchObject({ outcome: "unknown", holdMs: 60_000 });
  expect(await sink.find(request, signal)).toMatchObject({ found: "exact" });
  expect(await sink.send(request, signal)).toMatchObject({ outcome: "done" });
  expect(await readdir(join(folder, "import/invoices"))).toHaveLength(1);
  expect(await readdir(join(folder, "import/invoices.staging"))).toEqual([".since"]);
});

test("a rename that copied half of the file stops for a person: nothing goes over it", async () => {
  const { sink, request } = await staged(async (from, to) => {
    await writeFile(to, (await readFile(from)).subarray(0, 100));
    throw failure("EIO", "the server went away");
  });
  expect(await sink.send(request, signal)).toMatchObject({ outcome: "unknown" });
  expect(await sink.find(request, signal)).toMatchObject({ found: "different" });
  expect(await sink.send(request, signal)).toMatchObject({ outcome: "unknown", person: "now" });
});

test("a file that another program holds open is sent later", async () => {
  const { sink, request } = await staged(() => Promise.reject(failure("EBUSY", "it is open")));
  expect(await sink.send(request, signal)).toMatchObject({ outcome: "nothing" });
  expect(await sink.send(request, signal)).toMatchObject({ outcome: "done" });
});

async function read(site: Site, known: Reading["known"]): Promise<[number, Obstacle[]]> {
  const source = {
    layout: "books.parties",
    profile: "tryton-export/customers",
    pick: "customers*.csv",
  };
  const files = FilesConfig.parse({ folder: ".", settleMs: 0, sources: { it: source } });
  const obstacles: Obstacle[] = [];
  let changes = 0;
  const hindered = (obstacle: Obstacle): void => void obstacles.push(obstacle);
  const reading = { signal, known, stored: () => false, hindered };
  const it = files.sources["it"] as SourceConfig;
  for await (const page of openSource(formatOf(it).read(it, site), it, files, site).read(
    null,
    reading,
  ))
    changes += page.changes.length;
  return [changes, obstacles];
}

test("an export that another program holds open is read once, and archived when it is closed", async () => {
  await writeFile(join(folder, "customers.csv"), CUSTOMER);
  const site = siteWith(() => Promise.reject(failure("EBUSY", "it is open")));
  await expect(read(site, () => null)).rejects.toMatchObject({
    name: "SourceUnavailable",
    next: expect.stringContaining("Another program has the file open"),
  });
  const before = { name: "customers.csv", at: "2026-03-02T08:00:00Z", since: 0 };
  expect(await read(site, () => before)).toEqual([0, []]);
  expect(await readdir(folder)).toEqual(["archive"]);
});

test("a name that differs from the pattern in case alone is told, and not silently left", async () => {
  await writeFile(join(folder, "CUSTOMERS.CSV"), CUSTOMER);
  const [changes, obstacles] = await read(siteWith(null), () => null);
  expect(changes).toBe(0);
  expect(obstacles).toMatchObject([{ what: "CUSTOMERS.CSV", fault: { code: "other-case" } }]);
});
