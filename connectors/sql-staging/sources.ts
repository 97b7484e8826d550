/** What the ERP tells: whole lists by its views, and what its job made of each row. */
import type { Page, Source, Surroundings } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { SourceUnavailable } from "../../src/core/errors.ts";
import { PartFault } from "../../src/formats/format.ts";
import { columnsOf } from "../../src/formats/table/columns.ts";
import { HEADS, openProfile, partsOf } from "../../src/formats/table/profile.ts";
import { pagesOfRows, type RowsOf } from "../../src/formats/table/records.ts";
import { errorTable, reading, TRIED_AGAIN } from "../../src/ledger/errors.ts";
import type { Books } from "../../src/ledger/port.ts";
import { type Query, type Sql, type SqlRow, unpadded } from "../../src/ledger/sql.ts";
import type { SqlStagingConfig } from "./config.ts";

export type StagedKind = "invoice" | "bill" | "payment";
export type View = SqlStagingConfig["views"][number];
type Named = Pick<Books, "name" | "errors">;

/* What the errors of both servers mean. */

export const SCHEMA =
  "Let the database administrator compare the tables and views with fuelbridge sql schema, and correct what differs; doctor names it.";

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
  "#40001|40P01|55P03|57014|1205|1213|1020|53300|53400|1040|1203|1226 busy:5000 busy": TRIED_AGAIN,
  "#22.*|23.*|1406|1264|1265|1366|1292|1048|1452|4025|3819 data refused-by-database":
    "Correct what the message names in the document where it comes from, or the table by fuelbridge sql schema; then retry.",
});

export const BOOKS: Named = { name: "the staging database", errors };
/** Of the versions of a document `d`. */
export const NEWEST =
  "not exists (select 1 from fuelbridge_document n where n.kind = d.kind and n.id = d.id and n.version > d.version)";
/** What a value of a view needs that cannot be read. */
export const NEXT = "Correct it in the ERP, or in the view; it is read again by itself.";

const profileOf = (view: View) => openProfile(`sql-staging/${view}`, "");

/**
 * The views that a list comes from, by the parts of its profile: an invoice has lines and taxes.
 * @param source of what was paid its head says all
 */
const viewsOf = (view: View, source = ""): (readonly [part: string, name: string])[] =>
  partsOf(profileOf(view))
    .filter((part) => part === HEADS || source !== "paidInvoices")
    .map((part) => [part, part === HEADS ? `fuelbridge_${view}` : `fuelbridge_invoice_${part}`]);

/** The columns that its views must have: `fuelbridge_prices.price`. */
export const neededIn = (view: View): string[] =>
  viewsOf(view).flatMap(([part, name]) =>
    columnsOf(profileOf(view), part)
      .filter(({ optional }) => !optional)
      .flatMap(({ label }) => label ?? [])
      .map((column) => `${name}.${column}`),
  );

/** Says of each invoice in `paid_by_platform` whether payments that came from the platform are all of it. */
async function paidThere(query: Query): Promise<(row: SqlRow) => SqlRow> {
  const payments = await query(
    `select invoice_id, sum(total) as paid from fuelbridge_document d where kind = 'payment' and state = 'open' and status = 'accepted' and ${NEWEST} group by invoice_id`,
  );
  const paid = new Map(payments.map((row) => [row["invoice_id"], Decimal.of(row["paid"] ?? "0")]));
  return (row) => {
    const [sum, total] = [paid.get(row["platform_id"] ?? ""), row["total"] ?? ""];
    const isAll = sum !== undefined && Decimal.is(total) && sum.compare(Decimal.of(total)) >= 0;
    return { ...row, paid_by_platform: isAll ? "1" : "0" };
  };
}

/** One transaction sees one state of the views; what is missing in it is there no more. @param source its name */
export const viewSource = (wire: Sql, view: View, source: string): Source => ({
  whole: true,
  async *read(_position, { signal }) {
    if (signal.aborted) return;
    const told = await reading(BOOKS, () =>
      wire.transaction(signal, async (query) => {
        // MariaDB's transactions do so by themselves.
        if (wire.dialect === "postgresql")
          await query("set transaction isolation level repeatable read");
        const parts = new Map<string, RowsOf>();
        const paid = view === "invoices" ? await paidThere(query) : (row: SqlRow) => row;
        for (const [part, name] of viewsOf(view, source)) {
          const rows = unpadded(await query(`select * from ${name}`));
          parts.set(part, { name, rows: part === HEADS ? rows.map(paid) : rows });
        }
        return parts;
      }),
    );
    try {
      yield* pagesOfRows(profileOf(view), told, NEXT, signal);
    } catch (error) {
      if (!(error instanceof PartFault)) throw error;
      throw new SourceUnavailable(`the view ${error.message}`, { next: NEXT, cause: error });
    }
  },
});

/** At once. */
const ANSWERS = 500;
const ANSWER =
  "select seq, id, content, status, message, erp_number, answered_at, (select coalesce(max(told_in), 0) + 1 from fuelbridge_document) as number from fuelbridge_document";
const READ_NOW = `${ANSWER} where untold = ? union ${ANSWER} where kind = ? and told_in > ? and told_in < ? order by seq limit ${ANSWERS}`;
const READ =
  "update fuelbridge_document set told = status, told_at = answered_at, told_in = ? where seq = ? and status = ? and coalesce(answered_at, written_at) = coalesce(?, written_at)";
/** No look has a greater number. */
const LAST = "9223372036854775807";

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
    for (let count = ANSWERS; count === ANSWERS && !signal.aborted;) {
      const values: string[] = [kind, kind, last, number ?? LAST];
      const rows = await asked((query) => query(READ_NOW, values));
      number ??= rows[0]?.["number"] ?? null;
      count = rows.length;
      if (count > 0) yield pageOf(kind, rows);
      // The page is durable.
      await asked(async (query) => {
        for (const { seq = null, status = null, answered_at = null } of rows)
          await query(READ, [number, seq, status, answered_at]);
      });
      if (number !== null && count < ANSWERS) notebook?.set(noted, number);
    }
  },
});

const pageOf = (kind: StagedKind, rows: readonly SqlRow[]): Page => ({
  changes: [],
  position: null,
  acknowledgements: rows.map(({ id, content, status, message, erp_number }) => ({
    exchange: `${kind}/${id}`,
    item: content ?? "",
    verdict: status === "rejected" ? "refused" : "accepted",
    detail: [message, erp_number && `ERP number ${erp_number}`].filter(Boolean).join("; "),
  })),
});
