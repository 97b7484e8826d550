/** Answers and their envelopes (specification part 1, conventions 2 to 4, and part 7). */
import { type ErrorCode, errorStatuses } from "../platform/contract/envelope.ts";

export interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly body: string | Buffer;
  readonly headers: Readonly<Record<string, string>>;
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

/** Thrown by whatever refuses a request; it becomes the error envelope. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    message: string,
    more: { fields?: Record<string, unknown>; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.name = "Refusal";
    this.status = status;
    this.code = code;
    this.fields = more.fields ?? {};
    this.headers = more.headers ?? {};
  }

  get answer(): Answer {
    const error = { code: this.code, message: this.message, ...this.fields };
    const body = JSON.stringify({ success: false, error });
    return { status: this.status, type: JSON_TYPE, body, headers: this.headers };
  }
}

export function refusal(
  code: ErrorCode,
  message: string,
  more: ConstructorParameters<typeof Refusal>[3] = {},
): Refusal {
  return new Refusal(errorStatuses[code], code, message, more);
}

export interface Issue {
  readonly path: string;
  readonly message: string;
}

/** 400 VALIDATION_ERROR with what is wrong where. */
export function invalid(message: string, issues: readonly Issue[] = []): Refusal {
  return refusal("VALIDATION_ERROR", message, { fields: { details: { issues } } });
}

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
