/** The connector kit over `files`: the receiver is a folder, and what cuts the sender off is SIGKILL. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { files } from "./index.ts";
import type { Outgoing } from "../../src/core/contract.ts";
import { type Config, connectorSuite, type Ground } from "../../test/connector.suite.ts";
import { books, HEADER } from "../../test/files/kit.ts";

connectorSuite({
  connector: files,
  ground,
  bad: [
    { field: "folder", config: (good) => ({ ...good, folder: undefined }) },
    { field: "settleMs", config: (good) => ({ ...good, settleMs: -1 }) },
    { field: "colour", config: (good) => ({ ...good, colour: "blue" }) },
    {
      field: "sources.customers.layout",
      config: (good) => ({ ...good, sources: { customers: { layout: "gossip", pick: "*.csv" } } }),
    },
  ],
  sources: ["customers"],
  lacksClock: "files have no clock that anything is read by",
  sinks: { books },
});

async function ground(): Promise<Ground> {
  const folder = await mkdtemp(join(tmpdir(), "kit-"));
  // An endpoint makes the folders of its sinks by itself.
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  await writeFile(join(folder, "in-the-way"), "");
  const config: Config = {
    folder: ".",
    settleMs: 0,
    sources: {
      customers: {
        layout: "books.parties",
        profile: "tryton-export/customers",
        pick: "customers*.csv",
      },
    },
    sinks: { books: { document: "customer-invoices", folder: "import/invoices" } },
  };
  return {
    folder,
    config,
    unreachable: { ...config, folder: "in-the-way" },
    wrongCredentials: "has none",
    async fill() {
      for (const code of ["1", "2", "3"]) {
        const row = `${code},${code},Acme ${code},,,,,Dock St,77520,Baytown,US-TX,US,`;
        await writeFile(join(folder, `customers-${code}.csv`), `${HEADER}\r\n${row}\r\n`);
      }
    },
    async effects() {
      const target = join(folder, "import/invoices");
      const names = await readdir(target).catch((): string[] => []);
      return Promise.all(
        names
          .toSorted()
          .map(async (name) => `${name}\n${await readFile(join(target, name), "utf8")}`),
      );
    },
    interrupt: (sink, request, step) => killedAt({ folder, config, sink, request, step }),
  };
}

async function killedAt(send: {
  folder: string;
  config: Config;
  sink: string;
  request: Outgoing;
  step: number;
}): Promise<{ over: boolean; answer: null }> {
  const program = fileURLToPath(new URL("../../test/files/kit-program.ts", import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(send)], { stdio: "inherit" });
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  if (code !== 0 && signal !== "SIGKILL") throw new Error(`the program ended with ${code}`);
  return { over: code === 0, answer: null };
}
