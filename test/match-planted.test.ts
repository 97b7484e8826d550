/** Errors that the sandbox does not know, planted into papers that this file writes itself: what is told of each, and nothing else. */
import { expect, test } from "vitest";
import { Decimal } from "../src/core/decimal.ts";
import { fold, laneOfRow, readers, recordOf } from "../src/match/papers.ts";
import { Matching } from "../src/match/report.ts";
import { ALL, run } from "./support/matched.ts";

interface Line {
  [name: string]: unknown;
  gallons: number;
  amount: number;
  rate: number;
}
interface Paper {
  [name: string]: unknown;
  id: string;
}
interface Bill extends Paper {
  invoiceNumber: string;
  lineItems: Line[];
  taxLines: Line[];
}
interface Trade {
  readonly order: Paper & { lines: Record<string, unknown>[] };
  readonly ticket: Paper & { productLines: Record<string, number>[] };
  readonly sale: Bill;
  readonly bill: Bill;
  readonly more: Bill[];
}

const US = uuid(9_000_001);
const RACKS = ["HOU-1", "DAL-2", "ELP-3"];
const FUELS = [
  { code: "ULSD2", name: "Diesel no. 2", gravity: 36, price: 2.41 },
  { code: "REG87", name: "Regular", gravity: 60, price: 2.05 },
  { code: "PREM93", name: "Premium", gravity: 57, price: 2.52 },
  { code: "JETA", name: "Jet A", gravity: 43, price: 2.3 },
];

function uuid(at: number): string {
  return `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`;
}
const cents = (value: number): number => Math.round(value * 100) / 100;
const dayAt = (day: number, hour = 15): string =>
  `2026-10-${String(day).padStart(2, "0")}T${String(hour).padStart(2, "0")}:00:00Z`;
/** Of a list that changes every evening, in dollars. */
const listed = (rack: number, fuel: number, day: number): number =>
  Math.round(((FUELS[fuel]?.price ?? 0) + rack * 0.031 + ((day * 37) % 23) * 0.0041) * 10_000) /
  10_000;

/** Net of gross at 60 °F and more, by the linear rule that drivers use: near enough to the table for the temperatures here. */
const netOf = (gross: number, gravity: number, degrees: number): number => {
  const density = (999.016 * 141.5) / (gravity + 131.5);
  const [k0, k1] =
    gravity < 37.1 ? [103.872, 0.2701] : gravity < 48 ? [330.301, 0] : [192.4571, 0.2438];
  const growth = (k0 / density ** 2 + k1 / density) * (degrees - 60);
  return Math.round(gross * Math.exp(-growth * (1 + 0.8 * growth)) * 10) / 10;
};

const taxesOf = (lines: readonly Line[]): Line[] =>
  [...Map.groupBy(lines, ({ product }) => product)].flatMap(([product, own]) => {
    const gallons = own.reduce((sum, line) => sum + line.gallons, 0);
    return [
      ["Federal excise", 0.244],
      ["State fuel tax", 0.2],
    ].map(([taxType, rate]) => ({
      id: uuid(1),
      invoiceId: uuid(1),
      taxType,
      authority: "State",
      productRef: product,
      rate: Number(rate),
      gallons,
      amount: cents(gallons * Number(rate)),
    }));
  });

function trade(at: number): Trade {
  const [rack, day, base] = [at % 3, 2 + (at % 19), 1_000 * (at + 1)];
  const count = 1 + (at % 2);
  const loads = Array.from({ length: count }, (_, part) => {
    const fuel = (at + part) % FUELS.length;
    const { code, name, gravity } = FUELS[fuel] as (typeof FUELS)[number];
    const gross = 3_211 + ((at * 617 + part * 271) % 4_789);
    const degrees = 80 + ((at * 7) % 15);
    return {
      code,
      name,
      gravity,
      gross,
      degrees,
      cost: listed(rack, fuel, day),
      net: netOf(gross, gravity, degrees),
    };
  });
  const [order, customer, seller] = [uuid(base), uuid(100 + (at % 8)), uuid(200 + (at % 4))];
  const bol = String(700_000 + at * 13);
  const lineOf = (load: (typeof loads)[number], rate: number, more: object): Line => ({
    id: uuid(1),
    invoiceId: uuid(1),
    description: load.name,
    product: load.code,
    spec: null,
    bolNumber: bol,
    gallons: Math.round(load.net),
    grossGallons: load.gross,
    netGallons: Math.round(load.net),
    rate,
    amount: cents(Math.round(load.net) * rate),
    deliveredDate: dayAt(day),
    ...more,
  });
  const billOf = (
    id: number,
    invoiceNumber: string,
    lines: Line[],
    charges: Line[],
    more: object,
  ): Bill => ({
    id: uuid(base + id),
    invoiceNumber,
    status: "OUTSTANDING",
    createdAt: dayAt(day + 1),
    lineItems: [...lines, ...charges],
    taxLines: taxesOf(lines),
    ...more,
  });
  const charge = (description: string, amount: number) =>
    ({ id: uuid(1), invoiceId: uuid(1), description, amount }) as unknown as Line;
  const margin = 0.11;
  const sold = loads.map((load) =>
    lineOf(load, Math.round((load.cost + margin) * 10_000) / 10_000, {
      rackPrice: load.cost,
      margin,
      deliveryTicket: `DT ${at}`,
      location: `Station ${at % 8}`,
    }),
  );
  const bought = loads.map((load) => lineOf(load, load.cost, { location: RACKS[rack] }));
  return {
    order: {
      id: order,
      loadingNumber: `L${at}`,
      status: "INVOICED",
      locationId: uuid(300 + (at % 8)),
      deliveryDate: dayAt(day),
      createdAt: dayAt(day - 1),
      lines: loads.map((load) => ({
        product: load.code,
        terminalCode: RACKS[rack],
        quantity: load.gross,
        unitCode: "gal",
        buyPrice: load.cost,
        sellPrice: Math.round((load.cost + margin) * 10_000) / 10_000,
      })),
    },
    ticket: {
      id: uuid(base + 1),
      ticketNumber: `DT-${at}`,
      orderId: order,
      supplierCompanyId: US,
      receiverCompanyId: customer,
      status: "SIGNED",
      bolNumber: bol,
      loadingTerminalName: RACKS[rack],
      deliveryDate: dayAt(day),
      createdAt: dayAt(day),
      productLines: loads.map((load) => ({
        product_name: load.code as unknown as number,
        gross_gallons: load.gross,
        net_gallons: load.net,
        temperature: load.degrees,
        api_gravity: load.gravity,
      })),
    },
    sale: billOf(2, `S-${at}`, sold, [charge("Freight to site", 210), charge("FSC 10%", 21)], {
      companyId: US,
      payerCompanyId: customer,
      orderId: order,
    }),
    bill: billOf(3, `P-${at}`, bought, [], { companyId: seller, payerCompanyId: US }),
    more: [],
  };
}

/** Gallons of the first line are others; amount and taxes follow. */
function regallon(paper: Bill, gallons: number, more: object = {}): void {
  const [line] = paper.lineItems as [Line];
  Object.assign(line, { gallons, ...more });
  line.amount = cents(gallons * line.rate);
  paper.taxLines = taxesOf(paper.lineItems.filter(({ product }) => typeof product === "string"));
}

/** Swaps the two digits that make the larger difference. */
function swapped(gallons: number): number {
  const digits = String(gallons);
  const all = [0, 1].map((at) =>
    Number(digits.slice(0, at) + digits[at + 1] + digits[at] + digits.slice(at + 2)),
  );
  return all.find((one) => Math.abs(one - gallons) > 60 && one > 999) ?? gallons + 900;
}

const again = (paper: Bill, number: string, bol: (text: string) => string): Bill => ({
  ...structuredClone(paper),
  id: `${paper.id.slice(0, -3)}77${paper.id.at(-1)}`,
  invoiceNumber: number,
  lineItems: structuredClone(paper.lineItems).map((line) =>
    typeof line["bolNumber"] === "string" ? { ...line, bolNumber: bol(line["bolNumber"]) } : line,
  ),
});

/** By the words of another author: what is done, and the rules that may tell it. */
const PLANTS: Readonly<Record<string, readonly [(trade: Trade) => void, readonly string[]]>> = {
  "digits of our gallons swapped": [
    ({ sale }) => regallon(sale, swapped(sale.lineItems[0]?.gallons ?? 0)),
    ["quantity"],
  ],
  "digits of their gallons swapped, net too": [
    ({ bill }) => {
      const gallons = swapped(bill.lineItems[0]?.gallons ?? 0);
      regallon(bill, gallons, { netGallons: gallons });
    },
    ["quantity"],
  ],
  "we billed gross": [
    ({ sale }) => regallon(sale, Number(sale.lineItems[0]?.["grossGallons"])),
    ["wrong-basis"],
  ],
  "they billed gross": [
    ({ bill }) => regallon(bill, Number(bill.lineItems[0]?.["grossGallons"])),
    ["wrong-basis"],
  ],
  "liters billed as gallons": [
    ({ bill }) => {
      const liters = Math.round((bill.lineItems[0]?.gallons ?? 0) * 3.785412);
      regallon(bill, liters, { netGallons: liters, grossGallons: null });
    },
    ["quantity"],
  ],
  "price of another day": [
    ({ bill }) => {
      const [line] = bill.lineItems as [Line];
      line.rate += 0.0213;
      line.amount = cents(line.gallons * line.rate);
    },
    ["order-price"],
  ],
  "our list of the day before": [
    ({ sale }) => {
      const [line] = sale.lineItems as [Line];
      const day = Number(String(line["deliveredDate"]).slice(8, 10));
      const rack = RACKS.findIndex((_, at) =>
        FUELS.some((_fuel, fuel) => listed(at, fuel, day) === line["rackPrice"]),
      );
      const fuel = FUELS.findIndex(({ code }) => code === line["product"]);
      const old = listed(rack, fuel, day - 1);
      Object.assign(line, { rackPrice: old, rate: Math.round((old + 0.11) * 10_000) / 10_000 });
      line.amount = cents(line.gallons * line.rate);
    },
    ["old-price-list"],
  ],
  "our margin added wrongly": [
    ({ sale, order }) => {
      const [line] = sale.lineItems as [Line];
      line.rate += 0.07;
      line.amount = cents(line.gallons * line.rate);
      for (const one of order.lines) one["sellPrice"] = null;
    },
    ["rack-and-margin"],
  ],
  "freight forgotten": [({ sale }) => void sale.lineItems.splice(-2, 2), ["freight"]],
  "surcharge forgotten": [({ sale }) => void sale.lineItems.pop(), ["freight"]],
  "their bill came twice, the number spelled otherwise": [
    ({ bill, more }) =>
      void more.push(
        again(
          bill,
          `p ${bill.invoiceNumber.slice(2)}.`,
          (bol) => `00${bol.slice(0, 3)}-${bol.slice(3)}`,
        ),
      ),
    ["billed-twice"],
  ],
  "our bill went out twice": [
    ({ sale, more }) => void more.push(again(sale, `${sale.invoiceNumber}-R`, (bol) => ` ${bol} `)),
    ["billed-twice"],
  ],
  "one line twice on a bill": [
    ({ bill }) => {
      bill.lineItems.push({ ...(bill.lineItems[0] as Line) });
      bill.taxLines = taxesOf(bill.lineItems);
    },
    ["billed-twice"],
  ],
  "another grade billed by us": [
    ({ sale, ticket }) => {
      const carried = new Set<unknown>(ticket.productLines.map((line) => line["product_name"]));
      const other = FUELS.find(({ code }) => !carried.has(code));
      Object.assign(sale.lineItems[0] as Line, { product: other?.code, description: other?.name });
    },
    ["wrong-product"],
  ],
  "tax charged two times": [
    ({ bill }) => void bill.taxLines.push({ ...(bill.taxLines[0] as Line) }),
    ["tax-twice"],
  ],
  "tax at last year's rate": [
    ({ bill }) => {
      const [line] = bill.taxLines as [Line];
      Object.assign(line, { rate: 0.2, amount: cents(line.gallons * 0.2) });
    },
    ["tax-rate"],
  ],
  "the truck came short": [
    ({ ticket }) => {
      const [line] = ticket.productLines as [Record<string, number>];
      for (const name of ["gross_gallons", "net_gallons"])
        line[name] = Math.round((line[name] ?? 0) * 9.2) / 10;
    },
    ["quantity"],
  ],
  "a bill of a load that never was": [
    ({ bill, more }) => void more.push(again(bill, `P-X${bill.invoiceNumber}`, (bol) => `9${bol}`)),
    ["no-delivery"],
  ],
  "delivered and never billed": [
    ({ sale }) => {
      sale["status"] = "VOID";
    },
    ["not-billed"],
  ],
  "a ticket that nobody ordered": [
    ({ ticket, sale }) => {
      ticket["orderId"] = null;
      sale["orderId"] = null;
    },
    ["no-order"],
  ],
  "net gallons typed wrongly on the ticket": [
    ({ ticket, sale, bill }) => {
      const [line] = ticket.productLines as [Record<string, number>];
      line["net_gallons"] = (line["net_gallons"] ?? 0) - 70;
      for (const paper of [sale, bill])
        regallon(paper, Math.round(line["net_gallons"] ?? 0), {
          netGallons: Math.round(line["net_gallons"] ?? 0),
        });
    },
    ["net-from-gross"],
  ],
  "billed from another rack": [
    ({ bill }) => {
      for (const line of bill.lineItems)
        line["location"] = RACKS.find((rack) => rack !== line["location"]);
    },
    ["wrong-terminal"],
  ],
};

/** What follows from an error besides. */
const ALSO: ReadonlySet<string> = new Set([
  "part-delivered",
  "freight",
  "net-from-gross",
  "tax-gallons",
  "quantity",
]);

/** `planted`: every third trade has an error, each kind in turn. */
function month(isPlanted: boolean) {
  const trades = Array.from({ length: 330 }, (_, at) => trade(at));
  const truth = trades.flatMap((one, at) => {
    const [kind, [plant, rules]] = Object.entries(PLANTS)[
      Math.floor(at / 3) % Object.keys(PLANTS).length
    ] ?? ["", [() => {}, []]];
    if (!isPlanted || at % 3 !== 0) return [];
    plant(one);
    const papers = [one.order, one.ticket, one.sale, one.bill, ...one.more].map(({ id }) => id);
    return [{ kind, rules, papers }];
  });
  const read = readers((instant) => instant.slice(0, 10));
  const made = (record: object): Record<string, unknown> => recordOf(JSON.stringify(record));
  const papers = trades
    .flatMap(({ order, ticket, sale, bill, more }) => [
      read.order(made(order)),
      read.ticket(made(ticket)),
      read.sale(made(sale)),
      read.purchase(made(bill)),
      ...more.map((one) => read[one["companyId"] === US ? "sale" : "purchase"](made(one))),
    ])
    .map((paper) => {
      if (paper === null) throw new Error("a paper that is not as the platform specifies it");
      return paper;
    });
  const matching = new Matching({ product: fold, terminal: fold });
  const { reference } = matching;
  reference.us = US;
  for (const [at, code] of RACKS.entries())
    reference.addPlace({ id: uuid(400 + at), terminalCode: code, name: `Rack ${code}` });
  for (let at = 0; at < 8; at++) {
    reference.addPlace({ id: uuid(300 + at), name: `Station ${at}`, zip: `7700${at}` });
    for (const rack of RACKS)
      reference.addFreightRate(
        read.freightRate(
          laneOfRow({
            code: `${at} ${rack}`,
            party: uuid(100 + at),
            originTerminalId: rack,
            destinationZip: `7700${at}`,
            flatFee: "210",
            fuelSurchargePercent: "10",
          }),
        ),
      );
  }
  for (let day = 1; day <= 24; day++)
    for (const rack of RACKS.keys())
      for (const [fuel, { code }] of FUELS.entries())
        reference.addPrice({
          company: null,
          terminal: RACKS[rack] ?? "",
          product: code,
          price: Decimal.of(String(listed(rack, fuel, day))),
          spread: Decimal.zero,
          fromMs: Date.parse(dayAt(day, 0)),
          untilMs: null,
        });
  for (const paper of papers) matching.add(paper);
  return { truth, report: run(matching, { today: "2026-11-20" }, ALL) };
}

test("papers of another author that fit each other have no finding", () => {
  const { report } = month(false);
  expect(report.findings.map(({ rule, cause }) => `${rule}: ${cause}`)).toEqual([]);
  expect(report.notCompared).toEqual([]);
});

test("each error of another author is told by its rule, and nothing else is", () => {
  const { truth, report } = month(true);
  const missed = truth.flatMap(({ kind, rules, papers }) =>
    report.findings.some(
      (one) => rules.includes(one.rule) && one.papers.some(({ id }) => papers.includes(id)),
    )
      ? []
      : [kind],
  );
  const invented = report.findings.flatMap(({ rule, cause, papers }) =>
    truth.some(
      (fault) =>
        papers.some(({ id }) => fault.papers.includes(id)) &&
        (fault.rules.includes(rule) || ALSO.has(rule)),
    )
      ? []
      : [`${rule}: ${cause}`],
  );
  expect({ missed: [...new Set(missed)], invented }).toEqual({ missed: [], invented: [] });
  expect(truth.length).toBe(110);
});
