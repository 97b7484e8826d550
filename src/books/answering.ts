/** What an ERP did with a request, as an answer or a finding: nothing that it does is an exception to the engine. */
import { Refused } from "../core/errors.ts";
import { type Answer, type Finding, refused } from "../core/outcome.ts";
import { answerOf, type FaultRow, sorted, unreadable } from "./faults.ts";

/** Runs a send. What cannot be known is said so. @throws what is neither Refused nor a fault of the ERP */
export async function answering(
  faults: readonly FaultRow[],
  send: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof Refused) return refused(error.fault);
    return answerOf(sorted(error, "create", faults), false);
  }
}

/** Runs a read-back: one that could not be made proves nothing. @throws as {@link answering} */
export async function finding(
  faults: readonly FaultRow[],
  look: () => Promise<Finding>,
): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    return unreadable(error, faults);
  }
}
