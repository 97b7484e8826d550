/** Orders and item receipts of the little company file: what the published schema and Intuit's guide say that is enforced. */
import { Decimal } from "../../src/core/decimal.ts";
import { Refusal } from "./company-order.fixture.ts";
import type { Row, Table } from "./company-queries.fixture.ts";
import type { Element } from "../quickbooks/element.ts";
import { escaped } from "./qbxml.ts";

/** What a line is called, and what says how much of it has moved. */
const LINES = {
  SalesOrder: { line: "SalesOrderLine", moved: "Invoiced" },
  PurchaseOrder: { line: "PurchaseOrderLine", moved: "ReceivedQuantity" },
  ItemReceipt: { line: "ItemLine", moved: null },
} as const;
export type Goods = keyof typeof LINES;

/** What lines of orders and receipts need of the company file. */
interface CompanyFile {
  readonly items: ReadonlySet<string>;
  rows(table: Table): readonly Row[];
}
type Line = Record<string, string>;

export const isGoods = (table: string): table is Goods => table in LINES;

const d = (text: string | undefined): Decimal => Decimal.of(text ?? "0");

/** A linked line has the order's item and price, and may say a quantity alone. @throws Refusal */
export function goodsLine(file: CompanyFile, content: Element): Line {
  const link = content.child("LinkToTxn");
  const said = Object.fromEntries(content.below.map((one) => [one.name, one.content]));
  const { Desc = "", Quantity = "1", Rate, Cost } = said;
  if (link === null) {
    const item = (content.child("ItemRef") ?? content).text("FullName") ?? "";
    if (!file.items.has(item))
      throw new Refusal(3140, `There is an invalid reference to QuickBooks Item "${item}".`);
    const comes =
      said["Amount"] ??
      d(Quantity)
        .times(d(Rate ?? Cost))
        .round(2)
        .fixed(2);
    return { ItemRef: item, Desc, Quantity, Rate: Rate ?? "0", Amount: comes, Moved: "0" };
  }
  if (content.below.some(({ name }) => name !== "Quantity" && name !== "LinkToTxn"))
    throw new Refusal(3153, "There are conflicting elements beside LinkToTxn.");
  const [to, at] = [link.text("TxnID") ?? "", link.text("TxnLineID") ?? ""];
  const order = file.rows("PurchaseOrder").find(({ id }) => id === to);
  const line = order?.lines[Number(at) - 1];
  if (line === undefined) throw new Refusal(3120, `Object "${to}" cannot be found.`);
  line["Moved"] = d(line["Moved"]).plus(d(Quantity)).plain();
  const Amount = d(line["Rate"]).times(d(Quantity)).round(2).fixed(2);
  return { ItemRef: line["ItemRef"] ?? "", Desc, Quantity, Amount, LinkedTo: to };
}

/** What stands in a record beside its fields. */
export function goodsLines(table: Goods, { lines, isVoid }: Row): string {
  const { line, moved } = LINES[table];
  const total = isVoid ? Decimal.zero : Decimal.sum(lines.map(({ Amount }) => d(Amount)));
  const links = [...new Set(lines.flatMap(({ LinkedTo }) => LinkedTo ?? []))]
    .map((to) => `<LinkedTxn><TxnID>${to}</TxnID><TxnType>PurchaseOrder</TxnType></LinkedTxn>`)
    .join("");
  const all = lines
    .map(({ ItemRef = "", Quantity = "0", Amount = "0", Moved = "0", Desc = "" }, at) => {
      const done = moved === null ? "" : `<${moved}>${Moved}</${moved}>`;
      const [quantity, amount] = isVoid ? ["0", "0.00"] : [Quantity, Amount];
      if (ItemRef === "")
        return `<${line}Ret><TxnLineID>${at + 1}</TxnLineID><Desc>${escaped(Desc)}</Desc></${line}Ret>`;
      return `<${line}Ret><TxnLineID>${at + 1}</TxnLineID><ItemRef><FullName>${escaped(ItemRef)}</FullName></ItemRef><Quantity>${quantity}</Quantity><Amount>${amount}</Amount>${done}</${line}Ret>`;
    })
    .join("");
  return `<TotalAmount>${total.fixed(2)}</TotalAmount>${links}${all}`;
}
