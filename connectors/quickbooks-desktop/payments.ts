/** Payments: what customers pay (`ReceivePayment`), and what we pay (`BillPaymentCheck`). */
import {
  PLAIN_ENTRY,
  type LedgerAdapter,
  PAYMENTS,
  type Entry,
  type Desired,
} from "../../src/ledger/port.ts";
import type { PaymentDocument } from "../../src/ledger/documents.ts";
import { paymentFacts } from "../../src/ledger/entries.ts";
import type { DesktopConfig } from "./config.ts";
import type { Decimal } from "../../src/core/decimal.ts";
import { branches, pages } from "./lists.ts";
import type { Element, Reply, Request, Values } from "./qbxml.ts";
import { desktopMemo, guidOf, heldText, markedBy, only, type Row } from "./rows.ts";
import type { Wire } from "./wire.ts";
import { documentNumber, REF_NUMBER_MOST } from "../quickbooks/text.ts";

type Asked = Pick<Wire, "read" | "write">;
type Direction = "invoice" | "bill";

/** What pays each, as QuickBooks calls it. */
export const PAID_BY = {
  invoice: { type: "ReceivePayment", query: "ReceivePaymentQuery", of: "InvoiceQuery" },
  bill: { type: "BillPaymentCheck", query: "BillPaymentCheckQuery", of: "BillQuery" },
} as const;
const DIRECTIONS = ["invoice", "bill"] as const;

const TEXT_MOST = 1_000;

const directionOf = ({ type }: PaymentDocument): Direction => (type === "out" ? "invoice" : "bill");

/** A payment as what it pays shows it. */
export interface Paid {
  /** Null: entered by hand. */
  readonly mark: string | null;
  /** By the TxnIDs of what it pays: money, and discounts that were granted with it. */
  readonly applied: ReadonlyMap<string, { readonly money: Decimal; readonly discount: Decimal }>;
}

const isOf =
  (direction: Direction) =>
  (one: Desired<"payment">): boolean =>
    directionOf(one.document) === direction;

/** Payments by their ids. @throws LedgerError */
export async function paymentsBy(
  wire: Asked,
  direction: Direction,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Paid>> {
  if (ids.length === 0) return new Map();
  const { query } = PAID_BY[direction];
  const values = { TxnID: ids, IncludeLineItems: true };
  const [reply] = await wire.read([{ name: query, values }], signal);
  return new Map((reply?.rets ?? []).map((row) => [row.needed("TxnID"), paidIn(row)] as const));
}

function paidIn(row: Element): Paid {
  const applied = row.all("AppliedToTxnRet").map((one) => {
    const discount = one.amount("DiscountAmount").abs();
    return [one.needed("TxnID"), { money: one.amount("Amount").abs(), discount }] as const;
  });
  return { mark: markedBy(row, []).mark, applied: new Map(applied) };
}

export function paymentAdapter(
  wire: Asked,
  config: Pick<DesktopConfig, "bankAccount" | "depositAccount" | "paymentMethod">,
  currency: string,
): LedgerAdapter<"payment", Element> {
  const ask = async (
    values: (direction: Direction) => Values | null,
    signal: AbortSignal,
    desired: readonly Desired[] = [],
  ): Promise<Entry<Element>[]> => {
    const asked = DIRECTIONS.flatMap((direction) => {
      const given = values(direction);
      if (given === null) return [];
      const name = PAID_BY[direction].query;
      return [{ direction, request: { name, values: { ...given, IncludeLineItems: true } } }];
    });
    if (asked.length === 0) return [];
    const replies = await wire.read(
      asked.map(({ request }) => request),
      signal,
    );
    return replies.flatMap(({ rets }, at) =>
      rets.map((row) => entryOf(currency, asked[at]?.direction ?? "invoice", row, desired)),
    );
  };
  const byIds = (ids: readonly string[], signal: AbortSignal): Promise<Entry<Element>[]> =>
    ask(() => (ids.length === 0 ? null : { TxnID: ids }), signal);
  return {
    ...PAYMENTS,
    expected: async (documents) =>
      documents.map((one) => {
        const facts = paymentFacts(one, currency);
        const reference = heldText(one.description, TEXT_MOST);
        const check = checkOf(one);
        return { ...facts, words: { ...facts.words, reference, ...(check ? { check } : {}) } };
      }),
    async locate(desired, { signal }) {
      const found = new Map<string, Entry<Element>>();
      const look = async (values: (direction: Direction) => Values | null): Promise<void> => {
        for (const one of await ask(values, signal, desired)) found.set(one.id ?? "", one);
      };
      const linked = await linkedTo(wire, desired, signal);
      await look((direction) => {
        const bound = desired.filter(isOf(direction)).flatMap(({ binding }) => binding ?? []);
        const TxnID = [...new Set([...bound, ...linked[direction]])];
        return TxnID.length === 0 ? null : { TxnID };
      });
      // A clerk may have moved it to another invoice, or given it another number: its day is looked through before one is made.
      const marks = new Set([...found.values()].map(({ mark }) => mark));
      const absent = desired.filter(({ mark }) => !marks.has(mark));
      for (const day of new Set(absent.map(({ document }) => document.date)))
        await look((direction) =>
          absent.filter(isOf(direction)).some(({ document }) => document.date === day)
            ? { TxnDateRangeFilter: { FromTxnDate: day, ToTxnDate: day } }
            : null,
        );
      return [...found.values()];
    },
    async create([desired], { signal }) {
      if (desired === undefined) return [];
      const { rets } = await wire.write(addOf(config, desired), signal);
      return [only(rets).needed("TxnID")];
    },
    get: (ids, { signal }) => byIds(ids, signal),
    async named(numbers, signal) {
      const replies = await wire.read(
        DIRECTIONS.map((direction) => ({
          name: PAID_BY[direction].of,
          values: {
            RefNumberCaseSensitive: numbers.map((number) =>
              documentNumber(number, number, REF_NUMBER_MOST[direction]),
            ),
            IncludeLinkedTxns: true,
          },
        })),
        signal,
      );
      return byIds(linkedIn(replies), signal);
    },
    async *list(scope, from, signal) {
      const lists = DIRECTIONS.flatMap((direction) =>
        branches({ ...scope, open: false }).map((values) => ({
          name: PAID_BY[direction].query,
          values: { ...values, IncludeLineItems: true },
        })),
      );
      for await (const { name, rets, position } of pages(wire, lists, from, signal)) {
        const direction = name === PAID_BY.bill.query ? "bill" : "invoice";
        const entries = rets.map((row) => entryOf(currency, direction, row, []));
        yield { entries, position };
      }
    },
  };
}

/** @param type what they are; left out: anything */
const linkedIn = (replies: readonly Reply[], type?: string): string[] => {
  const links = replies.flatMap(({ rets }) => rets.flatMap((row) => row.all("LinkedTxn")));
  const own = links.filter((one) => type === undefined || one.text("TxnType") === type);
  return [...new Set(own.map((one) => one.needed("TxnID")))];
};

/** Payments that are linked with the documents that these pay, in one exchange. @throws LedgerError */
async function linkedTo(
  wire: Asked,
  desired: readonly Desired<"payment">[],
  signal: AbortSignal,
): Promise<Readonly<Record<Direction, readonly string[]>>> {
  const asked = DIRECTIONS.flatMap((direction) => {
    const these = desired.filter(({ document }) => directionOf(document) === direction);
    const TxnID = [...new Set(these.map(({ document }) => document.invoice))];
    const values = { TxnID, IncludeLinkedTxns: true };
    return TxnID.length === 0
      ? []
      : [{ direction, request: { name: PAID_BY[direction].of, values } }];
  });
  const replies = await wire.read(
    asked.map(({ request }) => request),
    signal,
  );
  const of = (direction: Direction): string[] =>
    linkedIn(
      replies.filter((_, at) => asked[at]?.direction === direction),
      PAID_BY[direction].type,
    );
  return { invoice: of("invoice"), bill: of("bill") };
}

/** The payer's own number, where QuickBooks holds it whole: a number that is cut is another check's. */
const numberIn = (reference: string | null | undefined, most: number): string | null => {
  const number = heldText(reference ?? null, most + 1);
  return number === null || number.length > most ? null : number;
};

const checkOf = ({ type, reference }: PaymentDocument): string | null =>
  numberIn(reference, REF_NUMBER_MOST[type === "out" ? "receivePayment" : "billPayment"]);

/** Its number is the payer's: the check's. It is found again by what it pays, its day, and its mark in the memo. */
function addOf(
  {
    bankAccount,
    depositAccount,
    paymentMethod,
  }: Pick<DesktopConfig, "bankAccount" | "depositAccount" | "paymentMethod">,
  { document, mark, on }: Desired<"payment">,
): Request {
  const { number, description, amount, date, invoice, type } = document;
  const RefNumber = checkOf(document);
  const row = (on?.native as Row | undefined)?.row;
  const head = {
    TxnDate: date,
    RefNumber,
    Memo: desktopMemo({ number, mark, text: description.slice(0, TEXT_MOST) }),
    ExternalGUID: guidOf(mark),
  };
  const applied = { AppliedToTxnAdd: [{ TxnID: invoice, PaymentAmount: amount }] };
  const reference = (name: string): Values => {
    const { id, name: full } = row === undefined ? { id: null, name: null } : row.ref(name);
    return id === null ? { FullName: full } : { ListID: id };
  };
  // Both sides of what is owed are on one account.
  const owed = (name: string): Values | null =>
    row === undefined || row.ref(name).id === null ? null : reference(name);
  if (type === "in")
    return {
      name: "BillPaymentCheckAdd",
      values: {
        BillPaymentCheckAdd: {
          PayeeEntityRef: reference("VendorRef"),
          APAccountRef: owed("APAccountRef"),
          BankAccountRef: { FullName: bankAccount },
          IsToBePrinted: RefNumber === null ? false : null,
          ...head,
          ...applied,
        },
      },
    };
  return {
    name: "ReceivePaymentAdd",
    values: {
      ReceivePaymentAdd: {
        CustomerRef: reference("CustomerRef"),
        ARAccountRef: owed("ARAccountRef"),
        ...head,
        TotalAmount: amount,
        PaymentMethodRef: named(paymentMethod),
        DepositToAccountRef: named(depositAccount),
        ...applied,
      },
    },
  };
}

const named = (name: string | undefined): Values | null =>
  name === undefined ? null : { FullName: name };

function entryOf(
  currency: string,
  direction: Direction,
  row: Element,
  desired: readonly Desired[],
): Entry<Element> {
  const id = row.needed("TxnID");
  const marks = desired.map(({ mark }) => mark);
  const { mark, text } = markedBy(row, marks);
  const isSale = direction === "invoice";
  const party = row.ref(isSale ? "CustomerRef" : "PayeeEntityRef").name;
  const amount = row.amount(isSale ? "TotalAmount" : "Amount");
  const [on, another] = row.all("AppliedToTxnRet");
  return {
    ...PLAIN_ENTRY,
    id,
    mark,
    party,
    status: amount.sign === 0 ? "cancelled" : "posted",
    facts: {
      number: id,
      party,
      days: { date: row.needed("TxnDate").slice(0, 10) },
      money: { amount },
      words: {
        side: isSale ? "sale" : "purchase",
        currency,
        document: on === undefined || another !== undefined ? null : on.needed("TxnID"),
        check: row.text("RefNumber"),
        reference: text,
      },
    },
    version: row.text("EditSequence"),
    native: row,
  };
}
