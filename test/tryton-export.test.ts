/** The exports of a real Tryton, read through the files source, agree with the ERP's own books. */
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Decimal } from "../src/core/decimal.ts";
import { invoices, type Layout, parties, prices } from "../src/formats/table/layouts.ts";
import type { InvoiceRecord } from "../src/ledger/documents.ts";
import { dropFolder, type DropFolder, picks, recordsOf } from "./files/source.ts";
import { payments, products, supplierInvoices } from "./files/specimens.ts";

const expected = JSON.parse(
  readFileSync(new URL("data/tryton-export/expected.json", import.meta.url), "utf8"),
);

let folder: DropFolder;
beforeEach(async () => {
  folder = await dropFolder();
});
afterEach(() => folder.remove());

async function read<R>(
  layout: Layout<R>,
  pick: Record<string, unknown>,
  ...names: string[]
): Promise<R[]> {
  for (const name of names) await folder.copy(name);
  const { changes, notices } = await folder.read(pick);
  expect(notices.filter((notice) => !notice.includes("Windows-1252"))).toEqual([]);
  expect(changes.filter(({ fault }) => fault !== undefined)).toEqual([]);
  return recordsOf(layout, changes);
}

const HEADS = "customer-invoices.csv";
const LINES = "customer-invoice-lines.csv";
const TAXES = "customer-invoice-taxes.csv";
const readInvoices = () => read(invoices, picks.invoices, HEADS, LINES, TAXES);
const readBills = () => read(supplierInvoices, picks.bills, "supplier-invoices.csv");

type Line = NonNullable<InvoiceRecord["lines"]>[number];
const sum = (values: Iterable<Decimal | null>): Decimal =>
  Decimal.sum(Array.from(values, (value) => value ?? Decimal.zero));
const cents = (values: Iterable<Decimal | null>): string => sum(values).fixed(2);
const inGallons = (lines: readonly Line[]) => lines.filter(({ unit }) => unit === "gal");
const gallons = (documents: readonly InvoiceRecord[]): string =>
  sum(
    documents.flatMap(({ lines }) => inGallons(lines ?? []).map((line) => line.quantity)),
  ).plain();

const totals = (documents: readonly InvoiceRecord[]) => ({
  count: documents.length,
  untaxed: cents(documents.map(({ untaxed }) => untaxed)),
  tax: cents(documents.map(({ tax }) => tax)),
  total: cents(documents.map(({ total }) => total)),
  amount_to_pay: cents(documents.map(({ amountToPay }) => amountToPay)),
  gallons: gallons(documents),
});

function checkByState(documents: readonly InvoiceRecord[], of: Record<string, unknown>): void {
  const states = Map.groupBy(documents, ({ state }) => state);
  expect([...states.keys()].sort()).toEqual(Object.keys(of).sort());
  for (const [state, group] of states) expect(of[state], state).toMatchObject(totals(group));
}

function checkRows(type: "in" | "out", documents: readonly InvoiceRecord[]): void {
  const rows = expected.invoices.rows.filter((row: unknown[]) => row[1] === type);
  const found = documents.map((it) => [
    Number(it.id),
    type,
    it.number,
    it.state,
    it.invoiceDate,
    it.partyCode,
    (it.lines ?? []).filter(({ type }) => (type ?? "line") === "line").length,
    gallons([it]),
    it.untaxed.fixed(2),
    it.tax.fixed(2),
    it.total.fixed(2),
    (it.amountToPay ?? Decimal.zero).fixed(2),
  ]);
  expect(found.sort((a, b) => Number(a[0]) - Number(b[0]))).toEqual(rows);
}

function gallonsByProduct(documents: readonly InvoiceRecord[]): Record<string, string> {
  const lines = documents.flatMap((document) => inGallons(document.lines ?? []));
  const groups = Map.groupBy(lines, ({ product }) => product ?? "");
  return Object.fromEntries(
    [...groups].map(([product, of]) => [product, sum(of.map((line) => line.quantity)).plain()]),
  );
}

/** All but zeros after the last significant digit, the taxes, and units by their German name. */
const comparable = (invoice: InvoiceRecord): unknown =>
  JSON.parse(
    JSON.stringify({ ...invoice, taxes: null }, (key, value: unknown) =>
      value instanceof Decimal ? value.plain() : key === "unit" && value === "Stk." ? "u" : value,
    ),
  );

describe("control totals", () => {
  test.each([
    ["customers", picks.customers],
    ["suppliers", picks.suppliers],
  ] as const)("%s: every party with its addresses", async (name, pick) => {
    const list = await read(parties, pick, `${name}.csv`);
    const of = expected[name];
    const having = (count: number) => list.filter((it) => it.addresses?.length === count).length;
    expect({
      count: list.length,
      addresses: { none: having(0), one: having(1), two: having(2), three: having(3) },
      without_email: list.filter(({ email }) => email === null).map(({ code }) => code),
      without_phone: list
        .filter(({ phone }) => phone === null)
        .map(({ code }) => code)
        .sort(),
      name_longest: Math.max(...list.map((it) => it.name.length)),
      name_with_outer_space: list
        .filter((it) => it.name !== it.name.trim())
        .map(({ code }) => code),
    }).toEqual({
      count: of.count,
      addresses: of.addresses,
      without_email: of.without_email,
      without_phone: of.without_phone,
      name_longest: of.name_longest,
      name_with_outer_space: of.name_with_outer_space,
    });
  });

  test("products keep their codes and list prices", async () => {
    const found = await read(products, picks.products, "products.csv");
    expect(Object.fromEntries(found.map((it) => [it.code, it.listPrice?.plain()]))).toEqual(
      expected.products.list_price,
    );
    expect(found.every(({ active }) => active)).toBe(true);
  });

  test("price lines: 168 are usable, to the digit", async () => {
    await folder.copy("price-lists.csv");
    const { changes } = await folder.read(picks.priceLists);
    const of = expected.price_lists;
    expect(changes.length).toBe(of.lines);
    expect(changes.flatMap(({ fault }) => fault?.message ?? [])).toEqual([
      'Lines/Formula "unit_price * 0.985" is not a plain number with a decimal point.',
      'Lines/Formula "list_price - 0.0150" is not a plain number with a decimal point.',
      "Lines/Product/Code is empty.",
    ]);
    const found = recordsOf(prices, changes);
    const usable = found.filter(({ price, minQuantity }) => price.sign > 0 && minQuantity === null);
    const key =
      "usable_as_rack_price (constant, 0 < price <= 999999, product set, no quantity break)";
    const figures = (lines: typeof usable) => [
      lines.length,
      sum(lines.map(({ price }) => price)).plain(),
    ];
    const shown = (digits: string): string => Decimal.of(digits).plain();
    expect(figures(usable)).toEqual([of[key].count, shown(of[key].sum_of_prices)]);
    for (const [product, lines] of Map.groupBy(usable, (it) => it.product))
      expect(figures(lines), product).toEqual([
        of[key].by_product[product].count,
        shown(of[key].by_product[product].sum),
      ]);
  });

  test("customer invoices: every document, by state, to the cent", async () => {
    const found = await readInvoices();
    checkByState(found, expected.customer_invoices.by_state);
    expect(expected.customer_invoices.all).toMatchObject(totals(found));
    checkRows("out", found);
    expect(gallonsByProduct(found)).toEqual(expected.customer_invoices.gallons_by_product);
  });

  test("customer invoices: lines and taxes add up to every document", async () => {
    for (const it of await readInvoices()) {
      expect(cents((it.lines ?? []).map(({ amount }) => amount)), it.number ?? it.id).toBe(
        it.untaxed.fixed(2),
      );
      expect(cents((it.taxes ?? []).map(({ amount }) => amount)), it.number ?? it.id).toBe(
        it.tax.fixed(2),
      );
    }
  });

  test("customer invoices: taxes by name", async () => {
    const taxes = (await readInvoices()).flatMap(({ taxes }) => taxes ?? []);
    const found = [...Map.groupBy(taxes, ({ description }) => description)].map(([name, rows]) => [
      name,
      {
        rows: rows.length,
        base: cents(rows.map(({ base }) => base)),
        amount: cents(rows.map(({ amount }) => amount)),
      },
    ]);
    expect(Object.fromEntries(found)).toEqual(expected.customer_invoices.taxes);
  });

  test("customer invoices: BOL numbers in the lines' text, zeros kept", async () => {
    const lines = (await readInvoices())
      .flatMap(({ lines }) => lines ?? [])
      .filter(({ type }) => type === "line");
    const found = lines.map(({ description }) =>
      [...(description ?? "").matchAll(/(?:BOL|B\/L)\s*#?\s*(\d{5,})/gi)].map(([, bol]) => bol),
    );
    const of = expected.bol_on_customer_lines;
    expect({
      lines_of_type_line: lines.length,
      lines_with_a_number: found.filter((bols) => bols.length > 0).length,
      lines_with_two: found.filter((bols) => bols.length === 2).length,
      numbers: found.flat().length,
      distinct: new Set(found.flat()).size,
      with_leading_zero: new Set(found.flat().filter((bol) => bol?.startsWith("0"))).size,
    }).toEqual({
      lines_of_type_line: of.lines_of_type_line,
      lines_with_a_number: of.lines_with_a_number,
      lines_with_two: of.lines_with_two,
      numbers: of.numbers,
      distinct: of.distinct,
      with_leading_zero: of.with_leading_zero,
    });
  });

  test("supplier invoices: every document, by state, to the cent", async () => {
    const found = await readBills();
    checkByState(found, expected.supplier_invoices.by_state);
    expect(expected.supplier_invoices.all).toMatchObject(totals(found));
    checkRows("in", found);
    expect(gallonsByProduct(found)).toEqual(expected.supplier_invoices.gallons_by_product);
  });

  test("payments: what customers paid and what we paid", async () => {
    const found = await read(payments, picks.payments, "payments.csv");
    expect(found.length).toBe(expected.payments.rows);
    const figures = (type: string, amount: "credit" | "debit") => {
      const rows = found.filter((it) => it.type === type);
      return {
        rows: rows.length,
        amount: cents(rows.map((it) => it[amount])),
        reconciled_rows: rows.filter(({ reconciled }) => reconciled !== null).length,
      };
    };
    expect(figures("out", "credit")).toEqual(expected.payments.customer);
    expect(figures("in", "debit")).toEqual(expected.payments.supplier);
  });
});

describe("variants", () => {
  test.each(["customers-bom.csv", "customers-latin1.csv"])("%s reads the same", async (name) => {
    const original = await read(parties, picks.customers, "customers.csv");
    expect(await read(parties, picks.customers, name)).toEqual(original);
  });

  test.each([
    ["eu", "-de"],
    ["plain", ""],
  ])("invoices of the %s export have the same amounts", async (variant, language) => {
    const original = await readInvoices();
    const found = await read(
      invoices,
      { ...picks.invoicesAndLines, profile: `${picks.invoicesAndLines.profile}${language}` },
      `customer-invoices-${variant}.csv`,
      `customer-invoice-lines-${variant}.csv`,
    );
    checkRows("out", found);
    expect(found.map(comparable)).toEqual(original.map(comparable));
  });

  test("line ends do not matter, inside quotes or outside", async () => {
    const original = await read(parties, picks.customers, "customers.csv");
    const path = new URL("data/tryton-export/customers.csv", import.meta.url);
    const unix = readFileSync(path, "utf8").replaceAll("\r\n", "\n");
    await folder.put("customers-lf.csv", unix);
    expect(recordsOf(parties, (await folder.read(picks.customers)).changes)).toEqual(original);
    await folder.put("customers-crlf.csv", unix.replaceAll("\n", "\r\n"));
    expect(recordsOf(parties, (await folder.read(picks.customers)).changes)).toEqual(original);
  });

  test.each([
    ["customer-invoices-truncated.csv", 86, 85, "ends without a line end", 91],
    ["customer-invoices-truncated-quoted.csv", 30, 30, "ends inside a quoted field", 32],
  ])("%s delivers its whole rows and says so", async (name, rows, records, reason, line) => {
    const whole = await read(invoices, picks.invoiceHeads, HEADS);
    await folder.copy(name);
    const { changes, notices } = await folder.read(picks.invoiceHeads);
    expect(recordsOf(invoices, changes)).toEqual(whole.slice(0, records));
    expect(notices).toEqual([
      `${name} line ${line} ${reason}: ${rows} rows before it are whole and were read, the rest was not.`,
    ]);
    expect((await folder.names("failed")).length).toBe(2);
  });

  test("an export that gave up between two records looks whole: two suppliers", async () => {
    const all = await read(parties, picks.suppliers, "suppliers.csv");
    const found = await read(parties, picks.suppliers, "suppliers-latin1-aborted.csv");
    expect(found).toEqual(all.slice(0, 2));
  });
});
