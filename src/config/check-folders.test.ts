/** Folders and files that `check` looks at on the machine. */
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { GOOD, ROOT, setup } from "./check.fixture.ts";
test("a folder that a source needs must be there; one that a sink needs is created", () => {
  const { at, problems } = setup();
  rmSync(at("exchange/export"), { recursive: true });
  expect(problems()).toMatchObject([
    {
      line: 15,
      setting: "endpoints.erp.sources.customers.folder",
      message: `there is no folder ${at("exchange/export")}`,
    },
  ]);
  writeFileSync(at("exchange/export"), "");
  expect(problems()).toMatchObject([
    { message: `${at("exchange/export")} is a file, not a folder` },
  ]);
});

test("an exchange folder that is not there is told, also where flows only write: it is never made", () => {
  const { at, problems } = setup();
  rmSync(at("exchange"), { recursive: true });
  const missing = {
    line: 13,
    setting: "endpoints.erp.folder",
    message: `there is no folder ${at("exchange")}`,
  };
  expect(problems()[0]).toMatchObject(missing);
  const writing = GOOD.replace(/^ {2}customers: \{ mapping.*\n/m, "");
  expect(problems(writing)).toMatchObject([missing]);
  expect(problems(writing.replaceAll("folder: import", `folder: ${at("elsewhere")}`))).toEqual([]);
});

/** Rights are nothing to root, so the program runs as a user that owns nothing here. */
const NOBODY = 65_534;

test.skipIf(process.getuid?.() !== 0)(
  "a folder without rights is told with the right that is missing, as the user who runs check",
  () => {
    const { folder, at, config, put } = setup();
    put("fuelbridge.yaml", GOOD);
    symlinkSync("elsewhere", at("unused"));
    mkdirSync(at("exchange/import"));
    execFileSync("chown", ["-R", `${NOBODY}:${NOBODY}`, folder]);
    const check = () => {
      const { stderr } = spawnSync(
        process.execPath,
        [join(ROOT, "src/main.ts"), "check", "--config", config],
        { uid: NOBODY, gid: NOBODY, env: { KEY: "svc_live_abcdefgh1234" }, encoding: "utf8" },
      );
      return stderr;
    };
    chmodSync(at("exchange/export"), 0o500);
    chmodSync(at("exchange/import"), 0o600);
    const said = check();
    expect(said).toContain(
      `${config}:15:85 endpoints.erp.sources.customers.folder: the user nobody lacks the right w (create and rename files in it) on ${at("exchange/export")} (mode 0500, of uid ${NOBODY}).`,
    );
    expect(said).toContain(
      `${config}:17:43 endpoints.erp.sinks.orders.folder: the user nobody lacks the right x (enter it) on ${at("exchange/import")} (mode 0600, of uid ${NOBODY}).`,
    );
    expect(said).toContain("setfacl -m u:nobody:w FOLDER");
    expect(said.split("\n").filter((line) => line.startsWith(config))).toHaveLength(2);
  },
);
