/** What the table of operations says of each one, and the kinds of rows in it. */
import { z } from "zod";
import { integer, openEnum, orNull, pages, type PageSize, text } from "./primitives.ts";

export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Relative to the base; `{id}` is a UUID unless {@link textId}. */
  readonly path: string;
  readonly textId?: true;
  /** Raw query values are text; unknown parameters are dropped. */
  readonly query?: z.ZodType;
  /** Without one, the operation takes no body; `undefined` passes where the body is optional. */
  readonly body?: z.ZodType;
  /** `list` is paged and has `meta`, `array` is whole; `data` is the schema of one element of either. */
  readonly success: {
    readonly status: 200 | 201 | 204;
    readonly kind: "one" | "list" | "array" | "pdf" | "none";
    readonly data?: z.ZodType;
  };
  /**
   * Statuses of the operation's own row. Every operation may answer 401, 403, 429 and 504 besides, every write 400 and
   * 409 for its key (part 7).
   */
  readonly errors: readonly number[];
  /** Rule W1. */
  readonly idempotencyKey: boolean;
  /** The scope a key must hold, where the specification names it. */
  readonly scope?: "pricing:write" | "supplier_terminals:write";
  readonly pageSize?: PageSize;
  /** Rule P2: `updatedSince`, then `meta.nextCursor` as `cursor`. */
  readonly cursorWalk?: true;
  /** The path is not in the specification's tables, only its rules are. */
  readonly inferred?: true;
}

const get = { method: "GET", errors: [404], idempotencyKey: false } as const;

export const list = <const Path extends string, Query extends z.ZodType, Data extends z.ZodType>(
  path: Path,
  query: Query,
  data: Data,
  pageSize: PageSize,
) => {
  const success = { status: 200, kind: "list", data } as const;
  return { ...get, path, query, success, pageSize, errors: [] } as const;
};

/** A list that may be asked for what changed. */
export const walk = <const Path extends string, Query extends z.ZodType, Data extends z.ZodType>(
  path: Path,
  query: Query,
  data: Data,
) => ({ ...list(path, query, data, pages), cursorWalk: true }) as const;

export const one = <const Path extends string, Data extends z.ZodType>(path: Path, data: Data) =>
  ({ ...get, path, success: ok(data) }) as const;

export const all = <const Path extends string, Data extends z.ZodType>(path: Path, data: Data) =>
  ({ ...get, path, success: { status: 200, kind: "array", data } }) as const;

export const pdf = <const Path extends string>(path: Path) =>
  ({ ...get, path, success: { status: 200, kind: "pdf" } }) as const;

export const post = <const Path extends string, Body extends z.ZodType, Data extends z.ZodType>(
  path: Path,
  body: Body,
  data: Data,
) => {
  const success = { status: 201, kind: "one", data } as const;
  const rest = { errors: [400] as readonly number[], idempotencyKey: true } as const;
  return { method: "POST", path, body, success, ...rest } as const;
};

export const put = <const Path extends string, Body extends z.ZodType, Data extends z.ZodType>(
  path: Path,
  body: Body,
  data: Data,
) => {
  const rest = { errors: [400, 404], idempotencyKey: true } as const;
  return { method: "PUT", path, body, success: ok(data), ...rest } as const;
};

export const ok = <Data extends z.ZodType>(data: Data) =>
  ({ status: 200, kind: "one", data }) as const;

/* The frames around every answer (specification part 1, conventions 2 to 4, and part 7). */

/** Every error code of part 7 with its HTTP status. */
export const errorStatuses = {
  VALIDATION_ERROR: 400,
  IDEMPOTENCY_KEY_REQUIRED: 400,
  INVALID_API_KEY: 401,
  INSUFFICIENT_SCOPE: 403,
  NOT_FOUND: 404,
  IDEMPOTENCY_KEY_CONFLICT: 409,
  IDEMPOTENCY_IN_FLIGHT: 409,
  IDEMPOTENCY_OUTCOME_UNKNOWN: 409,
  RATE_LIMIT_EXCEEDED: 429,
  MONTHLY_CAP_EXCEEDED: 429,
  REQUEST_TIMEOUT: 504,
} as const;

export type ErrorCode = keyof typeof errorStatuses;

const errorCodes = Object.keys(errorStatuses) as ErrorCode[];

/** Where a page stands in its list; all counts are whole numbers, pages count from 1. */
export const Meta = z.looseObject({
  total: integer,
  page: integer,
  pageSize: integer,
  totalPages: integer,
  hasMore: z.boolean(),
  /**
   * Null at the end of a walk, and in lists that are not walked. What a cursor is the specification does not say: it may be a
   * whole number, as the others of `meta` are (part 1), and goes back as text either way.
   */
  nextCursor: orNull(z.union([text, integer.transform(String)])),
});

export type Meta = z.infer<typeof Meta>;

export const successOf = <T extends z.ZodType>(data: T) =>
  z.looseObject({ success: z.literal(true), data });

export const listOf = <T extends z.ZodType>(item: T) =>
  z.looseObject({ success: z.literal(true), data: z.array(item), meta: Meta });

/** `retryAfterSec` (seconds) and `kind` come with a 429 only. */
export const ErrorEnvelope = z.looseObject({
  success: z.literal(false),
  error: z.looseObject({
    code: openEnum(errorCodes),
    message: text,
    details: z.unknown().optional(),
    retryAfterSec: integer.optional(),
    kind: openEnum(["burst", "quota"]).optional(),
  }),
});
