/** What a call of the typed client can fail with. Errors of the endpoint's flows are those of core. */
import { type AnswerName, executed } from "./answers.ts";
import type { Exchange } from "./client.ts";
import type { OperationId } from "./contract/operations.ts";
import { refusalOf } from "./outcomes.ts";

interface Parts {
  readonly kind: AnswerName;
  readonly message: string;
  readonly status?: number;
  readonly code?: string;
  readonly details?: unknown;
  readonly waitMs?: number | undefined;
  readonly requestId?: string | undefined;
  readonly cause?: unknown;
}

/** One request that did not succeed. Nothing was tried again: `kind` and `executed` say whether that may be done. */
export class PlatformError extends Error {
  readonly operation: OperationId;
  /**
   * What happened, in the words of answers.ts. `not-sent` and `torn` had no answer, `unreadable` had one that is
   * not in the contract; `slow-down` passes within a minute, `month-spent` with the month.
   */
  readonly kind: AnswerName;
  /** Of HTTP; null without an answer, and for a request that was refused on this side (`invalid`). */
  readonly status: number | null;
  /** Of the error envelope (specification part 7), or one that it has gained since; empty where there is none. */
  readonly code: string;
  /** Of the error envelope; its contents are not specified. On this side: `{issues: [{path, message}]}`. */
  readonly details: unknown;
  /** How long the platform said to wait, milliseconds; null when it did not. */
  readonly waitMs: number | null;
  /** The platform's own id of the exchange, for its support. */
  readonly requestId: string | null;

  constructor(operation: OperationId, parts: Parts) {
    super(`${operation}: ${parts.message}`, { cause: parts.cause });
    this.name = "PlatformError";
    this.operation = operation;
    this.kind = parts.kind;
    this.status = parts.status ?? null;
    this.code = parts.code ?? "";
    this.details = parts.details ?? null;
    this.waitMs = parts.waitMs ?? null;
    this.requestId = parts.requestId ?? null;
  }

  /** Of a write: did it take place? After `unknown` only the same body under the same key is safe. */
  get executed(): "yes" | "no" | "unknown" {
    return executed(this.kind);
  }
}

/** The error of an exchange that is no success of its operation. */
export function errorOf(operation: OperationId, exchange: Exchange, now: Date): PlatformError {
  if (exchange.kind === "held") {
    const { detail: message, waitMs } = exchange;
    return new PlatformError(operation, { kind: "month-spent", message, waitMs });
  }
  if (exchange.kind !== "answer")
    return new PlatformError(operation, { kind: exchange.kind, message: exchange.detail });
  const { status, headers } = exchange;
  const { name: kind, code, message, details, waitMs } = refusalOf(exchange, now);
  return new PlatformError(operation, {
    kind,
    status,
    code,
    details,
    waitMs,
    message: [status, code, message].filter(Boolean).join(" "),
    requestId: headers["x-request-id"],
  });
}

/** The error of an answer that is not what the contract says. */
export const unreadable = (
  operation: OperationId,
  message: string,
  parts: Pick<Parts, "status" | "requestId" | "cause"> = {},
): PlatformError => new PlatformError(operation, { kind: "unreadable", message, ...parts });

/** The error of a request that the platform would refuse: it has not been sent. */
export const invalid = (
  operation: OperationId,
  issues: readonly { readonly path: string; readonly message: string }[],
): PlatformError =>
  new PlatformError(operation, {
    kind: "invalid",
    code: "VALIDATION_ERROR",
    message: issues.map(({ path, message }) => `${path}: ${message}`).join("; "),
    details: { issues },
  });
