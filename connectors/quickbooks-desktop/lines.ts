/**
 * Lines of invoices and bills, whoever entered them: each amount once. A group is its lines; a line of text has no amount;
 * a line of a subtotal item repeats those above it. Which items those are is asked only where lines do not add up.
 */
import { Decimal } from "../../src/core/decimal.ts";
import type { FactLine } from "../../src/core/holdings.ts";
import { amountOf, decimalOf, refOf, textOf, yesOf } from "./read.ts";
import type { Row } from "./rows.ts";
import type { Wire } from "./wire.ts";
import type { Element } from "./xml.ts";

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
  decimalOf(row, kind === "invoice" ? "Subtotal" : "AmountDue");

const addsUp = (kind: Kind, row: Element, lines: readonly Line[]): boolean =>
  baseOf(kind, row)?.equals(sumOf(lines)) ?? true;

const sumOf = (lines: readonly Pick<FactLine, "amount">[]): Decimal =>
  Decimal.sum(lines.map(({ amount }) => amount));

/** With sales tax, of which only invoices have one. @throws LedgerError */
export const totalOf = (kind: Kind, { row, lines }: Row): Decimal => {
  const base = baseOf(kind, row) ?? sumOf(lines);
  return kind === "bill" ? base : base.plus(amountOf(row, "SalesTaxTotal"));
};

/** @throws LedgerError */
export function isPaid(kind: Kind, one: Row): boolean {
  return yesOf(one.row, "IsPaid") ?? openOf(kind, one).sign === 0;
}

/** What is open of it: as QuickBooks says, else what its payments leave. @throws LedgerError */
export function openOf(kind: Kind, one: Row): Decimal {
  const { row, payments } = one;
  // Of a bill that is paid QuickBooks need not say it.
  if (kind === "bill" && yesOf(row, "IsPaid") === true) return Decimal.zero;
  return (
    decimalOf(row, kind === "invoice" ? "BalanceRemaining" : "OpenAmount") ??
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
  return new Set(subtotals.flatMap((one) => textOf(one, "ListID") ?? []));
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
  const amount = decimalOf(line, amountName);
  const { id, name } = refOf(line, "ItemRef");
  const product = name ?? refOf(line, "AccountRef").name ?? refOf(line, "ItemGroupRef").name;
  if (amount === null || (amount.sign === 0 && product === null)) return [];
  return [
    {
      item: id,
      product,
      quantity: decimalOf(line, "Quantity"),
      unit: textOf(line, "UnitOfMeasure"),
      unitPrice: decimalOf(line, "Rate"),
      amount,
      text: textOf(line, "Desc") ?? textOf(line, "Memo"),
    },
  ];
}
