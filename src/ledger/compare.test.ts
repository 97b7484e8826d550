import { describe, expect, test } from "vitest";
import { Decimal } from "../core/decimal.ts";
import type { Difference, Facts, HoldingKind } from "../core/holdings.ts";
import type { GoodsKind } from "./port.ts";
import { compare, inWords, labelOf } from "./compare.ts";

const d = (digits: string): Decimal => Decimal.of(digits);

const invoice = {
  number: "FL-1",
  party: "A-1001",
  state: "open",
  days: { date: "2026-11-21", due: "2026-12-08", paid: null },
  money: { untaxed: d("18103.96"), tax: d("1830.12"), total: d("19934.08"), open: d("19934.08") },
  words: { side: "sale", currency: "USD", reference: "FL-1", order: "PO 4711", notes: null },
  lines: [
    {
      product: "ULSD",
      account: "4000",
      quantity: d("7500.5"),
      unit: "gal",
      unitPrice: d("2.4137"),
      amount: d("18103.96"),
      text: "ULSD; BOL 1",
    },
    {
      product: null,
      account: "4100",
      quantity: d("1"),
      unit: null,
      unitPrice: d("5"),
      amount: d("5"),
    },
  ],
  taxes: [{ code: "2300", base: d("18103.96"), amount: d("1830.12") }],
} as const satisfies Facts;

const payment = {
  number: "P-1",
  party: "A-1001",
  state: "paid",
  days: { date: "2026-11-21" },
  money: { amount: d("100") },
  words: { side: "sale", currency: "USD", document: "FL-1", reference: "ACH 1", notes: null },
} as const satisfies Facts;

const party = { number: "A-1001", state: "open", words: { name: "Ranch Supply" } } as const;
const price = {
  number: "T-1 ULSD",
  money: { price: d("2.4137") },
  words: { unit: "gal", currency: "USD" },
} as const;

const order = {
  party: "A-1001",
  words: { side: "sale" },
  lines: invoice.lines,
} as const satisfies Facts;
const ticket = {
  ...order,
  days: { date: "2026-11-21" },
  words: { ...order.words, reference: "BOL 1" },
} as const satisfies Facts;

const line = (more: object): Facts => ({
  lines: [{ ...invoice.lines[0], ...more }, invoice.lines[1]],
});

/** Each changes one thing; `field` is what must be told, and nothing else. */
const changes: readonly (readonly [
  kind: HoldingKind | GoodsKind,
  whole: Facts,
  field: string,
  change: Facts,
])[] = [
  ...(["invoice", "bill"] as const).flatMap((kind) =>
    (
      [
        ["number", { number: "FL-2" }],
        ["party", { party: "A-1038" }],
        ["side", { words: { ...invoice.words, side: "purchase" } }],
        ["state", { state: "paid" }],
        ["days.date", { days: { ...invoice.days, date: "2026-11-22" } }],
        ["days.due", { days: { ...invoice.days, due: "2026-12-09" } }],
        ["days.paid", { days: { ...invoice.days, paid: "2026-12-01" } }],
        ["money.untaxed", { money: { ...invoice.money, untaxed: d("18103.97") } }],
        ["money.tax", { money: { ...invoice.money, tax: d("1830.13") } }],
        ["money.total", { money: { ...invoice.money, total: d("19934.09") } }],
        ["money.open", { money: { ...invoice.money, open: d("0") } }],
        ["currency", { words: { ...invoice.words, currency: "CAD" } }],
        ["reference", { words: { ...invoice.words, reference: "X" } }],
        ["order", { words: { ...invoice.words, order: "PO 4712" } }],
        ["notes", { words: { ...invoice.words, notes: "new" } }],
        ["lines.1.product", line({ product: "REG" })],
        ["lines.1.account", line({ account: "4001" })],
        ["lines.1.quantity", line({ quantity: d("7500.6") })],
        ["lines.1.unit", line({ unit: "l" })],
        ["lines.1.unitPrice", line({ unitPrice: d("2.41371") })],
        ["lines.1.amount", line({ amount: d("18103.95") })],
        ["lines.1.text", line({ text: "ULSD; BOL 2" })],
        ["lines.2", { lines: [invoice.lines[0]] }],
        ["lines.3", { lines: [...invoice.lines, invoice.lines[1]] }],
        ["taxes.2300", { taxes: [{ ...invoice.taxes[0], amount: d("1830.11") }] }],
        ["taxes.2300.base", { taxes: [{ ...invoice.taxes[0], base: d("18103.95") }] }],
        ["taxes.2320", { taxes: [...invoice.taxes, { code: "2320", amount: d("1") }] }],
      ] as const
    ).map(([field, change]) => [kind, invoice, field, change] as const),
  ),
  ...(["payment", "bill-payment"] as const).flatMap((kind) =>
    (
      [
        ["number", { number: "P-2" }],
        ["party", { party: "A-1038" }],
        ["side", { words: { ...payment.words, side: "purchase" } }],
        ["state", { state: "ended" }],
        ["days.date", { days: { date: "2026-11-22" } }],
        ["money.amount", { money: { amount: d("100.01") } }],
        ["currency", { words: { ...payment.words, currency: "CAD" } }],
        ["document", { words: { ...payment.words, document: "FL-2" } }],
        ["reference", { words: { ...payment.words, reference: "ACH 2" } }],
        ["notes", { words: { ...payment.words, notes: "new" } }],
      ] as const
    ).map(([field, change]) => [kind, payment, field, change] as const),
  ),
  ...(["order", "shipment"] as const).flatMap((kind) => {
    const whole = kind === "order" ? order : ticket;
    return (
      [
        ["party", { party: "A-1038" }],
        ["side", { words: { ...whole.words, side: "purchase" } }],
        ["lines.1.product", line({ product: "REG" })],
        ["lines.1.quantity", line({ quantity: d("7500.6") })],
        ["lines.1.unit", line({ unit: "l" })],
        ["lines.1.unitPrice", line({ unitPrice: d("2.41371") })],
        ["lines.2", { lines: [order.lines[0]] }],
        ["lines.3", { lines: [...order.lines, order.lines[1]] }],
      ] as const
    ).map(([field, change]) => [kind, whole, field, change] as const);
  }),
  ["shipment", ticket, "days.date", { days: { date: "2026-11-22" } }],
  ["shipment", ticket, "reference", { words: { ...ticket.words, reference: "BOL 2" } }],
  ["party", party, "number", { number: "A-1002" }],
  ["party", party, "state", { state: "ended" }],
  ["party", party, "name", { words: { name: "Ranch" } }],
  ["price", price, "number", { number: "T-2 ULSD" }],
  ["price", price, "money.price", { money: { price: d("2.41371") } }],
  ["price", price, "unit", { words: { ...price.words, unit: "bbl" } }],
  ["price", price, "currency", { words: { ...price.words, currency: "CAD" } }],
];

describe("compare", () => {
  test.for(changes)("%s: a change of one field is told: %2$s", ([kind, whole, field, change]) => {
    expect(compare(kind, whole, { ...whole, ...change }).map((one) => one.field)).toEqual([field]);
  });

  test("equal values written otherwise, lines in another order and split taxes are equal", () => {
    const held: Facts = {
      ...invoice,
      money: { ...invoice.money, total: d("19934.0800") },
      words: { ...invoice.words, notes: "" },
      lines: invoice.lines.toReversed(),
      taxes: [
        { code: "2300", base: d("18000"), amount: d("1830") },
        { code: "2300", base: d("103.96"), amount: d("0.12") },
      ],
    };
    expect(compare("invoice", invoice, held)).toEqual([]);
  });

  test("what a side cannot show is not compared; what it shows as empty is", () => {
    expect(compare("invoice", invoice, { number: "FL-1" })).toEqual([]);
    const differences = compare("invoice", invoice, { days: { due: null } });
    expect(differences).toEqual([{ field: "days.due", expected: "2026-12-08", held: "none" }]);
  });

  test("two taxes on one account are told apart where both sides have words for them", () => {
    const taxes = (federal: string, fee: string, text: boolean): Facts => ({
      taxes: [
        { code: "2300", amount: d(federal), ...(text ? { text: "Federal excise" } : {}) },
        { code: "2300", amount: d(fee), ...(text ? { text: "LUST fee" } : {}) },
      ],
    });
    const whole = taxes("1830", "7.5", true);
    expect(compare("invoice", whole, taxes("1829", "8.5", true)).map(({ field }) => field)).toEqual(
      ["taxes.2300 Federal excise", "taxes.2300 LUST fee"],
    );
    expect(compare("invoice", whole, taxes("1829", "8.5", false))).toEqual([]);
  });

  test("content leaves progress out, and progress leaves content out", () => {
    const held: Facts = { ...invoice, state: "paid", party: "A-1038", lines: [] };
    const fields = (group: "content" | "progress") =>
      compare("invoice", invoice, held, { group }).map((one) => one.field);
    expect(fields("content")).toEqual(["party", "lines.1", "lines.2"]);
    expect(fields("progress")).toEqual(["state"]);
  });

  test("an ignored field is left out, of lines too", () => {
    const held: Facts = { ...invoice, ...line({ text: "other" }), words: { order: "PO 1" } };
    expect(compare("invoice", invoice, held, { ignore: ["order", "lines.text"] })).toEqual([]);
  });

  test("a difference is told in words for people", () => {
    const [payer] = compare("invoice", invoice, { party: "A-1038" });
    const sides = { expected: "platform", held: "books" };
    expect(payer && inWords("invoice", payer, sides)).toBe("payer: books A-1038, platform A-1001");
    expect(labelOf("bill", "party")).toBe("issuer");
    expect(labelOf("invoice", "lines.1.unitPrice")).toBe("line 1 unit price");
    expect(labelOf("invoice", "taxes.2300.base")).toBe("tax 2300 base");
    expect(labelOf("invoice", "days.due")).toBe("due date");
    expect(labelOf("invoice", "money.total")).toBe("total");
  });
});

describe("values that look alike", () => {
  const of = (name: string | null): Facts => ({ number: "1", words: { name } });
  const tax = (code: string): Facts => ({ taxes: [{ code, amount: d("5.00") }] });

  test.each([
    ["a no-break space", "Acme\u00A0Oil", "Acme Oil"],
    ["a blank at the end", "Acme ", "Acme"],
    ["an accent composed otherwise", "Caf\u00E9", "Cafe\u0301"],
    ["the word for nothing", "none", null],
  ])("%s is printed so that it can be seen", (_, one, other) => {
    const [difference] = compare("party", of(one), of(other));
    expect(difference?.expected).not.toBe(difference?.held);
    const sentence = inWords("party", difference as Difference, {
      expected: "platform",
      held: "books",
    });
    expect(sentence).toMatch(/: books (.+), platform (?!\1$)/);
    expect(sentence).toMatch(/"/);
  });

  test("two names of taxes are told apart", () => {
    const fields = compare("invoice", tax("TX Fuel"), tax("TX Fuel\u00A0")).map(
      ({ field }) => field,
    );
    expect(fields).toEqual(['taxes."TX Fuel"', 'taxes."TX Fuel<no-break space>"']);
  });
});
