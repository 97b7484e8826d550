/** Papers matched: a month with planted errors, single cases, and what must hold whatever the papers are. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ALL, filled, monthOf, papersOf, run, scoreOf } from "../../test/support/matched.ts";
import { Decimal } from "../core/decimal.ts";
import { stringifyExact } from "../core/json.ts";
import {
  fold,
  type Invoice,
  laneOfRow,
  type Order,
  type Price,
  readers,
  recordOf,
  type Ticket,
} from "./papers.ts";
import { Matching, summed } from "./report.ts";
import type { Finding, MatchSettings } from "./situation.ts";

const D = (digits: string): Decimal => Decimal.of(digits);
const US = "us";
const BUYER = "buyer";
const SELLER = "seller";

const order: Order = {
  kind: "order",
  id: "o1",
  number: "LD-1",
  status: "INVOICED",
  day: "2026-11-10",
  location: "site",
  lines: [
    { product: "ULSD", terminal: "T-1", gallons: D("8000"), purchase: D("2.40"), sale: D("2.50") },
  ],
};
const ticket: Ticket = {
  kind: "ticket",
  id: "t1",
  number: "TK-1",
  status: "SIGNED",
  day: "2026-11-10",
  order: "o1",
  supplier: US,
  receiver: BUYER,
  bols: ["4711"],
  terminal: "T-1",
  lines: [
    {
      product: "ULSD",
      spec: "",
      gross: D("8000"),
      net: D("7950"),
      temperature: null,
      gravity: null,
    },
  ],
};
const line: Invoice["lines"][number] = {
  kind: "fuel",
  description: "Diesel",
  product: "ULSD",
  location: null,
  bolNumber: "4711",
  deliveryTicket: "TK-1",
  gallons: D("7950"),
  grossGallons: D("8000"),
  netGallons: D("7950"),
  rate: D("2.50"),
  rackPrice: null,
  margin: null,
  amount: D("19875.00"),
  deliveredDate: "2026-11-10T15:00:00Z",
};
const sale: Invoice = {
  kind: "invoice",
  id: "i1",
  number: "INV-1",
  status: "OUTSTANDING",
  day: "2026-11-11",
  direction: "sale",
  party: BUYER,
  order: "o1",
  lines: [line],
  taxes: [],
};
const bill: Invoice = {
  ...sale,
  id: "b1",
  number: "BILL-1",
  direction: "purchase",
  party: SELLER,
  order: null,
  lines: [{ ...line, deliveryTicket: null, rate: D("2.40"), amount: D("19080.00") }],
};

const tax = {
  taxType: "TX Diesel",
  authority: "TX",
  productRef: "ULSD",
  rate: D("0.2"),
  gallons: D("7950"),
  amount: D("1590.00"),
};

type AnyPaper = Order | Ticket | Invoice;

function matched(
  papers: readonly AnyPaper[],
  more: Partial<MatchSettings> = {},
  prices: readonly Price[] = [],
) {
  const matching = filledWith(papers);
  for (const price of prices) matching.reference.addPrice(price);
  return run(matching, more);
}

function filledWith(papers: readonly AnyPaper[]): Matching {
  const matching = new Matching({ product: fold, terminal: fold });
  matching.reference.us = US;
  for (const paper of papers) matching.add(paper);
  return matching;
}

const told = (...[papers, more, prices]: Parameters<typeof matched>) =>
  matched(papers, more, prices).findings.map(
    ({ rule, certainty, gallons, amount, favour, cause }) => ({
      rule,
      certainty,
      gallons,
      amount,
      favour,
      cause,
    }),
  );

/** Its amount follows from its gallons and rate unless it is given. */
function withLine(paper: Invoice, change: Partial<Invoice["lines"][number]>): Invoice {
  const { rate, gallons, ...rest } = { ...(paper.lines[0] ?? line), ...change };
  const amount = (rate && gallons?.times(rate).round(2)) ?? rest.amount;
  return { ...paper, lines: [{ ...rest, rate, gallons, amount, ...change }] };
}
const withTicket = (change: Partial<Ticket["lines"][number]>): Ticket => ({
  ...ticket,
  lines: ticket.lines.map((one) => ({ ...one, ...change })),
});

test("order, ticket, invoice and bill of one load are one case without a finding", () => {
  expect(matched([order, ticket, sale, bill])).toMatchObject({
    invoices: { all: 2, match: 2, differ: 0 },
    findings: [],
  });
});

test.each<[string, readonly AnyPaper[], object, Partial<MatchSettings>?]>([
  [
    "gallons with two digits turned, on what we bill",
    [order, ticket, withLine(sale, { gallons: D("9750"), netGallons: D("9750") }), bill],
    { rule: "quantity", certainty: "certain", gallons: "1800", amount: "4500.00", favour: "them" },
  ],
  [
    "the same on what we are billed",
    [order, ticket, sale, withLine(bill, { gallons: D("9750"), netGallons: D("9750") })],
    { rule: "quantity", certainty: "certain", gallons: "1800", amount: "4320.00", favour: "us" },
  ],
  [
    "the same with the taxes that are levied on these gallons",
    [
      order,
      ticket,
      {
        ...withLine(sale, { gallons: D("9750"), netGallons: D("9750") }),
        taxes: [{ ...tax, gallons: D("9750"), amount: D("1950.00") }],
      },
      bill,
    ],
    {
      rule: "quantity",
      gallons: "1800",
      amount: "4860.00",
      favour: "them",
      cause:
        "9750 gallons are billed, the ticket says 7950 (the same digits in another order). Taxes are 360.00 of the amount.",
    },
  ],
  [
    "an amount that is not gallons at the rate",
    [order, ticket, sale, withLine(bill, { amount: D("20080.00") })],
    {
      rule: "line-amount",
      certainty: "certain",
      amount: "1000.00",
      favour: "us",
      cause: "2.40 × 7950 gallons is 19,080.00, 20,080.00 is billed.",
    },
  ],
  [
    "a ticket that is not signed yet makes it probable",
    [
      order,
      { ...ticket, status: "ISSUED" },
      withLine(sale, { gallons: D("9750"), netGallons: D("9750") }),
      bill,
    ],
    { rule: "quantity", certainty: "probable" },
  ],
  [
    "gross gallons where net was agreed",
    [order, ticket, withLine(sale, { gallons: D("8000") }), bill],
    { rule: "wrong-basis", certainty: "certain", gallons: "50", amount: "125.00", favour: "them" },
  ],
  [
    "a rate beside the order's price",
    [order, ticket, sale, withLine(bill, { rate: D("2.45") })],
    { rule: "order-price", certainty: "certain", amount: "397.50", favour: "us" },
  ],
  [
    "a rate beside its own rack price and margin",
    [order, ticket, withLine(sale, { rackPrice: D("2.40"), margin: D("0.09") }), bill],
    { rule: "rack-and-margin", certainty: "certain", amount: "79.50", favour: "them" },
  ],
  [
    "one load on two bills",
    [order, ticket, sale, bill, { ...bill, id: "b2", number: "BILL-2", day: "2026-11-12" }],
    { rule: "billed-twice", certainty: "certain", amount: "19080.00", favour: "us" },
  ],
  [
    "one load on two bills, each with its tax",
    [
      order,
      ticket,
      sale,
      { ...bill, taxes: [tax] },
      { ...bill, id: "b2", number: "BILL-2", day: "2026-11-12", taxes: [tax] },
    ],
    { rule: "billed-twice", amount: "20670.00", favour: "us" },
  ],
  [
    "one load on two lines of a bill, each with its tax",
    [order, ticket, sale, { ...bill, lines: [...bill.lines, ...bill.lines], taxes: [tax, tax] }],
    { rule: "billed-twice", amount: "20670.00", favour: "us" },
  ],
  [
    "one bill of lading on two bills, and no ticket at all",
    [bill, { ...bill, id: "b2", number: "BILL-2" }],
    { rule: "billed-twice", certainty: "certain" },
    { patienceDays: 30 },
  ],
  [
    "another product than was delivered",
    [order, ticket, withLine(sale, { product: "UNL-87", rate: D("2.60") }), bill],
    { rule: "wrong-product", certainty: "certain", amount: "795.00", favour: "them" },
  ],
  [
    "a signed delivery that is on no invoice",
    [order, ticket, bill],
    {
      rule: "not-billed",
      certainty: "certain",
      gallons: "-7950",
      amount: "19875.00",
      favour: "us",
    },
  ],
  [
    "a bill of a load that nobody delivered",
    [order, ticket, sale, withLine(bill, { bolNumber: "9999" })],
    {
      rule: "no-delivery",
      certainty: "certain",
      amount: "19080.00",
      favour: "us",
      cause: "Invoice BILL-1, ULSD bills a load of which there is no ticket (9999).",
    },
  ],
  [
    "a signed delivery to who pays gross, on no invoice",
    [order, ticket, bill],
    { rule: "not-billed", gallons: "-8000", amount: "20000.00" },
    { basis: (party) => (party === BUYER ? "gross" : null) },
  ],
  [
    "less delivered than ordered",
    [
      { ...order, lines: [{ ...(order.lines[0] as Order["lines"][number]), gallons: D("9000") }] },
      ticket,
      sale,
      bill,
    ],
    { rule: "part-delivered", certainty: "probable", gallons: "-1000", favour: null },
  ],
  [
    "a ticket without an order",
    [{ ...ticket, order: null }, { ...sale, order: null }, bill],
    { rule: "no-order", certainty: "probable", favour: null },
  ],
  [
    "net gallons that do not follow from gross gallons, temperature and gravity",
    [order, withTicket({ temperature: D("92"), gravity: D("36") }), sale, bill],
    { rule: "net-from-gross", certainty: "certain", gallons: "69.8", favour: "them" },
  ],
])("%s is one finding", (_, papers, finding, more = {}) => {
  expect(told(papers, more)).toMatchObject([finding]);
});

test.each([
  ["that names no product", null, "0.3"],
  ["that is called as a product", "LUB", "0.0125"],
])("a fee by the gallon beside the fuel, %s, is no fuel", (_, product, rate) => {
  const fee = { ...line, description: "Lubricity additive", product, rate: D(rate) };
  const record = stringifyExact({ lineItems: [line, { ...fee, amount: null }] });
  const lines = readers(String).sale(recordOf(record))?.lines ?? [];
  expect(lines).toHaveLength(2);
  expect(told([order, ticket, { ...sale, lines }, bill])).toEqual([]);
});

test.each([
  ["a price", { rate: D("2.55") }, "-397.50"],
  ["gallons", { gallons: D("8150"), netGallons: D("8150") }, "-500.00"],
])("a credit of %s by its amount alone mends what it comes to", (_, change, amount) => {
  const wrong = withLine(sale, change);
  const credit = { ...sale, id: "c1", number: "CM-1", day: "2026-11-14" };
  const of = (sum: string) =>
    withLine(credit, { kind: "correction", gallons: null, rate: null, amount: D(sum) });
  expect(told([order, ticket, wrong, bill])).toHaveLength(1);
  expect(told([order, ticket, wrong, bill, of(amount)])).toEqual([]);
  expect(told([order, ticket, wrong, bill, of("-1.00")])).toHaveLength(1);
  expect(told([order, ticket, { ...wrong, party: "other" }, bill, of(amount)])).not.toEqual([]);
});

test.each([
  ["E85", "E85"],
  ["B100", "B100 biodiesel"],
  ["DEF-32", "ISO 22241"],
])("%s is not by the table of petroleum products, and is not checked", (product, spec) => {
  const other = withTicket({ product, spec, temperature: D("92"), gravity: D("36") });
  const papers = [order, other, withLine(sale, { product }), withLine(bill, { product })];
  expect(told(papers).map(({ rule }) => rule)).not.toContain("net-from-gross");
});

const price = (fromMs: string, amount: string, more: Partial<Price> = {}): Price => ({
  company: US,
  terminal: "T-1",
  product: "ULSD",
  price: Decimal.of(amount),
  spread: Decimal.zero,
  fromMs: Date.parse(fromMs),
  untilMs: null,
  ...more,
});

test("the list in force at delivery is known by its versions: an older one is told with both days", () => {
  const lists = [price("2026-11-08T23:00:00Z", "2.38"), price("2026-11-09T23:00:00Z", "2.40")];
  const old = withLine(sale, { rackPrice: D("2.38"), margin: D("0.10"), rate: D("2.48") });
  expect(matched([order, ticket, old, bill], {}, lists).findings).toMatchObject([
    {
      rule: "old-price-list",
      certainty: "certain",
      amount: "159.00",
      favour: "us",
      cause: "The list of 2026-11-08 was taken (2.38); in force was that of 2026-11-09 (2.4).",
    },
  ]);
  // Where fuel is loaded the evening before, both count; before the first list nothing is compared.
  const loadedBefore = { ...old, lines: [{ ...line, rackPrice: D("2.38"), margin: D("0.12") }] };
  expect(told([order, ticket, loadedBefore, bill], { pricesBefore: true }, lists)).toEqual([]);
  expect(
    told([order, ticket, loadedBefore, bill], {}, [price("2026-11-11T00:00:00Z", "9")]),
  ).toEqual([]);
});

test("a spread may be posted with the price; a correction of a list takes its place; other units are per gallon", () => {
  const lists = [
    price("2026-11-09T23:00:00Z", "2.30"),
    price("2026-11-09T23:00:00Z", "2.39", { spread: Decimal.of("0.01") }),
  ];
  const right = withLine(sale, { rackPrice: D("2.40"), margin: D("0.10") });
  expect(told([order, ticket, right, bill], {}, lists)).toEqual([]);
  const read = readers(String).price;
  const raw = recordOf(
    '{"terminalId":"T-1","product":"ULSD","price":100.80,"unit":"bbl","spread":0,"effectiveAt":"2026-11-09T23:00:00Z"}',
  );
  expect(read(raw)?.price?.plain()).toBe("2.4");
});

test("an invoice waits for its ticket as long as the site is patient, and is found by itself when it comes", () => {
  const late = { ...bill, day: "2026-11-23" };
  expect(matched([order, ticket, sale, withLine(late, { bolNumber: "88" })])).toMatchObject({
    invoices: { match: 1, wait: 1 },
    findings: [],
  });
  expect(
    told([order, ticket, sale, withLine({ ...late, day: "2026-11-20" }, { bolNumber: "88" })]),
  ).toHaveLength(1);
});

test("a line that names nothing is joined by party, product, day and gallons, and never more than probable", () => {
  const unnamed = withLine(
    { ...sale, order: null },
    {
      bolNumber: null,
      deliveryTicket: null,
      gallons: D("8100"),
      netGallons: null,
      grossGallons: null,
    },
  );
  const [finding] = matched([order, ticket, unnamed, bill]).findings;
  expect(finding).toMatchObject({
    rule: "quantity",
    certainty: "probable",
    joined: "party, product and day (a guess)",
  });
});

test("gallons may differ by 0.5 % or 25 gallons, whichever is more, or by what the site says", () => {
  const loaded = (net: string, off: string) => {
    const billed = D(net).plus(D(off));
    const own = { gallons: billed, netGallons: billed };
    const papers = [withTicket({ net: D(net), gross: D(net) }), withLine(sale, own)];
    return [order, ...papers, withLine(bill, { gallons: D(net), netGallons: D(net) })];
  };
  const quantities = (...asked: Parameters<typeof told>) =>
    told(...asked).filter(({ rule }) => rule === "quantity").length;
  for (const [net, most, more] of [
    ["7950", "39.75", "39.76"],
    ["3000", "25", "25.01"],
  ] as const) {
    expect(quantities(loaded(net, most))).toBe(0);
    expect(quantities(loaded(net, more))).toBe(1);
    expect(quantities(loaded(net, more), { toleranceGallons: D("50") })).toBe(0);
  }
});

test("a rate that is less than 0.0001 off is the same rate", () => {
  expect(told([order, ticket, withLine(sale, { rate: D("2.50009") }), bill])).toEqual([]);
  expect(told([order, ticket, withLine(sale, { rate: D("2.5001") }), bill])).toHaveLength(1);
});

test("a tax rate that the site states itself is certain, for every product where it names none", () => {
  const [rate, gallons, amount] = [D("0.25"), D("7950"), D("1987.50")];
  const tax = {
    taxType: "State fuel tax",
    authority: null,
    productRef: "ULSD",
    rate,
    gallons,
    amount,
  };
  const matching = filledWith([order, ticket, { ...sale, taxes: [tax] }, bill]);
  matching.reference.state("state  FUEL tax", "", D("0.20"));
  expect(run(matching).findings).toMatchObject([
    { rule: "tax-rate", certainty: "certain", expected: "0.2", amount: "397.50", favour: "them" },
  ]);
});

test("of tax rates of several states that the site states, that of the line's own counts", () => {
  const matching = filledWith([
    order,
    ticket,
    { ...sale, taxes: [tax, { ...tax, authority: "NM", rate: D("0.21"), amount: D("1669.50") }] },
    bill,
  ]);
  for (const [authority, rate] of [
    ["tx", "0.2"],
    ["NM", "0.21"],
    ["", "0.5"],
  ] as const)
    matching.reference.state(tax.taxType, "", D(rate), authority);
  expect(run(matching).findings).toEqual([]);
});

test("freight is due at the rate that was in force at delivery, whenever it is billed", () => {
  const matching = filledWith([order, ticket, { ...sale, day: "2026-11-14" }, bill]);
  matching.reference.addPlace({ id: "site", zip: "77001" });
  for (const [flatFee, effectiveAt] of [
    ["210", "2026-10-01"],
    ["250", "2026-11-12"],
  ] as const) {
    const lane = laneOfRow({
      party: BUYER,
      originTerminalId: "T-1",
      destinationZip: "77001",
      flatFee,
      effectiveAt,
    });
    matching.reference.addFreightRate(readers(String).freightRate(lane));
  }
  expect(run(matching).findings).toMatchObject([{ rule: "freight", amount: "210.00" }]);
});

test.each([
  ["by its flat fee", { flatFee: "210" }, "210.00", "certain"],
  [
    "by the mile, with its surcharge",
    { ratePerMile: "2.5", miles: "100", fuelSurchargePercent: "10" },
    "275.00",
    "certain",
  ],
  ["at its minimum", { ratePerMile: "2.5", miles: "100", minCharge: "300" }, "300.00", "certain"],
  [
    "at its minimum where nobody knows the miles",
    { ratePerMile: "2.5", minCharge: "300" },
    "300.00",
    "probable",
  ],
])("freight of a lane that nobody billed is told %s", (_, rate, amount, certainty) => {
  const matching = filledWith([order, ticket, sale, bill]);
  matching.reference.addPlace({ id: "site", zip: "77001" });
  const lane = laneOfRow({
    party: BUYER,
    originTerminalId: "T-1",
    destinationZip: "77001",
    ...rate,
  });
  matching.reference.addFreightRate(readers(String).freightRate(lane));
  expect(run(matching).findings).toMatchObject([
    { rule: "freight", amount, certainty, favour: "us" },
  ]);
});

test("a delivery that the table of volume corrections does not cover is named", () => {
  const hot = withTicket({ temperature: D("400"), gravity: D("36") });
  const { findings, notCompared } = matched([order, hot, sale, bill]);
  expect(findings).toEqual([]);
  expect(notCompared).toContain(
    "net from gross of 1 ticket line: temperature or gravity is beyond the table",
  );
});

test("a line that names another ticket and another bill of lading is about another load, however alike it is", () => {
  const ghost = withLine({ ...sale, order: null }, { bolNumber: "88", deliveryTicket: "TK-9" });
  expect(told([order, ticket, ghost, bill]).map(({ rule }) => rule)).toEqual([
    "no-delivery",
    "not-billed",
  ]);
  // Of one number alone a person may have written the other one's.
  const misspelled = withLine(
    { ...sale, order: null },
    { bolNumber: "4117", deliveryTicket: null },
  );
  expect(told([order, ticket, misspelled, bill])).toEqual([]);
});

test("gallons that are a line's own net and gross alike are not billed on the wrong basis: the ticket is wrong", () => {
  const [even, wrong] = [
    { gallons: D("8000"), netGallons: D("8000") },
    withTicket({ net: D("7950"), temperature: D("60"), gravity: D("36") }),
  ];
  const found = told([order, wrong, withLine(sale, even), withLine(bill, even)]);
  expect(found.map(({ rule }) => rule)).toEqual(["quantity", "quantity", "net-from-gross"]);
});

test("a wrong product of a bill comes to what the supplier's list says, where no order names a price", () => {
  const [line] = order.lines as [Order["lines"][number]];
  const unpriced = { ...order, lines: [{ ...line, purchase: null }] };
  const papers = [unpriced, ticket, sale, withLine(bill, { product: "UNL-87", rate: D("2.50") })];
  const lists = [price("2026-11-09T23:00:00Z", "2.40", { company: SELLER })];
  const finding = { rule: "wrong-product", certainty: "certain" };
  expect(told(papers, {}, lists)).toMatchObject([{ ...finding, amount: "795.00", favour: "us" }]);
  expect(told(papers)).toMatchObject([{ ...finding, amount: null, favour: null }]);
});

test("a wrong product at the price of the right one has no amount, and is owed to nobody", () => {
  const wrong = withLine(bill, { product: "UNL-87" });
  expect(matched([order, ticket, sale, wrong]).findings).toMatchObject([
    {
      rule: "wrong-product",
      amount: null,
      favour: null,
      cause: "UNL-87 is billed at the price of what was delivered, ULSD was delivered.",
    },
  ]);
});

test("numbers are one however they are written, and a ticket may carry several bills of lading", () => {
  const several = { ...ticket, number: "tk-1 ", bols: ["1", "b 4711"] };
  const named = withLine(sale, { deliveryTicket: " TK-1" });
  expect(told([order, several, named, withLine(bill, { bolNumber: "B  4711" })])).toEqual([]);
  const raw = recordOf('{"ticketNumber":"T","bolNumber":"4711 / 4712","bolNumbers":["4713"]}');
  const { bols = [] } = readers(String).ticket(raw) ?? {};
  for (const bolNumber of ["4711", "4712", "4713", "4711/4712"])
    expect(told([order, { ...ticket, bols }, sale, withLine(bill, { bolNumber })])).toEqual([]);
});

test.each<[string, Invoice["taxes"], object]>([
  ["twice", [tax, tax], { rule: "tax-twice", certainty: "certain", amount: "1590.00" }],
  [
    "of another amount than rate × gallons",
    [{ ...tax, amount: D("1690.00") }],
    { rule: "tax-amount", certainty: "certain", amount: "100.00" },
  ],
  [
    "on other gallons than are billed",
    [{ ...tax, gallons: D("9000"), amount: D("1800.00") }],
    { rule: "tax-gallons", amount: "210.00" },
  ],
  [
    "at another rate than usual",
    [{ ...tax, rate: D("0.25"), amount: D("1987.50") }],
    { rule: "tax-rate", certainty: "probable", amount: "397.50" },
  ],
])("a tax %s is told", (_, taxes, finding) => {
  const others = Array.from({ length: 60 }, (_, at): Invoice => ({
    ...sale,
    id: `x${at}`,
    number: `X-${at}`,
    day: "2026-01-10",
    lines: [],
    taxes: [tax],
  }));
  const found = told([order, ticket, { ...sale, taxes }, bill, ...others], { from: "2026-11-01" });
  expect(found).toMatchObject([{ ...finding, favour: "them" }]);
});

test("what a person has accepted counts nowhere, and comes back when its values change", () => {
  const wrong = withLine(bill, { rate: D("2.45") });
  const [first] = matched([order, ticket, sale, wrong]).findings as [Finding];
  const accepted = new Map([[first.key, first.digest]]);
  expect(matched([order, ticket, sale, wrong], { accepted })).toMatchObject({
    findings: [],
    accepted: [{ key: first.key }],
    sums: { forUs: "0.00" },
    invoices: { match: 2, differ: 0 },
  });
  expect(
    told([order, ticket, sale, withLine(bill, { rate: D("2.46") })], { accepted }),
  ).toHaveLength(1);
});

test("a comparison that fails nearly everywhere is no comparison: it is named, and tells nothing", () => {
  const bills = Array.from({ length: 12 }, (_, at) => ({
    ...withLine(bill, { bolNumber: `L-${at}` }),
    id: `b${at}`,
    number: `BILL-${at}`,
  }));
  const report = matched([order, ticket, sale, ...bills]);
  expect(report.findings).toEqual([]);
  expect(report.notCompared).toContain(
    "whether what is billed was delivered, of what we are billed: 12 of 12 differ, so no tickets of it come here",
  );
});

test("invoices of the ERP whose tickets never come are one sentence, and no finding each; those of the platform are still compared", () => {
  const billed = (count: number, more: Partial<Invoice>): Invoice[] =>
    Array.from({ length: count }, (_, at) => ({
      ...withLine(sale, { bolNumber: `L-${at}`, deliveryTicket: null }),
      order: null,
      ...more,
      id: `${more.id}${at}`,
      number: `${more.id}${at}`,
    }));
  const delivered = Array.from({ length: 40 }, (_, at) => ({
    ...ticket,
    id: `t${at}`,
    number: `TK-${at}`,
    bols: [`L-${at}`],
  }));
  const [ghost] = billed(1, { id: "ghost" }).map((one) => withLine(one, { bolNumber: "L-99" }));
  const own = billed(40, { id: "platform" });
  const erp = billed(12, { id: "erp", isOfErp: true }).map((one) =>
    withLine(one, { bolNumber: `E-${one.number}` }),
  );
  const report = matched([order, ...delivered, ...own, ghost as Invoice, ...erp]);
  const without = report.findings.filter(({ rule }) => rule === "no-delivery");
  expect(without.map(({ papers }) => papers[0]?.id)).toEqual(["ghost0"]);
  expect(report.notCompared).toContain(
    "whether what is billed was delivered, of what we bill from the ERP: 12 of 12 differ, so no tickets of it come here",
  );
  // What has nothing to be compared with does not match.
  expect(report.invoices).toEqual({ all: 53, match: 40, differ: 1, wait: 0, alone: 12, left: 0 });
  expect(matched(erp).invoices).toMatchObject({ all: 12, match: 0, alone: 12 });
});

test("papers that no flow brings are named", () => {
  expect(matched([sale]).notCompared).toEqual([
    "what we are billed: no flow brings invoices that we pay",
    "gallons, net from gross, what is not billed or not delivered: no flow brings tickets",
    "ordered prices and gallons: no flow brings orders",
    "the rack price in force: no flow brings rack prices",
    "freight: no flow brings freight rates, and there is no table crossref/freight-rates.csv",
  ]);
});

test("drafts and void papers are in a case and compare with nothing", () => {
  const out = [
    { ...sale, id: "d", status: "DRAFT" },
    { ...ticket, id: "v", status: "VOID" },
  ];
  expect(matched([order, ticket, sale, bill, ...out])).toMatchObject({
    findings: [],
    invoices: { all: 3, match: 2, left: 1 },
  });
});

test("a month with thirteen kinds of errors: each is found and nothing is invented; a clean month has none", () => {
  const { scene, truth } = monthOf({ trades: 260, faults: 39, seed: 7 });
  expect(new Set(truth.map(({ kind }) => kind)).size).toBe(13);
  const score = scoreOf(truth, run(filled(scene)));
  expect(score).toMatchObject({
    certain: { recall: 1, precision: 1 },
    probable: { recall: 1, precision: 1 },
    missed: [],
    wrong: [],
  });
  const clean = run(filled(monthOf({ trades: 260, seed: 7 }).scene));
  expect(clean.findings).toEqual([]);
  expect(clean.notCompared).toEqual([]);
});

const shuffled = <Value>(values: readonly Value[], seed: number): Value[] =>
  values
    .map((value, at) => ({ value, place: Math.imul(at + 1, 2_654_435_761 ^ seed) >>> 0 }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ value }) => value);

test("a long run pauses at least once for 500 papers, also while it joins them", () => {
  const matching = filled(monthOf({ trades: 1_000 }).scene);
  let [pauses, cases] = [0, 0];
  run(
    matching,
    {},
    ALL,
    () => cases++,
    () => cases === 0 && pauses++,
  );
  expect(pauses).toBeGreaterThanOrEqual(4_000 / 500);
});

test("the order in which papers come changes nothing", () => {
  const { scene } = monthOf({ trades: 60, faults: 26, seed: 3 });
  const first = run(filled(scene));
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      expect(run(filled(scene, shuffled(papersOf(scene), seed)))).toEqual(first);
    }),
    { numRuns: 5 },
  );
});

test("every paper is in exactly one case, and every sum ties to the rows", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 500 }),
      fc.integer({ min: 0, max: 30 }),
      (seed, faults) => {
        const { scene } = monthOf({ trades: 40, faults, seed });
        const seen: string[] = [];
        const report = run(filled(scene), {}, ALL, ({ orders, tickets, invoices }) =>
          seen.push(...[...orders, ...tickets, ...invoices].map(({ kind, id }) => `${kind} ${id}`)),
        );
        const papers = papersOf(scene).map(({ kind, id }) => `${kind} ${id}`);
        expect(seen.toSorted()).toEqual(papers.toSorted());
        const { all, match, differ, wait, left } = report.invoices;
        expect(match + differ + wait + left).toBe(all);
        const sum = (some: readonly Finding[]): string =>
          Decimal.sum(some.map(({ amount }) => Decimal.of(amount ?? "0"))).fixed(2);
        const rest = report.findings.filter(({ rule }) => rule !== "not-billed");
        expect(report.sums.forUs).toBe(sum(rest.filter(({ favour }) => favour === "us")));
        expect(report.sums.againstUs).toBe(sum(rest.filter(({ favour }) => favour === "them")));
        const byParty = report.parties.map(({ forUs }) => Decimal.of(forUs));
        expect(Decimal.sum(byParty).fixed(2)).toBe(report.sums.forUs);
        expect(summed(report.findings)).toMatchObject({ sums: report.sums });
      },
    ),
    { numRuns: 8 },
  );
});

test("findings are those of one direction where one is asked for", () => {
  const papers = [order, ticket, sale, withLine(bill, { rate: D("2.45") })];
  const filter = { party: null, direction: "sale" } as const;
  expect(run(filledWith(papers), {}, filter).findings).toEqual([]);
});

test("an order in liters is compared in gallons, and its price per liter with nothing", () => {
  const raw = recordOf(
    '{"lines":[{"product":"A","quantity":1000,"unitCode":"liter","gallons":1000,"unit":"liter","rate":1}]}',
  );
  const [line] = readers(String).order(raw)?.lines ?? [];
  expect([line?.gallons?.plain(), line?.sale]).toEqual(["264.172", null]);
});

test("a party has its name in the site's table, whether its id stands there in capitals or not", () => {
  const id = "0942f541-2340-4858-9502-8b0979809fca";
  for (const [told, asked] of [
    [id.toUpperCase(), id],
    [id, id.toUpperCase()],
  ] as const) {
    const { reference } = filledWith([]);
    reference.nameParty(told, "Lone Prairie");
    expect(reference.party(asked)).toBe("Lone Prairie");
  }
});
