/** What every place of exchange promises, shown by each: a folder of this machine, OpenSSH, and servers that have no more than SFTP 3. */
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import type * as promises from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from "vitest";
import { localDrop } from "./folder/local.ts";
import type { Drop, Entry } from "./folder/port.ts";
import { SftpConfig, sftpDrop } from "./folder/sftp.ts";
import { files } from "./index.ts";
import { contentAt, writeDurably } from "./sink.ts";
import type { Endpoint, Obstacle, Outgoing, Sink } from "../../src/core/contract.ts";
import { startHostileServer } from "../../test/files/sftp-server.ts";
import { HEADER, settingsIn } from "../../test/files/kit.ts";
import { invoice, item } from "../../test/files/sink.ts";
import { isThere } from "../../test/support/machine.ts";
import { startSshd } from "../../test/support/sshd.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";

/** What statfs(2) says of a share. */
const SMB = 0xfe534d42;
const disk = vi.hoisted(() => ({ isShare: false }));
vi.mock("node:fs/promises", async (original) => {
  const calls = await original<typeof promises>();
  const statfs = async (path: string) => (disk.isShare ? { type: SMB } : calls.statfs(path));
  return { ...calls, statfs };
});

interface Place {
  readonly name: string;
  readonly isHere: boolean;
  /** The `sftp` section for it; null: this machine's own folder. */
  readonly start: () => Promise<Started>;
}

interface Started {
  readonly sftp: unknown;
  readonly end: () => Promise<void>;
}

const PLACES: readonly Place[] = [
  {
    name: "a local folder",
    isHere: true,
    start: async () => ({ sftp: null, end: async () => {} }),
  },
  {
    name: "a share that is mounted here",
    isHere: true,
    async start() {
      disk.isShare = true;
      return { sftp: null, end: async () => void (disk.isShare = false) };
    },
  },
  { name: "OpenSSH", isHere: isThere("sshd"), start: () => startSshd() },
  { name: "a server with SFTP 3 alone", isHere: true, start: () => startHostileServer() },
  {
    name: "a server that offers more than SFTP 3 and does not do it",
    isHere: true,
    start: () =>
      startHostileServer(
        "right-one",
        {},
        {
          offers: ["posix-rename@openssh.com", "fsync@openssh.com"],
        },
      ),
  },
];

const signal = new AbortController().signal;
const SENT = "2026-03-02T09:00:00.000Z";
const customer = (code: string): string =>
  `${HEADER}\r\n1,${code},Acme,,,,,Dock St,77520,Baytown,US-TX,US,\r\n`;

describe.each(PLACES.filter(({ isHere }) => isHere))("$name", ({ start }) => {
  let sftp: unknown;
  let end: () => Promise<void>;
  let folder: string;
  let drop: Drop;
  let now: string;
  let notes: string[];
  beforeAll(async () => {
    ({ sftp, end } = await start());
  });
  afterAll(() => end());
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "drop-"));
    now = "2026-03-02T08:00:00.000Z";
    notes = [];
    drop = sftp === null ? localDrop(folder) : sftpDrop(SftpConfig.parse(sftp), folder);
    onTestFinished(async () => {
      await drop.close();
      rmSync(folder, { recursive: true, force: true });
    });
  });

  /** An endpoint with a source `customers` and a sink `books`. */
  function open(source: object = {}, sink: object = {}): Endpoint {
    const config = files.config.parse(settingsIn(folder, { sftp, source, sink }));
    const endpoint = files.open(
      config,
      surroundingsIn("/nowhere", {
        now: () => new Date(now),
        note: (message) => void notes.push(message),
      }),
    );
    onTestFinished(() => endpoint.close());
    return endpoint;
  }

  const booksOf = (endpoint: Endpoint): Sink => endpoint.sinks["books"] as Sink;
  const requestOf = (sink: Sink): Outgoing => ({
    ...sink.freeze([item(invoice())]),
    key: "fb1_key",
    items: [item(invoice())],
    firstSentAt: null,
  });

  async function read(endpoint: Endpoint): Promise<{ ids: string[]; obstacles: Obstacle[] }> {
    const obstacles: Obstacle[] = [];
    const ids: string[] = [];
    const reading = {
      signal,
      known: () => null,
      stored: () => false,
      hindered: (obstacle: Obstacle) => void obstacles.push(obstacle),
    };
    for await (const page of endpoint.sources["customers"]?.read(null, reading) ?? [])
      ids.push(...page.changes.map(({ id }) => id));
    return { ids, obstacles };
  }

  const inFolder = (name: string): string[] => readdirSync(join(folder, name)).toSorted();

  test("gives back what was written, whole and exact, and makes no file where one must be there", async () => {
    const bytes = Buffer.from("a\u0000\u00ff\r\n".repeat(40_000));
    const path = drop.at("one");
    await writeDurably(drop, path, bytes, "any");
    expect(readFileSync(join(folder, "one")).equals(bytes)).toBe(true);
    expect((await drop.read(path))?.bytes?.equals(bytes)).toBe(true);
    expect(await drop.read(path, 100)).toMatchObject({
      entry: { size: bytes.length },
      bytes: null,
    });
    await writeDurably(drop, path, Buffer.from("short"), "existing");
    expect(readFileSync(join(folder, "one"), "utf8")).toBe("short");
    await writeDurably(drop, path, Buffer.alloc(0), "any");
    expect(await drop.look(path)).toMatchObject({ kind: "file", size: 0 });
    await expect(drop.write(drop.at("none"), bytes, "existing")).rejects.toMatchObject({
      code: "ENOENT",
    });
    expect(inFolder(".")).toEqual(["one"]);
  });

  test("tells the same content from other content, from none, and from a folder that is not there", async () => {
    writeFileSync(join(folder, "one"), "12345");
    const content = (name: string, text: string) =>
      contentAt(drop, drop.at(name), Buffer.from(text));
    expect(await content("one", "12345")).toBe("same");
    expect(await content("one", "12346")).toBe("other");
    expect(await content("one", "1234")).toBe("other");
    expect(await content("two", "12345")).toBe("none");
    expect(await content(".", "")).toBe("other");
    await expect(content("gone/two", "12345")).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("neither reads nor writes through a link", async () => {
    writeFileSync(join(folder, "target"), "12345");
    symlinkSync(join(folder, "target"), join(folder, "link"));
    expect(await drop.look(drop.at("link"))).toMatchObject({ kind: "other" });
    expect(await drop.read(drop.at("link"))).toMatchObject({ bytes: null });
    expect(await drop.open(drop.at("link"))).toBeNull();
    expect(await contentAt(drop, drop.at("link"), Buffer.from("12345"))).toBe("other");
    await expect(drop.write(drop.at("link"), Buffer.from("x"), "any")).rejects.toMatchObject({
      code: "ELOOP",
    });
    expect(readFileSync(join(folder, "target"), "utf8")).toBe("12345");
  });

  test("a file that is closed twice closes no other one, though servers use a handle again", async () => {
    writeFileSync(join(folder, "one"), "11111");
    writeFileSync(join(folder, "two"), "22222");
    const one = await drop.open(drop.at("one"));
    await one?.close();
    const two = await drop.open(drop.at("two"));
    await one?.close();
    const buffer = Buffer.alloc(5);
    expect(await two?.read(buffer, 0, 5, 0)).toMatchObject({ bytesRead: 5 });
    expect(buffer.toString()).toBe("22222");
    await two?.close();
  });

  test("lists files, folders and what is neither, more than one answer of a server holds", async () => {
    for (let at = 0; at < 250; at++) writeFileSync(join(folder, `file-${at}`), "12345");
    mkdirSync(join(folder, "folder"));
    symlinkSync(join(folder, "folder"), join(folder, "link"));
    const entries = new Map<string, Entry>();
    await drop.visit(drop.at(), (entry) => void entries.set(entry.name, entry));
    expect(entries.size).toBe(252);
    expect(entries.get("file-7")).toMatchObject({ kind: "file", size: 5 });
    expect(entries.get("folder")).toMatchObject({ kind: "folder" });
    expect(entries.get("link")).toMatchObject({ kind: "other" });
    await expect(drop.visit(drop.at("gone"), () => {})).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("a document is in the ERP's folder once and whole, and not again when the ERP has taken it", async () => {
    const sink = booksOf(open());
    const request = requestOf(sink);
    const sent = { ...request, firstSentAt: SENT };
    expect(await sink.find(request, signal)).toMatchObject({ found: "none" });
    // However often it is prepared, and after a crash before its move.
    for (const one of [request, request, sent]) {
      await sink.prepare?.(one, signal);
      expect([inFolder("in"), inFolder("in.staging").length]).toEqual([[], 2]);
      expect(await sink.find(one, signal)).toMatchObject({ found: "none" });
    }
    const done = { outcome: "done", ids: [request.target] };
    expect(await sink.send(sent, signal)).toMatchObject(done);
    expect(readFileSync(join(folder, request.target), "utf8")).toBe(request.body);
    expect(await sink.find(sent, signal)).toMatchObject({ found: "exact", ids: [request.target] });
    expect(await sink.send(sent, signal)).toMatchObject(done);
    await sink.prepare?.(request, signal);
    expect(await sink.send(sent, signal)).toMatchObject(done);
    expect([inFolder("in").length, inFolder("in.staging")]).toEqual([1, [".since"]]);
    rmSync(join(folder, request.target));
    expect(await sink.find(sent, signal)).toMatchObject({ found: "exact", ids: [request.target] });
    await sink.prepare?.(sent, signal);
    expect(await sink.send(sent, signal)).toMatchObject({ outcome: "unknown", holdMs: 60_000 });
    expect(await sink.find(sent, signal)).toMatchObject({ found: "exact" });
    expect([inFolder("in"), inFolder("in.staging")]).toEqual([[], [".since"]]);
  });

  test("another file under the same name is never overwritten, nor a link followed, nor is an incomplete file moved", async () => {
    const sink = booksOf(open());
    const request = requestOf(sink);
    const target = join(folder, request.target);
    await sink.prepare?.(request, signal);
    const elsewhere = join(folder, "elsewhere");
    writeFileSync(elsewhere, request.body);
    for (const put of [
      () => writeFileSync(target, "somebody else's"),
      () => symlinkSync(elsewhere, target),
    ]) {
      put();
      const there = () => [lstatSync(target).ino, readFileSync(target, "utf8")];
      const before = there();
      const stopped = { outcome: "unknown", person: "now", stop: "split-brain" };
      expect(await sink.send(request, signal)).toMatchObject(stopped);
      expect(await sink.find(request, signal)).toMatchObject({ found: "different" });
      expect(there()).toEqual(before);
      rmSync(target);
    }
    expect(readFileSync(elsewhere, "utf8")).toBe(request.body);
    const part = join(folder, "in.staging", `${request.target.slice("in/".length)}.part`);
    writeFileSync(part, request.body.slice(0, 100));
    expect(await sink.send(request, signal)).toMatchObject({ outcome: "nothing" });
    expect(inFolder("in")).toEqual([]);
    // Known to have been sent once and not moved: it is made whole, and nothing is made anew.
    const sent = { ...request, firstSentAt: SENT };
    await sink.prepare?.(sent, signal);
    expect(await sink.send(sent, signal)).toMatchObject({ outcome: "done" });
  });

  test("a marker follows its file with the file's size and hash; a crash between the two does not double the file", async () => {
    const sink = booksOf(open({}, { marker: ".ok", staging: "work" }));
    const request = requestOf(sink);
    const sent = { ...request, firstSentAt: SENT };
    await sink.prepare?.(request, signal);
    expect(inFolder("work").length).toBe(3);
    const [part = ""] = inFolder("work").filter((name) => name.endsWith(".csv.part"));
    const target = join(folder, request.target);
    // The file was moved; its marker was not; the ERP was quick.
    rmSync(join(folder, "work", part));
    expect(await sink.find(sent, signal)).toMatchObject({ found: "none" });
    await sink.prepare?.(sent, signal);
    expect(await sink.send(sent, signal)).toMatchObject({ outcome: "done" });
    expect(inFolder("in")).toEqual([`${request.target.slice("in/".length)}.ok`]);
    expect(JSON.parse(readFileSync(`${target}.ok`, "utf8"))).toMatchObject({
      bytes: Buffer.byteLength(request.body),
      documents: 1,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await sink.find(sent, signal)).toMatchObject({ found: "exact" });
  });

  test("what is read goes into a folder of its day, without its marker, and is deleted when it is old", async () => {
    const endpoint = open({ marker: ".ok", keepDays: 30 });
    mkdirSync(join(folder, "out/archive/2026-01-02"), { recursive: true });
    mkdirSync(join(folder, "out/archive/2026-02-27"));
    for (const name of ["2026-01-02/a.csv", "2026-01-02/b.csv", "2026-02-27/c.csv"])
      writeFileSync(join(folder, "out/archive", name), "old");
    writeFileSync(join(folder, "out/customers-1.csv"), customer("1"));
    writeFileSync(join(folder, "out/customers-2.csv"), customer("2"));
    utimesSync(join(folder, "out/customers-1.csv"), 1_790_000_000, 1_790_000_000);
    writeFileSync(join(folder, "out/customers-2.csv.ok"), "");
    const first = await read(endpoint);
    expect(first.ids).toEqual(["2"]);
    expect(first.obstacles).toMatchObject([
      { what: "customers-1.csv", fault: { code: "unmarked" }, awaited: true },
    ]);
    expect(inFolder("out")).toEqual(["archive", "customers-1.csv"]);
    expect(inFolder("out/archive")).toEqual(["2026-02-27", "2026-03-02"]);
    expect(inFolder("out/archive/2026-03-02")).toEqual([
      expect.stringMatching(/^customers-2\.[0-9a-f]{8}\.csv$/),
    ]);
    expect(notes).toEqual([]);
  });

  test("doctor examines each folder, and check makes those of the sinks", async () => {
    const endpoint = open();
    const needs = {
      currency: "USD",
      ourselves: [],
      parts: new Set(["customers", "books"]),
      column: () => [],
      days: [],
    };
    await expect(endpoint.check(signal)).rejects.toMatchObject({ name: "SourceUnavailable" });
    mkdirSync(join(folder, "out/archive"), { recursive: true });
    await endpoint.check(signal);
    const examined = (await endpoint.examine?.(signal, needs)) ?? [];
    expect(examined.flatMap(({ fault }) => fault ?? [])).toEqual([]);
    expect(examined.map(({ what }) => what).slice(-2)).toEqual([
      `source customers: ${folder}/out`,
      `sink books: ${folder}/in`,
    ]);
    expect(inFolder("in.staging")).toEqual([".since"]);
    expect(inFolder("out/archive")).toEqual([]);
  });
});
