/** All that can be wrong with a configuration, found in one go and located: one ordered list of rules. */
import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import type { z } from "zod";
import type { Connector, FolderNeed, FolderRight, Mapping, Offers } from "../core/contract.ts";
import { ConfigurationError } from "../core/errors.ts";
import { siteNames } from "../core/sites.ts";
import { thisUser } from "../store/user.ts";
import { complaintsOfCompanies, type Installation } from "./companies.ts";
import { openTables, type TableReport } from "./crossref.ts";
import type { Document, Substituted } from "./document.ts";
import { complaintsOfFlows, HUB, PLATFORM } from "./flows.ts";
import {
  causeOf,
  type Complaint,
  explainIssues,
  type Finding,
  type Group,
  hiddenBy,
  isGroup,
  parsedBy,
  type Path,
  type Problem,
  isSecretAt,
  settingOf,
  shown,
  valueAt,
} from "./problems.ts";
import { MAIN_SITE, NAME, type Settings, settingsSchema } from "./schema.ts";

export interface Known {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly connectors: readonly Connector[];
  readonly mappings: readonly Mapping[];
  /** What flows may name after `platform.`. */
  readonly platform: Offers;
}

/** `settings`: what the file says. `site`: the tables and folders of this machine as well. */
export type Depth = "settings" | "site";

/** A configuration as it is written: what it names must be loaded before it can be checked. */
export interface Written {
  /** As the user calls the file. */
  readonly path: string;
  readonly folder: string;
  readonly text: string;
  readonly document: Document;
  /** Where it is one of several companies. */
  readonly company?: { readonly name: string; readonly installation: Installation };
}

/** Looks at everything, whatever it has found already. Null: there are no settings to look at. */
export function check(
  written: Written,
  known: Known,
  depth: Depth,
): { readonly checking: Checking | null; readonly problems: readonly Problem[] } {
  const { document } = written;
  const { value } = document;
  const problems = [...document.problems];
  if (problems.length === 0 && !isGroup(value)) {
    const message = `there ${value === null ? "is nothing" : "are no settings"} in it`;
    const remedy = "Start from config/example.yaml.";
    problems.push({ ...document.place([]), setting: "", message, remedy });
  }
  if (!isGroup(value)) return { checking: null, problems };
  const checking = checkingOf(written, value, known);
  for (const rule of depth === "site" ? [...RULES, ...RULES_OF_SITE] : RULES)
    for (const found of rule(checking, problems))
      if ("line" in found) problems.push(found);
      else {
        const { path, part, ...complaint } = found;
        problems.push({ ...document.place(path, part), setting: settingOf(path), ...complaint });
      }
  return { checking, problems };
}

/** The folder of the tables, where the configuration names none. */
export const CROSS_REFERENCES = "crossref";
/** A shorter value from a file, of a setting that is no secret, is part of ordinary words: `live` of `delivered`. */
const FILE_VALUE_MIN = 8;

/** What the rules look at: the configuration as it is written, and what its parts make of it, each by itself. */
interface Checking {
  readonly folder: string;
  readonly text: string;
  readonly document: Document;
  readonly company: Written["company"];
  readonly value: Group;
  readonly known: Known;
  readonly schema: z.ZodType;
  readonly settings: z.ZodSafeParseResult<Settings>;
  readonly secretScalars: Document["scalars"];
  readonly secrets: readonly string[];
  /** Of connectors that there are; `offers`: null where the settings are wrong. */
  readonly endpoints: readonly {
    readonly name: string;
    readonly connector: Connector;
    readonly parsed: z.ZodSafeParseResult<unknown>;
    readonly offers: Offers | null;
  }[];
  readonly flows: readonly {
    readonly name: string;
    readonly written: Group;
    readonly mapping: Mapping | undefined;
    /** Null: the mapping takes none, or none that are a group are written. */
    readonly options: z.ZodSafeParseResult<unknown> | null;
  }[];
  /** The folder of the tables; `called`: as messages may call it. */
  readonly tables: { readonly written: boolean; readonly path: string; readonly called: string };
}

/** What is wrong, by its setting, or at a place of its own. `before`: what was found before. */
type Rule = (checking: Checking, before: readonly Problem[]) => Iterable<Finding | Problem>;

/** What is parsed once is parsed as it is: to compile code for it takes longer. */
const ONCE = { jitless: true } as const;

function checkingOf(
  { folder, text, document, company }: Written,
  value: Group,
  known: Known,
): Checking {
  const { connectors, mappings } = known;
  const { scalars } = document;
  const names = mappings.map(({ name }) => name);
  const schema = settingsSchema(connectors, names);
  const endpoints = groupsIn(value, "endpoints").flatMap(([name, { connector: kind, ...rest }]) => {
    const connector = connectors.find((candidate) => candidate.name === kind);
    if (connector === undefined) return [];
    const parsed = connector.config.safeParse(rest, ONCE);
    const offers = parsed.success ? connector.offers(parsed.data, folder) : null;
    return { name, connector, parsed, offers };
  });
  const flows = groupsIn(value, "flows").map(([name, flow]) => {
    const mapping = mappings.find((one) => one.name === flow["mapping"]);
    const { options = {} } = flow;
    const parsed = mapping?.options && isGroup(options) ? parsedBy(mapping.options, options) : null;
    return { name, written: flow, mapping, options: parsed };
  });
  const parts: readonly (readonly [home: Path, schema: z.ZodType])[] = [
    [[], schema],
    ...endpoints.map(({ name, connector }) => [["endpoints", name], connector.config] as const),
    ...flows.flatMap(({ name, mapping }) =>
      mapping?.options === undefined
        ? []
        : [[["flows", name, "options"], mapping.options] as const],
    ),
  ];
  const secretScalars = scalars.filter(({ path }) =>
    parts.some(
      ([home, part]) =>
        home.every((step, at) => step === path[at]) &&
        isSecretAt(part, path.slice(home.length), valueAt(value, home)),
    ),
  );
  const fromFiles = scalars.filter(
    ({ made }) =>
      (made?.text.length ?? 0) >= FILE_VALUE_MIN &&
      made?.references.some(({ kind }) => kind === "file"),
  );
  const secrets = [...secretScalars, ...fromFiles].flatMap(({ made }) => made?.text ?? []);
  const setting = value["crossReferences"];
  const written = typeof setting === "string";
  const tables = resolve(folder, written ? setting : CROSS_REFERENCES);
  return {
    folder,
    text,
    document,
    company,
    value,
    known,
    schema,
    settings: schema.safeParse(value, ONCE),
    secretScalars,
    secrets: [...new Set(secrets)],
    endpoints,
    flows,
    tables: { written, path: tables, called: document.source(["crossReferences"]) ?? tables },
  };
}

/** The named groups of settings under `list`, as written; what is no group is complained of elsewhere. */
const groupsIn = (value: Group, list: "endpoints" | "flows"): [name: string, settings: Group][] =>
  Object.entries(isGroup(value[list]) ? value[list] : {}).filter(
    (entry): entry is [string, Group] => isGroup(entry[1]),
  );

/** All that can be wrong with what the file says; each looks, whatever others have found. */
const RULES: readonly Rule[] = [
  secretsStandElsewhere,
  noKeyIsWritten,
  settingsFit,
  endpointsFit,
  namesAreNames,
  flowsFit,
  optionsFit,
  keyIsOfEnvironment,
  certificatesAreChecked,
  tablesAreFolder,
  consoleIsGuarded,
  sitesAreTold,
  hubIsRight,
  companiesAreApart,
];

/** And with this machine. */
const RULES_OF_SITE: readonly Rule[] = [consoleHasUser, tablesAreThere, foldersCanBeUsed];

function* secretsStandElsewhere({ document, secretScalars }: Checking): Generator<Finding> {
  for (const { path, made } of secretScalars) {
    const complaint = document.broken(path) ? null : complaintOfSecret(made);
    if (complaint !== null) yield { path, ...complaint };
  }
}

/** What is wrong with where a secret comes from; never with the secret in it. */
function complaintOfSecret(made: Substituted | null): Complaint | null {
  const [reference, ...more] = made?.references ?? [];
  if (reference === undefined || more.length > 0 || made?.literal !== "")
    return {
      message: "a secret is written into the configuration itself",
      remedy:
        "Put it into a file of mode 0600 and write ${file:secrets/NAME}, or into an environment variable and write " +
        "${NAME} (without a default). Then replace the one that was here: it may have been copied.",
    };
  if (reference.kind === "variable" || process.platform === "win32") return null;
  const { path } = reference;
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) === 0) return null;
  return {
    message: `others can read the secret in ${path} (mode ${mode.toString(8).padStart(4, "0")})`,
    remedy: `Is it a file for this secret alone, take it from them: chmod 0600 ${path}. Whoever could read it may have: consider a new one. Else name such a file.`,
  };
}

/** A platform key anywhere in the file, in a comment too. */
const PLATFORM_KEY = /\bsvc_(?:live|test)_[A-Za-z0-9]{8,}/g;

function* noKeyIsWritten({ text }: Checking, before: readonly Problem[]): Generator<Problem> {
  for (const [at, line] of text.split("\n").entries())
    for (const { index } of line.matchAll(PLATFORM_KEY))
      if (!before.some((problem) => problem.line === at + 1))
        yield {
          line: at + 1,
          column: index + 1,
          setting: "",
          message: "an API key of the platform is written here",
          remedy: "Take it out, in comments too, and have it replaced: it may have been copied.",
        };
}

/** What a schema found of the part of the configuration that stands `at`. */
function explained(
  { document, value }: Checking,
  parsed: z.ZodSafeParseResult<unknown> | null,
  schema: z.ZodType,
  at: Path = [],
): Finding[] {
  const source = (path: Path) => document.source(path);
  const subject = { value: valueAt(value, at), schema, at, source };
  const issues = parsed?.error?.issues ?? [];
  return explainIssues(issues, subject).filter(({ path }) => !document.broken(path));
}

function settingsFit(checking: Checking): Finding[] {
  return explained(checking, checking.settings, checking.schema);
}

function endpointsFit(checking: Checking): Finding[] {
  return checking.endpoints.flatMap(({ name, connector, parsed, offers }) => [
    ...explained(checking, parsed, connector.config, ["endpoints", name]),
    ...(offers?.complaints ?? []).map(({ setting, ...complaint }) => ({
      path: ["endpoints", name, ...setting],
      ...complaint,
    })),
  ]);
}

function* namesAreNames({ value }: Checking): Generator<Finding> {
  for (const list of ["endpoints", "flows"] as const)
    for (const [name] of groupsIn(value, list)) {
      const taken = list === "endpoints" && (name === PLATFORM || name === HUB);
      if (NAME.test(name) && !taken) continue;
      yield {
        path: [list, name],
        part: "key",
        message: taken
          ? `${shown(name)} is the name of the ${name} itself`
          : `${shown(name)} cannot be a name`,
        remedy: "Take one of lower-case letters, digits and hyphens, for example erp.",
      };
    }
}

function* flowsFit({ document, value, known, endpoints, flows }: Checking): Generator<Finding> {
  const offers = new Map<string, Offers | null>(
    groupsIn(value, "endpoints").map(([name]) => [
      name,
      endpoints.find((one) => one.name === name)?.offers ?? null,
    ]),
  );
  offers.set(PLATFORM, known.platform);
  if (isGroup(value["hub"])) offers.set(HUB, { sources: {}, sinks: { sites: {} } });
  const hidden = (flow: string, field: string) => hiddenBy(document.source(["flows", flow, field]));
  const context = { flows, offers, mappings: known.mappings, hidden };
  for (const found of complaintsOfFlows(context))
    if (found.path.length === 2 || !document.broken(found.path)) yield found;
}

/** What a flow sets is what its mapping lets it set. */
function optionsFit(checking: Checking): Finding[] {
  return checking.flows.flatMap(({ name, written: { options }, mapping, options: parsed }) => {
    const path = ["flows", name, "options"];
    if (mapping?.options !== undefined) return explained(checking, parsed, mapping.options, path);
    if (mapping === undefined || !isGroup(options) || Object.keys(options).length === 0) return [];
    return {
      path,
      part: "key" as const,
      message: `the mapping ${mapping.name} has no options`,
      remedy: "Remove them, or take a mapping that declares them.",
    };
  });
}

function* keyIsOfEnvironment({ document, value }: Checking): Generator<Finding> {
  const path = ["platform", "apiKey"];
  const [key, environment] = [valueAt(value, path), valueAt(value, ["platform", "environment"])];
  if (typeof key !== "string" || !(environment === "live" || environment === "test")) return;
  if (document.broken(path)) return;
  const wanted = `svc_${environment}_`;
  if (/[^\x21-\x7e]/.test(key))
    yield {
      path,
      message: "its value has blanks, line breaks or letters outside ASCII: it is no key",
      remedy: "Let the file, or the variable, hold nothing but the key, on one line.",
    };
  else if (!key.startsWith(wanted)) {
    const begins = /^svc_(?:live|test)_/.exec(key)?.[0];
    const is = begins === undefined ? "is no key of the platform" : `begins with ${begins}`;
    yield {
      path,
      message: `a ${environment} environment takes a key that begins with ${wanted}; this one ${is}`,
      remedy: "Take the other key, or correct platform.environment.",
    };
  }
}

function* certificatesAreChecked({ known }: Checking): Generator<Finding> {
  if (known.env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0")
    yield {
      path: ["platform", "url"],
      message: "NODE_TLS_REJECT_UNAUTHORIZED=0 switches the check of certificates off",
      remedy: "Unset it. For a private authority set NODE_EXTRA_CA_CERTS to its certificate.",
    };
}

function* tablesAreFolder({ tables: { written, path, called } }: Checking): Generator<Finding> {
  if (written && !isFolder(path))
    yield {
      path: ["crossReferences"],
      message: `there is no folder ${called}, or this user cannot reach it`,
      remedy: "Create it, or correct the path; relative paths start at the configuration's folder.",
    };
}

/** False also where it cannot be looked at. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "localhost"]);

/** The console as it is written, and whether other machines can reach it. */
function consoleIn({ value }: Checking): { web: Group; isOpen: boolean } {
  const web = valueAt(value, ["console", "web"]);
  if (!isGroup(web)) return { web: {}, isOpen: false };
  return { web, isOpen: isOpen(web) };
}

const isOpen = ({ host = "127.0.0.1" }: Group): boolean =>
  typeof host === "string" && !LOOPBACK.has(host);

const atConsole = (...name: string[]): string[] => ["console", "web", ...name];

function* addressIsEncrypted(
  { certificate, key }: Group,
  isOpen: boolean,
  at: Path,
): Generator<Finding> {
  if ((certificate === undefined) !== (key === undefined))
    yield {
      path: [...at, certificate === undefined ? "key" : "certificate"],
      message: "certificate and key belong together",
      remedy: "Name both files, or neither.",
    };
  if (isOpen && certificate === undefined && key === undefined)
    yield {
      path: [...at, "host"],
      message: "other machines can reach this address, and nothing is encrypted",
      remedy: "Name certificate and key, or leave host out: then only this machine can reach it.",
    };
}

function* consoleIsGuarded(checking: Checking): Generator<Finding> {
  const { web, isOpen } = consoleIn(checking);
  const { names } = web;
  yield* addressIsEncrypted(web, isOpen, atConsole());
  if (isOpen && (!Array.isArray(names) || names.length === 0))
    yield {
      path: atConsole("host"),
      message: "other machines can reach this address, and nobody has said under which name",
      remedy:
        "List under names what browsers call this machine: requests under others are refused.",
    };
}

/** Whoever shares an API key reads what all of its sites have there: each must know what is its own. */
function* sitesAreTold({ value }: Checking): Generator<Finding> {
  const { sites, company } = value;
  const written = valueAt(value, ["queue", "site"]);
  const isShared = valueAt(value, ["queue", "type"]) === "bullmq";
  const isHub = isGroup(value["hub"]);
  const own = isShared ? (written ?? MAIN_SITE) : company;
  if (sites === undefined && isShared && written !== undefined && written !== MAIN_SITE)
    yield {
      path: ["queue", "site"],
      message: `the site ${shown(written)} shares its API key with others, and nothing says which records are its own`,
      remedy:
        "Write under sites the rules of every site, the same in each configuration: docs/configure.md, Several sites. Each site would book the records of all others.",
    };
  if (!isGroup(sites) || typeof own !== "string") return;
  const names = siteNames(sites);
  if (!isHub && !names.includes(own))
    yield {
      path: ["sites"],
      message: `there is no rule of this site, ${shown(own)}: every record would be another's`,
      remedy: `Add ${own}, or correct ${isShared ? "queue.site" : "the name: it is the company's here"}.`,
    };
  else if (names.length === 1)
    yield {
      path: ["sites"],
      message: "no other site is named: what is nobody's could not be told from what is another's",
      remedy: "Write the rules of every site that has this API key, or remove sites.",
    };
}

/** A hub passes on to sites, and reads by itself; a site that asks one says what is its own. */
function* hubIsRight(checking: Checking): Generator<Finding> {
  const { value, flows, document } = checking;
  const { hub, sites } = value;
  const asked = valueAt(value, ["platform", "hub"]);
  if ((isGroup(hub) || isGroup(asked)) && !isGroup(sites))
    yield {
      path: isGroup(hub) ? ["hub"] : ["platform", "hub"],
      message: "nothing says which records are whose",
      remedy: "Write under sites the rules of every site, the same at the hub and everywhere.",
    };
  if (!isGroup(hub)) return;
  yield* addressIsEncrypted(hub, isOpen(hub), ["hub"]);
  if (isGroup(asked))
    yield { path: ["platform", "hub"], message: "a hub asks no other hub", remedy: "Remove it." };
  const tokens = Object.entries(isGroup(hub["tokens"]) ? hub["tokens"] : {});
  for (const [at, [site, token]] of tokens.entries()) {
    const path = ["hub", "tokens", site];
    if (isGroup(sites) && !siteNames(sites).includes(site))
      yield {
        path,
        part: "key",
        message: `there is no rule of the site ${shown(site)}`,
        remedy: "Correct the name, or add its rules under sites.",
      };
    if (!document.broken(path) && tokens.slice(0, at).some(([, other]) => other === token))
      yield { path, message: "another site has the same token", remedy: "Give each its own." };
  }
  for (const { name, written } of flows)
    if (written["to"] !== HUB_SITES)
      yield {
        path: ["flows", name, "to"],
        message: "a hub passes on what it reads from the platform, and does nothing else",
        remedy: `Write to: ${HUB_SITES}, or move the flow to the configuration of its site.`,
      };
}

/** Where every flow of a hub leads. */
const HUB_SITES = `${HUB}.sites`;

function companiesAreApart({ company, folder }: Checking): Iterable<Finding> {
  return company === undefined
    ? []
    : complaintsOfCompanies(company.installation, company.name, folder);
}

function* consoleHasUser(checking: Checking): Generator<Finding> {
  const { state } = checking.value;
  if (!consoleIn(checking).isOpen || typeof state !== "string") return;
  if (!hasUser(resolve(checking.folder, state)))
    yield {
      path: atConsole("host"),
      message: "other machines can reach this address, and nobody can log in yet",
      remedy: "Add somebody: fuelbridge user add NAME --role operator",
    };
}

/** A look only: the console itself reads the file by its whole shape (src/web/users.ts). */
function hasUser(state: string): boolean {
  try {
    const users = valueAt(JSON.parse(readFileSync(join(state, "users.json"), "utf8")), ["users"]);
    return Array.isArray(users) && users.length > 0;
  } catch {
    return false;
  }
}

type Flow = Checking["flows"][number];

const running = ({ flows }: Checking): Flow[] =>
  flows.filter(({ written: { paused } }) => paused !== true);

/** Every table can be used, and those are there that a flow needs which is not paused. */
function* tablesAreThere(checking: Checking): Generator<Finding | Problem> {
  const { written, path, called } = checking.tables;
  if (written && !isFolder(path)) return;
  let found: readonly TableReport[];
  try {
    const reports = openTables(path).check();
    found = reports.map((one) => ({ ...one, file: join(called, basename(one.file)) }));
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    yield {
      path: ["crossReferences"],
      message: `${called} cannot be listed`,
      remedy: error.next,
    };
    return;
  }
  for (const { file, faults } of found)
    for (const fault of faults) yield { ...fault, file, column: 1, setting: "" };
  yield* missingTables(running(checking), found, called);
}

/** The mapping of a flow, with the options that were given. */
const mappingOf = ({ mapping, options }: Flow): Mapping | undefined =>
  (options?.success === true ? mapping?.using?.(options.data) : undefined) ?? mapping;

/** The tables that mappings need and that are missing, or lack a column: each once, at the first flow that needs it. */
function* missingTables(
  flows: readonly Flow[],
  found: readonly TableReport[],
  called: string,
): Generator<Finding> {
  const needs = flows.flatMap((flow) => {
    const { name, tables = {} } = mappingOf(flow) ?? { name: "" };
    return Object.entries(tables).map(([table, columns]) => ({ table, columns, name, flow }));
  });
  for (const [table, needed] of Map.groupBy(needs, (need) => need.table)) {
    const columns = [...new Set(needed.flatMap((need) => need.columns))];
    const by = [...new Set(needed.map(({ name }) => name))];
    const reading = `which ${by.join(" and ")} read${by.length === 1 ? "s" : ""}`;
    const header = columns.join(",");
    const path = ["flows", needed[0]?.flow.name ?? "", "mapping"];
    const report = found.find(({ name }) => name === table);
    const missing = columns.slice(1).filter((one) => !report?.columns.slice(1).includes(one));
    if (report === undefined)
      yield {
        path,
        message: `${called} has no table ${table}.csv, ${reading}`,
        remedy: `Create it with the header row ${header}; a row that is missing in it later puts a document into quarantine, not more.`,
      };
    // A table that cannot be read is complained of itself.
    else if (report.faults.length === 0 && missing.length > 0)
      yield {
        path,
        message: `${report.file}:1 has no column ${missing.join(", ")}, ${reading}; it has ${report.columns.join(", ")}`,
        remedy: `Its header row is ${header}: the key first. Further columns do no harm.`,
      };
  }
}

/** The folders of the sources and sinks of flows that are not paused. One that several need is told once. */
function* foldersCanBeUsed(checking: Checking): Generator<Finding> {
  const told = new Set<string>();
  const flows = running(checking);
  for (const { name, offers } of checking.endpoints)
    for (const [field, parts] of Object.entries({ from: offers?.sources, to: offers?.sinks }))
      for (const [part, { folders = [] }] of Object.entries(parts ?? {})) {
        if (!flows.some(({ written }) => written[field] === `${name}.${part}`)) continue;
        for (const need of folders) {
          const complaint = complaintOfFolder(need, callingIn(checking, name, need));
          if (complaint === null || told.has(complaint.message)) continue;
          told.add(complaint.message);
          yield { path: ["endpoints", name, ...need.setting], ...complaint };
        }
      }
}

/** How messages call a folder of an endpoint: by its path, or where that came from elsewhere, by what it came from. */
function callingIn(
  { document, value, folder }: Checking,
  endpoint: string,
  { path, setting }: FolderNeed,
): (at: string) => string {
  const of = (names: readonly string[]) => document.source(["endpoints", endpoint, ...names]);
  const own = of(setting);
  const source = own ?? of(["folder"]);
  if (source === null) return (at) => at;
  const root = valueAt(value, ["endpoints", endpoint, "folder"]);
  const base = own === null && typeof root === "string" ? resolve(folder, root) : path;
  return (at) => {
    const inside = relative(base, at);
    return inside.startsWith("..") ? `a folder above ${source}` : join(source, inside);
  };
}

const RIGHTS = {
  r: { code: constants.R_OK, means: "list it" },
  w: { code: constants.W_OK, means: "create and rename files in it" },
  x: { code: constants.X_OK, means: "enter it" },
} as const satisfies Record<FolderRight, { code: number; means: string }>;

/**
 * Why the user that runs this cannot use a folder as the service must; null: it can. `called`: what messages call a path
 * that may not be shown.
 */
function complaintOfFolder(
  { path, rights, created }: FolderNeed,
  called: (path: string) => string,
): Complaint | null {
  const [, ...above] = upwards(path);
  const barrier = above
    .toReversed()
    .find((up) => kindOf(up) === "file" || (existsSync(up) && !may(up, "x")));
  const at = barrier ?? (created ? (upwards(path).find((up) => existsSync(up)) ?? path) : path);
  const kind = kindOf(at);
  if (kind === "missing")
    return {
      message: `there is no folder ${called(at)}`,
      remedy: "Create it, mount the share that it is on, or correct the path.",
    };
  if (kind === "file")
    return { message: `${called(at)} is a file, not a folder`, remedy: "Move it aside." };
  const wanted: readonly FolderRight[] = at === path ? rights : at === barrier ? ["x"] : ["w", "x"];
  const missing = wanted.filter((right) => !may(at, right));
  return missing.length === 0 ? null : lacking(missing, at, called);
}

function lacking(
  rights: readonly FolderRight[],
  at: string,
  called: (path: string) => string,
): Complaint {
  if (rights.some((right) => denial(at, right) === "EROFS"))
    return {
      message: `nobody can write in ${called(at)}: it is mounted read only`,
      remedy:
        "Mount it writable. Under systemd name it in ReadWritePaths=, in a container give it a volume of its own.",
    };
  const user = thisUser();
  const names = rights.map((right) => `${right} (${RIGHTS[right].means})`).join(" and ");
  const { mode, uid } = statSync(at);
  const octal = (mode & 0o7777).toString(8).padStart(4, "0");
  return {
    message: `the user ${user} lacks the right ${names} on ${called(at)} (mode ${octal}, of uid ${uid})`,
    remedy: `Give the service's user this right, by owner, group, mode or ACL: setfacl -m u:${user.replace(/^uid /, "")}:${rights.join("")} FOLDER. If the service is another user, run check as that one.`,
  };
}

/** The path, and every folder above it. */
function upwards(path: string): string[] {
  const up = dirname(path);
  return up === path ? [path] : [path, ...upwards(up)];
}

const may = (path: string, right: FolderRight): boolean => denial(path, right) === null;

/** The code of the system's refusal (`EACCES`, `EROFS`); null: the right is there. */
function denial(path: string, right: FolderRight): string | null {
  try {
    accessSync(path, RIGHTS[right].code);
    return null;
  } catch (error) {
    return causeOf(error);
  }
}

/** What cannot be looked at is missing: a folder above it bars the way, and is told first. */
function kindOf(path: string): "folder" | "file" | "missing" {
  try {
    return statSync(path).isDirectory() ? "folder" : "file";
  } catch {
    return "missing";
  }
}
