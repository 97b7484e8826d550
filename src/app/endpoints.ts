/** The endpoints of a configuration: the platform, and one per configured connector. */
import type { Config } from "../config/config.ts";
import type { Governor } from "../core/budget.ts";
import { calendarOf } from "../core/time.ts";
import { defined } from "../core/defined.ts";
import type { Endpoint, Notebook, Surroundings } from "../core/contract.ts";
import { rulesName } from "../core/sites.ts";
import { HUB } from "../config/flows.ts";
import { hubEndpoint } from "../engine/sites.ts";
import { type EndpointOptions, openPlatform, type PlatformEndpoint } from "../platform/endpoint.ts";
import { systemClock, version } from "./process.ts";

interface Opening extends Pick<
  Surroundings,
  "note" | "remembered" | "scratch" | "looking" | "sender"
> {
  readonly clock: ReturnType<typeof systemClock>;
  /** The endpoint of this name calls us and is there now. Left out: no daemon waits for it. */
  readonly arrived?: (endpoint: string) => void;
  /** What the endpoint of this name keeps. Left out: nothing is stored. */
  readonly notebook?: (endpoint: string) => Notebook;
  /** Admits what is asked of the platform. */
  readonly governor: Governor;
  /** Has a write sent by a worker; null or left out: this process sends it. */
  readonly carry?: EndpointOptions["carry"] | null;
}

/** By their names, the platform first. `platform` is given as it was opened, and kept as it is returned. */
export function openEndpoints(
  config: Config,
  { clock, governor, carry, arrived, notebook, ...given }: Opening,
  kept: (platform: Endpoint) => Endpoint = (platform) => platform,
) {
  const dayOf = calendarOf(config.timeZone);
  const surroundings: Surroundings = {
    folder: config.folder,
    now: () => new Date(clock.now().wallMs),
    pause: (ms, signal) => clock.pause(ms, signal),
    currency: config.currency,
    dayOf,
    ignore: config.ignore,
    ...given,
  };
  const rules = rulesName(config.sites);
  const options = { ...config.platform, clock, version, governor, dayOf, rules };
  const platform = openPlatform({ ...options, ...defined({ carry: carry ?? undefined }) });
  const endpoints = new Map([
    ["platform", kept(platform)],
    ...(config.hub === null ? [] : [[HUB, hubEndpoint] as const]),
    ...config.endpoints.map(
      ({ name, connector, settings }) =>
        [
          name,
          connector.open(settings, {
            ...surroundings,
            ...defined({ arrived: arrived && (() => arrived(name)), notebook: notebook?.(name) }),
          }),
        ] as const,
    ),
  ]);
  const fetchPdf: PlatformEndpoint["fetchPdf"] = (operation, id) =>
    platform.fetchPdf(operation, id);
  const { lists } = platform;
  return { endpoints: endpoints as ReadonlyMap<string, Endpoint>, fetchPdf, lists };
}

/** Endpoints that are looked at only. `kept`: what the store keeps of an endpoint, by its name. */
export function openLooking(
  config: Config,
  governor: Governor,
  kept: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map(),
): ReadonlyMap<string, Endpoint> {
  const notebook = (endpoint: string): Notebook => ({
    get: (name) => kept.get(endpoint)?.[name] ?? null,
    set: () => {},
  });
  const looking = { clock: systemClock(), governor, notebook, looking: true, note: () => {} };
  return openEndpoints(config, looking).endpoints;
}
