/** Nobody gets through who should not: other names, other sites, other people, and texts that are no texts. */
import { readdirSync, readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { exchange, PASSWORD, testConsole } from "../../test/support/console.ts";
import {
  auditedOffice,
  hostileOffice,
  recordingOffice,
} from "../../test/support/console-offices.ts";
import { Attempts } from "./sessions.ts";
import { askerOf } from "./guard.ts";
import { atLeast, roles } from "./users.ts";
import { routes } from "./routes.ts";

/** `PORT` is ours. */
const HOSTS = `
evil.example|evil.example:PORT|127.0.0.1.evil.example:PORT|localhost.evil.example:PORT|evil.localhost:PORT
127.0.0.1|127.0.0.1:1|127.0.0.1:80|127.0.0.1:PORT.evil.example|127.0.0.1:PORT@evil.example
localhost|localhost:1|LOCALHOST:PORT|localhost.:PORT|LocalHost:PORT
0.0.0.0:PORT|127.0.0.2:PORT|127.1:PORT|2130706433:PORT|0x7f000001:PORT
0177.0.0.1:PORT|[::]:PORT|[::ffff:127.0.0.1]:PORT|[0:0:0:0:0:0:0:1]:PORT|::1:PORT
user@127.0.0.1:PORT|127.0.0.1:0PORT|127.0.0.1:+PORT|127.0.0.1:PORT/|127.0.0.1:PORT#x
127.0.0.1:PORT?x|127.0.0.1:PORT,evil.example|127.0.0.1%00:PORT|127.0.0.1%2e:PORT|http://127.0.0.1:PORT
169.254.169.254|10.0.0.1:PORT|192.168.0.1:PORT|fuelbridge:PORT|fuelbridge.local:PORT`
  .trim()
  .split(/[|\n]/);

test("forty other names are refused, and the own one is not", async () => {
  const { office, asked } = recordingOffice();
  const { web, as } = await testConsole(office);
  const viewer = await as("viewer");
  asked.length = 0;
  expect(HOSTS).toHaveLength(40);
  for (const host of HOSTS.map((text) => text.replace("PORT", String(web.port)))) {
    const { status } = await viewer.get("/", { host });
    expect([host, status]).toEqual([host, host.includes("\0") ? 400 : 421]);
  }
  const absolute = await exchange(web.port, "GET", "http://evil.example/", {
    host: `127.0.0.1:${web.port}`,
  });
  expect(absolute.status).toBe(421);
  expect(asked).toEqual([]);
  expect((await viewer.get("/", { host: `localhost:${web.port}` })).status).toBe(200);
});

const forms = routes.filter(({ method }) => method === "POST");
const pathOf = (path: string): string => path.replaceAll(/:\w+/g, "q1234567");

test.each(forms)(
  "$path takes the own form with a reason, and none of six others",
  async ({ path }) => {
    const { office, asked } = recordingOffice();
    const { web, as } = await testConsole(office);
    const [mine, other] = [await as("operator"), await as("operator")];
    const to = pathOf(path);
    const fields = { note: "because", selector: "q1234567", from: "2026-10-01", to: "2026-10-31" };
    asked.length = 0;
    const attacks: [name: string, answer: { status: number }][] = [
      ["no origin", await mine.post(to, fields, { origin: undefined })],
      ["another origin", await mine.post(to, fields, { origin: "https://evil.example" })],
      ["no origin that is told", await mine.post(to, fields, { origin: "null" })],
      ["another site", await mine.post(to, fields, { "sec-fetch-site": "same-site" })],
      ["no token", await mine.post(to, { ...fields, csrf: "" })],
      ["another session's token", await mine.post(to, { ...fields, csrf: other.csrf() })],
      ["as JSON", await mine.post(to, fields, { "content-type": "application/json" })],
      ["as plain text", await mine.post(to, fields, { "content-type": "text/plain" })],
      ["another port", await mine.post(to, fields, { origin: "http://127.0.0.1:1" })],
      ["without a reason", await mine.post(to, { ...fields, note: " " })],
    ];
    for (const [name, { status }] of attacks)
      expect([name, status >= 400 && status < 500]).toEqual([name, true]);
    expect((await mine.get(to)).status).toBe(
      routes.some((one) => one.method === "GET" && pathOf(one.path) === to) ? 200 : 404,
    );
    const changed = () => asked.filter((name) => CHANGES.has(name));
    expect(changed()).toEqual([]);
    expect((await mine.post(to, fields)).status).toBe(303);
    expect(changed()).not.toEqual([]);
    expect(web.url).toContain("127.0.0.1");
  },
);

const CHANGES = new Set([
  "retry",
  "resolve",
  "pause",
  "goOn",
  "settleUnread",
  "accept",
  "runNow",
  "release",
  "addRow",
  "edit",
  "assign",
  "remark",
  "reconcile",
  "match",
  "settleFinding",
  "backfillBegin",
]);

test("each role may what its routes say, and nobody who is not logged in sees or does anything", async () => {
  const { office, asked } = recordingOffice();
  const { as, browser } = await testConsole(office);
  const stranger = browser();
  asked.length = 0;
  for (const { method, path } of routes) {
    const to = pathOf(path);
    const answer =
      method === "GET" ? await stranger.get(to) : await stranger.post(to, { note: "x" });
    expect([path, answer.status, answer.headers["location"]?.slice(0, 6)]).toEqual([
      path,
      303,
      "/login",
    ]);
  }
  expect(asked).toEqual([]);
  for (const role of roles) {
    const browser = await as(role);
    for (const { method, path, role: needed } of routes) {
      const to = pathOf(path);
      const fields = {
        note: "because",
        selector: "q1234567",
        from: "2026-10-01",
        to: "2026-10-31",
      };
      const { status } = method === "GET" ? await browser.get(to) : await browser.post(to, fields);
      const isTold = status !== 403;
      expect([role, path, isTold]).toEqual([role, path, atLeast(role, needed)]);
    }
  }
});

const HOSTILE = [
  "<script>alert(1)</script>",
  "</title><script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '" autofocus onfocus="alert(1)',
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "</textarea></select></pre><svg onload=alert(1)>",
  "<!-- -->--><script>",
  "{{7*7}}${7*7}<%= 7*7 %>",
  "\u202Egnp.exe",
  "\u2066a\u2069\u200Fb\u061C",
  "\u0000\u0007\u001B[31m",
  "&lt;script&gt;&#x3C;b&#62;",
  "<style>*{display:none}</style>",
  "<base href=//evil.example>",
  "<meta http-equiv=refresh content=0;url=//evil.example>",
  "//evil.example/\\evil.example",
  "x".repeat(10_000),
];

const PAGES = routes.filter(({ method }) => method === "GET").map(({ path }) => pathOf(path));

describe("twenty hostile texts in every field that is shown change no page's shape", () => {
  test("each page", async () => {
    let text = "plain";
    const { as } = await testConsole(hostileOffice(() => text));
    const operator = await as("operator");
    const shape = async (path: string): Promise<string[]> =>
      shapeOf((await operator.get(path)).body);
    const started = await operator.post("/reconciliation", {
      note: "x",
      from: "2026-10-01",
      to: "2026-10-31",
    });
    const pages = [
      // A file is no page.
      ...PAGES.filter((path) => !path.startsWith("/reconciliation/q") && !path.endsWith("/csv")),
      String(started.headers["location"]),
    ];
    // As many reports as are kept: their list is as long for each text.
    for (let kept = 1; kept < 5; kept++)
      await operator.post("/reconciliation", { note: "x", from: "2026-10-01", to: "2026-10-31" });
    const plain = new Map<string, string[]>();
    for (const path of pages) plain.set(path, await shape(path));
    for (const [path, tags] of plain) expect([path, tags.length > 20]).toEqual([path, true]);
    expect(HOSTILE).toHaveLength(20);
    for (text of HOSTILE) {
      // The report is kept from its run: each text needs one of its own.
      const again = await operator.post("/reconciliation", {
        note: "x",
        from: "2026-10-01",
        to: "2026-10-31",
      });
      for (const path of pages) {
        const at = path === pages.at(-1) ? String(again.headers["location"]) : path;
        const { body, status } = await operator.get(at);
        expect([text.slice(0, 40), path, status]).toEqual([text.slice(0, 40), path, 200]);
        expect({ text: text.slice(0, 40), path, tags: shapeOf(body) }).toEqual({
          text: text.slice(0, 40),
          path,
          tags: plain.get(path),
        });
        expect(body.replaceAll(/ (?:value|name)="[^"]*"/g, "")).not.toMatch(UNSEEN);
        for (const [, to = ""] of body.matchAll(/(?:href|action|src|hx-get)="([^"]*)"/g))
          expect(to).toMatch(/^(\/(?!\/)|#)/);
      }
    }
  });
});

// oxlint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u0008\u202A-\u202E\u2066-\u2069\u200F\u061C]/;

/** Tags with the names of their attributes, in order: what a browser makes of the page beside its texts. */
const shapeOf = (html: string): string[] =>
  [...html.matchAll(/<(\/?[a-zA-Z!][^\s>]*)((?:[^>"']|"[^"]*"|'[^']*')*)>/g)].map(
    ([, tag = "", rest = ""]) =>
      [
        tag,
        ...[...rest.matchAll(/([^\s=/"']+)(?:=(?:"[^"]*"|'[^']*'|[^\s"']+))?/g)].map(
          ([, name]) => name,
        ),
      ].join(" "),
  );

test("every address in a page of ours is a constant, or was looked at by href()", () => {
  const rooms = [import.meta.dirname, join(import.meta.dirname, "..", "views")];
  const files = rooms
    .flatMap((room) =>
      readdirSync(room, { recursive: true, encoding: "utf8" }).map((name) => join(room, name)),
    )
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  for (const name of files) {
    const text = readFileSync(name, "utf8");
    for (const [found] of text.matchAll(
      /(?:href|action|src|hx-get)="\$\{(?!href(?:To)?\()[^}]*\}/g,
    ))
      expect([name, found]).toEqual([name, "goes through href()"]);
  }
});

test("each page links to the consoles of the installation's other companies, and to nothing that is no origin", async () => {
  const { office } = recordingOffice();
  const beside = [
    { name: "north", url: "https://fuel.example.com:8444" },
    { name: "south", url: "javascript:alert(1)" },
  ];
  const { as } = await testConsole(office, undefined, {}, { beside });
  const { body: text } = await (await as("viewer")).get("/");
  expect(text).toContain('<a href="https://fuel.example.com:8444/">north</a>');
  expect(text).toContain('<a href="#">south</a>');
});

test("every answer forbids what is inline and from elsewhere, and is kept by nobody", async () => {
  const { office } = recordingOffice();
  const { as, browser, web } = await testConsole(office);
  const viewer = await as("viewer");
  for (const said of [
    await viewer.get("/"),
    await viewer.get("/nowhere"),
    await browser().get("/login"),
    await browser().get("/", { host: "evil.example" }),
  ]) {
    expect(said.headers).toMatchObject({
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
      "referrer-policy": "same-origin",
    });
    expect(said.body).not.toMatch(/<script(?![^>]*src=)|<style| style=| on\w+=/);
  }
  const cookies = [(await browser().get("/login")).headers["set-cookie"]].flat().join();
  expect(cookies).toMatch(/HttpOnly; SameSite=Strict/);
  const long = await viewer.post("/flows/orders/pause", { note: "x".repeat(70_000) });
  expect(long.status).toBe(413);
  expect(web.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
});

test("of a hundred guesses a few are looked at, and the right password helps no sooner", async () => {
  const { office } = recordingOffice();
  const { browser, users, clock } = await testConsole(office);
  let looked = 0;
  const quick = { ...users };
  Object.assign(users, {
    verify: (...args: Parameters<typeof quick.verify>) => (looked++, quick.verify(...args)),
  });
  const guesser = browser();
  await guesser.get("/login");
  const statuses = new Set<number>();
  for (let at = 0; at < 100; at++)
    statuses.add(
      (await guesser.post("/login", { name: "operator", password: `guess ${at}` })).status,
    );
  expect([...statuses]).toEqual([401, 429]);
  expect(looked).toBe(5);
  expect((await guesser.post("/login", { name: "operator", password: PASSWORD })).status).toBe(429);
  clock.advance(16 * 60_000);
  expect((await guesser.post("/login", { name: "operator", password: PASSWORD })).status).toBe(303);
});

/** An office, and what it was told of log-ins. */
test("a log-in that fails stands in the audit with name and address, and what cannot be a name does not", async () => {
  const { office, deeds } = auditedOffice();
  const { browser } = await testConsole(office);
  const person = browser();
  await person.get("/login");
  await person.post("/login", { name: "operator", password: "wrong" });
  await person.post("/login", { name: "nobody", password: "wrong" });
  await person.post("/login", { name: "My Secret 4711!", password: "" });
  await person.post("/login", { name: "operator", password: PASSWORD });
  expect(deeds).toEqual([
    "log-in failed: operator, console, from 127.0.0.1",
    "log-in failed: nobody, console, from 127.0.0.1",
    "log-in failed: (no name), console, from 127.0.0.1",
    "logged in: operator, console, from 127.0.0.1",
  ]);
});

test("wrong passwords for one name hold up nobody else at that address; 200 of them do", async () => {
  const { office } = auditedOffice();
  const { browser, clock } = await testConsole(office);
  const guesser = browser();
  await guesser.get("/login");
  const tries = async (name: string, password = "wrong") =>
    (await guesser.post("/login", { name, password })).status;
  for (let at = 0; at < 199; at++) expect(await tries(`name-${at % 66}`)).toBe(401);
  expect(await tries("operator", PASSWORD)).toBe(303);
  await guesser.get("/login");
  expect(await tries("another")).toBe(401);
  expect(await tries("viewer", PASSWORD)).toBe(429);
  clock.advance(24 * 60 * 60_000 + 1);
  for (let at = 0; at < 4; at++) expect(await tries("viewer")).toBe(401);
  expect(await tries("viewer", PASSWORD)).toBe(303);
});

describe("behind a proxy", () => {
  const SENT = { "x-forwarded-for": "203.0.113.9, 198.51.100.7" };
  const guesses = async (proxies: readonly string[], headers: Record<string, string>) => {
    const { office, deeds } = auditedOffice();
    const { browser } = await testConsole(office, undefined, { proxies: [...proxies] });
    const guesser = browser();
    await guesser.get("/login");
    for (let at = 0; at < 6; at++)
      await guesser.post("/login", { name: "operator", password: "wrong" }, headers);
    const { status } = await guesser.post("/login", { name: "operator", password: PASSWORD });
    return { status, from: new Set(deeds.map((deed) => deed.replace(/.*from /, ""))) };
  };

  test("of the site's own, whoever asked is counted and told by the address that the proxy saw", async () => {
    expect(await guesses(["127.0.0.1"], SENT)).toEqual({
      status: 303,
      from: new Set(["198.51.100.7", "127.0.0.1"]),
    });
    expect(await guesses(["127.0.0.1", "198.51.100.7"], SENT)).toMatchObject({
      from: new Set(["203.0.113.9", "127.0.0.1"]),
    });
  });

  test("that nobody has named, X-Forwarded-For counts for nothing", async () => {
    expect(await guesses([], SENT)).toEqual({ status: 429, from: new Set(["127.0.0.1"]) });
    expect(await guesses(["198.51.100.7"], SENT)).toMatchObject({ status: 429 });
  });

  test("its name is ours over https alone, and the cookie is sent nowhere else", async () => {
    const { office } = recordingOffice();
    const { web, browser } = await testConsole(office, undefined, {
      url: "https://fuel.example.com",
    });
    expect(web.url).toBe("https://fuel.example.com/");
    const kim = browser();
    const asked = { host: "fuel.example.com" };
    const { headers } = await kim.get("/login", asked);
    expect(String(headers["set-cookie"])).toMatch(/^__Host-.*; Secure/);
    const logIn = async (origin: string) =>
      (await kim.post("/login", { name: "operator", password: PASSWORD }, { ...asked, origin }))
        .status;
    expect(await logIn("http://fuel.example.com")).toBe(403);
    expect(await logIn("https://evil.example.com")).toBe(403);
    expect(await logIn("https://fuel.example.com")).toBe(303);
    expect((await kim.get("/", { host: "evil.example.com" })).status).toBe(421);
  });

  test("that tells no address, its own counts", async () => {
    expect(await guesses(["127.0.0.1"], { "x-forwarded-for": "unknown" })).toMatchObject({
      status: 429,
    });
  });
});

test.each([
  ["::ffff:127.0.0.1", "10.0.0.7:51234", "10.0.0.7"],
  ["127.0.0.1", "[2001:db8::7]:443", "2001:db8::7"],
  ["127.0.0.1", "::ffff:10.0.0.7", "10.0.0.7"],
  ["127.0.0.1", "", "127.0.0.1"],
  ["127.0.0.1", "10.0.0.7, 127.0.0.1", "10.0.0.7"],
  ["10.9.9.9", "10.0.0.7", "10.9.9.9"],
])("a request of %s for %j came from %s", (remoteAddress, forwarded, from) => {
  const socket = { remoteAddress } as Socket;
  const headers = { "x-forwarded-for": forwarded };
  expect(askerOf({ socket, headers }, ["127.0.0.1"])).toBe(from);
});

test("addresses of one IPv6 network are one", () => {
  const attempts = new Attempts(() => 0);
  for (let at = 0; at < 5; at++) attempts.failed("kim", `2001:db8::1:2:3:${at}`);
  expect(attempts.waitMs("kim", "2001:db8:0:0:9::")).toBeGreaterThan(0);
  expect(attempts.waitMs("kim", "2001:db8:0:1::1")).toBe(0);
});

test("a session ends after half an hour without a person, at a logout, and with its user", async () => {
  const { office } = recordingOffice();
  const { as, clock, users } = await testConsole(office);
  const isIn = async (browser: Awaited<ReturnType<typeof as>>, headers = {}): Promise<boolean> =>
    (await browser.get("/", headers)).status === 200;
  const idle = await as("viewer");
  const before = new Map(idle.cookies());
  for (let minutes = 0; minutes < 30; minutes += 10) {
    clock.advance(10 * 60_000 + 1_000);
    // What a page asks by itself keeps nobody logged in.
    await idle.get("/", { "hx-request": "true" });
  }
  expect(await isIn(idle)).toBe(false);
  const part = await idle.get("/", { "hx-request": "true" });
  const ended = "/login?ended=session";
  expect([part.status, part.headers["hx-redirect"], part.body]).toEqual([401, ended, ""]);
  const other = await as("viewer");
  expect(other.cookies()).not.toEqual(before);
  const stolen = [...other.cookies()].map(([name, value]) => `${name}=${value}`).join("; ");
  await other.post("/logout", {});
  expect(await isIn(other, { cookie: stolen })).toBe(false);
  const removed = await as("accountant");
  users.remove("accountant");
  expect(await isIn(removed)).toBe(false);
});

test("whose session ended under a form is told that nothing was done, and is led back to its page", async () => {
  const { office, asked } = recordingOffice();
  const { as, clock, web } = await testConsole(office);
  const accountant = await as("accountant");
  clock.advance(31 * 60_000);
  const own = `http://127.0.0.1:${web.port}`;
  const sent = async (referer: string): Promise<string> => {
    const said = await accountant.post("/needs-you/q1/retry", { note: "now" }, { referer });
    return String(said.headers["location"]);
  };
  expect(await sent("https://elsewhere.example/needs-you/q1")).toBe("/login?ended=form");
  const to = await sent(`${own}/needs-you/q1`);
  expect([to, asked.includes("retry")]).toEqual(["/login?to=%2Fneeds-you%2Fq1&ended=form", false]);
  const login = await accountant.get(to);
  expect(login.body).toContain("Your session had ended, and nothing was done.");
  const back = await accountant.post("/login", {
    name: "accountant",
    password: PASSWORD,
    to: /name="to" value="([^"]*)"/.exec(login.body)?.[1] ?? "",
  });
  expect(back.headers["location"]).toBe("/needs-you/q1");
  expect((await accountant.get("/login?ended=%3Cscript%3E")).body).not.toContain("banner");
});

test("no secret of the configuration is in a page", async () => {
  const { as } = await testConsole(hostileOffice(() => "a canary-secret here"));
  const body = (await (await as("viewer")).get("/needs-you")).body;
  expect(body).toContain("a [secret] here");
  expect(body).not.toContain("canary-secret");
});
