/** What an outcome means for people: causes in the quarantine, each with its next step. */
import type { Fault } from "../core/fault.ts";
import type { Answer, Finding } from "../core/outcome.ts";
import type { Link } from "../store/links.ts";

/** `said`: what the receiver said of the refusal, where a read only proved that nothing happened. */
export function refusedBecause(cause: Answer | Finding, said: Fault | null): Fault {
  const fault = "fault" in cause ? cause.fault : undefined;
  return (
    fault ??
    said ?? {
      code: "refused",
      message: `the receiver refused it: ${cause.detail}`,
      next: "Correct the document where it comes from, or the mapping, then retry.",
    }
  );
}

/** Nothing was sent: the look before the first send found something else. */
export function taken(cause: Answer | Finding): Fault {
  const fault = "fault" in cause ? cause.fault : undefined;
  return (
    fault ?? {
      code: "number-taken",
      message: `the receiver has another document under this number: ${cause.detail}`,
      next: "Compare both. Correct the number where it comes from, then retry; or resolve it with --receiver-id when both are the same.",
    }
  );
}

/** Two of ours are one there. */
export function sameThere(id: string, { number }: Link): Fault {
  return {
    code: "one-at-receiver",
    message: `the receiver has it as ${id}, and has another one of ours (${number}) as the same`,
    next: "Look which of the two counts. Resolve it when there is rightly one; else correct its number where it comes from.",
  };
}

/** It was delivered, and is not at the endpoint any more, or is back at an earlier state. */
export const gone = (endpoint: string): Fault => ({
  code: "gone",
  message: `it was delivered, but "${endpoint}" no longer has it, or not as it was brought there`,
  next: `Were the books of "${endpoint}" restored from a backup? Then retry: it is delivered again. If it was removed or taken back on purpose, resolve it.`,
});

/** Nobody has decided about the version that is gone, or somebody let it be. */
export const goneBefore = (endpoint: string): Fault => ({
  code: "gone-before",
  message: `it changed, and the version that was delivered before is gone from "${endpoint}"`,
  next: `Retry it when it belongs there: it is delivered as a new one. If it was removed on purpose, resolve it.`,
});

/** The receiver holds other values. `message`: one line per field. */
export const differs = (endpoint: string, message: string, takesChanges: boolean): Fault => ({
  code: "differs",
  message,
  next: takesChanges
    ? `Correct it in "${endpoint}", and it closes by itself; or retry: it is delivered again as it is now. If "${endpoint}" is right, resolve it: exactly these values are accepted.`
    : `Correct it in "${endpoint}" by hand, for it takes no changes: then it closes by itself. If "${endpoint}" is right, resolve it: exactly these values are accepted.`,
});

const needsDecision = (message: string): Fault => ({
  code: "needs-decision",
  message,
  next: "Look for it at the receiver: resolve it with --receiver-id when it is there, retry it when it is not.",
});

/** What a look found says more than that nobody can tell: which documents of the receiver may be it, or another amount. */
export const undecided = (cause: Answer | Finding): Fault => {
  const fault = "found" in cause && cause.found === "different" ? cause.fault : undefined;
  return fault?.candidates === undefined && fault?.amount === undefined
    ? needsDecision(`nobody can tell by machine whether it arrived: ${cause.detail}`)
    : fault;
};

export const undecidedBefore = needsDecision(
  "an earlier version of it was sent, and nobody can tell by machine whether it arrived",
);
