/**
 * The daemon as a user of its own on an installation that root owns: no home, no right beside its state folder. And no
 * stack trace where a right or a disk is missing.
 */
import { spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { exportsFolder, root } from "../src/demo/world.ts";
import { startSandbox } from "../src/sandbox/server.ts";
import { markFile, storeFile } from "../src/store/database.ts";
import { controlOf } from "./conformance/support.ts";
import { isMounted, tempFolder } from "./support/folder.ts";

/** Nobody's number: a user without a name or a home. */
const USER = 12_345;
const SLOW = 600_000;
/** Compiled code of this user's own, for all starts: theirs may not lie in the checkout. */
const CACHE = join(tmpdir(), "fuelbridge-compiled-by-nobody");

interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

interface Place {
  readonly config: string;
  readonly state: string;
  readonly as: (...args: string[]) => Promise<Said>;
}

/** /etc, /var/lib and the ERP's folder as an administrator makes them: everything is root's but what the user works in. */
function installed({ url = "http://127.0.0.1:9/v1/public", key = "svc_live_none" } = {}): Place {
  const folder = tempFolder();
  chmodSync(folder, 0o755);
  const [etc, state, erp] = ["etc", "var/lib/fuelbridge", "erp"].map((name) => join(folder, name));
  if (etc === undefined || state === undefined || erp === undefined) throw new Error("no folder");
  cpSync(join(root, "config"), etc, { recursive: true });
  for (const own of [state, erp, join(erp, "export")]) mkdirSync(own, { recursive: true });
  const rows = readFileSync(join(exportsFolder, "customers.csv"), "utf8").split("\n").slice(0, 4);
  writeFileSync(join(erp, "export", "customers.csv"), `${rows.join("\n")}\n`);
  for (const own of [state, erp, join(erp, "export"), join(erp, "export", "customers.csv")])
    chownSync(own, USER, USER);
  chmodSync(state, 0o700);
  const config = join(etc, "fuelbridge.yaml");
  const yaml = readFileSync(join(etc, "demo.yaml"), "utf8")
    .replace(/^state: .*$/m, `state: ${state}`)
    .replace(/^( +url:).*$/m, `$1 ${url}`)
    .replace(/^( +apiKey:).*$/m, "$1 ${KEY}")
    .replace("folder: ../var/demo/erp", `folder: ${erp}`)
    .replace(/every: \d+m/g, "$&\n    paused: true")
    .replace(/(to: platform\.customers\n.*\n) +paused: true\n/, "$1");
  const firstStart = new Date().toISOString().slice(0, 10);
  writeFileSync(config, `${yaml}\nfirstStart: ${firstStart}\n`);
  return { config, state, as: (...args) => asUser([...args, "--config", config], key) };
}

function asUser(args: readonly string[], key: string): Promise<Said> {
  const child = spawn(process.execPath, [join(root, "src", "main.ts"), ...args], {
    uid: USER,
    gid: USER,
    cwd: "/",
    env: { PATH: process.env["PATH"], KEY: key, NODE_COMPILE_CACHE: CACHE },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const said = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said.out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said.err += text));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, ...said })));
}

const isRoot = process.getuid?.() === 0 && process.platform === "linux";

describe.skipIf(!isRoot)("a user of its own, root-owned parents, state 0700, no home", () => {
  test(
    "the first start sends, a restart goes on",
    async () => {
      const sandbox = await startSandbox({ db: ":memory:", scenario: "demo" });
      onTestFinished(() => sandbox.close());
      const control = controlOf(() => sandbox.controlUrl);
      const key = (await control.keys()).find(({ name }) => name === "supplier")?.key ?? "";
      const site = installed({ url: sandbox.baseUrl, key });
      const delivered = async (): Promise<unknown> => {
        const { out } = await site.as("status", "--json");
        const { data } = JSON.parse(out) as {
          data: { stops: unknown[]; flows: { name: string; delivered: number }[] };
        };
        const flow = data.flows.find(({ name }) => name === "customers");
        return { stops: data.stops, delivered: flow?.delivered };
      };
      const first = await site.as("once");
      expect(first).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^Nothing is left to do/),
      });
      expect(await delivered()).toEqual({ stops: [], delivered: 3 });
      expect(await site.as("once")).toMatchObject({ code: 0 });
      expect(await delivered()).toEqual({ stops: [], delivered: 3 });
    },
    SLOW,
  );
});

describe.skipIf(!isRoot)("no stack trace for a missing right or a full disk", () => {
  const CASES: [
    what: string,
    command: string[],
    harm: (site: Place) => unknown,
    code: number,
    said: RegExp,
  ][] = [
    [
      "a state folder that is missing and cannot be made",
      ["status"],
      ({ state }) => rmSync(state, { recursive: true }),
      4,
      /folder .*fuelbridge cannot be created by user uid 12345: EACCES/,
    ],
    [
      "a state folder of somebody else",
      ["once"],
      ({ state }) => chownSync(state, 0, 0),
      4,
      /fuelbridge\.sqlite.* cannot be .*by user uid 12345/,
    ],
    [
      "the same, asked by check",
      ["check"],
      ({ state }) => chownSync(state, 0, 0),
      3,
      /state folder .* user uid 12345 may not read and write .*EACCES/,
    ],
    [
      "a state folder that is mounted read only, asked by check",
      ["check"],
      (site) => mount(site, "ro,size=64k"),
      3,
      /EROFS.*\n {2}That file system is mounted read only: mount it writable/,
    ],
    [
      "a mark of somebody else",
      ["check"],
      ({ state }) => {
        mkdirSync(dirname(markFile(state)));
        writeFileSync(markFile(state), "", { mode: 0o600 });
        chmodSync(dirname(markFile(state)), 0o755);
      },
      3,
      /user uid 12345 may not read and write .*no-backup/,
    ],
    [
      "a database that is read-only",
      ["quarantine", "list"],
      ({ state }) => {
        const database = new Database(storeFile(state));
        database.exec("create table x (y)");
        database.close();
        chmodSync(storeFile(state), 0o444);
      },
      4,
      /SQLITE_READONLY/,
    ],
    [
      "a configuration that cannot be read",
      ["once"],
      ({ config }) => chmodSync(config, 0o600),
      3,
      /configuration .* cannot be read by this user \(EACCES\)/,
    ],
    ["a disk that is full", ["once"], fill, 4, /cannot be written|SQLITE_(FULL|IOERR)|256 MB/],
  ];

  test.for(CASES)("%s", { timeout: SLOW }, async ([, command, harm, code, said], { skip }) => {
    const site = installed();
    if (harm(site) === false) skip("this machine mounts nothing");
    const { err, ...ended } = await site.as(...command);
    expect({ ...ended, err }).toMatchObject({ code, out: "" });
    expect(err).toMatch(said);
    expect(err).toMatch(/\n {2}\S/);
    expect(err).not.toMatch(/^ +at /m);
  });

  /** Its state folder on a file system of its own, with less room than a new store takes. */
  function fill(site: Place): boolean {
    return mount(site, "size=64k");
  }

  const mount = ({ state }: Place, how: string): boolean =>
    isMounted(state, `${how},uid=${USER},gid=${USER},mode=700`);
});
