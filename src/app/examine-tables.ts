/** What the doctor says of the cross-reference tables that running flows read: would the next document find its row? */
import { basename } from "node:path";
import { NAME_GOODS } from "../../mappings/crossref.ts";
import { type Config, mappingOf } from "../config/config.ts";
import type { TableReport, Tables } from "../config/crossref.ts";
import type { Examination } from "../core/examination.ts";

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
  const needed = new Map<string, { columns: readonly string[]; flows: string[] }>();
  for (const flow of config.flows.filter(({ paused }) => !paused))
    for (const [table, columns] of Object.entries(mappingOf(config, flow).tables ?? {})) {
      const known = needed.get(table) ?? { columns, flows: [] };
      needed.set(table, { ...known, flows: [...known.flows, flow.name] });
    }
  return [...needed].flatMap(([table, { columns, flows }]): Examination[] => {
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
