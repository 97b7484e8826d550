/**
 * Errors by what the receiver must do about them. Every one says what is wrong, where, and what to do next.
 * Outcomes of a request are not errors: see outcome.ts.
 */
import type { Fault } from "./record.ts";
import type { Kind } from "./kinds.ts";

const BUSY_HERE = "This machine has too much open or too little memory: look what else runs on it.";
const SPACE = "Free space on that disk (`df`; where some is free, `df -i`) or raise the quota.";
const MACHINE: Readonly<Record<string, string>> = {
  EMFILE: BUSY_HERE,
  ENFILE: BUSY_HERE,
  ENOMEM: BUSY_HERE,
  EAGAIN: BUSY_HERE,
  ENOSPC: SPACE,
  EDQUOT: SPACE,
  EFBIG: SPACE,
  EROFS: "Mount that file system writable.",
  EIO: "Look at the disk and at the file server.",
};

/**
 * What a person can do about an error of the file system that is about the machine, whichever file it met; undefined: it is about
 * that file, and who asked for it knows. `code`: `EMFILE`, or anything else.
 */
export const aboutMachine = (code: unknown): string | undefined =>
  typeof code === "string" && Object.hasOwn(MACHINE, code) ? MACHINE[code] : undefined;

/** Exit codes of every command: docs/commands.md says what each means. */
export const exitCodes = {
  ok: 0,
  runtime: 1,
  configuration: 2,
  environment: 3,
  storage: 4,
  interrupted: 130,
  terminated: 143,
} as const;

/** An error that ends a command: a sentence, what to do next, and the exit code. */
export class FuelbridgeError extends Error {
  readonly exitCode: number;
  readonly code: string;
  /** One sentence: what the operator should do. */
  readonly next: string;

  constructor(
    exitCode: number,
    code: string,
    message: string,
    options: { next: string; cause?: unknown },
  ) {
    super(message, { cause: options.cause });
    this.name = new.target.name;
    this.exitCode = exitCode;
    this.code = code;
    this.next = options.next;
  }
}

/** The configuration is wrong; nothing runs until a person has changed it. */
export class ConfigurationError extends FuelbridgeError {
  constructor(message: string, next: string, cause?: unknown) {
    super(exitCodes.configuration, "configuration", message, { next, cause });
  }
}

/** Something outside our process is missing: a runtime, a port, an endpoint that must be there to start. */
export class EnvironmentError extends FuelbridgeError {
  constructor(message: string, next: string, cause?: unknown) {
    super(exitCodes.environment, "environment", message, { next, cause });
  }
}

/** Another process holds the store. `holder`: the process that answered for it; null when none did, or none was asked. */
export class StoreInUse extends EnvironmentError {
  readonly holder: number | null;

  constructor(message: string, next: string, cause?: unknown, holder: number | null = null) {
    super(message, next, cause);
    this.holder = holder;
  }
}

/** The store cannot be trusted to keep what it is given. The process ends, for an answer that cannot be stored is lost. */
export class StorageError extends FuelbridgeError {
  constructor(message: string, next: string, cause?: unknown) {
    super(exitCodes.storage, "storage", message, { next, cause });
  }
}

/**
 * A source could not be read just now: the walk stops where it is and the next run goes on from the stored position.
 * `waitMs` when we were told how long to wait; `stop` names a breaker that needs a person (credentials, version).
 */
export class SourceUnavailable extends Error {
  /** Stable, kebab-case: `budget` while the month's requests are kept for others; `turn` while only its turn is awaited; the stop's name; else `unavailable`. */
  readonly code: string;
  readonly next: string;
  readonly waitMs: number | null;
  readonly stop: string | null;

  constructor(
    message: string,
    options: { next: string; code?: string; waitMs?: number; stop?: string; cause?: unknown },
  ) {
    super(message, { cause: options.cause });
    this.name = "SourceUnavailable";
    this.code = options.code ?? options.stop ?? "unavailable";
    this.next = options.next;
    this.waitMs = options.waitMs ?? null;
    this.stop = options.stop ?? null;
  }
}

/** This document cannot go out as it is: it is quarantined with the reason, everything else goes on. */
export class Refused extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message);
    this.name = "Refused";
    this.fault = fault;
  }
}

/**
 * A cross-reference table has no row for this value yet, or nothing in a column of that row. Writing it there and retrying
 * delivers the document.
 */
export class NotMapped extends Refused {
  /** @param column the empty one; left out: there is no row */
  constructor(table: string, value: string, column?: string) {
    const file = `crossref/${table}.csv`;
    super(
      column === undefined
        ? {
            code: "not-mapped",
            message: `${file} has no row \`${value}\``,
            next: `Add a row for ${value} to the cross-reference table "${table}" and retry.`,
            lookup: { table, key: value },
          }
        : {
            code: "not-mapped",
            message: `${file} has nothing in the column ${column} of the row \`${value}\``,
            next: `Fill the column ${column} of the row ${value} in the cross-reference table "${table}" and retry.`,
            // Each cell is filled by itself, as each missing row is: the documents of one are a group.
            reason: `${file}: ${column} of ${value}`,
          },
    );
    this.name = "NotMapped";
  }
}

/** The document names another one that is not on the other side yet; it goes out by itself as soon as that one is. */
export class WaitsFor extends Refused {
  readonly kind: Kind;
  readonly id: string;

  constructor(kind: Kind, id: string) {
    super({
      code: "waits-for",
      message: `waits for ${kind} ${id}`,
      next: `It goes out by itself once ${kind} ${id} is delivered; look for ${id} if that takes long.`,
      awaits: { kind, id },
    });
    this.name = "WaitsFor";
    this.kind = kind;
    this.id = id;
  }
}

/** One complaint of a schema about what it read: `total: must be a number`. */
export const complaintOf = (issue: {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}): string => `${issue.path.join(".") || "record"}: ${issue.message}`;

/** A refusal of the office, with what to do instead. */
export class OfficeError extends Error {
  readonly next: string;
  constructor(message: string, next: string) {
    super(message);
    this.name = "OfficeError";
    this.next = next;
  }
}
