/**
 * Sales orders and purchase orders, for src/ledger/orders.ts. QuickBooks has no drafts of them: what is created is open.
 * Nothing is posted by one. Editions without sales orders say so when one is to be made (1030, 3250).
 */
import { createHash } from "node:crypto";
import {
  LedgerError,
  type GoodsAdapter,
  type Capabilities,
  type Step,
  type StepTo,
  type Desired,
} from "../../src/ledger/port.ts";
import type { OrderDocument } from "../../src/ledger/documents.ts";
import { type BookedOrder, orderAdapter as adapterOf } from "../../src/ledger/orders.ts";
import type { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import type { FactLine, Facts } from "../../src/core/holdings.ts";
import { sameNumber } from "../../src/core/keys.ts";
import { ascii } from "../quickbooks/text.ts";
import { documentNumber, REF_NUMBER_MOST } from "../quickbooks/numbers.ts";
import type { DesktopConfig } from "./config.ts";
import { branches, pages, WITH_LINES } from "./pages.ts";
import { amountOf, below, dayOf, decimalOf, needed, refOf, textOf, yesOf } from "./read.ts";
import {
  desktopMemo,
  guidOf,
  heldNumber,
  heldText,
  markedBy,
  numbered,
  ofDays,
  only,
} from "./rows.ts";
import type { Wire } from "./wire.ts";
import type { Values } from "./write.ts";
import type { Element } from "./xml.ts";

export type OrderConfig = Pick<DesktopConfig, "taxCode" | "unit">;
type Asked = Pick<Wire, "read" | "write"> & Partial<Pick<Wire, "company">>;
type Side = OrderDocument["type"];

const TABLES = {
  sale: {
    table: "SalesOrder",
    partyRef: "CustomerRef",
    what: "sales orders: Premier and Enterprise have them",
    full: "IsFullyInvoiced",
    moved: "Invoiced",
    most: REF_NUMBER_MOST.salesOrder,
  },
  purchase: {
    table: "PurchaseOrder",
    partyRef: "VendorRef",
    what: "purchase orders, or they are switched off",
    full: "IsFullyReceived",
    moved: "ReceivedQuantity",
    most: REF_NUMBER_MOST.purchaseOrder,
  },
} as const;

/** It is open when it is made. Until goods came or it was invoiced, it can be changed and closed. */
const CAPABILITIES: Capabilities = {
  has: ["posted", "cancelled"],
  byUs: "posted",
  amend: { lines: "posted" },
  atomic: 1,
  numbered: "per-party",
};

export const orderAdapter = (wire: Asked, config: OrderConfig): GoodsAdapter<"order", Element> =>
  adapterOf<Element>({
    markedIn: "its memo",
    can: CAPABILITIES,
    kept: (document) => keptOf(config, document),
    async search(side, { marks, references, numbers, ids, days }, signal) {
      const { table, most } = TABLES[side];
      const ask = async (all: readonly Values[]): Promise<Element[]> => {
        const asked = all.map((values) => ({
          name: `${table}Query`,
          values: { ...values, ...WITH_LINES },
        }));
        const replies = await without(side, wire, () => wire.read(asked, signal), []);
        return replies.flatMap(({ rets }) => rets);
      };
      const named = await ask([
        ...numbered(references, most),
        ...(numbers.length + ids.length === 0 ? [] : [{ TxnID: [...numbers, ...ids] }]),
      ]);
      const isOurs = (row: Element): boolean => marks.includes(markedBy(row, marks).mark ?? "");
      // It may have another number by now: no order is made before its day was looked through.
      const others = named.some(isOurs) || days.length === 0 ? [] : await ask(ofDays(days));
      const rows = [...named, ...others.filter(isOurs)];
      const once = new Map(rows.map((row) => [needed(row, "TxnID"), row]));
      return [...once.values()].map((row) => bookedOf(side, row, marks));
    },
    async *list(side, { dated, changedSince }, from, signal) {
      const lists = branches({ dated, changedSince, open: false }).map((values) => ({
        name: `${TABLES[side].table}Query`,
        values: { ...values, ...WITH_LINES },
      }));
      try {
        for await (const { rets, position } of pages(wire, lists, from, signal))
          yield { rows: rets.map((row) => bookedOf(side, row, [])), position };
      } catch (error) {
        if (!isNotHere(error)) throw error;
      }
    },
    isUnfinished: () => Promise.resolve(false),
    async create(desired, { signal }) {
      const { type } = desired.document;
      const { table } = TABLES[type];
      const request = { name: `${table}Add`, values: { [`${table}Add`]: addOf(config, desired) } };
      const { rets } = await without(type, wire, () => wire.write(request, signal));
      return needed(only(rets), "TxnID");
    },
    step: (to, one, { signal }) => step(wire, config, to, one, signal),
  });

/**
 * An edition without these orders holds none.
 * @param instead what is there without them; left out: that edition is told
 */
async function without<T>(
  side: Side,
  { company }: Asked,
  asked: () => Promise<T>,
  instead?: T,
): Promise<T> {
  try {
    return await asked();
  } catch (error) {
    if (!isNotHere(error)) throw error;
    if (instead !== undefined) return instead;
    const product = company?.product ?? "this edition of QuickBooks";
    const message = `${product} has no ${TABLES[side].what}. ${error.message}`;
    throw new LedgerError("answered", message, { code: error.code, cause: error });
  }
}

const NOT_HERE = new Set(["1030", "3250"]);

const isNotHere = (error: unknown): error is LedgerError =>
  error instanceof LedgerError && NOT_HERE.has(error.code ?? "");

const CENTS = 2;
const DIGITS = 5;

interface OrderLine {
  readonly item: string;
  readonly text: string;
  readonly quantity: Decimal;
  /** Null: it has more digits than QuickBooks keeps, and is left to the amount. */
  readonly rate: Decimal | null;
  readonly amount: Decimal;
}

/** @throws Refused for a unit that items are not counted in, or digits that QuickBooks does not keep */
function linesOf(unit: string, { lines }: OrderDocument): OrderLine[] {
  return lines.map((line) => {
    const { unitPrice } = line;
    const quantity = countedOf(unit, line);
    const rate = unitPrice.round(DIGITS).equals(unitPrice) ? unitPrice : null;
    const amount = quantity.times(unitPrice).round(CENTS);
    return { item: line.product, text: line.description, quantity, rate, amount };
  });
}

/** @throws Refused */
export function countedOf(
  unit: string,
  line: { readonly product: string; readonly quantity: Decimal; readonly unit: string },
): Decimal {
  const { quantity } = line;
  const refused = (code: string, says: string, next: string): Refused =>
    new Refused({
      code,
      message: `QuickBooks cannot keep the line of ${line.product}: ${says}`,
      next,
      field: "lines",
    });
  if (line.unit !== unit)
    throw refused(
      "unit-not-held",
      `it is in ${line.unit}, and items of QuickBooks are counted in ${unit}`,
      `Enter it by hand and resolve it here; or set unit, where items are counted in ${line.unit}.`,
    );
  if (!quantity.round(DIGITS).equals(quantity))
    throw refused(
      "not-held",
      `the quantity ${quantity.plain()} has more than ${DIGITS} digits after the point`,
      "Correct the quantity where it comes from, then retry.",
    );
  return quantity;
}

const keptOf = ({ unit }: OrderConfig, document: OrderDocument): Facts => ({
  number: ascii(document.number),
  words: { side: document.type },
  lines: linesOf(unit, document).map(({ item, quantity, amount }) =>
    lineFacts(item, quantity, amount),
  ),
});

/** Prices are compared by what a line comes to: QuickBooks keeps five digits of a rate. */
const lineFacts = (
  product: string | null,
  quantity: Decimal | null,
  amount: Decimal,
): FactLine => ({
  product,
  quantity,
  unit: null,
  unitPrice: null,
  amount,
});

function bookedOf(side: Side, row: Element, marks: readonly string[]): BookedOrder<Element> {
  const { table, partyRef, full, moved, most } = TABLES[side];
  const id = needed(row, "TxnID");
  const lines = below(row, `${table}LineRet`).filter(
    (line) => refOf(line, "ItemRef").name !== null,
  );
  const facts = lines.map((line) =>
    lineFacts(refOf(line, "ItemRef").name, decimalOf(line, "Quantity"), amountOf(line, "Amount")),
  );
  const { mark, number, text } = markedBy(row, marks);
  const isClosed = yesOf(row, "IsManuallyClosed") === true;
  const isVoid = isClosed && VOID.test(textOf(row, "Memo") ?? "");
  const hasMoved = lines.some((line) => amountOf(line, moved).sign !== 0);
  const isOurs = text?.startsWith(`${LINES}${digestOf(facts)}`) === true && !hasOthers(row, table);
  const state = isVoid
    ? "cancelled"
    : isClosed || yesOf(row, full) === true
      ? "closed"
      : hasMoved
        ? "open, and goods of it have moved"
        : isOurs
          ? "open"
          : "open, and its lines were changed there";
  return {
    side,
    id,
    number: id,
    state,
    status: isVoid ? "cancelled" : "posted",
    mark,
    reference: heldNumber(row, number, most),
    party: refOf(row, partyRef).name ?? "",
    date: dayOf(row, "TxnDate"),
    lines: facts,
    open: state === "open",
    native: row,
  };
}

/** Groups, and lines of text, which a person entered: we write none, and lines that are not named are deleted. */
const hasOthers = (row: Element, table: string): boolean =>
  below(row, `${table}LineGroupRet`).length > 0 ||
  below(row, `${table}LineRet`).some(
    (line) => refOf(line, "ItemRef").name === null && textOf(line, "Desc") !== null,
  );

const VOID = /^VOID:/;
/** Before the digest of the lines that were written last: lines that somebody changed since are never overwritten. */
const LINES = "lines:";

const digestOf = (lines: readonly FactLine[]): string =>
  createHash("sha256")
    .update(
      lines
        .map(({ product, quantity, amount }) =>
          [product?.toLowerCase(), quantity?.plain(), amount.fixed(CENTS)].join(" "),
        )
        .join("\n"),
    )
    .digest("hex")
    .slice(0, 12);

function memoOf({ unit }: OrderConfig, { document, mark, number }: Desired<"order">): string {
  const lines = digestOf(keptOf({ unit }, document).lines ?? []);
  return desktopMemo({ number, mark, text: `${LINES}${lines} ${document.description ?? ""}` });
}

function addOf(config: OrderConfig, desired: Desired<"order">): Values {
  const { document, mark, number, party, payer } = desired;
  const { table, partyRef, most } = TABLES[document.type];
  const row = payer?.native as Element | undefined;
  const ListID = row === undefined ? null : textOf(row, "ListID");
  return {
    [partyRef]: ListID === null ? { FullName: party } : { ListID },
    TxnDate: document.date,
    RefNumber: documentNumber(number, number, most),
    Memo: memoOf(config, desired),
    IsToBePrinted: false,
    IsToBeEmailed: false,
    ExternalGUID: guidOf(mark),
    [`${table}LineAdd`]: lineValues(config, document),
  };
}

const lineValues = ({ taxCode, unit }: OrderConfig, document: OrderDocument): Values[] =>
  linesOf(unit, document).map(({ item, text, quantity, rate, amount }) => ({
    ItemRef: { FullName: item },
    Desc: heldText(text, 4095),
    Quantity: quantity,
    Rate: rate,
    Amount: amount,
    ...(document.type === "sale" && taxCode !== undefined
      ? { SalesTaxCodeRef: { FullName: taxCode } }
      : {}),
  }));

/** A line that is made anew; those that are not named are deleted. */
const NEW_LINE = { TxnLineID: "-1" };

/** Guarded by the edit sequence: an order that somebody changed meanwhile is refused (3200). */
async function step(
  wire: Asked,
  config: OrderConfig,
  to: StepTo,
  { desired, entry: { native: row } }: Step<"order", Element>,
  signal: AbortSignal,
): Promise<void> {
  const { table, most } = TABLES[desired.document.type];
  const isRenumbered = !sameNumber(
    heldNumber(row, markedBy(row, []).number, most) ?? "",
    ascii(desired.number),
  );
  const named = isRenumbered
    ? { RefNumber: documentNumber(desired.number, desired.number, most) }
    : {};
  const held = { TxnID: needed(row, "TxnID"), EditSequence: needed(row, "EditSequence") };
  const changes =
    to === "cancelled"
      ? { IsManuallyClosed: true, Memo: `VOID: ${textOf(row, "Memo") ?? ""}`.trim() }
      : {
          ...named,
          Memo: memoOf(config, desired),
          [`${table}LineMod`]: lineValues(config, desired.document).map((line) => ({
            ...NEW_LINE,
            ...line,
          })),
        };
  if (to !== "cancelled" && to !== "amended") return;
  const values = { [`${table}Mod`]: { ...held, ...changes } };
  await wire.write({ name: `${table}Mod`, values }, signal);
}
