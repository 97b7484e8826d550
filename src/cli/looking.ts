/** Endpoints for commands that only look: nothing is made that was not there. */
import type { Governor } from "../core/budget.ts";
import { calendarOf } from "../core/calendar.ts";
import type { Endpoint } from "../core/contract.ts";
import type { Config } from "../config/config.ts";

/** `governor`: admits what is asked of the platform. */
export async function openLooking(
  config: Config,
  governor: Governor,
): Promise<Map<string, Endpoint>> {
  const [{ openPlatform }, { systemClock }, { version }] = await Promise.all([
    import("../platform/endpoint.ts"),
    import("./clock.ts"),
    import("./version.ts"),
  ]);
  const clock = systemClock();
  const dayOf = calendarOf(config.timeZone);
  const surroundings = {
    folder: config.folder,
    now: () => new Date(clock.now().wallMs),
    pause: (ms: number, signal?: AbortSignal) => clock.pause(ms, signal),
    currency: config.currency,
    dayOf,
    ignore: config.ignore,
    looking: true,
    note: () => {},
  };
  return new Map([
    ["platform", openPlatform({ ...config.platform, clock, version, governor, dayOf })],
    ...config.endpoints.map(
      ({ name, connector, settings }) => [name, connector.open(settings, surroundings)] as const,
    ),
  ]);
}
