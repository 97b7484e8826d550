/**
 * A little company file of the tests' own, behind QuickBooks' qbXML. It keeps what is added, gives ids and edit sequences,
 * and enforces what the published schema and status codes say that QuickBooks enforces: element order, lengths, unique
 * names, references, the closing date, amounts that are applied. It is no QuickBooks: a company file was never asked.
 */
import { Decimal } from "../../src/core/decimal.ts";
import { stringifyExact } from "../../src/core/json.ts";
import { goodsLine, goodsLines, isGoods } from "./company-goods.fixture.ts";
import { linesOf, sumOf } from "./company-lines.fixture.ts";
import { expectOrder, NotParsed, Refusal } from "./company-order.fixture.ts";
import {
  type Done,
  itemOf,
  LISTS,
  namesOf,
  Queries,
  type Row,
  type Table,
} from "./company-queries.fixture.ts";
import type { Element } from "../quickbooks/element.ts";
import { elementIn, escaped } from "./qbxml.ts";

export type { Row, Table } from "./company-queries.fixture.ts";

const d = (text: string | undefined): Decimal => Decimal.of(text ?? "0");

export class CompanyFile {
  company = "Prairie Fuel";
  items = new Set(["ULSD-CLR", "2300", "FREIGHT"]);
  /** Small lists of names. `null`: it is switched off. */
  readonly lists: Record<string, Set<string> | null> = {
    Account: new Set(["Checking"]),
    SalesTaxCode: new Set(["Non", "Tax"]),
    PaymentMethod: null,
    Class: null,
    StandardTerms: new Set(["Net 30"]),
  };
  /** Items of which a stock is kept. */
  readonly stock = new Set<string>();
  /** Items that are neither sold nor bought: `Subtotal`, `Discount`. */
  readonly kinds = new Map<string, string>();
  /** Documents that this edition does not have. */
  readonly lacks = new Set<string>();
  product = "Little company file";
  closedBefore = "2000-01-01";
  /** The clock of its machine, in the time of that machine's zone. */
  now = "2026-11-21T12:00:00";
  /** A payment stamps what it pays anew. */
  stampsPaid = false;
  /** It answers the next request of this name with a status; with an error it does nothing. */
  says: { readonly name: RegExp; readonly code: number; readonly message: string } | null = null;
  /** The next of each of these requests ends its session, before it is carried out or after. */
  cuts: { readonly name: RegExp; readonly when: "before" | "after" }[] = [];
  /** Every document that it was given. */
  readonly asked: string[] = [];
  #seq = 0;
  #tables: Record<Table, Row[]> = empty();
  readonly #queries = new Queries();

  rows(table: Table): Row[] {
    return this.#tables[table];
  }

  backup(): string {
    return stringifyExact({ seq: this.#seq, tables: this.#tables });
  }

  restore(backup: string): void {
    const { seq, tables } = JSON.parse(backup) as { seq: number; tables: Record<Table, Row[]> };
    this.#seq = Math.max(this.#seq, seq);
    this.#tables = tables;
  }

  /** A person enters it. */
  enter(table: Table, fields: Record<string, string>, lines: Record<string, string>[] = []): Row {
    const id = `${(++this.#seq).toString(16).toUpperCase()}-1700000000`;
    const stamps = { created: this.now, modified: this.now };
    const record = { id, sequence: 1, ...stamps, fields, lines, applied: [], isVoid: false };
    this.#tables[table].push(record);
    return record;
  }

  /** A person changes it. */
  edit(table: Table, id: string, fields: Record<string, string>): void {
    const row = this.#row(table, id);
    Object.assign(row.fields, fields);
    this.#touch(row);
  }

  /** A person deletes it. */
  remove(table: Table, id: string): void {
    const type = table === "Item" ? "ItemNonInventory" : table;
    this.#queries.deleted(type, this.#row(table, id), this.now);
    this.#tables[table] = this.rows(table).filter((row) => row.id !== id);
  }

  /** A person enters what a customer paid, or the credit memo that settles a part. */
  pay(
    invoice: string,
    amount: string,
    more: { readonly by?: "ReceivePayment" | "CreditMemo"; readonly discount?: string } = {},
  ): Row {
    const { by = "ReceivePayment", ...discount } = more;
    const on = this.#row("Invoice", invoice);
    const { CustomerRef = "" } = on.fields;
    const row = this.enter(by, { CustomerRef, TxnDate: this.now.slice(0, 10) });
    row.applied = [{ to: invoice, amount, ...discount }];
    if (this.stampsPaid) this.#touch(on);
    return row;
  }

  #row(table: Table, id: string): Row {
    const row = this.rows(table).find((one) => one.id === id);
    if (row === undefined) throw new Error(`the company file has no ${table} ${id}`);
    return row;
  }

  #touch(row: Row): void {
    row.sequence++;
    row.modified = this.now;
  }

  /** The session is over: what was read page by page cannot be gone on with. */
  sessionOver(): void {
    this.#queries.sessionOver();
  }

  /** One document. @throws NotParsed */
  answer(xml: string): string {
    this.asked.push(xml);
    const all = elementIn(xml).child("QBXMLMsgsRq");
    if (all === null || !xml.includes('<?qbxml version="13.0"?>')) throw new NotParsed("no qbXML");
    for (const { below } of all.below) for (const one of below) expectOrder(one);
    const answers: string[] = [];
    for (const request of all.below) {
      const name = request.name.replace(/Rq$/, "");
      const { requestID = "" } = request.attributes;
      let [code, message, more, body] = [0, "Status OK", "", ""];
      try {
        if (this.says?.name.test(name) === true) {
          const { code: said, message: text } = this.says;
          this.says = null;
          if (said >= 1_000) throw new Refusal(said, text);
          [code, message] = [said, text];
        }
        const { rets, attributes = "", found = true, all: isAll = true } = this.#do(name, request);
        body = rets.join("");
        more = attributes;
        if (!found) [code, message] = [1, "A query request did not find a matching object"];
        else if (!isAll) [code, message] = [500, "The query request has not been fully completed"];
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        [code, message] = [error.code, error.message];
      }
      const severity = code === 0 || code === 1 ? "Info" : code < 1000 ? "Warn" : "Error";
      answers.push(
        `<${name}Rs requestID="${requestID}" statusCode="${code}" statusSeverity="${severity}" statusMessage="${escaped(message)}"${more}>${body}</${name}Rs>`,
      );
      if (severity === "Error") break;
    }
    return `<?xml version="1.0" ?><QBXML><QBXMLMsgsRs>${answers.join("")}</QBXMLMsgsRs></QBXML>`;
  }

  #do(name: string, request: Element): Done {
    if (name === "HostQuery")
      return { rets: [`<HostRet><ProductName>${this.product}</ProductName></HostRet>`] };
    if (name === "CompanyQuery")
      return {
        rets: [`<CompanyRet><CompanyName>${escaped(this.company)}</CompanyName></CompanyRet>`],
      };
    if (name === "PreferencesQuery")
      return {
        rets: [
          `<PreferencesRet><AccountingPreferences><ClosingDate>${this.closedBefore}</ClosingDate></AccountingPreferences></PreferencesRet>`,
        ],
      };
    const list = name.replace(/Query$/, "");
    if (name === "ItemQuery") return this.#items(request);
    if (name.endsWith("DeletedQuery")) return this.#queries.answerDeleted(request);
    if (this.lacks.has(name.replace(/(?:Query|Add|Mod)$/, "")))
      throw new Refusal(3250, "This feature is not enabled or not available in this version.");
    if (list in this.lists) return namesOf(list, this.lists[list] ?? null);
    if (name.endsWith("Query")) return this.#query(name.replace(/Query$/, "") as Table, request);
    if (name === "TxnVoid") return this.#void(request);
    const [content] = request.below;
    if (content === undefined) throw new NotParsed(`${name} is empty`);
    const table = name.replace(/(?:Add|Mod)$/, "") as Table;
    const row = name.endsWith("Mod") ? this.#mod(table, content) : this.#add(table, content);
    return { rets: [this.#ret(table, row)] };
  }

  #query(table: Table, request: Element): Done {
    const isOpen = request.text("PaidStatus") === "NotPaidOnly";
    const rows = this.rows(table).filter((row) => !isOpen || this.#open(table, row).sign > 0);
    return this.#queries.answer(request, rows, (row) => this.#ret(table, row));
  }

  #add(table: Table, content: Element): Row {
    const fields = fieldsOf(content);
    if (table === "Customer" || table === "Vendor") {
      const name = (fields["Name"] ?? "").toLowerCase();
      const all = [...this.rows("Customer"), ...this.rows("Vendor")];
      if (all.some((row) => row.fields["Name"]?.toLowerCase() === name))
        throw new Refusal(
          3100,
          `The name "${fields["Name"]}" of the list element is already in use.`,
        );
      return this.enter(table, fields);
    }
    if ((fields["TxnDate"] ?? "9999") < this.closedBefore)
      throw new Refusal(3170, "There was an error: the date is on or before the closing date.");
    const isPayment = table === "ReceivePayment" || table === "BillPaymentCheck";
    const isSale = table === "Invoice" || table === "ReceivePayment" || table === "SalesOrder";
    const list = isSale ? "Customer" : "Vendor";
    const ref = table === "BillPaymentCheck" ? "PayeeEntityRef" : `${list}Ref`;
    fields[ref] = this.#named(list, fields[ref] ?? "", content.child(ref));
    const lines = this.#lines(table, content);
    const applied = content.below
      .filter(({ name }) => name === "AppliedToTxnAdd")
      .map((one) => ({
        to: one.text("TxnID") ?? "",
        amount: one.text("PaymentAmount") ?? "0",
      }));
    for (const { to, amount } of applied) {
      const of = table === "ReceivePayment" ? "Invoice" : "Bill";
      const on = this.rows(of).find(({ id }) => id === to);
      if (on === undefined)
        throw new Refusal(3120, `Object "${to}" specified in the request cannot be found.`);
      if (d(amount).compare(this.#open(of, on)) > 0)
        throw new Refusal(3210, `The "payment amount" field has an invalid value "${amount}".`);
    }
    const record = this.enter(table, fields, lines);
    if (isPayment) record.applied = applied;
    return record;
  }

  #lines(table: Table, { below }: Element): Record<string, string>[] {
    const those = below.filter(({ name }) => /Line(?:Add|Mod)$/.test(name));
    if (isGoods(table)) return those.map((one) => goodsLine(this, one));
    const lines = those.map(fieldsOf);
    for (const { ItemRef = "" } of lines)
      if (!this.items.has(ItemRef))
        throw new Refusal(3140, `There is an invalid reference to QuickBooks Item "${ItemRef}".`);
    return lines;
  }

  #named(list: "Customer" | "Vendor", fullName: string, ref: Element | null): string {
    const id = ref === null ? null : ref.text("ListID");
    const found = this.rows(list).find((row) =>
      id === null ? fullNameOf(row).toLowerCase() === fullName.toLowerCase() : row.id === id,
    );
    if (found === undefined)
      throw new Refusal(3140, `There is an invalid reference to QuickBooks ${list} "${fullName}".`);
    return fullNameOf(found);
  }

  #mod(table: Table, content: Element): Row {
    const { TxnID, EditSequence, ...fields } = fieldsOf(content);
    const row = this.rows(table).find(({ id }) => id === TxnID);
    if (row === undefined) throw new Refusal(3120, `Object "${TxnID}" cannot be found.`);
    if (String(row.sequence) !== EditSequence)
      throw new Refusal(3200, `The provided edit sequence "${EditSequence}" is out-of-date.`);
    if ((fields["TxnDate"] ?? "9999") < this.closedBefore)
      throw new Refusal(3170, "There was an error: the date is on or before the closing date.");
    Object.assign(row.fields, fields);
    const lines = this.#lines(table, content);
    if (lines.length > 0) row.lines = lines;
    this.#touch(row);
    return row;
  }

  #void(request: Element): Done {
    const row = this.rows(request.text("TxnVoidType") as Table).find(
      ({ id }) => id === request.text("TxnID"),
    );
    if (row === undefined) throw new Refusal(3120, "Object cannot be found.");
    row.isVoid = true;
    row.fields["Memo"] = `VOID: ${row.fields["Memo"] ?? ""}`;
    this.#touch(row);
    return { rets: [] };
  }

  total({ lines, isVoid }: Row): Decimal {
    return isVoid ? Decimal.zero : sumOf(lines, this.kinds);
  }

  #paying(table: Table, { id }: Row): { row: Row; amount: string; table: Table }[] {
    const tables: readonly Table[] =
      table === "Invoice" ? ["ReceivePayment", "CreditMemo"] : ["BillPaymentCheck", "VendorCredit"];
    return tables.flatMap((by) =>
      this.rows(by).flatMap((row) =>
        row.applied
          .filter(({ to }) => to === id)
          .map(({ amount, discount = "0" }) => ({
            row,
            // With its discount: whether QuickBooks adds the two in the link is not documented.
            amount: d(amount).plus(d(discount)).fixed(2),
            table: by,
          })),
      ),
    );
  }

  #open(table: Table, row: Row): Decimal {
    const paid = this.#paying(table, row).map(({ amount }) => d(amount));
    return this.total(row).minus(Decimal.sum(paid));
  }

  /** Items with names alone, and those that were entered with prices. */
  #items(request: Element): Done {
    const entered = new Set(this.rows("Item").map(({ fields }) => fields["Name"] ?? ""));
    const bare = [...this.items].filter((name) => !entered.has(name)).map(itemOf);
    const all = [...bare, ...this.rows("Item")];
    return this.#queries.answer(request, all, (row) => {
      const name = row.fields["Name"] ?? "";
      const type = this.kinds.get(name) ?? (this.stock.has(name) ? "Inventory" : "NonInventory");
      return this.#ret("Item", row).replaceAll("ItemRet", `Item${type}Ret`);
    });
  }

  #ret(table: Table, row: Row): string {
    const { id, sequence, fields, created, modified } = row;
    const isList = LISTS.has(table);
    const { Name = "", FullName = Name } = fields;
    const simple = Object.entries({
      ...fields,
      ...(table === "Customer" || table === "Item" ? { FullName } : {}),
    })
      .map(([name, text]) =>
        name === "*"
          ? text
          : name.endsWith("Ref")
            ? `<${name}>${this.#refTo(name, text)}</${name}>`
            : `<${name}>${escaped(text)}</${name}>`,
      )
      .join("");
    const idName = isList ? "ListID" : "TxnID";
    // QuickBooks tells an offset, and in summer a wrong one.
    const stamps = `<TimeCreated>${created}-06:00</TimeCreated><TimeModified>${modified}-06:00</TimeModified>`;
    const head = `<${idName}>${id}</${idName}>${stamps}<EditSequence>${sequence}</EditSequence>${simple}`;
    const rest = isList
      ? ""
      : table === "Invoice" || table === "Bill"
        ? this.#money(table, row) + linesOf(table, row, this.kinds, (item) => this.#itemId(item))
        : isGoods(table)
          ? goodsLines(table, row)
          : paymentOf(table, row);
    return `<${table}Ret>${head}${rest}</${table}Ret>`;
  }

  #itemId(name: string): string | null {
    const entered = this.rows("Item").find(({ fields }) => fields["Name"] === name);
    return entered?.id ?? (this.items.has(name) ? itemOf(name).id : null);
  }

  #refTo(ref: string, fullName: string): string {
    const list = ref === "CustomerRef" ? "Customer" : "Vendor";
    const to = this.rows(list).find(
      ({ fields: { Name, FullName = Name } }) => FullName === fullName,
    );
    const id =
      to === undefined || !/^(?:Customer|Vendor)Ref$/.test(ref) ? "" : `<ListID>${to.id}</ListID>`;
    return `${id}<FullName>${escaped(fullName)}</FullName>`;
  }

  #money(table: Table, row: Row): string {
    const [total, open] = [this.total(row), this.#open(table, row)];
    const links = this.#paying(table, row)
      .map(
        (one) =>
          `<LinkedTxn><TxnID>${one.row.id}</TxnID><TxnType>${one.table}</TxnType><TxnDate>${one.row.fields["TxnDate"] ?? ""}</TxnDate><LinkType>AMTTYPE</LinkType><Amount>-${d(one.amount).fixed(2)}</Amount></LinkedTxn>`,
      )
      .join("");
    const paid = `<IsPaid>${open.sign === 0 && !row.isVoid}</IsPaid>`;
    return table === "Invoice"
      ? `<Subtotal>${total.fixed(2)}</Subtotal><SalesTaxTotal>0.00</SalesTaxTotal><BalanceRemaining>${open.fixed(2)}</BalanceRemaining>${paid}${links}`
      : `<AmountDue>${total.fixed(2)}</AmountDue>${paid}${links}<OpenAmount>${open.fixed(2)}</OpenAmount>`;
  }
}

const empty = (): Record<Table, Row[]> => ({
  Customer: [],
  Vendor: [],
  Item: [],
  PriceLevel: [],
  Invoice: [],
  Bill: [],
  ReceivePayment: [],
  BillPaymentCheck: [],
  CreditMemo: [],
  VendorCredit: [],
  SalesOrder: [],
  PurchaseOrder: [],
  ItemReceipt: [],
});

/** Of a job (`Acme:Yard 3`) with its customer's. */
const fullNameOf = ({ fields: { Name = "", FullName = Name } }: Row): string => FullName;

const paymentOf = (table: Table, { applied }: Row): string => {
  const total = Decimal.sum(applied.map(({ amount }) => d(amount))).fixed(2);
  const own = table === "BillPaymentCheck" ? `<Amount>${total}</Amount>` : "";
  return (
    own +
    applied
      .map(
        ({ to, amount, discount }) =>
          `<AppliedToTxnRet><TxnID>${to}</TxnID><Amount>${amount}</Amount>${discount === undefined ? "" : `<DiscountAmount>${discount}</DiscountAmount>`}</AppliedToTxnRet>`,
      )
      .join("")
  );
};

/** What stands in it, lines and what it applies to aside; of a reference its full name. */
function fieldsOf({ below }: Element): Record<string, string> {
  return Object.fromEntries(
    below
      .filter(({ name }) => !/Line(?:Add|Mod)$|^AppliedToTxnAdd$/.test(name))
      .map((one) => [
        one.name,
        one.name.endsWith("Ref") ? (one.text("FullName") ?? "") : one.content,
      ]),
  );
}
