import type { Command } from "commander";
import type { Endpoint, Examination } from "../core/contract.ts";
import type { Governor } from "../core/budget.ts";
import { calendarOf } from "../core/calendar.ts";
import { EnvironmentError, exitCodes, FuelbridgeError, SourceUnavailable } from "../core/errors.ts";
import type { Fault } from "../core/fault.ts";
import type { Config } from "../config/config.ts";
import type { Status } from "../report/office.ts";
import { ask } from "./ask.ts";
import { addCommand, configured } from "./command.ts";
import { loadConfiguration } from "./configuration.ts";
import { untilSignal } from "./signals.ts";
import { counted, table } from "./table.ts";

interface Examined extends Examination {
  readonly endpoint: string;
}

/** What the platform was asked. A request is counted before it is sent, so one that failed on the way counts too. */
interface Requests {
  readonly counted: number;
  /** The month after them; null when nothing was counted. */
  readonly month: Pick<Status["requests"], "month" | "used" | "perMonth"> | null;
}

/** Asks every endpoint that the configuration names, as it stands in the file: a daemon may run with an older one. */
export function doctor(program: Command): void {
  configured(
    addCommand(
      program,
      "doctor",
      "does everything hold that synchronising needs? (asks the platform and the ERP)",
      async ({ file }) => {
        const config = await loadConfiguration(file);
        const { examineState } = await import("./state.ts");
        const state = { endpoint: "fuelbridge", ...examineState(config) };
        const counting = countingIn(file);
        const { result: endpoints, exitCode } = await untilSignal((signal) =>
          examineAll(config, counting.governor, signal),
        );
        const result = [state, ...endpoints];
        const right = result.every(({ fault }) => fault === null);
        const requests = counting.requests();
        return {
          data: { right, examinations: result, requests },
          text: inWords(result, requests),
          exitCode: exitCode ?? (right ? exitCodes.ok : exitCodes.environment),
        };
      },
    ),
  );
}

/** Whoever counts the month admits these requests too: the daemon, or without one the store. */
function countingIn(file: string): { governor: Governor; requests: () => Requests } {
  let requests: Requests = { counted: 0, month: null };
  return {
    governor: {
      admit: () =>
        ask(file, async (office) => {
          const admission = await office.admit();
          if (!admission.admitted) return admission;
          const { month, used, perMonth } = await office.budget();
          requests = { counted: requests.counted + 1, month: { month, used, perMonth } };
          return admission;
        }).catch((error: unknown) => {
          if (!(error instanceof FuelbridgeError)) throw error;
          const message = `It was not asked, because the request could not be counted: ${error.message}`;
          throw new EnvironmentError(message, error.next, error);
        }),
      learn: () => {},
    },
    requests: () => requests,
  };
}

async function examineAll(
  config: Config,
  governor: Governor,
  signal: AbortSignal,
): Promise<Examined[]> {
  const examined: Examined[] = [];
  for (const [name, endpoint] of await openEndpoints(config, governor)) {
    try {
      for (const one of await examine(endpoint, signal)) examined.push({ endpoint: name, ...one });
    } finally {
      await endpoint.close();
    }
  }
  return examined;
}

/** What cannot be reached is not examined. */
async function examine(endpoint: Endpoint, signal: AbortSignal): Promise<readonly Examination[]> {
  const fault = await faultOf(() => endpoint.check(signal));
  const reached = { what: "reachable, credentials good", fault };
  if (fault !== null || signal.aborted) return [reached];
  return [reached, ...((await endpoint.examine?.(signal)) ?? [])];
}

async function faultOf(check: () => Promise<void>): Promise<Fault | null> {
  try {
    await check();
    return null;
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof SourceUnavailable)
      return { code: error.stop ?? "unavailable", message, next: error.next };
    if (error instanceof FuelbridgeError) return { code: error.code, message, next: error.next };
    throw error;
  }
}

async function openEndpoints(config: Config, governor: Governor): Promise<Map<string, Endpoint>> {
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
    dayOf,
    ignore: config.ignore,
    note: () => {},
  };
  return new Map([
    ["platform", openPlatform({ ...config.platform, clock, version, governor, dayOf })],
    ...config.endpoints.map(
      ({ name, connector, settings }) => [name, connector.open(settings, surroundings)] as const,
    ),
  ]);
}

function inWords(examined: readonly Examined[], requests: Requests): string {
  const faults = examined.flatMap(({ fault, ...one }) => (fault === null ? [] : { fault, ...one }));
  const rows = examined.map(({ endpoint, what, fault }) => [
    endpoint,
    what,
    fault === null ? "ok" : fault.message,
  ]);
  return [
    table(["ENDPOINT", "WHAT", "RESULT"], rows),
    "",
    faults.length === 0 ? "Everything is right." : `${counted(faults.length, "fault")}:`,
    ...faults.map(({ endpoint, what, fault }) => `  ${endpoint}, ${what}: ${fault.next}`),
    "",
    countedInWords(requests),
  ].join("\n");
}

const countedInWords = ({ counted: count, month }: Requests): string =>
  month === null
    ? "The platform was not asked: no request is counted."
    : `This counts as ${counted(count, "request")} to the platform: ${month.used} of ${month.perMonth} are used in ${month.month} (UTC).`;
