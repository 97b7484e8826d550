/** The connector kit over `files` behind SFTP: what cuts the sender off is the server, at each of its requests. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Config, connectorSuite, type Ground } from "../../../test/connector.suite.ts";
import { freePort } from "../../../src/demo/sshd.ts";
import { files } from "../index.ts";
import { books, HEADER, settingsIn } from "../../../test/files/kit.ts";
import { type Deed, startHostileServer } from "../../../test/files/sftp-server.ts";
import { surroundingsIn } from "../../../test/support/surroundings.ts";

connectorSuite({
  connector: { ...files, name: "files over SFTP" },
  ground,
  bad: [
    { field: "sftp.host", config: (good) => withSftp(good, { host: undefined }) },
    { field: "sftp.key", config: (good) => withSftp(good, { password: undefined }) },
    { field: "sftp.key", config: (good) => withSftp(good, { key: "and a password" }) },
    { field: "sftp.hostKey", config: (good) => withSftp(good, { hostKey: "whatever it shows" }) },
    { field: "sinks.books.marker", config: (good) => withMarker(good, "/etc/x") },
  ],
  sources: ["customers"],
  lacksClock: "files have no clock that anything is read by",
  sinks: { books },
});

function withSftp(good: Config, more: Config): Config {
  return { ...good, sftp: { ...(good["sftp"] as Config), ...more } };
}

const withMarker = (good: Config, marker: string): Config => ({
  ...good,
  sinks: { books: { document: "customer-invoices", folder: "in", marker } },
});

async function ground(): Promise<Ground> {
  const server = await startHostileServer();
  const folder = mkdtempSync(join(tmpdir(), "kit-"));
  onTestFinished(async () => {
    await server.end();
    rmSync(folder, { recursive: true, force: true });
  });
  mkdirSync(join(folder, "out"));
  const config: Config = settingsIn(folder, {
    sftp: { ...server.sftp, timeoutMs: 10_000 },
    source: { pick: "customers*.csv" },
    sink: { marker: ".ok" },
  });
  const target = join(folder, "in");
  return {
    folder,
    config,
    unreachable: withSftp(config, { port: await freePort() }),
    wrongCredentials: withSftp(config, { password: "wrong-one" }),
    async fill() {
      for (const code of ["1", "2", "3"]) {
        const row = `${code},${code},Acme ${code},,,,,Dock St,77520,Baytown,US-TX,US,`;
        writeFileSync(join(folder, `out/customers-${code}.csv`), `${HEADER}\r\n${row}\r\n`);
      }
    },
    // A file counts once its marker is there.
    async effects() {
      const names = namesIn(target);
      return names
        .filter((name) => !name.endsWith(".ok") && names.includes(`${name}.ok`))
        .map((name) => `${name}\n${readFileSync(join(target, name), "utf8")}`);
    },
    async interrupt(name, request, step) {
      // Every second time the server still does what it was asked, and does not say so.
      const deed: Deed = step % 2 === 0 ? "dies-after" : "dies";
      const asked = Math.ceil(step / 2);
      server.planned((_verb, count) => (count === asked ? deed : "does"));
      const endpoint = files.open(files.config.parse(config), surroundingsIn(folder));
      const answer = await endpoint.sinks[name]?.send(request, new AbortController().signal);
      const over = server.requests.length < asked;
      await endpoint.close();
      server.planned(() => "does");
      return { over, answer: answer ?? null };
    },
  };
}

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
};
