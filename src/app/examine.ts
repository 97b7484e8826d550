/** What `check` and `doctor` look at on this machine: the state folder, the tables, and what flows need of an endpoint. */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { NAME_GOODS, OUR_COMPANY, STANDS_FOR } from "../../mappings/values.ts";
import { type Config, type FlowConfig, mappingOf, ownerOf } from "../config/config.ts";
import type { TableReport, Tables } from "../config/crossref.ts";
import { PLATFORM } from "../config/flows.ts";
import { calendarOf, DAY_MS } from "../core/time.ts";
import { EnvironmentError, FuelbridgeError } from "../core/errors.ts";
import {
  type Cell,
  columnsRead,
  type DayToBook,
  type Examination,
  type Needs,
} from "../core/contract.ts";
import { heldBy } from "../office/remote.ts";
import { expectOwner, faultOfState, refuseOther, storeFile } from "../store/database.ts";
import { thisUser } from "../store/user.ts";

/**
 * @throws EnvironmentError when the user of this process cannot write the store or its mark, ConfigurationError when the
 * store belongs to another company, platform or environment
 */
export async function expectState(config: Config): Promise<void> {
  const fault = faultOfState(config.state);
  if (fault !== null)
    throw new EnvironmentError(
      `The state folder ${config.state} cannot be used: ${fault.message}.`,
      fault.next,
    );
  expectOwner(config.state, ownerOf(config));
  // Nobody can look into a store while a process has it: that one says whose it is.
  const held = await heldBy(config.state);
  const bound = held === null ? undefined : { ...held, platform: null };
  refuseOther(`the store in ${config.state}`, bound, ownerOf(config));
}

/** What a first start on that day would come to, where there is no store yet; null: nothing is to be said. */
export function firstStartNote(
  { state, firstStart, timeZone }: Pick<Config, "state" | "firstStart" | "timeZone">,
  nowMs: number,
): string | null {
  if (existsSync(storeFile(state))) return null;
  const dayAt = (ms: number): string => calendarOf(timeZone)(new Date(ms).toISOString());
  if ([-DAY_MS, 0, DAY_MS].some((ms) => dayAt(nowMs + ms) === firstStart)) return null;
  const said = firstStart === null ? "there is no firstStart" : `firstStart is ${firstStart}`;
  return (
    `there is no store yet, and ${said}: if the platform knows this company, nothing is sent before a person releases it. ` +
    `For a first start set firstStart: ${dayAt(nowMs)}`
  );
}

/** The same as one line of an examination. */
export async function examineState(config: Config): Promise<Examination> {
  const what = `state folder ${config.state}, as user ${thisUser()}`;
  try {
    await expectState(config);
    const note = firstStartNote(config, Date.now());
    return { what, fault: null, ...(note === null ? {} : { note }) };
  } catch (error) {
    if (!(error instanceof FuelbridgeError)) throw error;
    const { code, message, next } = error;
    return { what, fault: { code, message, next } };
  }
}

/** @param days of every flow. */
export function needsOf(
  config: Config,
  tables: Pick<Tables, "rows">,
  days: readonly DayToBook[],
  endpoint: string,
): Needs {
  const flows = config.flows.filter(({ from, to }) =>
    [from.endpoint, to.endpoint].includes(endpoint),
  );
  const ends = flows.flatMap(({ from, to }) => [from, to]);
  const tablesOf = (mapping: string) =>
    config.mappings.find(({ name }) => name === mapping)?.tables ?? {};
  /** What the options of flows say in place of a row. */
  const options = (table: string, column: string): Cell[] =>
    flows.flatMap(({ mapping, options, optionsLine: line = 1 }) =>
      Object.entries(STANDS_FOR).flatMap(([option, { table: standsFor, key }]) => {
        const value = (options as Readonly<Record<string, unknown>> | undefined)?.[option];
        const reads = standsFor === table && tablesOf(mapping)[table]?.includes(column) === true;
        if (!reads || typeof value !== "string") return [];
        return [{ key, value, file: basename(config.file), line }];
      }),
    );
  const column = (table: string, column: string): Cell[] => [
    ...options(table, column),
    ...tables.rows(table).flatMap(({ row, line }) => {
      const value = row[column]?.trim() ?? "";
      const [key = ""] = Object.values(row);
      const file = `${basename(config.crossReferences)}/${table}.csv`;
      return value === "" ? [] : [{ key, value, file, line }];
    }),
  ];
  const needsUs = flows.some(({ mapping }) => OUR_COMPANY.table in tablesOf(mapping));
  return {
    parts: new Set([
      ...ends.filter((end) => end.endpoint === endpoint).map(({ name }) => name),
      ...flows
        .filter(({ attach, to }) => attach !== undefined && to.endpoint === endpoint)
        .flatMap(({ to }) => attaching(config, to) ?? []),
    ]),
    ourselves:
      endpoint === PLATFORM && needsUs
        ? column(OUR_COMPANY.table, OUR_COMPANY.column).filter(({ key }) => key === OUR_COMPANY.key)
        : [],
    column,
    days: days.filter(({ flow }) =>
      flows.some(({ name, to }) => name === flow && to.endpoint === endpoint),
    ),
  };
}

/** The sink that attaches PDFs to the documents of this one; no flow names it. */
function attaching({ endpoints, folder }: Config, { endpoint, name }: FlowConfig["to"]) {
  const to = endpoints.find((one) => one.name === endpoint);
  return to?.connector.offers(to.settings, folder).sinks[name]?.pdf;
}

/**
 * A table that is missing is a fault, and so is one without rows that names goods: hardly a document goes without them.
 * Other tables may rightly have no rows: parties that fuelbridge brings over need none.
 * @param reports of every table there is, none with a fault
 */
export function examineTables(
  config: Pick<Config, "crossReferences" | "flows" | "mappings">,
  reports: readonly TableReport[],
  tables: Pick<Tables, "rows">,
): Examination[] {
  const running = config.flows
    .filter(({ paused }) => !paused)
    .map((flow) => ({ ...mappingOf(config, flow), flow: flow.name }));
  return [...columnsRead(running)].flatMap(([table, columns]): Examination[] => {
    const flows = running.flatMap(({ tables: its, flow }) => (its?.[table] ? flow : []));
    const what = `${basename(config.crossReferences)}/${table}.csv`;
    const header = columns.join(",");
    const readers = flows.join(" and ");
    if (!reports.some(({ name }) => name === table)) {
      const message = `there is no such table, and ${readers} read${flows.length === 1 ? "s" : ""} it`;
      const next = `Create it with the header row ${header}.`;
      return [{ what, fault: { code: "no-table", message, next } }];
    }
    const [, value = ""] = columns;
    if (tables.rows(table).some(({ row }) => (row[value]?.trim() ?? "") !== "")) return [];
    if (!NAME_GOODS.has(table)) return [{ what, fault: null, note: WAITS }];
    const message = `it has no rows, so what ${readers} would deliver waits in the quarantine`;
    const next = `Add a row for each ${columns[0]}: ${header}. What is missing then is in \`fuelbridge quarantine list\`.`;
    return [{ what, fault: { code: "empty-table", message, next } }];
  });
}

const WAITS = "no rows yet: a document that needs one waits in the quarantine";
