/** Payments: what customers pay (Payment), and what we pay (BillPayment). QuickBooks has one list of each. */
import { Refused } from "../../src/core/errors.ts";
import type { PaymentDocument } from "../../src/ledger/documents.ts";
import { markIn, paidMarkIn, payingMark } from "../../src/ledger/notes.ts";
import { type Desired, type Entry, type LedgerSide, PAYMENTS } from "../../src/ledger/port.ts";
import type { Table, Where } from "../../src/ledger/table.ts";
import { cut, DOC_NUMBER_MOST, MEMO_MOST, oneLine } from "../quickbooks/text.ts";
import type { QuickbooksOnlineConfig } from "./config.ts";
import { linksOf, paymentsOf } from "./documents.ts";
import { ACCOUNT, type Online } from "./online.ts";
import { having, inScope, listed } from "./queries.ts";
import {
  BOTH,
  type DocumentRow,
  isId,
  isVoided,
  partyIn,
  type PaymentRow as Row,
  SIDES,
  sideOf,
} from "./rows.ts";

interface PaymentRow extends Row {
  readonly side: LedgerSide;
}
type PaymentValues = Pick<
  PaymentRow,
  "side" | "TxnDate" | "PrivateNote" | "TotalAmt" | "Line" | "PaymentRefNum" | "DocNumber"
>;

export function paymentTable(online: Online): Table<"payment", PaymentValues, PaymentRow> {
  const { wire, config } = online;
  return {
    ...PAYMENTS,
    records: {
      async search(where, { signal }) {
        const found: PaymentRow[] = [];
        for (const side of BOTH) {
          const { fields, documents } = namesOf(side, where);
          const paid = await having(wire, SIDES[side].document, documents, signal);
          const rows = [
            ...(await paymentsOf(online, side, paid, signal)),
            ...(await having(wire, SIDES[side].payment, fields, signal)),
          ];
          for (const row of new Map(rows.map((one) => [one.Id, one])).values())
            found.push({ ...row, side });
        }
        return found;
      },
      async *list(scope, from, signal) {
        // Nothing of a payment stays open.
        const lists = BOTH.flatMap((side) =>
          inScope(SIDES[side].payment, { ...scope, open: false }),
        );
        for await (const { rows, position, entity } of listed(wire, lists, from, signal)) {
          const side = entity === SIDES.sale.payment.entity ? "sale" : "purchase";
          yield { rows: rows.map((row) => ({ ...row, side })), position };
        }
      },
      create: (all, call) =>
        Promise.all(
          all.map(async ({ desired: { on }, values: { side, ...values } }) => {
            const body = { ...values, ...(await accountsOf(online, side)), ...partyOf(on) };
            // Checks of two banks may have one number.
            const { entity } = SIDES[side].payment;
            return `${entity} ${await wire.write(entity, body, call, { twice: true })}`;
          }),
        ),
    },
    write: (document) => ({ side: sideOf(document), ...paymentBody(config, document) }),
    facts: ({ side, TxnDate, TotalAmt, PrivateNote, ...row }) => {
      const note = PrivateNote ?? "";
      const check = side === "sale" ? row.PaymentRefNum : row.DocNumber;
      return {
        days: { date: TxnDate },
        money: { amount: TotalAmt },
        words: {
          side,
          document: linksOf(row, side)[0] ?? null,
          ...(check === null ? {} : { check }),
          reference: paidMarkIn(note) === null ? note : note.slice(markIn(note).length).trim(),
        },
      };
    },
    read: (row) => {
      const { side } = row;
      const id = `${SIDES[side].payment.entity} ${row.Id}`;
      const check = side === "sale" ? row.PaymentRefNum : row.DocNumber;
      return {
        id,
        mark: paidMarkIn(row.PrivateNote),
        party: partyIn(side, row),
        status: isVoided(row) ? "cancelled" : "posted",
        version: row.SyncToken,
        facts: { number: id, words: { check } },
      };
    },
  };
}

/** On the same document, wherever it was moved to; and of the same day, whatever it is on. */
function namesOf(side: LedgerSide, { desired, ids = [], numbers = [] }: Where<"payment">) {
  const these = desired?.filter(({ document }) => sideOf(document) === side) ?? [];
  const bound = these.flatMap(({ binding }) => binding ?? []);
  const Id = [...(desired === undefined ? [...ids, ...numbers] : bound)].flatMap((id) =>
    idIn(side, id),
  );
  const paid = these.map(({ document }) => document.invoice);
  return {
    fields: { Id, TxnDate: these.map(({ document }) => document.date) },
    documents: { Id: [...paid, ...numbers].filter(isId), DocNumber: numbers },
  };
}

/** `Payment 12`: what links call it. */
const idIn = (side: LedgerSide, id: string): string[] => {
  const [entity, number = ""] = id.split(" ");
  return entity === SIDES[side].payment.entity && isId(number) ? [number] : [];
};

/** The payer's own number, where QuickBooks holds it whole: a number that is cut is another check's. */
const numberIn = (reference: string | null): string | null => {
  const number = oneLine(reference ?? "");
  return number === "" || number.length > DOC_NUMBER_MOST ? null : number;
};

/** What is posted to make it, with room for its party and accounts. Members stand in the order of Intuit's schema. */
export function paymentBody(
  { billPayments }: Pick<QuickbooksOnlineConfig, "billPayments">,
  { id, type, date, amount, invoice, reference, description }: PaymentDocument,
) {
  const number = numberIn(reference);
  const isReceived = type === "out";
  const TxnType = SIDES[sideOf({ type })].document.entity;
  return {
    // Of what we pay: the number of the check.
    DocNumber: isReceived ? null : number,
    TxnDate: date,
    PrivateNote: cut(oneLine(`${payingMark(id)} ${oneLine(description)}`), MEMO_MOST.online),
    Line: [{ Amount: amount, LinkedTxn: [{ TxnId: invoice, TxnType }] }],
    CustomerRef: null,
    VendorRef: null,
    DepositToAccountRef: null,
    PaymentRefNum: isReceived ? number : null,
    PayType: isReceived ? null : billPayments === "check" ? "Check" : "CreditCard",
    CheckPayment: null,
    CreditCardPayment: null,
    TotalAmt: amount,
  };
}

/** Where customers' payments go, what bills are paid from. @throws Refused, LedgerError */
async function accountsOf({ config, names }: Online, side: LedgerSide): Promise<object> {
  const { paymentsMade, paymentsReceived } = config.accounts;
  const code = side === "sale" ? paymentsReceived : paymentsMade;
  return code === undefined ? {} : accountIn(config, side, await names.id(ACCOUNT, code));
}

export function accountIn(
  { billPayments }: Pick<QuickbooksOnlineConfig, "billPayments">,
  side: LedgerSide,
  id: string,
): object {
  const ref = { value: id };
  if (side === "sale") return { DepositToAccountRef: ref };
  return billPayments === "check"
    ? { CheckPayment: { BankAccountRef: ref } }
    : { CreditCardPayment: { CCAccountRef: ref } };
}

/** That of the document. @throws Refused */
function partyOf(on: Desired<"payment">["on"] | undefined): object {
  const { Id, CustomerRef, VendorRef } = (on as Entry<DocumentRow>).native;
  if (CustomerRef !== null) return { CustomerRef: { value: CustomerRef.value } };
  if (VendorRef !== null) return { VendorRef: { value: VendorRef.value } };
  throw new Refused({
    code: "no-party",
    message: `document ${Id} in QuickBooks has no party`,
    next: "An accountant looks at it in QuickBooks, and enters the payment by hand.",
  });
}
