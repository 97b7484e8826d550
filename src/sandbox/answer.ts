/** Bodies in and answers out: their envelopes (specification part 1, conventions 2 to 4, and part 7). */
import { hash } from "node:crypto";
import { Decimal } from "../core/decimal.ts";
import { canonicalOf, type Json, parseExact } from "../core/json.ts";
import type { PrintedDocument } from "./document.ts";
import { type ErrorCode, errorStatuses } from "../platform/contract/operation.ts";

export interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly body: string | Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** In place of the body: what a PDF is printed of. */
  readonly paper?: PrintedDocument;
}

export const JSON_TYPE = "application/json; charset=utf-8";

export const json = (status: number, body: string): Answer => ({
  status,
  type: JSON_TYPE,
  body,
  headers: {},
});

/** The success envelope around data that is JSON text already. */
export const success = (status: number, data: string): Answer =>
  json(status, `{"success":true,"data":${data}}`);

export const noContent: Answer = { status: 204, type: null, body: "", headers: {} };

interface More {
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export const printed = (paper: PrintedDocument): Answer => {
  const name = paper.title.replaceAll(/[^A-Za-z0-9-]+/g, "-");
  const headers = { "Content-Disposition": `inline; filename="${name}.pdf"` };
  return { status: 200, type: "application/pdf", body: "", headers, paper };
};

/** Thrown by whatever refuses a request; it becomes the error envelope. */
export class Refusal extends Error {
  readonly answer: Answer;

  constructor(status: number, code: string, message: string, { fields, headers = {} }: More = {}) {
    super(message);
    this.name = "Refusal";
    const error = { code, message, ...fields };
    this.answer = { ...json(status, JSON.stringify({ success: false, error })), headers };
  }
}

export const refusal = (code: ErrorCode, message: string, more?: More): Refusal =>
  new Refusal(errorStatuses[code], code, message, more);

/** 400 VALIDATION_ERROR with what is wrong where. */
export const invalid = (
  message: string,
  issues: readonly { readonly path: string; readonly message: string }[] = [],
): Refusal => refusal("VALIDATION_ERROR", message, { fields: { details: { issues } } });

/** 404, the same for what does not exist and for what the caller cannot see (rule V1). */
export const notFound = (what: string): Refusal => refusal("NOT_FOUND", `${what} was not found.`);

/** The code of a status where part 7 names one (the first of several), else a plain name. */
export function codeOf(status: number): string {
  const named = Object.entries(errorStatuses).find(([, value]) => value === status);
  return named?.[0] ?? OTHER_CODES[status] ?? `HTTP_${status}`;
}

const OTHER_CODES: Readonly<Record<number, string>> = {
  410: "GONE",
  413: "PAYLOAD_TOO_LARGE",
  415: "UNSUPPORTED_MEDIA_TYPE",
  500: "INTERNAL_ERROR",
  502: "BAD_GATEWAY",
  503: "SERVICE_UNAVAILABLE",
};

/** A request's body as it arrived. */
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
  if (sent.tooLarge) throw new Refusal(413, codeOf(413), `A body has at most ${BODY_MAX} bytes.`);
  if (sent.body.length === 0) return undefined;
  const type = sent.contentType?.split(";")[0]?.trim().toLowerCase() ?? "application/json";
  if (type !== "application/json")
    throw new Refusal(415, codeOf(415), `A body is application/json, not ${type}.`);
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

/**
 * The fingerprint of a body, by value (readings: "same body" is the same JSON value): equal for equal JSON; for what is
 * no JSON, equal for equal bytes.
 */
export function hashOf(sent: Sent): string {
  if (sent.body.length === 0 || sent.tooLarge) return `bytes ${sent.digest}`;
  try {
    return hash("sha256", canonicalOf(parseExact(UTF8.decode(sent.body))));
  } catch {
    return `bytes ${sent.digest}`;
  }
}
