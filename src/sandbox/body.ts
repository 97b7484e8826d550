/** Request bodies: exact numbers, and a fingerprint by value (readings: "same body" is the same JSON value). */
import { hash } from "node:crypto";
import { Decimal } from "../core/decimal.ts";
import { type Json, parseExact } from "../core/json.ts";
import { invalid, Refusal } from "./answer.ts";

export interface Sent {
  readonly body: Buffer;
  /** SHA-256 of the bytes, hex. */
  readonly digest: string;
  readonly contentType: string | undefined;
  readonly tooLarge: boolean;
}

export const BODY_MAX = 256 * 1024;

/** @throws Refusal 413, 415 or 400 for a body that cannot be read. */
export function bodyOf(sent: Sent, wanted: boolean): Json | undefined {
  if (!wanted) return undefined;
  if (sent.tooLarge)
    throw new Refusal(413, "PAYLOAD_TOO_LARGE", `A body has at most ${BODY_MAX} bytes.`);
  if (sent.body.length === 0) return undefined;
  const type = sent.contentType?.split(";")[0]?.trim().toLowerCase() ?? "application/json";
  if (type !== "application/json")
    throw new Refusal(415, "UNSUPPORTED_MEDIA_TYPE", `A body is application/json, not ${type}.`);
  return parsed(sent.body);
}

/** @throws Refusal 400 for what is not JSON in UTF-8, or has numbers that most readers of JSON cannot hold. */
export function parsed(body: Buffer): Json {
  let value: Json;
  try {
    value = parseExact(UTF8.decode(body));
  } catch {
    throw invalid("The body is not JSON.");
  }
  if (!isFinite(value)) throw invalid("The body has a number that is out of range.");
  return value;
}

function isFinite(value: Json): boolean {
  if (value instanceof Decimal) return Number.isFinite(Number(value.text));
  if (typeof value !== "object" || value === null) return true;
  return Object.values(value).every(isFinite);
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** Equal for equal JSON values; for what is no JSON, equal for equal bytes. */
export function hashOf(sent: Sent): string {
  if (sent.body.length === 0 || sent.tooLarge) return `bytes ${sent.digest}`;
  try {
    return hash("sha256", canonical(parseExact(UTF8.decode(sent.body))));
  } catch {
    return `bytes ${sent.digest}`;
  }
}

/** Members in one order, numbers in one notation. */
function canonical(value: Json): string {
  if (value instanceof Decimal) return value.plain();
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonical(item)).join(",")}]`;
  const members = Object.entries(value as Readonly<Record<string, Json>>);
  members.sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`).join(",")}}`;
}
