import { Refused } from "../../src/core/errors.ts";

/** What an unknown status asks of the books nobody knows; posting it as something else would be a guess. */
export const unknownStatus = (what: string, status: string): Refused =>
  new Refused({
    code: "unknown-enum",
    message: `the ${what} status ${status} is not known to this version`,
    next: `Update fuelbridge, then retry; until then book these ${what}s by hand.`,
    field: "status",
  });
