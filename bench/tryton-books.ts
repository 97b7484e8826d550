/** The books that a benchmark's environment names, with the connector's own parts. */
import { type Books, openLookup } from "../connectors/tryton/books.ts";
import type { TrytonConfig } from "../connectors/tryton/config.ts";
import { openTryton } from "../connectors/tryton/wire.ts";
import { loadConfiguration } from "../src/app/configuration.ts";

export async function openBooks(): Promise<Books> {
  const { folder, endpoints } = await loadConfiguration(process.env["FUELBRIDGE_CONFIG"] ?? "");
  const config = endpoints[0]?.settings as TrytonConfig;
  const surroundings = {
    folder,
    now: () => new Date(),
    pause: () => Promise.resolve(),
    currency: "USD",
    dayOf: (instant: string) => instant.slice(0, 10),
    ignore: {},
    note: () => {},
  };
  const tryton = openTryton(config, surroundings);
  const own = { ...config, currency: surroundings.currency };
  return { config: own, tryton, lookup: openLookup(tryton, surroundings), surroundings };
}
