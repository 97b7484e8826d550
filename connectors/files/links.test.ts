/** Folders that are links are refused wherever files are read from, written to or moved to; over SFTP too. */
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { files } from "./index.ts";
import type { Obstacle, Outgoing } from "../../src/core/contract.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import { invoice, item } from "../../test/files/sink.ts";
import { tempFolder } from "../../test/support/folder.ts";
import { isThere } from "../../test/support/machine.ts";
import { startSshd } from "../../test/support/sshd.ts";
import { surroundingsIn } from "../../test/support/surroundings.ts";

const { signal } = new AbortController();
const CSV =
  "Code,Name,City,State,ZIP,Country,Latitude,Longitude,Capacity,Operating Hours,Active\r\n" +
  "A,Plant,Tulsa,OK,74101,US,36.1,-95.9,1000.50,,1\r\n";

/** Where everything lies, and a folder elsewhere that a link of it leads to. */
function place(link: string | null) {
  const root = tempFolder();
  const elsewhere = tempFolder();
  for (const name of [
    "deep/in",
    "deep/out",
    "deep/in/archive",
    "deep/in/failed",
    "deep/out.staging",
  ])
    mkdirSync(join(root, name), { recursive: true });
  if (link !== null) {
    const path = join(root, link);
    rmSync(path, { recursive: true });
    mkdirSync(dirname(path), { recursive: true });
    for (const name of ["in/archive", "in/failed", "out", "out.staging"])
      mkdirSync(join(elsewhere, name), { recursive: true });
    symlinkSync(link === "deep" ? elsewhere : join(elsewhere, link.replace("deep/", "")), path);
  }
  const put = (): void => writeFileSync(join(root, "deep/in/terminals.csv"), CSV);
  const there = (): string[] =>
    readdirSync(elsewhere, { recursive: true, withFileTypes: true })
      .filter((one) => one.isFile())
      .map(({ name }) => name);
  return { root, put, there };
}

function open(root: string, more: object = {}) {
  const config = files.config.parse({
    folder: root,
    settleMs: 0,
    sources: { it: { layout: "plain/terminals", folder: "deep/in", pick: "*.csv" } },
    sinks: { books: { document: "customer-invoices", folder: "deep/out" } },
    ...more,
  });
  const endpoint = files.open(config, surroundingsIn("/nowhere"));
  onTestFinished(() => endpoint.close());
  return endpoint;
}

/** What a person is told when the source is read, and how many records came. */
async function read(endpoint: ReturnType<typeof open>) {
  const obstacles: Obstacle[] = [];
  let records = 0;
  const hindered = (one: Obstacle): void => void obstacles.push(one);
  const reading = { signal, known: () => null, stored: () => false, hindered };
  try {
    for await (const { changes } of endpoint.sources["it"]?.read(null, reading) ?? [])
      records += changes.length;
  } catch (error) {
    if (!(error instanceof SourceUnavailable)) throw error;
    return { records, told: `${error.message} ${error.next}` };
  }
  return {
    records,
    told: obstacles.map(({ fault: { message, next } }) => `${message} ${next}`).join("\n"),
  };
}

async function write(endpoint: ReturnType<typeof open>) {
  const sink = endpoint.sinks["books"];
  if (sink === undefined) throw new Error("no sink");
  const items = [item(invoice())];
  const request: Outgoing = { ...sink.freeze(items), key: "k", items, firstSentAt: null };
  try {
    await sink.prepare?.(request, signal);
    return await sink.send({ ...request, firstSentAt: "2026-03-02T09:00:00.000Z" }, signal);
  } catch (error) {
    if (!(error instanceof SourceUnavailable)) throw error;
    return { outcome: "nothing", detail: error.message, next: error.next };
  }
}

const servers = [
  ["this machine", async () => ({})],
  [
    "SFTP",
    async () => {
      const sshd = await startSshd();
      onTestFinished(() => sshd.end());
      return { sftp: sshd.sftp };
    },
  ],
] as const;

describe.each(servers.filter(([name]) => name !== "SFTP" || isThere("sshd")))("%s", (_, server) => {
  test.each(["deep", "deep/in", "deep/in/archive", "deep/in/failed"])(
    "nothing is read where %s is a link, and it is told what, where and what to do",
    async (link) => {
      const { root, put, there } = place(link);
      put();
      const before = there();
      const { records, told } = await read(open(root, await server()));
      expect(records).toBe(0);
      expect(told).toContain(`${join(root, link)} is a link`);
      expect(told).toMatch(/put a folder there, or name the folder that it leads to/);
      expect(there()).toEqual(before);
    },
  );

  test.each(["deep", "deep/out", "deep/out.staging"])(
    "nothing is written where %s is a link",
    async (link) => {
      const { root, there } = place(link);
      const told = await write(open(root, await server()));
      expect(told.outcome).not.toBe("done");
      expect(JSON.stringify(told)).toContain(`${join(root, link)} is a link`);
      expect(there()).toEqual([]);
    },
  );

  test("doctor and the check of an endpoint say it, before any file comes", async () => {
    const { root } = place("deep/out");
    const endpoint = open(root, await server());
    await expect(endpoint.check(signal)).rejects.toThrow("is a link");
    const rows =
      (await endpoint.examine?.(signal, { parts: new Set(["it", "books"]) } as never)) ?? [];
    expect(JSON.stringify(rows)).toContain(`${join(root, "deep/out")} is a link`);
  });

  test("the connector's own folder may be a link: a person named it", async () => {
    const { root, put } = place(null);
    put();
    const named = join(tempFolder(), "exchange");
    symlinkSync(root, named);
    const endpoint = open(named, await server());
    expect(await read(endpoint)).toEqual({ records: 1, told: "" });
    expect(await write(endpoint)).toMatchObject({ outcome: "done" });
  });
});
