/** `fuelbridge init`: from seven answers to a configuration, its secrets and tables, looked over and ready to start. */
import { capital, counted } from "../core/text.ts";
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { Command } from "commander";
import { isMap, isScalar, parseDocument } from "yaml";
import type { z } from "zod";
import { causeOf } from "../config/problems.ts";
import { columnsRead, type Connector, type Mapping } from "../core/contract.ts";
import { defined } from "../core/defined.ts";
import { aboutMachine, ConfigurationError, EnvironmentError, exitCodes } from "../core/errors.ts";
import { calendarOf, faultOfTimeZone } from "../core/time.ts";
import { shippedFolder } from "../formats/table/profile.ts";
import { lined, table } from "../views/text.ts";
import type { Answer } from "./answer.ts";
import { addCommand, type Given } from "./command.ts";

/**
 * What a site can begin with, a connector or a format of files: the shipped configuration of each (`part`: the file whose
 * endpoints and flows stand in the place of its own), its endpoint there, and the settings of that endpoint that are asked for.
 */
export const erps = {
  files: { template: "example.yaml", endpoint: "erp", asks: ["folder"] },
  idoc: { template: "example.yaml", part: "parts/idoc.yaml", endpoint: "sap", asks: ["folder"] },
  x12: { template: "example.yaml", part: "parts/x12.yaml", endpoint: "edi", asks: ["folder"] },
  tryton: {
    template: "tryton.yaml",
    endpoint: "books",
    asks: ["url", "database", "user", "password", "company"],
  },
  "quickbooks-desktop": {
    template: "quickbooks-desktop.yaml",
    endpoint: "books",
    asks: ["company", "password"],
  },
  "quickbooks-online": {
    template: "quickbooks-online.yaml",
    endpoint: "books",
    asks: ["company", "clientId", "clientSecret", "redirectUri"],
  },
  "business-central": {
    template: "business-central.yaml",
    endpoint: "books",
    asks: ["tenant", "company", "clientId", "clientSecret"],
  },
  "sql-staging": {
    template: "sql-staging.yaml",
    endpoint: "books",
    asks: ["dialect", "host", "database", "user", "password"],
  },
  example: {
    template: "example.yaml",
    part: "parts/example.yaml",
    endpoint: "books",
    asks: ["url", "token"],
  },
} as const satisfies Readonly<
  Record<
    string,
    Record<"template" | "endpoint", string> & { part?: string; asks: readonly string[] }
  >
>;

export type Erp = keyof typeof erps;
const [FILES, ...OTHERS] = Object.keys(erps);
const ANY_ERP = `${OTHERS.slice(0, -1).join(", ")} or ${OTHERS.at(-1)}`;

/** `answer` may be none of them: the others are told so before. */
const erpOf = ({ erp = "" }: Answers): Erp => (isErp(erp) ? erp : "files");
const isErp = (name: string): name is Erp => Object.hasOwn(erps, name);

/** What `init` must know: each a flag, and a question where somebody can be asked. */
interface Field {
  /** Of the answer, and of its flag. */
  readonly name: string;
  /** `--company <label>`. A secret takes a file, is not shown while it is typed, and is kept in a file of `secrets`. */
  readonly takes: string;
  readonly help: string;
  /** Without a question mark. Left out: what the connector says of the setting, or the help of the flag. */
  readonly question?: string;
  /** The setting of the endpoint that it becomes. */
  readonly setting?: string;
  /** What an empty answer means, and what `--yes` takes. */
  readonly usual?: string | undefined;
}

/** Settings of endpoints: what the flag takes, its help, and the usual value. */
const SETTINGS: Readonly<Record<string, readonly [takes: string, help: string, usual?: string]>> = {
  folder: ["folder", "the folder that is shared with the ERP or the partner"],
  url: ["url", "the address of the server"],
  tenant: ["name", "the tenant of Microsoft Entra"],
  dialect: ["name", "the kind of server", "postgresql"],
  host: ["name", "the server's name or address", "127.0.0.1"],
  database: ["name", "the name of the database"],
  user: ["login", "the login of fuelbridge's own user", "fuelbridge"],
  password: ["file", "the password"],
  token: ["file", "the access token"],
  company: ["name", "the company there"],
  clientId: ["id", "the id of the app"],
  clientSecret: ["file", "the secret of the app"],
  redirectUri: ["url", "a redirect address of the app"],
};

const FIELDS: readonly Field[] = [
  {
    name: "company",
    takes: "label",
    help: "a short label of the company, never changed afterwards",
    question: "Company: a short label of your own (lower-case letters, digits, hyphens)",
  },
  { name: "currency", takes: "code", help: "the currency of the books (ISO 4217)", usual: "USD" },
  {
    name: "timeZone",
    takes: "zone",
    help: "the company's time zone, for example America/Chicago",
    usual: usualZone(),
  },
  {
    name: "platform",
    takes: "url",
    help: "the address of the platform's API",
    question: "Address of the platform's API (it ends in /v1/public)",
  },
  {
    name: "apiKey",
    takes: "file",
    help: "the platform's API key",
    question: "API key of the platform (svc_live_... or svc_test_...)",
  },
  {
    name: "erp",
    takes: "connector",
    help: `${FILES}, ${ANY_ERP}`,
    question: `The ERP: ${FILES} (a folder of exports and imports), ${ANY_ERP}`,
    usual: "files",
  },
  ...Object.entries(SETTINGS).map(([setting, [takes, help, usual]]) => {
    const name = setting === "folder" ? setting : `erp${capital(setting)}`;
    return { name, takes, help, setting, usual };
  }),
];

const isSecret = ({ takes }: Field): boolean => takes === "file";
/** `erp-client-secret`, of `erpClientSecret`. */
const kebab = ({ name }: Field): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const flagOf = (field: Field): string => `--${kebab(field)}${isSecret(field) ? "-file" : ""}`;

/** What was answered so far, by the names of the fields. */
export type Answers = Record<string, string>;

/** The fields that count for these answers: the others are of another connector. */
const fieldsFor = ({ erp = "" }: Answers): readonly Field[] =>
  FIELDS.filter(({ setting }) => setting === undefined || (isErp(erp) && asks(erp, setting)));

const asks = (erp: Erp, setting: string): boolean =>
  (erps[erp].asks as readonly string[]).includes(setting);

/** The environment that a key of the platform is of; null: it is no key. */
const environmentOf = (key: string): string | null =>
  /^svc_(live|test)_[A-Za-z0-9_-]+$/.exec(key)?.[1] ?? null;

/** This machine's zone, where it is one that a company can have. */
function usualZone(): string | undefined {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return timeZone.includes("/") && faultOfTimeZone(timeZone) === null ? timeZone : undefined;
}

/** What answers are checked by, loaded when somebody answers: the settings that they become. */
async function loadSchemas() {
  const [{ descriptionOf, explainIssues, shown }, { settingsSchema }, connectors, online] =
    await Promise.all([
      import("../config/problems.ts"),
      import("../config/schema.ts"),
      import("../../connectors/index.ts").then(({ connectorsNamed }) => connectorsNamed()),
      import("../../connectors/quickbooks-online/config.ts"),
    ]);
  const { platform, ...settings } = settingsSchema([], []).shape;
  const common: Readonly<Record<string, z.ZodType>> = {
    ...settings,
    platform: platform.in.shape.url,
  };
  const schemaOf = ({ name, setting }: Field, { erp }: Answers): z.ZodType => {
    if (setting === undefined) return common[name] as z.ZodType;
    const connector = setting === "folder" ? "files" : erp;
    const { config } = connectors.find(({ name }) => name === connector) as Connector;
    return (config as z.ZodObject).shape[setting] as z.ZodType;
  };
  return {
    questionOf(field: Field, answers: Answers): string {
      const { setting, question, help } = field;
      const said = setting && descriptionOf(schemaOf(field, answers));
      const [first] = said?.split(/\. |\.$|: \$\{/) ?? [];
      const own = capital(question ?? first ?? help);
      return isSecret(field) ? `${own} (it is not shown)` : own;
    },
    /** What is wrong with an answer, in the words that `check` has for the same value; null: nothing. Without a full stop. */
    faultOf(field: Field, answers: Answers, answer: string): string | null {
      const { name, setting } = field;
      if (name === "apiKey") return environmentOf(answer) === null ? NO_KEY : null;
      if (name === "erp")
        return isErp(answer) ? null : `${shown(answer)} is none of ${Object.keys(erps).join(", ")}`;
      if (isSecret(field) && !/^.{8,}$/.test(answer))
        return "it must be one line of at least 8 characters";
      const its = schemaOf(field, answers);
      const subject = { value: answer, schema: its, at: [], source: () => null };
      const [found] = explainIssues(its.safeParse(answer).error?.issues ?? [], subject);
      if (found !== undefined) return `${found.message}. ${found.remedy}`.replace(/\.$/, "");
      const redirect = setting === "redirectUri" ? online.faultOfRedirect(answer) : null;
      return redirect === null ? null : `${shown(answer)} ${redirect}`;
    },
  };
}

const NO_KEY =
  "this is no key of the platform: one begins with svc_live_ or svc_test_, and is a single line without blanks";

interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Asks for what `given` lacks, in the order of the fields. @returns null when the person ended it (Ctrl-C, Ctrl-D) */
export async function askFor(given: Answers, terminal: Terminal): Promise<Answers | null> {
  const schemas = await loadSchemas();
  let hidden = false;
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      if (!hidden) terminal.output.write(chunk);
      done();
    },
  });
  const lines = createInterface({ input: terminal.input, output, terminal: true });
  const ended = new AbortController();
  for (const event of ["SIGINT", "close"] as const) lines.once(event, () => ended.abort());
  const ask = async (question: string, field: Field): Promise<string> => {
    const { usual = "" } = field;
    const brackets = usual === "" ? "" : ` [${usual}]`;
    // The question itself is shown; what is typed after it may not be.
    const answer = lines.question(`${question}${brackets}: `, { signal: ended.signal });
    hidden = isSecret(field);
    try {
      return (await answer).trim() || usual;
    } finally {
      if (hidden) terminal.output.write("\n");
      hidden = false;
    }
  };
  const answers: Answers = { ...given };
  terminal.output.write(
    "Enter takes what stands in brackets. Nothing is written before the last answer.\n\n",
  );
  try {
    // Which fields count depends on the connector that is answered on the way.
    for (;;) {
      const next = fieldsFor(answers).find(({ name }) => answers[name] === undefined);
      if (next === undefined) return answers;
      const answer = await ask(schemas.questionOf(next, answers), next);
      const fault = schemas.faultOf(next, answers, answer);
      if (fault === null) answers[next.name] = answer;
      else terminal.output.write(`  ${fault}.\n`);
    }
  } catch (error) {
    if (ended.signal.aborted) return null;
    throw error;
  } finally {
    lines.close();
  }
}

export function init(program: Command): void {
  const about = "writes a configuration, its secrets and tables (asks, or takes flags)";
  const command = addCommand(program, "init", about, initialise, "none").option(
    "--directory <folder>",
    "writes fuelbridge.yaml there, in place of --config",
  );
  for (const field of FIELDS) command.option(`${flagOf(field)} <${field.takes}>`, helpOf(field));
  command
    .option("--state <folder>", "the folder of the store")
    .option("--owner <user>", "as root: the user that the service runs as")
    .option("--force", "write the configuration and the secrets anew where they exist")
    .option("--yes", "ask nothing: what is not given takes its usual value")
    .option("--skip-doctor", "do not ask the platform and the ERP at the end");
}

function helpOf(field: Field): string {
  const { setting, help } = field;
  const text = !isSecret(field) ? help : `a file with ${help} (- is standard input)`;
  if (setting === undefined) return text;
  const those = (Object.keys(erps) as Erp[]).filter((erp) => asks(erp, setting));
  return `${those.join(", ")}: ${text}`;
}

async function initialise(given: Given): Promise<Answer> {
  const { options } = given;
  const { directory } = options;
  const config = resolve(directory === undefined ? given.file : join(directory, "fuelbridge.yaml"));
  const folder = dirname(config);
  const owner = ownerOf(options["owner"]);
  if (options["force"] === undefined) expectNothing(config);
  const answers = await answersOf(given);
  if (answers === null)
    return { data: null, text: "Nothing was written.", exitCode: exitCodes.interrupted };
  const state = resolve(options["state"] ?? usualState(folder));
  const site = await siteFrom(answers, config, state);
  const written = writeSite(site, { folder, state, owner });
  const command = options["skipDoctor"] === undefined ? "doctor" : "check";
  if (!given.json)
    process.stderr.write(`Written. Looking it over with fuelbridge ${command} ...\n\n`);
  const looked = lookOver(command, config, owner);
  return {
    data: { config, state, written, flows: site.flows, looked },
    text: inWords({
      config,
      state,
      owner,
      written,
      flows: site.flows,
      looked,
      erp: erpOf(answers),
    }),
    // What the platform or the ERP lacks is no fault of what was written.
    exitCode: looked.code === exitCodes.configuration ? exitCodes.configuration : exitCodes.ok,
  };
}

/** @throws ConfigurationError that lists what is there */
function expectNothing(config: string): void {
  if (!existsSync(config)) return;
  const folder = dirname(config);
  const there = globSync([basename(config), "secrets/*", "crossref/*.csv"], { cwd: folder });
  const lines = there.toSorted().map((name) => {
    const path = join(folder, name);
    if (!name.endsWith(".csv")) return `    ${path}`;
    const rows = readFileSync(path, "utf8").trim().split("\n").length - 1;
    return `    ${path} (${counted(rows, "row")})`;
  });
  throw new ConfigurationError(
    `There is a configuration already, and nothing was written:\n${lines.join("\n")}`,
    `Look at it with \`fuelbridge check --config ${config}\` and change it in an editor. ` +
      "To write the configuration and the secrets anew, run this again with --force; tables are never overwritten.",
  );
}

/** From the flags, then from the person where there is one. @returns null when the person ended it */
async function answersOf({ options }: Given): Promise<Answers | null> {
  const schemas = await loadSchemas();
  const given: Answers = {};
  for (const field of FIELDS) {
    const answer = flagged(field, options);
    // What the connector that is chosen has no setting for counts for nothing.
    const isOther = given["erp"] !== undefined && !fieldsFor(given).includes(field);
    if (answer === undefined || isOther) continue;
    const fault = schemas.faultOf(field, given, answer);
    if (fault !== null) throw new ConfigurationError(`${flagOf(field)}: ${fault}.`, ALL_FLAGS);
    given[field.name] = answer;
  }
  const isSilent = options["yes"] !== undefined;
  if (!isSilent && process.stdin.isTTY && process.stderr.isTTY) {
    const asked = await askFor(given, { input: process.stdin, output: process.stderr });
    return asked && absolute(asked);
  }
  for (const { name, usual } of isSilent ? FIELDS : [])
    if (usual !== undefined) given[name] ??= usual;
  const missing = fieldsFor(given).filter(({ name }) => given[name] === undefined);
  if (missing.length === 0) return absolute(given);
  const lines = missing.map(
    (field) => `    ${flagOf(field)} <${field.takes}>  ${schemas.questionOf(field, given)}`,
  );
  throw new ConfigurationError(
    `Nobody can be asked here, and these are missing:\n${lines.join("\n")}`,
    `Give them, or start it on a terminal. ${ALL_FLAGS}`,
  );
}

const ALL_FLAGS = "`fuelbridge init --help` lists every flag.";

/** A person names a folder from where they stand; the configuration would start at its own. */
const absolute = (answers: Answers): Answers =>
  answers["folder"] === undefined ? answers : { ...answers, folder: resolve(answers["folder"]) };

/** The value of a flag; of a secret, the contents of the file that it names. @throws ConfigurationError */
function flagged(field: Field, options: Given["options"]): string | undefined {
  const flag = flagOf(field);
  const value = options[isSecret(field) ? `${field.name}File` : field.name];
  if (value === undefined || !isSecret(field)) return value;
  try {
    return readFileSync(value === "-" ? 0 : value, "utf8").trim();
  } catch (error) {
    throw new ConfigurationError(
      `${flag}: the file ${value} cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)}).`,
      aboutMachine(causeOf(error)) ?? "Name a text file with nothing but the value.",
      error,
    );
  }
}

/** As root where services keep it, else beside the configuration. */
const usualState = (folder: string): string =>
  process.getuid?.() === 0 ? "/var/lib/fuelbridge" : join(folder, "state");

async function siteFrom(answers: Answers, config: string, state: string): Promise<Site> {
  const { mappings } = await import("../../mappings/index.ts");
  const { template, part }: { template: string; part?: string } = erps[erpOf(answers)];
  return siteOf(answers, {
    template: shipped(template),
    ...defined({ part: part && shipped(part) }),
    schema: shipped("fuelbridge.schema.json"),
    mappings,
    today: calendarOf(answers["timeZone"] ?? "UTC")(new Date().toISOString()),
    state,
    file: basename(config),
    uuid: randomUUID(),
  });
}

function shipped(name: string): string {
  const found = shippedFolder("");
  if (found !== undefined && existsSync(join(found, "example.yaml")))
    return readFileSync(join(found, name), "utf8");
  throw new EnvironmentError(
    "The configurations to start from are not installed: there is no config/example.yaml beside the program.",
    "Install fuelbridge again, with its folder config.",
  );
}

interface Looked {
  readonly command: "check" | "doctor";
  /** Its exit code; null: it could not be started. */
  readonly code: number | null;
  readonly said: string;
}

/** As the service's user, whose rights count; the store that doctor opens is that user's then. */
function lookOver(command: Looked["command"], config: string, owner: Owner | null): Looked {
  const args = [...process.execArgv, process.argv[1] ?? "", command, "--config", config];
  const user = owner === null ? {} : { uid: owner.uid, gid: owner.gid };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    ...user,
  });
  return { command, code: status, said: `${stdout}${stderr}`.trim() };
}

interface Outcome {
  readonly config: string;
  readonly state: string;
  readonly owner: Owner | null;
  readonly written: readonly Written[];
  readonly flows: Site["flows"];
  readonly looked: Looked;
  readonly erp: Erp;
}

function inWords({ config, state, owner, written, flows, looked, erp }: Outcome): string {
  const rows = written.map(({ path, about, written }) => [
    path,
    written ? about : `${about}: it was there, and stays as it is`,
  ]);
  const { command, code, said } = looked;
  const paused = flows.paused.length === 0 ? "" : ` Paused: ${flows.paused.join(", ")}.`;
  const again = `When that is settled, look again: ${called()} ${command} --config ${config}`;
  return lined(
    table(["FILE", "WHAT"], [...rows, [state, "the store's folder"]]),
    "",
    `Flows that will run: ${flows.running.join(", ")}.${paused}`,
    written.some(({ path }) => path.endsWith(".csv")) &&
      "Fill the tables: what has no row in them waits in the quarantine until it has one.",
    owner === null &&
      process.getuid?.() === 0 &&
      "The files belong to root. For a service with a user of its own, run it with --owner NAME.",
    "",
    said,
    code !== exitCodes.ok && ["", again],
    "",
    BEFORE[erp]?.(config) ?? [],
    "Start it with",
    "",
    `  ${startOf(config)}`,
  );
}

const AGREED =
  (who: string): (() => string[]) =>
  () => [
    `Compare the ids and folders under endpoints with what ${who} says, and take out the flows that you do not need.`,
    "",
  ];
const COMPARE = "Compare the names of items and accounts under endpoints with those in QuickBooks.";

/** What a person does before the first start, by connector. */
const BEFORE: Readonly<Record<string, (config: string) => string[]>> = {
  idoc: AGREED("SAP's administrator"),
  x12: AGREED("the partner"),
  "quickbooks-online": (config) => [
    `${COMPARE} Then let fuelbridge in, once:`,
    "",
    `  ${called()} quickbooks authorise --config ${config}`,
    "",
  ],
  "quickbooks-desktop": (config) => [
    `${COMPARE} Then write the file for its Web Connector:`,
    "",
    `  ${called()} quickbooks qwc --config ${config} > fuelbridge.qwc`,
    "",
  ],
};

const UNITS = ["/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"];

/** Where the service is installed, and this is its configuration, the service; else the command. */
function startOf(config: string): string {
  const service =
    config === "/etc/fuelbridge/fuelbridge.yaml" &&
    UNITS.some((folder) => existsSync(join(folder, "fuelbridge.service")));
  return service ? "systemctl enable --now fuelbridge" : `${called()} run --config ${config}`;
}

/** How fuelbridge is called here: in a checkout it is not on the PATH. */
const called = (): string =>
  process.argv[1]?.endsWith("main.ts") === true ? "node src/launch.mjs" : "fuelbridge";

/* What it writes: made from the configurations that are shipped, then put on the disk. What the service must keep to itself
 * (secrets, the folder of the store) belongs to its user; the rest it may read, and those who look after it may change. */

/** A file to write. */
interface Made {
  /** From the folder of the configuration, or absolute. */
  readonly path: string;
  readonly text: string;
  /** For people, in a few words. */
  readonly about: string;
  /** Only the service may read it. */
  readonly secret?: true;
  /** It holds people's work once it is there: it is never written again. */
  readonly kept?: true;
}

interface Site {
  readonly files: readonly Made[];
  /** Folders of the exchange with the ERP that the configuration names, absolute. */
  readonly folders: readonly string[];
  /** The flows, those that are paused apart. */
  readonly flows: { readonly running: readonly string[]; readonly paused: readonly string[] };
}

export interface Ground {
  /** The shipped configuration for the connector, as text. */
  readonly template: string;
  /** Its endpoints and flows stand in the place of the template's. */
  readonly part?: string;
  /** The JSON Schema for editors, as text. */
  readonly schema: string;
  readonly mappings: readonly Pick<Mapping, "name" | "tables">[];
  /** `YYYY-MM-DD`: the day of the first start. */
  readonly today: string;
  /** The folder of the store, as the configuration names it. */
  readonly state: string;
  /** The name of the configuration's file. */
  readonly file: string;
  /** A UUID that nobody has. */
  readonly uuid: string;
}

/** `answers` are complete, and `folder` in them is absolute. */
export function siteOf(answers: Answers, ground: Ground): Site {
  const { text, flows, folders } = configurationOf(answers, ground);
  const names = flows.map(({ mapping }) => mapping);
  const used = ground.mappings.filter(({ name }) => names.includes(name));
  return {
    files: [
      ...secretsOf(answers),
      ...tablesOf(used),
      { path: "fuelbridge.schema.json", text: ground.schema, about: "for editors" },
      { path: ground.file, text, about: "the configuration" },
    ],
    folders,
    flows: {
      running: flows.filter(({ paused }) => !paused).map(({ name }) => name),
      paused: flows.filter(({ paused }) => paused).map(({ name }) => name),
    },
  };
}

function configurationOf(answers: Answers, { template, part, today, state, uuid }: Ground) {
  const document = parsed(template);
  if (part !== undefined)
    for (const key of ["endpoints", "flows"]) document.set(key, parsed(part).get(key, true));
  const erp = erpOf(answers);
  const { endpoint } = erps[erp];
  const at = (name: string): string[] => ["endpoints", endpoint, name];
  const set: [path: string[], value: string | undefined][] = [
    [["company"], answers["company"]],
    [["currency"], answers["currency"]],
    [["timeZone"], answers["timeZone"]],
    [["firstStart"], today],
    [["state"], state],
    [["platform", "url"], answers["platform"]],
    [["platform", "environment"], environmentOf(answers["apiKey"] ?? "") ?? undefined],
    [["platform", "apiKey"], "${file:secrets/api-key}"],
    ...settingsOf(answers).map(([name, value]): [string[], string] => [at(name), value]),
    // Nobody asks for these, and two sites must not share them.
    [at("fileId"), erp === "quickbooks-desktop" ? uuid : undefined],
    [at("user"), erp === "quickbooks-desktop" ? `fuelbridge-${answers["company"]}` : undefined],
    [at("tokens"), erp === "quickbooks-online" ? `${state}/quickbooks-online.json` : undefined],
  ];
  for (const [path, value] of set) if (value !== undefined) document.setIn(path, value);
  const head = isMap(document.contents) ? document.contents.items[0]?.key : null;
  if (isScalar(head)) head.commentBefore = headOf(head.commentBefore ?? "", today);
  const value = document.toJS() as Shipped;
  return {
    text: document.toString({ lineWidth: 0 }),
    folders: [...foldersOf(value.endpoints[endpoint])],
    flows: Object.entries(value.flows).map(([name, flow]) => ({ name, paused: false, ...flow })),
  };
}

/** What is used here of a shipped configuration. */
interface Shipped {
  readonly endpoints: Readonly<Record<string, FilesSettings>>;
  readonly flows: Readonly<Record<string, { readonly mapping: string; readonly paused?: boolean }>>;
}
interface FilesSettings {
  readonly folder?: string;
  readonly sources?: Readonly<Record<string, In>>;
  readonly sinks?: Readonly<
    Record<string, { readonly answers?: In; readonly acknowledgements?: In }>
  >;
}
interface In {
  readonly folder: string;
}

/** Folders that the ERP writes into. Those that it reads from are created by the daemon. */
function* foldersOf(endpoint: FilesSettings | undefined): Generator<string> {
  if (endpoint?.folder === undefined) return;
  yield endpoint.folder;
  const { folder, sources = {}, sinks = {} } = endpoint;
  const answers = Object.values(sinks).flatMap((sink) => [sink.answers, sink.acknowledgements]);
  for (const its of [...Object.values(sources), ...answers])
    if (its !== undefined) yield `${folder}/${its.folder}`;
}

const parsed = (text: string) =>
  parseDocument(text.replace(/^( *)# CHANGE: (.)/gm, marked), { schema: "core" });

const marked = (_: string, indent: string, first: string): string =>
  `${indent}# ${first.toUpperCase()}`;

/** The last paragraph of the shipped file's head explains the form; the ones before it are about copying that file. */
function headOf(shipped: string, today: string): string {
  const paragraphs = shipped.split("\n \n");
  const [modeline = ""] = paragraphs;
  return [
    modeline,
    ` Written by fuelbridge init on ${today}. Every setting may be changed here; then look with\n \n` +
      "   fuelbridge check        is everything right here? (asks nobody)\n" +
      "   fuelbridge doctor       does everything hold that synchronising needs? (asks the platform and the ERP)",
    paragraphs.at(-1) ?? "",
  ].join("\n \n");
}

/** The file in `secrets` that keeps an answer. */
const secretOf = (field: Field): string => `secrets/${kebab(field)}`;

/** What was answered of the endpoint, by its settings; a secret by the file that keeps it. */
const settingsOf = (answers: Answers): [name: string, value: string][] =>
  fieldsFor(answers).flatMap((field): [string, string][] => {
    const { name, setting } = field;
    const answer = answers[name];
    if (setting === undefined || answer === undefined) return [];
    return [[setting, !isSecret(field) ? answer : `\${file:${secretOf(field)}}`]];
  });

const secretsOf = (answers: Answers): Made[] =>
  fieldsFor(answers).flatMap((field): Made[] => {
    const answer = answers[field.name];
    if (!isSecret(field) || answer === undefined) return [];
    return [{ path: secretOf(field), text: `${answer}\n`, about: field.help, secret: true }];
  });

/** One table with the columns that any of the mappings reads. */
const tablesOf = (mappings: readonly Pick<Mapping, "tables">[]): Made[] =>
  [...columnsRead(mappings)].map(([table, names]) => ({
    path: `crossref/${table}.csv`,
    text: `${names.join(",")}\n`,
    about: `table with the columns ${names.join(", ")}`,
    kept: true,
  }));

interface Owner {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

interface Written {
  readonly path: string;
  readonly about: string;
  /** False: it was there, and was left as it was. */
  readonly written: boolean;
}

/** @throws ConfigurationError when there is no such user, or files cannot be given to it */
function ownerOf(name: string | undefined): Owner | null {
  if (name === undefined) return null;
  const [uid, gid] = ["-u", "-g"].map((which) => {
    const { status, stdout } = spawnSync("id", [which, "--", name], { encoding: "utf8" });
    return status === 0 ? Number(stdout.trim()) : null;
  });
  if (uid === undefined || gid === undefined || uid === null || gid === null)
    throw new ConfigurationError(
      `--owner ${name}: this machine has no such user.`,
      "Create the service's user first, or leave --owner out: then the files belong to you.",
    );
  if (process.getuid?.() !== 0 && process.getuid?.() !== uid)
    throw new ConfigurationError(
      `--owner ${name}: only root can give files to another user.`,
      "Run it with sudo, or as that user and without --owner.",
    );
  return { name, uid, gid };
}

/** @throws EnvironmentError with the path, when something cannot be written */
export function writeSite(
  site: Site,
  { folder, state, owner }: { folder: string; state: string; owner: Owner | null },
): Written[] {
  try {
    createFolder(folder, 0o750, owner, "read");
    createFolder(join(folder, "crossref"), 0o750, owner, "read");
    createFolder(join(folder, "secrets"), 0o700, owner, "own");
    createFolder(state, 0o700, owner, "own");
    for (const path of site.folders) createFolder(path, 0o755, owner, "own");
    return site.files.map((made) => writeOne(made, resolve(folder, made.path), owner));
  } catch (error) {
    const { path = "A file" } = error as NodeJS.ErrnoException;
    throw new EnvironmentError(
      `${path} cannot be written (${causeOf(error)}).`,
      aboutMachine(causeOf(error)) ??
        "Run it as a user who may write there (for a service with a user of its own: sudo, and --owner NAME). " +
          "What was written stays; run it again afterwards.",
      error,
    );
  }
}

type Right = "own" | "read";

/** Folders that are there stay as they are; those that are missing on the way are made alike, whatever the umask says. */
function createFolder(path: string, mode: number, owner: Owner | null, right: Right): void {
  const first = mkdirSync(path, { recursive: true });
  if (first === undefined) return;
  for (let at = path; ; at = dirname(at)) {
    chmodSync(at, mode);
    give(at, owner, right);
    if (at === first) return;
  }
}

function writeOne({ text, about, secret, kept }: Made, at: string, owner: Owner | null): Written {
  const there = existsSync(at);
  // The key may have been put there before, and named by its flag.
  if (there && (kept === true || (secret === true && readFileSync(at, "utf8") === text)))
    return { path: at, about, written: false };
  const mode = secret === true ? 0o600 : 0o640;
  writeFileSync(at, text, { mode });
  chmodSync(at, mode);
  give(at, owner, secret === true ? "own" : "read");
  return { path: at, about, written: true };
}

function give(path: string, owner: Owner | null, right: Right): void {
  if (owner === null) return;
  chownSync(path, right === "own" ? owner.uid : (process.getuid?.() ?? owner.uid), owner.gid);
}
