/** What a failing file system says, and what that proves: the one place that knows error codes. */
import { SourceUnavailable } from "../../../src/core/errors.ts";
import { LINKED } from "./port.ts";
import { type Answer, type Breaker, nothingDone, unknown } from "../../../src/core/outcome.ts";

interface Trouble {
  readonly code: string;
  readonly detail: string;
  readonly next: string;
}

/**
 * After these the operation may have taken place all the same: the disk or the file server did not say. `EFAILED`: an
 * SFTP server that gives no reason.
 */
const UNCERTAIN = new Set([
  "EIO",
  "ESTALE",
  "ETIMEDOUT",
  "ECONNRESET",
  "EHOSTDOWN",
  "EFAILED",
  "EPROTO",
]);

/** So long nothing is tried again where a disk did not say what it did. */
export const SPARED_MS = 60_000;

const ACCESS = "Give the account that runs fuelbridge the right to use it.";
const HELD =
  "Another program has the file open: it is tried again; close it there if that takes long.";
const SPACE = "Free space on that disk or raise the quota; files then go out by themselves.";
const BUSY_HERE = "This machine has too much open or too little memory: look what else runs on it.";
const NEXT: Readonly<Record<string, string>> = {
  EMFILE: BUSY_HERE,
  ENFILE: BUSY_HERE,
  ENOMEM: BUSY_HERE,
  EAGAIN: BUSY_HERE,
  EACCES: ACCESS,
  EPERM: ACCESS,
  EROFS: "Mount that file system writable.",
  EBUSY: HELD,
  ETXTBSY: HELD,
  ENOSPC: SPACE,
  EDQUOT: SPACE,
  EFBIG: SPACE,
  ENOENT: "Create the folder, or mount the share it is on, and restart.",
  ENOTDIR: "A file is in the way of a folder: move it aside.",
  EFAILED:
    "The server gives no reason: look at its log, at its free space and quota, and whether the name is taken.",
  ETIMEDOUT: "Look at the server and the network; raise sftp.timeoutMs if the server is that slow.",
  ECONNRESET: "Look at the server and the network; the connection is made anew by itself.",
  [LINKED]:
    "A link may lead anywhere, and elsewhere tomorrow: put a folder in its place, or name the folder that it leads to in the settings.",
  EXDEV: "Mount the share one level higher, so that the folder and its .staging folder are on it.",
};

/** @throws the error itself when it did not come from the drop: a programming error. */
export function troubleOf(error: unknown): Trouble {
  if (error instanceof SourceUnavailable)
    return { code: error.code, detail: error.message, next: error.next };
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string")
    throw error;
  const next = NEXT[error.code] ?? "Look at the disk and at the file server.";
  return { code: error.code, detail: error.message, next };
}

/** What is wrong with a folder or its disk: whatever is moved there next meets it as well. */
const OF_THE_FOLDER: ReadonlySet<string> = new Set(
  ["EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT"].concat(["ENOENT", "ENOTDIR", "EXDEV", LINKED]),
);

/**
 * Of a failure of the move itself, or before it was asked for. What befalls every file stops the endpoint, so that it is
 * told with its cause and no document is charged with it. `missing`: the right that is, where one is and it is known.
 */
export function answerTo(error: unknown, wasAsked: boolean, missing: string | null = null): Answer {
  const { code, detail, next } = troubleOf(error);
  // The server was not reached: nothing was asked of it.
  if (error instanceof SourceUnavailable)
    return nothingDone(detail, {
      ...(error.stop === null ? {} : { stop: error.stop as Breaker, next: error.next }),
      ...(error.waitMs === null ? {} : { waitMs: error.waitMs }),
    });
  if (wasAsked && UNCERTAIN.has(code)) return unknown(detail, { holdMs: SPARED_MS });
  if (!(code in NEXT) && !UNCERTAIN.has(code)) return nothingDone(detail, { unlisted: true });
  if (!OF_THE_FOLDER.has(code)) return nothingDone(detail);
  return nothingDone(detail, { stop: "receiver", next: missing ?? next });
}

/** `missing`: the right that is, where one is and it is known. */
export function unavailable(
  error: unknown,
  what: string,
  missing: string | null = null,
): SourceUnavailable {
  if (error instanceof SourceUnavailable) return error;
  const { detail, next } = troubleOf(error);
  return new SourceUnavailable(`${what}: ${detail}`, { next: missing ?? next, cause: error });
}
