/** Papers of small books as people write them down, and what is told of a book. */
import { Decimal } from "../../src/core/decimal.ts";
import { calendarOf } from "../../src/core/time.ts";
import { fold, laneOfRow, readers, recordOf } from "../../src/match/papers.ts";
import { Matching } from "../../src/match/report.ts";
import type { MatchSettings } from "../../src/match/situation.ts";
import { run } from "./matched.ts";

const read = readers(calendarOf("America/Chicago"));
export const id = (name: string): string =>
  `00000000-0000-4000-8000-${Array.from(name)
    .map((sign) => sign.charCodeAt(0).toString(16).padStart(2, "0"))
    .join("")
    .padStart(12, "0")
    .slice(-12)}`;
export { BUYER, OTHER, RIVAL };
const cents = (amount: number): number => Math.round(amount * 100) / 100;
const [US, BUYER, OTHER, SELLER, RIVAL, SITE] = [
  "us",
  "buyer",
  "other",
  "sell",
  "rival",
  "site",
].map(id);
const DAY = "2026-11-10T15:00:00Z";

type Fields = Readonly<Record<string, unknown>>;
type Row = readonly [product: string, gallons: number, rate: number, more?: Fields];

export const order = (number: string, gallons: number, more: Fields = {}, line: Fields = {}) =>
  read.order(
    recordOf(
      JSON.stringify({
        id: id(number),
        loadingNumber: number,
        status: "INVOICED",
        locationId: SITE,
        deliveryDate: DAY,
        createdAt: DAY,
        lines: [
          {
            product: "ULSD",
            terminalCode: "T-1",
            quantity: gallons,
            unitCode: "gal",
            buyPrice: 2.4,
            sellPrice: 2.5,
            ...line,
          },
        ],
        ...more,
      }),
    ),
  );

export const ticket = (
  number: string,
  bol: string,
  loads: readonly (readonly [string, number, number])[],
  more: Fields = {},
) =>
  read.ticket(
    recordOf(
      JSON.stringify({
        id: id(number),
        ticketNumber: number,
        bolNumber: bol,
        orderId: id("O-1"),
        supplierCompanyId: US,
        receiverCompanyId: BUYER,
        status: "SIGNED",
        loadingTerminalName: "T-1",
        deliveryDate: DAY,
        createdAt: DAY,
        productLines: loads.map(([product_name, gross_gallons, net_gallons]) => ({
          product_name,
          gross_gallons,
          net_gallons,
        })),
        ...more,
      }),
    ),
  );

const FUEL = { bolNumber: "4711", deliveryTicket: "DT-1", deliveredDate: DAY };
/** A charge without gallons. */
export const charge = (description: string, amount: number, more: Fields = {}): Row => [
  description,
  0,
  0,
  {
    description,
    gallons: null,
    rate: null,
    product: null,
    amount,
    bolNumber: null,
    deliveryTicket: null,
    ...more,
  },
];
export const FREIGHT = [charge("Freight", 210), charge("Fuel surcharge", 21)];
export const credited = (rows: readonly Row[]): Row[] =>
  rows.map(([product, gallons, rate, more = {}]) => [
    product,
    -gallons,
    rate,
    "amount" in more ? { ...more, amount: -Number(more["amount"]) } : more,
  ]);

/** `taxed`: gallons on which an excise of 0.244 is billed. */
export const invoice = (
  number: string,
  rows: readonly Row[],
  more: Fields = {},
  taxed?: number,
) => {
  const isOurs = !number.startsWith("B");
  return read[isOurs ? "sale" : "purchase"](
    recordOf(
      JSON.stringify({
        id: id(number),
        invoiceNumber: number,
        status: "OUTSTANDING",
        createdAt: "2026-11-11T15:00:00Z",
        companyId: isOurs ? US : SELLER,
        payerCompanyId: isOurs ? BUYER : US,
        orderId: isOurs ? id("O-1") : null,
        lineItems: rows.map(([product, gallons, rate, line]) => ({
          description: product,
          product,
          gallons,
          rate,
          amount: cents(gallons * rate),
          ...FUEL,
          ...(isOurs ? {} : { deliveryTicket: null }),
          ...line,
        })),
        taxLines:
          taxed === undefined
            ? []
            : [
                {
                  taxType: "Excise",
                  authority: "TX",
                  productRef: "ULSD",
                  rate: 0.244,
                  gallons: taxed,
                  amount: cents(taxed * 0.244),
                },
              ],
        ...more,
      }),
    ),
  );
};

export const LOAD = [order("O-1", 8000), ticket("DT-1", "4711", [["ULSD", 8000, 7950]])];
export const NET: Fields = { grossGallons: 8000, netGallons: 7950 };
export const BILL = invoice("B-1", [["ULSD", 7950, 2.4, NET]], {}, 7950);
export const SALE = invoice("S-1", [["ULSD", 7950, 2.5, NET], ...FREIGHT], {}, 7950);
export const TWO_LIFTINGS = [
  order("O-1", 15500),
  ticket("DT-1", "4711, 4712", [
    ["ULSD", 8000, 7950],
    ["ULSD", 7500, 7450],
  ]),
];
/** The sale of the second ticket. */
export const toTheOther = (product: string, gallons: number) =>
  invoice("S-2", [[product, gallons, 2.5, { deliveryTicket: "DT-2" }]], {
    payerCompanyId: OTHER,
    orderId: id("O-2"),
  });
/** The order has no price: what is billed is compared with the list of that time. */
export const byTheList = (rate: number, deliveredDate: string) => [
  order("O-1", 8000, {}, { buyPrice: null }),
  ...LOAD.slice(1),
  invoice("B-1", [["ULSD", 7950, rate, { deliveredDate }]]),
  SALE,
];
export const TWO_PRICES = order("O-1", 0, {
  lines: [
    { product: "ULSD", quantity: 5000, unitCode: "gal", buyPrice: 2.4, sellPrice: 2.5 },
    { product: "ULSD", quantity: 2950, unitCode: "gal", buyPrice: 2.45, sellPrice: 2.5 },
  ],
});
export const SECOND = { orderId: id("O-2"), receiverCompanyId: OTHER };

export const NAMELESS = { deliveryTicket: null, bolNumber: null };
export const MAY = "2026-05-10T15:00:00Z";
export const LAST_MAY = { deliveryDate: MAY, createdAt: MAY };
/** The site states 0.144 for it. */
export const BAD_TAX = {
  taxType: "State",
  authority: "TX",
  productRef: "ULSD",
  rate: 0.244,
  gallons: 8450,
  amount: 2061.8,
};
export const FEES = [
  { id: "1", label: "Pump-off fee", amount: 35, unit: "load" },
  { id: "2", label: "Hose fee", amount: 0.01, unit: "gal" },
  { id: "3", label: "Detention", amount: 85, unit: "hour" },
];

const LIST = {
  company: null,
  product: "ULSD",
  spread: Decimal.zero,
  fromMs: Date.parse("2026-11-09T07:00:00Z"),
  untilMs: null,
};
export type Paper = ReturnType<typeof order | typeof ticket | typeof invoice>;
export interface Book {
  readonly papers: readonly Paper[];
  readonly answer: readonly string[];
  readonly settings?: Partial<MatchSettings>;
  /** From when on the list of ULSD at T-1 says what. */
  readonly prices?: Readonly<Record<string, number>>;
  readonly pricesThere?: Readonly<Record<string, number>>;
  /** Our own list of ULSD by terminal. */
  readonly ours?: Readonly<Record<string, number>>;
  /** Of the lane. */
  readonly fees?: readonly Fields[];
  /** Freight of 210 and 10 % is agreed with the buyer, or what is said here otherwise. */
  readonly hasLane?: boolean;
  readonly lane?: Readonly<Record<string, string>>;
}
const TODAY = "2026-11-20";

/** Rule, certainty, amount and who is owed it, of each finding. */
export function toldOf({
  papers,
  settings,
  prices = {},
  pricesThere = {},
  ours = {},
  fees,
  hasLane,
  lane,
}: Book): string[] {
  const whole = papers.map((paper) => {
    if (paper === null) throw new Error("a paper that is not as the platform specifies it");
    return paper;
  });
  const matching = new Matching({ product: fold, terminal: fold });
  const { reference } = matching;
  reference.us = US as string;
  reference.addPlace({ id: SITE, zip: "79901" });
  for (const terminalCode of ["T-1", "T-2"])
    reference.addPlace({ id: id(terminalCode), terminalCode, name: terminalCode });
  if (hasLane)
    reference.addFreightRate(
      read.freightRate({
        ...laneOfRow({
          code: "1",
          party: BUYER as string,
          originTerminalId: "T-1",
          destinationZip: "79901",
          flatFee: "210",
          fuelSurchargePercent: "10",
          ...lane,
        }),
        ...recordOf(JSON.stringify({ customFees: fees ?? null })),
      }),
    );
  reference.state("State", "", Decimal.of("0.144"));
  for (const [terminal, list] of Object.entries({ "T-1": prices, "T-2": pricesThere }))
    for (const [from, price] of Object.entries(list))
      reference.addPrice({
        ...LIST,
        company: SELLER as string,
        terminal,
        price: Decimal.of(String(price)),
        fromMs: Date.parse(from),
      });
  for (const [terminal, price] of Object.entries(ours))
    reference.addPrice({ ...LIST, terminal, price: Decimal.of(String(price)) });
  for (const paper of whole) matching.add(paper);
  const { findings } = run(matching, { today: TODAY, ...settings });
  return findings.map((one) => `${one.rule} ${one.certainty} ${one.amount} ${one.favour}`);
}
