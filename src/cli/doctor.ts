import type { Command } from "commander";
import type { Endpoint, Examination } from "../core/contract.ts";
import { exitCodes, SourceUnavailable } from "../core/errors.ts";
import type { Fault } from "../core/fault.ts";
import type { Config } from "../config/config.ts";
import { addCommand, configured } from "./command.ts";
import { loadConfiguration } from "./configuration.ts";
import { untilSignal } from "./signals.ts";
import { counted, table } from "./table.ts";

interface Examined extends Examination {
  readonly endpoint: string;
}

/** Asks every endpoint. The store stays closed: a daemon may hold it. */
export function doctor(program: Command): void {
  configured(
    addCommand(
      program,
      "doctor",
      "does everything hold that synchronising needs? (asks the platform and the ERP)",
      async ({ file }) => {
        const config = await loadConfiguration(file);
        const { result, exitCode } = await untilSignal((signal) => examineAll(config, signal));
        const right = result.every(({ fault }) => fault === null);
        return {
          data: { right, examinations: result },
          text: inWords(result),
          exitCode: exitCode ?? (right ? exitCodes.ok : exitCodes.environment),
        };
      },
    ),
  );
}

async function examineAll(config: Config, signal: AbortSignal): Promise<Examined[]> {
  const examined: Examined[] = [];
  for (const [name, endpoint] of await openEndpoints(config)) {
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
    if (!(error instanceof SourceUnavailable)) throw error;
    return { code: error.stop ?? "unavailable", message: error.message, next: error.next };
  }
}

async function openEndpoints(config: Config): Promise<Map<string, Endpoint>> {
  const [{ openPlatform }, { systemClock }, { version }] = await Promise.all([
    import("../platform/endpoint.ts"),
    import("./clock.ts"),
    import("./version.ts"),
  ]);
  const clock = systemClock();
  // The month is counted in the store: these few requests are not.
  const governor = { admit: async () => ({ admitted: true }) as const, learn: () => {} };
  const surroundings = {
    folder: config.folder,
    now: () => new Date(clock.now().wallMs),
    pause: (ms: number, signal?: AbortSignal) => clock.pause(ms, signal),
    note: () => {},
  };
  return new Map([
    ["platform", openPlatform({ ...config.platform, clock, version, governor })],
    ...config.endpoints.map(
      ({ name, connector, settings }) => [name, connector.open(settings, surroundings)] as const,
    ),
  ]);
}

function inWords(examined: readonly Examined[]): string {
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
  ].join("\n");
}
