/** One thing that is looked at before the first document goes. */
import { Refused } from "../../src/core/errors.ts";
import type { Fault } from "../../src/core/fault.ts";
import { unavailable } from "./sources/unavailable.ts";
import { TrytonFault } from "./wire.ts";

/** What it is, and what is wrong with it. The second @throws Refused, TrytonFault */
export type Look = readonly [what: string, look: () => Promise<Fault | null>];

/** Not being able to look is a fault as well. */
export async function faultOf([, look]: Look): Promise<Fault | null> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof Refused) return error.fault;
    if (!(error instanceof TrytonFault)) throw error;
    const { message, next } = unavailable(error);
    return { code: "unreadable", message, next };
  }
}
