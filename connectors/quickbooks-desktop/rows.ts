/** What every document here has in common: marks, references, the statements of QuickBooks about a transaction. */
import { createHash } from "node:crypto";
import { Decimal } from "../../src/core/decimal.ts";
import type { FactLine } from "../../src/core/holdings.ts";
import { spellingsOf } from "../../src/core/keys.ts";
import { LedgerError, type PaymentOn } from "../../src/ledger/port.ts";
import type { Element, Values } from "./qbxml.ts";
import type { Wire } from "./wire.ts";
import {
  ascii,
  cut,
  documentNumber,
  MEMO_MOST,
  memoIn,
  memoOf,
  numberHeld,
  type Side,
} from "../quickbooks/text.ts";

/** Of this connector: under it our marks become GUIDs. */
const NAMESPACE = "8f0a2d3c4b5e4f60917283a4b5c6d7e8";

/** What QuickBooks keeps as `ExternalGUID` of a record of ours: a UUID of version 5 of our mark, in braces. */
export function guidOf(mark: string): string {
  const bytes = createHash("sha1")
    .update(Buffer.from(NAMESPACE, "hex"))
    .update(mark)
    .digest()
    .subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return `{${[hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-")}}`;
}

/** The memo of a transaction of ours. */
export const desktopMemo = (one: {
  readonly number: string;
  readonly mark: string;
  readonly text: string | null;
}): string => memoOf(one, MEMO_MOST.desktop, ascii);

interface Marked {
  /** The platform's id; null: it did not come from the platform, or somebody took it out of the memo. */
  readonly mark: string | null;
  /** The platform's number where the memo says it; else QuickBooks' own. */
  readonly number: string | null;
  /** What the memo says besides. */
  readonly text: string | null;
}

/** @param desired marks that are looked for: the GUID tells one whose memo somebody wrote anew */
export function markedBy(row: Element, desired: readonly string[]): Marked {
  const number = row.text("RefNumber");
  const memo = row.text("Memo")?.replace(/^VOID:\s*/i, "") ?? null;
  const found = memoIn(memo);
  if (found !== null) return found;
  const guid = row.text("ExternalGUID")?.toLowerCase() ?? null;
  const mark = guid === null ? null : (desired.find((one) => guidOf(one) === guid) ?? null);
  return { mark, number, text: memo };
}

/** See {@link numberHeld}. @param number by the memo @param most characters of the number of this kind */
export function heldNumber(row: Element, number: string | null, most: number): string | null {
  const own = row.text("RefNumber");
  return number === null ? own : numberHeld(own, number, documentNumber(number, number, most));
}

/** Queries for documents with one of these numbers, as QuickBooks keeps them and as people may have typed them. */
export const numbered = (numbers: readonly string[], most: number): Values[] => {
  const kept = numbers.flatMap(spellingsOf).map((number) => documentNumber(number, number, most));
  return kept.length === 0 ? [] : [{ RefNumberCaseSensitive: [...new Set(kept)] }];
};

/** Queries for all documents of these days (`YYYY-MM-DD`). */
export const ofDays = (days: readonly string[]): Values[] =>
  [...new Set(days)].map((day) => ({
    TxnDateRangeFilter: { FromTxnDate: day, ToTxnDate: day },
  }));

/** Text that QuickBooks would keep of it; null: nothing. */
export function heldText(text: string | null, most: number): string | null {
  const held = cut(ascii(text ?? ""), most);
  return held === "" ? null : held;
}

/** The only one of what QuickBooks answered to a change. @throws LedgerError */
export function only(rets: readonly Element[]): Element {
  const [ret] = rets;
  if (ret === undefined)
    throw new LedgerError("torn", "QuickBooks' answer does not have the record");
  return ret;
}

/** A row with its lines, each amount once, and the payments that are linked with it. */
export interface Row {
  readonly row: Element;
  readonly lines: readonly FactLine[];
  readonly payments: readonly (PaymentOn & { readonly date: string })[];
}

/* Customers and vendors as sources and links call them: by ids, which no rename changes. */

const LETTER: Readonly<Record<Side, string>> = { customer: "C", vendor: "V" };

/** `C-80000001-1699900000`. */
export const partyCode = (side: Side, listId: string): string => `${LETTER[side]}-${listId}`;

/** The ListID in a code of that side; null: it is a name. */
export function listIdIn(side: Side, code: string): string | null {
  const [, letter, id = ""] = /^([CV])-([0-9A-F]{1,8}-\d{1,10})$/.exec(code) ?? [];
  return letter === LETTER[side] ? id : null;
}

/*
 * Lines of invoices and bills, whoever entered them: each amount once. A group is its lines; a line of text has no amount;
 * a line of a subtotal item repeats those above it. Which items those are is asked only where lines do not add up.
 */

type Kind = "invoice" | "bill";

interface Line extends FactLine {
  /** The ListID of its item; null: it has none. */
  readonly item: string | null;
}

const GROUPS: ReadonlySet<string> = new Set(["InvoiceLineGroupRet", "ItemGroupLineRet"]);
/** In the order in which they are told. */
const LINES = {
  invoice: [/^InvoiceLine(?:Group)?Ret$/],
  bill: [/^Item(?:Group)?LineRet$/, /^ExpenseLineRet$/],
} as const;

/**
 * Of each document its lines with amounts. They may not add up to its {@link baseOf}: nobody knows which of them count.
 * @throws LedgerError
 */
export async function linesOf(
  wire: Pick<Wire, "read">,
  kind: Kind,
  rows: readonly Element[],
  signal: AbortSignal,
): Promise<ReadonlyMap<Element, readonly FactLine[]>> {
  const all = new Map(rows.map((row) => [row, linesIn(kind, row)] as const));
  const off = [...all].filter(([row, lines]) => !addsUp(kind, row, lines));
  const items = off.flatMap(([, lines]) => lines.flatMap(({ item }) => item ?? []));
  const subtotals = await subtotalsAmong(wire, [...new Set(items)], signal);
  const isCounted = ({ item }: Line): boolean => item === null || !subtotals.has(item);
  for (const [row, lines] of off) all.set(row, lines.filter(isCounted));
  return all;
}

/** What the lines of a document come to by its own head; null: QuickBooks did not say. @throws LedgerError */
const baseOf = (kind: Kind, row: Element): Decimal | null =>
  row.decimal(kind === "invoice" ? "Subtotal" : "AmountDue");

const addsUp = (kind: Kind, row: Element, lines: readonly Line[]): boolean =>
  baseOf(kind, row)?.equals(sumOf(lines)) ?? true;

const sumOf = (lines: readonly Pick<FactLine, "amount">[]): Decimal =>
  Decimal.sum(lines.map(({ amount }) => amount));

/** With sales tax, of which only invoices have one. @throws LedgerError */
export const totalOf = (kind: Kind, { row, lines }: Row): Decimal => {
  const base = baseOf(kind, row) ?? sumOf(lines);
  return kind === "bill" ? base : base.plus(row.amount("SalesTaxTotal"));
};

/** @throws LedgerError */
export function isPaid(kind: Kind, one: Row): boolean {
  return one.row.yes("IsPaid") ?? openOf(kind, one).sign === 0;
}

/** What is open of it: as QuickBooks says, else what its payments leave. @throws LedgerError */
export function openOf(kind: Kind, one: Row): Decimal {
  const { row, payments } = one;
  // Of a bill that is paid QuickBooks need not say it.
  if (kind === "bill" && row.yes("IsPaid") === true) return Decimal.zero;
  return (
    row.decimal(kind === "invoice" ? "BalanceRemaining" : "OpenAmount") ??
    payments.reduce((left, { amount }) => left.minus(amount), totalOf(kind, one))
  );
}

/** Those of subtotal items. No line says of what kind its item is. @throws LedgerError */
async function subtotalsAmong(
  wire: Pick<Wire, "read">,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const values = { ListID: ids, IncludeRetElement: ["ListID"] };
  const [reply] = await wire.read([{ name: "ItemQuery", values }], signal);
  const subtotals = (reply?.rets ?? []).filter(({ name }) => name === "ItemSubtotalRet");
  return new Set(subtotals.flatMap((one) => one.text("ListID") ?? []));
}

const linesIn = (kind: Kind, row: Element): Line[] =>
  LINES[kind].flatMap((names) =>
    row.below
      .filter(({ name }) => names.test(name))
      .flatMap((one) => (GROUPS.has(one.name) ? groupIn(kind, one) : lineIn(one, "Amount"))),
  );

/** Its lines; itself where QuickBooks tells none of them. */
function groupIn(kind: Kind, group: Element): Line[] {
  const own = linesIn(kind, group);
  return own.length > 0 ? own : lineIn(group, "TotalAmount");
}

function lineIn(line: Element, amountName: "Amount" | "TotalAmount"): Line[] {
  const amount = line.decimal(amountName);
  const { id, name } = line.ref("ItemRef");
  const product = name ?? line.ref("AccountRef").name ?? line.ref("ItemGroupRef").name;
  if (amount === null || (amount.sign === 0 && product === null)) return [];
  return [
    {
      item: id,
      product,
      quantity: line.decimal("Quantity"),
      unit: line.text("UnitOfMeasure"),
      unitPrice: line.decimal("Rate"),
      amount,
      text: line.text("Desc") ?? line.text("Memo"),
    },
  ];
}
