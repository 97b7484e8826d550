/**
 * A checksum in each row that has text of documents (ADR 0001): SQLite's pages have none, and a bit that a disk has flipped
 * in a text would be delivered. A sum is written with its row, looked at wherever the row is read for work, and over all
 * rows in a backup, before a restore and every day.
 */
import type Database from "better-sqlite3";
import { crc32 } from "node:zlib";
import { StorageError } from "../core/errors.ts";
import { sha256 } from "../core/keys.ts";
import { checkedChain } from "./journal.ts";
import { addIdFunctions, shownId } from "./statements.ts";

/** What is summed of each table; the last one is what a guarded reading gives. */
const COLUMNS = {
  record: "flow id version revision content origin fault text".split(" "),
  delivery: "flow record received_ms version origin amount gallons content note revision".split(
    " ",
  ),
  request: "flow operation kind number revision ordering_key key target body_sha256 machine".split(
    " ",
  ),
  link: "kind platform_id born number content amount linked_ms erp_id".split(" "),
} as const;

type Table = keyof typeof COLUMNS;
type Value = string | number | Buffer | null;
const TABLES = Object.keys(COLUMNS) as Table[];

/**
 * Of values in the order of the columns. Any single flipped bit gives another one. The last value is the longest (a record's
 * text): it is not copied for it.
 */
export function sumOf(values: readonly Value[]): number {
  let before = "";
  for (const value of values.slice(0, -1)) before += `${inText(value)}\u0001`;
  return crc32(inText(values.at(-1) ?? null), crc32(before));
}

function inText(value: Value): string {
  if (value === null) return "\u0000";
  return typeof value === "object" ? value.toString("hex") : String(value);
}

/** The functions that statements use: before any is prepared. */
export function addFunctions(database: Database.Database): void {
  addIdFunctions(database);
  database.function("sum_of", { varargs: true, deterministic: true }, (...values: unknown[]) =>
    sumOf(values as Value[]),
  );
  for (const table of TABLES)
    database.function(
      `whole_${table}`,
      { varargs: true, deterministic: true },
      (row: unknown, sum: unknown, ...values: unknown[]) => {
        const isUnsummed = sum === null && table === "delivery";
        if (!isUnsummed && sum !== sumOf(values as Value[]))
          throw damaged(table, row as Value, values as Value[]);
        return values.at(-1);
      },
    );
}

/** The sum as SQL, inside a statement of the table. `bound`: columns whose new values the statement is given, in their order. */
export const sumIn = (table: Table, bound: readonly string[] = []): string =>
  `sum_of(${COLUMNS[table].map((column) => (bound.includes(column) ? "?" : column)).join(", ")})`;

/** The last of the summed columns as SQL, of a row that is whole; `of`: what the table is called in the statement. */
export const wholeIn = (table: Table, of: string = table): string =>
  `whole_${table}(${rowOf(table, of)}, ${of}.sum, ${COLUMNS[table].map((column) => `${of}.${column}`).join(", ")})`;

const rowOf = (table: Table, of: string): string =>
  table === "link" ? `${of}.kind || ' ' || ${of}.number` : `${of}.${table}`;

/** A statement that sums a row anew, by its number: where it is changed column by column. */
export const resumming = (database: Database.Database, table: Exclude<Table, "link">) =>
  database.prepare(`update ${table} set sum = ${sumIn(table)} where ${table} = ?`);

/** Rows that stand in the file as nobody wrote them; the record is named, so that a person finds it. */
function damaged(table: Table, row: Value, values: readonly Value[]): StorageError {
  const valueOf = (column: string): string => {
    const value = values[COLUMNS[table].indexOf(column)] ?? "";
    return typeof value === "object" ? shownId(value) : String(value);
  };
  const name = {
    record: () => `record ${String(row)} (${valueOf("id")})`,
    delivery: () => `delivery ${String(row)} of record ${valueOf("record")}`,
    request: () => `request ${String(row)} (${valueOf("operation")} ${valueOf("number")})`,
    link: () => `the link of ${String(row)}`,
  }[table]();
  return damage(`${name} is damaged: its checksum does not fit`);
}

const damage = (what: string): StorageError =>
  new StorageError(
    `The store holds what nobody wrote: ${what}.`,
    "Stop fuelbridge, look at the disk that the store is on, and put the newest whole backup back: fuelbridge restore FILE.",
  );

const STEP = 500;

/**
 * A delivery gets its sum when it is frozen or ends: until then all that it says is its record's, and to sum it at once would
 * be a tenth of what storing a record costs.
 */
const ODD = `(delivery.sum is null and (delivery.state in ('frozen', 'delivered', 'skipped', 'echo', 'resolved')
  or delivery.state in ('pending', 'quarantined') and not exists (select 1 from record r where r.record = delivery.record
    and r.flow = delivery.flow and r.revision is delivery.revision and r.version is delivery.version
    and r.origin is delivery.origin)))`;

/** Looks at every row and at the audit's chain, in steps. @throws StorageError that names the first one that is damaged */
export function* examining(database: Database.Database): Generator<void> {
  for (const table of ["record", "delivery", "request"] as const) {
    const rows = database.prepare<[number, number], { row: number; isOdd?: 0 | 1 }>(
      `select ${table} as row, ${wholeIn(table)} as whole${table === "delivery" ? `, ${ODD} as isOdd` : ""}
       from ${table} where ${table} > ? order by ${table} limit ?`,
    );
    for (let page = rows.all(0, STEP); page.length > 0;) {
      const odd = page.find(({ isOdd }) => isOdd === 1);
      if (odd !== undefined)
        throw damage(`delivery ${odd.row} is damaged: its record says otherwise`);
      yield;
      page = rows.all(page.at(-1)?.row ?? 0, STEP);
    }
  }
  const bodies = database.prepare<[number, number], BodyRow>(
    `select request, body, body_sha256, body_gone_ms from request
     where request > ? order by request limit ?`,
  );
  for (let page = bodies.all(0, STEP); page.length > 0;) {
    for (const row of page) expectBody(row);
    yield;
    page = bodies.all(page.at(-1)?.request ?? 0, STEP);
  }
  const links = database.prepare<[string, string, number], { kind: string; id: string }>(
    `select kind, platform_id as id, ${wholeIn("link")} as whole from link
     where (kind, platform_id) > (?, ?) order by kind, platform_id limit ?`,
  );
  for (let page = links.all("", "", STEP); page.length > 0;) {
    yield;
    const last = page.at(-1);
    page = links.all(last?.kind ?? "", last?.id ?? "", STEP);
  }
  const { broken } = yield* checkedChain(database, null);
  if (broken !== null) throw damage(`entry ${broken.entry} of the audit is ${broken.how}`);
}

export interface BodyRow {
  readonly request: number;
  readonly body: string;
  readonly body_sha256: string;
  readonly body_gone_ms: number | null;
}

/** @throws StorageError when the frozen bytes are not the ones that were frozen */
export function expectBody({ request, body, body_sha256, body_gone_ms }: BodyRow): void {
  if (body_gone_ms === null && sha256(body) !== body_sha256)
    throw damage(`the frozen bytes of request ${request} are damaged`);
}

/** Takes all rows as they are now: after a program that does not sum has written to the file. */
export function sumAnew(database: Database.Database): void {
  addFunctions(database);
  for (const table of TABLES) database.exec(`update ${table} set sum = ${sumIn(table)}`);
}
