/**
 * The web console's server. It is apart from the admin interface: that one is for programs of this machine that can read
 * a token, this one for people with a browser.
 */
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import { consoleOrigin, type WebConfig } from "../config/schema.ts";
import { EnvironmentError } from "../core/errors.ts";
import { consoleApp } from "./app.ts";
import { askerOf, originsOf, refuse, securityHeaders } from "./guard.ts";
import type { AppParts } from "./route.ts";

interface WebOptions extends Omit<AppParts, "isSecure"> {
  readonly web: WebConfig;
}

export interface Web {
  /** Where a person goes. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** So often it is looked for connections that are too slow. */
const LOOKED_AT_EVERY_MS = 5_000;
const KEEP_ALIVE_MS = 5_000;
const CONNECTIONS_MAX = 100;
const HEADER_BYTES_MAX = 16_384;
/** How long an answer may take that is under way when the daemon ends. */
const CLOSE_TIMEOUT_MS = 2_000;

/** @throws EnvironmentError when the port is taken, or the certificate cannot be used */
export async function serveWeb(options: WebOptions): Promise<Web> {
  const { web } = options;
  const app = consoleApp({ ...options, isSecure: web.tls !== null || web.url !== undefined });
  const server = web.tls === null ? createServer(LIMITS) : tlsServer(web.tls);
  server.maxConnections = CONNECTIONS_MAX;
  const port = await listen(server, web);
  const origins = originsOf(web, port);
  server.on("request", (request, response) => {
    const refused = refuse(request, origins);
    if (refused !== null) {
      const { status, message } = refused;
      response.writeHead(status, {
        ...securityHeaders,
        "content-type": "text/plain; charset=utf-8",
        "cache-control": "no-store",
        connection: "close",
      });
      response.end(`${message}\n`);
      return;
    }
    const remote = askerOf(request, web.proxies);
    const listener = getRequestListener((asked) => app.fetch(asked, { remote }), {
      overrideGlobalObjects: false,
    });
    void listener(request, response);
  });
  return {
    url: `${consoleOrigin(web, port)}/`,
    port,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      await Promise.race([closed, delay(CLOSE_TIMEOUT_MS, null, { ref: false })]);
      server.closeAllConnections();
      await closed;
    },
  };
}

const LIMITS = {
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  connectionsCheckingInterval: LOOKED_AT_EVERY_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  maxHeaderSize: HEADER_BYTES_MAX,
};

function tlsServer({ certificate, key }: NonNullable<WebConfig["tls"]>): Server {
  try {
    return createTlsServer({
      ...LIMITS,
      cert: readFileSync(certificate),
      key: readFileSync(key),
      minVersion: "TLSv1.2",
    });
  } catch (error) {
    throw new EnvironmentError(
      `The console's certificate cannot be used (${(error as Error).message}).`,
      "console.web.certificate and key name PEM files that the service's user can read, and that belong together.",
      error,
    );
  }
}

async function listen(server: Server, { port, host }: WebConfig): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => {
      const next =
        "Set console.web.port to another one, or console.web.host to an address of this machine.";
      const message = `The console cannot listen on ${host}, port ${port} (${error.message}).`;
      reject(new EnvironmentError(message, next, error));
    });
    server.listen(port, host, () => resolve());
  });
  return (server.address() as AddressInfo).port;
}
