/**
 * What the daemon serves on the loopback address: the office for programs of this machine that can read the token in the
 * state folder, and for monitors `/healthz` (is all well?), `/readyz` (does the daemon work?) and `/metrics`. It answers only
 * to its own name, so no web page can reach it under another one. `monitoring.port` has the last three alone, without a token.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { finished } from "node:stream/promises";
import { z } from "zod";
import { HUB } from "../config/flows.ts";
import type { HubConfig } from "../config/schema.ts";
import { type Scrub, scrubber } from "../config/scrub.ts";
import {
  EnvironmentError,
  FuelbridgeError,
  SourceUnavailable,
  OfficeError,
} from "../core/errors.ts";
import { parsedJson } from "../core/json.ts";
import { isSameSecret } from "../core/keys.ts";
import { within } from "../core/together.ts";
import { type Engine, PLATFORM } from "../engine/engine.ts";
import { fedTo } from "../engine/sites.ts";
import { writeWhole } from "../transport/whole.ts";
import { isQuestion, type Office, type QuestionName, questions } from "./questions.ts";
import { type Address, addressFile, type HeldBy, type Refusal } from "./remote.ts";

/** An import by name would load Node's whole fetch with it: a tenth of a second of computing at each start. */
const { createServer } = process.getBuiltinModule("node:http");

interface AdminOptions {
  readonly office: Office;
  /** The state folder: `admin.json` is written there while the server runs. */
  readonly state: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Values that no answer may show. */
  readonly secrets: readonly string[];
  /** Whose store it is. Left out: it does not say. */
  readonly owner?: HeldBy;
}

export interface Admin extends Address {
  close(): Promise<void>;
}

const LOOPBACK = "127.0.0.1";
const BODY_BYTES_MAX = 1_048_576;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** How long an answer may take that is under way when the daemon ends. */
const CLOSE_TIMEOUT_MS = 2000;
const CONNECTIONS_MAX = 50;
const TOKEN_BYTES = 32;

/** `type` left out: the body becomes JSON. */
interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** @throws EnvironmentError when the port is taken. */
export async function serveAdmin(options: AdminOptions): Promise<Admin> {
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const next = "Set console.port to another one, or to 0 for any free port.";
  const served = await serve({ port: options.port, next }, scrubber(options.secrets), (request) =>
    answer(request, options, token),
  );
  const address: Address = { port: served.port, token, pid: process.pid };
  try {
    publish(options.state, address);
  } catch (error) {
    await served.close();
    throw error;
  }
  return {
    ...address,
    async close() {
      withdraw(options.state, address);
      await served.close();
    },
  };
}

/** The probes alone, for a monitor that has no token. @throws EnvironmentError when the port is taken */
export function serveMonitor({
  office,
  state,
  port,
}: Pick<AdminOptions, "office" | "state" | "port">): Promise<Served> {
  const next = "Set monitoring.port to another one.";
  return serve({ port, next }, scrubber([]), async (request) => {
    const refused = refuseStranger(request);
    if (refused !== null) return refused;
    const probe = PROBES.get(request.url ?? "");
    if (probe === undefined) return { status: 404, body: null };
    if (request.method !== "GET") return { status: 405, body: null };
    return probe(office, state).catch((): Reply => ({ status: 503, body: null }));
  });
}

interface ListTold {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

interface HubParts {
  readonly engine: Engine;
  /** A page of a list of the platform, as that told it (platform/hub.ts). Null: it is none. */
  readonly lists: (path: string) => Promise<ListTold> | null;
  readonly hub: HubConfig;
  readonly secrets: readonly string[];
}

/** Answers sites with what a hub has of the platform's feeds (engine/sites.ts). @throws EnvironmentError when it cannot listen */
export function serveHub({ engine, lists, hub, secrets }: HubParts) {
  const tokens = Object.entries(hub.tokens);
  const name: Readonly<Record<string, string>> =
    engine.environment === "test" ? { "x-svc-sandbox": "true" } : {};
  const next = "Set hub.port to another one, and hub.host to an address of this machine.";
  const scrub = scrubber(secrets);
  const place = { ...hub, next, connections: HUB_CONNECTIONS_MAX };
  // What the platform told goes on as it is.
  return serve(place, scrubber([]), async (request) => {
    const { method, url = "", headers } = request;
    // All are compared: how long it takes tells nothing of any.
    const [site] = tokens.flatMap(([site, token]) =>
      isToken(headers.authorization, token) ? [site] : [],
    );
    if (site === undefined) return refuse(401, "the token is no site's");
    const { pathname, searchParams: query } = new URL(url, "http://hub");
    const feed = /^\/feeds\/(\w+)$/.exec(pathname)?.[1];
    const page = pathname === "/lists" ? query.get("page") : null;
    if (feed === undefined && page === null) return refuse(404, "there is nothing at this address");
    if (method !== "GET") return refuse(405, "GET is what a feed takes");
    try {
      if (page !== null) return listed(await lists(page), name);
      const asked = {
        site,
        from: `${PLATFORM}.${feed}`,
        after: query.get("after"),
        rules: query.get("rules") ?? "",
      };
      const fed = fedTo(engine, asked);
      if (fed.is !== "page") return refuse(REFUSED[fed.is], scrub(fed.message));
      const { is: _, records, ...rest } = fed;
      const body = `{"data":[${records.join(",")}],${JSON.stringify(rest).slice(1)}`;
      return { status: 200, body, type: "application/json; charset=utf-8", headers: name };
    } catch (error) {
      return explain(engine.store.told(error));
    }
  });
}

/** Its time is the platform's: a list is read on from then. */
function listed(told: ListTold | null, name: Reply["headers"]): Reply {
  if (told === null) return refuse(404, "it is no page of a list");
  const { status, text, headers } = told;
  const kept = ["date", "retry-after"].flatMap((one) =>
    headers[one] === undefined ? [] : [[one, headers[one]]],
  );
  const type = headers["content-type"] ?? "application/json; charset=utf-8";
  return { status, body: text, type, headers: { ...name, ...Object.fromEntries(kept) } };
}

const REFUSED = { none: 404, unlike: 409, unknown: 410, later: 503 } as const;
/** Each site has a few, for a moment. */
const HUB_CONNECTIONS_MAX = 1_000;

const PROBES: ReadonlyMap<string, (office: Office, state: string) => Promise<Reply>> = new Map([
  ["/healthz", health],
  ["/readyz", readiness],
  ["/metrics", metrics],
]);

/** Is all well? 503 when something needs a person: for people's boards, no reason to restart anything. */
async function health(office: Office): Promise<Reply> {
  const { healthy } = await office.status();
  return { status: healthy ? 200 : 503, body: { healthy } };
}

/** Does the daemon work? `degraded`: it does, and something needs a person. Nothing is ready that cannot answer. */
async function readiness(office: Office): Promise<Reply> {
  const status = await office.status().catch(() => null);
  if (status === null || status.daemon === null)
    return { status: 503, body: { ready: false, degraded: true } };
  return { status: 200, body: { ready: true, degraded: !status.healthy } };
}

async function metrics(office: Office, state: string): Promise<Reply> {
  // A hundred modules that only a monitor needs.
  const { exposed } = await import("./metrics.ts");
  const { type, text } = await exposed(office, state);
  return { status: 200, body: text, type };
}

async function answer(
  request: IncomingMessage,
  { office, state, owner }: Pick<AdminOptions, "office" | "state" | "owner">,
  token: string,
): Promise<Reply> {
  try {
    const refused = refuseStranger(request);
    if (refused !== null) return refused;
    const { method, url = "" } = request;
    const isOpen = url === "/healthz" || url === "/readyz";
    if (isOpen && method !== "GET") return refuse(405, `GET is what ${url} takes`);
    if (!isOpen && !isToken(request.headers.authorization, token))
      return refuse(401, "the token is wrong");
    const probe = method === "GET" ? PROBES.get(url) : undefined;
    if (probe !== undefined) return await probe(office, state);
    if (url === "/office" && method === "GET")
      return { status: 200, body: { data: { pid: process.pid, owner } } };
    const name = /^\/office\/([A-Za-z]+)$/.exec(url)?.[1];
    if (name === undefined || !isQuestion(name))
      return refuse(404, "there is nothing at this address");
    if (method !== "POST") return refuse(405, "POST is what /office takes");
    return await call(request, office, name);
  } catch (error) {
    return explain(error);
  }
}

/** A browser that was led here by a page elsewhere shows it in one of these headers. */
function refuseStranger({ headers, socket }: IncomingMessage): Reply | null {
  const hosts = [LOOPBACK, "localhost"].map((name) => `${name}:${socket.localPort}`);
  if (!hosts.includes(headers.host ?? "")) return refuse(421, "this server has another name");
  if (headers.origin !== undefined || headers["sec-fetch-site"] !== undefined)
    return refuse(403, "web pages have no access");
  return null;
}

const Asked = z.object({ args: z.array(z.unknown()) });

async function call(request: IncomingMessage, office: Office, name: QuestionName): Promise<Reply> {
  const type = request.headers["content-type"]?.split(";")[0]?.trim();
  if (type !== "application/json") return refuse(415, "the body is JSON");
  const text = await bodyOf(request);
  if (text === null) return refuse(413, `the body is longer than ${BODY_BYTES_MAX} bytes`);
  const asked = Asked.safeParse(parsedJson(text));
  const args = questions[name].args.safeParse(asked.data?.args);
  if (!args.success) return refuse(400, `these are not the arguments of ${name}`);
  const method = office[name] as (...args: unknown[]) => Promise<unknown>;
  return { status: 200, body: { data: (await method(...args.data)) ?? null } };
}

/** Null when it is longer than allowed; the rest is not read. */
async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

const isToken = (header: string | undefined, token: string): boolean =>
  isSameSecret(header ?? "", `Bearer ${token}`);

function explain(error: unknown): Reply {
  // A side that cannot be read now is no failure of the daemon.
  if (error instanceof OfficeError || error instanceof SourceUnavailable)
    return refuse(422, error.message, error.next, "refused", "office");
  if (error instanceof FuelbridgeError) return refuse(500, error.message, error.next, error.code);
  const message = error instanceof Error ? error.message : String(error);
  return refuse(500, message, "The daemon's log says more.", "unexpected");
}

function refuse(
  status: number,
  message: string,
  next = "Use the fuelbridge command of the same version.",
  code = "admin",
  kind: "office" | "failure" = "failure",
): Reply {
  const body: Refusal = { error: { kind, code, message, next } };
  return { status, body };
}

interface Place {
  readonly port: number;
  readonly host?: string;
  /** Files, PEM. Null or left out: HTTP. */
  readonly tls?: { readonly certificate: string; readonly key: string } | null;
  readonly connections?: number;
  readonly limits?: ServerOptions;
  /** The setting of whoever serves, where it may have a certificate. */
  readonly at?: string;
  /** What is wrong, without a full stop, and what to do, when it cannot be listened on. */
  readonly fault?: string;
  readonly next: string;
}

export interface Served {
  readonly port: number;
  close(): Promise<void>;
}

/** @throws EnvironmentError with what to do */
const serve = (
  place: Place,
  scrub: Scrub,
  answer: (request: IncomingMessage) => Promise<Reply>,
): Promise<Served> =>
  listen(place, () => async (request, response) => send(response, await answer(request), scrub));

/** @param handling made once the port is known @throws EnvironmentError when the port is taken, or the certificate cannot be used */
export async function listen(
  { port, host = LOOPBACK, tls = null, at = HUB, limits, next, ...place }: Place,
  handling: (port: number) => (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Served> {
  const { connections = CONNECTIONS_MAX, fault = `Port ${port} cannot be used` } = place;
  const timeouts = { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS };
  const options = { ...timeouts, ...limits };
  const server = tls === null ? createServer(options) : tlsServer(tls, at, options);
  server.maxConnections = connections;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) =>
      reject(new EnvironmentError(`${fault} (${error.message}).`, next, error)),
    );
    server.listen(port, host, () => resolve());
  });
  const taken = (server.address() as AddressInfo).port;
  const handle = handling(taken);
  const inHand = new Set<Promise<void>>();
  server.on("request", (request, response) => {
    // On its way, or the client is gone.
    const done = finished(response).then(undefined, () => undefined);
    inHand.add(done);
    void done.then(() => inHand.delete(done));
    void handle(request, response);
  });
  return {
    port: taken,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      await within(CLOSE_TIMEOUT_MS, Promise.all(inHand));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** @throws EnvironmentError when the certificate cannot be used */
function tlsServer(
  { certificate, key }: NonNullable<Place["tls"]>,
  at: string,
  options: ServerOptions,
): Server {
  try {
    return process.getBuiltinModule("node:https").createServer({
      ...options,
      cert: readFileSync(certificate),
      key: readFileSync(key),
      minVersion: "TLSv1.2",
    });
  } catch (error) {
    throw new EnvironmentError(
      `The certificate under ${at} cannot be used (${(error as Error).message}).`,
      `${at}.certificate and ${at}.key name PEM files that the service's user can read, and that belong together.`,
      error,
    );
  }
}

function send(
  response: ServerResponse,
  { status, body, type, headers }: Reply,
  scrub: Scrub,
): void {
  response.writeHead(status, {
    "content-type": type ?? "application/json; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...headers,
    // A body that was too long is not read to its end: the connection is of no further use.
    ...(status === 413 ? { connection: "close" } : {}),
  });
  response.end(scrub(type === undefined ? JSON.stringify(body) : String(body)));
}

/** Whole or not at all, and from its first byte for our user only. */
function publish(state: string, address: Address): void {
  mkdirSync(state, { recursive: true, mode: 0o700 });
  writeWhole(addressFile(state), JSON.stringify(address));
}

/** Removes our own address only: another daemon may have put its own there. */
function withdraw(state: string, { token }: Address): void {
  try {
    if (readFileSync(addressFile(state), "utf8").includes(token)) rmSync(addressFile(state));
  } catch {
    // It is gone already; a client that reads it too late finds nobody at the port.
  }
}
