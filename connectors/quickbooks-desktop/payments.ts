/** Payments: what customers pay (`ReceivePayment`), and what we pay (`BillPaymentCheck`). */
import {
  BARE,
  type BookAdapter,
  PAYMENTS,
  type Standing,
  type Wanted,
} from "../../src/books/adapter.ts";
import type { PaymentDocument } from "../../src/books/documents.ts";
import { paymentFacts } from "../../src/books/facts.ts";
import type { DesktopConfig } from "./config.ts";
import type { Decimal } from "../../src/core/decimal.ts";
import { branches, pages } from "./pages.ts";
import { amountOf, below, dayIn, needed, type Reply, refOf, textOf } from "./read.ts";
import { desktopMemo, guidOf, heldText, markedBy, only, type Row } from "./rows.ts";
import type { Wire } from "./wire.ts";
import type { Request, Values } from "./write.ts";
import { documentNumber, REF_NUMBER_MOST, shortNumber } from "../quickbooks/numbers.ts";
import type { Element } from "./xml.ts";

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

/** Payments by their ids. @throws BookError */
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
  return new Map((reply?.rets ?? []).map((row) => [needed(row, "TxnID"), paidIn(row)] as const));
}

function paidIn(row: Element): Paid {
  const applied = below(row, "AppliedToTxnRet").map((one) => {
    const discount = amountOf(one, "DiscountAmount").abs();
    return [needed(one, "TxnID"), { money: amountOf(one, "Amount").abs(), discount }] as const;
  });
  return { mark: markedBy(row, []).mark, applied: new Map(applied) };
}

export function paymentAdapter(
  wire: Asked,
  config: Pick<DesktopConfig, "bankAccount" | "depositAccount" | "paymentMethod">,
  currency: string,
): BookAdapter<"payment", Element> {
  const ask = async (
    values: (direction: Direction) => Values | null,
    signal: AbortSignal,
    wanted: readonly Wanted[] = [],
  ): Promise<Standing<Element>[]> => {
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
      rets.map((row) => standingOf(currency, asked[at]?.direction ?? "invoice", row, wanted)),
    );
  };
  const byIds = (ids: readonly string[], signal: AbortSignal): Promise<Standing<Element>[]> =>
    ask(() => (ids.length === 0 ? null : { TxnID: ids }), signal);
  return {
    ...PAYMENTS,
    expected: async (documents) =>
      documents.map((one) => {
        const facts = paymentFacts(one, currency);
        const words = { ...facts.words, reference: heldText(one.description, TEXT_MOST) };
        return { ...facts, words };
      }),
    locate: (wanted, { signal }) =>
      ask(
        (direction) => {
          const numbers = wanted
            .filter(({ document }) => directionOf(document) === direction)
            .map(({ mark }) => shortNumber(mark));
          return numbers.length === 0 ? null : { RefNumberCaseSensitive: numbers };
        },
        signal,
        wanted,
      ),
    async create([wanted], { signal }) {
      if (wanted === undefined) return [];
      const { rets } = await wire.write(addOf(config, wanted), signal);
      return [needed(only(rets), "TxnID")];
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
        const standings = rets.map((row) => standingOf(currency, direction, row, []));
        yield { standings, position };
      }
    },
  };
}

const linkedIn = (replies: readonly Reply[]): string[] => [
  ...new Set(
    replies.flatMap(({ rets }) =>
      rets.flatMap((row) => below(row, "LinkedTxn").map((one) => needed(one, "TxnID"))),
    ),
  ),
];

/** Its number is made of its mark: QuickBooks is asked by it. What people look for is in the memo. */
function addOf(
  {
    bankAccount,
    depositAccount,
    paymentMethod,
  }: Pick<DesktopConfig, "bankAccount" | "depositAccount" | "paymentMethod">,
  { document, mark, on }: Wanted<"payment">,
): Request {
  const { number, description, amount, date, invoice } = document;
  const row = (on?.native as Row | undefined)?.row;
  const head = {
    TxnDate: date,
    RefNumber: shortNumber(mark),
    Memo: desktopMemo({ number, mark, text: description.slice(0, TEXT_MOST) }),
    ExternalGUID: guidOf(mark),
  };
  const applied = { AppliedToTxnAdd: [{ TxnID: invoice, PaymentAmount: amount }] };
  const reference = (name: string): Values => {
    const { id, name: full } = row === undefined ? { id: null, name: null } : refOf(row, name);
    return id === null ? { FullName: full } : { ListID: id };
  };
  if (document.type === "in")
    return {
      name: "BillPaymentCheckAdd",
      values: {
        BillPaymentCheckAdd: {
          PayeeEntityRef: reference("VendorRef"),
          BankAccountRef: { FullName: bankAccount },
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

function standingOf(
  currency: string,
  direction: Direction,
  row: Element,
  wanted: readonly Wanted[],
): Standing<Element> {
  const id = needed(row, "TxnID");
  const marks = wanted.map(({ mark }) => mark);
  const { mark, text } = markedBy(row, marks);
  const isSale = direction === "invoice";
  const party = refOf(row, isSale ? "CustomerRef" : "PayeeEntityRef").name;
  const amount = amountOf(row, isSale ? "TotalAmount" : "Amount");
  const [on, another] = below(row, "AppliedToTxnRet");
  return {
    ...BARE,
    id,
    mark,
    party,
    rung: amount.sign === 0 ? "cancelled" : "posted",
    facts: {
      number: id,
      party,
      days: { date: dayIn(row, "TxnDate") },
      money: { amount },
      words: {
        side: isSale ? "sale" : "purchase",
        currency,
        document: on === undefined || another !== undefined ? null : needed(on, "TxnID"),
        reference: text,
      },
    },
    version: textOf(row, "EditSequence"),
    native: row,
  };
}
