import { expect, test } from "vitest";
import { openLog } from "./log.ts";

const PASSWORD = 'canary "quoted" p\\ss+w/rd';
const PLAIN = "Canary-7d1f0a93";
const KEY = "svc_live_Canary0a93XyZ";
const PEM =
  "-----BEGIN PRIVATE KEY-----\nCanaryMIIEvQIBADANBg\nkqhkiG9w0\n-----END PRIVATE KEY-----";
const CANARIES = /canary|MIIEvQ|kqhkiG/i;

function setup(options: { pretty?: boolean; level?: "debug" | "info" } = {}) {
  const lines: string[] = [];
  const log = openLog({
    level: options.level ?? "debug",
    secrets: [PASSWORD, PLAIN],
    write: (line) => lines.push(line),
    pretty: options.pretty ?? false,
  });
  return { log, lines, all: () => lines.join("") };
}

function thrown(message: string, cause?: unknown): Error {
  return new Error(message, { cause });
}

/** Every way that a secret was seen to take into a log. */
const CARRIERS: [name: string, fields: Record<string, unknown>, message: string][] = [
  ["the message", {}, `tried ${PLAIN} and ${KEY}`],
  ["a field", { user: "x", pass: PASSWORD }, "m"],
  ["a field deep inside", { a: { b: [{ c: { d: PASSWORD, e: KEY } }] } }, "m"],
  ["a header, whatever its case", { headers: { "X-API-Key": KEY, "x-api-key": PLAIN } }, "m"],
  ["a list of headers", { headers: ["X-API-Key", KEY, "Authorization", `Bearer ${PLAIN}`] }, "m"],
  ["the name of a field", { [KEY]: 1, nested: { [PLAIN]: true } }, "m"],
  ["a URL", { url: `https://host/?k=${encodeURIComponent(PASSWORD)}&t=${PLAIN}` }, "m"],
  ["an error's message and stack", { err: thrown(`login ${PASSWORD} as ${KEY} failed`) }, "m"],
  ["an error's cause", { error: thrown("outer", thrown(`inner ${PASSWORD}`)) }, "m"],
  ["JSON in text", { text2: JSON.stringify({ password: PASSWORD, key: KEY }) }, "m"],
  [
    "basic and bearer authentication",
    {
      a: `Basic ${Buffer.from(`bridge:${PLAIN}`).toString("base64")}`,
      b: "Bearer eyJhbGciOiJSUzI1NiJ9.Canary.sig",
    },
    "m",
  ],
  [
    "a private key, whole or cut off",
    { pem: PEM, cut: PEM.slice(0, -30), json: JSON.stringify({ PEM }) },
    "m",
  ],
  ["a child's bindings", { child: true }, "m"],
];

for (const pretty of [false, true])
  test.each(CARRIERS)(
    `no secret in %s reaches the log (pretty: ${pretty})`,
    (_, fields, message) => {
      const { log, all, lines } = setup({ pretty });
      if ("child" in fields) log.child({ token: PASSWORD, key: KEY }).error(message);
      else log.error(fields, message);
      expect(lines).toHaveLength(1);
      expect(all()).not.toMatch(CANARIES);
      expect(all()).toContain("[secret]");
      if (!pretty) expect(() => JSON.parse(all())).not.toThrow();
    },
  );

test("what is no secret stays as it is", () => {
  const { log, lines } = setup();
  log.info({ flow: "orders", count: 3, url: "https://host/orders?page=2" }, "page stored");
  expect(JSON.parse(lines[0] ?? "")).toEqual({
    level: 30,
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    flow: "orders",
    count: 3,
    url: "https://host/orders?page=2",
    msg: "page stored",
  });
});

test("payloads are logged at debug only", () => {
  const { log, lines } = setup();
  const fields = { body: "all of it", nested: { payload: { amount: 1 }, kept: 1 } };
  log.debug(fields, "sent");
  log.info(fields, "sent");
  log.error(fields, "sent");
  const [debug, ...above] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(debug).toMatchObject(fields);
  for (const line of above) {
    expect(line).not.toHaveProperty("body");
    expect(line["nested"]).toEqual({ kept: 1 });
  }
});

test("a terminal gets lines that people can read", () => {
  const { log, all } = setup({ pretty: true });
  log.info({ flow: "orders" }, "page stored");
  expect(all()).toMatch(/INFO.*page stored.*orders/s);
});
