/** Invoices and bills. QuickBooks has no drafts here: what is created is posted. */
import {
  PLAIN_ENTRY,
  type LedgerAdapter,
  type Capabilities,
  type Entry,
  type Desired,
} from "../../src/ledger/port.ts";
import type { InvoiceDocument } from "../../src/ledger/documents.ts";
import { Refused } from "../../src/core/errors.ts";
import type { FactLine, Facts } from "../../src/core/holdings.ts";
import { itemLines } from "../quickbooks/lines.ts";
import { ascii, documentNumber, REF_NUMBER_MOST } from "../quickbooks/text.ts";
import type { DesktopConfig } from "./config.ts";
import {
  desktopMemo,
  guidOf,
  heldNumber,
  heldText,
  isPaid as isPaidIn,
  linesOf,
  markedBy,
  numbered,
  ofDays,
  only,
  openOf,
  type Row,
  totalOf,
} from "./rows.ts";
import { branches, pages, WITH_LINES } from "./lists.ts";
import { type Paid, PAID_BY, paymentsBy } from "./payments.ts";
import type { Element, Request, Values } from "./qbxml.ts";
import type { Wire } from "./wire.ts";

type Kind = "invoice" | "bill";
type Asked = Pick<Wire, "read" | "write">;

const ORDER_MOST = 25;
type Written = "chargeItem" | "taxCode" | "receivableAccount" | "payableAccount" | "class";

export function invoiceAdapter<K extends Kind>(
  wire: Asked,
  config: Pick<DesktopConfig, Written>,
  currency: string,
  kind: K,
): LedgerAdapter<K, Row> {
  const query = kind === "invoice" ? "InvoiceQuery" : "BillQuery";
  const most = REF_NUMBER_MOST[kind];
  const ask = async (requests: readonly Values[], signal: AbortSignal): Promise<Row[]> => {
    const asked = requests.map((values) => ({ name: query, values: { ...values, ...WITH_LINES } }));
    if (asked.length === 0) return [];
    const replies = await wire.read(asked, signal);
    return await rowsOf(
      wire,
      kind,
      replies.flatMap(({ rets }) => rets),
      signal,
    );
  };
  const byNumber = (numbers: readonly string[]): Values[] => numbered(numbers, most);
  const entries = (rows: readonly Row[], desired: readonly Desired[] = []): Entry<Row>[] =>
    once(rows).map((row) => entryOf(currency, kind, row, desired));
  return {
    can: capabilitiesOf(kind),
    accept: (document) => {
      if (document.total.sign === 0 && document.status !== "void") throw ofNothing(kind);
      itemLines(document, config.chargeItem);
    },
    expected: async (documents) => documents.map((one) => expectedOf(config, currency, kind, one)),
    async locate(desired, { signal }) {
      const ids = desired.flatMap(({ binding }) => binding ?? []);
      const numbers = desired.map(({ number }) => number);
      const found = entries(await ask([...byNumber(numbers), ...byId(ids)], signal), desired);
      // It may have another number by now: no document is made before its day was looked through.
      const absent = desired.filter(({ mark }) => found.every((one) => one.mark !== mark));
      const marks = absent.map(({ mark }) => mark);
      const days = ofDays(absent.map(({ document }) => document.invoiceDate));
      const others = entries(await ask(days, signal), desired).filter(
        ({ id, mark }) => marks.includes(mark ?? "") && found.every((one) => one.id !== id),
      );
      return [...found, ...others];
    },
    async create([desired], { signal }) {
      if (desired === undefined) return [];
      const { rets } = await wire.write(addOf(config, kind, desired), signal);
      return [only(rets).needed("TxnID")];
    },
    async apply(to, [step], { signal }) {
      if (step === undefined) return;
      const { desired, entry } = step;
      const TxnID = entry.native.row.needed("TxnID");
      if (to === "cancelled")
        await wire.write(
          {
            name: "TxnVoid",
            values: { TxnVoidType: kind === "invoice" ? "Invoice" : "Bill", TxnID },
          },
          signal,
        );
      if (to === "amended") await wire.write(modOf(kind, desired, entry.native.row), signal);
    },
    get: async (ids, { signal }) => entries(await ask(byId(ids), signal)),
    named: async (numbers, signal) => entries(await ask(byNumber(numbers), signal)),
    async *list(scope, from, signal) {
      const lists = branches(scope).map((values) => ({
        name: query,
        values: { ...values, ...WITH_LINES },
      }));
      for await (const { rets, position } of pages(wire, lists, from, signal)) {
        const rows = await rowsOf(wire, kind, rets, signal);
        yield { entries: entries(rows), position };
      }
    },
  };
}

/** QuickBooks shows a void document as one of 0.00: it could not be told from a document that never had an amount. */
const ofNothing = (kind: Kind): Refused =>
  new Refused({
    code: "not-held",
    message: `QuickBooks cannot keep this ${kind}: it comes to 0.00, which in QuickBooks means void`,
    next: "Nothing is to be paid on it: resolve it here with a note; or correct it where it comes from, then retry.",
    field: "total",
  });

const byId = (ids: readonly string[]): Values[] => (ids.length === 0 ? [] : [{ TxnID: ids }]);

const capabilitiesOf = (kind: Kind): Capabilities => ({
  has: ["posted", "settled", "cancelled"],
  byUs: "settled",
  amend: { "days.due": "posted", ...(kind === "invoice" ? { order: "posted" } : {}) },
  atomic: 1,
  numbered: "per-party",
});

/** The record that QuickBooks would keep. */
function expectedOf(
  { chargeItem }: Pick<DesktopConfig, "chargeItem">,
  currency: string,
  kind: Kind,
  document: InvoiceDocument,
): Facts | Refused {
  try {
    const lines = itemLines(document, chargeItem).map(
      ({ item, quantity, amount, text }): FactLine => ({
        product: item,
        quantity,
        unit: null,
        unitPrice: null,
        amount,
        text: heldText(text, 4095),
      }),
    );
    return {
      days: { date: document.invoiceDate, due: document.dueDate ?? document.invoiceDate },
      money: { total: document.total },
      words: {
        side: kind === "invoice" ? "sale" : "purchase",
        currency,
        reference: ascii(document.number),
        ...(kind === "invoice" ? { order: heldText(document.description, ORDER_MOST) } : {}),
      },
      lines,
    };
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
}

function addOf(
  {
    chargeItem,
    taxCode,
    receivableAccount,
    payableAccount,
    class: className,
  }: Pick<DesktopConfig, Written>,
  kind: Kind,
  desired: Desired<Kind>,
): Request {
  const ClassRef = named(className);
  const { document, mark, number, party, payer } = desired;
  const payerRow = payer?.native as Element | undefined;
  const ListID = payerRow === undefined ? null : payerRow.text("ListID");
  const who = ListID === null ? { FullName: party } : { ListID };
  const head = {
    TxnDate: document.invoiceDate,
    DueDate: document.dueDate ?? document.invoiceDate,
    RefNumber: documentNumber(number, number, REF_NUMBER_MOST[kind]),
    Memo: desktopMemo({ number, mark, text: document.description }),
    ExternalGUID: guidOf(mark),
  };
  const lines = itemLines(document, chargeItem).map(({ item, text, quantity, rate, amount }) => ({
    ItemRef: { FullName: item },
    Desc: heldText(text, 4095),
    Quantity: quantity,
    [kind === "invoice" ? "Rate" : "Cost"]: rate,
    Amount: amount,
    ...(kind === "invoice" ? { SalesTaxCodeRef: named(taxCode) } : { ClassRef }),
  }));
  if (kind === "bill")
    return {
      name: "BillAdd",
      values: {
        BillAdd: {
          VendorRef: who,
          APAccountRef: named(payableAccount),
          ...head,
          ItemLineAdd: lines,
        },
      },
    };
  const PONumber = heldText(document.description, ORDER_MOST);
  const unsent = { IsToBePrinted: false, IsToBeEmailed: false };
  return {
    name: "InvoiceAdd",
    values: {
      InvoiceAdd: {
        CustomerRef: who,
        ClassRef,
        ARAccountRef: named(receivableAccount),
        ...head,
        PONumber,
        ...unsent,
        InvoiceLineAdd: lines,
      },
    },
  };
}

const named = (name: string | undefined): Values | null =>
  name === undefined ? null : { FullName: name };

/** Guarded by the edit sequence: a record that somebody changed meanwhile is refused (3200). */
function modOf(kind: Kind, { expected }: Desired, row: Element): Request {
  const values = {
    TxnID: row.needed("TxnID"),
    EditSequence: row.needed("EditSequence"),
    DueDate: expected.days?.due,
  };
  const { order } = expected.words ?? {};
  return kind === "bill"
    ? { name: "BillMod", values: { BillMod: values } }
    : { name: "InvoiceMod", values: { InvoiceMod: { ...values, PONumber: order } } };
}

/** Payments are told by their own memos: a link has only their ids. */
async function rowsOf(
  wire: Asked,
  kind: Kind,
  rows: readonly Element[],
  signal: AbortSignal,
): Promise<Row[]> {
  const linked = rows.flatMap((row) =>
    row
      .all("LinkedTxn")
      .flatMap((one) => (one.text("TxnType") === PAID_BY[kind].type ? one.needed("TxnID") : [])),
  );
  const payments = await paymentsBy(wire, kind, [...new Set(linked)], signal);
  const lines = await linesOf(wire, kind, rows, signal);
  return rows.map((row) => ({
    row,
    lines: lines.get(row) ?? [],
    payments: row
      .all("LinkedTxn")
      // An order or a receipt that it came of is linked by quantity, and pays nothing of it.
      .filter((one) => one.text("LinkType") !== "QUANTYPE")
      .filter((one) => !CAME_OF.has(one.text("TxnType") ?? ""))
      .flatMap((one) => settlingIn(row, one, payments)),
  }));
}

/** QuickBooks need not say how it is linked. */
const CAME_OF: ReadonlySet<string> = new Set([
  "Estimate",
  "SalesOrder",
  "PurchaseOrder",
  "ItemReceipt",
]);

/** What moves money; a link that does not say what it is counts as a payment. */
const MONEY: ReadonlySet<string | null> = new Set([
  null,
  "ReceivePayment",
  "BillPaymentCheck",
  "BillPaymentCreditCard",
  "Check",
  "CreditCardCharge",
  "Deposit",
]);

/** A discount that was granted with a payment is no money: whether its link includes it is not documented. */
function settlingIn(
  row: Element,
  link: Element,
  payments: ReadonlyMap<string, Paid>,
): Row["payments"][number][] {
  const id = link.needed("TxnID");
  const type = link.text("TxnType");
  const amount = link.amount("Amount").abs();
  const date = link.day("TxnDate") ?? "";
  if (amount.sign === 0) return [];
  if (!MONEY.has(type)) {
    const number = link.text("RefNumber") ?? id;
    const called = (type ?? "").replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
    return [{ id, mark: null, amount, date, instead: `${called} ${number}` }];
  }
  const { mark = null, applied } = payments.get(id) ?? {};
  const { money, discount } = applied?.get(row.needed("TxnID")) ?? {
    money: amount,
    discount: null,
  };
  if (discount === null || discount.sign === 0) return [{ id, mark, amount, date }];
  const paid = amount.compare(money) <= 0 ? amount : money;
  return [
    { id, mark, amount: paid, date },
    { id, mark: null, amount: discount, date, instead: `discount in payment ${id}` },
  ];
}

function entryOf(
  currency: string,
  kind: Kind,
  native: Row,
  desired: readonly Desired[],
): Entry<Row> {
  const { row, lines, payments } = native;
  const id = row.needed("TxnID");
  const { mark, number } = markedBy(
    row,
    desired.map((one) => one.mark),
  );
  const party = partyOf(row.ref(kind === "invoice" ? "CustomerRef" : "VendorRef").name, desired);
  const total = totalOf(kind, native);
  const isVoid = total.sign === 0 && lines.every(({ amount }) => amount.sign === 0);
  const isPaid = isPaidIn(kind, native);
  const lastPaid =
    payments
      .map(({ date }) => date)
      .toSorted()
      .at(-1) ?? null;
  return {
    ...PLAIN_ENTRY,
    id,
    mark,
    number,
    party,
    status: isVoid ? "cancelled" : isPaid ? "settled" : "posted",
    payments,
    facts: {
      number: id,
      party,
      days: { date: row.needed("TxnDate").slice(0, 10), due: row.day("DueDate") },
      money: { total, open: openOf(kind, native) },
      words: {
        side: kind === "invoice" ? "sale" : "purchase",
        currency,
        reference: heldNumber(row, number, REF_NUMBER_MOST[kind]),
        ...(kind === "invoice" ? { order: row.text("PONumber") } : {}),
      },
      lines: lines.map((line) => ({ ...line, unit: null, unitPrice: null })),
    },
    paid: isPaid && !isVoid ? (lastPaid ?? row.needed("TxnDate").slice(0, 10)) : null,
    version: row.text("EditSequence"),
    native,
  };
}

/** QuickBooks names without regard to case; the comparison is by letters. */
const partyOf = (name: string | null, desired: readonly Desired[]): string | null =>
  desired.find(({ party }) => party !== null && party.toLowerCase() === name?.toLowerCase())
    ?.party ?? name;

/** A row may be found by number and by id. */
function once(rows: readonly Row[]): Row[] {
  const byId = new Map(rows.map((one) => [one.row.needed("TxnID"), one]));
  return [...byId.values()];
}
