/** What is refused before any page is asked: other names, other origins, other methods, other bodies. */
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { type WebConfig, consoleOrigin } from "../config/schema.ts";
import { getRequestListener } from "@hono/node-server";
import { listen, type Served } from "../office/server.ts";
import { consoleApp, securityHeaders } from "./app.ts";
import type { AppParts } from "./route.ts";

/** `origins`: of our pages, by the exact values of `Host` that are ours. Null: it may go on. */
function refuse(request: IncomingMessage, origins: ReadonlyMap<string, string>) {
  const { headers, rawHeaders, method = "", url = "" } = request;
  const given = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host");
  const { host = "", origin } = headers;
  // Under a name of its own, a page elsewhere could have this server answer as that page's (DNS rebinding).
  if (given.length !== 1 || !origins.has(host) || !/^\/(?!\/)/.test(url))
    return {
      status: 421,
      message:
        "This server has another name: that of console.web.url, or one of console.web.names.",
    };
  if (!METHODS.has(method)) return { status: 405, message: "Only GET and POST are taken." };
  const site = headers["sec-fetch-site"];
  if (method !== "POST") {
    const follows = headers["sec-fetch-mode"] === "navigate";
    const isOurs = site === undefined || site === "same-origin" || site === "none";
    return isOurs || follows
      ? null
      : { status: 403, message: "Pages of other sites have no access." };
  }
  const isOwn = origin === origins.get(host) && (site === undefined || site === "same-origin");
  if (!isOwn) return { status: 403, message: "A form of another site, or of none, is not taken." };
  const type = headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (type !== FORM) return { status: 415, message: "Only the console's own forms are taken." };
  // Browsers tell the length of a form; Node takes no more than was told.
  const bytes = headers["transfer-encoding"] === undefined ? headers["content-length"] : undefined;
  if (bytes === undefined) return { status: 411, message: "The length of the form is missing." };
  if (Number(bytes) > FORM_BYTES_MAX) return { status: 413, message: "The form is too long." };
  return null;
}

/** The longest form. */
const FORM_BYTES_MAX = 65_536;

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST"]);
const FORM = "application/x-www-form-urlencoded";

/**
 * The origins of this server's pages, by the `Host` of a request: the names that the configuration gives for it, those of
 * the loopback address, and the name at the proxy. A port that the scheme implies is left out by browsers.
 */
function originsOf(
  { names, tls, url }: Pick<WebConfig, "names" | "tls" | "url">,
  port: number,
): ReadonlyMap<string, string> {
  const scheme = tls === null ? "http" : "https";
  const isImplied = port === (tls === null ? 80 : 443);
  const own = [...names, "127.0.0.1", "localhost", "[::1]"].flatMap((name) => [
    `${name}:${port}`,
    ...(isImplied ? [name] : []),
  ]);
  const origins = new Map(own.map((host) => [host, `${scheme}://${host}`]));
  if (url !== undefined) origins.set(new URL(url).host, new URL(url).origin);
  return origins;
}

/**
 * The address that a request came from. Each proxy writes before itself whom it was asked by: what stands before the
 * first that is none of `proxies` was written by whoever sent it, and counts for nothing.
 */
export function askerOf(
  { socket, headers }: Pick<IncomingMessage, "socket" | "headers">,
  proxies: readonly string[],
): string {
  let asker = plain(socket.remoteAddress ?? "");
  const told = [headers["x-forwarded-for"] ?? []].flat().join(",").split(",");
  const trusted = new Set(proxies.map(plain));
  while (trusted.has(asker)) {
    const before = plain(told.pop()?.trim() ?? "");
    if (isIP(before) === 0) break;
    asker = before;
  }
  return asker;
}

/** Without a port, and an IPv4 address as one. */
function plain(address: string): string {
  const [, bracketed] = /^\[([^\]]*)\](?::\d+)?$/.exec(address) ?? [];
  const bare = bracketed ?? address.replace(/^([\d.]+):\d+$/, "$1");
  const isMapped = /^::ffff:[\d.]+$/i.test(bare);
  return isMapped ? bare.slice("::ffff:".length) : bare.toLowerCase();
}

/*
 * The web console's server. It is apart from the admin interface: that one is for programs of this machine that can read
 * a token, this one for people with a browser.
 */

interface WebOptions extends Omit<AppParts, "isSecure" | "port"> {
  readonly web: WebConfig;
}

/** So often it is looked for connections that are too slow. */
const LOOKED_AT_EVERY_MS = 5_000;
const KEEP_ALIVE_MS = 5_000;
const CONNECTIONS_MAX = 100;
const HEADER_BYTES_MAX = 16_384;

/** `url`: where a person goes. @throws EnvironmentError when the port is taken, or the certificate cannot be used */
export async function serveWeb(options: WebOptions): Promise<Served & { readonly url: string }> {
  const { web } = options;
  const { port, host, tls } = web;
  const isSecure = tls !== null || web.url !== undefined;
  const place = {
    port,
    host,
    tls,
    at: "console.web",
    connections: CONNECTIONS_MAX,
    limits: {
      connectionsCheckingInterval: LOOKED_AT_EVERY_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: HEADER_BYTES_MAX,
    },
    fault: `The console cannot listen on ${host}, port ${port}`,
    next: "Set console.web.port to another one, or console.web.host to an address of this machine.",
  };
  const served = await listen(place, (port) => {
    const app = consoleApp({ ...options, isSecure, port });
    const origins = originsOf(web, port);
    return async (request, response) => {
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
      await listener(request, response);
    };
  });
  return { ...served, url: `${consoleOrigin(web, served.port)}/` };
}

export type Web = Awaited<ReturnType<typeof serveWeb>>;
