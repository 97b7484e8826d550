/** What QuickBooks Online refuses of what is written, as far as its schemas and pages say. */
import { Decimal } from "../../src/core/decimal.ts";
import { roundHalfUp } from "../quickbooks/documents.ts";
import { type Body, type Record_, word } from "./query.fixture.ts";

/** A fault of QuickBooks. */
export class Fault extends Error {
  readonly status: number;
  readonly code: string;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

type RowsOf = (table: string) => readonly Record_[];

const SALES = ["Invoice", "Payment", "Estimate"];

/** @throws Fault */
export function checkDocument(table: string, row: Body, rowsOf: RowsOf): void {
  if (word(row["DocNumber"]).length > 21) throw new Fault("6000", "DocNumber is too long");
  if (word(row["PrivateNote"]).length > 4000) throw new Fault("6000", "PrivateNote is too long");
  if (/^(?:PurchaseOrder|BillPayment)$/.test(table)) checkPayable(row, rowsOf);
  const party = SALES.includes(table) ? "Customer" : "Vendor";
  refer(party, row[`${party}Ref`], rowsOf);
  for (const line of (row["Line"] ?? []) as Body[]) checkLine(line, rowsOf);
  if (((row["Line"] ?? []) as Body[]).length === 0) throw new Fault("2020", "Line is missing");
  const status = STATUSES[table];
  if (status !== undefined && row[status.field] !== undefined)
    if (!status.values.includes(word(row[status.field])))
      throw new Fault("2170", `Invalid Enumeration : ${word(row[status.field])}`);
}

/** Where there are several accounts payable, none is implied, and what pays a bill is on the account of the bill. @throws Fault */
function checkPayable(row: Body, rowsOf: RowsOf): void {
  const several = rowsOf("Account").filter((one) => one["AccountType"] === "Accounts Payable");
  if (several.length < 2) return;
  if (payableOf(row) === undefined)
    throw new Fault("2020", "Required parameter APAccountRef is missing");
  const linked = ((row["Line"] ?? []) as Body[]).flatMap(
    (line) => (line["LinkedTxn"] ?? []) as Body[],
  );
  const bills = rowsOf("Bill").filter(({ Id }) => linked.some(({ TxnId }) => TxnId === Id));
  if (bills.some((bill) => payableOf(bill) !== payableOf(row)))
    throw new Fault("6000", "The accounts payable of a payment and its bill differ");
}

const payableOf = (row: Body): unknown => (row["APAccountRef"] as Body | undefined)?.["value"];

const STATUSES: Readonly<Record<string, { field: string; values: readonly string[] }>> = {
  Estimate: { field: "TxnStatus", values: ["Pending", "Accepted", "Closed", "Rejected"] },
  PurchaseOrder: { field: "POStatus", values: ["Open", "Closed"] },
};

function checkLine(line: Body, rowsOf: RowsOf): void {
  const amount = line["Amount"] as Decimal;
  if (!amount.round(2).equals(amount))
    throw new Fault("6000", `Amount ${amount.text} has more than cents`);
  if (word(line["Description"]).length > 4000) throw new Fault("6000", "Description is too long");
  if (line["LinkedTxn"] !== undefined) return;
  const detail = line[String(line["DetailType"])] as Body | undefined;
  if (detail === undefined) throw new Fault("2020", "Required parameter detail is missing");
  if (detail["AccountRef"] !== undefined) refer("Account", detail["AccountRef"], rowsOf);
  else refer("Item", detail["ItemRef"], rowsOf);
  const { Qty, UnitPrice } = detail as { Qty?: Decimal; UnitPrice?: Decimal };
  if (
    Qty !== undefined &&
    UnitPrice !== undefined &&
    !roundHalfUp(Qty.times(UnitPrice)).equals(amount)
  )
    throw new Fault("6070", `Amount calculation incorrect: ${amount.text} is not UnitPrice * Qty`);
  const tax = (detail["TaxCodeRef"] as Body | undefined)?.["value"];
  if (tax !== undefined && tax !== "NON" && tax !== "TAX")
    throw new Fault("2500", `no tax code ${word(tax)}`);
}

function refer(table: string, ref: unknown, rowsOf: RowsOf): void {
  const id = (ref as Body | undefined)?.["value"];
  const row = rowsOf(table).find((one) => one.Id === id);
  if (row === undefined) throw new Fault("2500", `Invalid Reference Id: ${table} ${String(id)}`);
  if (row["Active"] === false)
    throw new Fault("610", `Object Not Found: ${table} ${row.Id} is inactive`);
  const name = row["DisplayName"] ?? row["Name"];
  Object.assign(ref as Body, { name });
}

/** What a document comes to: subtotals and texts are ignored, a discount is taken off, a bundle is what is inside. */
export const totalOf = (lines: readonly Body[]): Decimal => Decimal.sum(lines.map(amountOf));

function amountOf(line: Body): Decimal {
  const amount = (line["Amount"] ?? Decimal.zero) as Decimal;
  switch (line["DetailType"]) {
    case "SubTotalLineDetail":
    case "DescriptionOnly":
      return Decimal.zero;
    case "DiscountLineDetail":
      return amount.negated();
    case "GroupLineDetail":
      return totalOf(((line["GroupLineDetail"] as Body)["Line"] ?? []) as Body[]);
    default:
      return amount;
  }
}

/** One list of names for all. @throws Fault */
export function checkName(body: Body, rowsOf: RowsOf): void {
  const name = word(body["DisplayName"]);
  if (name === "" || name.length > 100 || name.includes(":"))
    throw new Fault("6000", "DisplayName");
  for (const table of ["Customer", "Vendor", "Employee"])
    for (const row of rowsOf(table))
      if (String(row["DisplayName"]).toLowerCase() === name.toLowerCase())
        throw new Fault("6240", `Duplicate Name Exists Error: ${name}`);
}
