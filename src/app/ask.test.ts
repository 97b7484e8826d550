/** Who answers a command that needs what is stored. */
import { writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { configuredSite } from "../../test/support/configured.ts";
import { serving } from "../../test/support/http.ts";
import { addressFile } from "../office/remote.ts";
import { openStore } from "../store/store.ts";
import { askOf, stateNamedIn } from "./ask.ts";
import { loadConfiguration } from "./configuration.ts";

/** A daemon that holds the store. It is too busy to say that it is there every other time; what it is asked it answers. */
async function busyDaemon(state: string): Promise<void> {
  const store = openStore(state);
  let asked = 0;
  const { url, close } = await serving((request, response) => {
    asked += 1;
    if (asked === 1) return;
    if (request.method === "GET" && asked % 2 === 1) return void request.socket.destroy();
    response.end(JSON.stringify({ data: request.method === "GET" ? { pid: process.pid } : [] }));
  });
  const port = Number(new URL(url).port);
  writeFileSync(addressFile(state), JSON.stringify({ port, token: "t", pid: process.pid }));
  onTestFinished(async () => {
    await close();
    store.close();
  });
}

test("a daemon that was busy and answers the second time is asked, though it is busy again then", async () => {
  const config = await loadConfiguration(configuredSite().file);
  await busyDaemon(config.state);
  expect(await askOf(config, (office) => office.runs())).toEqual([]);
});

test.each([
  ["state: ../var/state", "../var/state"],
  ['company: x\nstate: "/var/lib/fuel bridge" # a disk\nflows: {}', "/var/lib/fuel bridge"],
  ["state: ${STATE}", null],
  ["state: var\n  state", null],
  ["state: &it var", null],
  ["platform:\n  state: var", null],
  ["state:\n  var", null],
])(
  "of %j the state folder is read without the rest only where it stands there plainly",
  (text, folder) => {
    const file = join(tempFolder(), "fuelbridge.yaml");
    writeFileSync(file, text);
    const named = stateNamedIn(file);
    expect(named).toBe(folder === null ? null : resolve(dirname(file), folder));
  },
);
