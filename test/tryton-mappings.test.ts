/** All of a Tryton export through the mappings: what goes to the platform, what is refused and why, to the cent. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { dropFolder, type DropFolder, picks } from "./files/source.ts";
import { judged, mappingNamed, sum, type Verdict as Judged } from "./support/judged.ts";
import type { Change } from "../src/core/contract.ts";
import type { Decimal } from "../src/core/decimal.ts";
import { parseExact } from "../src/core/json.ts";
import type { CreateInvoice } from "../src/platform/contract/invoice.ts";
import type { BulkRackPrice } from "../src/platform/contract/pricing.ts";
import { toDecimal } from "../src/platform/contract/primitives.ts";

type RackPrice = BulkRackPrice["prices"][number];
let folder: DropFolder;
beforeEach(async () => {
  folder = await dropFolder();
});
afterEach(() => folder.remove());

type Verdict = Judged & Pick<Change, "id">;

/** Every customer is delivered. */
function judge(name: string, changes: readonly Change[]): Verdict[] {
  const mapping = mappingNamed(name);
  return changes.map(({ id, text, fault }) =>
    fault === undefined ? { id, ...judged(mapping, parseExact(text)) } : { id, number: id, fault },
  );
}

const byText = (a: string, b: string): number => (a < b ? -1 : 1);
const refusals = (verdicts: readonly Verdict[]) =>
  verdicts
    .flatMap(({ id, fault }) => (fault === undefined ? [] : [`${id} ${fault.code}`]))
    .toSorted(byText);
const delivered = (verdicts: readonly Verdict[]) =>
  verdicts.filter(({ document }) => document !== undefined);
async function readInvoices(...names: string[]) {
  for (const name of names) await folder.copy(name);
  return folder.read(names.length === 3 ? picks.invoices : picks.invoicesAndLines);
}

test("168 prices go out, six lines are refused, each for its reason", async () => {
  await folder.copy("price-lists.csv");
  const { changes } = await folder.read(picks.priceLists);
  const verdicts = judge("books/rack-prices", changes);
  const prices = delivered(verdicts).map(({ document }) => document as RackPrice);
  expect(prices.length).toBe(168);
  expect(sum(prices.map(({ price }) => toDecimal(price))).plain()).toBe("381.78323");
  expect(new Set(prices.map((price) => `${price.terminalId} ${price.product}`)).size).toBe(168);
  expect(prices.every(({ terminalId }) => /^T-\d\d-[A-Z]{2}-\d{4}$/.test(terminalId))).toBe(true);
  expect(refusals(verdicts)).toEqual([
    "T-58-GA-2508|any bad-cell",
    "T-72-LA-2351|ULSD-CLR|from 5000 quantity-break",
    "T-72-LA-2364|PROP-HD5 negative-price",
    "T-72-LA-2379|087 bad-cell",
    "T-73-OK-2615|ULSD-CLR bad-cell",
    "T-74-TX-2718|087 zero-price",
  ]);
});

test("customers and suppliers go out, but one without a usable e-mail address", async () => {
  await folder.copy("customers.csv");
  const customers = judge("books/customers", (await folder.read(picks.customers)).changes);
  expect(refusals(customers)).toEqual(["000113 bad-email"]);
  await folder.copy("suppliers.csv");
  const suppliers = judge("books/suppliers", (await folder.read(picks.suppliers)).changes);
  expect(refusals(suppliers)).toEqual([]);
  expect([customers.length, suppliers.length]).toEqual([60, 12]);
});

test("invoices: delivered, skipped and refused are all of them, and the sums agree", async () => {
  const { changes } = await readInvoices(
    "customer-invoices.csv",
    "customer-invoice-lines.csv",
    "customer-invoice-taxes.csv",
  );
  const verdicts = judge("books/invoices", changes);
  expect(refusals(verdicts)).toEqual([
    "162 credit-note",
    "23 negative-line",
    "38 too-many-lines",
    "41 too-long",
    "56 too-long",
  ]);
  const skipped = verdicts.flatMap(({ id, skip }) => (skip === undefined ? [] : [`${id} ${skip}`]));
  expect(skipped.toSorted(byText)).toEqual(["121 draft", "53 cancelled", "59 cancelled"]);
  const out = delivered(verdicts);
  expect(out.length).toBe(114);
  const others = changes.filter(({ id }) => out.every((verdict) => verdict.id !== id));
  const records = others.map(({ text }) => parseExact(text) as unknown as ExportedInvoice);
  const total = sum([...out.map(({ amount }) => amount), ...records.map(({ total }) => total)]);
  expect(total.fixed(2)).toBe("6193332.05");
  const gallons = records.flatMap(({ lines }) =>
    lines.filter(({ unit }) => unit === "gal").map(({ quantity }) => quantity),
  );
  expect(sum([...out.map(({ gallons }) => gallons), ...gallons]).plain()).toBe("2340734.3");
});

interface ExportedInvoice {
  readonly total: Decimal;
  readonly lines: readonly { readonly unit: string | null; readonly quantity: Decimal | null }[];
}

test("gallons and rate go out only when they give the amount to the cent", async () => {
  const { changes } = await readInvoices(
    "customer-invoices.csv",
    "customer-invoice-lines.csv",
    "customer-invoice-taxes.csv",
  );
  const items = delivered(judge("books/invoices", changes)).flatMap(
    ({ document }) => (document as CreateInvoice).lineItems,
  );
  const priced = items.filter(({ rate }) => rate !== undefined);
  for (const { amount, rate, gallons } of priced) {
    const product = toDecimal(rate ?? 0).times(toDecimal(gallons ?? 0));
    expect(product.round(2).equals(toDecimal(amount ?? 0))).toBe(true);
  }
  const written = items.filter(({ description }) => /\[[\d.]+ gal\]$/.test(description));
  expect(written.every(({ gallons }) => gallons === undefined)).toBe(true);
  expect([items.length, priced.length, written.length]).toEqual([468, 376, 53]);
});

test("a German export gives the same documents, but for the taxes it does not hold", async () => {
  const { changes } = await readInvoices("customer-invoices.csv", "customer-invoice-lines.csv");
  const english = judge("books/invoices", changes);
  const { profile } = picks.invoicesAndLines;
  for (const [variant, language] of [
    ["eu", "-de"],
    ["plain", ""],
  ] as const) {
    await folder.copy(`customer-invoices-${variant}.csv`);
    await folder.copy(`customer-invoice-lines-${variant}.csv`);
    const pick = { ...picks.invoicesAndLines, profile: `${profile}${language}` };
    const again = await folder.read(pick);
    expect(JSON.stringify(judge("books/invoices", again.changes))).toBe(JSON.stringify(english));
  }
});
