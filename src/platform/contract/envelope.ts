/** The frames around every answer (specification part 1, conventions 2 to 4, and part 7). */
import { z } from "zod";
import { integer, openEnum, orNull, text } from "./primitives.ts";

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
  /** Null at the end of a walk, and in lists that are not walked. */
  nextCursor: orNull(text),
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
