import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { usualBudget } from "../core/budget.ts";
import { defineConnector, type Mapping } from "../core/contract.ts";
import { loadConfig } from "./config.ts";
import { InvalidConfiguration, type Problem } from "./problems.ts";
import { secret } from "./schema.ts";

const KEY = "svc_live_Canary7d1f0a93";
const PASSWORD = "canary-hunter22";
const REDIS_PASSWORD = "correct battery";

const GOOD = `version: 1
company: bluebonnet
currency: USD
timeZone: America/Chicago
state: ../state
log: { level: debug }
platform:
  url: https://api.example.com/v1/public/
  environment: live
  apiKey: \${KEY}
  overlap: 2m
endpoints:
  erp:
    connector: drop
    folder: exchange
    login: { user: bridge, password: "\${PASSWORD}" }
    sources: { customers: {} }
flows:
  orders:
    mapping: drop/orders
    from: platform.orders
    to: erp.orders
    every: 10m
  customers:
    mapping: drop/customers
    from: erp.customers
    to: platform.customers
    cron: "0 6 * * 1-5"
    paused: true
console: { port: 8100 }
queue:
  type: bullmq
  url: redis://redis.example.com:6379
  password: \${REDIS_PASSWORD}
  site: north
sites:
  north: [{ terminal: [T-1] }]
  south: [{ number: ["S-*"], kind: [invoice] }]
`;

const drop = defineConnector({
  name: "drop",
  config: z.strictObject({
    folder: z.string().describe("The folder of the exchange."),
    login: z.strictObject({ user: z.string(), password: secret("Its password.") }).optional(),
    retries: z.int().min(0).max(5).default(3).describe("A number from 0 to 5."),
    sources: z.record(z.string(), z.strictObject({})).optional(),
    mode: z
      .union([z.enum(["copy", "move"]), z.strictObject({ script: z.string() })])
      .optional()
      .describe("copy, move, or a script."),
  }),
  offers: ({ sources = {} }) => ({
    sources: Object.fromEntries(Object.keys(sources).map((name) => [name, { form: "drop.party" }])),
    sinks: { orders: { form: "drop.order" } },
  }),
  open() {
    throw new Error("The configuration is read without opening anything.");
  },
});

const MAPPINGS = [
  { name: "drop/orders", kind: "order", reads: "platform.orders", writes: "drop.order" },
  { name: "drop/customers", kind: "customer", reads: "drop.party", writes: "platform.customers" },
] as const;

const withUrl = (url: string): string => GOOD.replace("https://api.example.com/v1/public/", url);

const PLATFORM = {
  sources: { orders: { form: "platform.orders" }, invoices: { form: "platform.invoices" } },
  sinks: { customers: { form: "platform.customers" } },
};

function setup() {
  const folder = mkdtempSync(join(tmpdir(), "fuelbridge-config-"));
  const file = join(folder, "fuelbridge.yaml");
  const load = (text: string, env: Record<string, string> = {}) => {
    writeFileSync(file, text);
    return loadConfig(file, {
      env: { KEY, PASSWORD, REDIS_PASSWORD, ...env },
      connectors: [drop],
      mappings: MAPPINGS as unknown as readonly Mapping[],
      platform: PLATFORM,
    });
  };
  const problemsOf = (text: string, env?: Record<string, string>): readonly Problem[] => {
    try {
      load(text, env);
    } catch (error) {
      if (error instanceof InvalidConfiguration) return error.problems;
      throw error;
    }
    return [];
  };
  return { folder, file, load, problemsOf };
}

test("a good configuration comes out complete", () => {
  const { folder, file, load } = setup();
  expect(load(GOOD)).toEqual({
    file,
    name: null,
    sharers: [{ company: "bluebonnet", weight: 1, isHub: false, state: join(folder, "../state") }],
    folder,
    mappings: MAPPINGS,
    match: {
      days: 62,
      tolerancePercent: 0.5,
      toleranceGallons: 25,
      basis: "usual",
      parties: {},
      patienceMs: 172_800_000,
      unbilledDays: 3,
      pricesBefore: false,
      alertAbove: null,
    },
    mappingsFolder: null,
    files: [file],
    company: "bluebonnet",
    currency: "USD",
    timeZone: "America/Chicago",
    state: join(folder, "../state"),
    log: { level: "debug" },
    platform: {
      url: "https://api.example.com/v1/public",
      knownAs: "https://api.example.com/v1/public",
      formerUrls: [],
      environment: "live",
      apiKey: KEY,
      auth: "bearer",
      overlapMs: 120_000,
      lateMs: 604_800_000,
      settleMs: null,
      budget: usualBudget,
      hub: null,
    },
    endpoints: [
      {
        name: "erp",
        connector: drop,
        settings: {
          folder: "exchange",
          login: { user: "bridge", password: PASSWORD },
          retries: 3,
          sources: { customers: {} },
        },
      },
    ],
    crossReferences: join(folder, "crossref"),
    flows: [
      {
        name: "orders",
        mapping: "drop/orders",
        from: { endpoint: "platform", name: "orders" },
        to: { endpoint: "erp", name: "orders" },
        schedule: { everyMs: 600_000 },
        paused: false,
        duplicates: "wait",
      },
      {
        name: "customers",
        mapping: "drop/customers",
        from: { endpoint: "erp", name: "customers" },
        to: { endpoint: "platform", name: "customers" },
        schedule: { cron: "0 6 * * 1-5" },
        paused: true,
        duplicates: "wait",
      },
    ],
    hub: null,
    monitoring: { port: null },
    officeHours: null,
    alerts: {
      webhook: null,
      email: null,
      collectMs: 120_000,
      unreachableMs: 1_800_000,
      quiet: null,
    },
    console: { port: 8100, web: null },
    ignore: {},
    firstStart: null,
    reconcile: { cron: "20 4 * * *", days: 35, waitMs: 72_000_000, paused: false },
    retention: { replacedMs: 730 * 86_400_000, differencesMs: 730 * 86_400_000 },
    queue: {
      type: "bullmq",
      url: "redis://redis.example.com:6379",
      username: null,
      password: REDIS_PASSWORD,
      site: "north",
      weight: 1,
    },
    sites: { north: [{ terminal: ["T-1"] }], south: [{ number: ["S-*"], kind: ["invoice"] }] },
    secrets: [KEY, PASSWORD, REDIS_PASSWORD],
  });
});

const BAD = readFileSync(new URL("bad-configs.txt", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => line.split(" | ").map((cell) => cell.replaceAll("⏎", "\n")));

test.each(BAD)("%j as %j", (from = "", to = "", setting, line, message = "", remedy = "") => {
  expect(GOOD).toContain(from);
  const problems = setup().problemsOf(
    GOOD.replace(from, () => to),
    { SHORT: "abc" },
  );
  expect(problems).toContainEqual({
    setting,
    line: Number(line),
    column: expect.any(Number),
    message: expect.stringContaining(message),
    remedy: expect.stringContaining(remedy),
  });
});

test("all problems are told at once, in the order of their lines", () => {
  const all = GOOD.replace("USD", "US$").replace("debug", "loud").replace("10m", "1s");
  const { file, load, problemsOf } = setup();
  const bad = all.replace("drop/customers", "drop/customer").replace("port: 8100", "port: x");
  expect(problemsOf(bad).map(({ line }) => line)).toEqual([3, 6, 23, 25, 30]);
  expect(() => load(bad)).toThrow(`${file}:3:11 currency: "US$" is not a currency.`);
});

test("a value that could not be substituted is complained of once", () => {
  const problems = setup().problemsOf(GOOD.replace("currency: USD", "currency: ${NOTHING}"));
  expect(problems.map(({ message }) => message)).toEqual([
    "the environment variable NOTHING is not set",
  ]);
});

test("no message shows a secret", () => {
  const { load } = setup();
  const bad = GOOD.replace("environment: live", "environment: test").replace("${KEY}", "${LONG}");
  const env = { LONG: `svc_live_${"canary".repeat(9)}` };
  const text = GOOD.replace('"${PASSWORD}"', PASSWORD);
  const inUrl = GOOD.replace("https://", "https://user:canary@");
  for (const attempt of [() => load(bad, env), () => load(text), () => load(inUrl)])
    expect(attempt).toThrow(
      expect.objectContaining({ message: expect.not.stringMatching(/canary/i) }),
    );
});

test("a secret's file must be its owner's alone", { skip: process.platform === "win32" }, () => {
  const { folder, problemsOf, load } = setup();
  mkdirSync(join(folder, "secrets"));
  const file = join(folder, "secrets", "api-key");
  writeFileSync(file, `${KEY}\n`);
  const text = GOOD.replace("${KEY}", "${file:secrets/api-key}");
  for (const mode of [0o644, 0o640, 0o604, 0o660, 0o610, 0o601]) {
    chmodSync(file, mode);
    expect(problemsOf(text)).toEqual([
      expect.objectContaining({
        setting: "platform.apiKey",
        message: `others can read the secret in ${file} (mode 0${mode.toString(8)})`,
        remedy: expect.stringContaining(`chmod 0600 ${file}`),
      }),
    ]);
  }
  for (const mode of [0o600, 0o400]) {
    chmodSync(file, mode);
    expect(load(text).platform.apiKey).toBe(KEY);
  }
  expect(load(text).files).toEqual([join(folder, "fuelbridge.yaml"), file]);
});

test("without a queue of its own, requests are sent from this process", () => {
  const { load } = setup();
  const own = GOOD.slice(0, GOOD.indexOf("queue:"));
  expect(load(own).queue).toEqual({ type: "embedded", weight: 1 });
  expect(load(`${own}queue: { type: bullmq, url: "rediss://h/2" }\n`).queue).toEqual({
    type: "bullmq",
    url: "rediss://h/2",
    username: null,
    password: null,
    site: "main",
    weight: 1,
  });
});

test("a hub has as much of the minute and the month as its sites together, unless it says otherwise", () => {
  const { load } = setup();
  const rules =
    "sites: { a: [{ number: [A] }], b: [{ number: [B] }], all: [{ kind: [customer] }] }\n";
  const own = GOOD.slice(0, GOOD.indexOf("queue:")) + rules;
  const hub = own
    .replace(/^endpoints:.*^flows:/ms, "endpoints: {}\nflows:")
    .replace(/^ {2}customers:.*^console:/ms, "console:")
    .replace("erp.orders", "hub.sites")
    .concat('hub: { port: 8791, tokens: { a: "${KEY}" } }\n');
  const weighed = (text: string, site: string) =>
    load(`${text}queue: { type: bullmq, url: "redis://h", site: ${site} }\n`).queue.weight;
  expect(weighed(own, "a")).toBe(1);
  expect([weighed(hub, "hub"), weighed(hub, "hub, weight: 7")]).toEqual([2, 7]);
});

test("http is for the loopback address only, however it is written", () => {
  const { load, problemsOf } = setup();
  for (const host of [
    "127.0.0.1:8085",
    "localhost:1",
    "[::1]:1",
    "127.8.9.1",
    "2130706433",
    "0x7f.1",
  ])
    expect(load(withUrl(`http://${host}/v1`)).platform.url).toBe(`http://${host}/v1`);
  for (const host of [
    "10.0.0.1",
    "169.254.169.254",
    "localhost.example.com",
    "127.0.0.1.nip.io",
    "localhost.",
    "[::ffff:10.0.0.1]",
    "0.0.0.0",
    "①27.1.1.example",
  ])
    expect(problemsOf(withUrl(`http://${host}/v1`))).toHaveLength(1);
});

test("certificates are always checked", () => {
  expect(setup().problemsOf(GOOD, { NODE_TLS_REJECT_UNAUTHORIZED: "0" })).toMatchObject([
    {
      setting: "platform.url",
      message: expect.stringContaining("switches the check of certificates off"),
    },
  ]);
});

test("an empty file and a missing one say where to start", () => {
  const { problemsOf, folder } = setup();
  expect(problemsOf("")).toMatchObject([{ message: "there is nothing in it" }]);
  const known = { env: {}, connectors: [], mappings: [], platform: { sources: {}, sinks: {} } };
  expect(() => loadConfig(join(folder, "other.yaml"), known)).toThrow("cannot be read (ENOENT)");
});
