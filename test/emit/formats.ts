/** What `npm run emit` can write: one entry per format of the files connector, then the connectors with one of their own. */
import { businessCentralBodies } from "./business-central.ts";
import { csvFiles } from "./csv.ts";
import type { Emitted } from "./emitted.ts";
import { idocFiles } from "./idoc.ts";
import { platformRequests } from "./platform.ts";
import { desktopRequests } from "./quickbooks-desktop.ts";
import { quickbooksOnlineBodies } from "./quickbooks-online.ts";
import { sqlStatements } from "./sql-staging.ts";
import { trytonCalls } from "./tryton.ts";
import { x12Files } from "./x12.ts";

/** Every file of a format: those of all cases, then of `count` random documents per kind. The same seed, the same bytes. */
export type Emitter = (seed: number, count: number) => Iterable<Emitted>;

export const formats: Readonly<Record<string, Emitter>> = {
  csv: csvFiles,
  idoc: idocFiles,
  x12: x12Files,
};

/** Connectors with one format of their own: `--connector` alone names it. */
export const connectors: Readonly<
  Record<string, (...given: Parameters<Emitter>) => Iterable<Emitted> | Promise<Iterable<Emitted>>>
> = {
  "business-central": businessCentralBodies,
  "quickbooks-desktop": desktopRequests,
  "quickbooks-online": quickbooksOnlineBodies,
  "sql-staging": sqlStatements,
  tryton: trytonCalls,
  // Not a connector: what flows write to the platform.
  platform: platformRequests,
};
