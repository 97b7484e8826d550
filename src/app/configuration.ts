import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import type { Depth } from "../config/check.ts";
import type { Connector, Mapping } from "../core/contract.ts";
import { ConfigurationError } from "../core/errors.ts";
import type { Warning } from "../office/answers.ts";
import { scrubber } from "../config/scrub.ts";

const secrets = new Set<string>();
let scrub = scrubber([]);

/** `text` without secrets: what looks like one in any case, and those of all configurations that were read. */
export const scrubbed = (text: string): string => scrub(text);

/** What a command calls a configuration: `FILE`, or of one with several companies `FILE#COMPANY`. */
function namedIn(reference: string): { file: string; company: string | null } {
  const [, file = reference, company = null] = /^(.*)#([a-z0-9-]+)$/s.exec(reference) ?? [];
  return existsSync(reference) ? { file: reference, company: null } : { file, company };
}

/** The companies of a configuration of several, as far as it can be read; empty: it is one company's. */
export async function companiesOf(reference: string): Promise<readonly string[]> {
  const { file, company } = namedIn(reference);
  if (company !== null || !existsSync(file) || !/^["']?companies/m.test(readFileSync(file, "utf8")))
    return [];
  const { readConfig, companyNames } = await import("../config/config.ts");
  return companyNames(readConfig(file, process.env).document);
}

/**
 * The configuration of this command line, with the connectors that it names and every mapping there is.
 * @throws ConfigurationError when it has several companies and none is named, SiteMappingsError when a module of the site's
 * own mappings is wrong
 */
export async function loadConfiguration(
  reference: string,
  depth?: Depth,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Config> {
  const [config, ...more] = await loadCompanies(reference, depth, env);
  if (config === undefined || more.length > 0)
    throw new ConfigurationError(`${reference} has several companies.`, "Name one: --company NAME");
  return config;
}

/** The same, of all its companies; one that has but one company's is a list of one. */
export async function loadCompanies(
  reference: string,
  depth?: Depth,
  env: NodeJS.ProcessEnv = process.env,
): Promise<readonly Config[]> {
  const [{ completeCompanies, connectorsIn, mappingsFolderIn, readCompanies }, shipped, platform] =
    await Promise.all([
      import("../config/config.ts"),
      import("../../mappings/index.ts"),
      import("../platform/parts.ts"),
    ]);
  const { file, company } = namedIn(reference);
  const written = readCompanies(file, company, env);
  const connectors = await connectorsOf([...new Set(written.flatMap(connectorsIn))]);
  const own = new Map<string | null, readonly Mapping[]>();
  for (const folder of written.map(mappingsFolderIn))
    if (!own.has(folder)) own.set(folder, await ownMappings(folder));
  const configs = completeCompanies(
    written,
    (one) => ({
      env,
      connectors,
      mappings: [...shipped.mappings, ...(own.get(mappingsFolderIn(one)) ?? [])],
      platform: platform.platformOffers,
    }),
    depth,
  );
  for (const secret of configs.flatMap((config) => config.secrets)) secrets.add(secret);
  scrub = scrubber([...secrets]);
  return configs;
}

/** `configs`, or all companies of the installation where they are one that shares its key. */
export async function loadSharers(configs: readonly Config[]): Promise<readonly Config[]> {
  const [only, ...more] = configs;
  return only === undefined || more.length > 0 || only.sharers.length === 1
    ? configs
    : loadCompanies(only.file);
}

/** All of them where one is not known, or none is named: what is wrong is then told with every name there is. */
async function connectorsOf(names: readonly (string | null)[]): Promise<readonly Connector[]> {
  const { connectorsNamed, isConnector } = await import("../../connectors/index.ts");
  const known = names.filter((name) => name !== null && isConnector(name)) as string[];
  return names.length > 0 && known.length === names.length
    ? connectorsNamed(known)
    : connectorsNamed();
}

/**
 * The JSON Schema of the configuration. `file`: a configuration whose own mappings are in it, too; null: the shipped
 * mappings alone. Only the setting `mappings` is read of it, so the rest may be wrong.
 * @throws ConfigurationError when there is no such file, SiteMappingsError when a module of its mappings is wrong
 */
export async function configurationSchema(file: string | null): Promise<object> {
  const [{ mappingsFolderIn, readConfig }, { jsonSchema }, { connectorsNamed }, { mappings }] =
    await Promise.all([
      import("../config/config.ts"),
      import("../config/editors.ts"),
      import("../../connectors/index.ts"),
      import("../../mappings/index.ts"),
    ]);
  const own = file === null ? null : mappingsFolderIn(readConfig(file, process.env));
  return jsonSchema(await connectorsNamed(), [...mappings, ...(await ownMappings(own))]);
}

async function ownMappings(folder: string | null): Promise<readonly Mapping[]> {
  if (folder === null) return [];
  const { loadSiteMappings } = await import("../mapping/load.ts");
  return loadSiteMappings(folder);
}

/** The code of a warning, of which `doctor` tells too. */
export const OLDER_CONFIGURATION = "older-configuration";

/** Asked later: does a file that a start reads say something else than now? Tables are read again by themselves. */
export function olderThan({ files, mappingsFolder }: Config, startedAt: Date): () => Warning[] {
  const digests = (): Map<string, string> => {
    const all = [...files, ...(mappingsFolder === null ? [] : filesBelow(mappingsFolder))];
    return new Map(all.map((file) => [file, digestOf(file)]));
  };
  const read = digests();
  return () => {
    const now = digests();
    const changed = [...new Set([...read.keys(), ...now.keys()])].filter(
      (file) => read.get(file) !== now.get(file),
    );
    if (changed.length === 0) return [];
    return [
      {
        endpoint: "fuelbridge",
        code: OLDER_CONFIGURATION,
        title: "fuelbridge runs with an older configuration",
        message: `${changed.join(", ")} changed since it started at ${startedAt.toISOString()}, and it goes on with what it read then`,
        next: "Look with `fuelbridge check`, then start fuelbridge again: only then the change counts. If it was not meant, put back what was there.",
      },
    ];
  };
}

/** One that cannot be read has none. */
function digestOf(file: string): string {
  try {
    return createHash("sha256").update(readFileSync(file)).digest("hex");
  } catch {
    return "";
  }
}

/** In their order, tests and cases left out; none where there is no folder. */
export function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(test|fixture)\./.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}
