/** Invoices that people enter in QuickBooks: what is an amount is told once, what is none is not, the rest is refused. */
import { expect, test } from "vitest";
import { openCompany } from "./company-server.fixture.ts";
import type { Company, Record_ } from "./company.fixture.ts";
import { never, opened, settings } from "./quickbooks-online.fixture.ts";
import { bookedInvoices as invoices } from "../../mappings/platform/records.ts";
import { everything } from "../../mappings/references.fixture.ts";
import type { Source } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { parseExact } from "../../src/core/json.ts";
import { InvoiceRecord } from "../../src/ledger/documents.ts";

const d = (digits: string): Decimal => Decimal.of(digits);

const sale = (amount: string, name = "ULSD-CLR") => ({
  DetailType: "SalesItemLineDetail",
  Amount: d(amount),
  SalesItemLineDetail: { ItemRef: { value: "1", name } },
});
const subtotal = (amount: string) => ({
  DetailType: "SubTotalLineDetail",
  Amount: d(amount),
  SubTotalLineDetail: {},
});
const text = { DetailType: "DescriptionOnly", Description: "Gate 3", DescriptionLineDetail: {} };
const discount = (amount: string) => ({
  DetailType: "DiscountLineDetail",
  Amount: d(amount),
  DiscountLineDetail: { PercentBased: true, DiscountPercent: d("10") },
});
const bundle = (amount: string, ...Line: object[]) => ({
  DetailType: "GroupLineDetail",
  Amount: d(amount),
  GroupLineDetail: { GroupItemRef: { value: "1", name: "Tank set" }, Quantity: d("1"), Line },
});

function enter(company: Company, total: string, ...Line: object[]): Record_ {
  const [customer] = company.rows("Customer");
  const row = company.enter("Invoice", {
    DocNumber: `FL-${company.rows("Invoice").length}`,
    TxnDate: "2026-11-21",
    CustomerRef: { value: customer?.Id, name: "Old Ranch" },
    Line,
  });
  const amounts = { TotalAmt: d(total), Balance: d(total) };
  company.edit("Invoice", row.Id, amounts);
  return row;
}

interface Told {
  readonly total: Decimal;
  readonly untaxed: Decimal;
  readonly lines: readonly { readonly amount: Decimal; readonly product: string | null }[];
}

/** What the source tells of all invoices, by their ids: amounts as text. */
async function toldOf(company: Company) {
  const source = opened(settings(company)).sources["invoices"] as Source;
  const reading = { signal: never, known: () => null, stored: () => false };
  const told = new Map<string, One>();
  for await (const { changes } of source.read(null, reading))
    for (const { id, text: json, fault } of changes) {
      const { lines, untaxed } = parseExact(json) as unknown as Told;
      const amounts = lines.map(({ amount }) => amount.plain());
      const message = fault === undefined ? null : `${fault.code}: ${fault.message}`;
      const refused = fault === undefined ? refusalOf(json) : null;
      const products = lines.map(({ product }) => product);
      told.set(id, { amounts, products, untaxed: untaxed.plain(), fault: message, refused });
    }
  return told;
}

interface One {
  readonly amounts: readonly string[];
  readonly products: readonly (string | null)[];
  readonly untaxed: string;
  readonly fault: string | null;
  /** Why the mapping does not take it. */
  readonly refused: string | null;
}

function refusalOf(json: string): string | null {
  try {
    invoices.map(InvoiceRecord.parse(parseExact(json)), everything("us"));
    return null;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return error.fault.message;
  }
}

async function ofCustomer(): Promise<Company> {
  const company = await openCompany();
  company.enter("Customer", { DisplayName: "Old Ranch" });
  return company;
}

test("an invoice keeps its product when somebody makes the item inactive, which QuickBooks renames", async () => {
  const company = await ofCustomer();
  const { Id } = enter(company, "100", sale("100", "ULSD-CLR (deleted)"));
  expect((await toldOf(company)).get(Id)?.products).toEqual(["ULSD-CLR"]);
});

test("shipping is a charge without a product, in words: Intuit's id of it is no item that a table could name", async () => {
  const company = await ofCustomer();
  const ItemRef = { value: "SHIPPING_ITEM_ID" };
  const shipping = { ...sale("20"), SalesItemLineDetail: { ItemRef } };
  const { Id } = enter(company, "120", sale("100"), shipping, subtotal("120"));
  const told = (await toldOf(company)).get(Id);
  expect(told).toMatchObject({ products: ["ULSD-CLR", null], fault: null, refused: null });
});

test("subtotals and texts are no amounts; a discount is taken off, and a bundle counts once", async () => {
  const company = await ofCustomer();
  const plain = enter(company, "150", sale("100"), sale("50"), text, subtotal("150"));
  const inline = enter(company, "150", sale("100"), subtotal("100"), sale("50"), subtotal("150"));
  const less = enter(company, "90", sale("100"), subtotal("100"), discount("10"));
  const set = bundle("120", sale("100"), { ...text, Amount: d("0") }, sale("20"));
  const bundled = enter(company, "150", set, sale("30"), subtotal("150"));
  const told = await toldOf(company);
  expect(told.get(plain.Id)).toMatchObject({ amounts: ["100", "50"], fault: null, refused: null });
  expect(told.get(inline.Id)).toMatchObject({ amounts: ["100", "50"], fault: null, refused: null });
  expect(told.get(less.Id)).toMatchObject({ amounts: ["100", "-10"], untaxed: "90", fault: null });
  // The platform takes no negative amounts.
  expect(told.get(less.Id)?.refused).toMatch(/negative/);
  expect(told.get(bundled.Id)).toMatchObject({ amounts: ["100", "20", "30"], refused: null });
});

test("a line of a kind that is not known to be an amount is refused by name, and the other invoices are told", async () => {
  const company = await ofCustomer();
  const kinds = ["TaxLineDetail", "PaymentLineDetail", "TDSLineDetail", "NewLineDetail"];
  const odd = kinds.map((DetailType) =>
    enter(company, "110", sale("100"), { DetailType, Amount: d("10"), [DetailType]: {} }),
  );
  const good = enter(company, "100", sale("100"));
  const told = await toldOf(company);
  for (const [at, kind] of kinds.entries())
    expect(told.get(odd[at]?.Id ?? "")?.fault).toEqual(
      expect.stringMatching(`^unknown-line: line 2 \\(${kind}, 10.00\\) is of a kind`),
    );
  expect(told.get(good.Id)?.fault).toBeNull();
});

test("lines that do not come to the total are refused by the mapping with both sums", async () => {
  const company = await ofCustomer();
  const cases = [
    enter(company, "150", sale("100"), subtotal("150")),
    enter(company, "120", bundle("120"), sale("0")),
    enter(company, "120", bundle("120", sale("100"))),
  ];
  const told = await toldOf(company);
  const sums = ["100.00", "0.00", "100.00"];
  for (const [at, { Id }] of cases.entries())
    expect(told.get(Id)?.refused).toMatch(
      new RegExp(`does not add up: the lines are ${sums[at]}, Untaxed is`),
    );
  const [odd] = [enter(company, "100", sale("100"), subtotal("100"))];
  expect((await toldOf(company)).get(odd?.Id ?? "")?.refused).toBeNull();
});

test("a void invoice is told whatever its lines say, and sales tax is no line", async () => {
  const company = await ofCustomer();
  const voided = enter(company, "0", sale("100"));
  company.edit("Invoice", voided.Id, { PrivateNote: "Voided - FL-0" });
  const taxed = enter(company, "108.25", sale("100"), subtotal("100"));
  company.edit("Invoice", taxed.Id, { TxnTaxDetail: { TotalTax: d("8.25") } });
  const told = await toldOf(company);
  expect(told.get(voided.Id)).toMatchObject({ fault: null });
  expect(told.get(taxed.Id)).toMatchObject({ amounts: ["100"], untaxed: "100", refused: null });
});

test("members that the schema lets QuickBooks leave out, or that are null, stop nothing", async () => {
  const company = await ofCustomer();
  const { DetailType: _, ...bare } = sale("100");
  const empty = { Id: "9", LineNum: d("2"), Description: null, LinkedTxn: null };
  const row = enter(company, "100", { ...bare, DiscountLineDetail: null }, empty);
  const noted = { TxnTaxDetail: null, LinkedTxn: [{ TxnLineId: "1" }], PrivateNote: null };
  company.edit("Invoice", row.Id, noted);
  const none = enter(company, "0");
  company.edit("Invoice", none.Id, { Line: null });
  const told = await toldOf(company);
  expect(told.get(row.Id)).toMatchObject({ amounts: ["100"], untaxed: "100", refused: null });
  expect(told.get(none.Id)).toMatchObject({ amounts: [], fault: null });
});
