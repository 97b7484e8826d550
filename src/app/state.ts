/** What `check` and `doctor` say of the state folder, without an endpoint and without changing anything. */
import { existsSync } from "node:fs";
import { calendarOf } from "../core/calendar.ts";
import { type Config, ownerOf } from "../config/config.ts";
import type { Examination } from "../core/examination.ts";
import { EnvironmentError, FuelbridgeError } from "../core/errors.ts";
import { expectOwner } from "../store/identity.ts";
import { faultOfState, storeFile, thisUser } from "../store/rights.ts";

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

const DAY_MS = 24 * 3_600_000;

/** What a first start on that day would come to, where there is no store yet; null: nothing is to be said. */
export function firstStartNote(
  { state, firstStart, timeZone }: Pick<Config, "state" | "firstStart" | "timeZone">,
  nowMs: number,
): string | null {
  if (existsSync(storeFile(state))) return null;
  const dayAt = (ms: number): string => calendarOf(timeZone)(new Date(ms).toISOString());
  if ([-DAY_MS, 0, DAY_MS].some((ms) => dayAt(nowMs + ms) === firstStart)) return null;
  const said = firstStart === null ? "there is no firstStart" : `firstStart is ${firstStart}`;
  return (
    `there is no store yet, and ${said}: if the platform knows this company, nothing is sent before a person releases it. ` +
    `For a first start set firstStart: ${dayAt(nowMs)}`
  );
}

/** The same as one line of an examination. */
export function examineState(config: Config): Examination {
  const what = `state folder ${config.state}, as user ${thisUser()}`;
  try {
    expectState(config);
    const note = firstStartNote(config, Date.now());
    return { what, fault: null, ...(note === null ? {} : { note }) };
  } catch (error) {
    if (!(error instanceof FuelbridgeError)) throw error;
    const { code, message, next } = error;
    return { what, fault: { code, message, next } };
  }
}
