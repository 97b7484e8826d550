/** Settings that several rooms read: choices, addresses and durations. */
import { z } from "zod";

/** One of these words; left out: the first. */
export const choice = <const Words extends readonly [string, ...string[]]>(
  words: Words,
  description: string,
) =>
  z
    .enum(words)
    .default(words[0] as never)
    .describe(description);

/* Addresses that secrets travel to. */

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

/** A text with a rule: `fault` is the end of a sentence that begins with the text; null: it is right. */
export const ruled = (fault: (text: string) => string | null) =>
  z.string().superRefine((text, context) => {
    const message = fault(text);
    if (message !== null) context.addIssue({ code: "custom", message });
  });

const LOOPBACK = /^(?:localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/;

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A length of time as people write it (`10m`), in milliseconds once parsed. */
export const duration = (what: string) =>
  z
    .string()
    .regex(/^\d{1,6}[smhd]$/, "is not a duration such as 10m or 26h")
    .transform((text) => Number(text.slice(0, -1)) * UNITS[text.slice(-1) as keyof typeof UNITS])
    .describe(`${what}: a duration such as 30s, 10m, 2h or 1d.`);
