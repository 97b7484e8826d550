/** Payments: what customers pay (Payment), and what we pay (BillPayment). */
import { Refused } from "../../src/core/errors.ts";
import type { PaymentDocument } from "../../src/ledger/documents.ts";
import { markIn, paidMarkIn, payingMark } from "../../src/ledger/notes.ts";
import type { LedgerSide } from "../../src/ledger/port.ts";
import {
  type DocumentRow,
  type PaymentRow,
  paymentTable,
  SIDES as BOTH,
  sideOf,
} from "../quickbooks/documents.ts";
import type { Element } from "../quickbooks/element.ts";
import { cut, DOC_NUMBER_MOST, MEMO_MOST, oneLine } from "../quickbooks/text.ts";
import type { QuickbooksOnlineConfig } from "./config.ts";
import { linksOf, paymentsOf } from "./documents.ts";
import { ACCOUNT, type Online } from "./online.ts";
import { having, inScope, listed } from "./queries.ts";
import { identityOf, isId, isVoided, partyIn, SIDES } from "./rows.ts";

export function onlinePayments(online: Online) {
  const { wire, config } = online;
  return paymentTable({
    write: (document) => ({
      text: textIn(paymentBody(config, document).PrivateNote),
      check: numberIn(document.reference),
    }),
    async find(side, { ids, numbers, documents, days }, signal) {
      const { document, payment } = SIDES[side];
      const named = { Id: [...documents, ...numbers].filter(isId), DocNumber: numbers };
      const paid = await having(wire, document, named, signal);
      const Id = [...ids, ...numbers].flatMap((id) => idIn(side, id));
      const rows = [
        ...(await paymentsOf(online, side, paid, signal)),
        ...(await having(wire, payment, { Id, TxnDate: days }, signal)),
      ];
      return [...new Map(rows.map((row) => [row.needed("Id"), row])).values()].map((row) =>
        paymentRow(side, row),
      );
    },
    async *list(scope, from, signal) {
      const lists = BOTH.flatMap((side) => inScope(SIDES[side].payment, scope));
      for await (const { rows, position, entity } of listed(wire, lists, from, signal)) {
        const side = entity === SIDES.sale.payment ? "sale" : "purchase";
        yield { rows: rows.map((row) => paymentRow(side, row)), position };
      }
    },
    async create(document, on, call) {
      const side = sideOf(document);
      const { payment, partyRef } = SIDES[side];
      const body = {
        ...paymentBody(config, document),
        ...(await accountsOf(online, side)),
        [partyRef]: { value: partyIdOf(on) },
      };
      // Checks of two banks may have one number.
      return `${payment} ${await wire.write(payment, body, call, { twice: true })}`;
    },
  });
}

function paymentRow(side: LedgerSide, row: Element): PaymentRow {
  const { id, version } = identityOf(row);
  const note = row.text("PrivateNote") ?? "";
  const mark = paidMarkIn(note);
  return {
    side,
    date: row.needed("TxnDate").slice(0, 10),
    amount: row.amount("TotalAmt"),
    document: linksOf(row, side)[0] ?? null,
    text: textIn(note),
    check: row.text(side === "sale" ? "PaymentRefNum" : "DocNumber"),
    id: `${SIDES[side].payment} ${id}`,
    version,
    party: partyIn(side, row).party,
    isVoid: isVoided(row),
    markIn: () => mark,
  };
}

/** Of its note what follows our mark. */
const textIn = (note: string): string =>
  paidMarkIn(note) === null ? note : note.slice(markIn(note).length).trim();

/** `Payment 12`: what links call it. */
const idIn = (side: LedgerSide, id: string): string[] => {
  const [entity, number = ""] = id.split(" ");
  return entity === SIDES[side].payment && isId(number) ? [number] : [];
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
  const TxnType = SIDES[sideOf({ type })].document;
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

/** QuickBooks' id of the party of what is paid. @throws Refused */
function partyIdOf({ id, partyId }: DocumentRow): string {
  if (partyId !== null) return partyId;
  throw new Refused({
    code: "no-party",
    message: `document ${id} in QuickBooks has no party`,
    next: "An accountant looks at it in QuickBooks, and enters the payment by hand.",
  });
}
