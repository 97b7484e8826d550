/** The web console in this process, and a browser of the plainest kind: cookies and forms, and headers as a test says. */
import { request } from "node:http";
import { request as requestTls, type RequestOptions } from "node:https";
import { onTestFinished } from "vitest";
import type { WebConfig } from "../../src/config/schema.ts";
import type { Site } from "../../src/web/route.ts";
import { serveWeb, type Web } from "../../src/web/guard.ts";
import { openUsers, type Users } from "../../src/web/users.ts";
import { type Role, roles } from "../../src/web/users.ts";
import type { Office } from "../../src/office/questions.ts";
import { testClock, type TestClock } from "./clock.ts";
import { tempFolder } from "./folder.ts";

export interface Said {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface Browser {
  /** The token of the last form that was seen. */
  csrf(): string;
  get(path: string, headers?: Headers): Promise<Said>;
  post(path: string, fields: Readonly<Record<string, string>>, headers?: Headers): Promise<Said>;
  cookies(): ReadonlyMap<string, string>;
}
type Headers = Readonly<Record<string, string | undefined>>;

export interface TestConsole {
  readonly web: Web;
  readonly users: Users;
  readonly clock: TestClock;
  readonly state: string;
  readonly browser: () => Browser;
  /** Logged in. */
  readonly as: (role: Role) => Promise<Browser>;
}

export const PASSWORD = "correct horse battery";

/** Users are named as their roles. */
export async function testConsole(
  office: Office,
  clock = testClock(),
  given: Partial<WebConfig> = {},
  site: Partial<Site> = {},
): Promise<TestConsole> {
  const state = tempFolder();
  const users = openUsers(state, () => new Date(clock.now().wallMs));
  const quick = quickened(users);
  const web = await serveWeb({
    office,
    users: quick,
    site: {
      company: "bluebonnet",
      environment: "live",
      currency: "USD",
      timeZone: "America/Chicago",
      ...site,
    },
    pack: async ({ report }, by) => ({ "report.json": JSON.stringify(report), SHA256SUMS: by }),
    web: { port: 0, host: "127.0.0.1", names: [], tls: null, proxies: [], ...given },
    secrets: ["canary-secret"],
    note: (message, { error }) => process.stderr.write(`${message}: ${(error as Error).stack}\n`),
    clock,
  });
  onTestFinished(() => web.close());
  const browser = (): Browser => browserOf(web.port);
  return {
    web,
    users,
    clock,
    state,
    browser,
    async as(role) {
      const one = browser();
      await one.get("/login");
      await one.post("/login", { name: role, password: PASSWORD });
      await one.get("/audit");
      return one;
    },
  };
}

/** One of each role; their password is compared, not hashed: users.test.ts is about that. */
function quickened(users: Users): Users {
  const all = roles.map((role) => ({ name: role, role, hash: "", since: "2026-11-22T00:00:00Z" }));
  const gone = new Set<string>();
  const list = () => all.filter(({ name }) => !gone.has(name));
  return Object.assign(users, {
    list,
    remove: (name: string) => void gone.add(name),
    verify: async (name: string, password: string) =>
      password === PASSWORD ? (list().find((one) => one.name === name) ?? null) : null,
  });
}

/** @param origin of the pages, as a browser's address line has it. */
export function browserOf(
  port: number,
  origin = `http://127.0.0.1:${port}`,
  transport: typeof exchange = exchange,
): Browser {
  const cookies = new Map<string, string>();
  let token = "";
  const own = new URL(origin).host;
  async function send(method: string, path: string, headers: Headers, body = ""): Promise<Said> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const all = { host: own, ...(cookie === "" ? {} : { cookie }), ...headers };
    const given = Object.entries({
      ...all,
      ...(method === "POST" ? { "content-length": String(Buffer.byteLength(body)) } : {}),
    }).filter(([, value]) => value !== undefined);
    const said = await transport(port, method, path, Object.fromEntries(given), body);
    for (const line of [said.headers["set-cookie"] ?? []].flat()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "" || /max-age=0/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    token = /name="csrf" value="([^"]+)"/.exec(said.body)?.[1] ?? token;
    return said;
  }
  return {
    csrf: () => token,
    cookies: () => cookies,
    get: (path, headers = {}) => send("GET", path, headers),
    post(path, fields, headers = {}) {
      const body = new URLSearchParams({ csrf: token, ...fields }).toString();
      const usual = {
        origin,
        "sec-fetch-site": "same-origin",
        "content-type": "application/x-www-form-urlencoded",
      };
      return send("POST", path, { ...usual, ...headers }, body);
    },
  };
}

/** node:http, because fetch does not let a test lie about the host. `options`: of its request. */
export function exchange(
  port: number,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body = "",
  options: (RequestOptions & { readonly isHttps: true }) | { readonly isHttps?: false } = {},
): Promise<Said> {
  return new Promise((resolve, reject) => {
    const send = options.isHttps ? requestTls : request;
    const sent = send({
      host: "127.0.0.1",
      port,
      method,
      path,
      headers,
      agent: false,
      setHost: false,
      ...options,
    });
    sent.on("error", reject).on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }),
      );
    });
    sent.end(body);
  });
}
