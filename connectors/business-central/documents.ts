/** Customer invoices and vendors' invoices: drafts that are posted, with the payments and credit memos that settle them. */
import { z } from "zod";
import type { Surroundings } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { Day, FactLine, FactTax } from "../../src/core/holdings.ts";
import { day, decimal, type InvoiceDocument } from "../../src/ledger/documents.ts";
import { orderParts, orderText } from "../../src/ledger/entries.ts";
import { markOf, platformIdIn } from "../../src/ledger/notes.ts";
import type { EntryStatus, LedgerSide, PaymentOn, Step, StepTo } from "../../src/ledger/port.ts";
import { type Table, toldInvoice, type Writing } from "../../src/ledger/table.ts";
import type { BusinessCentralConfig } from "./config.ts";
import { paymentsOn } from "./payments.ts";
import {
  changedIn,
  coded,
  commentBody,
  dayOrNone,
  expectKept,
  externalNumber,
  Head,
  headOf,
  inScope,
  keptLine,
  lineBody,
  lineOf,
  LineRow,
  linesIn,
  Made,
  markIn,
  named,
  notKept,
  SIDES,
  taxBody,
  textOrNone,
} from "./rows.ts";
import { equals, idsAre, type Wire } from "./wire.ts";

/** What is written of one, in neutral words; a row has it, too. */
interface Written {
  readonly number: string | null;
  readonly date: Day;
  readonly due: Day | null;
  /** The PO number, in its own field. */
  readonly order: string | null;
  /** What no field says of them: a comment. Left out: it was read. */
  readonly besides?: string | null;
  readonly shipTo?: string | null;
  readonly lines: readonly FactLine[];
  readonly taxes: readonly FactTax[];
}

/* A document as the API tells it. */

const STATUSES: Readonly<Record<string, EntryStatus>> = {
  Draft: "draft",
  "In Review": "draft",
  Open: "posted",
  Paid: "settled",
  Canceled: "cancelled",
  Corrective: "cancelled",
};

const documentRow = (side: LedgerSide) => {
  const { lines, party } = SIDES[side];
  return Head.extend({
    number: z.string(),
    invoiceDate: day,
    dueDate: dayOrNone,
    currencyCode: textOrNone,
    status: named,
    externalDocumentNumber: textOrNone,
    vendorInvoiceNumber: textOrNone,
    customerPurchaseOrderReference: textOrNone,
    remainingAmount: decimal.optional(),
    totalAmountExcludingTax: decimal,
    totalTaxAmount: decimal,
    totalAmountIncludingTax: decimal,
  })
    .and(z.object({ [party]: z.string() }))
    .and(z.object({ [lines]: z.array(LineRow) }))
    .transform((row) => {
      const { comments, taxes, ...counted } = linesIn(row[lines] as unknown as LineRow[]);
      const ours = Decimal.sum(taxes.map(({ amount }) => amount));
      const [untaxed, tax] = [row.totalAmountExcludingTax.minus(ours), row.totalTaxAmount];
      const isSale = side === "sale";
      return {
        ...row,
        etag: row["@odata.etag"],
        mark: isSale ? markIn(row.externalDocumentNumber) : platformIdIn(comments.join(" ")),
        called: row.number,
        number: isSale ? (commented(comments) ?? null) : row.vendorInvoiceNumber,
        party: row[party] ?? "",
        date: row.invoiceDate,
        due: row.dueDate,
        order: row.customerPurchaseOrderReference,
        ...counted,
        // What Business Central adds by itself is nobody's line.
        taxes: [
          ...taxes,
          ...(tax.sign === 0 ? [] : [{ code: "", text: "Tax", base: untaxed, amount: tax }]),
        ],
        untaxed,
        tax: tax.plus(ours),
        total: row.totalAmountIncludingTax,
      };
    });
};
type Row = z.infer<ReturnType<typeof documentRow>>;

/** With what settles it. */
interface DocumentRow extends Row {
  readonly payments: readonly PaymentOn[];
  /** Of a bill: our credit memo of it is posted. */
  readonly isCredited: boolean;
  readonly open: Decimal;
}

const NUMBERED = /^invoice (.+)$/;
const commented = (comments: readonly string[]): string | undefined =>
  comments.flatMap((one) => NUMBERED.exec(one)?.[1] ?? []).at(0);

/* Credit memos: a customer's by the invoice that it names, ours of a vendor by the mark of the bill. */

const Memo = Head.extend({
  number: z.string(),
  status: named,
  invoiceNumber: textOrNone,
  vendorCreditMemoNumber: textOrNone,
  totalAmountIncludingTax: decimal,
});

const MEMOS = { sale: "salesCreditMemos", purchase: "purchaseCreditMemos" } as const;

const calledOf = ({ called }: Row): string => called;

/** Rows with their payments and credit memos. */
async function settled(
  wire: Wire,
  { unseenPayments }: Pick<BusinessCentralConfig, "unseenPayments">,
  side: LedgerSide,
  rows: readonly Row[],
  signal: AbortSignal,
): Promise<DocumentRow[]> {
  const isSale = side === "sale";
  const posted = rows.filter(({ status }) => ["Open", "Paid"].includes(status));
  const partly = posted.filter(
    ({ status, remainingAmount, total }) =>
      !isSale || status === "Paid" || remainingAmount?.equals(total) === false,
  );
  const ids = partly.map(({ id }) => id);
  const paid = await paymentsOn(wire, side, ids, signal);
  const billed = posted.flatMap(({ mark }) => (mark === null ? [] : externalNumber(mark)));
  const named = isSale
    ? equals("invoiceNumber", partly.map(calledOf))
    : equals("vendorCreditMemoNumber", billed);
  const memos = await wire.either(MEMOS[side], named, Memo, signal);
  return rows.map((row) => {
    const own = memos.filter(
      ({ status, ...memo }) =>
        status !== "Draft" &&
        (isSale
          ? memo.invoiceNumber === row.called
          : row.mark !== null && memo.vendorCreditMemoNumber === externalNumber(row.mark)),
    );
    const isCredited = !isSale && own.length > 0;
    const ours = paid.get(row.id) ?? [];
    const credits = (isSale ? own : []).map(({ number, totalAmountIncludingTax: amount }) => ({
      mark: null,
      amount,
      instead: `credit memo ${number}`,
    }));
    const known = Decimal.sum([...ours, ...credits].map(({ amount }) => amount));
    const isOver = row.status === "Paid" || row.status === "Canceled";
    const open = row.remainingAmount ?? (isOver ? Decimal.zero : row.total.minus(known));
    const unseen = row.total.minus(open).minus(known);
    const isTold = unseenPayments === "money" && unseen.sign > 0 && partly.includes(row);
    const payments = [...ours, ...credits, ...(isTold ? [{ mark: null, amount: unseen }] : [])];
    return { ...row, payments, isCredited, open };
  });
}

/* What is written. */

/** Characters of a vendor's number of its invoice, and of a customer's number of an order. */
const [NUMBER_MAX, ORDER_MAX] = [35, 35];
/** Characters of a ship-to's name, and of a comment. */
const [NAME_MAX, COMMENT_MAX] = [100, 100];

/** @throws Refused */
function accept({ taxes, number, type, party }: InvoiceDocument): void {
  expectKept(party, taxes);
  if (type === "in" && number.length > NUMBER_MAX)
    throw notKept(
      "number-too-long",
      `the number has more than the ${NUMBER_MAX} characters that`,
      "number",
    );
}

/** Its PO number and ship-to in their fields, where a bill has none; and what they do not hold. */
function placed(document: InvoiceDocument, isBill: boolean) {
  if (isBill) return { order: null, besides: orderText(document), shipTo: null };
  const { field, rest } = orderParts(document, (poNumber) => poNumber.slice(0, ORDER_MAX).trim());
  const shipTo = document.shipTo?.slice(0, NAME_MAX).trim() || null;
  return { order: field, besides: rest, shipTo };
}

/** What creates one, and what brings it on. */
function writing<K extends "invoice" | "bill">(wire: Wire, config: BusinessCentralConfig, kind: K) {
  const isBill = kind === "bill";
  const { invoices: set, lines, price, party } = SIDES[isBill ? "purchase" : "sale"];
  const more = lineOf(config);

  /** Lines stand in its one request: all of it is made, or nothing. */
  const bodyOf = ({ desired, values }: Writing<K, Written>): object => ({
    ...(isBill
      ? { vendorInvoiceNumber: values.number }
      : {
          externalDocumentNumber: externalNumber(desired.mark),
          customerPurchaseOrderReference: values.order ?? "",
          ...(values.shipTo ? { shipToName: values.shipTo } : {}),
        }),
    [party]: desired.payer?.number ?? desired.party,
    invoiceDate: values.date,
    postingDate: values.date,
    ...(values.due === null ? {} : { dueDate: values.due }),
    ...headOf(config),
    [lines]: [
      ...values.lines.map((line) => lineBody(line, price, more)),
      ...values.taxes.map((tax) => taxBody(tax, price, more)),
      commentBody(isBill ? markOf(desired.mark) : `invoice ${values.number}`),
      ...(values.besides ? [commentBody(values.besides.slice(0, COMMENT_MAX).trim())] : []),
    ],
  });

  /** A posted bill is credited in full: a credit memo that is applied to it, then its posting. */
  async function credit(
    { native }: Step<K, DocumentRow>["entry"],
    on: Day,
    signal: AbortSignal,
  ): Promise<unknown> {
    const number = externalNumber(native.mark ?? "");
    const same = equals("vendorCreditMemoNumber", [number]);
    const [there] = await wire.either(MEMOS.purchase, same, Memo, signal);
    if (there !== undefined) return act(MEMOS.purchase, there.id, "post", signal);
    const body = {
      vendorNumber: native.party,
      vendorCreditMemoNumber: number,
      invoiceId: native.id,
      creditMemoDate: on,
      postingDate: on,
      purchaseCreditMemoLines: [
        ...native.lines.map((line) => lineBody(line, price, more)),
        ...native.taxes.flatMap((tax) => (tax.code === "" ? [] : taxBody(tax, price, more))),
      ],
    };
    return wire.call("/purchaseCreditMemos", Made, { body }, signal);
  }

  const act = (of: string, id: string, action: string, signal: AbortSignal): Promise<unknown> =>
    wire.call(`/${of}(${id})/Microsoft.NAV.${action}`, z.unknown(), { method: "POST" }, signal);

  async function step(
    to: StepTo,
    { desired, entry, values }: Step<K, DocumentRow> & { readonly values: Written | null },
    signal: AbortSignal,
  ): Promise<unknown> {
    const { id, etag } = entry.native;
    if (to === "amended") {
      const { due = null, order = null } = values ?? {};
      const body = {
        ...(due === null ? {} : { dueDate: due }),
        ...(isBill ? {} : { customerPurchaseOrderReference: order ?? "" }),
      };
      return wire.call(`/${set}(${id})`, Made, { method: "PATCH", body, etag }, signal);
    }
    if (entry.status === "draft" && to !== "posted")
      return wire.call(`/${set}(${id})`, z.unknown(), { method: "DELETE", etag }, signal);
    if (to === "cancelled" && isBill) {
      const { endedDate, invoiceDate } = desired.document;
      return credit(entry, endedDate ?? invoiceDate, signal);
    }
    return act(set, id, to === "posted" ? "post" : "cancel", signal);
  }

  return { bodyOf, step };
}

export function documents<K extends "invoice" | "bill">(
  wire: Wire,
  config: BusinessCentralConfig,
  { dayOf }: Pick<Surroundings, "dayOf">,
  kind: K,
): Table<K, Written, DocumentRow> {
  const { posting, accounts, journals } = config;
  const isBill = kind === "bill";
  const side: LedgerSide = isBill ? "purchase" : "sale";
  const { invoices: set, lines } = SIDES[side];
  const row = documentRow(side);
  const query = { $expand: lines };
  const { bodyOf, step } = writing(wire, config, kind);
  const complete = (rows: readonly Row[], signal: AbortSignal) =>
    settled(wire, config, side, rows, signal);
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
      async search({ marks = [], ids = [], numbers = [], days = [], desired = [] }, { signal }) {
        const own = isBill ? "vendorInvoiceNumber" : "number";
        const found = await Promise.all(
          [
            idsAre(ids),
            isBill ? [] : equals("externalDocumentNumber", marks.map(externalNumber)),
            // No field of an invoice has the platform's number.
            isBill || desired.length === 0 ? equals(own, numbers) : [],
            days.map((one) => `invoiceDate eq ${one}`),
          ].map((conditions) => wire.either(set, conditions, row, signal, query)),
        );
        const each = new Map(found.flat().map((one) => [one.id, one]));
        return complete([...each.values()], signal);
      },
      async *list(scope, from, signal) {
        const open = "status eq 'Draft' or status eq 'Open'";
        const asked = { query, row, date: "invoiceDate", open };
        for await (const page of inScope(wire, set, asked, scope, from, signal))
          yield { ...page, rows: await complete(page.rows, signal) };
      },
      async create(one, { signal }) {
        const its = await wire.call(`/${set}`, Made, { body: bodyOf(one) }, signal);
        made.set(its.id, its["@odata.etag"]);
        return its.id;
      },
      apply: (to, one, { signal }) => step(to, one, signal),
      ...(isBill ? {} : { changed: changedIn(wire, set, row, query, complete) }),
    },
    accept,
    write: (document: InvoiceDocument) => ({
      ...placed(document, isBill),
      number: isBill ? coded(document.number) : document.number,
      date: document.invoiceDate,
      due: document.dueDate,
      lines: document.lines.map(({ description: its, ...line }) =>
        keptLine({ ...line, text: its }, isBill ? accounts.expense : accounts.revenue),
      ),
      taxes: document.taxes.map(({ description: its, account, ...tax }) => ({
        ...tax,
        code: coded(account),
        text: its,
      })),
    }),
    facts: ({ number, date, due, order, lines: its, taxes }) => ({
      days: { date, due },
      words: { reference: number, ...(isBill ? {} : { order }) },
      lines: its,
      taxes,
    }),
    read: ({ id, mark, number, called, isCredited, payments, open, ...its }) => ({
      id,
      called,
      mark,
      number,
      party: its.party,
      status: isCredited ? "cancelled" : (STATUSES[its.status] ?? "draft"),
      touched: made.get(id) === its.etag ? false : null,
      payments,
      paid: its.status === "Paid" ? dayOf(its.lastModifiedDateTime) : null,
      version: its.etag,
      facts: {
        number: called,
        money: { untaxed: its.untaxed, tax: its.tax, total: its.total, open },
        words: its.currencyCode === null ? {} : { currency: its.currencyCode },
      },
    }),
    ...(isBill
      ? { dayOf: ({ invoiceDate }: InvoiceDocument) => invoiceDate }
      : { tell: (entry) => toldInvoice(entry, { number: entry.called ?? "" }) }),
  };
}
