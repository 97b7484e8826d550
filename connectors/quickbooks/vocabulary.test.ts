import { expect, test } from "vitest";
import { Decimal } from "../../src/core/decimal.ts";
import { parseExact } from "../../src/core/json.ts";
import { PartyRecord } from "../../src/ledger/documents.ts";
import { billDocument, invoiceDocument } from "../example/example.fixture.ts";
import { goneParty, itemLines, toldParty } from "./documents.ts";
import {
  ascii,
  cut,
  DOC_NUMBER_MOST,
  documentNumber,
  memoIn,
  memoOf,
  oneLine,
  partyName,
  sameName,
  shortNumber,
  suffixed,
} from "./text.ts";

const d = (text: string): Decimal => Decimal.of(text);

test("text that QuickBooks Desktop cannot hold is written out by the rule", () => {
  expect(ascii("Café Niño — “Truck”\nPlaza, 72°F ½ 東")).toBe(
    `Cafe Nino - "Truck" Plaza, 72 degF 1?2 ?`,
  );
  expect(ascii("Straße Łódź ﬁne € 5")).toBe("Strasse Lodz fine EUR 5");
  expect(oneLine(" Café\t\u0000Niño ")).toBe("Café Niño");
  expect(cut("abc def", 4)).toBe("abc");
});

test("a name that QuickBooks would change is refused, and the other list's name is suffixed", () => {
  expect(partyName("Acme Oil", 41, ascii)).toBe("Acme Oil");
  for (const [name, code] of [
    ["x".repeat(42), "name-too-long"],
    ["A:B", "name-not-held"],
    ["Café", "name-not-held"],
    ["", "name-not-held"],
  ] as const)
    expect(() => partyName(name, 41, ascii)).toThrow(
      expect.objectContaining({ fault: expect.objectContaining({ code }) }),
    );
  expect(suffixed("Acme Oil", "vendor", 41)).toBe("Acme Oil (V)");
  expect(suffixed("x".repeat(41), "customer", 41)).toHaveLength(41);
  expect(sameName("ACME oil", "Acme Oil")).toBe(true);
});

test("a number that fits is kept; a longer one becomes the same short one each time", () => {
  expect(documentNumber("INV-118", "id", 11)).toBe("INV-118");
  const online = documentNumber("INV-2026-000118-ACME", "id", DOC_NUMBER_MOST);
  expect(online).toBe("INV-2026-000118-ACME");
  const short = documentNumber("INV-2026-000118-ACME", "id", 11);
  expect(short).toBe(shortNumber("id"));
  expect(short).toMatch(/^F[A-Z2-7]{10}$/);
  expect(documentNumber("INV 118", "id", 11)).toBe(short);
});

test("a memo tells the platform's number and id again", () => {
  const memo = memoOf({ number: "INV-1", mark: "0b6f", text: "PO 4711" }, 4095, ascii);
  expect(memo).toBe("INV-1 platform:0b6f PO 4711");
  expect(memoIn(memo)).toEqual({ mark: "0b6f", number: "INV-1", text: "PO 4711" });
  expect(memoIn("by hand")).toBeNull();
});

test("taxes are lines of items, and a rate is written only where it comes to the same cent", () => {
  const [fuel, tax] = itemLines(invoiceDocument("FL-1"), "FREIGHT");
  expect(fuel).toMatchObject({ item: "ULSD-CLR", isTax: false });
  expect(fuel?.rate?.text).toBe("2.4137");
  expect(tax).toMatchObject({ item: "2300", isTax: true, quantity: null });
  const { lines } = billDocument("FL-2");
  const free = lines.map((line) => ({ ...line, unitPrice: Decimal.of("2.413701"), product: "P" }));
  expect(itemLines(billDocument("FL-2", { lines: free }), "FREIGHT")[0]?.rate).toBeNull();
  const charge = lines.map((line) => ({ ...line, product: null }));
  expect(itemLines(billDocument("FL-3", { lines: charge }), "FREIGHT")[0]).toMatchObject({
    item: "FREIGHT",
    quantity: null,
  });
});

test("a document that does not add up is refused before it is posted", () => {
  const wrong = invoiceDocument("FL-1", { total: Decimal.of("19934.09") });
  expect(() => itemLines(wrong, "FREIGHT")).toThrow(/its total is 19,934.09/);
});

test("a rate goes only where QuickBooks, which rounds half a cent up, makes the platform's cent of it", () => {
  const [line] = invoiceDocument("FL-1").lines;
  const rateOf = (amount: string): string | null => {
    const half = { ...line, quantity: d("5"), unitPrice: d("0.005"), amount: d(amount) } as never;
    const document = { lines: [half], taxes: [], total: d(amount), subtotal: d(amount) };
    return itemLines(invoiceDocument("FL-1", document), "FREIGHT")[0]?.rate?.text ?? null;
  };
  expect([rateOf("0.03"), rateOf("0.02")]).toEqual(["0.005", null]);
});

test("a tax says of which product it is, and is by the gallon where that comes to its amount", () => {
  const [line] = invoiceDocument("FL-1").lines;
  const tax = { account: "LUST", description: "Federal LUST Fee", base: d("0"), amount: d("7.50") };
  const taxOf = (more: object) => {
    const taxes = [{ ...tax, ...more }];
    const document = { lines: line ? [line] : [], taxes, total: d("18111.46") };
    return itemLines(invoiceDocument("FL-1", document), "FREIGHT").at(-1);
  };
  expect(taxOf({ product: "ULSD", gallons: d("7500"), rate: d("0.001") })).toMatchObject({
    text: "Federal LUST Fee, ULSD",
    quantity: d("7500"),
    rate: d("0.001"),
    amount: d("7.50"),
  });
  for (const more of [{}, { gallons: d("7500"), rate: d("0.002") }, { gallons: d("7500") }])
    expect(taxOf(more)).toMatchObject({ text: tax.description, quantity: null, rate: null });
});

test("a party's country and state are told as codes, or not at all", () => {
  const none = { email: null, phone: null, version: null, currency: null };
  const party = { ...none, id: "1", name: "R", title: "Refinery", active: true, isJob: false };
  const recordOf = (told: ReturnType<typeof goneParty> | null) =>
    PartyRecord.parse(parseExact(told?.text ?? ""));
  const regionOf = (country: string | null, state: string | null) => {
    const address = { lines: ["Gate 3", " ", null], city: null, zip: null, country, state };
    const told = recordOf(toldParty("vendor", { ...party, notes: "platform:0b6f", address }));
    expect(told).toMatchObject({ street: "Gate 3", companyId: "0b6f", isSupplier: true });
    return [told.country, told.state];
  };
  expect(regionOf(null, "tx")).toEqual(["US", "US-TX"]);
  expect(regionOf("U.S.A.", "Texas")).toEqual(["US", null]);
  expect(regionOf("ca", "AB")).toEqual(["CA", "CA-AB"]);
  expect(regionOf("Kanada", "AB")).toEqual([null, null]);
  expect(recordOf(goneParty("customer", "1", "Ranch"))).toMatchObject({
    country: null,
    active: false,
  });
});
