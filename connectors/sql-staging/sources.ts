/** What the ERP tells: whole lists by its views, and what its job made of each row. */
import type { Acknowledgement, Source, Surroundings } from "../../src/core/contract.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import { PartFault } from "../../src/formats/format.ts";
import { openProfile } from "../../src/formats/table/profile.ts";
import { pagesOfRows } from "../../src/formats/table/records.ts";
import { errorTable, reading, TRIED_AGAIN } from "../../src/ledger/errors.ts";
import type { Books } from "../../src/ledger/port.ts";
import type { Query, Sql, SqlRow } from "../../src/ledger/sql.ts";
import type { SqlStagingConfig } from "./config.ts";

export type StagedKind = "invoice" | "bill" | "payment";
export type View = SqlStagingConfig["views"][number];
type Named = Pick<Books, "name" | "errors">;

/* What the errors of both servers mean. */

const SCHEMA =
  "Compare the tables and views with fuelbridge sql schema, and correct them; doctor names what differs.";

/** The first row that matches counts; a commit that no row knows is unknown. */
const errors = errorTable({
  "#28P01|28000|1045|1698|1044|3D000|1049 configuration:credentials unauthorised":
    "Correct database, user and password in the configuration, or let the database administrator allow this user.",
  "#42501|1142|1143 configuration:scope forbidden":
    "Let the database administrator grant select, insert and update on the tables that fuelbridge sql schema prints.",
  "#42P01|42703|1146|1054|1364 configuration:scope other-schema": SCHEMA,
  // Somebody wrote the same version, or the ERP's job took the row.
  "#23505|1062|raced raced raced": TRIED_AGAIN,
  "#held busy:60000 held": TRIED_AGAIN,
  "#40001|40P01|55P03|57014|1205|1213|1020|53300|53400|1040|1203 busy:5000 busy": TRIED_AGAIN,
  "#22.*|23.*|1406|1264|1265|1366|1292|1048|1452|4025|3819 data refused-by-database":
    "Correct what the message names in the document where it comes from, or the table by fuelbridge sql schema; then retry.",
});

export const BOOKS: Named = { name: "the staging database", errors };
const NEXT = "Correct it in the ERP, or in the view; it is read again by itself.";

/** Its columns are those of the shipped profile of its name. @throws PartFault when columns are missing */
export const pagesOf = (view: View, header: readonly string[], rows: readonly SqlRow[]) =>
  pagesOfRows(openProfile(`sql-staging/${view}`, ""), `fuelbridge_${view}`, header, rows, NEXT);

/** One statement is one state of the view; what is missing in it is there no more. */
export const viewSource = (wire: Sql, view: View): Source => ({
  whole: true,
  async *read(_position, { signal }) {
    if (signal.aborted) return;
    const name = `fuelbridge_${view}`;
    const rows = await reading(BOOKS, () =>
      wire.transaction(signal, (query) => query(`select * from ${name}`)),
    );
    const [first] = rows;
    const list = { name, total: 0, isLast: true, isComplete: true };
    if (first === undefined) return void (yield { changes: [], position: null, list });
    try {
      for await (const page of pagesOf(view, Object.keys(first), rows)) {
        if (signal.aborted) return;
        yield page;
      }
    } catch (error) {
      if (!(error instanceof PartFault)) throw error;
      throw new SourceUnavailable(`the view ${error.message}`, { next: NEXT, cause: error });
    }
  },
});

/** At once. */
const ANSWERS = 500;
const ANSWER =
  "select seq, id, content, status, message, erp_number, answered_at from fuelbridge_document";

/**
 * What the job has answered: each answer once, and again when it says something else later. What is read in one look has one
 * number in the tables and in the store, so a store that was restored reads what it does not know of. Both are found by indexes.
 */
export const answersOf = (
  wire: Sql,
  kind: StagedKind,
  notebook: Surroundings["notebook"],
): Source => ({
  async *read(_position, { signal }) {
    const asked = <T>(run: (query: Query) => Promise<T>): Promise<T> =>
      reading(BOOKS, () => wire.transaction(signal, run));
    const noted = `answers to ${kind}`;
    const last = notebook?.get(noted) ?? "0";
    let number: string | null = null;
    let isAny = false;
    for (let count = ANSWERS; count === ANSWERS && !signal.aborted;) {
      const rows = await asked(async (query) => {
        const [next] = await query(
          "select coalesce(max(told_in), 0) + 1 as number from fuelbridge_document",
        );
        number ??= next?.["number"] ?? null;
        const sql = `${ANSWER} where untold = ? union ${ANSWER} where kind = ? and told_in > ? and told_in < ? order by seq limit ${ANSWERS}`;
        return query(sql, [kind, kind, last, number]);
      });
      count = rows.length;
      isAny ||= count > 0;
      if (count > 0)
        yield {
          changes: [],
          position: null,
          acknowledgements: rows.map((row) => verdictOf(kind, row)),
        };
      // The page is durable.
      await asked(async (query) => {
        for (const { seq = null, status = null, answered_at = null } of rows)
          await query(
            "update fuelbridge_document set told = status, told_at = answered_at, told_in = ? where seq = ? and status = ? and coalesce(answered_at, written_at) = coalesce(?, written_at)",
            [number, seq, status, answered_at],
          );
      });
      if (isAny && count < ANSWERS) notebook?.set(noted, number);
    }
  },
});

const verdictOf = (kind: StagedKind, row: SqlRow): Acknowledgement => ({
  exchange: `${kind}/${row["id"]}`,
  item: row["content"] ?? "",
  verdict: row["status"] === "rejected" ? "refused" : "accepted",
  detail: [row["message"], row["erp_number"] && `ERP number ${row["erp_number"]}`]
    .filter(Boolean)
    .join("; "),
});
