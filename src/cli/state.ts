/** What `check` and `doctor` say of the state folder, without an endpoint and without changing anything. */
import { type Config, ownerOf } from "../config/config.ts";
import type { Examination } from "../core/examination.ts";
import { EnvironmentError, FuelbridgeError } from "../core/errors.ts";
import { expectOwner } from "../store/binding.ts";
import { faultOfState, thisUser } from "../store/rights.ts";

/**
 * @throws EnvironmentError when the user of this process cannot write the store or its mark, ConfigurationError when the
 * store belongs to another company, platform or environment
 */
export function expectState(config: Config): void {
  const fault = faultOfState(config.state);
  if (fault !== null)
    throw new EnvironmentError(
      `The state folder ${config.state} cannot be used: ${fault.message}.`,
      fault.next,
    );
  expectOwner(config.state, ownerOf(config));
}

/** The same as one line of an examination. */
export function examineState(config: Config): Examination {
  const what = `state folder ${config.state}, as user ${thisUser()}`;
  try {
    expectState(config);
    return { what, fault: null };
  } catch (error) {
    if (!(error instanceof FuelbridgeError)) throw error;
    const { code, message, next } = error;
    return { what, fault: { code, message, next } };
  }
}
