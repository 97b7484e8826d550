/** Orders and item receipts of the little company file: what the published schema and Intuit's guide say that is enforced. */
import { Decimal } from "../../src/core/decimal.ts";
import { Refusal } from "./company-order.fixture.ts";
import type { Row, Table } from "./company-queries.fixture.ts";
import type { Element } from "../quickbooks/element.ts";
import { escaped } from "./qbxml.ts";

const PARTIES = {
  SalesOrder: { list: "Customer", line: "SalesOrderLine" },
  PurchaseOrder: { list: "Vendor", line: "PurchaseOrderLine" },
  ItemReceipt: { list: "Vendor", line: "ItemLine" },
} as const;
export type Goods = keyof typeof PARTIES;

/** What orders and receipts need of the company file. */
interface CompanyFile {
  readonly closedBefore: string;
  readonly items: ReadonlySet<string>;
  rows(table: Table): readonly Row[];
  enter(table: Table, fields: Record<string, string>, lines: Record<string, string>[]): Row;
}
type Line = Record<string, string>;

export const isGoods = (table: string): table is Goods => table in PARTIES;

const d = (text: string | undefined): Decimal => Decimal.of(text ?? "0");

/** An Add or a Mod. @throws Refusal */
export function changeGoods(file: CompanyFile, table: Goods, content: Element): Row {
  const { list, line } = PARTIES[table];
  const isMod = content.name.endsWith("Mod");
  const fields = simple(content, line);
  const { TxnID, EditSequence, ...rest } = fields;
  if ((rest["TxnDate"] ?? "9999") < file.closedBefore)
    throw new Refusal(3170, "There was an error: the date is on or before the closing date.");
  const lines = content.below
    .filter(({ name }) => name === `${line}${isMod ? "Mod" : "Add"}`)
    .map((one) => lineOf(file, one));
  if (!isMod) {
    const ref = content.child(`${list}Ref`);
    const id = ref === null ? null : ref.text("ListID");
    const name = ref === null ? null : ref.text("FullName");
    const party = file.rows(list).find((row) => row.id === id || row.fields["Name"] === name);
    if (party === undefined)
      throw new Refusal(3140, `There is an invalid reference to QuickBooks ${list} "${name}".`);
    return file.enter(table, { ...rest, [`${list}Ref`]: party.fields["Name"] ?? "" }, lines);
  }
  const row = file.rows(table).find((one) => one.id === TxnID);
  if (row === undefined) throw new Refusal(3120, `Object "${TxnID}" cannot be found.`);
  if (String(row.sequence) !== EditSequence)
    throw new Refusal(3200, `The provided edit sequence "${EditSequence}" is out-of-date.`);
  Object.assign(row.fields, rest);
  if (lines.length > 0) row.lines = lines;
  row.sequence++;
  return row;
}

const simple = ({ below }: Element, line: string): Line =>
  Object.fromEntries(
    below
      .filter(({ name }) => !name.startsWith(line) && !name.endsWith("Ref"))
      .map(({ name, content }) => [name, content]),
  );

/** A linked line has the order's item and price, and may say a quantity alone. @throws Refusal */
function lineOf(file: CompanyFile, content: Element): Line {
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

export function goodsRet(table: Goods, row: Row): string {
  const { line } = PARTIES[table];
  const { id, sequence, fields, lines, isVoid } = row;
  const heads = Object.entries(fields)
    .map(([name, text]) =>
      name.endsWith("Ref")
        ? `<${name}><FullName>${escaped(text)}</FullName></${name}>`
        : `<${name}>${escaped(text)}</${name}>`,
    )
    .join("");
  const moved = { SalesOrder: "Invoiced", PurchaseOrder: "ReceivedQuantity", ItemReceipt: null }[
    table
  ];
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
  return `<${table}Ret><TxnID>${id}</TxnID><EditSequence>${sequence}</EditSequence>${heads}<TotalAmount>${total.fixed(2)}</TotalAmount>${links}${all}</${table}Ret>`;
}
