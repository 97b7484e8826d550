/** An answer that no operation of the API gives: the address is another one, or something answers in between. */
import { SourceUnavailable } from "../core/errors.ts";
import type { Exchange } from "./client.ts";

type Answer = Extract<Exchange, { kind: "answer" }>;

const PATH = "/v1/public";

/**
 * What came back instead of the API's list of invoices, which every key may read, and what `url` should look like. Null:
 * the API answered, or nothing did.
 */
export function misaddressed(exchange: Exchange, url: string): SourceUnavailable | null {
  if (exchange.kind !== "answer") return null;
  const { status, headers } = exchange;
  const isJson = /\bjson\b/.test(headers["content-type"] ?? "");
  if (status >= 300 && status < 400) return redirected(exchange, url);
  if (status === 407) return wrong(exchange, url, PROXY);
  if (status >= 500 && !isJson) return wrong(exchange, url, GATEWAY);
  if (status === 404 || status === 405 || !isJson) return wrong(exchange, url, pathNext(url));
  return null;
}

/** Of an answer that is JSON and no list. */
export const noList = (exchange: Answer, url: string): SourceUnavailable =>
  wrong(exchange, url, pathNext(url));

const PROXY =
  "A proxy on the way asks for a login; fuelbridge uses none. Have this machine reach the platform directly.";
const GATEWAY =
  "Something before the platform answered: a gateway or a proxy. Try again in a few minutes; if it stays, ask who looks after the network, or the platform's support.";

function pathNext(url: string): string {
  const { origin, pathname } = new URL(url);
  return `Set platform.url to the base of the API, which ends in ${PATH}: ${origin}${PATH}, if the host is right. Its path is "${pathname}" now. If the path is right, a proxy on the way may have answered.`;
}

function redirected({ status, headers }: Answer, url: string): SourceUnavailable {
  // Without its query, which may carry a session.
  const to = URL.parse(headers["location"] ?? "", url);
  const shown = to === null ? "nowhere" : `${to.origin}${to.pathname}`;
  return new SourceUnavailable(`${url} answered with a redirect (${status}) to ${shown}.`, {
    stop: "configuration",
    next: `Redirects are not followed, because the API key would go along. If the API has moved there, set platform.url to its base, which ends in ${PATH}; a login or block page is a proxy's: ask who looks after the network.`,
  });
}

const wrong = (answer: Answer, url: string, next: string): SourceUnavailable =>
  new SourceUnavailable(`${url} answered ${answer.status} with ${bodyOf(answer)}.`, {
    stop: "configuration",
    next,
  });

const TITLE_MAX = 80;

/** In a few words; never the body itself. */
function bodyOf({ headers, text }: Answer): string {
  if (text === "") return "nothing in it";
  const [type = ""] = (headers["content-type"] ?? "").split(";");
  if (!/html/i.test(type) && !/^\s*<(?:!doctype html|html)/i.test(text))
    return type === "" ? "a body of no type" : type;
  const title = /<title[^>]*>([^<]*)/i.exec(text)?.[1]?.replaceAll(/\s+/g, " ").trim() ?? "";
  return title === "" ? "an HTML page" : `an HTML page "${title.slice(0, TITLE_MAX)}"`;
}
