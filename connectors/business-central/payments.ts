/**
 * What customers pay and what we pay: a line of a journal that nobody else uses, then the posting of that journal. The API
 * keeps no posted payment but its general ledger entries, under the document number that the line had. So this number is
 * made of the invoice and the payment, and the description begins with the payment's mark.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Day } from "../../src/core/holdings.ts";
import { day, decimal, type PaymentDocument, text } from "../../src/ledger/documents.ts";
import { markIn, paidBy, paidMarkIn, payingMark } from "../../src/ledger/notes.ts";
import {
  type LedgerSide,
  LedgerError,
  type PaymentOn,
  PAYMENTS,
  sideOf,
} from "../../src/ledger/port.ts";
import type { Table } from "../../src/ledger/table.ts";
import type { BusinessCentralConfig } from "./config.ts";
import { Head, inScope, Made } from "./rows.ts";
import { BOOKS, equals, quoted, type Wire } from "./wire.ts";

const JOURNALS = {
  sale: { batches: "customerPaymentJournals", lines: "customerPayments", letter: "R" },
  purchase: { batches: "vendorPaymentJournals", lines: "vendorPayments", letter: "P" },
} as const;

/* Document numbers: 20 capitals and digits, `R` or `P`, eleven of the invoice, eight of the payment. */

const [INVOICE, PAYMENT] = [11, 8];

/** Base 36 of a hash: 57 bits in eleven characters, 41 in eight. */
const hashOf = (told: string, length: number): string =>
  BigInt(`0x${createHash("sha256").update(told).digest("hex").slice(0, 24)}`)
    .toString(36)
    .padStart(length, "0")
    .slice(-length)
    .toUpperCase();

const invoiceNumber = (side: LedgerSide, invoice: string): string =>
  JOURNALS[side].letter + hashOf(invoice, INVOICE);
const paymentNumber = (side: LedgerSide, invoice: string, mark: string): string =>
  invoiceNumber(side, invoice) + hashOf(mark, PAYMENT);

interface Written {
  readonly side: LedgerSide;
  readonly date: Day;
  readonly amount: Decimal;
  readonly description: string;
}

interface Row extends Written {
  readonly number: string;
  readonly mark: string | null;
  readonly status: "draft" | "posted" | "cancelled";
  /** Of a line that is not posted. */
  readonly line: { readonly id: string; readonly etag: string } | null;
}

const Entry = Head.omit({ "@odata.etag": true }).extend({
  postingDate: day,
  documentNumber: z.string(),
  accountNumber: z.string(),
  description: z.string(),
  debitAmount: decimal,
  creditAmount: decimal,
});
type Entry = z.infer<typeof Entry>;

const Line = Head.extend({
  postingDate: day,
  documentNumber: z.string(),
  description: z.string(),
  amount: decimal,
});
const Batch = z.object({ id: text, code: text });

const ENTRIES = "generalLedgerEntries";

/** Each payment debits one account; one that was reversed has done so and undone it. */
function posted(entries: readonly Entry[]): Row[] {
  return [...Map.groupBy(entries, ({ documentNumber }) => documentNumber)].map(([number, all]) => {
    const [first] = all as [Entry, ...Entry[]];
    const byAccount = Map.groupBy(all, ({ accountNumber }) => accountNumber).values();
    const debits = [...byAccount].map((its) =>
      Decimal.sum(its.map(({ debitAmount, creditAmount }) => debitAmount.minus(creditAmount))),
    );
    const amount = Decimal.sum(debits.filter(({ sign }) => sign > 0));
    return {
      side: number.startsWith("P") ? "purchase" : "sale",
      number,
      mark: paidMarkIn(first.description),
      date: first.postingDate,
      amount,
      description: first.description,
      status: amount.sign === 0 ? "cancelled" : "posted",
      line: null,
    };
  });
}

const entriesOf = async (wire: Wire, conditions: readonly string[], signal: AbortSignal) =>
  posted(await wire.either(ENTRIES, conditions, Entry, signal)).filter(({ mark }) => mark !== null);

/** Our payments of these documents, by what links call these. */
export async function paymentsOn(
  wire: Wire,
  side: LedgerSide,
  invoices: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly PaymentOn[]>> {
  const begins = (id: string) => `startswith(documentNumber,${quoted(invoiceNumber(side, id))})`;
  const rows = await entriesOf(wire, invoices.map(begins), signal);
  const counted = rows.filter(({ status }) => status === "posted");
  return new Map(
    invoices.map((id) => [
      id,
      counted
        .filter(({ number }) => number.startsWith(invoiceNumber(side, id)))
        .map(({ mark, amount, number }) => ({ mark, amount, id: number })),
    ]),
  );
}

/** Characters of a description, and of the number of a check. */
const [TEXT, CHECK] = [100, 35];

/** The journals of both sides. Every method @throws LedgerError */
function journalsOf(wire: Wire, journals: NonNullable<BusinessCentralConfig["journals"]>) {
  const batches = new Map<LedgerSide, string>();

  /** The journal of a side, by its id. */
  async function journal(side: LedgerSide, signal: AbortSignal): Promise<string> {
    const code = side === "sale" ? journals.received : journals.made;
    const { batches: set } = JOURNALS[side];
    const known = batches.get(side);
    if (known !== undefined) return known;
    const [found] = await wire.either(set, equals("code", [code]), Batch, signal);
    if (found === undefined)
      throw new LedgerError("answered", `there is no batch ${code} among ${set}`, {
        status: 404,
        code: "no-journal",
      });
    batches.set(side, found.id);
    return found.id;
  }

  const setOf = async (side: LedgerSide, signal: AbortSignal): Promise<string> =>
    `${JOURNALS[side].batches}(${await journal(side, signal)})/${JOURNALS[side].lines}`;

  /** Lines that wait in the journals. */
  async function waiting(side: LedgerSide, signal: AbortSignal): Promise<Row[]> {
    const rows: Row[] = [];
    for await (const page of wire.pages(await setOf(side, signal), {}, Line, signal))
      rows.push(
        ...page.rows.map(({ documentNumber: number, postingDate: date, description, ...row }) => ({
          side,
          number,
          mark: paidMarkIn(description),
          date,
          amount: row.amount.abs(),
          description,
          status: "draft" as const,
          line: { id: row.id, etag: row["@odata.etag"] },
        })),
      );
    return rows;
  }

  return { journal, setOf, waiting };
}

export function payments(
  wire: Wire,
  journals: NonNullable<BusinessCentralConfig["journals"]>,
): Table<"payment", Written, Row> {
  const { journal, setOf, waiting } = journalsOf(wire, journals);
  return {
    can: { ...PAYMENTS.can, has: ["draft", "posted", "cancelled"] },
    records: {
      /** By the payment alone: the invoice that it paid may have been booked anew. */
      async search({ ids = [], desired = [] }, { signal }) {
        const marks = new Set<string | null>(desired.map(({ mark }) => mark));
        const ends = [...marks].map(
          (mark) => `endswith(documentNumber,${quoted(hashOf(mark ?? "", PAYMENT))})`,
        );
        const sides = new Set(desired.map(({ document }) => sideOf(document)));
        const lines = await Promise.all([...sides].map((side) => waiting(side, signal)));
        const own = [...lines.flat(), ...(await entriesOf(wire, ends, signal))];
        const named = await entriesOf(wire, equals("documentNumber", ids), signal);
        const found = [...own.filter(({ mark }) => marks.has(mark)), ...named];
        return [...new Map(found.map((row) => [row.number, row])).values()];
      },
      async *list(scope, from, signal) {
        const query = { $filter: "documentType eq 'Payment'" };
        const asked = { row: Entry, date: "postingDate", query };
        // The page may have cut a payment's entries apart.
        for await (const page of inScope(wire, ENTRIES, asked, scope, from, signal)) {
          const ours = page.rows.filter(({ description }) => paidMarkIn(description) !== null);
          const numbers = ours.map(({ documentNumber }) => documentNumber);
          const rows = await entriesOf(wire, equals("documentNumber", numbers), signal);
          yield { rows, position: page.position };
        }
      },
      async create({ desired: { document, mark, on }, values }, { signal }) {
        const { side, date: postingDate, amount, description } = values;
        const documentNumber = paymentNumber(side, document.invoice, mark);
        const body = {
          [side === "sale" ? "customerNumber" : "vendorNumber"]: paidBy(on).party,
          postingDate,
          documentNumber,
          externalDocumentNumber: (document.reference ?? "").slice(0, CHECK),
          // A receipt is a credit of the customer.
          amount: side === "sale" ? amount.negated() : amount,
          appliesToInvoiceId: document.invoice,
          description,
        };
        await wire.call(`/${await setOf(side, signal)}`, Made, { body }, signal);
        return documentNumber;
      },
      async apply(to, { entry }, { signal }) {
        const { side, line } = entry.native;
        if (line === null) return;
        if (to === "retracted") {
          const { id, etag } = line;
          const path = `/${await setOf(side, signal)}(${id})`;
          await wire.call(path, z.unknown(), { method: "DELETE", etag }, signal);
          return;
        }
        // All of a batch is posted: whatever a person has put there would go with it.
        const other = (await waiting(side, signal)).find(({ mark }) => mark === null);
        if (other !== undefined) throw shared(other);
        const path = `/journals(${await journal(side, signal)})/Microsoft.NAV.post`;
        await wire.call(path, z.unknown(), { method: "POST" }, signal);
      },
    },
    write: ({ id, type, date, amount, description }: PaymentDocument) => ({
      side: sideOf({ type }),
      date,
      amount,
      description: `${payingMark(id)} ${description}`.slice(0, TEXT).trim(),
    }),
    facts: ({ side, date, amount, description }) => ({
      days: { date },
      money: { amount },
      words: { side, reference: description.slice(markIn(description).length).trim() },
    }),
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

const shared = ({ number, description }: Row): Refused =>
  new Refused({
    code: "journal-shared",
    message:
      `the payment journal of ${BOOKS} has a line of somebody else: ${number} ${description}`.trim(),
    next: "Post or move that line by hand, and leave the batch to fuelbridge alone; then retry.",
  });
