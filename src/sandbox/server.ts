/** The sandbox over HTTP: the platform's contract under its two roots, and the control interface beside it. */
import { hash } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ConfigurationError, EnvironmentError } from "../core/errors.ts";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { BODY_MAX, codeOf, json, JSON_TYPE, Refusal } from "./answer.ts";
import { control, type ControlAnswer } from "./control.ts";
import { type Departure, Exchange } from "./exchange.ts";
import { page, pageHeaders } from "./page.ts";
import { isSceneName, month, type MonthOptions } from "./scenes/index.ts";
import { World } from "./world.ts";

/** An import by name would load Node's whole fetch with it: a tenth of a second of computing at each start. */
const { createServer } = process.getBuiltinModule("node:http");

export interface SandboxOptions {
  /** 0 takes a free one. */
  readonly port?: number;
  /** A loopback address. */
  readonly host?: string;
  /** `:memory:`, or the file that holds the state over restarts. */
  readonly db?: string;
  /** Ignored when the file holds a state. */
  readonly scenario?: string;
  /** Of the scenarios `demo` and `month`: how large it is; of `month`, what is wrong in it, too. */
  readonly month?: MonthOptions;
  /** Where the truth about what is wrong in it is written. */
  readonly truth?: string;
}

/** The longer root first: the one is the beginning of the other (part 1, convention 1). */
const ROOTS = ["/v1/public", "/v1"];
const CONTROL_ROOT = "/__sandbox__";
const CONTROL_BODY_MAX = 256 * 1024 * 1024;
const CLOSE_MS = 10_000;

/** @throws ConfigurationError for a scenario or an address that will not do. */
export async function startSandbox(options: SandboxOptions = {}) {
  const { port = 0, host = "127.0.0.1", db = ":memory:", scenario = "conformance" } = options;
  if (!isSceneName(scenario))
    throw new ConfigurationError(
      `There is no scenario "${scenario}".`,
      "Choose empty, conformance, demo or month.",
    );
  if (!isLoopback(host))
    throw new ConfigurationError(
      `"${host}" is no loopback address.`,
      "The sandbox hands out its keys to everyone who asks: leave it on 127.0.0.1.",
    );
  const world = new World(db, scenario, options.month);
  if (options.truth !== undefined && scenario === "month") {
    const { truth } = month(new Date(world.clock.now()), world.month);
    writeFileSync(options.truth, `${JSON.stringify(truth, null, 2)}\n`);
  }
  const exchange = new Exchange(world);
  const answering = new Set<ServerResponse>();
  const serve = listener(world, exchange);
  const server = createServer((request, response) => {
    answering.add(response);
    response.once("close", () => answering.delete(response));
    serve(request, response);
  });
  server.keepAliveTimeout = 60_000;
  await listening(server, port, host);
  const at = `http://${host.includes(":") ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`;
  return {
    baseUrl: at + ROOTS[0],
    controlUrl: at + CONTROL_ROOT,
    /** Closes idle connections at once and waits for the requests in flight, 10 s at most. */
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      for (const response of answering) response.shouldKeepAlive = false;
      const timer = setTimeout(() => {
        exchange.abandon();
        server.closeAllConnections();
      }, CLOSE_MS);
      await closed;
      // A client may have left while its write is delayed.
      await exchange.idle();
      clearTimeout(timer);
      world.close();
    },
  };
}

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

async function listening(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    throw new EnvironmentError(
      `The sandbox cannot listen on ${host}:${port}: ${(error as Error).message}.`,
      "Choose another port; 0 takes a free one.",
      error,
    );
  }
}

function listener(world: World, exchange: Exchange) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    answer(world, exchange, request, response).catch((error: unknown) => {
      // The client left before its request was whole: nothing has arrived.
      if (!request.complete) return;
      process.stderr.write(`sandbox: ${error instanceof Error ? error.stack : String(error)}\n`);
      const { answer } = new Refusal(500, codeOf(500), "The sandbox itself failed; see its log.");
      if (response.headersSent) response.destroy();
      else send(response, { answer, half: false });
    });
  };
}

async function answer(
  world: World,
  exchange: Exchange,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path = "", search = ""] = (request.url ?? "/").split(/\?(.*)/s, 2);
  const query = Object.fromEntries(new URLSearchParams(search));
  const method = request.method ?? "GET";
  if (`${path}/`.startsWith(`${CONTROL_ROOT}/`)) {
    const { body } = await read(request, CONTROL_BODY_MAX);
    const refused = foreign(request.headers);
    if (refused !== null) {
      await sendPieces(response, { status: 403, body: [JSON.stringify({ error: refused })] });
      return;
    }
    exchange.commitLate();
    const below = path.slice(CONTROL_ROOT.length);
    const text = body.toString("utf8");
    const said = await control(world, { method, path: below, query, body: text });
    exchange.commitLate();
    await sendPieces(response, said);
    return;
  }
  if (method === "GET" && path === "/") {
    response.writeHead(200, pageHeaders).end(page(CONTROL_ROOT));
    return;
  }
  if (method === "GET" && path === "/openapi.json") {
    const { openApi } = await import("../platform/contract/openapi.ts");
    const described = JSON.stringify(openApi(ROOTS.map((url) => ({ url }))));
    send(response, { answer: json(200, described), half: false });
    return;
  }
  const sent = await read(request, BODY_MAX);
  const root = ROOTS.find((root) => path.startsWith(`${root}/`)) ?? "";
  const departure = await exchange.handle({
    ...sent,
    method,
    path: path.slice(root.length),
    query,
    contentType: request.headers["content-type"],
    headers: {
      apiKey: header(request, "x-api-key"),
      authorization: request.headers.authorization,
      idempotencyKey: header(request, "idempotency-key"),
    },
    address: request.socket.remoteAddress ?? "",
  });
  send(response, departure);
}

/** The whole body; of one that is too large only its fingerprint. */
async function read(request: IncomingMessage, max: number) {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= max) chunks.push(chunk);
    else chunks.length = 0;
  }
  const tooLarge = size > max;
  const body = Buffer.concat(chunks);
  const digest = hash("sha256", body);
  return { body: tooLarge ? Buffer.alloc(0) : body, digest, tooLarge };
}

function send(response: ServerResponse, { answer, half }: Departure): void {
  const { socket } = response;
  if (answer === null) {
    socket?.resetAndDestroy();
    return;
  }
  const body = Buffer.from(answer.body);
  const length = answer.status === 204 ? {} : { "Content-Length": body.length };
  const type = answer.type === null ? {} : { "Content-Type": answer.type };
  response.writeHead(answer.status, { ...answer.headers, ...type, ...length });
  if (!half) response.end(body);
  else if (body.length === 0) socket?.destroy();
  else response.write(body.subarray(0, body.length / 2), () => socket?.destroy());
}

async function sendPieces(response: ServerResponse, answer: ControlAnswer): Promise<void> {
  response.writeHead(answer.status, { "Content-Type": JSON_TYPE });
  await pipeline(Readable.from(answer.body, { objectMode: true }), response);
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

const LOOPBACK = /^(127(\.\d{1,3}){3}|\[?::1\]?|localhost)$/;

const isLoopback = (name: string): boolean => LOOPBACK.test(name);

/**
 * Why a control request is refused, or null. It carries no credentials, so a browser must not be talked into sending
 * one: by another site's page, nor by a name that was made to point here. Programs send none of these headers but Host.
 */
function foreign(headers: IncomingHttpHeaders): string | null {
  const { host = "", origin } = headers;
  const site = headers["sec-fetch-site"] ?? "none";
  if (!isLoopback(host.replace(/:\d+$/, "").toLowerCase())) return `${host} is no loopback name.`;
  if (site !== "same-origin" && site !== "none") return "The request comes from another site.";
  if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`)
    return `The request comes from ${origin}.`;
  return null;
}

/**
 * `fuelbridge sandbox`: one line of JSON on standard output when requests are accepted, and nothing else there. It
 * resolves after a signal, once the requests in flight are finished; a second signal ends the process at once.
 */
export async function runSandbox(options: SandboxOptions): Promise<void> {
  const { baseUrl, controlUrl, close } = await startSandbox(options);
  const stop = firstSignal();
  process.stdout.write(`${JSON.stringify({ event: "ready", baseUrl, controlUrl })}\n`);
  process.stderr.write(`sandbox: listening on ${new URL(baseUrl).origin}\n`);
  const name = await stop;
  process.stderr.write(`sandbox: ${name}, closing\n`);
  await close();
}

/** Listens once: with the listeners gone, the next signal does what signals do. */
async function firstSignal(): Promise<string> {
  const heard = new AbortController();
  const name = await Promise.race(
    ["SIGTERM", "SIGINT"].map(async (name) => {
      await once(process, name, { signal: heard.signal });
      return name;
    }),
  );
  heard.abort();
  return name;
}
