/** Rows that are missing in cross-reference tables. */
import type { ShownTable } from "../office/answers.ts";
import { each, link, money, type Table, table, to } from "./blocks.ts";

/** With what is known of each: a file of it is filled in, and its rows are copied into the tables. */
export const missingTable = (tables: readonly ShownTable[]): Table =>
  table(
    "Missing rows",
    tables.flatMap(({ name, missing }) => missing.map((row) => ({ table: name, ...row }))),
    [
      ["Table", ({ table }) => table],
      ["Row", ({ key, group }) => link(to`/needs-you/${group}`, each(`Add ${key}`, key))],
      ["Documents that wait", ({ count }) => count],
      ["Sum", ({ sum }) => sum && money(sum.amount, sum.currency)],
      ["Flow", ({ flow }) => flow],
      ["First document", ({ first }) => first?.number ?? null],
      ["Its party", ({ first }) => first?.partyName ?? null],
      ["Group", ({ group }) => group, "terminal"],
    ],
  );
