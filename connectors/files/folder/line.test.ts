/** OpenSSH at the end of a line that is cut: everything arrives once, both ways, and at once. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type LineOptions, openLine } from "../../../test/files/line.ts";
import { lineSite } from "../../../test/files/line-site.ts";
import { startHostileServer } from "../../../test/files/sftp-server.ts";
import { engineOn } from "../../../test/support/engine.ts";
import { tempFolder } from "../../../test/support/folder.ts";
import { isThere } from "../../../test/support/machine.ts";
import { numbers, runs } from "../../../test/support/runs.ts";
import { startSshd, type TestSshd } from "../../../test/support/sshd.ts";

describe.runIf(isThere("sshd"))("a line that is cut", () => {
  let sshd: TestSshd;
  beforeAll(async () => {
    sshd = await startSshd();
  });
  afterAll(() => sshd.end());

  async function siteOver(options: LineOptions) {
    const line = await openLine(sshd.sftp.port, options);
    const site = lineSite(tempFolder(), engineOn(tempFolder()).engine, {
      ...sshd.sftp,
      port: line.port,
    });
    onTestFinished(async () => {
      await site.end();
      await line.end();
    });
    return { line, site };
  }

  /** Of documents that went out and came in, with one run of their flows: how often each arrived. */
  async function exchanged(count: number, options: LineOptions) {
    const { line, site } = await siteOver(options);
    site.drop(count);
    const out = site.takeAway();
    const sent = await site.send(count);
    const read = await site.read();
    expect(read.trouble).toBeNull();
    expect([sent, read.states]).toEqual([{ delivered: count }, { delivered: count }]);
    expect(await out()).toEqual(Array.from({ length: count }, () => 1));
    expect(new Set(site.came).size).toBe(count);
    expect(site.came.length).toBe(count);
    expect([site.names("out"), site.names("out", "archive").length]).toEqual([["archive"], count]);
    expect(site.names("in.staging")).toEqual([".since"]);
    return line;
  }

  test(
    "at each of its packets: everything arrives once, and no next round is waited for",
    numbers,
    async () => {
      const every = runs(7, 1);
      let at = 1;
      while ((await exchanged(2, { isCut: (packet) => packet === at })).cuts === 1) at += every;
      expect(at).toBeGreaterThan(20);
    },
  );

  test("again and again: everything arrives once", async () => {
    const { cuts } = await exchanged(200, { isCut: (packet) => packet % 30 === 0 });
    expect(cuts).toBeGreaterThan(5);
  });
});

test("many lists are read at once, and a folder is listed once a round", async () => {
  const server = await startHostileServer();
  onTestFinished(() => server.end());
  const line = await openLine(server.sftp.port, { delayMs: 40 });
  const site = lineSite(tempFolder(), engineOn(tempFolder()).engine, {
    ...server.sftp,
    port: line.port,
  });
  onTestFinished(async () => {
    await site.end();
    await line.end();
  });
  site.drop(32);
  server.planned(() => "does");
  expect((await site.read()).states).toEqual({ delivered: 32 });
  const listed = server.requests.filter((request) => request.startsWith("OPENDIR"));
  expect(listed).toEqual([expect.stringMatching(/\/out$/)]);
  // One after the other they would be twelve answers each.
  expect(line.packets).toBeLessThan(32 * 4);
});
