import { existsSync } from "node:fs";
import { counted } from "../core/text.ts";
import type { Command } from "commander";
import type { DayToBook, Endpoint, Examination, Needs } from "../core/contract.ts";
import { defined } from "../core/defined.ts";
import { sumOf } from "../core/groups.ts";
import type { Governor } from "../core/budget.ts";
import {
  EnvironmentError,
  exitCodes,
  FuelbridgeError,
  SourceUnavailable,
  StoreInUse,
} from "../core/errors.ts";
import type { Fault } from "../core/record.ts";
import type { Config, FlowConfig } from "../config/config.ts";
import { openTables, type Tables, type TableReport } from "../config/crossref.ts";
import type { Office } from "../office/questions.ts";
import type { Status } from "../office/answers.ts";
import { ask } from "../app/ask.ts";
import { type Answer, ofEach } from "./answer.ts";
import { addCommand, type Given } from "./command.ts";
import { lookAtLast, openMapping } from "./map.ts";
import {
  loadCompanies,
  loadConfiguration,
  loadSharers,
  OLDER_CONFIGURATION,
} from "../app/configuration.ts";
import { openLooking } from "../app/endpoints.ts";
import { untilSignal } from "../app/process.ts";
import { examineState, examineTables, needsOf } from "../app/examine.ts";
import { durationText, lined, table } from "../views/text.ts";
import { thisUser } from "../store/user.ts";

interface Examined extends Examination {
  readonly endpoint: string;
}

/** What the platform was asked. A request is counted before it is sent, so one that failed on the way counts too. */
interface Requests {
  readonly counted: number;
  /** The month after them; null when nothing was counted. */
  readonly month: Pick<Status["requests"], "month" | "used" | "perMonth"> | null;
}

/** Asks every endpoint that the configuration names, as it stands in the file: a daemon may run with an older one. */
export function doctor(program: Command): void {
  addCommand(
    program,
    "doctor",
    "does everything hold that synchronising needs? (asks the platform and the ERP)",
    async ({ file }) => {
      const config = await loadConfiguration(file);
      const state = { endpoint: "fuelbridge", ...(await examineState(config)) };
      const office = officeAskedIn(file);
      const counting = countingIn(office);
      const { result: endpoints, exitCode } = await untilSignal((signal) =>
        examineAll(config, office, counting.governor, signal),
      );
      const result = [state, ...endpoints];
      const right = result.every(({ fault }) => fault === null);
      const requests = counting.requests();
      return {
        data: { right, examinations: result, requests },
        text: inWords(result, requests),
        exitCode: exitCode ?? (right ? exitCodes.ok : exitCodes.environment),
      };
    },
    "each",
  );
}

type Asked = <Result>(question: (office: Office) => Promise<Result>) => Promise<Result>;

/** A daemon that holds the store and does not answer is waited for once: what it said, or did not, holds for the whole run. */
function officeAskedIn(file: string): Asked {
  let silent: StoreInUse | null = null;
  return async (question) => {
    if (silent !== null) throw silent;
    return ask(file, question).catch((error: unknown) => {
      if (error instanceof StoreInUse) silent = error;
      throw error;
    });
  };
}

/** Whoever counts the month admits these requests too: the daemon, or without one the store. */
function countingIn(asked: Asked): { governor: Governor; requests: () => Requests } {
  let requests: Requests = { counted: 0, month: null };
  const admit = async (office: Office) => {
    const admission = await office.admit();
    if (!admission.admitted) return admission;
    const { month, used, perMonth } = await office.budget();
    requests = { counted: requests.counted + 1, month: { month, used, perMonth } };
    return admission;
  };
  return {
    governor: {
      admit: () =>
        asked(admit).catch((error: unknown) => {
          if (!(error instanceof FuelbridgeError)) throw error;
          const message = `It was not asked, because the request could not be counted: ${error.message}`;
          throw new EnvironmentError(message, error.next, error);
        }),
      learn: () => {},
    },
    requests: () => requests,
  };
}

/** What this machine has first, then each endpoint. */
async function examineAll(
  config: Config,
  asked: Asked,
  governor: Governor,
  signal: AbortSignal,
): Promise<Examined[]> {
  const tables = openTables(config.crossReferences);
  const { days, kept, ...own } = await ownExaminations(config, asked, tables);
  const examined: Examined[] = own.examined.map((one) => ({ endpoint: "here", ...one }));
  // A table that cannot be trusted is a fault of its own, and nothing is looked up by the others.
  const trusted = own.examined.every(({ fault }) => fault?.code !== TABLES);
  const endpoints = openLooking(config, governor, kept);
  if (trusted && existsSync(config.state))
    for (const { name } of config.flows) {
      const told = await examineFlow({ config, tables, name, asked, endpoints });
      if (told !== null) examined.push({ endpoint: "here", ...told });
    }
  for (const [name, endpoint] of endpoints) {
    const needs = needsOf(config, trusted ? tables : NO_TABLES, days, name);
    try {
      for (const one of await examine(endpoint, needs, signal))
        examined.push({ endpoint: name, ...one });
    } finally {
      await endpoint.close();
    }
  }
  return examined;
}

const TABLES = "bad-table";
const AS_ROOT =
  "the service's user may have fewer rights: run doctor as that user to have its folders examined";
const NO_TABLES: Pick<Tables, "rows"> = { rows: () => [] };

/**
 * What needs no endpoint: the tables, and what the store has waiting. What is right there is not worth a line. `kept`: what
 * the store keeps of endpoints, by their names.
 */
async function ownExaminations(config: Config, asked: Asked, tables: Tables) {
  const examined: Examination[] = [];
  if (process.getuid?.() === 0) examined.push({ what: "user root", fault: null, note: AS_ROOT });
  const ofTables = await faultOf(async () => {
    examined.push(...examineTables(config, tables.check(), tables));
  });
  if (ofTables !== null)
    examined.push({ what: "cross-reference tables", fault: { ...ofTables, code: TABLES } });
  let days: readonly DayToBook[] = [];
  const kept = new Map<string, Readonly<Record<string, string>>>();
  const look = async (office: Office): Promise<void> => {
    days = await office.toBook();
    const { warnings } = await office.status();
    const older = warnings.find(({ code }) => code === OLDER_CONFIGURATION);
    if (older !== undefined)
      examined.push({
        what: "running daemon",
        fault: null,
        note: `${older.message}. ${older.next}`,
      });
    for (const { name } of config.endpoints) kept.set(name, await office.notebook(name));
  };
  // A store that is not there has nothing waiting, and is not made for asking.
  const fault = existsSync(config.state) ? await faultOf(() => asked(look)) : null;
  if (fault !== null) examined.push({ what: "documents that wait", fault });
  return { examined, days, kept };
}

/** So many of its newest documents are mapped anew. */
const LAST = 200;

/** What a flow has delivered stays as it is when its mapping, a profile or a table is changed. Null: nothing would differ. */
async function examineFlow({
  config,
  tables,
  name,
  asked,
  endpoints,
}: {
  readonly config: Config;
  readonly tables: Tables;
  readonly name: string;
  readonly asked: Asked;
  readonly endpoints: ReadonlyMap<string, Endpoint>;
}): Promise<Examination | null> {
  const what = `flow ${name}`;
  let count = 0;
  const fault = await faultOf(async () => {
    const opened = openMapping(config, name, tables);
    const { differing } = await asked((office) => lookAtLast(office, opened, endpoints, LAST));
    count = differing.filter(({ sent }) => sent).length;
  });
  if (fault !== null) return { what, fault };
  const command = `fuelbridge map ${name} --last ${LAST}`;
  const note = `${counted(count, "document")} of the last ${LAST} records would be sent otherwise now, and ${count === 1 ? "stays" : "stay"} as sent: ${command} shows them`;
  return count === 0 ? null : { what, fault: null, note };
}

/** What cannot be reached is not examined. */
async function examine(
  endpoint: Endpoint,
  needs: Needs,
  signal: AbortSignal,
): Promise<readonly Examination[]> {
  const fault = await faultOf(() => endpoint.check(signal));
  const reached = { what: "connection and credentials", fault };
  if (fault !== null || signal.aborted) return [reached];
  return [reached, ...((await endpoint.examine?.(signal, needs)) ?? [])];
}

async function faultOf(check: () => Promise<void>): Promise<Fault<string> | null> {
  try {
    await check();
    return null;
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof SourceUnavailable) {
      const next = error.stop === null ? `${error.next}${ofProxies()}` : error.next;
      return { code: error.stop ?? "unavailable", message, next };
    }
    if (error instanceof FuelbridgeError) return { code: error.code, message, next: error.next };
    throw error;
  }
}

/** People who set one expect it to be used. */
function ofProxies(): string {
  const name = ["HTTPS_PROXY", "https_proxy"].find((one) => process.env[one]);
  return name === undefined ? "" : ` ${name} is set here; fuelbridge goes through no proxy.`;
}

function resultOf({ fault, note, isUnseen }: Examined): string {
  if (fault !== null) return fault.message;
  if (isUnseen) return "not looked at";
  return note === undefined ? "ok" : `ok; ${note}`;
}

function inWords(examined: readonly Examined[], requests: Requests): string {
  const faults = examined.flatMap(({ fault, ...one }) => (fault === null ? [] : { fault, ...one }));
  const unseen = examined.filter(({ isUnseen }) => isUnseen).map(({ endpoint }) => endpoint);
  const right =
    unseen.length === 0
      ? "Everything is right."
      : `What was looked at is right. Of ${unseen.join(" and ")} only the connection was looked at.`;
  const rows = examined.map((one) => [one.endpoint, one.what, resultOf(one)]);
  return [
    table(["ENDPOINT", "WHAT", "RESULT"], rows),
    "",
    faults.length === 0 ? right : `${counted(faults.length, "fault")}:`,
    ...faults.map(({ endpoint, what, fault }) => `  ${endpoint}, ${what}: ${fault.next}`),
    "",
    countedInWords(requests),
  ].join("\n");
}

const countedInWords = ({ counted: count, month }: Requests): string =>
  month === null
    ? "The platform was not asked: no request is counted."
    : `This counts as ${counted(count, "request")} to the platform: ${month.used} of ${month.perMonth} are used in ${month.month} (UTC).`;

/** Looks at files of this machine only: neither the platform nor an ERP is asked anything. */
export function check(program: Command): void {
  addCommand(program, "check", "is the configuration right? (offline)", checked, "all");
}

async function checked({ file }: Given, command: string): Promise<Answer> {
  const configs = await loadCompanies(file, "site");
  const needs = await needsOfAll(await loadSharers(configs));
  return ofEach(command, configs, (config) => checkedOne(config, needs));
}

/** Of one alone the plan tells it. */
async function needsOfAll(configs: readonly Config[]): Promise<ReadonlyMap<string, number>> {
  if (configs.length === 1) return new Map();
  const { needsOf, NOTHING_WRITTEN } = await import("./budget-plan.ts");
  return needsOf(configs, NOTHING_WRITTEN, Date.now());
}

async function checkedOne(config: Config, needs: ReadonlyMap<string, number>): Promise<Answer> {
  const [{ openTables, separatorText }, { expectState, firstStartNote }] = await Promise.all([
    import("../config/crossref.ts"),
    import("../app/examine.ts"),
  ]);
  await expectState(config);
  const tables = openTables(config.crossReferences).check();
  const texts = tables.map((table) => tableText(table, separatorText(table.separator)));
  const note = firstStartNote(config, Date.now());
  const { sharers, platform } = config;
  const key =
    sharers.length === 1
      ? null
      : {
          companies: sharers.length,
          total: sumOf(sharers.map(({ company }) => needs.get(company) ?? 0)),
          perMonth: platform.budget.perMonth,
        };
  return {
    data: {
      ...summary(config, tables),
      ...defined({ note: note ?? undefined, key: key ?? undefined }),
    },
    text: checkText(config, texts, note, key),
  };
}

/** Companies under one key, what they need of its month at least, and what that has. */
interface KeyNeed {
  readonly companies: number;
  readonly total: number;
  readonly perMonth: number;
}

const summary = (config: Config, tables: readonly TableReport[]) => ({
  file: config.file,
  company: config.company,
  environment: config.platform.environment,
  platform: config.platform.url,
  state: config.state,
  endpoints: config.endpoints.map(({ name, connector }) => ({ name, connector: connector.name })),
  flows: config.flows,
  crossReferences: tables.map(({ name }) => name),
  tables: tables.map(({ name, rows, separator }) => ({ name, rows, separator })),
});

function checkText(
  config: Config,
  tables: readonly string[],
  note: string | null,
  key: KeyNeed | null,
): string {
  const { company, platform, flows } = config;
  return lined(
    `${config.file} is right.`,
    "",
    `company   ${company}, ${platform.environment} environment at ${platform.url}`,
    `state     ${config.state}`,
    `tables    ${tables.length === 0 ? "none" : tables.join(", ")} in ${config.crossReferences}`,
    `rights    as the user ${thisUser()} has them; the service's user may have others`,
    key &&
      `key       ${key.companies} companies share it, and need ${key.total} of its ${key.perMonth} requests a month at least`,
    note && `note      ${note}`,
    `flows     ${counted(flows.length, "flow")}`,
    "",
    table(
      ["FLOW", "FROM", "TO", "WHEN", "MAPPING"],
      flows.map((flow) => [flow.name, end(flow.from), target(flow), when(flow), flow.mapping]),
    ),
  );
}

/** `items (24 rows, separated by tabs)`: commas need no word. */
function tableText({ name, rows, separator }: TableReport, separatedBy: string): string {
  const separated = separator === "," ? "" : `, separated by ${separatedBy}`;
  return `${name} (${counted(rows, "row")}${separated})`;
}

const end = ({ endpoint, name }: FlowConfig["from"]): string => `${endpoint}.${name}`;

const target = ({ to, attach }: FlowConfig): string =>
  attach === undefined ? end(to) : `${end(to)} + ${attach}`;

export function when({ schedule, paused }: FlowConfig): string {
  if (paused) return "paused";
  if ("cron" in schedule) return schedule.cron;
  return "auto" in schedule ? "auto" : `every ${durationText(schedule.everyMs)}`;
}
