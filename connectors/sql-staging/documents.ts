/**
 * Documents as rows: one for each version of a document, by the platform's id; the newest one is its record. A version that the
 * ERP's job has not taken is superseded by the next one. One that it has taken is changed by a person, and ended by a version
 * of its own once the job has answered.
 */
import type { Surroundings } from "../../src/core/contract.ts";
import { amountOf, Decimal } from "../../src/core/decimal.ts";
import { defined } from "../../src/core/defined.ts";
import { Refused } from "../../src/core/errors.ts";
import { inGroups } from "../../src/core/groups.ts";
import type { Facts } from "../../src/core/holdings.ts";
import { stringifyExact } from "../../src/core/json.ts";
import { sha256Hex } from "../../src/core/keys.ts";
import type { Fault } from "../../src/core/record.ts";
import { type InvoiceDocument, MONEY, type PaymentDocument } from "../../src/ledger/documents.ts";
import { factLines, factTaxes, orderText, paymentFacts } from "../../src/ledger/entries.ts";
import {
  type Capabilities,
  type Desired,
  LedgerError,
  type LedgerSide,
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
type Staged = Pick<InvoiceDocument, "number" | "total" | "lines" | "taxes" | "description"> &
  Partial<Pick<InvoiceDocument, "dueDate" | "poNumber">> &
  Readonly<Record<"content" | "currency" | "state" | "documentDate", string>> & {
    readonly side: LedgerSide;
    readonly invoiceId?: string | null;
  };

/** A version of a document as it is in the tables, with what is paid on it; `taken`: how many before it the ERP's job took. */
type StagedRow = Staged &
  Readonly<Record<"id" | "seq" | "version" | "status" | "taken", string>> &
  Readonly<Record<"message" | "erpNumber" | "partyCode", string | null>> &
  Readonly<Record<"subtotal" | "tax", Decimal>> & {
    readonly payments: readonly PaymentOn[];
    /** What the ERP's own view says of what its job booked from it. */
    readonly booked: readonly SqlRow[];
    /** Of that, what nobody has cancelled there. */
    readonly standing: readonly SqlRow[];
    /** Not null: the job accepted it so long ago that the view must have it. */
    readonly overdue: string | null;
  };

/** `content`: what the ERP's job is told is one content, the rest of a document changes nothing there. @throws Refused as {@link cellsOf} */
function stagedOf(document: InvoiceDocument | PaymentDocument, currency: string): Staged {
  const staged = {
    lines: [],
    taxes: [],
    ...document,
    currency,
    side: sideOf(document),
    state: "status" in document && document.status === "void" ? "void" : "open",
    documentDate: "amount" in document ? document.date : document.invoiceDate,
    total: "amount" in document ? document.amount : document.total,
    ...("amount" in document ? { invoiceId: document.invoice } : {}),
  };
  return { ...staged, content: sha256Hex(stringifyExact(rowsOf(staged))) };
}

/** Rows by their tables. @throws Refused as {@link cellsOf} */
const rowsOf = (staged: Pick<Staged, "lines" | "taxes">) => ({
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
    expectKept(table, name, type, text);
    cells[name] = text;
  }
  return cells;
}

/** @throws Refused when a column of this type does not keep a text whole */
function expectKept(table: string, field: string, type: string, text: string): void {
  const [most = Infinity, places = 0] = (type.match(/\d+/g) ?? []).map(Number);
  const [whole = "", fraction = ""] = text.replace(/^-/, "").split(".");
  const isAmount = type.startsWith("numeric");
  const isTooMuch = whole.length > most - places || fraction.length > places;
  const digits = `${most - places} digits before and ${places} after the point`;
  const isNoText = text.includes("\0") || !text.isWellFormed();
  const faults = [
    [isAmount && isTooMuch, "too-many-digits", digits],
    [!isAmount && Array.from(text).length > most, "text-too-long", `${most} characters`],
    [isNoText, "text-not-kept", "no characters that are no text"],
  ] as const;
  for (const [is, code, keeps] of faults) {
    const message = `the column ${table}.${field} keeps ${keeps}`;
    if (is) throw new Refused({ code, message, next: NEXT, field });
  }
}

/** A row as fields, amounts exact. */
const fieldsOf = (table: string, row: SqlRow): object =>
  Object.fromEntries(
    Object.entries(row).map(([name, text]) => {
      const isAmount = PARTS.get(`${table}.${name}`)?.startsWith("numeric") === true;
      const field = name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
      return [field, isAmount && text !== null ? Decimal.of(text).shortest() : text];
    }),
  );

const VIEW = "fuelbridge_invoices";
const BY_LINE = "order by line";

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
  column: string,
  values: readonly string[],
): Promise<StagedRow[]> {
  const isViewed = kind === "invoice" && views.includes("invoices");
  const answered = `d.status = 'accepted' and d.answered_at < current_timestamp - interval '${viewWithin}' hour`;
  const isOverdue = isViewed && viewWithin > 0 ? answered : "d.seq is null";
  const heads = await query(
    `select d.*, ${TAKEN}, case when ${isOverdue} then 1 end as overdue from fuelbridge_document d where d.kind = ? and ${NEWEST} and d.${column} in (${listOf(values)})`,
    [kind, ...values],
  );
  /** Rows of a table that name some of them by `key`: a version by its seq, a document by its id. */
  const belonging = async (some: readonly SqlRow[], table: string, key: string, more: string) => {
    const column = key === "document_seq" ? "seq" : "id";
    const keys = some.map((head) => head[column] ?? "");
    const sql = `select * from ${table} where ${key} in (${listOf(keys)}) ${more}`;
    const rows = keys.length === 0 ? [] : await query(sql, keys);
    const byKey = Map.groupBy(rows, (row) => row[key]?.trimEnd());
    return (head: SqlRow) =>
      (byKey.get(head[column] ?? "") ?? []).map((row) => fieldsOf(table, row) as StagedRow);
  };
  const all = kind === "payment" ? [] : heads;
  const lines = await belonging(all, "fuelbridge_line", "document_seq", BY_LINE);
  const taxes = await belonging(all, "fuelbridge_tax", "document_seq", BY_LINE);
  // A payment has one version.
  const isPaid = "and kind = 'payment' and status <> 'rejected'";
  const paid = await belonging(all, "fuelbridge_document", "invoice_id", isPaid);
  const accepted = heads.filter(({ status }) => isViewed && status === "accepted");
  const bookedOf = await belonging(accepted, VIEW, "platform_id", "order by id");
  return heads.map((head) => {
    const booked = unpadded(bookedOf(head) as unknown as SqlRow[]);
    return {
      ...(fieldsOf("fuelbridge_document", head) as StagedRow),
      lines: lines(head) as unknown as Staged["lines"],
      taxes: taxes(head) as unknown as Staged["taxes"],
      payments: paid(head).map(({ id, total, status }) => {
        return { mark: id, id, amount: total, isPending: status !== "accepted" };
      }),
      booked,
      standing: booked.filter(({ state }) => state !== "cancelled"),
    };
  });
}

/** The ERP's job does not work on it. */
const isUntaken = (status: string | null = null): boolean =>
  status === "new" || status === "rejected";

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
type Tables = Pick<SqlStagingConfig, "answerWithin" | "views" | "viewWithin"> &
  Pick<Surroundings, "currency" | "notebook"> & { readonly wire: Sql };

function records<K extends StagedKind>(tables: Tables, kind: K): Records<K, Staged, StagedRow> {
  const { wire, answerWithin, currency } = tables;
  const own = { ...tables, kind };
  return {
    async search({ marks = [], ids = [], numbers = [], documents = [] }, { signal }) {
      // Payments call a document by its id, and are found by what they pay.
      const names =
        kind === "payment"
          ? { id: [...marks, ...ids], invoice_id: [...documents, ...numbers] }
          : { id: [...marks, ...ids, ...numbers], number: numbers };
      return wire.transaction(signal, async (query) => {
        const found = new Map<string, StagedRow>();
        for (const [column, values] of Object.entries(names))
          for (const some of inGroups([...new Set(values)], PAGE))
            for (const row of await newestWhere(query, own, column, some)) found.set(row.seq, row);
        return [...found.values()];
      });
    },
    async *list({ dated, changedSince, open }, from, signal) {
      const isAll = dated === null || changedSince !== null;
      const days = isAll ? ["0001-01-01", "9999-12-31"] : [dated.from, dated.to];
      const condition = `d.document_date between ? and ?${open ? UNPAID : ""}`;
      const asked = `select d.seq from fuelbridge_document d where d.kind = ? and d.seq > ? and (${condition}) order by d.seq`;
      const after = async (seq: string) => {
        const values = [kind, seq, ...days];
        const rows = await wire.transaction(signal, (query) => query(asked, values));
        return rows.map((row) => row["seq"] ?? "");
      };
      // What is looked through is looked through once for all pages, and a version that is written meanwhile comes last.
      for (
        let seqs = await after(from ?? "0");
        seqs.length > 0;
        seqs = await after(seqs.at(-1) ?? "")
      )
        for (const some of inGroups(seqs, PAGE)) {
          const page = (query: Query) => newestWhere(query, own, "seq", some);
          yield { rows: await wire.transaction(signal, page), position: some.at(-1) ?? "" };
        }
    },
    async create({ desired: { mark: id }, values }, { signal }) {
      const first = { kind, id, version: "1", content: values.content, status: "new" };
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
        if (version !== native.version || (values !== null && !isUntaken(status))) throw raced();
        const taken = all.find((one) => one["status"] === "taken");
        if (taken !== undefined) throw heldBy(number, taken, answerWithin);
        if (status === "new")
          await query("update fuelbridge_document set status = 'superseded' where seq = ?", [seq]);
        // The job has never seen it, so nothing is there to be cancelled.
        const isWithdrawn = values === null && all.every((one) => one["status"] !== "accepted");
        const own = isWithdrawn
          ? { status: "withdrawn", message: "withdrawn before the ERP took it" }
          : { status: "new" };
        const { content } = stagedOf(document, currency);
        const next = { kind, id, version: String(Number(version) + 1), content, ...own };
        // What is void may name what is no longer there: the row itself is what ends.
        const { endedDate } = document as InvoiceDocument;
        const ended = { ...native, endedDate, state: "void" };
        await insertVersion(wire, query, next, values ?? ended);
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

const paidFacts = ({ side, documentDate: date, total: amount, ...staged }: Staged): Facts =>
  paymentFacts({
    side,
    date,
    amount,
    document: staged.invoiceId ?? null,
    text: staged.description,
  });

export const tableOf = <K extends StagedKind>(
  tables: Tables,
  kind: K,
): Table<K, Staged, StagedRow> => {
  const { wire, currency, notebook } = tables;
  const isPayment = kind === "payment";
  return {
    can: isPayment ? PAYMENTS.can : CAN,
    records: records<K>(tables, kind),
    accept: (document) => void stagedOf(document, currency),
    write: (document) => stagedOf(document, currency),
    facts: isPayment ? paidFacts : invoiceFacts,
    answers: {
      withinMs: tables.answerWithin * HOUR_MS,
      source: answersOf(wire, kind, notebook),
      versionOf: (document) => stagedOf(document, currency).content,
    },
    read(row, desired) {
      const { id, number, total, subtotal: untaxed, tax, payments } = row;
      const head = headOf(row, desired, currency);
      const isOver = isOverThere(row, desired);
      if (isPayment)
        return { ...head, status: isOver ? "cancelled" : "posted", facts: { number: id } };
      const sums = { untaxed, tax, total, ...bookedSums(row) };
      const { open, missing } = openThere(row, sums.total);
      const isPaid = open.sign === 0 && sums.total.sign !== 0;
      const by = row.standing[0]?.["clearedBy"] ?? MONEY;
      return {
        ...head,
        party: row.partyCode,
        number,
        payments,
        unseen: by === "" || by === MONEY ? null : by,
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
  const { status, state, taken, booked, standing } = row;
  if (booked.length > 0 && standing.length === 0) return true;
  const isUnbooked = ["withdrawn", "superseded", ...(desired.length > 0 ? [] : ["rejected"])];
  return isUnbooked.includes(status) ? taken === "0" : state === "void" && booked.length === 0;
}

const SUMS = ["untaxed", "tax", "total", "open"] as const;

/** Amounts that the ERP's own invoice of it shows: of one that stands alone. */
function bookedSums({ standing: [only, another] }: StagedRow) {
  const sums: Partial<Record<(typeof SUMS)[number], Decimal>> = {};
  for (const name of SUMS) {
    const text = another === undefined ? (only?.[name] ?? "") : "";
    if (Decimal.is(text)) sums[name] = Decimal.of(text).shortest();
  }
  return sums;
}

/**
 * What is open of it: by the ERP's own invoice, where a payment that its job has not answered may be booked or not.
 * `missing`: the job accepted payments that are not booked on it.
 */
function openThere(row: StagedRow, total: Decimal) {
  const less = (payments: StagedRow["payments"]): Decimal => total.minus(amountOf(payments));
  const [least, most] = [less(row.payments), less(row.payments.filter((one) => !one.isPending))];
  const { open: its = least } = bookedSums(row);
  if (its.compare(most) <= 0) return { open: its.compare(least) < 0 ? its : least, missing: [] };
  const held = `${inCents(its)}: its invoice lacks a payment that the ERP's job accepted`;
  const missing = [{ field: "money.open", expected: inCents(most), held }];
  return { open: its.minus(most.minus(least)), missing };
}

const EARLIER = "an earlier version, which the ERP's job has taken though this one superseded it";

const nameOf = ({ number, id }: SqlRow) => number ?? id;

/** What every row says of its version. One that the ERP rejected is a person's until its content is another one. */
function headOf(row: StagedRow, desired: readonly Desired[], currency: string) {
  const { id, seq, number, state, status, version, erpNumber, booked, standing } = row;
  const invoices = standing.map(nameOf).join(" and ");
  const wanted = desired.find(({ mark }) => mark === id)?.document as InvoiceDocument | undefined;
  const isSame = wanted === undefined || stagedOf(wanted, currency).content === row.content;
  const rejected: Fault = {
    code: "rejected-by-erp",
    message: row.message ?? "",
    next: "Correct what the ERP says and set the row to new there, then retry; or correct the document on the platform.",
  };
  const uncancelled: Fault = {
    code: "not-cancelled",
    message: `the ERP's job accepted the void of ${number}, and ${VIEW} shows ${invoices} as it was`,
    next: "Cancel it in the ERP, or correct the view; then retry.",
  };
  const missing: Fault = {
    code: "not-there",
    message: `the ERP's job accepted ${number}${erpNumber === null ? "" : ` as ${erpNumber}`}, and ${VIEW} does not have it`,
    next: "Look for it in the ERP. If somebody deleted it, enter it there again or void it on the platform; if it is there, correct the view.",
  };
  const unread = standing.flatMap((one) =>
    SUMS.flatMap((name) =>
      Decimal.is(one[name] ?? "") ? [] : `${VIEW}, ${nameOf(one)}: ${name} is "${one[name] ?? ""}"`,
    ),
  );
  const badCell: Fault = { code: "bad-cell", message: unread.join(" and "), next: NEXT_IN_VIEW };
  const isMissing = row.overdue !== null && booked.length === 0 && state === "open";
  // What cannot be compared must not count as alike.
  const [gap] = [...(isMissing ? [missing] : []), ...(unread.length > 0 ? [badCell] : [])];
  const [refusal] = [
    ...(isSame && status === "rejected" ? [rejected] : []),
    ...(state === "void" && standing.length > 0 ? [uncancelled] : []),
  ];
  const besides = [
    [row.taken !== "0" && state === "open", `version ${version} alone`, EARLIER],
    [standing.length > 1, "one invoice", `invoices ${invoices} with its platform_id`],
    [gap !== undefined, "one invoice", gap?.message ?? ""],
  ] as const;
  return {
    id,
    mark: id,
    version: seq,
    ...(isSame || !isUntaken(status) ? { fixed: AMENDABLE } : {}),
    ...defined({ called: erpNumber ?? undefined, refusal, untold: gap }),
    besides: besides.flatMap(([is, expected, held]) =>
      is ? [{ field: "record", expected, held }] : [],
    ),
  };
}
