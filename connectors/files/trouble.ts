/** What a failing file system says, and what that proves: the one place that knows error codes. */
import { SourceUnavailable } from "../../src/core/errors.ts";
import { type Answer, nothingDone, unknown } from "../../src/core/outcome.ts";

interface Trouble {
  readonly code: string;
  readonly detail: string;
  readonly next: string;
}

/** After these the operation may have taken place all the same: the disk or the file server did not say. */
const UNCERTAIN = new Set(["EIO", "ESTALE", "ETIMEDOUT", "ECONNRESET", "EHOSTDOWN"]);

/** So long nothing is tried again where a disk did not say what it did. */
export const SPARED_MS = 60_000;

const ACCESS = "Give the account that runs fuelbridge the right to use it.";
const SPACE = "Free space on that disk or raise the quota; files then go out by themselves.";
const NEXT: Readonly<Record<string, string>> = {
  EACCES: ACCESS,
  EPERM: ACCESS,
  EROFS: "Mount that file system writable.",
  ENOSPC: SPACE,
  EDQUOT: SPACE,
  EFBIG: SPACE,
  ENOENT: "Create the folder, or mount the share it is on, and restart.",
  ENOTDIR: "A file is in the way of a folder: move it aside.",
  EXDEV: "Mount the share one level higher, so that the folder and its .staging folder are on it.",
};

/** @throws the error itself when it did not come from the file system: a programming error. */
export function troubleOf(error: unknown): Trouble {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string")
    throw error;
  const next = NEXT[error.code] ?? "Look at the disk and at the file server.";
  return { code: error.code, detail: error.message, next };
}

export function answerTo(error: unknown): Answer {
  const { code, detail } = troubleOf(error);
  return UNCERTAIN.has(code) ? unknown(detail, { holdMs: SPARED_MS }) : nothingDone(detail);
}

/** `missing`: the right that is, where one is and it is known. */
export function unavailable(
  error: unknown,
  what: string,
  missing: string | null = null,
): SourceUnavailable {
  const { detail, next } = troubleOf(error);
  return new SourceUnavailable(`${what}: ${detail}`, { next: missing ?? next, cause: error });
}
