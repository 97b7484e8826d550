/**
 * Lines of the little company file's invoices and bills. A person enters lines as QuickBooks shows them: a line of a
 * subtotal item adds up those above it and counts for nothing, a line without an item is text, lines of one `Group` are its.
 */
import { Decimal } from "../../src/core/decimal.ts";
import type { Row, Table } from "./company-queries.fixture.ts";
import { escaped } from "./qbxml.ts";

type Line = Readonly<Record<string, string>>;

/** Kinds of items that are not ordinary, by their names: `Subtotal`, `Discount`, `SalesTax`. */
export type ItemKinds = ReadonlyMap<string, string>;

/** What does not count in a document's subtotal. Of a sales tax on a line nobody knows: here it does not. */
const ASIDE = new Set(["Subtotal", "SalesTax"]);

const amountOf = ({ Amount = "0" }: Line): Decimal => Decimal.of(Amount);

/** What the lines come to. */
export const sumOf = (lines: readonly Line[], kinds: ItemKinds): Decimal =>
  Decimal.sum(
    lines.filter(({ ItemRef = "" }) => !ASIDE.has(kinds.get(ItemRef) ?? "")).map(amountOf),
  );

/** @param idOf of an item, by its name */
export function linesOf(
  table: Table,
  { lines, isVoid }: Row,
  kinds: ItemKinds,
  idOf: (item: string) => string | null,
): string {
  const [one, group] =
    table === "Invoice"
      ? ["InvoiceLineRet", "InvoiceLineGroupRet"]
      : ["ItemLineRet", "ItemGroupLineRet"];
  const written = (line: Line): string => `<${one}>${inner(line, isVoid, idOf)}</${one}>`;
  const groups = new Set<string>();
  return lines
    .map((line) => {
      const { Group } = line;
      if (Group === undefined) return written(line);
      if (groups.has(Group)) return "";
      groups.add(Group);
      const own = lines.filter((other) => other["Group"] === Group);
      const total = isVoid ? "0.00" : sumOf(own, kinds).fixed(2);
      const shown = own.filter(({ isShown }) => isShown !== "false").map(written);
      return `<${group}><TxnLineID>2</TxnLineID><ItemGroupRef><FullName>${escaped(Group)}</FullName></ItemGroupRef><Quantity>1</Quantity><TotalAmount>${total}</TotalAmount>${shown.join("")}</${group}>`;
    })
    .join("");
}

function inner(line: Line, isVoid: boolean, idOf: (item: string) => string | null): string {
  const { ItemRef, Desc, Quantity, Rate, RatePercent, Amount } = line;
  const id = ItemRef === undefined ? null : idOf(ItemRef);
  const item =
    ItemRef === undefined
      ? ""
      : `<ItemRef>${id === null ? "" : `<ListID>${id}</ListID>`}<FullName>${escaped(ItemRef)}</FullName></ItemRef>`;
  const simple = {
    Desc,
    Quantity: isVoid && Quantity !== undefined ? "0" : Quantity,
    Rate,
    RatePercent,
    Amount: isVoid && Amount !== undefined ? "0.00" : Amount,
  };
  const fields = Object.entries(simple).map(([name, text]) =>
    text === undefined ? "" : `<${name}>${escaped(text)}</${name}>`,
  );
  return `<TxnLineID>1</TxnLineID>${item}${fields.join("")}`;
}
