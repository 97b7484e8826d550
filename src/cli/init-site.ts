/**
 * What `fuelbridge init` writes: made from the configurations that are shipped, then put on the disk. What the service must
 * keep to itself (secrets, the store's folder) belongs to its user; the rest it may read, and those who look after it may
 * change.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isMap, isScalar, parseDocument } from "yaml";
import { causeOf } from "../config/problems.ts";
import type { Mapping } from "../core/contract.ts";
import { ConfigurationError, EnvironmentError } from "../core/errors.ts";
import { type Answers, environmentOf, erpOf, erps, fieldsFor } from "./init-fields.ts";

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

export interface Site {
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

const API_KEY = "secrets/api-key";

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
    [["company"], answers.company],
    [["currency"], answers.currency],
    [["timeZone"], answers.timeZone],
    [["firstStart"], today],
    [["state"], state],
    [["platform", "url"], answers.platform],
    [["platform", "environment"], environmentOf(answers.apiKey ?? "") ?? undefined],
    [["platform", "apiKey"], `\${file:${API_KEY}}`],
    ...settingsOf(answers).map(([name, value]): [string[], string] => [at(name), value]),
    // Nobody asks for these, and two sites must not share them.
    [at("fileId"), erp === "quickbooks-desktop" ? uuid : undefined],
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

/** What was answered of the endpoint, by its settings; a secret by the file that keeps it. */
const settingsOf = (answers: Answers): [name: string, value: string][] =>
  fieldsFor(answers).flatMap(({ name, setting, kept }): [string, string][] => {
    const answer = answers[name];
    if (setting === undefined || answer === undefined) return [];
    return [[setting, kept === undefined ? answer : `\${file:secrets/${kept.file}}`]];
  });

const secretsOf = (answers: Answers): Made[] => [
  { path: API_KEY, text: `${answers.apiKey}\n`, about: "the platform's API key", secret: true },
  ...fieldsFor(answers).flatMap(({ name, kept }): Made[] => {
    const answer = answers[name];
    if (kept === undefined || answer === undefined) return [];
    const { file, about } = kept;
    return [{ path: `secrets/${file}`, text: `${answer}\n`, about, secret: true }];
  }),
];

/** One table with the columns that any of the mappings reads. */
function tablesOf(mappings: readonly Pick<Mapping, "tables">[]): Made[] {
  const columns = new Map<string, Set<string>>();
  for (const { tables = {} } of mappings)
    for (const [table, names] of Object.entries(tables))
      columns.set(table, new Set([...(columns.get(table) ?? []), ...names]));
  return [...columns].map(([table, names]) => ({
    path: `crossref/${table}.csv`,
    text: `${[...names].join(",")}\n`,
    about: `table with the columns ${[...names].join(", ")}`,
    kept: true,
  }));
}

export interface Owner {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export interface Written {
  readonly path: string;
  readonly about: string;
  /** False: it was there, and was left as it was. */
  readonly written: boolean;
}

/** @throws ConfigurationError when there is no such user, or files cannot be given to it */
export function ownerOf(name: string | undefined): Owner | null {
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
