/** A server that is not the one it was, refuses, lies, dies or falls silent. */
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { settingsIn } from "../../../test/files/kit.ts";
import { SftpConfig, sftpDrop } from "./sftp.ts";
import { files } from "../index.ts";
import type { Endpoint, Outgoing, Sink } from "../../../src/core/contract.ts";
import {
  type Deed,
  type HostileServer,
  startHostileServer,
  type Verb,
} from "../../../test/files/sftp-server.ts";
import { invoice, item } from "../../../test/files/sink.ts";
import { tempFolder } from "../../../test/support/folder.ts";
import { surroundingsIn } from "../../../test/support/surroundings.ts";

const signal = new AbortController().signal;
const SENT = "2026-03-02T09:00:00.000Z";
const OTHER_KEY = `SHA256:${"A".repeat(43)}`;

/** So long a server that hangs is waited for; on a busy machine a login needs some of it. */
const PATIENCE_MS = 1_500;

let server: HostileServer;
let folder: string;
beforeAll(async () => {
  server = await startHostileServer();
});
afterAll(() => server.end());
beforeEach(() => {
  folder = tempFolder();
  server.planned(() => "does");
});

function open(sftp: object = {}): Endpoint {
  const config = files.config.parse(
    settingsIn(folder, { sftp: { ...server.sftp, timeoutMs: PATIENCE_MS, ...sftp } }),
  );
  const endpoint = files.open(
    config,
    surroundingsIn("/nowhere", { now: () => new Date("2026-03-02T08:00:00Z") }),
  );
  onTestFinished(() => endpoint.close());
  return endpoint;
}

/** A request that is staged and not yet sent. */
async function staged(): Promise<{ sink: Sink; request: Outgoing; sent: Outgoing }> {
  const sink = open().sinks["books"] as Sink;
  const items = [item(invoice())];
  const request: Outgoing = { ...sink.freeze(items), key: "fb1_key", items, firstSentAt: null };
  await sink.prepare?.(request, signal);
  return { sink, request, sent: { ...request, firstSentAt: SENT } };
}

/** `deed` at the first requests with this verb that have to do with the path, after something was opened there. */
function fault(verb: Verb, deed: Deed, part = "", times = 1): void {
  let left = times;
  let isOpen = verb !== "CLOSE";
  server.planned((asked, _count, path) => {
    isOpen ||= asked === "OPEN";
    return asked === verb && isOpen && path.includes(part) && left-- > 0 ? deed : "does";
  });
}

/** So often what is asked for is cut off, and then no more is tried at once. */
const CUTS = 8;

const delivered = (): string[] => readdirSync(join(folder, "in"));
const opened = (sftp: object = {}) => {
  const drop = sftpDrop(
    SftpConfig.parse({ ...server.sftp, timeoutMs: PATIENCE_MS, ...sftp }),
    folder,
  );
  onTestFinished(() => drop.close());
  return drop;
};

describe("who is at the other end", () => {
  test("a server whose key is not set is told with its fingerprint, and gets no credentials", async () => {
    const unpinned = open({ hostKey: undefined });
    await expect(unpinned.check(signal)).rejects.toMatchObject({
      name: "SourceUnavailable",
      stop: "configuration",
      message: expect.stringContaining(server.sftp.hostKey),
      next: expect.stringContaining(`set sftp.hostKey: ${server.sftp.hostKey}`),
    });
    expect(server.logins).toBe(0);
  });

  test("a server with another key stops everything, and gets no credentials", async () => {
    const changed = open({ hostKey: OTHER_KEY });
    await expect(changed.check(signal)).rejects.toMatchObject({
      stop: "configuration",
      message: expect.stringMatching(/showed the host key SHA256:.* and sftp\.hostKey is SHA256:A/),
      next: expect.stringContaining("whether its key was replaced"),
    });
    expect(server.logins).toBe(0);
    await open({ hostKey: [OTHER_KEY, server.sftp.hostKey] }).sinks["books"]?.prepare?.(
      (await staged()).request,
      signal,
    );
  });

  test("a wrong password, or a key that is none, stops for the credentials, and is not tried at once again", async () => {
    const wrong = { stop: "credentials", waitMs: 300_000 };
    await expect(open({ password: "wrong-one" }).check(signal)).rejects.toMatchObject(wrong);
    expect(server.logins).toBe(1);
    const noKey = { password: undefined, key: "no private key at all" };
    await expect(open(noKey).check(signal)).rejects.toMatchObject(wrong);
  });

  test("a server that takes the connection and says nothing is not waited for longer than the deadline", async () => {
    const silent = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void silent.close());
    await once(silent, "listening");
    const { port } = silent.address() as { port: number };
    await expect(open({ port }).check(signal)).rejects.toMatchObject({
      name: "SourceUnavailable",
      message: expect.stringMatching(/cannot be reached: ETIMEDOUT: no connection in 1500 ms/),
    });
  });

  test("a server that offers old algorithms only is not used", async () => {
    const old = await startHostileServer("right-one", { cipher: ["aes128-cbc"] });
    onTestFinished(() => old.end());
    await expect(open(old.sftp).check(signal)).rejects.toMatchObject({
      name: "SourceUnavailable",
      message: expect.stringContaining("cipher"),
      next: expect.stringContaining("has to allow newer ones"),
    });
  });

  test("a password goes to a server that asks for it on a keyboard, and is shown once", async () => {
    const asking = await startHostileServer("right-one", {}, { takes: "keyboard-interactive" });
    onTestFinished(() => asking.end());
    const wrong = open({ ...asking.sftp, password: "wrong-one" });
    await expect(wrong.check(signal)).rejects.toMatchObject({ stop: "credentials" });
    expect(asking.logins).toBe(1);
    const drop = opened(asking.sftp);
    await drop.visit(drop.at(), () => {});
    expect(asking.logins).toBe(2);
  });

  test("a server that asks for more than a password gets none", async () => {
    const asking = await startHostileServer(
      "right-one",
      {},
      { takes: "keyboard-interactive", prompts: ["Password: ", "Code: "] },
    );
    onTestFinished(() => asking.end());
    await expect(open(asking.sftp).check(signal)).rejects.toMatchObject({
      stop: "credentials",
      message: expect.stringContaining("keyboard-interactive"),
    });
  });

  test("credentials that a server does not take: it is told which ones it takes", async () => {
    const { privateKey: key } = generateKeyPairSync("rsa", {
      modulusLength: 2048,
      publicKeyEncoding: { type: "pkcs1", format: "pem" },
      privateKeyEncoding: { type: "pkcs1", format: "pem" },
    });
    await expect(open({ password: undefined, key }).check(signal)).rejects.toMatchObject({
      stop: "credentials",
      message: expect.stringContaining("it takes password"),
    });
    expect(server.logins).toBe(0);
  });
});

describe("a server that does not do what it is asked", () => {
  test.each<[Verb, Deed]>([
    ["OPEN", "dies"],
    ["WRITE", "dies"],
    ["WRITE", "dies-after"],
    ["WRITE", "hangs"],
    ["WRITE", "fails"],
    ["WRITE", "lies"],
    ["CLOSE", "fails"],
  ])(
    "%s %s while a file is staged: nothing is sent, and the next try goes through",
    async (verb, deed) => {
      const { sink, request } = await staged();
      const anew = { ...request, firstSentAt: null };
      fault(verb, deed, ".part", deed.startsWith("dies") ? CUTS : 1);
      await expect(sink.prepare?.(anew, signal)).rejects.toMatchObject({
        name: "SourceUnavailable",
        next: expect.stringMatching(/\w+ \w+/),
      });
      expect(delivered()).toEqual([]);
      await sink.prepare?.(anew, signal);
      expect(await sink.send({ ...anew, firstSentAt: SENT }, signal)).toMatchObject({
        outcome: "done",
      });
      expect(readFileSync(join(folder, request.target), "utf8")).toBe(request.body);
    },
  );

  test.each<[Deed, object]>([
    // The line was cut: it is looked at once.
    ["dies-after", { outcome: "done" }],
    ["hangs-after", { outcome: "unknown", holdMs: 60_000 }],
  ])(
    "the answer to the rename is lost (%s): found at once or later, also when the ERP was quick",
    async (deed, answer) => {
      for (const isTaken of [false, true]) {
        rmSync(join(folder, "in"), { recursive: true, force: true });
        const { sink, request, sent } = await staged();
        fault("RENAME", deed);
        expect(await sink.send(sent, signal)).toMatchObject(answer);
        if (isTaken) rmSync(join(folder, request.target));
        expect(await sink.find(sent, signal)).toMatchObject({ found: "exact" });
        await sink.prepare?.(sent, signal);
        expect(delivered().length).toBe(isTaken ? 0 : 1);
      }
    },
  );

  test.each<Deed>(["dies", "hangs"])(
    "the rename did not take place (%s): unknown, then not found, and the same file goes again",
    async (deed) => {
      const { sink, sent } = await staged();
      fault("RENAME", deed, "", deed === "dies" ? CUTS : 1);
      expect(await sink.send(sent, signal)).toMatchObject({ outcome: "unknown" });
      expect(delivered()).toEqual([]);
      expect(await sink.find(sent, signal)).toMatchObject({ found: "none" });
      await sink.prepare?.(sent, signal);
      expect(await sink.send(sent, signal)).toMatchObject({ outcome: "done" });
      expect(delivered().length).toBe(1);
    },
  );

  test("a rename that fails without a reason stops the endpoint: the file lies there, and no document is charged with it", async () => {
    const { sink, sent } = await staged();
    fault("RENAME", "fails");
    expect(await sink.send(sent, signal)).toMatchObject({
      outcome: "nothing",
      stop: "receiver",
      detail: expect.stringContaining("the server did not move"),
      next: expect.stringContaining("may rename there"),
    });
    expect(delivered()).toEqual([]);
    expect(await sink.find(sent, signal)).toMatchObject({ found: "none" });
    await sink.prepare?.(sent, signal);
    expect(await sink.send(sent, signal)).toMatchObject({ outcome: "done" });
    expect(delivered().length).toBe(1);
  });

  test("a rename that fails before the line is lost is unknown until somebody looked", async () => {
    const { sink, sent } = await staged();
    let isAsked = false;
    server.planned((verb) => {
      isAsked ||= verb === "RENAME";
      if (!isAsked) return "does";
      return verb === "RENAME" ? "fails" : "dies";
    });
    expect(await sink.send(sent, signal)).toMatchObject({ outcome: "unknown" });
    server.planned(() => "does");
    expect(await sink.find(sent, signal)).toMatchObject({ found: "none" });
  });

  test("a rename that took place and is said to have failed is found later, also when the ERP was quick", async () => {
    for (const isTaken of [false, true]) {
      rmSync(join(folder, "in"), { recursive: true, force: true });
      const { sink, request, sent } = await staged();
      fault("RENAME", "fails-after");
      expect(await sink.send(sent, signal)).toMatchObject({ outcome: "unknown" });
      if (isTaken) rmSync(join(folder, request.target));
      expect(await sink.find(sent, signal)).toMatchObject({ found: "exact" });
    }
  });

  test("a server that lets nobody overwrite: what a killed program left half written is written anew", async () => {
    const keeping = await startHostileServer("right-one", {}, { overwrites: false });
    onTestFinished(() => keeping.end());
    const sink = open(keeping.sftp).sinks["books"] as Sink;
    const items = [item(invoice())];
    const request: Outgoing = { ...sink.freeze(items), key: "fb1_key", items, firstSentAt: null };
    await sink.prepare?.(request, signal);
    const [part = ""] = readdirSync(join(folder, "in.staging")).filter((name) =>
      name.endsWith("part"),
    );
    writeFileSync(join(folder, "in.staging", part), "half");
    await sink.prepare?.(request, signal);
    expect(await sink.send({ ...request, firstSentAt: SENT }, signal)).toMatchObject({
      outcome: "done",
    });
    expect(readFileSync(join(folder, request.target), "utf8")).toBe(request.body);
  });

  test("a server that does not tell how large files are: none is taken for empty, and what to do is said", async () => {
    const silent = await startHostileServer("right-one", {}, { tellsSizes: false });
    onTestFinished(() => silent.end());
    const endpoint = open(silent.sftp);
    mkdirSync(join(folder, "out"));
    writeFileSync(join(folder, "out/customers.csv"), "ID\r\n");
    const reading = { signal, known: () => null, stored: () => false };
    const read = endpoint.sources["customers"]?.read(null, reading);
    await expect(read?.[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      name: "SourceUnavailable",
      message: expect.stringContaining("does not tell how large customers.csv is"),
      next: expect.stringContaining("use another one"),
    });
    expect(readdirSync(join(folder, "out"))).toEqual(["customers.csv"]);
  });

  test("a rename that the server denies stops the endpoint and names the user of the server", async () => {
    const { sink, sent } = await staged();
    fault("RENAME", "denies");
    expect(await sink.send(sent, signal)).toMatchObject({
      outcome: "nothing",
      stop: "receiver",
      next: `Give the user ${server.sftp.user} of the SFTP server the right to do it.`,
    });
    expect(delivered()).toEqual([]);
    expect(await sink.send(sent, signal)).toMatchObject({ outcome: "done" });
  });

  test("a server that cannot rename stops the endpoint: no document is charged with it", async () => {
    const { sink, sent } = await staged();
    fault("RENAME", "lacks");
    expect(await sink.send(sent, signal)).toMatchObject({
      outcome: "nothing",
      stop: "receiver",
      next: expect.stringContaining("cannot do that"),
    });
    expect(await sink.send(sent, signal)).toMatchObject({ outcome: "done" });
  });

  test("a server that dies each time before it is asked for the rename: nothing was sent", async () => {
    const { sink, sent } = await staged();
    fault("LSTAT", "dies", ".part", CUTS);
    expect(await sink.send(sent, signal)).toMatchObject({ outcome: "nothing" });
    expect(delivered()).toEqual([]);
    expect(await sink.send(sent, signal)).toMatchObject({ outcome: "done" });
  });
});

test("each operation has its deadline; after it the connection is made anew, and what was beside it is asked again at once", async () => {
  const drop = opened();
  await drop.visit(drop.at(), () => {});
  const before = server.connections;
  fault("LSTAT", "hangs", "one");
  const looks = [drop.look(drop.at("one")), drop.look(drop.at("two"))];
  await expect(looks[0]).rejects.toMatchObject({ code: "ETIMEDOUT" });
  expect(await looks[1]).toBeNull();
  expect(server.connections).toBe(before);
  expect(await drop.look(drop.at("three"))).toBeNull();
  expect(server.connections).toBe(before + 1);
});

test("an export that the server stops giving in the middle stays where it is, and is read whole later", async () => {
  mkdirSync(join(folder, "out"));
  const header =
    "ID,Code,Name,Phone,Mobile,E-Mail,Addresses/Building Name,Addresses/Street,Addresses/Postal Code,Addresses/City," +
    "Addresses/Subdivision/Code,Addresses/Country/Code,Customer Payment Term";
  const rows = Array.from({ length: 2000 }, (_, at) => `1,${at},Acme,,,,,Dock,1,B,US-TX,US,`);
  writeFileSync(join(folder, "out/customers.csv"), [header, ...rows, ""].join("\r\n"));
  const endpoint = open();
  const read = async (): Promise<number> => {
    let count = 0;
    const reading = { signal, known: () => null, stored: () => false };
    for await (const page of endpoint.sources["customers"]?.read(null, reading) ?? [])
      count += page.changes.length;
    return count;
  };
  let reads = 0;
  server.planned((verb) => (verb === "READ" && ++reads % 2 === 0 ? "dies" : "does"));
  await expect(read()).rejects.toMatchObject({ name: "SourceUnavailable" });
  expect(readdirSync(join(folder, "out"))).toEqual(["customers.csv"]);
  server.planned(() => "does");
  expect(await read()).toBe(2000);
  expect(readdirSync(join(folder, "out"))).toEqual(["archive"]);
  // However many files are archived: nobody lists them.
  const listed = server.requests.filter((request) => request.startsWith("OPENDIR"));
  expect(new Set(listed)).toEqual(new Set([`OPENDIR ${folder}/out`]));
});
