/** Payments: what customers pay (Payment), and what we pay (BillPayment). QuickBooks has one list of each. */
import {
  type Desired,
  type Entry,
  type LedgerAdapter,
  PAYMENTS,
  PLAIN_ENTRY,
} from "../../src/ledger/port.ts";
import type { PaymentDocument } from "../../src/ledger/documents.ts";
import { paymentFacts } from "../../src/ledger/entries.ts";
import { markIn, paidMarkIn, payingMark } from "../../src/ledger/notes.ts";
import { Refused } from "../../src/core/errors.ts";
import { cut, DOC_NUMBER_MOST, MEMO_MOST, oneLine } from "../quickbooks/text.ts";
import { ACCOUNT, type Online } from "./online.ts";
import type { QuickbooksOnlineConfig } from "./config.ts";
import { ENTITY, isVoided, linksOf, partyCode, paymentsOf } from "./documents.ts";
import { conditionsOf, DocumentRow, having, isId, listed, PaymentRow } from "./rows.ts";

type Side = "in" | "out";
const ENTITIES = { out: "Payment", in: "BillPayment" } as const;
const PAID = { out: "invoice", in: "bill" } as const;
const SIDES = ["out", "in"] as const;

export function paymentAdapter(online: Online): LedgerAdapter<"payment", PaymentRow> {
  const { wire, surroundings } = online;
  const { currency } = surroundings;
  const told = (side: Side, rows: readonly PaymentRow[]): Entry<PaymentRow>[] =>
    rows.map((row) => entryOf(side, currency, row));
  const rowsOf = (
    side: Side,
    fields: Readonly<Record<string, readonly string[]>>,
    signal: AbortSignal,
  ) => having(wire, ENTITIES[side], PaymentRow, fields, signal);

  /** On the same document, wherever it was moved to; and of the same day, whatever it is on. */
  async function near(side: Side, desired: readonly Desired<"payment">[], signal: AbortSignal) {
    const kind = PAID[side];
    const Id = desired.map(({ document }) => document.invoice).filter(isId);
    const documents = await having(wire, ENTITY[kind], DocumentRow, { Id }, signal);
    const rows = [
      ...(await paymentsOf(online, kind, documents, signal)),
      ...(await rowsOf(
        side,
        {
          Id: desired.flatMap(({ binding }) => (binding === null ? [] : idIn(side, binding))),
          TxnDate: desired.map(({ document }) => document.date),
        },
        signal,
      )),
    ];
    return told(side, [...new Map(rows.map((row) => [row.Id, row])).values()]);
  }

  return {
    ...PAYMENTS,
    expected: async (documents) =>
      documents.map((one) => {
        const facts = paymentFacts({ ...one, description: textOf(one) }, currency);
        const check = numberIn(one.reference);
        return check === null ? facts : { ...facts, words: { ...facts.words, check } };
      }),
    async locate(desired, { signal }) {
      const found: Entry<PaymentRow>[] = [];
      for (const side of SIDES) {
        const these = desired.filter(({ document }) => document.type === side);
        if (these.length > 0) found.push(...(await near(side, these, signal)));
      }
      return found;
    },
    create: (desired, call) =>
      Promise.all(
        desired.map(async ({ document, on }) => {
          const side = document.type;
          const id = await wire.write(
            ENTITIES[side],
            paymentBody(online.config, await payingOf(online, on), document),
            call,
            // Checks of two banks may have one number.
            { twice: true },
          );
          return `${ENTITIES[side]} ${id}`;
        }),
      ),
    async get(ids, { signal }) {
      const found: Entry<PaymentRow>[] = [];
      for (const side of SIDES) {
        const Id = ids.flatMap((id) => idIn(side, id));
        found.push(...told(side, await rowsOf(side, { Id }, signal)));
      }
      return found;
    },
    async named(numbers, signal) {
      const found: Entry<PaymentRow>[] = [];
      for (const side of SIDES) {
        const fields = { Id: numbers.filter(isId), DocNumber: numbers };
        const kind = PAID[side];
        const documents = await having(wire, ENTITY[kind], DocumentRow, fields, signal);
        found.push(...told(side, await paymentsOf(online, kind, documents, signal)));
        const Id = numbers.flatMap((number) => idIn(side, number));
        found.push(...told(side, await rowsOf(side, { Id }, signal)));
      }
      return found;
    },
    async *list(scope, from, signal) {
      const [, at = "0", rest = ""] = /^([01]) (.*)$/.exec(from ?? "") ?? [];
      // Nothing of a payment stays open.
      const conditions = conditionsOf({ ...scope, open: false });
      for (const [index, side] of SIDES.entries()) {
        if (index < Number(at)) continue;
        const of = { entity: ENTITIES[side], schema: PaymentRow };
        const start = index === Number(at) && rest !== "" ? rest : null;
        for await (const { rows, position } of listed(wire, of, conditions, start, signal))
          yield { entries: told(side, rows), position: `${index} ${position}` };
      }
    },
  };
}

/** `Payment 12`: what links call it. */
const idIn = (side: Side, id: string): string[] => {
  const [entity, number = ""] = id.split(" ");
  return entity === ENTITIES[side] && isId(number) ? [number] : [];
};

/** What of its text QuickBooks keeps behind the mark. */
const textOf = ({ id, description }: PaymentDocument): string => {
  const mark = payingMark(id);
  return cut(oneLine(`${mark} ${description}`), MEMO_MOST.online)
    .slice(mark.length)
    .trim();
};

/** The payer's own number, where QuickBooks holds it whole: a number that is cut is another check's. */
const numberIn = (reference: string | null): string | null => {
  const number = oneLine(reference ?? "");
  return number === "" || number.length > DOC_NUMBER_MOST ? null : number;
};

export interface Paying {
  /** Ids. */
  readonly party: string;
  readonly document: string;
  /** Where customers' payments go, what bills are paid from; null: QuickBooks' own. */
  readonly account: string | null;
}

/** What is posted to make it. Members stand in the order of Intuit's schema. */
export function paymentBody(
  { billPayments }: Pick<QuickbooksOnlineConfig, "billPayments">,
  { party, document, account }: Paying,
  payment: PaymentDocument,
): object {
  const { date, amount, type } = payment;
  const number = numberIn(payment.reference);
  const TxnType = type === "out" ? "Invoice" : "Bill";
  const common = {
    // Of what we pay: the number of the check.
    ...(type === "in" && number !== null ? { DocNumber: number } : {}),
    TxnDate: date,
    PrivateNote: `${payingMark(payment.id)} ${textOf(payment)}`.trim(),
    Line: [{ Amount: amount, LinkedTxn: [{ TxnId: document, TxnType }] }],
  };
  if (type === "out")
    return {
      ...common,
      CustomerRef: { value: party },
      ...(account === null ? {} : { DepositToAccountRef: { value: account } }),
      ...(number === null ? {} : { PaymentRefNum: number }),
      TotalAmt: amount,
    };
  const isCheck = billPayments === "check";
  return {
    ...common,
    VendorRef: { value: party },
    PayType: isCheck ? "Check" : "CreditCard",
    ...(isCheck
      ? { CheckPayment: { BankAccountRef: { value: account } } }
      : { CreditCardPayment: { CCAccountRef: { value: account } } }),
    TotalAmt: amount,
  };
}

/** @throws Refused, LedgerError */
async function payingOf({ config, names }: Online, on: Entry | undefined): Promise<Paying> {
  const row = on?.native as DocumentRow;
  const party = row.CustomerRef ?? row.VendorRef;
  if (party === null)
    throw new Refused({
      code: "no-party",
      message: `document ${row.Id} in QuickBooks has no party`,
      next: "An accountant looks at it in QuickBooks, and enters the payment by hand.",
    });
  const { paymentsMade, paymentsReceived } = config.accounts;
  const account = row.CustomerRef === null ? paymentsMade : paymentsReceived;
  return {
    party: party.value,
    document: row.Id,
    account: account === undefined ? null : await names.id(ACCOUNT, account),
  };
}

function entryOf(side: Side, currency: string, row: PaymentRow): Entry<PaymentRow> {
  const mark = paidMarkIn(row.PrivateNote);
  const note = row.PrivateNote ?? "";
  const id = `${ENTITIES[side]} ${row.Id}`;
  const ref = side === "out" ? row.CustomerRef : row.VendorRef;
  const party = ref === null ? null : partyCode(PAID[side], ref.value);
  return {
    ...PLAIN_ENTRY,
    id,
    mark,
    party,
    status: isVoided(row) ? "cancelled" : "posted",
    facts: {
      number: id,
      party,
      days: { date: row.TxnDate },
      money: { amount: row.TotalAmt },
      words: {
        side: side === "out" ? "sale" : "purchase",
        currency,
        document: linksOf(row, PAID[side])[0] ?? null,
        check: side === "out" ? row.PaymentRefNum : row.DocNumber,
        reference: mark === null ? note : note.slice(markIn(note).length).trim(),
      },
    },
    version: row.SyncToken,
    native: row,
  };
}
