/**
 * Documents as rows: one for each version of a document, by the platform's id; the newest one is its record. A version that the
 * ERP's job has not taken is superseded by the next one. One that it has taken is changed by a person, and ended by a version
 * of its own once the job has answered.
 */
import type { FaultCode } from "../../src/core/faults.ts";
import type { Surroundings } from "../../src/core/contract.ts";
import { amountOf, Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { inGroups } from "../../src/core/groups.ts";
import type { Facts } from "../../src/core/holdings.ts";
import { stringifyExact } from "../../src/core/json.ts";
import { sha256Hex } from "../../src/core/keys.ts";
import type { Fault } from "../../src/core/record.ts";
import { type InvoiceDocument, MONEY, type PaymentDocument } from "../../src/ledger/documents.ts";
import { factLines, factTaxes, orderText } from "../../src/ledger/entries.ts";
import {
  type Capabilities,
  type Desired,
  LedgerError,
  PAYMENTS,
  type PaymentOn,
  sideOf,
} from "../../src/ledger/port.ts";
import { type Query, type Sql, type SqlRow, unpadded } from "../../src/ledger/sql.ts";
import type { Records, Table } from "../../src/ledger/table.ts";
import type { SqlStagingConfig } from "./config.ts";
import { partsOf } from "./schema.ts";
import { answersOf, NEWEST, NEXT as NEXT_IN_VIEW, type StagedKind } from "./sources.ts";
import { HOUR_MS } from "../../src/core/time.ts";
import { inCents } from "../../src/core/text.ts";

/** What is written of a document: its fields that the tables have a column for, `unitPrice` in `unit_price`. */
interface Staged extends Pick<InvoiceDocument, "number" | "total" | "lines" | "taxes"> {
  readonly currency: string;
  readonly state: string;
  readonly side: string;
  readonly documentDate: string;
  readonly dueDate?: string | null;
  readonly poNumber?: string | null | undefined;
  readonly description: string | null;
  readonly invoiceId?: string | null;
}

/** A version of a document as it is in the tables, with what is paid on it; `taken`: how many before it the ERP's job took. */
type StagedRow = Staged &
  Readonly<Record<"id" | "seq" | "version" | "content" | "status" | "taken", string>> &
  Readonly<Record<"message" | "erpNumber" | "partyCode", string | null>> &
  Readonly<Record<"subtotal" | "tax", Decimal>> & {
    readonly payments: readonly PaymentOn[];
    /** What the ERP's own view says of what its job booked from it. */
    readonly booked: readonly SqlRow[];
    /** The job accepted it so long ago that the view must have it, and does not. */
    readonly isMissing: boolean;
  };

const stagedOf = (document: InvoiceDocument | PaymentDocument, currency: string): Staged => ({
  lines: [],
  taxes: [],
  ...document,
  currency,
  side: sideOf(document),
  state: "status" in document && document.status === "void" ? "void" : "open",
  documentDate: "date" in document ? document.date : document.invoiceDate,
  total: "amount" in document ? document.amount : document.total,
  ...("amount" in document ? { invoiceId: document.invoice } : {}),
});

/** What the ERP's job is told is one content: the rest of a document changes nothing there. @throws Refused as {@link cellsOf} */
const contentOf = (document: InvoiceDocument | PaymentDocument, currency: string): string =>
  hashOf(rowsOf(stagedOf(document, currency)));

const hashOf = (rows: object): string => sha256Hex(stringifyExact(rows));

/** Rows by their tables. @throws Refused as {@link cellsOf} */
const rowsOf = (staged: Staged) => ({
  fuelbridge_document: [cellsOf("fuelbridge_document", staged)],
  fuelbridge_line: staged.lines.map((line) => cellsOf("fuelbridge_line", line)),
  fuelbridge_tax: staged.taxes.map((tax) => cellsOf("fuelbridge_tax", tax)),
});

/** Lengths are the same on both servers. */
const PARTS = partsOf("mariadb");
/** Columns that say nothing of a document. */
const OWN =
  /^(?:seq|kind|id|version|content|written_at|status|message|erp_number|answered_at|(?:un)?told.*|document_seq|line)$/;
const NEXT = "Correct it where the document comes from; it is delivered by itself.";

/** @throws Refused when a column cannot keep a text or an amount whole */
function cellsOf(table: string, fields: object, prefix = ""): SqlRow {
  const cells: Record<string, string | null> = {};
  for (const [field, value] of Object.entries(fields) as [string, unknown][]) {
    const name = prefix + field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const type = PARTS.get(`${table}.${name}`);
    const text = value instanceof Decimal ? value.plain() : value;
    if (field === "party") Object.assign(cells, cellsOf(table, value as object, "party_"));
    if (type === undefined || OWN.test(name) || typeof text !== "string") continue;
    const [code, keeps] = faultOf(type, text) ?? [];
    if (code !== undefined) {
      const message = `the column ${table}.${name} keeps ${keeps}`;
      throw new Refused({ code, message, next: NEXT, field: name });
    }
    cells[name] = text;
  }
  return cells;
}

/** Why a column of this type does not keep a text whole; null: it does. */
function faultOf(type: string, text: string): readonly [code: FaultCode, keeps: string] | null {
  const [most = Infinity, places = 0] = (type.match(/\d+/g) ?? []).map(Number);
  const [whole = "", fraction = ""] = text.replace(/^-/, "").split(".");
  const isAmount = type.startsWith("numeric");
  if (isAmount && (whole.length > most - places || fraction.length > places))
    return ["too-many-digits", `${most - places} digits before and ${places} after the point`];
  if (!isAmount && Array.from(text).length > most) return ["text-too-long", `${most} characters`];
  if (text.includes("\0") || !text.isWellFormed())
    return ["text-not-kept", "no characters that are no text"];
  return null;
}

/** A row as fields: amounts exact, days without a time. */
const fieldsOf = (table: string, row: SqlRow): object =>
  Object.fromEntries(
    Object.entries(row).map(([name, text]) => {
      const type = PARTS.get(`${table}.${name}`) ?? "";
      const field = name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
      if (text !== null && type.startsWith("numeric")) return [field, Decimal.of(text).shortest()];
      return [field, /^date\b/.test(type) ? (text?.slice(0, 10) ?? null) : text];
    }),
  );

/** An empty list is none. */
const listOf = (values: readonly unknown[]): string =>
  ["null", ...values.map(() => "?")].join(", ");

/** Versions before it that the ERP's job has taken. */
const TAKEN =
  "(select count(*) from fuelbridge_document o where o.kind = d.kind and o.id = d.id and o.version < d.version and o.status in ('taken', 'accepted')) as taken";

/** An invoice or bill of any day of which something is still to pay. */
const UNPAID =
  " or (d.invoice_id is null and d.state = 'open' and d.total <> (select coalesce(sum(p.total), 0) from fuelbridge_document p where p.kind = 'payment' and p.invoice_id = d.id and p.status in ('new', 'taken', 'accepted')))";

/** The newest version of each, with all that belongs to it. */
async function newestWhere(
  query: Query,
  { kind, views, viewWithin }: Pick<Tables, "views" | "viewWithin"> & { readonly kind: StagedKind },
  column: "id" | "seq" | "number" | "invoice_id",
  values: readonly string[],
): Promise<StagedRow[]> {
  const heads = await query(
    `select d.*, ${TAKEN}, case when d.answered_at < current_timestamp - interval '${viewWithin}' hour then 1 end as settled from fuelbridge_document d where d.kind = ? and ${NEWEST} and d.${column} in (${listOf(values)})`,
    [kind, ...values],
  );
  /** By `key`: rows of a table that belong to them. */
  const belonging = async (table: string, key: string, column: string, more: string) => {
    const keys = heads.map((head) => head[column] ?? "");
    const sql = `select d.* from ${table} d where d.${key} in (${listOf(keys)}) ${more}`;
    const rows = kind === "payment" ? [] : await query(sql, keys);
    const fields = Map.groupBy(rows, (row) => row[key]);
    return (head: SqlRow) =>
      (fields.get(head[column]) ?? []).map((row) => fieldsOf(table, row) as StagedRow);
  };
  const lines = await belonging("fuelbridge_line", "document_seq", "seq", "order by d.line");
  const taxes = await belonging("fuelbridge_tax", "document_seq", "seq", "order by d.line");
  const isPaid = `and d.kind = 'payment' and d.status <> 'rejected' and ${NEWEST}`;
  const paid = await belonging("fuelbridge_document", "invoice_id", "id", isPaid);
  const ids = heads.flatMap(({ id, status }) => (status === "accepted" && id ? [id] : []));
  const isViewed = kind === "invoice" && views.includes("invoices") && ids.length > 0;
  const viewed = `select * from fuelbridge_invoices where platform_id in (${listOf(ids)}) order by id`;
  const booked = Map.groupBy(
    isViewed ? unpadded(await query(viewed, ids)) : [],
    (row) => row["platform_id"],
  );
  return heads.map((head) => ({
    ...(fieldsOf("fuelbridge_document", head) as StagedRow),
    lines: lines(head) as unknown as Staged["lines"],
    taxes: taxes(head) as unknown as Staged["taxes"],
    payments: paid(head).map(({ id, total, status }) => ({
      mark: id,
      id,
      amount: total,
      isPending: status !== "accepted",
    })),
    booked: booked.get(head["id"]) ?? [],
    isMissing:
      isViewed &&
      viewWithin > 0 &&
      head["status"] === "accepted" &&
      head["settled"] !== null &&
      !booked.has(head["id"]),
  }));
}

/** From 200 values on MariaDB does not look into its index any more to know how many rows they name. */
const PAGE = 100;

/** Somebody has written this version, or the job has taken the one before. */
const raced = (): LedgerError =>
  new LedgerError("answered", "the row was taken or written meanwhile", { code: "raced" });

/** @param own columns of the table's own @throws LedgerError when the version is there, whatever answer was lost; Refused */
async function insertVersion(wire: Sql, query: Query, own: SqlRow, staged: Staged): Promise<void> {
  const insert = (table: string, cells: SqlRow, more = "") => {
    const [names, values] = [Object.keys(cells), Object.values(cells)];
    const sql = `insert into ${table} (${names.join(", ")}) values (${names.map(() => "?").join(", ")})`;
    return query(sql + more, values);
  };
  const { fuelbridge_document, ...parts } = rowsOf(staged);
  // MariaDB refuses the second one by itself.
  const once = wire.dialect === "postgresql" ? " on conflict (kind, id, version) do nothing" : "";
  const head = { ...own, ...fuelbridge_document[0] };
  const [row] = await insert("fuelbridge_document", head, `${once} returning seq`);
  if (row === undefined) throw raced();
  for (const [table, all] of Object.entries(parts))
    for (const [at, cells] of all.entries())
      await insert(table, { document_seq: row["seq"] ?? "", line: String(at + 1), ...cells });
}

/** `answerWithin`, `viewWithin`: hours. */
interface Tables extends Pick<SqlStagingConfig, "answerWithin" | "views" | "viewWithin"> {
  readonly wire: Sql;
  readonly surroundings: Pick<Surroundings, "currency" | "notebook">;
}

function records<K extends StagedKind>(tables: Tables, kind: K): Records<K, Staged, StagedRow> {
  const {
    wire,
    answerWithin,
    surroundings: { currency },
  } = tables;
  const own = { ...tables, kind };
  return {
    async search({ marks = [], ids = [], numbers = [], documents = [], desired }, { signal }) {
      // Payments call a document by its id, and are found by what they pay.
      const isPayment = kind === "payment";
      const called = desired === undefined ? numbers : [];
      const named = new Set([...marks, ...ids, ...(isPayment ? [] : called)]);
      const others = isPayment ? [...documents, ...called] : numbers;
      const names = [
        ["id", [...named]],
        [isPayment ? "invoice_id" : "number", others],
      ] as const;
      return wire.transaction(signal, async (query) => {
        const found = new Map<string, StagedRow>();
        for (const [column, values] of names)
          for (const some of inGroups(values, PAGE))
            for (const row of await newestWhere(query, own, column, some)) found.set(row.seq, row);
        return [...found.values()];
      });
    },
    async *list({ dated, changedSince, open }, from, signal) {
      const days =
        dated === null || changedSince !== null
          ? ["0001-01-01", "9999-12-31"]
          : [dated.from, dated.to];
      const condition = `d.document_date between ? and ?${open ? UNPAID : ""}`;
      const asked = `select d.seq from fuelbridge_document d where d.kind = ? and d.seq > ? and (${condition}) order by d.seq`;
      // What is looked through is looked through once for all pages, and a version that is written meanwhile comes last.
      for (let after = from ?? "0", goesOn = true; goesOn;) {
        const values = [kind, after, ...days];
        const found = await wire.transaction(signal, (query) => query(asked, values));
        goesOn = found.length > 0;
        const seqs = found.map(({ seq }) => seq ?? "");
        for (const some of goesOn ? inGroups(seqs, PAGE) : [[]]) {
          const rows = await wire.transaction(signal, (query) =>
            newestWhere(query, own, "seq", some),
          );
          after = some.at(-1) ?? after;
          yield { rows, position: after };
        }
      }
    },
    async create({ desired: { mark: id }, values }, { signal }) {
      const content = hashOf(rowsOf(values));
      const first = { kind, id, version: "1", content, status: "new" };
      await wire.transaction(signal, (query) => insertVersion(wire, query, first, values));
      return id;
    },
    apply: (_to, { desired, values, entry: { native } }, { signal }) =>
      wire.transaction(signal, async (query) => {
        const { mark: id, number, document } = desired;
        const all = await query(
          `select seq, version, status, case when written_at < current_timestamp - interval '${answerWithin}' hour then 1 end as late from fuelbridge_document where kind = ? and id = ? order by version for update`,
          [kind, id],
        );
        const { seq = null, version, status } = all.at(-1) ?? {};
        const isUntaken = status === "new" || status === "rejected";
        if (version !== native.version || (values !== null && !isUntaken)) throw raced();
        const taken = all.find((one) => one["status"] === "taken");
        if (taken !== undefined) throw heldBy(number, taken, answerWithin);
        if (status === "new")
          await query("update fuelbridge_document set status = 'superseded' where seq = ?", [seq]);
        // The job has never seen it, so nothing is there to be cancelled.
        const isWithdrawn = values === null && all.every((one) => one["status"] !== "accepted");
        const own = {
          kind,
          id,
          version: String(Number(version) + 1),
          content: contentOf(document, currency),
          status: isWithdrawn ? "withdrawn" : "new",
          ...(isWithdrawn ? { message: "withdrawn before the ERP took it" } : {}),
        };
        // What is void may name what is no longer there: the row itself is what ends.
        const ended = "endedDate" in document ? { endedDate: document.endedDate } : {};
        const staged = values ?? { ...native, ...ended, state: "void" };
        await insertVersion(wire, query, own, staged);
      }),
  };
}

/** A person is asked when the job's time is over. */
function heldBy(number: string, { seq, late }: SqlRow, hours: number): Error {
  const says = `the ERP's job has taken ${number} (seq ${seq}) and not answered yet; it is void on the platform`;
  if (late === null) return new LedgerError("answered", says, { code: "held" });
  return new Refused({
    code: "held-by-erp",
    message: `${says}. ${hours} hours are over, so it may be booked there or not`,
    next: "Look for it in the ERP. If it is booked there, set its row to accepted, else to rejected; then retry: what is booked is cancelled by a row of its own.",
  });
}

/** Everything that a version may change before the ERP's job has taken it. */
const AMENDABLE = ["party", "number", "days", "money", "order", "reference", "lines", "taxes"];
const CAN: Capabilities = {
  has: ["posted", "settled", "cancelled"],
  byUs: "posted",
  amend: Object.fromEntries(AMENDABLE.map((field) => [field, "posted"])),
  atomic: 1,
  numbered: "per-party",
};

const invoiceFacts = (staged: Staged): Facts => ({
  days: { date: staged.documentDate, due: staged.dueDate ?? null },
  words: { order: orderText(staged) },
  lines: factLines(staged),
  taxes: factTaxes(staged),
});

const paymentFacts = ({ documentDate, total, side, invoiceId, description }: Staged): Facts => ({
  days: { date: documentDate },
  money: { amount: total },
  words: { side, document: invoiceId ?? null, reference: description },
});

export const tableOf = <K extends StagedKind>(
  tables: Tables,
  kind: K,
): Table<K, Staged, StagedRow> => {
  const { currency, notebook } = tables.surroundings;
  const isPayment = kind === "payment";
  return {
    can: isPayment ? PAYMENTS.can : CAN,
    records: records<K>(tables, kind),
    accept: (document) => void contentOf(document, currency),
    write: (document) => stagedOf(document, currency),
    facts: isPayment ? paymentFacts : invoiceFacts,
    answers: {
      withinMs: tables.answerWithin * HOUR_MS,
      source: answersOf(tables.wire, kind, notebook),
      versionOf: (document) => contentOf(document, currency),
    },
    read(row, desired) {
      const { id, number, total, subtotal: untaxed, tax, payments } = row;
      const head = headOf(row, desired, currency);
      const isOver = isOverThere(row, desired);
      if (isPayment)
        return { ...head, status: isOver ? "cancelled" : "posted", facts: { number: id } };
      const sums = { untaxed, tax, total, ...bookedSums(row) };
      const { open, others, missing } = openThere(row, sums.total);
      const isPaid = open.sign === 0 && payments.length + others.length > 0;
      return {
        ...head,
        party: row.partyCode,
        number,
        payments: [...payments, ...others],
        status: isOver ? "cancelled" : isPaid ? "settled" : "posted",
        besides: [...head.besides, ...missing],
        facts: { number, money: { ...sums, open } },
      };
    },
  };
};

/**
 * What the job never booked is not there, unless it took an earlier version all the same. A delivery (it has `desired`) is told
 * of what was rejected by the refusal; reconciliation must not take it for a document that the ERP has.
 */
function isOverThere(row: StagedRow, desired: readonly Desired[]): boolean {
  const { status, state, taken, booked } = row;
  if (booked.length > 0 && standing(row).length === 0) return true;
  const isUnbooked = ["withdrawn", "superseded", ...(desired.length > 0 ? [] : ["rejected"])];
  return isUnbooked.includes(status) ? taken === "0" : state === "void" && booked.length === 0;
}

/** Of what the ERP's job booked from it, what nobody has cancelled there. */
const standing = ({ booked }: Pick<StagedRow, "booked">): readonly SqlRow[] =>
  booked.filter((row) => row["state"] !== "cancelled");

/** Amounts that the ERP's own invoice of it shows: of one that stands alone. */
function bookedSums(row: StagedRow): Partial<Record<(typeof SUMS)[number], Decimal>> {
  const [only, another] = standing(row);
  if (only === undefined || another !== undefined) return {};
  const shown = SUMS.map((name) => [name, only[name] ?? ""] as const);
  return Object.fromEntries(
    shown.flatMap(([name, text]) =>
      Decimal.is(text) ? [[name, Decimal.of(text).shortest()]] : [],
    ),
  );
}
const SUMS = ["untaxed", "tax", "total", "open"] as const;

/**
 * What is open of it: by the ERP's own invoice, where a payment that its job has not answered may be booked or not. `others`:
 * what else settles it there. `missing`: the job accepted payments that are not booked on it.
 */
function openThere(row: StagedRow, total: Decimal) {
  const less = (payments: StagedRow["payments"]): Decimal => total.minus(amountOf(payments));
  const [least, most] = [less(row.payments), less(row.payments.filter((one) => !one.isPending))];
  const { open: its = least } = bookedSums(row);
  if (its.compare(least) < 0) {
    const by = standing(row)[0]?.["cleared_by"] ?? MONEY;
    const instead = by === "" || by === MONEY ? null : by;
    return { open: its, others: [{ mark: null, amount: least.minus(its), instead }], missing: [] };
  }
  if (its.compare(most) <= 0) return { open: least, others: [], missing: [] };
  const held = `${inCents(its)}: its invoice lacks a payment that the ERP's job accepted`;
  const missing = [{ field: "money.open", expected: inCents(most), held }];
  return { open: its.minus(most.minus(least)), others: [], missing };
}

const EARLIER = "an earlier version, which the ERP's job has taken though this one superseded it";

/** What every row says of its version. One that the ERP rejected is a person's until its content is another one. */
function headOf(row: StagedRow, desired: readonly Desired[], currency: string) {
  const { id, seq, state, status, version, erpNumber } = row;
  const invoices = standing(row)
    .map((one) => one["number"] ?? one["id"])
    .join(" and ");
  const wanted = desired.find(({ mark }) => mark === id)?.document as InvoiceDocument | undefined;
  const isSame = wanted === undefined || contentOf(wanted, currency) === row.content;
  const isUntaken = status === "new" || status === "rejected";
  const refusal: Fault = {
    code: "rejected-by-erp",
    message: row.message ?? "",
    next: "Correct what the ERP says and set the row to new there, then retry; or correct the document on the platform.",
  };
  const stands = state === "void" && standing(row).length > 0;
  const uncancelled: Fault = {
    code: "not-cancelled",
    message: `the ERP's job accepted the void of ${row.number}, and fuelbridge_invoices shows ${invoices} as it was`,
    next: "Cancel it in the ERP, or correct the view; then retry.",
  };
  const unread = standing(row).flatMap((one) =>
    SUMS.filter((name) => !Decimal.is(one[name] ?? "")).map(
      (name) =>
        `fuelbridge_invoices, ${one["number"] ?? one["id"]}: ${name} is "${one[name] ?? ""}"`,
    ),
  );
  const missing: Fault = {
    code: "not-there",
    message: `the ERP's job accepted ${row.number}${erpNumber === null ? "" : ` as ${erpNumber}`}, and fuelbridge_invoices does not have it`,
    next: "Look for it in the ERP. If somebody deleted it, enter it there again or void it on the platform; if it is there, correct the view.",
  };
  // What cannot be compared must not count as alike.
  const gap: Fault | null =
    row.isMissing && state === "open"
      ? missing
      : unread.length > 0
        ? { code: "bad-cell", message: unread.join(" and "), next: NEXT_IN_VIEW }
        : null;
  return {
    id,
    mark: id,
    version: seq,
    ...(erpNumber === null ? {} : { called: erpNumber }),
    ...(isSame || !isUntaken ? { fixed: AMENDABLE } : {}),
    ...(isSame && status === "rejected" ? { refusal } : {}),
    ...(stands ? { refusal: uncancelled } : {}),
    ...(gap === null ? {} : { untold: gap }),
    besides: (
      [
        [row.taken !== "0" && state === "open", `version ${version} alone`, EARLIER],
        [standing(row).length > 1, "one invoice", `invoices ${invoices} with its platform_id`],
        [gap !== null, "one invoice", gap?.message ?? ""],
      ] as const
    ).flatMap(([is, expected, held]) => (is ? [{ field: "record", expected, held }] : [])),
  };
}
