/** What the table of operations says of each one, and the words it says it in. */
import type { z } from "zod";
import type { PageSize } from "./primitives.ts";

export interface Operation {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Relative to the base; `{id}` is a UUID unless {@link textId}. */
  readonly path: string;
  readonly group:
    | "orders"
    | "delivery-tickets"
    | "invoices"
    | "payments"
    | "pricing"
    | "connections"
    | "parties"
    | "locations"
    | "allocations"
    | "supplier-terminals"
    | "companies";
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

/** Sizes of rule P1. */
export const pages = { default: 20, max: 100 } as const;
export const widePages = { default: 20, max: 500 } as const;
export const rackPages = { default: 50, max: 500 } as const;
export const terminalPages = { default: 50, max: 100 } as const;

export const get = { method: "GET", errors: [], idempotencyKey: false } as const;
export const post = { method: "POST", errors: [400], idempotencyKey: true } as const;
export const put = { method: "PUT", errors: [400, 404], idempotencyKey: true } as const;

export const ok = <T extends z.ZodType>(data: T) => ({ status: 200, kind: "one", data }) as const;
export const created = <T extends z.ZodType>(data: T) =>
  ({ status: 201, kind: "one", data }) as const;
export const list = <T extends z.ZodType>(data: T) =>
  ({ status: 200, kind: "list", data }) as const;
export const array = <T extends z.ZodType>(data: T) =>
  ({ status: 200, kind: "array", data }) as const;
export const pdf = { status: 200, kind: "pdf" } as const;
