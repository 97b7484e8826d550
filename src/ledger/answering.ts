/** What an ERP did with a request, as an answer or a finding: nothing that it does is an exception to the engine. */
import { Refused } from "../core/errors.ts";
import { type Answer, type Finding, refused } from "../core/outcome.ts";
import { answerOf, type ErrorRow, sorted, unreadable } from "./errors.ts";

/** Runs a send. What cannot be known is said so. @throws what is neither Refused nor a fault of the ERP */
export async function answering(
  errors: readonly ErrorRow[],
  send: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof Refused) return refused(error.fault);
    return answerOf(sorted(error, "create", errors), false);
  }
}

/** Runs a read-back: one that could not be made proves nothing. @throws as {@link answering} */
export async function finding(
  errors: readonly ErrorRow[],
  look: () => Promise<Finding>,
): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    return unreadable(error, errors);
  }
}
