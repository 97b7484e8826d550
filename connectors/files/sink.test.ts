import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { answerTo, unavailable } from "./folder/port.ts";
import type { Item, Notebook, Outgoing, Sink } from "../../src/core/contract.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import { readDelivered } from "../../src/demo/totals.ts";
import {
  config,
  d,
  invoice,
  item,
  openIn,
  request,
  rowsOf,
  sinkOf,
} from "../../test/files/sink.ts";
import { markFile, storeFile } from "../../src/store/database.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";
import { localDrop } from "./folder/local.ts";

const signal = new AbortController().signal;
const SENT = "2026-03-02T09:00:00.000Z";
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sink-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = (more?: Record<string, unknown>) => openIn(folder, more);

async function deliver(sink: Sink, ...items: Item[]): Promise<Outgoing> {
  const outgoing = request(sink, items);
  await sink.prepare?.(outgoing, signal);
  expect(await sink.send({ ...outgoing, firstSentAt: SENT }, signal)).toMatchObject({
    outcome: "done",
    // Links need an id for each document, also where several share a file.
    ids: items.map(({ id }) => (items.length === 1 ? outgoing.target : `${outgoing.target}#${id}`)),
  });
  return { ...outgoing, firstSentAt: SENT };
}

const partOf = (outgoing: Outgoing) =>
  join(folder, `${outgoing.target.replace("invoices/", "invoices.staging/")}.part`);

/* What a sink does in every place is shown by drop.test.ts. */

describe("who sends", () => {
  test("a store that was set back with its machine, and one that sends beside it, are known by the folder that they share", async () => {
    const state = join(folder, "state");
    const kept = [storeFile(state), markFile(state)];
    const notes = new Map<string, string | null>();
    const notebook: Notebook = {
      get: (name) => notes.get(name) ?? null,
      set: (...note) => void notes.set(...note),
    };
    const sinkOn = (store: Store) =>
      sinkOf(config(), {
        ...surroundingsIn(folder),
        drop: localDrop(folder),
        notebook,
        sender: { ...store.sender, isRestored: () => false },
      });
    const preparing = (sink: Sink, number: string) =>
      sink.prepare?.(request(sink, [item(invoice({ number }))]), signal);
    const seconds = vi.spyOn(performance, "now");
    let store = openStore(state);
    const send = (atMs: number): void =>
      store.transaction(() => {
        store.journal.audit(atMs, { event: "sent", detail: "" });
        store.acknowledge(atMs);
      });
    send(1);
    store.close();
    const bytes = await Promise.all(kept.map((path) => readFile(path)));
    store = openStore(state);
    const first = sinkOn(store);
    send(2);
    await preparing(first, "INV-1");
    store.close();

    // The same files at the same place, as a snapshot of the machine puts them back.
    await Promise.all(kept.map((path, at) => writeFile(path, bytes[at] as Buffer)));
    store = openStore(state);
    expect(store.restored()).toBeNull();
    const second = sinkOn(store);
    await expect(preparing(second, "INV-1")).rejects.toMatchObject({ stop: "restored" });
    expect(store.restored()).toContain("it is older than what was sent until");

    // A person has released it, and a copy of it that knows as much sends, too: the one that sent before stops.
    store.acknowledge(3);
    seconds.mockReturnValue(1e9);
    await preparing(second, "INV-2");
    const copy = join(folder, "copy");
    await mkdir(copy);
    await writeFile(storeFile(copy), bytes[0] as Buffer);
    const other = openStore(copy);
    const third = sinkOn(other);
    await preparing(third, "INV-3");
    seconds.mockReturnValue(2e9);
    await expect(preparing(second, "INV-4")).rejects.toMatchObject({ stop: "split-brain" });
    other.close();
    seconds.mockRestore();
    store.close();
  });

  test("a disk that takes longer than a look counts is not written by two looks at once", async () => {
    const local = localDrop(folder);
    let [writing, most, clock] = [0, 0, 0];
    const drop: typeof local = {
      ...local,
      async write(path, ...more) {
        if (!path.includes(".sender-")) return local.write(path, ...more);
        most = Math.max(most, ++writing);
        await local.write(path, ...more).finally(() => writing--);
      },
    };
    const says = (at: Date): string => at.toISOString();
    const sender = { store: "one", isRestored: () => false, says, whose: () => null };
    const sink = sinkOf(config(), { ...surroundingsIn(folder), drop, sender });
    const seconds = vi.spyOn(performance, "now").mockImplementation(() => (clock += 1_000));
    const numbers = Array.from({ length: 40 }, (_, at) => item(invoice({ number: `INV-${at}` })));
    await Promise.all(numbers.map(async (one) => sink.prepare?.(request(sink, [one]), signal)));
    seconds.mockRestore();
    expect(most).toBe(1);
  });
});

test("a folder that moved with its staging folder is the place that it was, and takes what was on its way; another folder is not", async () => {
  const notes = new Map<string, string | null>();
  const notebook: Notebook = {
    get: (name) => notes.get(name) ?? null,
    set: (...note) => void notes.set(...note),
  };
  const at = (name: string, more: Record<string, unknown> = {}) =>
    sinkOf(config({ folder: name, ...more }), {
      ...surroundingsIn(folder, { notebook }),
      drop: localDrop(folder),
    });
  const place = (...to: Parameters<typeof at>) => at(...to).place?.();
  const first = at("in");
  const home = await first.place?.();
  expect(home).toBe(join(folder, "in"));
  const outgoing = { ...request(first, [item(invoice())]), firstSentAt: SENT };
  await first.prepare?.(request(first, [item(invoice())]), signal);
  expect(await place("other")).toBe(join(folder, "other"));
  for (const end of ["", ".staging"])
    await rename(join(folder, `in${end}`), join(folder, `moved${end}`));
  const moved = at("moved");
  expect(await moved.place?.()).toBe(home);
  expect(await moved.find(outgoing, signal)).toMatchObject({ found: "none" });
  expect(await moved.send(outgoing, signal)).toMatchObject({ outcome: "done" });
  expect(await readdir(join(folder, "moved"))).toHaveLength(1);

  const shared = await place("a/in", { staging: "a/staging" });
  expect(await place("a/in2", { staging: "a/staging" })).toBe(join(folder, "a/in2"));
  await rename(join(folder, "a"), join(folder, "b"));
  expect(await place("b/in", { staging: "b/staging" })).toBe(shared);
});

describe("delivery", () => {
  test("sinks of one folder make its staging folder's mark once: none takes another's for a disk that keeps nothing", async () => {
    for (const name of ["invoices", "invoices.staging"])
      await mkdir(join(folder, "import", name), { recursive: true });
    const local = localDrop(folder);
    const marks: string[] = [];
    let isUnderWay = false;
    const drop = {
      ...local,
      look: () => Promise.resolve({ name: "", kind: "folder" as const, size: 0, mtimeMs: 0 }),
      makeFolder: () => Promise.resolve(),
      rights: { ...local.rights, expectEntry: () => Promise.resolve() },
      read: (path: string) => (marks.length === 0 ? Promise.resolve(null) : local.read(path)),
      write: async (...[path, ...rest]: Parameters<typeof local.write>) => {
        // What a second writer does to the first one's file.
        if (isUnderWay) throw Object.assign(new Error("did not keep it"), { code: "EIO" });
        isUnderWay = true;
        await local.write(path, ...rest);
        isUnderWay = false;
        marks.push(path);
      },
    };
    const notes: string[] = [];
    const site = { ...surroundingsIn(folder, { note: (event) => notes.push(event) }), drop };
    const sinks = [1, 2, 3].map(() => sinkOf(config(), site));
    await expect(Promise.all(sinks.map((sink) => sink.check()))).resolves.toHaveLength(3);
    expect({ marks: marks.length, notes }).toEqual({ marks: 1, notes: [] });
  });

  test("a batch is one file with one header row", async () => {
    const sink = open({ per: "batch" });
    expect(sink.itemsMax).toBe(200);
    const outgoing = await deliver(
      sink,
      item(invoice()),
      item(invoice({ id: "second", number: "INV-1002", total: d("-5") })),
    );
    expect(outgoing.target).toMatch(/customer-invoices_2_[0-9a-f]{8}\.csv$/);
    expect(rowsOf(outgoing.body).map((row) => row["record"])).toEqual([
      "H",
      "L",
      "L",
      "T",
      "H",
      "L",
      "L",
      "T",
    ]);
    expect(await readDelivered(join(folder, "import/invoices"), "customer-invoices")).toMatchObject(
      {
        count: 2,
        amount: d("20214.20"),
        gallons: d("16000"),
      },
    );
  });
});

describe("read-back", () => {
  test("a staging file beside the same delivered file: it arrived", async () => {
    const sink = open();
    const outgoing = await deliver(sink, item(invoice()));
    await writeFile(partOf(outgoing), outgoing.body);
    expect(await sink.find(outgoing, signal)).toMatchObject({ found: "exact" });
  });

  test("a disk that is not the one we wrote to proves nothing", async () => {
    const outgoing = await deliver(open(), item(invoice()));
    await rm(join(folder, "import"), { recursive: true });
    const sink = open();
    await sink.check();
    await rm(join(folder, "import"), { recursive: true });
    expect(await sink.find(outgoing, signal)).toMatchObject({ found: "unreadable" });
    await openIn(folder, {}, "2026-03-03T08:00:00.000Z").check();
    expect(await sink.find(outgoing, signal)).toMatchObject({ found: "unreadable" });
  });
});

test.each([
  ["import/invoices/", "import/invoices.staging"],
  ["../other", "../other.staging"],
  [".", "<the connector's folder>.staging"],
])("files for %s are staged in %s", async (target, expected) => {
  const inside = join(folder, "exchange");
  await mkdir(inside, { recursive: true });
  const sink = openIn(inside, { folder: target });
  await sink.check();
  const staging = expected.startsWith("<") ? `${inside}.staging` : join(inside, expected);
  expect(await readdir(staging)).toEqual([".since"]);
  const outgoing = request(sink, [item(invoice())]);
  await sink.prepare?.(outgoing, signal);
  expect(await readdir(staging)).toHaveLength(2);
  expect(await sink.send(outgoing, signal)).toMatchObject({ outcome: "done" });
});

describe("a disk that fails", () => {
  test("a missing folder: not sent, and a sentence that says what to do", async () => {
    const sink = open();
    const outgoing = request(sink, [item(invoice())]);
    await sink.prepare?.(outgoing, signal);
    await rm(join(folder, "import/invoices"), { recursive: true });
    const unsent = { outcome: "nothing", stop: "receiver" };
    expect(await sink.send(outgoing, signal)).toMatchObject(unsent);
    // Nobody can have taken it from a folder that is not there.
    await rm(partOf(outgoing));
    expect(await sink.send(outgoing, signal)).toMatchObject(unsent);
    await rm(join(folder, "import/invoices.staging"), { recursive: true });
    await expect(sink.prepare?.(outgoing, signal)).rejects.toThrow(SourceUnavailable);
    await expect(sink.check()).rejects.toMatchObject({
      name: "SourceUnavailable",
      next: expect.stringContaining("mount"),
    });
  });

  test("a folder that cannot be made does not stop the others from opening", async () => {
    await writeFile(join(folder, "import"), "a file in the way");
    await expect(open().check()).rejects.toThrow(SourceUnavailable);
  });

  test.skipIf(process.getuid?.() !== 0)(
    "a folder that may not be made: the trouble is the missing right, not the missing folder, and goes with it",
    async () => {
      await chmod(folder, 0o755);
      process.seteuid?.(12_345);
      try {
        const sink = open();
        const outgoing = request(sink, [item(invoice())]);
        for (const _ of [1, 2])
          await expect(sink.prepare?.(outgoing, signal)).rejects.toThrow(
            /cannot create .*invoices.*EACCES/,
          );
        process.seteuid?.(0);
        await chown(folder, 12_345, 12_345);
        process.seteuid?.(12_345);
        await sink.prepare?.(outgoing, signal);
        expect(await sink.send(outgoing, signal)).toMatchObject({ outcome: "done" });
      } finally {
        process.seteuid?.(0);
      }
    },
  );

  test.skipIf(process.getuid?.() !== 0)(
    "a folder that may not be written to, or is gone: not sent, everything stops, and what to do is said",
    async () => {
      await chmod(folder, 0o755);
      const sink = open();
      const outgoing = request(sink, [item(invoice())]);
      await sink.prepare?.(outgoing, signal);
      const [target, staging] = ["", ".staging"].map((end) =>
        join(folder, `import/invoices${end}`),
      );
      await chown(staging as string, 12_345, 12_345);
      process.seteuid?.(12_345);
      const answer = await sink.send(outgoing, signal).finally(() => process.seteuid?.(0));
      expect(answer).toMatchObject({
        outcome: "nothing",
        stop: "receiver",
        detail: expect.stringMatching(/^EACCES/),
        next: expect.stringMatching(/^Give the account that runs fuelbridge/),
      });
      await rm(target as string, { recursive: true });
      expect(await sink.send(outgoing, signal)).toMatchObject({
        outcome: "nothing",
        stop: "receiver",
        next: expect.stringMatching(/^Create the folder, or mount/),
      });
    },
  );

  test("a share that is not mounted gets no folders in its place, after a restart neither, and what to do is said", async () => {
    const kept = new Map<string, string>();
    const notebook: Notebook = {
      get: (name) => kept.get(name) ?? null,
      set: (name, text) => void (text === null ? kept.delete(name) : kept.set(name, text)),
    };
    const share = join(folder, "share");
    const site = surroundingsIn(share, { now: () => new Date(SENT), notebook });
    const started = () => sinkOf(config(), { ...site, drop: localDrop(share) });
    await expect(started().check()).rejects.toMatchObject({
      message: expect.stringContaining(`the folder ${share} cannot be used`),
      next: expect.stringMatching(/mount the share/),
    });
    await mkdir(share);
    const sink = started();
    const outgoing = request(sink, [item(invoice())]);
    await sink.prepare?.(outgoing, signal);
    await rename(share, join(folder, "elsewhere"));
    // What a mount point is without its share.
    await mkdir(share);
    await expect(started().prepare?.(outgoing, signal)).rejects.toMatchObject({
      message: expect.stringMatching(/invoices\.staging is gone, which was there on 2026-03-02/),
      next: expect.stringMatching(/^Mount the share that it is on\. Only if .* is a new folder, /),
    });
    expect(await readdir(share)).toEqual([]);
    await rm(share, { recursive: true });
    await rename(join(folder, "elsewhere"), share);
    await started().check();
    // A person says that it is a new one.
    await rm(join(share, "import"), { recursive: true });
    await mkdir(join(share, "import/invoices.staging"), { recursive: true });
    await started().check();
  });

  test.skipIf(process.platform !== "linux")("a full disk: not sent", async () => {
    const full = await writeFile("/dev/full", "x").catch((error: unknown) => error);
    expect(answerTo(full, true)).toMatchObject({
      outcome: "nothing",
      stop: "receiver",
      next: expect.stringMatching(/^Free space/),
    });
    expect(unavailable(full, "cannot write").next).toMatch(/^Free space/);
  });

  test("a disk that does not say what it did: unknown", () => {
    expect(answerTo(Object.assign(new Error("EIO"), { code: "EIO" }), true)).toMatchObject({
      outcome: "unknown",
      holdMs: 60_000,
    });
    expect(() => answerTo(new TypeError("a mistake of ours"), true)).toThrow(TypeError);
  });
});
