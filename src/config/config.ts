/**
 * The configuration of one installation, read whole or refused whole: with every problem there is, each with its line.
 * What comes out is complete: durations in milliseconds, absolute paths, each endpoint's settings as its connector
 * wants them.
 */
import { dirname, resolve } from "node:path";
import type { Connector, Mapping } from "../core/contract.ts";
import { aboutMachine, ConfigurationError, EnvironmentError } from "../core/errors.ts";
import { sumOf } from "../core/groups.ts";
import { siteNames, type SiteRules } from "../core/sites.ts";
import { check, CROSS_REFERENCES, type Depth, type Known, type Written } from "./check.ts";
import { companiesIn, isHub, sharersOf } from "./companies.ts";
import { readDocument, readText, type Scalar } from "./document.ts";
import { PLATFORM } from "./flows.ts";
import {
  causeOf,
  type Group,
  InvalidConfiguration,
  type Problem,
  isGroup,
  valueAt,
} from "./problems.ts";
import type { Settings, WebConfig } from "./schema.ts";

export { companyNames } from "./companies.ts";

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

/** One that shares the API key of a configuration, within this installation. */
interface KeySharer {
  /** Its label. */
  readonly company: string;
  readonly weight: number;
  readonly state: string;
  readonly isHub: boolean;
}

export interface Config extends Readonly<
  Omit<Settings, "version" | "endpoints" | "flows" | "mappings" | "queue">
> {
  /** The file it was read from. */
  readonly file: string;
  /** The same with those that it names and that a start reads: values, and profiles of the site's own. */
  readonly files: readonly string[];
  /** Which of the companies in that file it is; null: the file has one company's. */
  readonly name: string | null;
  /** All companies of this installation that share the API key, this one among them. */
  readonly sharers: readonly KeySharer[];
  /** The folder of that file: where relative paths start. */
  readonly folder: string;
  readonly endpoints: readonly EndpointConfig[];
  /** The folder of the cross-reference tables; it may be missing when the configuration does not name it. */
  readonly crossReferences: string;
  readonly flows: readonly FlowConfig[];
  readonly queue: Settings["queue"] & { readonly weight: number };
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

/** A hub reads for all of its sites: it has as much as they have together. */
const usualWeight = (sites: Settings["sites"], isHub: boolean): number =>
  isHub && sites !== null ? siteNames(sites).length : 1;

/** Of the minute and the month of its key, the part that is this configuration's by the weights, 0 to 1. */
export function shareOf({ sites, queue, company, hub, sharers }: Config): number {
  if (queue.type !== "embedded") {
    const others = sites === null ? 0 : siteNames(sites).length - (hub === null ? 1 : 0);
    return queue.weight / (queue.weight + others);
  }
  const own = sharers.find((one) => one.company === company);
  return (own?.weight ?? 1) / sumOf(sharers.map(({ weight }) => weight));
}

/**
 * The budget of a process that sends by itself: sites under the key that are not in it have their parts, too. A hub reads for
 * all of them, and half of the budget is its own. `sharers`: those that are in it.
 */
function budgetHere(
  { sites, queue, platform }: Pick<Settings, "sites" | "queue" | "platform">,
  sharers: readonly KeySharer[],
): Settings["platform"]["budget"] {
  const { budget } = platform;
  if (sites === null || queue.type !== "embedded") return budget;
  const members = sharers.filter(({ isHub }) => !isHub).length;
  const ofHub = members < sharers.length ? 1 / 2 : 0;
  const ofSites = ofHub > 0 || platform.hub !== null ? 1 / 2 : 1;
  const share = ofHub + Math.min(members / siteNames(sites).length, 1) * ofSites;
  const part = (requests: number): number => Math.max(Math.floor(requests * share), 1);
  return { ...budget, perMonth: part(budget.perMonth), perMinute: part(budget.perMinute) };
}

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
      aboutMachine(code) ??
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

/** What a file says of each of its companies, or of the one that is named; itself, where it is one company's. */
export function readCompanies(path: string, named: string | null, env: Known["env"]): Written[] {
  const written = readConfig(path, env);
  const companies = [...companiesIn(written.document)];
  const installation = new Map(companies.map(([name, { value }]) => [name, value as Group]));
  if (companies.length === 0 && named === null) return [written];
  const asked = companies.filter(([name]) => named === null || name === named);
  if (asked.length === 0)
    throw new ConfigurationError(
      `${path} has no company ${named}.`,
      companies.length === 0
        ? "It is the configuration of one company: leave --company out."
        : `It has ${[...installation.keys()].join(", ")}.`,
    );
  return asked.map(([name, document]) => ({
    ...written,
    document,
    company: { name, installation },
  }));
}

/** All of them, or every problem of all. @throws InvalidConfiguration */
export function completeCompanies(
  written: readonly Written[],
  known: (written: Written) => Known,
  depth?: Depth,
): Config[] {
  const problems = new Map<string, Problem>();
  const configs = written.flatMap((one) => {
    try {
      return completeConfig(one, known(one), depth);
    } catch (error) {
      if (!(error instanceof InvalidConfiguration)) throw error;
      // What stands on top is wrong for all of them, and told once.
      for (const problem of error.problems) problems.set(JSON.stringify(problem), problem);
      return [];
    }
  });
  if (problems.size > 0)
    throw new InvalidConfiguration(written[0]?.path ?? "", [...problems.values()]);
  return configs;
}

/** @throws InvalidConfiguration with every problem */
function completeConfig(written: Written, known: Known, depth: Depth = "settings"): Config {
  const { path, folder, document, company } = written;
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
  const { installation = null, name = null } = company ?? {};
  const sharers =
    installation === null || name === null
      ? [
          {
            company: settings.company,
            weight: 1,
            state: absolute(settings.state),
            isHub: settings.hub !== null,
          },
        ]
      : sharersOf(installation, name).map((one): KeySharer => {
          const value = installation.get(one);
          const weight = valueAt(value, ["queue", "weight"]);
          const reads = isHub(value);
          return {
            company: String(valueAt(value, ["company"])),
            weight: typeof weight === "number" ? weight : usualWeight(settings.sites, reads),
            state: absolute(String(valueAt(value, ["state"]))),
            isHub: reads,
          };
        });
  return {
    ...settings,
    platform: { ...settings.platform, budget: budgetHere(settings, sharers) },
    queue: {
      ...settings.queue,
      weight: settings.queue.weight ?? usualWeight(settings.sites, settings.hub !== null),
    },
    file: resolve(path),
    files: [resolve(path), ...document.scalars.flatMap((one) => filesNamed(one, folder))],
    name,
    sharers,
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

/** The name of a shipped profile leads to no file there. */
function filesNamed({ path, made }: Scalar, folder: string): string[] {
  if (made === null) return [];
  if (path.at(-1) === "profile") return [resolve(folder, made.text)];
  return made.references.flatMap((one) => (one.kind === "file" ? one.path : []));
}
