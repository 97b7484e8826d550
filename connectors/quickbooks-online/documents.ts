/**
 * Invoices and bills in QuickBooks Online: what is written of one, in QuickBooks' own members, and what a record says.
 * Orders have the same lines, parties and notes.
 */
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { FactLine } from "../../src/core/holdings.ts";
import { spellingsOf, writingsOf } from "../../src/core/keys.ts";
import type { Fault } from "../../src/core/record.ts";
import { amountText, inCents } from "../../src/core/text.ts";
import type { InvoiceDocument, PaymentDocument } from "../../src/ledger/documents.ts";
import {
  orderText,
  orRefused,
  paidMarkIn,
  payingMark,
  paymentIn,
} from "../../src/ledger/entries.ts";
import {
  type Call,
  type Entry,
  LedgerError,
  type LedgerSide,
  type PaymentOn,
  sideOf,
  SIDES as BOTH,
} from "../../src/ledger/port.ts";
import {
  type DocumentBooks,
  type DocumentKind,
  type DocumentRow,
  itemLines,
  type PaymentBooks,
  type PaymentRow,
} from "../quickbooks/documents.ts";
import { type Element, elementOf } from "../quickbooks/element.ts";
import {
  cut,
  DOC_NUMBER_MOST,
  documentNumber,
  MEMO_MOST,
  memoIn,
  memoOf,
  numberHeld,
  oneLine,
  whole,
} from "../quickbooks/text.ts";
import type { QuickbooksOnlineConfig } from "./config.ts";
import {
  ACCOUNT,
  CLASS,
  expectFit,
  having,
  inScope,
  ITEM,
  listed,
  LOCATION,
  type NameKind,
  type Names,
  type Online,
  partyIdOf,
  partyList,
  quoted,
} from "./online.ts";
import { type Entity, identityOf, isId, isVoided, noteIn, partyIn, SIDES } from "./wire.ts";

/*
 * Lines of documents as QuickBooks tells them (Intuit's schema: `Line`, `LineDetailTypeEnum`). An amount counts once: a
 * subtotal repeats the lines above it, a text has none, a bundle is the lines inside it, a discount is taken off.
 */

const DISCOUNT = "DiscountLineDetail";
const ACCOUNT_LINE = "AccountBasedExpenseLineDetail";
const NO_AMOUNT: readonly string[] = ["SubTotalLineDetail", "DescriptionOnly"];
const ITEM_LINES = ["SalesItemLineDetail", "ReimburseLineDetail", "ItemBasedExpenseLineDetail"];
const AMOUNT: readonly string[] = [...ITEM_LINES, ACCOUNT_LINE, DISCOUNT];

/** The schema lets a line leave out what it is: then its detail says it. */
const kindOf = (line: Element): string =>
  line.text("DetailType") ?? AMOUNT.find((kind) => line.child(kind) !== null) ?? "(none)";

const isAmount = (line: Element): boolean => AMOUNT.includes(kindOf(line));

/** Those that count, with what no kind is known of: whoever compares sees it. */
const amountsIn = (line: Element): readonly Element[] =>
  (line.child("GroupLineDetail")?.all("Line") ?? [line]).filter(
    (one) => isAmount(one) || (!NO_AMOUNT.includes(kindOf(one)) && one.amount("Amount").sign !== 0),
  );

/** Why lines cannot be told; null: they can. Whether they come to the total is for whoever takes them. */
function unknownLine(row: Element): Fault | null {
  for (const [at, line] of row.all("Line").entries()) {
    const odd = amountsIn(line).find((one) => !isAmount(one));
    if (odd === undefined) continue;
    return {
      code: "unknown-line",
      message: `line ${at + 1} (${kindOf(odd)}, ${amountText(odd.amount("Amount"))}) is of a kind that fuelbridge does not know: it may be an amount or not`,
      next: "An accountant replaces it in QuickBooks by a line of an item; or enters the invoice on the platform by hand and closes it here.",
      field: "Line",
    };
  }
  return null;
}

/** Its lines in neutral words, of what is written and of what is there; names are those that documents used. */
export const linesIn = (names: Pick<Names, "codeOf">, row: Element): FactLine[] =>
  row
    .all("Line")
    .flatMap(amountsIn)
    .map((line) => lineIn(names, line));

function lineIn(names: Pick<Names, "codeOf">, line: Element): FactLine {
  const detail = ITEM_LINES.map((kind) => line.child(kind)).find((one) => one !== null);
  const item = detail?.ref("ItemRef") ?? NO_REF;
  const account = line.child(ACCOUNT_LINE)?.ref("AccountRef") ?? NO_REF;
  const isDiscount = kindOf(line) === DISCOUNT;
  const isShipping = item.id === SHIPPING;
  const amount = isDiscount ? line.amount("Amount").negated() : line.amount("Amount");
  const [quantity, unitPrice] = [
    detail?.decimal("Qty") ?? null,
    detail?.decimal("UnitPrice") ?? null,
  ];
  // One of an amount is the amount alone: QuickBooks may tell it either way.
  const isCounted =
    quantity !== null && unitPrice !== null && !(quantity.equals(ONE) && unitPrice.equals(amount));
  return {
    product: item.id === null || isShipping ? null : names.codeOf(ITEM, item.id, item.name),
    ...(account.id === null ? {} : { account: names.codeOf(ACCOUNT, account.id, account.name) }),
    ...(isCounted ? { quantity, unitPrice } : { quantity: null, unitPrice: null }),
    unit: null,
    amount,
    text: line.text("Description") ?? (isDiscount ? "Discount" : isShipping ? "Shipping" : null),
  };
}

/** What a sales form of Intuit's says as the item of its shipping: no item of the company has this id. */
const SHIPPING = "SHIPPING_ITEM_ID";
const ONE = Decimal.of("1");
const NO_REF = { id: null, name: null };

/* What was paid on invoices and bills, and what was settled without money. */

/** Ids of what pays these documents. */
function paymentsOf(side: LedgerSide, rows: readonly Element[]): string[] {
  const linked = rows.flatMap((row) => row.all("LinkedTxn"));
  const those = linked.filter((one) => SIDES[side].pays.test(one.text("TxnType") ?? ""));
  return those.flatMap((one) => one.text("TxnId") ?? []);
}

/** Documents of a side that a line pays. A credit that it applies is none of them, whatever id that has. */
const paidBy = (line: Element, side: LedgerSide): string[] =>
  line
    .all("LinkedTxn")
    .filter((one) => one.text("TxnType") === SIDES[side].document)
    .flatMap((one) => one.text("TxnId") ?? []);

/** Documents of a side that a payment pays. */
export const linksOf = (row: Element, side: LedgerSide): string[] =>
  row.all("Line").flatMap((line) => paidBy(line, side));

/**
 * What a payment settles of one document: with money, and with credits that it applies. Its own amount is the money; what
 * it pays beyond that comes of credits. Of several documents nobody knows which had the money: each is told with the credit.
 */
function paymentsOn(side: LedgerSide, document: string, row: Element): PaymentOn[] {
  const lines = row.all("Line");
  const amount = sumOf(lines.filter((line) => paidBy(line, side).includes(document)));
  const all = sumOf(lines.filter((line) => paidBy(line, side).length > 0));
  const credit = least(amount, all.minus(row.amount("TotalAmt")));
  const id = `#${row.needed("Id")}`;
  const money = { mark: paidMarkIn(row.text("PrivateNote")), amount: amount.minus(credit), id };
  if (credit.sign === 0) return [money];
  const instead = `${creditsIn(row, side)} in payment ${id}`;
  const credited = { mark: null, amount: credit, id, instead };
  return money.amount.sign === 0 ? [credited] : [money, credited];
}

const sumOf = (lines: readonly Element[]): Decimal =>
  Decimal.sum(lines.map((line) => line.amount("Amount")));

const least = (one: Decimal, other: Decimal): Decimal =>
  other.sign <= 0 ? Decimal.zero : one.compare(other) <= 0 ? one : other;

const CREDITS: Readonly<Record<string, string>> = {
  CreditMemo: "credit memo",
  VendorCredit: "vendor credit",
  JournalEntry: "journal entry",
};

/** `credit memo 77, journal entry 80` */
function creditsIn(row: Element, side: LedgerSide): string {
  const named = row
    .all("Line")
    .flatMap((line) => line.all("LinkedTxn"))
    .map((one) => ({ id: one.text("TxnId") ?? "", type: one.text("TxnType") ?? "" }))
    .filter(({ type }) => type !== SIDES[side].document)
    .map(({ id, type }) => `${CREDITS[type] ?? type} ${id}`);
  return named.length === 0 ? "a credit" : named.join(", ");
}

/* What is written of a document. */

/** Characters of a line's text. */
const TEXT_MOST = 4000;
/** Characters of a line of an address. */
const ADDRESS_MOST = 500;

/** What says how documents are written. */
export type Writer = {
  readonly config: Pick<Online["config"], "items" | "accounts" | "salesTax" | "multicurrency"> &
    Partial<Pick<Online["config"], "class" | "location">>;
  readonly surroundings: Pick<Online["surroundings"], "currency">;
  readonly names: Pick<Names, "id">;
};

/**
 * An invoice has items only; a bill has items for products, and accounts for what has none. QuickBooks checks that
 * quantity times price is the amount, half a cent up: where it is not, the amount goes alone, and the quantity stands in
 * the text. @throws Refused
 */
function linesOf(
  side: LedgerSide,
  { items, accounts }: Pick<Online["config"], "items" | "accounts">,
  document: InvoiceDocument,
) {
  const lines = itemLines(document, side === "sale" ? items.charge : accounts.expense);
  return lines.map(({ item, text, quantity, rate, amount, isTax }, at) => {
    // A bill's line without a product is booked on its account, which has an amount alone.
    const isItem = side === "sale" || (!isTax && document.lines[at]?.product !== null);
    const isPriced = isItem && quantity !== null && rate !== null;
    const alone = quantity === null || isPriced ? "" : `, quantity ${quantity.plain()}`;
    return {
      code: item,
      isItem,
      text: cut(oneLine(`${text}${alone}`), TEXT_MOST),
      // Both, or none: then the amount alone counts.
      rate: isPriced ? { UnitPrice: rate, Qty: quantity } : null,
      amount,
    };
  });
}

/** All that their lines name, in few calls; what is not there is told to whoever names it. @throws LedgerError */
export async function loadNames(
  { config, names }: Pick<Online, "config" | "names">,
  side: LedgerSide,
  documents: readonly InvoiceDocument[],
): Promise<void> {
  const all = await orRefused(documents, async (one) => linesOf(side, config, one));
  const lines = all.flatMap((one) => (one instanceof Refused ? [] : one));
  for (const kind of [ITEM, ACCOUNT]) {
    const these = lines.filter(({ isItem }) => isItem === (kind === ITEM));
    await names.codes.load(
      kind,
      these.map(({ code }) => code),
    );
  }
}

/** QuickBooks would not say which one is inactive. @throws Refused, LedgerError */
async function expectActive(
  { config, names }: Pick<Online, "config" | "names">,
  side: LedgerSide,
  document: InvoiceDocument,
): Promise<void> {
  for (const { code, isItem } of linesOf(side, config, document))
    await names.booked(isItem ? ITEM : ACCOUNT, code);
}

/**
 * What is posted to make it, with room for its party. Members stand in the order of Intuit's schema, and what is null is
 * not sent. Orders have no class and location, and estimates no account. @throws Refused, LedgerError
 */
export async function bodyOf(
  side: LedgerSide,
  { config, surroundings, names }: Writer,
  document: InvoiceDocument,
  { isOrder = false } = {},
) {
  const isSale = side === "sale";
  const refTo = async (kind: NameKind, code: string | undefined) =>
    code === undefined ? null : { value: await names.id(kind, code) };
  const { detail } = SIDES[side];
  const owedOn = config.accounts[isSale ? "receivable" : "payable"];
  const account = await refTo(ACCOUNT, isSale && isOrder ? undefined : owedOn);
  const ClassRef = await refTo(CLASS, isOrder ? undefined : config.class);
  const TaxCodeRef = isSale && config.salesTax === "not-taxable" ? { value: "NON" } : null;
  const Line: object[] = [];
  for (const { code, isItem, text, rate, amount } of linesOf(side, config, document)) {
    const ref = { value: await names.id(isItem ? ITEM : ACCOUNT, code) };
    const DetailType = isItem ? detail : ACCOUNT_LINE;
    const booked = isItem
      ? { ItemRef: ref, ClassRef, ...rate, TaxCodeRef }
      : { ClassRef, AccountRef: ref };
    Line.push({ Description: text, Amount: amount, DetailType, [DetailType]: booked });
  }
  return {
    DocNumber: numberOf(document),
    TxnDate: document.invoiceDate,
    DepartmentRef: await refTo(LOCATION, isOrder ? undefined : config.location),
    CurrencyRef: config.multicurrency === "home" ? { value: surroundings.currency } : null,
    PrivateNote: noteOf(document),
    Line,
    CustomerRef: null,
    VendorRef: null,
    CustomerMemo: isSale ? customerMemo(document) : null,
    ShipAddr: isSale ? shipAddress(document.shipTo) : null,
    APAccountRef: isSale ? null : account,
    // A document without a due date is due at once: QuickBooks would take the party's terms.
    DueDate: document.dueDate ?? document.invoiceDate,
    ARAccountRef: isSale ? account : null,
  };
}
type DocumentBody = Awaited<ReturnType<typeof bodyOf>>;

export const numberOf = ({ number, id }: Pick<InvoiceDocument, "number" | "id">): string =>
  documentNumber(number, id, DOC_NUMBER_MOST);

/** The number of a document or an order: see {@link numberHeld}. */
export function heldNumber(row: Element): string | null {
  const [own, ours] = [row.text("DocNumber"), memoIn(noteIn(row))];
  if (ours === null) return own;
  return numberHeld(own, ours.number, numberOf({ number: ours.number, id: ours.mark }));
}

export const noteOf = ({ number, id, ...document }: Noted): string =>
  memoOf({ number, mark: id, text: orderText(document) }, MEMO_MOST.online, oneLine);
type Noted = Pick<InvoiceDocument, "number" | "id" | "description" | "poNumber">;

/** The place's name in the first line: the platform has no address of it. Null: QuickBooks takes the customer's. */
export const shipAddress = (shipTo: string | null = null) =>
  shipTo === null ? null : { Line1: cut(oneLine(shipTo), ADDRESS_MOST) };

/** What the customer reads on the invoice. */
function customerMemo(document: Noted) {
  const text = orderText(document);
  return text === null ? null : { value: cut(oneLine(text), MEMO_MOST.online) };
}

/** What changes the due date and the order of an invoice, and nothing else (`sparse`). */
export const amendment = (
  { Id, SyncToken }: { readonly Id: string; readonly SyncToken: string },
  { PrivateNote, CustomerMemo, DueDate }: DocumentBody,
): object => ({ sparse: true, Id, SyncToken, PrivateNote, CustomerMemo, DueDate });

/* A document under a number that QuickBooks may have given away already (6140). */

/** `counts`: the number is taken. `of-another`: another party's, which is no clash. `ended`: it is as if it were not there. */
type Holder = "counts" | "of-another" | "ended";

interface Numbered {
  /** What is looked through for what is inactive. */
  readonly document: InvoiceDocument;
  readonly body: Pick<DocumentBody, "DocNumber">;
  readonly payer: Entry | null;
}

/**
 * Writes it for a party; its id. A number that a document of the same entity has, and that counts, is the floor's to tell:
 * it is told as QuickBooks told it. One that another entity has is not found by a search, so it is refused, or taken twice
 * where the site allows it. @throws Refused, LedgerError
 */
export async function writeNumbered(
  online: Online,
  [side, entity]: readonly [LedgerSide, Entity],
  { document, body, payer }: Numbered,
  call: Call,
  holds: (row: Element, party: string) => Holder,
): Promise<string> {
  const { wire, config, names } = online;
  const party = partyIdOf(online, side, payer);
  await expectActive(online, side, document);
  const whole = { ...body, [SIDES[side].partyRef]: { value: party } };
  try {
    return await wire.write(entity, whole, call);
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    if (error.code === "610") {
      // What is kept of names is older than what somebody has made inactive.
      names.codes.forget();
      await expectActive(online, side, document);
    }
    if (error.code !== "6140") throw error;
    const numbers = { DocNumber: [body.DocNumber] };
    const rows = await having(wire, entity, numbers, call.signal);
    const holders = rows.map((row) => holds(row, party)).filter((one) => one !== "ended");
    if (holders.includes("counts")) throw error;
    if (holders.length > 0 || config.duplicateNumbers === "allow")
      return await wire.write(entity, whole, call, { twice: true });
    throw new Refused({
      code: "number-in-use",
      message: `another document in QuickBooks has the number ${body.DocNumber} (${error.message})`,
      next: "An accountant gives that one another number, or set duplicateNumbers: allow; then retry.",
      field: "number",
    });
  }
}

/* Invoices and bills, as the tables of both QuickBooks take them. */

export function documentBooks(online: Online, kind: DocumentKind): DocumentBooks<DocumentBody> {
  const { wire, config, names } = online;
  const side = kind === "invoice" ? "sale" : "purchase";
  const entity = SIDES[side].document;
  return {
    can:
      side === "sale"
        ? {
            has: ["posted", "settled", "cancelled"],
            amend: { "days.due": "posted", order: "posted" },
            numbered: "once",
          }
        : // QuickBooks' interface voids no bill.
          { has: ["posted", "settled"], amend: {}, numbered: "per-party" },
    taxItems: config.taxItems,
    ...(side === "sale" ? { customers: partyList(online, side) } : {}),
    accept: (document) => void linesOf(side, config, document),
    async codes(documents, { signal }) {
      await expectFit(online, signal);
      await loadNames(online, side, documents);
    },
    async write(document) {
      const body = await bodyOf(side, online, document);
      return { ...keptIn(names, elementOf(entity, body)), body };
    },
    records: {
      async search({ ids = [], numbers = [], days, desired }, { signal }) {
        // A record of ours may have its number from either way of writing it, while no link tells which.
        const spelt = desired?.flatMap(({ document, binding }) => [
          numberOf(document),
          ...(binding === null ? writingsOf(document.number) : []),
        ]);
        const DocNumber = spelt ?? numbers.flatMap(spellingsOf);
        const Id = (desired === undefined ? [...ids, ...numbers] : ids).filter(isId);
        const fields = days === undefined ? { Id, DocNumber } : { TxnDate: days };
        return documentRows(online, side, await having(wire, entity, fields, signal), signal);
      },
      list: (scope, from, signal) =>
        listed(wire, inScope(entity, scope), from, signal, (rows) =>
          documentRows(online, side, rows, signal),
        ),
      async create({ desired: { document, payer }, values }, call) {
        const body = values.body as DocumentBody;
        const holds = (row: Element, party: string): Holder => {
          if (side === "sale") return "counts";
          if (isVoided(row)) return "ended";
          return partyIn(side, row).partyId === party ? "counts" : "of-another";
        };
        return writeNumbered(online, [side, entity], { document, body, payer }, call, holds);
      },
      async apply(to, { entry, values }, call) {
        const { id: Id, version } = entry.native;
        const head = { Id, SyncToken: version ?? "" };
        if (to === "cancelled") await wire.write(entity, head, call, { operation: "void" });
        const { body } = values ?? {};
        if (body !== undefined) await wire.write(entity, amendment(head, body), call);
      },
    },
  };
}

function keptIn(names: Pick<Names, "codeOf">, row: Element) {
  const note = noteIn(row);
  const currency = row.ref("CurrencyRef").id;
  const date = row.needed("TxnDate").slice(0, 10);
  return {
    date,
    due: row.day("DueDate") ?? date,
    reference: heldNumber(row),
    order: (memoIn(note) ?? { text: note }).text,
    ...(currency === null ? {} : { currency }),
    lines: linesIn(names, row),
  };
}

/** With what was paid on each, in one call for all. @throws LedgerError */
async function documentRows(
  { wire, names }: Pick<Online, "wire" | "names">,
  side: LedgerSide,
  rows: readonly Element[],
  signal: AbortSignal,
): Promise<DocumentRow[]> {
  const Id = paymentsOf(side, rows);
  const all = await having(wire, SIDES[side].payment, { Id }, signal);
  return rows.map((row): DocumentRow => {
    const { id, version } = identityOf(row);
    const [number, memo] = [row.text("DocNumber"), noteIn(row)];
    const [total, open] = [row.amount("TotalAmt"), row.amount("Balance")];
    const isVoid = isVoided(row);
    return {
      ...keptIn(names, row),
      ...partyIn(side, row),
      accountId: row.ref(SIDES[side].accountRef).id,
      id,
      version,
      number,
      memo,
      isVoid,
      isPaid: open.sign === 0 && !isVoid,
      salesTax: salesTaxOf(row),
      total,
      open,
      payments: all
        .filter((payment) => linksOf(payment, side).includes(id))
        .flatMap((payment) => {
          const date = payment.needed("TxnDate").slice(0, 10);
          return paymentsOn(side, id, payment).map((one) => ({ ...one, date }));
        }),
      ...(side === "sale" && memoIn(memo) !== null && !isVoid ? taxAdded(row) : {}),
      issued: number === null || total.sign === 0 ? id : number,
      told: { dueDate: row.day("DueDate") },
      odd: unknownLine(row),
    };
  });
}

const salesTaxOf = (row: Element): Decimal =>
  row.child("TxnTaxDetail")?.amount("TotalTax") ?? Decimal.zero;

/** Every tax of ours is a line: what stands here Intuit's automated sales tax has added. */
function taxAdded(row: Element): Pick<DocumentRow, "refusal"> {
  const [tax, total] = [salesTaxOf(row), row.amount("TotalAmt")];
  if (tax.sign === 0) return {};
  return {
    refusal: {
      code: "sales-tax-added",
      message: `${amountText(total)} in QuickBooks and ${amountText(total.minus(tax))} on the platform: Intuit's sales tax added ${amountText(tax)} to invoice ${row.text("DocNumber") ?? ""}`,
      next: "In QuickBooks: make the invoice's lines not taxable, or the customer exempt, so that the tax is 0.00; then retry. To accept the amount, close it with its id and its amount there.",
      field: "total",
      amount: inCents(total),
    },
  };
}

/* Payments: what customers pay (Payment), and what we pay (BillPayment). */

export function onlinePayments(online: Online): PaymentBooks {
  const { wire, config } = online;
  return {
    write: (document) => ({
      text: paymentIn(paymentBody(config, document).PrivateNote).text,
      check: numberIn(document.reference),
    }),
    async find(side, { ids, days: TxnDate }, signal) {
      const Id = ids.flatMap((id) => idIn(side, id));
      const rows = await having(wire, SIDES[side].payment, { Id, TxnDate }, signal);
      return rows.map((row) => paymentRow(side, row));
    },
    async paying(side, { ids, numbers }, signal) {
      const { document, payment } = SIDES[side];
      const named = { Id: [...ids, ...numbers].filter(isId), DocNumber: numbers };
      const paid = await having(wire, document, named, signal);
      return [...numbers, ...paymentsOf(side, paid).map((id) => `${payment} ${id}`)];
    },
    async since(side, date, { partyId }, signal) {
      const { payment, partyRef } = SIDES[side];
      const party = { [partyRef]: partyId === null ? [] : [partyId] };
      const rows = await having(wire, payment, party, signal, [`TxnDate >= ${quoted(date)}`]);
      return rows.map((row) => paymentRow(side, row));
    },
    list(scope, from, signal) {
      const lists = BOTH.flatMap((side) => inScope(SIDES[side].payment, scope));
      return listed(wire, lists, from, signal, (rows, entity) =>
        rows.map((row) => paymentRow(entity === SIDES.sale.payment ? "sale" : "purchase", row)),
      );
    },
    async create(document, on, call) {
      const side = sideOf(document);
      const { payment, partyRef, accountRef } = SIDES[side];
      const body = {
        ...paymentBody(config, document),
        ...(await accountsOf(online, side)),
        [partyRef]: { value: payerOf(on) },
        // Both sides of what is owed are on one account.
        [accountRef]: on.accountId ? { value: on.accountId } : null,
      };
      // Checks of two banks may have one number.
      return `${payment} ${await wire.write(payment, body, call, { twice: true })}`;
    },
  };
}

function paymentRow(side: LedgerSide, row: Element): PaymentRow {
  const { id, version } = identityOf(row);
  const { mark, text } = paymentIn(row.text("PrivateNote"));
  const amount = row.amount("TotalAmt");
  const pays = [...new Set(linksOf(row, side))];
  return {
    side,
    date: row.needed("TxnDate").slice(0, 10),
    amount,
    document: pays.length === 1 ? (pays[0] ?? null) : null,
    pays,
    text,
    check: row.text(side === "sale" ? "PaymentRefNum" : "DocNumber"),
    id: `${SIDES[side].payment} ${id}`,
    version,
    party: partyIn(side, row).party,
    idle: row.decimal("UnappliedAmt") ?? amount.minus(sumOf(row.all("Line"))),
    markIn: () => mark,
  };
}

/** `Payment 12`: what links call it. */
const idIn = (side: LedgerSide, id: string): string[] => {
  const [entity, number = ""] = id.split(" ");
  return entity === SIDES[side].payment && isId(number) ? [number] : [];
};

const numberIn = (reference: string | null): string | null =>
  whole(reference, DOC_NUMBER_MOST, oneLine);

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
    ARAccountRef: null,
    APAccountRef: null,
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
  return code === undefined ? {} : accountIn(config, side, await names.booked(ACCOUNT, code));
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
function payerOf({ id, partyId }: DocumentRow): string {
  if (partyId !== null) return partyId;
  throw new Refused({
    code: "no-party",
    message: `document ${id} in QuickBooks has no party`,
    next: "An accountant looks at it in QuickBooks, and enters the payment by hand.",
  });
}
