/**
 * Control requests carry no credentials, so a browser must not be talked into sending one: by another site's page, nor
 * by a name that was made to point here. Programs send none of these headers but Host.
 */
import type { IncomingHttpHeaders } from "node:http";

const LOOPBACK = /^(127(\.\d{1,3}){3}|\[?::1\]?|localhost)$/;

export const isLoopback = (name: string): boolean => LOOPBACK.test(name);

/** Why the request is refused, or null. */
export function foreign(headers: IncomingHttpHeaders): string | null {
  const { host = "", origin } = headers;
  const site = headers["sec-fetch-site"] ?? "none";
  if (!isLoopback(host.replace(/:\d+$/, "").toLowerCase())) return `${host} is no loopback name.`;
  if (site !== "same-origin" && site !== "none") return "The request comes from another site.";
  if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`)
    return `The request comes from ${origin}.`;
  return null;
}
