/**
 * What a monitor asks: `/healthz` (is all well?), `/readyz` (does the daemon work?) and `/metrics`. They answer on the
 * admin interface, `/metrics` there only to who has its token, and all three on `monitoring.port` where one is set.
 */
import type { AddressInfo } from "node:net";
import { EnvironmentError } from "../core/errors.ts";
import type { Office } from "./office.ts";

/** An import by name would load Node's whole fetch with it: a tenth of a second of computing at each start. */
const { createServer } = process.getBuiltinModule("node:http");

/** `type` left out: the body becomes JSON. */
export interface Probed {
  readonly status: number;
  readonly body: unknown;
  readonly type?: string;
}

/** Is all well? 503 when something needs a person: for people's boards, no reason to restart anything. */
export async function health(office: Office): Promise<Probed> {
  const { healthy } = await office.status();
  return { status: healthy ? 200 : 503, body: { healthy } };
}

/** Does the daemon work? `degraded`: it does, and something needs a person. Nothing is ready that cannot answer. */
export async function readiness(office: Office): Promise<Probed> {
  try {
    const { healthy, daemon } = await office.status();
    if (daemon === null) return { status: 503, body: { ready: false, degraded: true } };
    return { status: 200, body: { ready: true, degraded: !healthy } };
  } catch {
    return { status: 503, body: { ready: false, degraded: true } };
  }
}

export async function metrics(office: Office, state: string): Promise<Probed> {
  // A hundred modules that only a monitor needs.
  const { exposed } = await import("./metrics.ts");
  const { type, text } = await exposed(office, state);
  return { status: 200, body: text, type };
}

export interface MonitorOptions {
  readonly office: Office;
  readonly state: string;
  /** Of the loopback address. */
  readonly port: number;
}

export interface Monitor {
  readonly port: number;
  close(): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 10_000;
const CONNECTIONS_MAX = 20;

/** @throws EnvironmentError when the port is taken */
export async function serveMonitor({ office, state, port }: MonitorOptions): Promise<Monitor> {
  const answers: Readonly<Record<string, () => Promise<Probed>>> = {
    "/healthz": () => health(office),
    "/readyz": () => readiness(office),
    "/metrics": () => metrics(office, state),
  };
  const server = createServer(({ method, url = "", headers, socket }, response) => {
    const answer = Object.hasOwn(answers, url) ? answers[url] : undefined;
    // No web page reaches it under another name.
    const hosts = ["127.0.0.1", "localhost"].map((name) => `${name}:${socket.localPort}`);
    const refused = !hosts.includes(headers.host ?? "")
      ? 421
      : answer === undefined
        ? 404
        : method === "GET"
          ? null
          : 405;
    const probed =
      answer === undefined || refused !== null
        ? Promise.resolve<Probed>({ status: refused ?? 404, body: null })
        : answer().catch((): Probed => ({ status: 503, body: null }));
    void probed.then(({ status, body, type }) => {
      response.writeHead(status, {
        "content-type": type ?? "application/json; charset=utf-8",
        "cache-control": "no-store",
      });
      response.end(type === undefined ? JSON.stringify(body) : body);
    });
  });
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = HEADERS_TIMEOUT_MS;
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => {
      const next = "Set monitoring.port to another one.";
      reject(new EnvironmentError(`Port ${port} cannot be used (${error.message}).`, next, error));
    });
    server.listen(port, "127.0.0.1", () => resolve());
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
