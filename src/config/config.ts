/**
 * The configuration of one installation, read whole or refused whole: with every problem there is, each with its line.
 * What comes out is complete: durations in milliseconds, absolute paths, each endpoint's settings as its connector
 * wants them.
 */
import { dirname, resolve } from "node:path";
import type { Ignore } from "../ledger/compare.ts";
import type { Budget } from "../core/budget.ts";
import type { Mapping } from "../core/contract.ts";
import { ConfigurationError, EnvironmentError } from "../core/errors.ts";
import {
  Check,
  type Checked,
  CROSS_REFERENCES,
  type Depth,
  type EndpointConfig,
  type Known,
} from "./check.ts";
import type { AlertsConfig } from "./alerts.ts";
import { type Document, isGroup, readDocument } from "./document.ts";
import { type FlowConfig, flowOf } from "./flows.ts";
import { valueAt } from "./issues.ts";
import { causeOf, InvalidConfiguration } from "./problems.ts";
import { readBounded } from "./read-file.ts";
import type { QueueConfig } from "./queue.ts";
import { type WebConfig, webOf } from "./web.ts";
import type { Settings } from "./schema.ts";

export type { FlowConfig };

export interface Config {
  /** The file it was read from. */
  readonly file: string;
  /** The folder of that file: where relative paths start. */
  readonly folder: string;
  readonly company: string;
  readonly currency: string;
  readonly timeZone: string;
  /** The folder of the store. */
  readonly state: string;
  /** The day (`YYYY-MM-DD`) on which fuelbridge works here for the first time; null: nobody says. */
  readonly firstStart: string | null;
  readonly log: { readonly level: "debug" | "info" | "warn" | "error" };
  readonly platform: PlatformConfig;
  readonly endpoints: readonly EndpointConfig[];
  /** The folder of the cross-reference tables; it may be missing when the configuration does not name it. */
  readonly crossReferences: string;
  readonly flows: readonly FlowConfig[];
  /** All that flows may name: the shipped ones and the site's own. */
  readonly mappings: readonly Mapping[];
  /** The folder of the site's own mappings; null: it has none. */
  readonly mappingsFolder: string | null;
  /** Fields that no comparison of both sides looks at, by kind. */
  readonly ignore: Ignore;
  /** When the daemon compares both sides by itself. */
  readonly reconcile: {
    readonly cron: string;
    readonly days: number;
    /** How long it waits for books that call us, ms. */
    readonly waitMs: number;
    readonly paused: boolean;
  };
  /** `web`: the console for people with a browser; null: there is none. */
  readonly console: { readonly port: number; readonly web: WebConfig | null };
  /** Null: no port of its own. */
  readonly monitoring: Settings["monitoring"];
  /** How long what nothing rests on any more is kept, ms; null: for ever. */
  readonly retention: Settings["retention"];
  /** Whom to tell of what is wrong. */
  readonly alerts: AlertsConfig;
  readonly queue: QueueConfig;
  /** The values that no log, page or error may show. */
  readonly secrets: readonly string[];
}

interface PlatformConfig {
  /** Without a slash at its end. */
  readonly url: string;
  /** The address that the store is bound to: `url`, unless only this process has the platform elsewhere. */
  readonly knownAs: string;
  /** Where the same platform was before. */
  readonly formerUrls: readonly string[];
  readonly environment: "live" | "test";
  readonly apiKey: string;
  readonly auth: "bearer" | "x-api-key";
  readonly overlapMs: number;
  /** How late a record may be committed and still be found by a nightly run, ms. */
  readonly lateMs: number;
  /** Null: the built-in settling times. */
  readonly settleMs: number | null;
  readonly budget: Budget;
}

/** Whose store the configuration's is (store/identity.ts). */
export const ownerOf = ({ company, platform }: Config) => ({
  company,
  platform: platform.knownAs,
  environment: platform.environment,
  formerUrls: platform.formerUrls,
});

/** The mapping of a flow, with its options. The configuration was read: there is one of this name. */
export function mappingOf(
  { mappings }: Pick<Config, "mappings">,
  { mapping, options }: Pick<FlowConfig, "mapping" | "options">,
): Mapping {
  const found = mappings.find(({ name }) => name === mapping) as Mapping;
  return options === undefined ? found : (found.using?.(options) ?? found);
}

const BYTES_MAX = 2_000_000;

/** A configuration as it is written: what it names must be loaded before it can be checked. */
export interface Written {
  /** As the user calls the file. */
  readonly path: string;
  readonly folder: string;
  readonly text: string;
  readonly document: Document;
}

/** @throws InvalidConfiguration with every problem, ConfigurationError when there is no file to read. */
export const loadConfig = (path: string, known: Known, depth?: Depth): Config =>
  completeConfig(readConfig(path, known.env), known, depth);

/** @throws ConfigurationError, EnvironmentError when the file cannot be read */
export function readConfig(path: string, env: Known["env"]): Written {
  const file = resolve(path);
  const folder = dirname(file);
  const text = readText(path, file);
  return { path, folder, text, document: readDocument(text, { env, folder }) };
}

/** @throws InvalidConfiguration with every problem */
export function completeConfig(written: Written, known: Known, depth: Depth = "settings"): Config {
  const { path, folder, text, document } = written;
  const check = new Check(text, document, known, folder);
  const checked = check.run(depth);
  if (checked === null) throw new InvalidConfiguration(path, check.problems);
  const { settings, options, ...rest } = checked;
  const { mappings } = known;
  const file = resolve(path);
  return { file, folder, mappings, ...rest, ...complete(settings, folder, options) };
}

/** The folder that the configuration names under `mappings`; null: it names none. */
export function mappingsFolderIn({ document, folder }: Written): string | null {
  const written = valueAt(document.value, ["mappings"]);
  return typeof written === "string" && written !== "" ? resolve(folder, written) : null;
}

/** The connectors that endpoints name, each once; null stands for one that is not written as text. */
export function connectorsIn({ document }: Written): readonly (string | null)[] {
  const endpoints = valueAt(document.value, ["endpoints"]);
  const named = Object.values(isGroup(endpoints) ? endpoints : {}).map((endpoint) => {
    const connector = isGroup(endpoint) ? endpoint["connector"] : null;
    return typeof connector === "string" ? connector : null;
  });
  return [...new Set(named)];
}

type Made = "file" | "folder" | "endpoints" | "secrets" | "mappings";

function complete(
  settings: Settings,
  folder: string,
  options: Checked["options"],
): Omit<Config, Made> {
  const { overlap, late, settle, ...platform } = settings.platform;
  const { company, currency, timeZone, log, ignore } = settings;
  const { wait: waitMs, ...reconcile } = settings.reconcile;
  return {
    company,
    currency,
    timeZone,
    log,
    console: { port: settings.console.port, web: webOf(settings.console.web, folder) },
    ignore,
    reconcile: { ...reconcile, waitMs },
    state: resolve(folder, settings.state),
    firstStart: settings.firstStart,
    platform: {
      ...platform,
      knownAs: platform.url,
      overlapMs: overlap,
      lateMs: late,
      settleMs: settle,
    },
    crossReferences: resolve(folder, settings.crossReferences ?? CROSS_REFERENCES),
    queue: settings.queue,
    monitoring: settings.monitoring,
    retention: settings.retention,
    alerts: settings.alerts,
    mappingsFolder: settings.mappings === undefined ? null : resolve(folder, settings.mappings),
    flows: Object.entries(settings.flows).map(([name, flow]) =>
      flowOf(name, flow, options.get(name)),
    ),
  };
}

function readText(path: string, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readBounded(file, BYTES_MAX));
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === "EACCES" || code === "EPERM")
      throw new EnvironmentError(
        `The configuration ${path} cannot be read by this user (${code}).`,
        "Give this user the right to read the file and to enter its folders, or give the command as the user that runs fuelbridge.",
        error,
      );
    throw new ConfigurationError(
      `The configuration ${path} cannot be read (${causeOf(error)}).`,
      "Name another one with --config FILE, or start from config/example.yaml (UTF-8).",
      error,
    );
  }
}
