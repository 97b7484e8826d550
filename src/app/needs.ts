/** What a site's flows and cross-reference tables need of an endpoint: what the doctor hands to its examination. */
import { basename } from "node:path";
import { OUR_COMPANY, STANDS_FOR } from "../../mappings/books/company.ts";
import type { Cell, DayToBook, Needs } from "../core/examination.ts";
import type { Config } from "../config/config.ts";
import type { Tables } from "../config/crossref.ts";
import { type FlowConfig, PLATFORM } from "../config/flows.ts";

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
    currency: config.currency,
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
