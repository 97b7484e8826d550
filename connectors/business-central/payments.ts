/**
 * What customers pay and what we pay: a line of a journal that nobody else uses, then the posting of that journal. The API
 * keeps no posted payment but its general ledger entries, under the document number that the line had. So this number is
 * made of the invoice and the payment, and the description begins with the payment's mark.
 */
import { hash } from "node:crypto";
import { z } from "zod";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { day, decimal, members, type PaymentDocument, text } from "../../src/ledger/documents.ts";
import { type KeptPayment, paymentFacts } from "../../src/ledger/entries.ts";
import { markIn, paidBy, paidMarkIn, payingMark } from "../../src/ledger/notes.ts";
import { equals, quoted } from "../../src/ledger/odata.ts";
import {
  type LedgerSide,
  LedgerError,
  type PaymentOn,
  PAYMENTS,
  sideOf,
} from "../../src/ledger/port.ts";
import type { Table } from "../../src/ledger/table.ts";
import type { BusinessCentralConfig } from "./config.ts";
import { Head, POST, SIDES } from "./rows.ts";
import { BOOKS, type Wire } from "./wire.ts";

/* Document numbers: 20 capitals and digits, `R` or `P`, eleven of the invoice, eight of the payment. */

const [INVOICE, PAYMENT] = [11, 8];
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

interface Written extends KeptPayment {
  /** Its mark, and the text. */
  readonly description: string;
}

interface Row extends Written {
  readonly number: string;
  readonly mark: string | null;
  readonly status: "draft" | "posted" | "cancelled";
  /** Of a line that is not posted. */
  readonly line: { readonly id: string; readonly etag: string } | null;
}

const Payment = Head.extend({
  postingDate: day,
  ...members(z.string(), "documentNumber description"),
});
const Line = Payment.extend({ amount: decimal });
const Entry = Payment.omit({ "@odata.etag": true }).extend({
  accountNumber: z.string(),
  ...members(decimal, "debitAmount creditAmount"),
});
type Entry = z.infer<typeof Entry>;
const Batch = z.object(members(text, "id code"));

const rowOf = (
  { description, ...told }: Pick<Entry, "documentNumber" | "postingDate" | "description">,
  more: Pick<Row, "side" | "amount" | "status" | "line">,
): Row => ({
  ...more,
  number: told.documentNumber,
  mark: paidMarkIn(description),
  date: told.postingDate,
  description,
  text: textIn(description),
});

const textIn = (description: string): string =>
  description.slice(markIn(description).length).trim();

/** Each payment debits one account; one that was reversed has done so and undone it. */
const posted = (entries: readonly Entry[]): Row[] =>
  [...Map.groupBy(entries, ({ documentNumber }) => documentNumber).values()].map((all) => {
    const [first] = all as [Entry, ...Entry[]];
    const byAccount = Map.groupBy(all, ({ accountNumber }) => accountNumber).values();
    const debits = [...byAccount].map((its) =>
      Decimal.sum(its.map(({ debitAmount, creditAmount }) => debitAmount.minus(creditAmount))),
    );
    const amount = Decimal.sum(debits.filter(({ sign }) => sign > 0));
    return rowOf(first, {
      side: first.documentNumber.startsWith(LETTERS.purchase) ? "purchase" : "sale",
      amount,
      status: amount.sign === 0 ? "cancelled" : "posted",
      line: null,
    });
  });

const ENTRIES = "generalLedgerEntries";

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
  const counted = rows
    .filter(({ status }) => status === "posted")
    .map(({ mark, amount, number }) => ({ mark, amount, id: number }));
  return Map.groupBy(
    invoices.flatMap((invoice) =>
      counted
        .filter(({ id }) => id.startsWith(invoiceNumber(side, invoice)))
        .map((one) => ({ ...one, invoice })),
    ),
    ({ invoice }) => invoice,
  );
}

/** Characters of a description, and of the number of a check. */
const [TEXT, CHECK] = [100, 35];

export function payments(
  wire: Wire,
  journals: NonNullable<BusinessCentralConfig["journals"]>,
): Table<"payment", Written, Row> {
  const batches = new Map<LedgerSide, string>();
  const query = { $filter: "documentType eq 'Payment'" };
  const entries = wire.set(ENTRIES, { row: Entry, date: "postingDate", query });

  /** The journal of a side, by its id. @throws LedgerError */
  async function journal(side: LedgerSide, signal: AbortSignal): Promise<string> {
    const code = side === "sale" ? journals.received : journals.made;
    const { batches: set } = SIDES[side];
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
    `${SIDES[side].batches}(${await journal(side, signal)})/${SIDES[side].payments}`;

  /** Lines that wait in the journals. @throws LedgerError */
  async function waiting(side: LedgerSide, signal: AbortSignal): Promise<Row[]> {
    const rows: Row[] = [];
    for await (const page of wire.pages(await setOf(side, signal), {}, Line, signal))
      for (const { id, "@odata.etag": etag, amount, ...line } of page.rows)
        rows.push(rowOf(line, { side, amount: amount.abs(), status: "draft", line: { id, etag } }));
    return rows;
  }

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
        // The page may have cut a payment's entries apart.
        for await (const { rows, position } of entries.list(scope, from, signal)) {
          const ours = rows.filter(({ description }) => paidMarkIn(description) !== null);
          const numbers = ours.map(({ documentNumber }) => documentNumber);
          yield {
            rows: await entriesOf(wire, equals("documentNumber", numbers), signal),
            position,
          };
        }
      },
      async create({ desired: { document, mark, on }, values }, { signal }) {
        const { side, date: postingDate, amount, description } = values;
        const documentNumber = invoiceNumber(side, document.invoice) + hashOf(mark, PAYMENT);
        const body = {
          [SIDES[side].party]: paidBy(on).party,
          postingDate,
          documentNumber,
          externalDocumentNumber: (document.reference ?? "").slice(0, CHECK),
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
        // All of a batch is posted: whatever a person has put there would go with it.
        const other = (await waiting(side, signal)).find(({ mark }) => mark === null);
        if (other !== undefined) throw shared(other);
        return wire.act("journals", await journal(side, signal), POST, signal);
      },
    },
    write({ id, type, date, amount, ...document }: PaymentDocument) {
      const description = `${payingMark(id)} ${document.description}`.slice(0, TEXT).trim();
      return { side: sideOf({ type }), date, amount, description, text: textIn(description) };
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

const shared = ({ number, description }: Row): Refused =>
  new Refused({
    code: "journal-shared",
    message:
      `the payment journal of ${BOOKS} has a line of somebody else: ${number} ${description}`.trim(),
    next: "Post or move that line by hand, and leave the batch to fuelbridge alone; then retry.",
  });
