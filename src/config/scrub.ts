/**
 * Keeps secrets out of whatever people read: it looks for the values themselves, not for the names of fields, so no
 * carrier is forgotten (a message, a URL, a stack). It knows the secrets of the configuration in the forms they travel
 * in, and what looks like a secret even if nobody told it.
 */
export type Scrub = (text: string) => string;

const SHOWN = "[secret]";

const LOOKS_SECRET = [
  String.raw`svc_(?:live|test)_[A-Za-z0-9_-]+`,
  String.raw`(?<=\b(?:Bearer|Basic)\s+)[A-Za-z0-9._~+/=-]{8,}`,
  // A private key, whole or cut off; line breaks may be escaped.
  String.raw`-----BEGIN [A-Z0-9 ]*-----(?:(?!-----END )[^"])*(?:-----END [A-Z0-9 ]*-----)?`,
];

/** Shorter values cannot be told from ordinary words: `secret()` refuses them. */
export const SECRET_LENGTH_MIN = 4;

export function scrubber(secrets: readonly string[]): Scrub {
  const forms = secrets.filter((secret) => secret.length >= SECRET_LENGTH_MIN).flatMap(formsOf);
  // Longest first: a secret that contains another one must not leave its ends behind.
  const known = [...new Set(forms)].sort((a, b) => b.length - a.length).map(literally);
  const pattern = new RegExp([...known, ...LOOKS_SECRET].join("|"), "gi");
  return (text) => text.replace(pattern, SHOWN);
}

/** The same in every text of a JSON value, keys included. */
export function scrubValue(value: unknown, scrub: Scrub): unknown {
  if (typeof value === "string") return scrub(value);
  if (Array.isArray(value)) return value.map((item) => scrubValue(item, scrub));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([key, item]) => [scrub(key), scrubValue(item, scrub)]));
}

/** As written, in a URL, in JSON text, in base64. */
function formsOf(secret: string): string[] {
  const base64 = Buffer.from(secret).toString("base64").replace(/=+$/, "");
  return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), base64];
}

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`);
