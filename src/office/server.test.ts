import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { StorageError, OfficeError } from "../core/errors.ts";
import type { MonthStatus, Status } from "./answers.ts";
import { type Office, type QuestionName, questions } from "./questions.ts";
import { type Admin, serveAdmin } from "./server.ts";
import { addressFile, remoteOffice } from "./remote.ts";

const MONTH: MonthStatus = {
  month: "2026-11",
  used: 12,
  perMonth: 50_000,
  purposes: [{ purpose: "poll", used: 12, reserve: 0, left: 34_988 }],
  forecast: { expected: 18, stretch: 1, runsOut: null },
  days: [{ day: "2026-11-21", spent: { poll: 12 } }],
  lists: [],
  polls: [],
  bought: [],
  slowed: null,
  minute: { used: 2, limit: 600, opensInMs: 0 },
};

const STATUS: Status = {
  version: "0.1.0",
  company: "bluebonnet",
  environment: "live",
  daemon: { pid: 1, startedAt: "2026-11-21T07:00:00.000Z" },
  outOfStep: [],
  healthy: true,
  flows: [],
  stops: [],
  warnings: [],
  drift: [],
  callers: [],
  quarantine: [],
  reconciliation: {
    lastAt: null,
    trouble: null,
    waits: null,
    notCompared: [],
    notWalked: [],
    nextDueAt: null,
    everyNights: 1,
    wantsShare: null,
    differences: { confirmed: 0, seen: 0, clears: 0, accepted: 0, first: [] },
  },
  matching: { lastAt: null, trouble: null, open: 0, large: [] },
  clockJump: null,
  store: { bytes: 8_192, freeBytes: 0 },
  requests: MONTH,
};

const ANSWERS: Partial<Record<QuestionName, unknown>> = {
  status: STATUS,
  trace: { number: "INV-1", steps: [], groups: [] },
  quarantine: [],
  retry: { retried: 3, left: 0 },
  resolve: { resolved: 1 },
  runNow: { flows: ["orders"], stopped: [] },
  release: { released: "doubled" },
};

/** Every question of the table is answered, and what it was asked with is noted. */
function fakeOffice(over: Partial<Office> = {}): { office: Office; asked: unknown[] } {
  const asked: unknown[] = [];
  const answers = Object.keys(questions).map((name) => [
    name,
    async (...args: unknown[]) => {
      asked.push(args);
      return ANSWERS[name as QuestionName] ?? null;
    },
  ]);
  const quarantineShow = async (group: string) => {
    throw new OfficeError(`There is no group "${group}".`, "Look at the list.");
  };
  return { office: { ...Object.fromEntries(answers), quarantineShow, ...over } as Office, asked };
}

async function setup(over: Partial<Office> = {}) {
  const state = join(mkdtempSync(join(tmpdir(), "fuelbridge-admin-")), "state");
  const { office, asked } = fakeOffice(over);
  const admin = await serveAdmin({ office, state, port: 0, secrets: ["canary-secret"] });
  onTestFinished(() => admin.close());
  return { admin, state, asked };
}

/** node:http, because fetch does not let a test lie about the host. */
function send(
  { port, token }: Admin,
  options: { method?: string; path?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<{ status: number; body: string }> {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    ...options.headers,
  };
  return new Promise((resolve, reject) => {
    const { method = "POST", path = "/office/status" } = options;
    const sent = request({ host: "127.0.0.1", port, method, path, headers, agent: false });
    sent.on("error", reject).on("response", (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (part: string) => (body += part));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.end(options.body ?? '{"args":[]}');
  });
}

test("the address is for its owner only, in a folder for its owner only, and goes with the daemon", async () => {
  const { admin, state } = await setup();
  expect(JSON.parse(readFileSync(addressFile(state), "utf8"))).toEqual({
    port: admin.port,
    token: admin.token,
    pid: process.pid,
  });
  expect(Buffer.from(admin.token, "base64url")).toHaveLength(32);
  if (process.platform !== "win32") {
    expect(statSync(addressFile(state)).mode & 0o777).toBe(0o600);
    expect(statSync(state).mode & 0o777).toBe(0o700);
  }
  await admin.close();
  expect(existsSync(addressFile(state))).toBe(false);
});

test("a daemon that ends leaves the address of the next one alone", async () => {
  const { admin, state } = await setup();
  const next = await serveAdmin({ office: fakeOffice().office, state, port: 0, secrets: [] });
  onTestFinished(() => next.close());
  await admin.close();
  expect(readFileSync(addressFile(state), "utf8")).toContain(next.token);
});

const STRANGERS: [name: string, status: number, options: Parameters<typeof send>[1]][] = [
  ["no token", 401, { headers: { authorization: "" } }],
  ["a wrong token", 401, { headers: { authorization: `Bearer ${"A".repeat(43)}` } }],
  ["another scheme", 401, { headers: { authorization: "Basic eA==" } }],
  ["another host", 421, { headers: { host: "fuelbridge.example.com" } }],
  ["another port", 421, { headers: { host: "127.0.0.1:1" } }],
  ["no port", 421, { headers: { host: "127.0.0.1" } }],
  ["a host that ends like ours", 421, { headers: { host: "evil.localhost:80" } }],
  ["another host on /healthz", 421, { path: "/healthz", headers: { host: "a.example" } }],
  ["a page's origin", 403, { headers: { origin: "http://127.0.0.1" } }],
  ["a browser's fetch", 403, { headers: { "sec-fetch-site": "same-origin" } }],
  ["GET", 405, { method: "GET", body: "" }],
  ["POST to /healthz", 405, { path: "/healthz" }],
  ["a form", 415, { headers: { "content-type": "application/x-www-form-urlencoded" } }],
  ["plain text", 415, { headers: { "content-type": "text/plain" } }],
  ["no JSON", 400, { body: "{" }],
  ["no arguments", 400, { body: "{}" }],
  ["too many arguments", 400, { body: '{"args":[1]}' }],
  ["too few arguments", 400, { path: "/office/trace" }],
  ["an argument of another kind", 400, { path: "/office/trace", body: '{"args":[{}]}' }],
  ["no note", 400, { path: "/office/resolve", body: '{"args":["all",{"by":"x","note":""}]}' }],
  ["an unknown question", 404, { path: "/office/constructor" }],
  ["a path beside", 404, { path: "/office/status/../trace" }],
  ["an absolute address", 404, { path: "http://127.0.0.1/office/status" }],
  ["the root", 404, { path: "/" }],
  ["a body that is too long", 413, { body: `{"args":["${"x".repeat(1_048_600)}"]}` }],
];

test.each(STRANGERS)("%s is refused with %i, and nobody is asked", async (_, status, options) => {
  const { admin, asked } = await setup();
  const answer = await send(admin, options);
  expect(answer.status).toBe(status);
  expect(JSON.parse(answer.body)).toMatchObject({ error: { kind: "failure", code: "admin" } });
  expect(asked).toEqual([]);
});

test("every question of the office can be asked, and its answer is the office's", async () => {
  const { state, asked } = await setup();
  const remote = await remoteOffice(state);
  expect(await remote?.status()).toEqual(STATUS);
  expect(await remote?.trace("INV-1")).toEqual({ number: "INV-1", steps: [], groups: [] });
  expect(await remote?.quarantine()).toEqual([]);
  expect(await remote?.retry("all")).toEqual({ retried: 3, left: 0 });
  expect(await remote?.resolve("7", { by: "ann", note: "paid" })).toEqual({ resolved: 1 });
  expect(await remote?.runNow("orders")).toEqual({ flows: ["orders"], stopped: [] });
  expect(await remote?.release("doubled", "kim")).toEqual({ released: "doubled" });
  const ann = { by: "ann", note: "the row is there" };
  expect(await remote?.retry("all", false, ann)).toEqual({ retried: 3, left: 0 });
  expect(await remote?.runNow("orders", ann)).toEqual({ flows: ["orders"], stopped: [] });
  expect(asked).toEqual([
    [],
    ["INV-1"],
    [],
    ["all"],
    ["7", { by: "ann", note: "paid" }],
    ["orders"],
    ["doubled", "kim"],
    ["all", false, ann],
    ["orders", ann],
  ]);
});

test("what the office refuses arrives as the office said it", async () => {
  const { state } = await setup();
  const remote = await remoteOffice(state);
  const refused = remote?.quarantineShow("x7");
  await expect(refused).rejects.toBeInstanceOf(OfficeError);
  await expect(refused).rejects.toMatchObject({
    message: 'There is no group "x7".',
    next: "Look at the list.",
  });
});

test("a failure keeps its words and its next action, and no secret", async () => {
  const { state } = await setup({
    retry: () =>
      Promise.reject(new StorageError("The disk is full (canary-secret).", "Free some space.")),
  });
  const remote = await remoteOffice(state);
  await expect(remote?.retry("all")).rejects.toMatchObject({
    message: "The daemon says: The disk is full ([secret]).",
    next: "Free some space.",
  });
});

test("/healthz says without a token whether all is well, and no more", async () => {
  const well = await setup();
  const ill = await setup({ status: async () => ({ ...STATUS, healthy: false }) });
  const options = { method: "GET", path: "/healthz", headers: { authorization: "" }, body: "" };
  expect(await send(well.admin, options)).toEqual({ status: 200, body: '{"healthy":true}' });
  expect(await send(ill.admin, options)).toEqual({ status: 503, body: '{"healthy":false}' });
});

test("without a daemon there is no remote office", async () => {
  const { admin, state } = await setup();
  expect(await remoteOffice(join(state, "nowhere"))).toBeNull();
  const address = readFileSync(addressFile(state), "utf8");
  await admin.close();
  writeFileSync(addressFile(state), address);
  expect(await remoteOffice(state)).toBeNull();
  writeFileSync(addressFile(state), "half an addr");
  expect(await remoteOffice(state)).toBeNull();
});

test("another daemon at the port of an old address is not taken for ours", async () => {
  const { admin, state } = await setup();
  const old = { port: admin.port, pid: admin.pid, token: "A".repeat(43) };
  writeFileSync(addressFile(state), JSON.stringify(old));
  expect(await remoteOffice(state)).toBeNull();
});

test("a port that is taken is said so", async () => {
  const { admin, state } = await setup();
  const { office } = fakeOffice();
  const taken = serveAdmin({ office, state, port: admin.port, secrets: [] });
  await expect(taken).rejects.toThrow(`Port ${admin.port} cannot be used`);
});

test("an answer that is under way when the daemon ends still arrives", async () => {
  const { promise: asked, resolve: nowAsked } = Promise.withResolvers<void>();
  const { promise: answer, resolve: nowAnswer } = Promise.withResolvers<Status>();
  const { admin } = await setup({
    status: () => {
      nowAsked();
      return answer;
    },
  });
  const sent = send(admin);
  await asked;
  const closed = admin.close();
  nowAnswer(STATUS);
  expect((await sent).status).toBe(200);
  await closed;
});

test("it listens on the loopback address only, and ends though a client stays connected", async () => {
  const { admin } = await setup();
  const socket = connect(admin.port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  await new Promise<void>((resolve) => socket.once("connect", resolve));
  expect(socket.remoteAddress).toBe("127.0.0.1");
  await admin.close();
});
