/** What records become, without sending anything. The mapping is the one that the files say now, not the daemon's. */
import { counted } from "../core/text.ts";
import { existsSync, readFileSync, statSync, globSync, writeFileSync } from "node:fs";
import type { Command } from "commander";
import { ask, askOf } from "../app/ask.ts";
import { loadConfiguration } from "../app/configuration.ts";
import { openLooking } from "../app/endpoints.ts";
import { type Config, type FlowConfig, mappingOf } from "../config/config.ts";
import { openTables } from "../config/crossref.ts";
import { PLATFORM } from "../config/flows.ts";
import {
  type Endpoint,
  type Item,
  type Mapping,
  type References,
  referencesBy,
  type Sink,
} from "../core/contract.ts";
import { ConfigurationError, Refused, EnvironmentError, exitCodes } from "../core/errors.ts";
import { type Json, parseExact } from "../core/json.ts";
import { contentOf } from "../core/keys.ts";
import type { Kind } from "../core/kinds.ts";
import { calendarOf } from "../core/time.ts";
import {
  type ChangedField,
  changedFields,
  type Coverage,
  explain,
  type Explanation,
} from "../mapping/explain.ts";
import { COUNTERPARTS_MAX } from "../office/asked.ts";
import type { Office } from "../office/questions.ts";
import type { Sample } from "../store/queries.ts";
import { lined, table } from "../views/text.ts";
import type { Answer } from "./answer.ts";
import { addCommand, recordsGiven } from "./command.ts";
import { join, relative } from "node:path";
import { causeOf } from "../config/problems.ts";
import { readCases, runCase } from "../mapping/cases.ts";
import type { DryRun, FlowPlan, Planned } from "../app/dry-run.ts";

export function map(program: Command): void {
  addCommand(
    program,
    "map [flow] [record]",
    "what a record becomes, field by field; nothing is sent",
    async ({ file, args: [flow, record], options }) => {
      const config = await loadConfiguration(file);
      const { last, cases, types } = options;
      const one = [record, last, cases, types].filter((given) => given !== undefined);
      if (one.length !== 1 || (flow === undefined) !== (record === undefined && last === undefined))
        throw new ConfigurationError("It is not clear what to map.", USAGE);
      if (types !== undefined) return writeTypes(config);
      if (cases !== undefined) return runCases(config);
      const opened = openMapping(config, flow ?? "");
      return last === undefined
        ? mapRecord(file, opened, record ?? "")
        : mapLast(file, opened, recordsGiven("last", last, { least: 1, such: 1_000 }));
    },
  )
    .option(
      "--last <count>",
      "map the last stored records, and show what differs from what was sent",
    )
    .option("--cases", "run the cases of the site's own mappings")
    .option("--types", "write what an editor needs into the folder of the site's mappings");
}

const USAGE =
  "Give a flow and a file or number (fuelbridge map invoices INV-1001), a flow and --last 1000, --cases, or --types.";
interface OpenMapping {
  readonly config: Config;
  readonly flow: FlowConfig;
  readonly mapping: Mapping;
  /** The side that the flow's records come from. */
  readonly side: "platform" | "erp";
  /** @param find the other side's id; null: there is none */
  readonly references: (find: References["find"]) => References;
}

/** @throws ConfigurationError when there is no such flow */
function flowIn({ file, flows }: Config, name: string): FlowConfig {
  const flow = flows.find((one) => one.name === name);
  if (flow !== undefined) return flow;
  const names = flows.map((one) => one.name).join(", ");
  throw new ConfigurationError(`${file} has no flow "${name}".`, `Flows: ${names}.`);
}

/** @throws ConfigurationError when there is no such flow */
export function openMapping(
  config: Config,
  name: string,
  tables = openTables(config.crossReferences),
): OpenMapping {
  const flow = flowIn(config, name);
  const { currency, timeZone } = config;
  const dayOf = calendarOf(timeZone);
  return {
    config,
    flow,
    mapping: mappingOf(config, flow),
    side: flow.from.endpoint === PLATFORM ? "platform" : "erp",
    references: (find) => referencesBy({ tables, currency, dayOf }, find),
  };
}

/** Asks the store; without one, nothing is stored and nobody is asked. */
async function fromStore<Result>(
  file: string,
  { state }: Config,
  question: (office: Office | null) => Promise<Result>,
): Promise<Result> {
  return existsSync(state) ? ask(file, question) : question(null);
}

/** Rounds of looking ids up: each can show that more are needed. */
const ROUNDS_MAX = 20;

/**
 * A mapping looks ids up while it works, and a store is asked between: so the work is done again until nothing that it
 * looks up is unknown. A mapping is pure, and doing it again changes nothing.
 */
async function withLinks<Result>(
  office: Office | null,
  { side }: Pick<OpenMapping, "side">,
  work: (find: References["find"]) => Result,
): Promise<Result> {
  const known = new Map<string, string | null>();
  for (let round = 1; ; round++) {
    const missing = new Map<string, { kind: Kind; id: string }>();
    const result = work((kind, id) => {
      const key = `${kind} ${id}`;
      if (!known.has(key)) missing.set(key, { kind, id });
      return known.get(key) ?? null;
    });
    if (missing.size === 0 || office === null || round === ROUNDS_MAX) return result;
    const asked = [...missing];
    for (let at = 0; at < asked.length; at += COUNTERPARTS_MAX) {
      const some = asked.slice(at, at + COUNTERPARTS_MAX);
      const found = await office.counterparts({ side, asked: some.map(([, one]) => one) });
      for (const [index, [key]] of some.entries()) known.set(key, found[index] ?? null);
    }
  }
}

/** @param what a file of JSON with one record or a list of them, or the number or id of a stored one. */
async function mapRecord(file: string, opened: OpenMapping, what: string): Promise<Answer> {
  const { config, flow, mapping, references } = opened;
  return fromStore(file, config, async (office) => {
    const told = isFile(what) ? recordsIn(what) : await storedAs(office, opened, what);
    const records = await withLinks(office, opened, (find) =>
      told.map(({ origin, record }) => ({
        origin,
        ...explain(mapping, record, { references: references(find), options: flow.options }),
      })),
    );
    const data = { flow: flow.name, mapping: mapping.name, records };
    return { data, text: records.map((one) => recordText(data, one)).join("\n\n") };
  });
}

const isFile = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** @throws ConfigurationError */
function recordsIn(file: string): { readonly origin: string; readonly record: Json }[] {
  try {
    const value = parseExact(readFileSync(file, "utf8"));
    const all = Array.isArray(value) ? (value as Json[]) : [value];
    const origin = (at: number): string => (all.length === 1 ? file : `${file}, record ${at + 1}`);
    return all.map((record, at) => ({ origin: origin(at), record }));
  } catch (error) {
    throw new ConfigurationError(
      `${file} is not JSON: ${(error as Error).message}.`,
      "Give a file with one record as the source tells it, or with a list of records.",
      error,
    );
  }
}

/** @throws ConfigurationError when nothing is stored under it */
async function storedAs(office: Office | null, { config, flow }: OpenMapping, text: string) {
  const found = (await office?.samples({ flow: flow.name, text, last: 1 })) ?? [];
  if (found.length === 0)
    throw new ConfigurationError(
      `${text} is no file, and ${office === null ? `there is no store in ${config.state} yet` : `no record that the flow ${flow.name} has stored`}.`,
      "Give a JSON file with the record, or a number or id that `fuelbridge trace` knows.",
    );
  return found.map(({ id, origin, version, text }) => ({
    origin: `${origin ?? id}${version === null ? "" : `, version ${version}`}`,
    record: parseExact(text),
  }));
}

function recordText(
  { flow, mapping }: { flow: string; mapping: string },
  { origin, number, outcome, fields, empty, unread }: Explanation & { origin: string },
): string {
  const head = `${number ?? "A record without a number"}, flow ${flow}, mapping ${mapping}\nfrom ${origin}`;
  if (outcome.is === "skipped") return `${head}\n\nIt would be skipped: ${outcome.reason}.`;
  if (outcome.is === "refused") {
    const { code, message, next } = outcome.fault;
    return `${head}\n\nIt would be quarantined (${code}): ${message}.\n  ${next}`;
  }
  const { amount, gallons } = outcome.figures;
  const rows = fields.map(({ path, value, how, from }) => [
    path,
    value,
    `${how === "copied" ? "" : how}${how === "made of" ? " " : ""}${from.join("; ")}`,
  ]);
  return [
    head,
    "",
    table(["FIELD", "VALUE", "FROM"], rows),
    "",
    `amount ${amount?.plain() ?? "-"}, gallons ${gallons?.plain() ?? "-"}`,
    ...covered("Fields of the record that nothing reads", unread),
    ...covered("Fields of the document that stay empty", empty),
  ].join("\n");
}

function covered(what: string, { warned, onPurpose }: Coverage): string[] {
  return [
    `${what}: ${warned.length === 0 ? "none" : warned.join(", ")}`,
    ...(onPurpose.length === 0 ? [] : [`  left out on purpose: ${onPurpose.join(", ")}`]),
  ];
}

/**
 * `same`: the document that was sent last. `changed`: another one. `new`: nothing was sent of it, and now it would be.
 * `newer`: the record itself has changed since. `skipped`, `refused`: no document; of what was sent, that is a change.
 */
type Verdict = "same" | "changed" | "new" | "newer" | "skipped" | "refused";

interface Judged {
  readonly verdict: Verdict;
  readonly id: string;
  readonly number: string | null;
  /** It was sent before. */
  readonly sent: boolean;
  /** Of a changed one; null: sent with others, and they cannot be told apart. */
  readonly fields: readonly ChangedField[] | null;
  /** Why it is skipped or refused; else empty. */
  readonly reason: string;
}

async function mapLast(file: string, opened: OpenMapping, count: number): Promise<Answer> {
  const { config } = opened;
  const endpoints = openLooking(config, NOBODY_ASKS);
  try {
    const data = await fromStore(file, config, (office) =>
      lookAtLast(office, opened, endpoints, count),
    );
    return { data, text: lastText(data) };
  } finally {
    for (const endpoint of endpoints.values()) await endpoint.close();
  }
}

/** What the last records of a flow would become now, beside what was sent of them. */
export async function lookAtLast(
  office: Office | null,
  opened: OpenMapping,
  endpoints: ReadonlyMap<string, Endpoint>,
  last: number,
) {
  const { flow } = opened;
  const sink = endpoints.get(flow.to.endpoint)?.sinks[flow.to.name] as Sink;
  const samples = (await office?.samples({ flow: flow.name, text: null, last })) ?? [];
  // What a receiver calls a document enters some of the bytes that are sent to it.
  const counterparts = await withLinks(office, opened, (find) =>
    samples.map(({ id }) => find(opened.mapping.kind, id)),
  );
  const judged = await withLinks(office, opened, (find) =>
    samples.map((sample, at) =>
      judge(opened, sink, { sample, find, counterpart: counterparts[at] ?? null }),
    ),
  );
  return lookedAt(opened, judged);
}

/** Nothing is asked of the platform here. */
const NOBODY_ASKS = {
  admit: () => Promise.reject(new Error("fuelbridge map asks the platform nothing")),
  learn: () => {},
};

interface About {
  readonly sample: Sample;
  readonly find: References["find"];
  readonly counterpart: string | null;
}

function judge(
  { mapping, flow, references }: OpenMapping,
  sink: Sink,
  { sample, find, counterpart }: About,
): Judged {
  const { id, text, revision, sent } = sample;
  const { number, outcome } = explain(mapping, parseExact(text), {
    references: { ...references(find), isThere: counterpart !== null },
    options: flow.options,
  });
  const about = { id, number, sent: sent !== null, fields: [], reason: "" };
  if (outcome.is === "skipped") return { ...about, verdict: "skipped", reason: outcome.reason };
  if (outcome.is === "refused") {
    const { code, message } = outcome.fault;
    return { ...about, verdict: "refused", reason: `${code}: ${message}` };
  }
  if (sent === null) return { ...about, verdict: "new" };
  if (!sent.newest) return { ...about, verdict: "newer" };
  const received = sink.concerns?.(outcome.document) ?? outcome.document;
  if (contentOf(received) === sent.content) return { ...about, verdict: "same" };
  const { document } = outcome;
  const item: Item = { number: number ?? "", id, revision, document, counterpart };
  try {
    return { ...about, verdict: "changed", fields: changedFields(sent, sink.freeze([item]).body) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { ...about, verdict: "refused", reason: `${error.fault.code}: ${error.fault.message}` };
  }
}

/** What would go out otherwise than it went before, or not at all any more. */
const isDifferent = ({ verdict, sent }: Judged): boolean =>
  verdict === "changed" || verdict === "new" || (sent && verdict !== "same" && verdict !== "newer");

const SHOWN_MAX = 50;

const lookedAt = ({ flow, mapping }: OpenMapping, judged: readonly Judged[]) => ({
  flow: flow.name,
  mapping: mapping.name,
  looked: judged.length,
  counts: Object.fromEntries(
    [...Map.groupBy(judged, ({ verdict }) => verdict)].map(([name, of]) => [name, of.length]),
  ),
  differing: judged.filter(isDifferent),
});

function lastText(data: ReturnType<typeof lookedAt>): string {
  const { flow, mapping, looked, counts, differing } = data;
  const rows = differing.slice(0, SHOWN_MAX).flatMap(({ verdict, id, number, fields, reason }) => {
    const name = number ?? id;
    if (verdict !== "changed") return [[name, verdict, reason || "it was not sent before", "", ""]];
    if (fields === null) return [[name, verdict, "it went with others in one request", "", ""]];
    return fields.map(({ field, before, now }) => [
      name,
      verdict,
      field,
      before ?? "-",
      now ?? "-",
    ]);
  });
  const each = Object.entries(counts).map(([verdict, count]) => `${count} ${verdict}`);
  return lined(
    `${counted(looked, "stored record")} of the flow ${flow} with the mapping ${mapping}: ${each.join(", ") || "none"}.`,
    rows.length === 0
      ? "Nothing would differ from what was sent."
      : ["", table(["NUMBER", "VERDICT", "FIELD", "SENT", "NOW"], rows)],
    differing.length > SHOWN_MAX && [
      "",
      `${differing.length - SHOWN_MAX} more differ; --json has them all.`,
    ],
  );
}

/* The site's own mappings: their cases (`map --cases`), and what an editor needs of them (`map --types`). */

interface Ran {
  /** Relative to the folder of the mappings. */
  readonly file: string;
  readonly mapping: string;
  readonly name: string;
  /** What is otherwise than the case says; empty: it holds. */
  readonly wrong: readonly string[];
}

/** @throws ConfigurationError when there are none, or a file of them is wrong */
function runCases({ file, mappings, mappingsFolder: folder }: Config): Answer {
  const files = folder === null ? [] : globSync("cases/**/*.json", { cwd: folder }).toSorted();
  if (folder === null || files.length === 0)
    throw new ConfigurationError(
      folder === null
        ? `${file} names no folder of mappings.`
        : `${folder} has no file cases/*.json.`,
      "docs/site-mappings.md says how cases are written.",
    );
  const ran = files.flatMap((name): Ran[] => {
    const path = join(folder, name);
    const { mapping: named, cases } = readCases(path);
    const mapping = mappings.find((one) => one.name === named);
    if (mapping === undefined)
      throw new ConfigurationError(
        `${path} has cases of the mapping ${named}, which does not exist.`,
        `Mappings: ${mappings.map((one) => one.name).join(", ")}.`,
      );
    return cases.map((one) => ({
      file: relative(folder, path),
      mapping: named,
      name: one.name,
      wrong: runCase(mapping, one),
    }));
  });
  const failed = ran.filter(({ wrong }) => wrong.length > 0);
  return {
    data: { cases: ran.length, failed },
    text: casesText(ran, failed),
    exitCode: failed.length === 0 ? exitCodes.ok : exitCodes.runtime,
  };
}

function casesText(ran: readonly Ran[], failed: readonly Ran[]): string {
  const all = counted(ran.length, "case");
  if (failed.length === 0) return `${all}: all hold.`;
  return [
    ...failed.flatMap(({ file, name, wrong }) => [
      `${file}, case ${name}:`,
      ...wrong.map((line) => `  ${line}`),
    ]),
    "",
    `${all}: ${failed.length} ${failed.length === 1 ? "does" : "do"} not hold.`,
  ].join("\n");
}

/** The sources in a checkout; where fuelbridge is installed, the declarations beside what was compiled. */
const ENTRIES = ["index.ts", "index.d.ts"].map((name) =>
  join(import.meta.dirname, "..", "mapping", name),
);

const TYPES = join(import.meta.dirname, "..", "..", "node_modules", "@types");

/** @throws ConfigurationError, EnvironmentError when the file cannot be written */
function writeTypes({ file, mappingsFolder: folder }: Config): Answer {
  if (folder === null)
    throw new ConfigurationError(
      `${file} names no folder of mappings.`,
      "Write mappings: ./site into it, and create that folder.",
    );
  const entry = ENTRIES.find((path) => existsSync(path));
  if (entry === undefined)
    throw new EnvironmentError(
      "The types of fuelbridge/mapping are not installed beside the program.",
      "Take the package for Debian or a checkout: both have them.",
    );
  const path = join(folder, "tsconfig.json");
  try {
    writeFileSync(path, `${JSON.stringify(settingsFor(entry), null, 2)}\n`);
  } catch (error) {
    throw new EnvironmentError(
      `${path} cannot be written (${causeOf(error)}).`,
      "Give the command as a user that may write to the folder.",
      error,
    );
  }
  const text = `${path} is written: an editor that knows TypeScript completes and checks the modules in ${folder} now.`;
  return { data: { file: path, types: entry }, text };
}

/** As the modules are run: types are erased, and what a path names is there. */
const settingsFor = (entry: string) => ({
  compilerOptions: {
    target: "ES2024",
    lib: ["ES2024", "ESNext.Iterator"],
    module: "preserve",
    moduleResolution: "bundler",
    // The sources name types of Node; of declarations an editor needs none that it does not show.
    ...(entry.endsWith(".d.ts") ? { types: [] } : { types: ["node"], typeRoots: [TYPES] }),
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    allowJs: true,
    checkJs: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    paths: { "fuelbridge/mapping": [entry] },
  },
  include: ["**/*.ts", "**/*.mts", "**/*.js", "**/*.mjs"],
});

/** A dry run: what would be written to both sides; nothing is sent, and no position moves. */
export function plan(program: Command): void {
  addCommand(
    program,
    "plan [flow]",
    "what the next run would write to both sides, field by field; nothing is sent",
    ({ file, args: [flow], options }) =>
      planned(file, flow ?? null, options["stored"] === undefined),
  ).option("--stored", "read no source: only what is stored and waits");
}

/** @throws ConfigurationError when there is no such flow */
async function planned(file: string, flow: string | null, read: boolean): Promise<Answer> {
  const config = await loadConfiguration(file);
  if (flow !== null) flowIn(config, flow);
  const { dryRun } = await import("../app/dry-run.ts");
  const found = await askOf(
    config,
    async (office) => dryRun(config, office, (await office.backup()).file, { flow, read }),
    "plan",
  );
  return { data: found, text: inWords(found, read) };
}

/** Documents that are shown with all their fields; `--json` has all. */
const WRITES_SHOWN = 50;

function inWords({ flows, writes, requests }: DryRun, read: boolean): string {
  const rows = flows.map((flow) => [
    flow.flow,
    flow.to,
    String(flow.creates),
    String(flow.changes),
    String(flow.nothing),
    String(flow.quarantined.reduce((sum, { count }) => sum + count, 0)),
  ]);
  const shown = writes.slice(0, WRITES_SHOWN);
  return lined(
    "Nothing was sent, and nothing is stored of this.",
    read
      ? `The sources were read, for ${counted(requests, "request")} to the platform.`
      : "No source was read: this is about what is stored and waits.",
    "",
    table(["FLOW", "TO", "NEW", "CHANGED", "NOTHING", "PERSON"], rows),
    rows.some(([, , creates]) => creates !== "0") &&
      "NEW: not delivered by fuelbridge yet. What its receiver has already is found there and linked.",
    flows.flatMap(reasons),
    shown.flatMap(documentInWords),
    writes.length > WRITES_SHOWN && [
      "",
      `${writes.length - WRITES_SHOWN} more documents; --json has them all.`,
    ],
  );
}

const reasons = ({ flow, trouble, quarantined }: FlowPlan): string[] => [
  ...(trouble === null ? [] : ["", `${flow} could not be read: ${trouble}`]),
  ...(quarantined.length === 0 ? [] : [""]),
  ...quarantined.map(({ cause, count }) => `${flow}: ${count} would be with a person: ${cause}`),
];

function documentInWords({ flow, to, number, what, fields }: Planned): string[] {
  const side = to === "erp" ? "the ERP" : "the platform";
  const head = `${flow} ${number}: ${what} on ${side}`;
  if (fields === null) return ["", `${head}, as a file or together with others`];
  if (fields.length === 0) return ["", `${head}: no field differs`];
  const rows = fields.map(({ field, before, now }) =>
    what === "create" ? [field, now ?? "-"] : [field, before ?? "-", now ?? "-"],
  );
  const titles = what === "create" ? ["FIELD", "NEW"] : ["FIELD", "LAST DELIVERED", "NOW"];
  return ["", head, table(titles, rows)];
}
