/** The program as it is started: what it prints, where, and with which exit code. What a test asks besides is asked here. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { FlowStatus, TraceStep } from "../office/answers.ts";
import type { Office } from "../office/questions.ts";
import { commandHere } from "../../test/support/site-command.ts";
import { fuelbridge as program, type Said } from "../../test/support/site-program.ts";
import { serveAdmin } from "../office/server.ts";
import { exitCodes, OfficeError } from "../core/errors.ts";
import type { Reason } from "../engine/schedule.ts";
import { statusText as statusInWords } from "../views/status.ts";
import { STATUS } from "../views/status.fixture.ts";
import { traceView } from "../views/documents.ts";
import { asText } from "../views/text.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const KEY = "svc_live_canary0000";

const start = (args: readonly string[], env: Record<string, string> = {}) =>
  program(args, { CANARY_KEY: KEY, ...env });

const fuelbridge = (...words: Parameters<typeof start>): Promise<Said> => start(...words).ended;

const here = (args: readonly string[], env: Record<string, string> = {}): Promise<Said> =>
  commandHere(args, { CANARY_KEY: KEY, ...env });

/** A copy of the shipped configuration, so that its state is in a folder of the test's own. */
function site(change: (text: string) => string = (text) => text) {
  const folder = mkdtempSync(join(tmpdir(), "fuelbridge-cli-"));
  cpSync(join(ROOT, "config"), join(folder, "config"), { recursive: true });
  const config = join(folder, "config", "demo.yaml");
  const text = readFileSync(config, "utf8").replace(/^( +apiKey:).*$/m, "$1 ${CANARY_KEY}");
  const firstStart = new Date().toISOString().slice(0, 10);
  writeFileSync(config, `${change(text)}\nfirstStart: ${firstStart}\n`);
  return { folder, config, state: join(folder, "var", "demo", "state") };
}

/** The same, with the folder that the ERP exports to. */
function wholeSite(change?: (text: string) => string) {
  const whole = site(change);
  mkdirSync(join(whole.folder, "var", "demo", "erp", "export"), { recursive: true });
  return whole;
}

/** The platform is not there in these tests. */
const pauseAll = (text: string): string => text.replace(/every: \d+m/g, "$&\n    paused: true");

/** Starts the daemon and does `work` while it runs. */
async function running(
  config: string,
  work: (stop: (signal: NodeJS.Signals) => void) => Promise<void>,
): Promise<{ ended: number | null; out: { msg?: string }[] }> {
  const daemon = start(["run", "--config", config]);
  await daemon.said('"fuelbridge runs"');
  await work((signal) => daemon.kill(signal));
  const { code, out } = await daemon.ended;
  const lines = out.trim().split("\n");
  return { ended: code, out: lines.map((line) => JSON.parse(line) as { msg?: string }) };
}

const envelope = (text: string): unknown => {
  expect(text.trim().split("\n")).toHaveLength(1);
  return JSON.parse(text);
};

test("check says that a configuration is right, in words and in JSON", async () => {
  const { config } = wholeSite();
  const words = await fuelbridge(["check", "--config", config]);
  expect(words).toMatchObject({ code: exitCodes.ok, err: "" });
  expect(words.out).toContain(`${config} is right.`);
  expect(words.out).toMatch(
    /^orders +platform\.orders +erp\.orders +every 10m +canonical\/orders$/m,
  );
  const json = await here(["check", "--json"], { FUELBRIDGE_CONFIG: config });
  expect(json.code).toBe(exitCodes.ok);
  expect(envelope(json.out)).toMatchObject({
    ok: true,
    command: "check",
    data: { company: "bluebonnet", environment: "live" },
  });
  expect(words.out + json.out).not.toContain(KEY);
});

test("check tells every problem with its place and exits 2", async () => {
  const { config } = wholeSite((text) =>
    text.replace("USD", "US$").replace("every: 10m", "every: 1s"),
  );
  const words = await here(["check", "--config", config]);
  expect(words).toMatchObject({ code: exitCodes.configuration, out: "" });
  expect(words.err).toContain(`${config}:12:11 currency: "US$" is not a currency.`);
  expect(words.err).toContain("fuelbridge check");
  const json = await here(["check", "--json", "--config", config]);
  expect(json).toMatchObject({ code: exitCodes.configuration, err: "" });
  expect(envelope(json.out)).toMatchObject({
    ok: false,
    command: "check",
    error: {
      code: "configuration",
      problems: [{ setting: "currency", line: 12 }, { setting: "flows.orders.every" }],
    },
  });
});

test("check reads the cross-reference tables too", async () => {
  const { config, folder } = wholeSite();
  const items = join(folder, "config", "crossref", "items.csv");
  writeFileSync(items, "product,item\nULSD\n");
  const { code, err } = await here(["check", "--config", config]);
  expect(code).toBe(exitCodes.configuration);
  expect(err).toContain(`${items}:2:1 1 cell, but 2 in the header.`);
});

test("profile try exits 1 where the file stops in the middle of a row", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "fuelbridge-cli-")), "notes.csv");
  const tried = async (text: string): Promise<number | null> => {
    writeFileSync(file, text);
    return (await here(["profile", "try", file, "--profile", "plain/order-notes"])).code;
  };
  const whole = "ID,Order ID,Note\r\n1,7,late\r\n";
  expect([await tried(whole), await tried(`${whole}2,7,lat`)]).toEqual([0, 1]);
});

test("schema prints the schema that is shipped", async () => {
  const { code, out } = await here(["schema"]);
  expect(code).toBe(exitCodes.ok);
  const shipped = readFileSync(join(ROOT, "config", "fuelbridge.schema.json"), "utf8");
  expect(JSON.parse(out)).toEqual(JSON.parse(shipped));
});

test("schema --config has the site's own mappings, also while the rest of the configuration is wrong", async () => {
  const { folder, config } = site((text) => text.replace("USD", "US$") + "\nmappings: own\n");
  const own = join(folder, "config", "own");
  mkdirSync(own);
  writeFileSync(
    join(own, "orders.js"),
    `import { defineMapping, shippedMapping, skip } from "fuelbridge/mapping";
    const { input, output } = shippedMapping("canonical/orders");
    export default defineMapping({
      name: "site/orders", kind: "order", reads: "platform.orders", writes: "files.orders", input, output,
      number: ({ id }) => id, map: () => skip("none"), figures: () => ({ amount: null, gallons: null }),
    });`,
  );
  const { code, out } = await here(["schema", "--config", config]);
  expect(code).toBe(exitCodes.ok);
  expect(out).toContain('"site/orders"');
});

const USAGE: [args: string[], command: string, message: string][] = [
  [["nope"], "", "unknown command 'nope'"],
  [["chek"], "", "Did you mean check?"],
  [["check", "--confg", "x"], "check", "unknown option '--confg'"],
  [["check", "extra"], "check", "too many arguments"],
  [["trace"], "trace", "missing required argument 'number'"],
  [["quarantine", "shwo"], "quarantine", "unknown command 'shwo'"],
  [["quarantine", "close", "all"], "quarantine close", "'--note <text>' not specified"],
  [["sandbox", "--port", "x"], "sandbox", "A port is a number from 0 to 65535."],
];

test.each(USAGE)("%j is a usage error: exit 2", async (args, command, message) => {
  const words = await here(args);
  expect(words).toMatchObject({ code: exitCodes.configuration, out: "" });
  expect(words.err).toContain(message);
  const json = await here([...args, "--json"]);
  expect(json).toMatchObject({ code: exitCodes.configuration, err: "" });
  expect(envelope(json.out)).toMatchObject({ ok: false, command, error: { code: "usage" } });
});

test("help and version are answers; help in place of a command is not", async () => {
  expect(await fuelbridge(["--version"])).toMatchObject({ code: 0, out: "0.1.0\n" });
  expect((await here(["trace", "--help"])).out).toContain("fuelbridge trace");
  expect(await here([])).toMatchObject({ code: exitCodes.configuration, out: "" });
});

test("a configuration that is not there is a configuration error", async () => {
  const { code, err } = await here(["status", "--config", "/nowhere/at/all.yaml"]);
  expect(code).toBe(exitCodes.configuration);
  expect(err).toMatch(/^fuelbridge: The configuration .* cannot be read \(ENOENT\)\.\n {2}Name/);
});

test("a daemon of another company answers no question", async () => {
  const { config, state } = wholeSite();
  const owner = { company: "other", environment: "live" };
  const office = { quarantine: async () => [] } as unknown as Office;
  const admin = await serveAdmin({ office, state, port: 0, secrets: [], owner });
  onTestFinished(() => admin.close());
  expect(await here(["quarantine", "list", "--config", config])).toMatchObject({
    code: exitCodes.configuration,
    err: expect.stringContaining('belongs to the company "other"') as string,
  });
});

test("questions go to the daemon that runs, and its refusals come back", async () => {
  const { config, state } = site();
  const office = { status: async () => STATUS, trace: refuse, quarantine: async () => [] };
  const admin = await serveAdmin({
    office: office as unknown as Office,
    state,
    port: 0,
    secrets: [],
  });
  onTestFinished(() => admin.close());
  const status = await here(["status", "--config", config]);
  expect(status).toMatchObject({ code: 0, err: "" });
  expect(status.out).toContain("bluebonnet (live): needs attention");
  expect(status.out).toContain("fuelbridge quarantine show GROUP");
  expect(envelope((await here(["status", "--json", "--config", config])).out)).toEqual({
    ok: true,
    command: "status",
    data: STATUS,
  });
  const trace = await here(["trace", "INV-9", "--config", config]);
  expect(trace).toEqual({
    code: exitCodes.runtime,
    signal: null,
    out: "",
    err: "fuelbridge: Nothing is known about INV-9.\n  Check the number.\n",
  });
  const list = await here(["quarantine", "list", "--config", config]);
  expect(list.out).toBe("Nothing is in quarantine.\n");
});

test("a configuration that was broken after the daemon began is reported beside its answer, and a right one is not", async () => {
  const { config, state } = site();
  const office = { quarantine: async () => [] } as unknown as Office;
  const admin = await serveAdmin({ office, state, port: 0, secrets: [] });
  onTestFinished(() => admin.close());
  const text = readFileSync(config, "utf8");
  const written = async (content: string): Promise<Said> => {
    utimesSync(join(state, "admin.json"), 0, 0);
    writeFileSync(config, content);
    return here(["quarantine", "list", "--json", "--config", config]);
  };
  expect(await written(text)).toMatchObject({ code: exitCodes.ok, err: "" });
  const { code, out, err } = await written(text.replace("USD", "US$"));
  expect(code).toBe(exitCodes.ok);
  expect(envelope(out)).toMatchObject({ ok: true, data: { groups: [] } });
  expect(err).toContain(`${config}:12:11 currency: "US$" is not a currency.`);
  expect(err).toContain("Correct it before the daemon is started again: fuelbridge check.");
});

test("check refuses a configuration of another company than that of the process that has the store", async () => {
  const { config, state } = wholeSite();
  const said = async (company: string): Promise<Said> => {
    const office = {} as unknown as Office;
    const owner = { company, environment: "live" };
    const admin = await serveAdmin({ office, state, port: 0, secrets: [], owner });
    const answer = await here(["check", "--config", config]);
    await admin.close();
    return answer;
  };
  const own = /^company: (\S+)$/m.exec(readFileSync(config, "utf8"))?.[1] ?? "";
  expect(await said(own)).toMatchObject({ code: exitCodes.ok, err: "" });
  expect(await said("other")).toMatchObject({
    code: exitCodes.configuration,
    err: expect.stringContaining(
      `belongs to the company "other", but company is "${own}"`,
    ) as string,
  });
});

test("status names a file that is not read, since when, what to do, and what waits behind it", () => {
  const text = statusInWords(STATUS);
  expect(text).toContain(
    "orders: orders-1121.csv is not read since 2026-11-21 06:00:00 UTC: orders-1121.csv has 600000000 bytes; maxBytes is 500000000.",
  );
  expect(text).toContain(
    "  Move it away if it is no export; else raise maxBytes of this endpoint.",
  );
  expect(text).toContain("  21 newer files wait until then: orders-1122.csv and 20 more");
});

test("status says that the clock was set, which way and by how much", () => {
  expect(statusInWords(STATUS)).toContain("clock of this machine was set back by 26h (seen at ");
});

test("a hundred flows that fail alike say so once, and every one of them stands in the table", () => {
  const [one] = STATUS.flows as [FlowStatus];
  const lastError = {
    code: "unavailable",
    message: "The platform could not be read.",
    next: "Check the network.",
  };
  const flows = Array.from({ length: 100 }, (_, at): FlowStatus => ({
    ...one,
    name: `flow-${at}`,
    state: "stopped",
    lastError,
  }));
  const lines = statusInWords({ ...STATUS, flows }).split("\n");
  expect(lines.filter((line) => /^flow-\d+ +stopped /.test(line))).toHaveLength(100);
  expect(lines.filter((line) => line.includes("could not be read"))).toEqual([
    "Flow flow-0 is stopped, Flow flow-1 is stopped, Flow flow-2 is stopped, Flow flow-3 is stopped and 96 others: The platform could not be read.",
  ]);
  expect(lines.filter((line) => line.includes("Check the network"))).toHaveLength(1);
});

test("a time to look next is shown only where something will look", () => {
  const [one] = STATUS.flows as [FlowStatus];
  const paused: FlowStatus = { ...one, name: "paused", state: "paused" };
  const busy: FlowStatus = { ...one, name: "busy", state: "running" };
  const status = { ...STATUS, flows: [one, paused, busy] };
  const running = statusInWords(status);
  expect(running).toMatch(/^orders +idle +2026-11-21 07:10:00 UTC /m);
  expect(running).toMatch(/^paused +paused +- /m);
  expect(running).toMatch(/^busy +running +- /m);
  expect(statusInWords({ ...status, daemon: null })).toMatch(/^orders +idle +- /m);
});

test("without a daemon nothing is called well: nothing runs", async () => {
  const { config } = site();
  const { out } = await here(["status", "--config", config]);
  expect(out).toContain("bluebonnet (live): nothing is wrong, but nothing runs\n");
  expect(out).toContain("Start it with fuelbridge run.");
  expect(out).not.toContain("all is well");
});

test("a story says both ids once, the document's own part of an answer, and who else must act", async () => {
  const step = (event: string, detail: string, own: TraceStep["own"] = null): TraceStep => ({
    at: "2026-11-21T07:00:00.000Z",
    flow: "invoices",
    event,
    detail,
    own,
    platformId: "8cab7c40",
    erpId: "2026/0007",
  });
  const whole = "2026/0007 posted, 2026/0008 posted";
  const steps = [
    step("done", whole, { detail: "2026/0007 posted", others: 1 }),
    step("quarantined", "the amount changed"),
  ];
  const story = { number: "INV-7", steps, groups: ["q12ab34"] };
  const plain = asText(traceView(story));
  expect(plain).toMatch(/ done +-$/m);
  expect(plain).toContain(" the amount changed");
  expect(plain).toContain("fuelbridge trace INV-7 --technical");
  const out = asText(traceView(story, true));
  expect(out).not.toContain("--technical");
  expect(out).toMatch(/^platform 8cab7c40, ERP 2026\/0007$/m);
  expect(out.split("8cab7c40")).toHaveLength(2);
  expect(out).toMatch(/ done +2026\/0007 posted \(with 1 other\)$/m);
  expect(out).not.toContain("0008");
  expect(out).toContain("fuelbridge trace INV-7 --json has what was said of them");
  expect(out).toContain("It is in quarantine: fuelbridge quarantine show q12ab34");
  const { config, state } = site();
  const office = { trace: async () => story } as unknown as Office;
  const admin = await serveAdmin({ office, state, port: 0, secrets: [] });
  onTestFinished(() => admin.close());
  const { out: json } = await here(["trace", "INV-7", "--json", "--config", config]);
  expect(json).toContain(whole);
});

test("a story of two documents says whose each line is", () => {
  const step = { at: "2026-11-21T07:00:00.000Z", event: "received", detail: "a file", own: null };
  const steps: TraceStep[] = [
    { ...step, flow: "customers", platformId: "8cab7c40", erpId: "000113" },
    { ...step, flow: "suppliers", platformId: null, erpId: null },
  ];
  const out = asText(traceView({ number: "000113", steps, groups: [] }, true));
  expect(out).toMatch(/ customers +received +a file +8cab7c40 +000113$/m);
  expect(out).toMatch(/ suppliers +received +a file +- +-$/m);
});

test("questions go to the store when no daemon runs", async () => {
  const { config } = site();
  const { code, out } = await here(["status", "--json", "--config", config]);
  expect(code).toBe(exitCodes.ok);
  expect(envelope(out)).toMatchObject({ ok: true, data: { daemon: null, healthy: true } });
});

const SIGNALS: [signal: NodeJS.Signals, code: number][] = [
  ["SIGTERM", exitCodes.terminated],
  ["SIGINT", exitCodes.interrupted],
];

test.skipIf(process.platform === "win32").each(SIGNALS)(
  "run ends by %s with %i: stopping finishes the work in hand",
  async (signal, code) => {
    const { config, state } = wholeSite(pauseAll);
    const { ended, out } = await running(config, async (stop) => {
      stop(signal);
    });
    expect(ended).toBe(code);
    expect(out.at(-1)).toMatchObject({ msg: "fuelbridge has stopped" });
    expect(existsSync(join(state, "admin.json"))).toBe(false);
  },
);

test("once exits 0 when nothing is left to do, 1 when something is, and never says in step of what is paused", async () => {
  const paused = site(pauseAll);
  const inStep = await here(["once", "--json", "--config", paused.config]);
  expect(inStep.code).toBe(exitCodes.ok);
  const { data } = envelope(inStep.out) as { data: { outOfStep: Reason[] } };
  expect(data).toMatchObject({ inStep: false, waits: {} });
  expect(new Set(data.outOfStep.map(({ code }) => code))).toEqual(new Set(["paused"]));
  expect(data.outOfStep.map(({ flow }) => flow)).toContain("orders");
  // The folder of the exports is missing.
  const broken = site((text) =>
    pauseAll(text).replace(/(to: platform\.customers\n.*\n) +paused: true\n/, "$1"),
  );
  const { code, out, err } = await here(["once", "--config", broken.config]);
  expect(code).toBe(exitCodes.runtime);
  expect(out).toMatch(/^Not in step:\n/);
  expect(out).toMatch(/^ {2}customers: .*export.*ENOENT/m);
  expect(err).toContain("export");
});

test("a second daemon on the same store is refused with words, and the first goes on", async () => {
  const { config } = site(pauseAll);
  const { ended } = await running(config, async (stop) => {
    const { code, out } = await here(["run", "--json", "--config", config]);
    expect(code).toBe(exitCodes.environment);
    expect(envelope(out)).toMatchObject({ ok: false, command: "run" });
    const once = await here(["once", "--config", config]);
    expect(once.code).toBe(exitCodes.environment);
    const refused = /is in use by process (\d+)\.\n {2}Only one process may/.exec(once.err);
    expect(out).toContain(`is in use by process ${refused?.[1]}.`);
    const status = await here(["status", "--json", "--config", config]);
    expect(envelope(status.out)).toMatchObject({ data: { daemon: { pid: Number(refused?.[1]) } } });
    stop("SIGTERM");
  });
  expect(ended).toBe(exitCodes.terminated);
});

test("sandbox says where it is in one line, and ends with 0", async () => {
  const sandbox = start(["sandbox"]);
  await sandbox.said("\n");
  sandbox.kill("SIGTERM");
  const { code, out } = await sandbox.ended;
  expect(code).toBe(0);
  expect(envelope(out)).toMatchObject({ event: "ready", baseUrl: expect.any(String) });
});

const refuse = (number: string): Promise<never> =>
  Promise.reject(new OfficeError(`Nothing is known about ${number}.`, "Check the number."));
