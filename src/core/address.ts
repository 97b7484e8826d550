/** Addresses that secrets travel to. */

/**
 * Why an address cannot be used for a receiver; null: it can. http is accepted only where it does not leave this
 * machine, because the credentials would be readable on the way.
 */
export function faultOfAddress(text: string): string | null {
  const url = URL.parse(text);
  if (url === null) return "is not an address";
  if (url.username !== "" || url.password !== "") return "carries a user name or password";
  if (url.search !== "" || url.hash !== "") return "ends in a query or fragment";
  if (url.protocol === "https:") return null;
  if (url.protocol !== "http:") return "is neither https nor http";
  return LOOPBACK.test(url.hostname)
    ? null
    : "is http, which is for this machine's loopback address only";
}

const LOOPBACK = /^(?:localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/;
