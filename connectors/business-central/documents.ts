/** Invoices and bills: drafts that are posted, what settles them, and the PDFs on them; and orders. */
import { hash } from "node:crypto";
import { z } from "zod";
import { amountOf, Decimal } from "../../src/core/decimal.ts";
import { defined } from "../../src/core/defined.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Day } from "../../src/core/holdings.ts";
import { beginningOf } from "../../src/core/text.ts";
import {
  day,
  decimal,
  type InvoiceDocument,
  members,
  type OrderDocument,
  type PaymentDocument,
  text,
} from "../../src/ledger/documents.ts";
import {
  documentFacts,
  expectFits,
  factLines,
  factTaxes,
  type KeptDocument,
  type KeptPayment,
  markOf,
  orderParts,
  orderText,
  paidBy,
  paidMarkIn,
  payingMark,
  paymentFacts,
  paymentIn,
  platformIdIn,
  toldInvoice,
} from "../../src/ledger/entries.ts";
import type { FileTable } from "../../src/ledger/files.ts";
import { goodsLine, type GoodsRow, type GoodsTable } from "../../src/ledger/goods.ts";
import { equals, idsAre, type Odata, quoted, Version } from "../../src/ledger/odata.ts";
import { isSettlement } from "../../src/ledger/plan.ts";
import {
  type EntryStatus,
  LedgerError,
  type LedgerSide,
  type PaymentOn,
  PAYMENTS,
  sideOf,
} from "../../src/ledger/port.ts";
import type { Table, Writing } from "../../src/ledger/table.ts";
import type { BusinessCentralConfig } from "./config.ts";
import {
  BOOKS,
  type Central,
  cents,
  coded,
  dayOrNone,
  Document,
  documentRow,
  expectCode,
  externallyNumbered,
  externalNumber,
  Head,
  keptLine,
  linesOf,
  markInNumber,
  named,
  NUMBER,
  numberIn,
  POST,
  SIDES,
  TEXT,
  textOrNone,
  writtenLines,
} from "./wire.ts";

/* A document as the API tells it. */

/** What is none of these is a draft. */
const STATUSES: Readonly<Record<string, EntryStatus>> = {
  Open: "posted",
  Paid: "settled",
  Canceled: "cancelled",
  Corrective: "cancelled",
};

const Invoice = Document.extend({
  number: z.string(),
  status: named,
  date: day,
  ...members(textOrNone, "currencyCode vendorInvoiceNumber customerPurchaseOrderReference"),
  remainingAmount: decimal.optional(),
  ...members(decimal, "totalAmountExcludingTax totalTaxAmount totalAmountIncludingTax"),
});

const invoiceRow = (side: LedgerSide, { lines }: BusinessCentralConfig["dimensions"]) =>
  documentRow(side, SIDES[side].invoices, Invoice, lines).transform(
    ({ comments, taxes, ...row }) => {
      const isSale = side === "sale";
      const ours = amountOf(taxes);
      const [untaxed, tax] = [row.totalAmountExcludingTax.minus(ours), row.totalTaxAmount];
      return {
        ...row,
        mark: isSale ? markInNumber(row.externalDocumentNumber) : platformIdIn(comments.join(" ")),
        reference: isSale ? numberIn(comments, "invoice") : row.vendorInvoiceNumber,
        ...(isSale ? { order: row.customerPurchaseOrderReference } : {}),
        ...defined({ currency: row.currencyCode ?? undefined }),
        // What Business Central adds by itself is nobody's line.
        taxes:
          tax.sign === 0
            ? taxes
            : [...taxes, { code: "", text: "Tax", base: untaxed, amount: tax }],
        money: { untaxed, tax: tax.plus(ours), total: row.totalAmountIncludingTax },
      };
    },
  );
type Row = z.infer<ReturnType<typeof invoiceRow>>;

/** With what settles it. */
type DocumentRow = Awaited<ReturnType<typeof settled>>[number];

/* Credit memos: by the invoice or bill that they name, ours of a bill by its mark as well. */

const Memo = Head.extend({
  number: z.string(),
  status: named,
  ...members(textOrNone, "invoiceNumber vendorCreditMemoNumber"),
  totalAmountIncludingTax: decimal,
});
/** Of those that settle nothing, or nothing any more. */
const UNSETTLING = ["Draft", "In Review", "Released", "Canceled"];

const ENTRIES = "generalLedgerEntries";
const Posting = z.object({ documentNumber: z.string(), documentType: named });

/**
 * "Open" is what is posted, and what a person has released and not posted (of bills alone it is the former): only what is posted
 * has entries of its number in the general ledger. What has none is called `Released` here, and is a draft.
 */
async function unlessReleased<Row extends Pick<z.infer<typeof Memo>, "number" | "status">>(
  wire: Odata,
  type: "Invoice" | "Credit Memo",
  rows: readonly Row[],
  signal: AbortSignal,
): Promise<Row[]> {
  const open = rows.filter(({ status }) => status === "Open").map(({ number }) => number);
  const entries = await wire.either(ENTRIES, equals("documentNumber", open), Posting, signal);
  const posted = new Set(entries.map((one) => `${one.documentType} ${one.documentNumber}`));
  const isReleased = ({ status, number }: Row) =>
    status === "Open" && !posted.has(`${type} ${number}`);
  return rows.map((row) => (isReleased(row) ? { ...row, status: "Released" } : row));
}

/** Rows with their payments and credit memos. */
async function settled(wire: Odata, side: LedgerSide, told: readonly Row[], signal: AbortSignal) {
  const isSale = side === "sale";
  const rows = isSale ? await unlessReleased(wire, "Invoice", told, signal) : told;
  const partly = rows.filter(
    ({ status, remainingAmount: open, money }) =>
      status === "Paid" || (status === "Open" && open?.equals(money.total) !== true),
  );
  const paying = partly.map(({ id }) => begins(invoiceNumber(side, id)));
  const posted = (await entriesOf(wire, paying, signal)).filter((one) => one.status === "posted");
  const ours = isSale
    ? []
    : partly.flatMap(({ mark }) => (mark === null ? [] : externalNumber(mark)));
  const numbers = partly.map(({ number }) => number);
  const named = [equals("invoiceNumber", numbers), equals("vendorCreditMemoNumber", ours)];
  const found = await wire.set(SIDES[side].memos, { row: Memo }).search(named, signal);
  const memos = await unlessReleased(wire, "Credit Memo", found, signal);
  const settling = memos.filter(({ status }) => !UNSETTLING.includes(status));
  return rows.map((row) => {
    const isPartly = partly.includes(row);
    const own = isPartly && row.mark !== null && externalNumber(row.mark);
    // Of a bill: our credit memo of it is posted.
    const isCredited = settling.some((memo) => memo.vendorCreditMemoNumber === own);
    const credits = settling
      .filter(({ invoiceNumber }) => !isCredited && invoiceNumber === row.number)
      .map((memo) => ({
        mark: null,
        amount: memo.totalAmountIncludingTax,
        instead: `credit memo ${memo.number}`,
      }));
    const paid = posted
      .filter(({ document }) => document === invoiceNumber(side, row.id))
      .map(({ mark, amount, number: id }) => ({ mark, amount, id }));
    const payments: PaymentOn[] = [...paid, ...credits];
    const isOver = row.status === "Paid" || row.status === "Canceled";
    const left = isOver ? Decimal.zero : row.money.total.minus(amountOf(payments));
    return { ...row, payments, isCredited, open: row.remainingAmount ?? left };
  });
}

/* What is written. */

/** @throws Refused */
function accept({ taxes, number, type, party }: InvoiceDocument): void {
  expectCode(party);
  for (const { description } of taxes)
    expectFits(BOOKS, "a tax's text", description, TEXT, ["taxes.description"]);
  if (type === "in") expectFits(BOOKS, "the number", number, NUMBER, ["number", "number-too-long"]);
}

/** A sale has a field for the PO number. */
const orderOf = (document: InvoiceDocument) =>
  orderParts(document, (poNumber) => beginningOf(poNumber, NUMBER));

/** What creates one: its lines stand in the one request, so all of it is made, or nothing. */
function bodyOf(
  config: BusinessCentralConfig,
  { desired, values }: Writing<"invoice" | "bill", KeptDocument>,
): object {
  const { document } = desired;
  const { invoices: set, party } = SIDES[sideOf(document)];
  const { reference, date, due, order } = values;
  const isBill = document.type === "in";
  const besides = isBill ? orderText(document) : orderOf(document).rest;
  const shipTo = beginningOf(document.shipTo ?? "", TEXT);
  const comments = [
    isBill ? markOf(desired.mark) : `invoice ${reference}`,
    ...(besides ? [beginningOf(besides, TEXT)] : []),
  ];
  return {
    ...(isBill
      ? { vendorInvoiceNumber: reference }
      : {
          externalDocumentNumber: externalNumber(desired.mark),
          customerPurchaseOrderReference: order ?? "",
          ...(shipTo ? { shipToName: shipTo } : {}),
        }),
    [party]: desired.payer?.number ?? desired.party,
    invoiceDate: date,
    postingDate: date,
    dueDate: due,
    ...writtenLines(config, set, { ...values, comments }),
  };
}

/** What credits a bill in full: it is applied to it. */
const creditBody = (config: BusinessCentralConfig, row: DocumentRow, on: Day): object => ({
  vendorNumber: row.party,
  vendorCreditMemoNumber: externalNumber(row.mark ?? ""),
  invoiceId: row.id,
  creditMemoDate: on,
  postingDate: on,
  ...writtenLines(config, "purchaseCreditMemos", {
    lines: row.lines,
    taxes: row.taxes.filter(({ code }) => code !== ""),
  }),
});

export function documents<K extends "invoice" | "bill">(
  central: Central,
  kind: K,
): Table<K, KeptDocument, DocumentRow> {
  const { wire, config, surroundings } = central;
  const { posting, accounts, journals, dimensions, unseenPayments } = config;
  // What nobody compares is not asked for.
  const hasDimensions = Object.keys(dimensions.lines).length > 0;
  const isBill = kind === "bill";
  const side: LedgerSide = isBill ? "purchase" : "sale";
  const { invoices: set, memos } = SIDES[side];
  const called = isBill ? "vendorInvoiceNumber" : "number";
  const rows = wire.set(set, {
    row: invoiceRow(side, dimensions),
    query: { $expand: hasDimensions ? `${linesOf(set)}($expand=dimensionSetLines)` : linesOf(set) },
    date: "invoiceDate",
    open: "status eq 'Draft' or status eq 'Open'",
    complete: (all, signal) => settled(wire, side, all, signal),
  });
  /** Of drafts that this process has made, as they were then: whose version is another was touched. */
  const made = new Map<string, string>();

  return {
    can: {
      has: ["draft", "posted", "settled", "cancelled"],
      byUs:
        posting === "draft" && journals === undefined ? "draft" : journals ? "settled" : "posted",
      ...(posting === "draft" ? { posts: false as const } : {}),
      amend: { "days.due": "draft", ...(isBill ? {} : { order: "draft" }) },
      atomic: 1,
      numbered: isBill ? "per-party" : "once",
    },
    records: {
      search: ({ marks = [], ids = [], numbers = [], days = [], desired = [] }, { signal }) =>
        rows.search(
          [
            idsAre(ids),
            isBill ? [] : externallyNumbered(marks),
            // No field of an invoice has the platform's number.
            isBill || desired.length === 0 ? equals(called, numbers) : [],
            days.map((one) => `invoiceDate eq ${one}`),
          ],
          signal,
        ),
      list: rows.list,
      async create(one, { signal }) {
        const { id, etag } = await wire.create(set, bodyOf(config, one), signal);
        made.set(id, etag);
        return id;
      },
      async apply(to, { desired, entry: { native: row, status }, values }, { signal }) {
        if (to === "amended") {
          const { due: dueDate, order } = values ?? {};
          const ordered = isBill ? {} : { customerPurchaseOrderReference: order ?? "" };
          const body = { dueDate, ...ordered };
          return wire.change(set, row, body, signal);
        }
        if (to === "posted") return wire.act(set, row, POST, signal);
        if (status === "draft") return wire.remove(set, row, signal);
        if (!isBill) return wire.act(set, row, "Microsoft.NAV.cancel", signal);
        // A posted bill is credited: a credit memo that is applied to it, then its posting.
        const same = equals("vendorCreditMemoNumber", [externalNumber(row.mark ?? "")]);
        const [there] = await wire.either(memos, same, Memo, signal);
        if (there !== undefined) return wire.act(memos, there, POST, signal);
        const { endedDate, invoiceDate } = desired.document;
        return wire.create(memos, creditBody(config, row, endedDate ?? invoiceDate), signal);
      },
      ...(isBill ? {} : { changed: rows.changed }),
    },
    accept,
    write: (document: InvoiceDocument) => ({
      ...(isBill ? {} : { order: orderOf(document).field }),
      reference: isBill ? coded(document.number) : document.number,
      date: document.invoiceDate,
      // One without a due date is due at once: Business Central would take the party's terms.
      due: document.dueDate ?? document.invoiceDate,
      lines: factLines(document).map((line) =>
        keptLine(line, isBill ? accounts.expense : accounts.revenue, dimensions.lines),
      ),
      taxes: factTaxes(document).map((tax) => ({ ...tax, code: coded(tax.code) })),
    }),
    facts: documentFacts,
    read: ({ id, mark, reference, number: called, isCredited, payments, ...row }) => ({
      id,
      called,
      // What the numbers of its payments say of it.
      aliases: [invoiceNumber(side, id)],
      mark,
      number: reference,
      party: row.party,
      status: isCredited ? "cancelled" : (STATUSES[row.status] ?? "draft"),
      touched: made.get(id) === row.etag ? false : null,
      payments,
      ...(unseenPayments === "money" ? { unseen: null } : {}),
      paid: row.status === "Paid" ? surroundings.dayOf(row.lastModifiedDateTime) : null,
      version: row.etag,
      facts: { number: called, money: { ...row.money, open: row.open } },
    }),
    // A clerk may write over the external number of an invoice; a bill has none.
    dayOf: ({ invoiceDate }: InvoiceDocument) => invoiceDate,
    ...(isBill ? {} : { tell: (entry) => toldInvoice(entry, { number: entry.called ?? "" }) }),
  };
}

/*
 * PDFs. The API keeps nothing beside a file but its name, so the name ends with the platform's id; and a file is made before
 * its bytes are. Of one that is alone on its document the API tells no size: one that is there gets its bytes again.
 */

const FILES = "documentAttachments";
const File = Head.extend({ fileName: text });

/** By their names as sinks. */
export function fileTables({ wire }: Central): Record<string, FileTable> {
  const filesOn = (set: string, operation: string, parentType: string): FileTable => ({
    operation,
    nameOf: ({ number, id }) => `${number} ${id}`,
    async on({ counterpart }, signal) {
      const [booked] = await wire.either(set, idsAre([counterpart]), Version, signal);
      return booked?.id ?? null;
    },
    async find(parent, { name }, signal) {
      // By way of the document: with a condition of it, the API reads the bytes of every file of the company.
      const files = await wire.all(`${set}(${parent})/${FILES}`, {}, File, signal);
      return files
        .filter(({ fileName }) => fileName === name)
        .map(({ id, etag }) => ({ id, etag, whose: "begun", told: `attachment ${id}` }));
    },
    async add(parentId, { name: fileName, bytes: body }, begun, signal) {
      const { id, etag } =
        begun ?? (await wire.create(FILES, { fileName, parentType, parentId }, signal));
      const path = `/${FILES}(${id})/attachmentContent`;
      await wire.call(path, z.unknown(), { method: "PATCH", body, etag }, signal);
      return { id, told: `attachment ${id}` };
    },
    async names(ids, signal) {
      const files = await wire.either(FILES, idsAre(ids), File, signal);
      return new Map(files.map(({ id, fileName }) => [id, fileName]));
    },
  });
  return {
    invoiceFiles: filesOn(SIDES.sale.invoices, "invoice.attach", "Sales Invoice"),
    billFiles: filesOn(SIDES.purchase.invoices, "bill.attach", "Purchase Invoice"),
  };
}

/*
 * The platform's orders as sales and purchase orders. The API releases none and keeps no drafts apart: an order is made when
 * the platform confirms it. Business Central deletes one that is invoiced in full.
 */

const Order = Document.extend({
  number: z.string(),
  status: named.default(""),
  date: dayOrNone,
  orderNumber: textOrNone,
});

/** An order; or what was shipped or received of one that Business Central has deleted, because it is invoiced in full. */
const orderRow = (side: LedgerSide, set: string) =>
  documentRow(side, set, Order).transform(({ comments, lines, ...row }): GoodsRow => {
    const { orders: booked, state } = SIDES[side];
    const held = `${state} there, and once more by the platform's ${side === "sale" ? "invoice" : "bill"}`;
    const isGone = set !== booked;
    const isMoved = row.rows.some(({ shippedQuantity, receivedQuantity, invoicedQuantity }) =>
      [shippedQuantity, receivedQuantity, invoicedQuantity].some((one) => one?.sign === 1),
    );
    const mark =
      markInNumber(row.externalDocumentNumber, "FBO") ?? platformIdIn(comments.join("\n")) ?? [];
    return {
      side,
      id: row.id,
      number: isGone ? row.orderNumber : row.number,
      status: "posted",
      state: isGone ? state : row.status,
      marks: [mark].flat(),
      reference: numberIn(comments, "order"),
      party: row.party,
      date: row.date,
      lines: isGone ? null : lines.map((line) => goodsLine(line)),
      // The platform's invoice or bill moves its goods when it is posted: an order that people post moves them a second time.
      besides: isGone || isMoved ? [{ field: "state", expected: "confirmed", held }] : [],
    };
  });

const keptLines = ({ lines }: OrderDocument) =>
  lines.map(({ description, ...line }) => {
    const amount = cents(line.quantity.times(line.unitPrice));
    return keptLine({ ...line, account: null, amount, text: description }, "");
  });

export function orders({ wire, config }: Central): GoodsTable<"order", GoodsRow> {
  const setOf = (side: LedgerSide, is: "orders" | "moved") => {
    const set = SIDES[side][is];
    const query = { $expand: linesOf(set) };
    return wire.set(set, { row: orderRow(side, set), query, date: "orderDate" });
  };
  return {
    can: { has: ["posted"], amend: {} },
    markedIn: "its external document number, or its comment line",
    accept({ type, date, party }) {
      expectCode(party);
      // Its mark is in a comment, so it is found again among the orders of its day.
      if (type === "purchase" && date === null)
        throw new Refused({
          code: "no-date",
          message: `a purchase order needs a date in ${BOOKS}`,
          next: "Correct it where the order comes from; it is delivered by itself.",
          field: "date",
        });
    },
    kept: (document) => ({ lines: keptLines(document).map((line) => goodsLine(line)) }),
    async search({ side, marks, references, numbers, ids, days }, signal) {
      const isMarked = side === "sale" && days.length === 0;
      const external = isMarked ? externallyNumbered(marks, "FBO") : [];
      const isByReference = references.length > 0 && marks.length === 0;
      const conditions = [
        idsAre(ids),
        equals("number", numbers),
        external,
        days.map((day) => `orderDate eq ${day}`),
        // No field has the platform's number: who asks by it alone is shown all that are open.
        isByReference ? ["number ne ''"] : [],
      ];
      const booked = await setOf(side, "orders").search(conditions, signal);
      // One that is gone is known by what was shipped of it.
      const names = [equals("orderNumber", numbers), external];
      const all = [...(await setOf(side, "moved").search(names, signal)), ...booked];
      return [...new Map(all.map((row) => [row.number, row])).values()].filter(
        ({ number, reference }) =>
          number !== null && (!isByReference || references.includes(reference ?? "")),
      );
    },
    list: (side, scope, from, signal) => setOf(side, "orders").list(scope, from, signal),
    async create({ document, payer, mark, party }, { signal }) {
      const { type: side, date, number } = document;
      const { orders: set, party: partyField } = SIDES[side];
      const isSale = side === "sale";
      const comments = [`order ${number}${isSale ? "" : ` ${markOf(mark)}`}`];
      const body = {
        ...(isSale ? { externalDocumentNumber: externalNumber(mark, "FBO") } : {}),
        [partyField]: payer?.number ?? party,
        ...(date === null ? {} : { orderDate: date }),
        ...writtenLines(config, set, { lines: keptLines(document), comments }),
      };
      return (await wire.create(set, body, signal)).id;
    },
    // What is to change or to end is a person's.
    apply: async () => {},
  };
}

/*
 * What customers pay and what we pay: a line of a journal that nobody else uses, then the posting of that journal. The API
 * keeps no posted payment but its general ledger entries, under the document number that the line had. So this number is
 * made of the invoice and the payment, and the description begins with the payment's mark.
 */

/* Document numbers: 20 capitals and digits, `R` or `P`, eleven of the invoice, eight of the payment. */

const [LETTER, INVOICE, PAYMENT] = [1, 11, 8];
const LETTERS = { sale: "R", purchase: "P" } as const;

/** Base 36 of a hash: 57 bits in eleven characters, 41 in eight. */
const hashOf = (told: string, length: number): string =>
  BigInt(`0x${hash("sha256", told, "hex").slice(0, 24)}`)
    .toString(36)
    .padStart(length, "0")
    .slice(-length)
    .toUpperCase();

const invoiceNumber = (side: LedgerSide, invoice: string): string =>
  LETTERS[side] + hashOf(invoice, INVOICE);

/** `description`: its mark, and the text. */
type WrittenPayment = KeptPayment & { readonly description: string };

const Payment = z.object({
  id: text,
  postingDate: day,
  ...members(z.string(), "documentNumber description"),
});
const Line = Payment.extend({ etag: text, amount: decimal, lineNumber: decimal });
/** A line's number is that of the last one of its batch and these; of the first, these. */
const STEP = Decimal.of("10000");
const Entry = Payment.extend({
  accountNumber: z.string(),
  ...members(decimal, "debitAmount creditAmount"),
});
type Entry = z.infer<typeof Entry>;

/** @param line its line in a journal; null: it is posted */
function paymentRow(
  { documentNumber: number, postingDate: date, description }: z.infer<typeof Payment>,
  amount: Decimal,
  line: (z.infer<typeof Version> & { readonly at: Decimal }) | null,
) {
  const side: LedgerSide = number.startsWith(LETTERS.purchase) ? "purchase" : "sale";
  const status: EntryStatus =
    line === null ? (amount.sign === 0 ? "cancelled" : "posted") : "draft";
  const document = number.slice(0, LETTER + INVOICE);
  return {
    ...paymentIn(description),
    side,
    number,
    date,
    amount,
    document,
    description,
    status,
    line,
  };
}
type PaymentRow = ReturnType<typeof paymentRow>;

/**
 * Ours that are posted: of all accounts the bank's moves most, but for what it pays, which stands on the other side; discounts
 * and the VAT that a payment realises are booked with it. One that was reversed has moved nothing.
 */
async function entriesOf(wire: Odata, conditions: readonly string[], signal: AbortSignal) {
  const told = await wire.either(ENTRIES, conditions, Entry, signal);
  // Two questions may have asked for one.
  const all = new Map(told.map((one) => [one.id, one])).values();
  const each = Map.groupBy(all, ({ documentNumber }) => documentNumber).values();
  return [...each]
    .map((own) => {
      const [first] = own as [Entry];
      const byAccount = Map.groupBy(own, ({ accountNumber }) => accountNumber).values();
      const moved = [...byAccount]
        .map((its) => Decimal.sum(its.map((one) => one.debitAmount.minus(one.creditAmount))))
        .toSorted((one, other) => one.compare(other));
      const bank = moved.at(first.documentNumber.startsWith(LETTERS.sale) ? -1 : 0);
      return paymentRow(first, bank?.abs() ?? Decimal.zero, null);
    })
    .filter(({ mark }) => mark !== null);
}

const begins = (number: string): string => `startswith(documentNumber,${quoted(number)})`;
/** {@link invoiceNumber} */
const PAID = new RegExp(`^[${Object.values(LETTERS).join("")}][0-9A-Z]{${INVOICE}}$`);

export function payments({ wire, config }: Central): Table<"payment", WrittenPayment, PaymentRow> {
  const batches: Partial<Record<LedgerSide, string>> = {};
  const entries = wire.set(ENTRIES, {
    row: Entry,
    date: "postingDate",
    query: { $filter: "documentType eq 'Payment'" },
    // The page may have cut a payment's entries apart.
    complete(rows, signal) {
      const ours = rows.filter(({ description }) => paidMarkIn(description) !== null);
      const numbers = ours.map(({ documentNumber }) => documentNumber);
      return entriesOf(wire, equals("documentNumber", numbers), signal);
    },
  });

  /** The journal of a side, by its id. @throws LedgerError */
  async function journal(side: LedgerSide, signal: AbortSignal): Promise<string> {
    const code = config.journals?.[side === "sale" ? "received" : "made"] ?? "";
    const { batches: set } = SIDES[side];
    if (batches[side] === undefined) {
      const [found] = await wire.either(set, equals("code", [code]), Version, signal);
      const missing = { status: 404, code: "no-journal" };
      if (!found) throw new LedgerError("answered", `there is no batch ${code} in ${set}`, missing);
      batches[side] = found.id;
    }
    return batches[side];
  }

  const setOf = async (side: LedgerSide, signal: AbortSignal): Promise<string> =>
    `${SIDES[side].batches}(${await journal(side, signal)})/${SIDES[side].payments}`;

  /** Lines that wait in the journals. @throws LedgerError */
  async function waiting(side: LedgerSide, signal: AbortSignal): Promise<PaymentRow[]> {
    const lines = await wire.all(await setOf(side, signal), {}, Line, signal);
    return lines.map(({ etag, lineNumber: at, amount, ...line }) =>
      paymentRow(line, amount.abs(), { id: line.id, etag, at }),
    );
  }

  return {
    can: { ...PAYMENTS.can, has: ["draft", "posted", "cancelled"] },
    records: {
      /** By the payment alone: the invoice that it paid may have been booked anew. */
      async search({ ids = [], numbers = [], desired = [] }, { signal }) {
        const marks = new Set<string | null>(desired.map(({ mark }) => mark));
        // What settles it all may find that it was paid already.
        const ends = desired.flatMap(({ mark, document }) => [
          `endswith(documentNumber,${quoted(hashOf(mark, PAYMENT))})`,
          ...(isSettlement(mark)
            ? [begins(invoiceNumber(sideOf(document), document.invoice))]
            : []),
        ]);
        const sides = new Set(desired.map(({ document }) => sideOf(document)));
        const lines = await Promise.all([...sides].map((side) => waiting(side, signal)));
        const own = lines.flat().filter(({ mark }) => marks.has(mark));
        const pays = numbers.filter((one) => PAID.test(one)).map(begins);
        const names = [...ends, ...equals("documentNumber", ids), ...pays];
        const found = [...own, ...(await entriesOf(wire, names, signal))];
        return [...new Map(found.map((row) => [row.number, row])).values()];
      },
      list: entries.list,
      async create({ desired: { document, mark, on }, values }, { signal }) {
        const { side, date: postingDate, amount, description } = values;
        const documentNumber = invoiceNumber(side, document.invoice) + hashOf(mark, PAYMENT);
        const body = {
          [SIDES[side].party]: paidBy(on).party,
          postingDate,
          documentNumber,
          externalDocumentNumber: beginningOf(document.reference ?? "", NUMBER),
          // A receipt is a credit of the customer.
          amount: side === "sale" ? amount.negated() : amount,
          appliesToInvoiceId: document.invoice,
          description,
        };
        await wire.create(await setOf(side, signal), body, signal);
        return documentNumber;
      },
      async apply(to, { entry: { native } }, { signal }) {
        const { side, line } = native;
        if (line === null) return;
        if (to === "retracted") return wire.remove(await setOf(side, signal), line, signal);
        const lines = await waiting(side, signal);
        expectOurs(lines);
        try {
          return await wire.act("journals", { id: await journal(side, signal) }, POST, signal);
        } catch (error) {
          const besides = lines.filter((one) => one.line?.id !== line.id);
          if (besides.length === 0 || !(error instanceof LedgerError) || error.status !== 400)
            throw error;
          // All of a batch is refused for one line: only of a line that is alone is anything said. The last one makes way.
          if (besides.every((one) => one.line !== null && one.line.at.compare(line.at) < 0))
            await wire.remove(await setOf(side, signal), line, signal);
          const numbers = besides.map(({ number }) => number).join(", ");
          const says = `${error.message} That may be for another line of the batch: ${numbers}`;
          throw new LedgerError("answered", says, { status: 400, code: "beside" });
        }
      },
    },
    write({ id, type, date, amount, ...document }: PaymentDocument) {
      const description = beginningOf(`${payingMark(id)} ${document.description}`, TEXT);
      const { text } = paymentIn(description);
      return { side: sideOf({ type }), date, amount, description, text };
    },
    facts: paymentFacts,
    read: ({ number, mark, status, line }) => ({
      id: number,
      mark,
      status,
      // Nobody else uses the journal.
      touched: line === null ? null : false,
      version: line?.etag ?? null,
      facts: { number },
    }),
  };
}

const shared = (line: string, next: string): Refused =>
  new Refused({
    code: "journal-shared",
    message: `the payment journal of ${BOOKS} has a line of somebody else: ${line}`,
    next: `${next}, and leave the batch to fuelbridge alone; then retry.`,
  });

/** All of a batch is posted: whatever a person has put there would go with it. @throws Refused */
function expectOurs(lines: readonly PaymentRow[]): void {
  const other = lines.find(({ mark }) => mark === null);
  if (other !== undefined)
    throw shared(`${other.number} ${other.description}`.trim(), "Post or move that line by hand");
  // The API does not show a line that pays no invoice. If it was there first, our lines have higher numbers than
  // their count explains; they have them too if one of ours was removed.
  const most = STEP.times(Decimal.of(String(lines.length)));
  if (lines.some(({ line }) => line !== null && line.at.compare(most) > 0))
    throw shared(
      "one that the API does not show, before ours",
      "Post or move the lines of the batch by hand until it is empty",
    );
}
