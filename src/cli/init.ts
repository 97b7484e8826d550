/** `fuelbridge init`: from seven answers to a configuration, its secrets and tables, looked over and ready to start. */
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Command } from "commander";
import { ConfigurationError, EnvironmentError, exitCodes } from "../core/errors.ts";
import { calendarOf } from "../core/time.ts";
import { shippedFolder } from "../formats/table/profile.ts";
import { counted, table } from "../views/table.ts";
import type { Answer } from "./answer.ts";
import { addCommand, type Given } from "./command.ts";
import {
  type Answers,
  askFor,
  type Begun,
  type Erp,
  erpOf,
  erps,
  faultOf,
  type Field,
  fields,
  fieldsFor,
  loadSchemas,
} from "./init-fields.ts";
import type { Owner, Site, Written } from "./init-site.ts";

export function init(program: Command): void {
  const command = addCommand(
    program,
    "init",
    "writes a configuration, its secrets and tables (asks, or takes flags)",
    initialise,
  ).option("--directory <folder>", "writes fuelbridge.yaml there, in place of --config");
  for (const { flag, help } of fields) if (help !== undefined) command.option(flag, help);
  command
    .option("--state <folder>", "the folder of the store")
    .option("--owner <user>", "as root: the user that the service runs as")
    .option("--force", "write the configuration and the secrets anew where they exist")
    .option("--yes", "ask nothing: what is not given takes its usual value")
    .option("--skip-doctor", "do not ask the platform and the ERP at the end");
}

async function initialise(given: Given): Promise<Answer> {
  const { options } = given;
  const { directory } = options;
  const config = resolve(directory === undefined ? given.file : join(directory, "fuelbridge.yaml"));
  const folder = dirname(config);
  const { ownerOf, writeSite } = await import("./init-site.ts");
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
  for (const field of fields) {
    const answer = flagged(field, options);
    // Connectors share flags: what counts is the field of the one that is chosen.
    const isOther = given.erp !== undefined && !fieldsFor(given).includes(field);
    if (answer === undefined || isOther) continue;
    const fault = faultOf(field, answer, schemas);
    if (fault !== null) throw new ConfigurationError(`${nameOf(field)}: ${fault}.`, ALL_FLAGS);
    given[field.name] = answer;
  }
  const isSilent = options["yes"] !== undefined;
  if (!isSilent && process.stdin.isTTY && process.stderr.isTTY) {
    const asked = await askFor(given, { input: process.stdin, output: process.stderr });
    return asked && absolute(asked);
  }
  for (const { name, usual } of isSilent ? fields : [])
    if (usual !== undefined) given[name] ??= usual;
  const missing = fieldsFor(given).filter(({ name }) => given[name] === undefined);
  if (missing.length === 0) return absolute(given);
  throw new ConfigurationError(
    `Nobody can be asked here, and these are missing:\n${missing.map(({ flag, question }) => `    ${flag}  ${question}`).join("\n")}`,
    `Give them, or start it on a terminal. ${ALL_FLAGS}`,
  );
}

const ALL_FLAGS = "`fuelbridge init --help` lists every flag.";
const nameOf = ({ flag }: Field): string => flag.replace(/ .*/, "");

/** A person names a folder from where they stand; the configuration would start at its own. */
const absolute = (answers: Answers): Answers =>
  answers.folder === undefined ? answers : { ...answers, folder: resolve(answers.folder) };

/** The value of a flag; of a secret, the contents of the file that it names. @throws ConfigurationError */
function flagged(field: Field, options: Given["options"]): string | undefined {
  const flag = nameOf(field);
  const key = flag.slice(2).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const value = options[key];
  if (value === undefined || field.secret === undefined) return value;
  try {
    return readFileSync(value === "-" ? 0 : value, "utf8").trim();
  } catch (error) {
    throw new ConfigurationError(
      `${flag}: the file ${value} cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)}).`,
      "Name a text file with nothing but the value.",
      error,
    );
  }
}

/** As root where services keep it, else beside the configuration. */
const usualState = (folder: string): string =>
  process.getuid?.() === 0 ? "/var/lib/fuelbridge" : join(folder, "state");

async function siteFrom(answers: Answers, config: string, state: string): Promise<Site> {
  const [{ siteOf }, { mappings }] = await Promise.all([
    import("./init-site.ts"),
    import("../../mappings/index.ts"),
  ]);
  const { template, part }: Begun = erps[erpOf(answers)];
  return siteOf(answers, {
    template: shipped(template),
    ...(part === undefined ? {} : { part: shipped(part) }),
    schema: shipped("fuelbridge.schema.json"),
    mappings,
    today: calendarOf(answers.timeZone ?? "UTC")(new Date().toISOString()),
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
  return [
    table(["FILE", "WHAT"], [...rows, [state, "the store's folder"]]),
    "",
    `Flows that will run: ${flows.running.join(", ")}.${paused}`,
    ...when(
      written.some(({ path }) => path.endsWith(".csv")),
      "Fill the tables: what has no row in them waits in the quarantine until it has one.",
    ),
    ...when(
      owner === null && process.getuid?.() === 0,
      "The files belong to root. For a service with a user of its own, run it with --owner NAME.",
    ),
    "",
    said,
    ...when(code !== exitCodes.ok, "", again),
    "",
    ...(BEFORE[erp]?.(config) ?? []),
    "Start it with",
    "",
    `  ${startOf(config)}`,
  ].join("\n");
}

const when = (is: boolean, ...lines: readonly string[]): readonly string[] => (is ? lines : []);

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
