import { Refused, SourceUnavailable } from "../../../src/core/errors.ts";
import { type FaultKind, TrytonFault } from "../wire.ts";

/** What a call that failed means for whoever wanted to read. @throws the error itself when it is none of Tryton's */
export function unavailable(error: unknown): SourceUnavailable {
  // A code or party that cannot be told from another one.
  if (error instanceof Refused)
    return new SourceUnavailable(`Tryton cannot be read: ${error.fault.message}`, {
      next: error.fault.next,
      cause: error,
    });
  if (!(error instanceof TrytonFault)) throw error;
  const stop = STOPS[error.kind];
  return new SourceUnavailable(`Tryton cannot be read: ${error.message}`, {
    next: NEXT[error.kind] ?? "Look at Tryton's log; reading goes on by itself.",
    cause: error,
    ...(stop === undefined ? {} : { stop }),
    ...(error.waitMs === undefined ? {} : { waitMs: error.waitMs }),
  });
}

const STOPS: Partial<Record<FaultKind, string>> = {
  unauthorised: "credentials",
  throttled: "credentials",
  forbidden: "scope",
};

const RIGHTS = "Give the synchronisation's user the groups that the connector's README names.";
const NEXT: Partial<Record<FaultKind, string>> = {
  unauthorised: "Correct user and password in the configuration, or the user in Tryton.",
  throttled: "Somebody tried wrong passwords; Tryton lets this user in again after a while.",
  forbidden: RIGHTS,
  refused: RIGHTS,
  "not-sent": "Start Tryton, or correct url and database in the configuration.",
  torn: "Look at Tryton's log and at the network; reading goes on by itself.",
  busy: "Somebody else is writing; reading goes on by itself.",
};
