/**
 * The configuration of one installation, read whole or refused whole: with every problem there is, each with its line.
 * What comes out is complete: durations in milliseconds, absolute paths, each endpoint's settings as its connector
 * wants them.
 */
import { dirname, resolve } from "node:path";
import type { Connector, Mapping } from "../core/contract.ts";
import { ConfigurationError, EnvironmentError } from "../core/errors.ts";
import { siteNames, type SiteRules } from "../core/sites.ts";
import { check, CROSS_REFERENCES, type Depth, type Known, type Written } from "./check.ts";
import { readDocument, readText } from "./document.ts";
import { PLATFORM } from "./flows.ts";
import { causeOf, InvalidConfiguration, isGroup, valueAt } from "./problems.ts";
import type { Settings, WebConfig } from "./schema.ts";

export interface EndpointConfig {
  readonly name: string;
  readonly connector: Connector;
  /** What the connector's own schema made of the rest. */
  readonly settings: unknown;
}

export type FlowConfig = Settings["flows"][string] & {
  readonly name: string;
  /** As the mapping's schema parsed them; left out: it declares none. */
  readonly options?: unknown;
  /** The line of the configuration that its options begin in. */
  readonly optionsLine?: number;
};

export interface Config extends Readonly<
  Omit<Settings, "version" | "endpoints" | "flows" | "mappings">
> {
  /** The file it was read from. */
  readonly file: string;
  /** The folder of that file: where relative paths start. */
  readonly folder: string;
  readonly endpoints: readonly EndpointConfig[];
  /** The folder of the cross-reference tables; it may be missing when the configuration does not name it. */
  readonly crossReferences: string;
  readonly flows: readonly FlowConfig[];
  /** All that flows may name: the shipped ones and the site's own. */
  readonly mappings: readonly Mapping[];
  /** The folder of the site's own mappings; null: it has none. */
  readonly mappingsFolder: string | null;
  /** The values that no log, page or error may show: all settings that are secret, and whatever came from a file. */
  readonly secrets: readonly string[];
}

/** Whose store the configuration's is (store/database.ts). */
export const ownerOf = ({ company, platform }: Config) => ({
  company,
  platform: platform.knownAs,
  environment: platform.environment,
  formerUrls: platform.formerUrls,
});

/** Whose records are whose, and which site this is; undefined: the API key is its own. */
export const sitesOf = ({ sites, ...site }: Pick<Config, "sites" | "queue" | "company" | "hub">) =>
  sites === null ? undefined : { own: nameOf(site), rules: sites as SiteRules };

/** Null: a hub is no site. */
const nameOf = ({ queue, company, hub }: Pick<Config, "queue" | "company" | "hub">) =>
  hub !== null ? null : queue.type === "bullmq" ? queue.site : company;

/** How many sites have one minute and one month together, each with as much to ask; a hub asks for all. */
export const sitesAtKey = ({ sites, queue, hub }: Pick<Config, "sites" | "queue" | "hub">) =>
  sites === null || queue.type === "embedded" || hub !== null ? 1 : siteNames(sites).length;

/** The mapping of a flow, with its options. The configuration was read: there is one of this name. */
export function mappingOf(
  { mappings }: Pick<Config, "mappings">,
  { mapping, options }: Pick<FlowConfig, "mapping" | "options">,
): Mapping {
  const found = mappings.find(({ name }) => name === mapping) as Mapping;
  return options === undefined ? found : (found.using?.(options) ?? found);
}

/** What is asked of a hub costs nothing: it is looked at as often as is allowed. */
function scheduleAt(
  hub: Settings["platform"]["hub"],
  { from, schedule }: Settings["flows"][string],
) {
  if (hub === null || from.endpoint !== PLATFORM || !("auto" in schedule)) return schedule;
  return { everyMs: schedule.auto.leastMs };
}

const BYTES_MAX = 2_000_000;

/** @throws InvalidConfiguration with every problem, ConfigurationError when there is no file to read. */
export const loadConfig = (path: string, known: Known, depth?: Depth): Config =>
  completeConfig(readConfig(path, known.env), known, depth);

/** @throws ConfigurationError, EnvironmentError when the file cannot be read */
export function readConfig(path: string, env: Known["env"]): Written {
  const folder = dirname(resolve(path));
  try {
    const text = readText(resolve(path), BYTES_MAX);
    return { path, folder, text, document: readDocument(text, { env, folder }) };
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

/** The folder that the configuration names under `mappings`; null: it names none. */
export function mappingsFolderIn({ document, folder }: Written): string | null {
  const written = valueAt(document.value, ["mappings"]);
  return typeof written === "string" && written !== "" ? resolve(folder, written) : null;
}

/** The connectors that endpoints name, each once; null stands for one that is not written as text. */
export function connectorsIn({ document }: Written): readonly (string | null)[] {
  const endpoints = valueAt(document.value, ["endpoints"]);
  const named = Object.values(isGroup(endpoints) ? endpoints : {}).map((endpoint) => {
    const connector = valueAt(endpoint, ["connector"]);
    return typeof connector === "string" ? connector : null;
  });
  return [...new Set(named)];
}

/** @throws InvalidConfiguration with every problem */
export function completeConfig(written: Written, known: Known, depth: Depth = "settings"): Config {
  const { path, folder, document } = written;
  const { checking, problems } = check(written, known, depth);
  if (checking?.settings.success !== true || problems.length > 0)
    throw new InvalidConfiguration(path, problems);
  const { settings: parsed, endpoints, flows, secrets } = checking;
  const { version: _, mappings, console: admin, ...settings } = parsed.data;
  const absolute = (name: string): string => resolve(folder, name);
  const tlsOf = ({ certificate, key }: NonNullable<WebConfig["tls"]>) => ({
    certificate: absolute(certificate),
    key: absolute(key),
  });
  return {
    ...settings,
    file: resolve(path),
    folder,
    mappings: known.mappings,
    mappingsFolder: mappings === undefined ? null : absolute(mappings),
    console: {
      port: admin.port,
      web: admin.web && { ...admin.web, tls: admin.web.tls && tlsOf(admin.web.tls) },
    },
    state: absolute(settings.state),
    hub: settings.hub && { ...settings.hub, tls: settings.hub.tls && tlsOf(settings.hub.tls) },
    crossReferences: absolute(settings.crossReferences ?? CROSS_REFERENCES),
    endpoints: endpoints.flatMap(({ name, connector, parsed }) =>
      parsed.success ? { name, connector, settings: parsed.data } : [],
    ),
    flows: Object.entries(settings.flows).map(([name, flow]) => {
      const options = flows.find((one) => one.name === name)?.options?.data;
      const { line } = document.place(["flows", name, "options"]);
      const schedule = scheduleAt(settings.platform.hub, flow);
      return {
        name,
        ...flow,
        schedule,
        ...(options === undefined ? {} : { options, optionsLine: line }),
      };
    }),
    secrets,
  };
}
