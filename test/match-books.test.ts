/**
 * Small books as accountants keep them, each with the answer that was written down before it was run: credits, loads that are
 * split or lifted twice, prices that change at midnight elsewhere, gross and net, freight on a bill of its own.
 */
import { expect, test } from "vitest";
import {
  BAD_TAX,
  BILL,
  type Book,
  BUYER,
  byTheList,
  charge,
  credited,
  FEES,
  FREIGHT,
  id,
  invoice,
  LAST_MAY,
  LOAD,
  MAY,
  NAMELESS,
  NET,
  order,
  OTHER,
  type Paper,
  RIVAL,
  SALE,
  SECOND,
  ticket,
  toldOf,
  toTheOther,
  TWO_LIFTINGS,
  TWO_PRICES,
} from "./support/books.ts";

const books: Readonly<Record<string, Book>> = {
  "every paper is right": { papers: [...LOAD, BILL, SALE], answer: [], hasLane: true },
  "gallons billed too much are credited": {
    papers: [
      ...LOAD,
      BILL,
      invoice("S-1", [["ULSD", 9750, 2.5], ...FREIGHT], {}, 9750),
      invoice("CM-1", [["ULSD", -1800, 2.5]], {}, -1800),
    ],
    answer: [],
    hasLane: true,
  },
  "gallons billed too much are credited in part": {
    papers: [
      ...LOAD,
      BILL,
      invoice("S-1", [["ULSD", 9750, 2.5]]),
      invoice("CM-1", [["ULSD", -1000, 2.5]]),
    ],
    answer: ["quantity certain 2000.00 them"],
  },
  "a bill at a wrong price is credited whole and billed again": {
    papers: [
      ...LOAD,
      BILL,
      invoice("S-1", [["ULSD", 7950, 2.55], ...FREIGHT], {}, 7950),
      invoice("CM-1", credited([["ULSD", 7950, 2.55], ...FREIGHT]), {}, -7950),
      invoice("S-2", [["ULSD", 7950, 2.5], ...FREIGHT], {}, 7950),
    ],
    answer: [],
    hasLane: true,
  },
  "it is billed again at another wrong price": {
    papers: [
      ...LOAD,
      BILL,
      invoice("S-1", [["ULSD", 7950, 2.55]]),
      invoice("CM-1", [["ULSD", -7950, 2.55]]),
      invoice("S-2", [["ULSD", 7950, 2.53]]),
    ],
    answer: ["order-price certain 238.50 them"],
  },
  "it is credited and never billed again": {
    papers: [
      ...LOAD,
      BILL,
      invoice("S-1", [["ULSD", 7950, 2.55]]),
      invoice("CM-1", [["ULSD", -7950, 2.55]]),
    ],
    answer: ["not-billed certain 19875.00 us"],
  },
  "a wrong price is put right by a credit per gallon": {
    papers: [
      ...LOAD,
      invoice("B-1", [["ULSD", 7950, 2.45]]),
      invoice("BCM-1", [["ULSD", 7950, -0.05]]),
      SALE,
    ],
    answer: [],
  },
  "one lifting is split between two customers": {
    papers: [
      order("O-1", 5000),
      order("O-2", 3000),
      ticket("DT-1", "4711", [["ULSD", 5000, 4970]]),
      ticket("DT-2", "4711", [["ULSD", 3000, 2980]], SECOND),
      invoice("B-1", [["ULSD", 7950, 2.4]]),
      invoice("S-1", [["ULSD", 4970, 2.5]]),
      toTheOther("ULSD", 2980),
    ],
    answer: [],
  },
  "of a lifting that is split one customer pays the other's part, too": {
    papers: [
      order("O-1", 5000),
      order("O-2", 3000),
      ticket("DT-1", "4711", [["ULSD", 5000, 4970]]),
      ticket("DT-2", "4711", [["ULSD", 3000, 2980]], SECOND),
      invoice("B-1", [["ULSD", 7950, 2.4]]),
      invoice("S-1", [["ULSD", 7950, 2.5]]),
      toTheOther("ULSD", 2980),
    ],
    answer: ["quantity certain 7450.00 them"],
  },
  "two liftings are on one ticket and on two bills": {
    papers: [
      ...TWO_LIFTINGS,
      invoice("B-1", [["ULSD", 7950, 2.4]]),
      invoice("B-2", [["ULSD", 7450, 2.4, { bolNumber: "4712" }]]),
      invoice("S-1", [["ULSD", 15400, 2.5]]),
    ],
    answer: [],
  },
  "two liftings are on one ticket and one is billed so far": {
    papers: [
      ...TWO_LIFTINGS,
      invoice("B-1", [["ULSD", 7950, 2.4]]),
      invoice("S-1", [["ULSD", 15400, 2.5]]),
    ],
    answer: ["quantity probable 17880.00 them"],
  },
  "the bill of the second lifting may still come": {
    papers: [
      ...TWO_LIFTINGS,
      invoice("B-1", [["ULSD", 7950, 2.4]]),
      invoice("S-1", [["ULSD", 15400, 2.5]]),
    ],
    answer: [],
    settings: { today: "2026-11-12" },
  },
  "a ticket is billed twice, a week apart": {
    papers: [
      ...LOAD,
      BILL,
      SALE,
      invoice("S-2", [["ULSD", 7950, 2.5]], { createdAt: "2026-11-18T15:00:00Z" }),
    ],
    answer: ["billed-twice certain 19875.00 them"],
  },
  "what was billed twice is credited": {
    papers: [
      ...LOAD,
      BILL,
      SALE,
      invoice("S-2", [["ULSD", 7950, 2.5]]),
      invoice("CM-2", [["ULSD", -7950, 2.5]]),
    ],
    answer: [],
  },
  "a bill that was void is billed again": {
    papers: [...LOAD, BILL, invoice("S-0", [["ULSD", 8950, 2.5]], { status: "VOID" }), SALE],
    answer: [],
  },
  "a bill names a ticket that nobody has": {
    papers: [
      ...LOAD,
      BILL,
      SALE,
      invoice("S-9", [["ULSD", 3000, 2.5, { deliveryTicket: "DT-99", bolNumber: null }]], {
        orderId: null,
      }),
    ],
    answer: ["no-delivery certain 7500.00 them"],
  },
  "its ticket may still come": {
    papers: [
      ...LOAD,
      BILL,
      SALE,
      invoice("S-9", [["ULSD", 3000, 2.5, { deliveryTicket: "DT-99", bolNumber: null }]], {
        orderId: null,
      }),
    ],
    answer: [],
    settings: { today: "2026-11-12" },
  },
  "the list changed at midnight of El Paso, half an hour after the load": {
    papers: byTheList(2.38, "2026-11-10T06:30:00Z"),
    prices: { "2026-11-09T07:00:00Z": 2.38, "2026-11-10T07:00:00Z": 2.41 },
    answer: [],
  },
  "that list was taken before it was in force": {
    papers: byTheList(2.41, "2026-11-10T06:30:00Z"),
    prices: { "2026-11-09T07:00:00Z": 2.38, "2026-11-10T07:00:00Z": 2.41 },
    answer: ["rack-price probable 238.50 us"],
  },
  "a day alone begins at midnight of El Paso as well": {
    papers: byTheList(2.44, "2026-11-10T00:00:00Z"),
    prices: { "2026-11-09T07:00:00Z": 2.44, "2026-11-10T07:00:00Z": 2.41 },
    answer: ["old-price-list certain 238.50 us"],
  },
  "a day alone ends after the evening's list of El Paso": {
    papers: byTheList(2.41, "2026-11-10T00:00:00Z"),
    prices: { "2026-11-10T01:00:00Z": 2.38, "2026-11-11T01:00:00Z": 2.41 },
    answer: [],
  },
  "gross is billed where gross was agreed, and taxed on net": {
    papers: [...LOAD, BILL, invoice("S-1", [["ULSD", 8000, 2.5, NET]], {}, 7950)],
    settings: { basis: (party) => (party === BUYER ? "gross" : "net") },
    answer: [],
  },
  "net is billed and gross is taxed": {
    papers: [...LOAD, BILL, invoice("S-1", [["ULSD", 7950, 2.5, NET]], {}, 8000)],
    answer: [],
  },
  "gallons that nobody loaded are taxed": {
    papers: [...LOAD, BILL, invoice("S-1", [["ULSD", 7950, 2.5, NET]], {}, 8700)],
    answer: ["tax-gallons probable 183.00 them"],
  },
  "what was pumped back is a line below zero, and a discount is no fuel": {
    papers: [
      ...LOAD,
      BILL,
      invoice(
        "S-1",
        [["ULSD", 8150, 2.5], ["ULSD", -200, 2.5], charge("Prompt payment", -50)],
        {},
        7950,
      ),
    ],
    answer: [],
  },
  "freight has a bill of its own": {
    papers: [
      ...LOAD,
      BILL,
      invoice("S-1", [["ULSD", 7950, 2.5]]),
      invoice("S-1F", [
        charge("Freight DT-1", 210, { deliveryTicket: "DT-1" }),
        charge("Fuel surcharge", 21),
      ]),
    ],
    answer: [],
    hasLane: true,
  },
  "freight is on the bill of the fuel and on one of its own": {
    papers: [
      ...LOAD,
      BILL,
      SALE,
      invoice("S-1F", [
        charge("Freight DT-1", 210, { deliveryTicket: "DT-1" }),
        charge("Fuel surcharge", 21),
      ]),
    ],
    answer: ["freight certain 231.00 them"],
    hasLane: true,
  },
  "two suppliers number their loads alike": {
    papers: [
      ...LOAD,
      BILL,
      SALE,
      order("O-2", 3000, {}, { product: "REG87" }),
      ticket("DT-2", "4711", [["REG87", 3000, 2990]], SECOND),
      invoice("B-7", [["REG87", 2990, 2.4]], { companyId: RIVAL }),
      toTheOther("REG87", 2990),
    ],
    answer: [],
  },
  "a credit in money names the order alone, and no order comes": {
    papers: [
      ...LOAD.slice(1),
      BILL,
      invoice("S-1", [["ULSD", 9750, 2.5]]),
      invoice("CM-1", [charge("Correction", -4500)]),
    ],
    answer: ["no-order probable null null"],
  },
  "one line of a bill names two liftings, each with its ticket": {
    papers: [
      ...LOAD,
      ticket("DT-2", "4712", [["ULSD", 7500, 7450]]),
      invoice("B-1", [["ULSD", 15_400, 2.4, { bolNumber: "4711 / 4712" }]]),
      invoice("S-1", [["ULSD", 15_400, 2.5, { deliveryTicket: "DT-1, DT-2", bolNumber: null }]], {
        orderId: null,
      }),
    ],
    answer: ["part-delivered probable 18750.00 null"],
  },
  "a bill of lading with a slash in it is one number": {
    papers: [
      LOAD[0] as Paper,
      ticket("DT-1", "26/4711", [["ULSD", 8000, 7950]]),
      ticket("DT-2", "26/4712", [["ULSD", 3000, 2990]], SECOND),
      order("O-2", 3000),
      invoice("B-1", [["ULSD", 7950, 2.4, { bolNumber: "26/4711" }]]),
      invoice("B-2", [["ULSD", 2990, 2.4, { bolNumber: "26/4712" }]]),
      SALE,
      toTheOther("ULSD", 2990),
    ],
    answer: [],
  },
  "gallons are credited, and their taxes stay billed": {
    papers: [...LOAD, BILL, SALE, invoice("CM-1", [["ULSD", -500, 2.5]])],
    answer: ["quantity certain 1250.00 us"],
  },
  "nothing is billed for what was delivered": {
    papers: [...LOAD, BILL, invoice("S-1", [["ULSD", 7950, 0, NET]])],
    answer: ["order-price certain 19875.00 us"],
  },
  "it was loaded at another terminal than was ordered, and billed at the list of that one": {
    papers: [
      order("O-1", 8000, {}, { buyPrice: null, terminalCode: "T-2" }),
      ...LOAD.slice(1),
      invoice("B-1", [["ULSD", 7950, 2.41, { location: "T-1" }]]),
      invoice("B-2", [["ULSD", 7950, 2.41, { location: "T-1" }]], { status: "VOID" }),
      SALE,
    ],
    prices: { "2026-11-09T07:00:00Z": 2.41 },
    pricesThere: { "2026-11-09T07:00:00Z": 2.3 },
    hasLane: true,
    answer: [],
  },
  "the head office pays what a branch received": {
    papers: [...LOAD, BILL, invoice("S-1", [["ULSD", 7950, 2.5]], { payerCompanyId: OTHER })],
    answer: [],
  },
  "two customers share an order, and one of them is not billed": {
    papers: [
      order("O-1", 8000),
      ticket("DT-1", "4711", [["ULSD", 5000, 4970]]),
      ticket("DT-2", "4712", [["ULSD", 3000, 2980]], { receiverCompanyId: OTHER }),
      invoice("B-1", [["ULSD", 4970, 2.4]]),
      invoice("B-2", [["ULSD", 2980, 2.4, { bolNumber: "4712" }]]),
      invoice("S-1", [["ULSD", 4970, 2.5, { deliveryTicket: null, bolNumber: null }]]),
    ],
    answer: ["not-billed certain 7450.00 us"],
  },
  "a ticket has gross gallons alone, and the line bills net and names its gross": {
    papers: [
      LOAD[0] as Paper,
      ticket("DT-1", "4711", [], {
        productLines: [{ product_name: "ULSD", gross_gallons: 8000, net_gallons: null }],
      }),
      BILL,
      SALE,
    ],
    answer: [],
  },
  "liters are billed as gallons": {
    papers: [...LOAD, invoice("B-1", [["ULSD", 30_094, 2.4]]), SALE],
    answer: ["quantity certain 53145.60 us"],
  },
  "a bill comes twice, and its bill of lading is spelled otherwise": {
    papers: [...LOAD, BILL, SALE, invoice("B-2", [["ULSD", 7950, 2.4, { bolNumber: "00 47-11" }]])],
    answer: ["billed-twice certain 19080.00 us"],
  },
  "a bill names another terminal than the load was lifted at": {
    papers: [...LOAD, invoice("B-1", [["ULSD", 7950, 2.4, { location: "T-2" }]]), SALE],
    answer: ["wrong-terminal certain null null"],
  },
  "a bill names another terminal, and is at another price than was ordered": {
    papers: [...LOAD, invoice("B-1", [["ULSD", 7950, 2.41, { location: "T-2" }]]), SALE],
    answer: ["wrong-terminal certain 79.50 us"],
  },
  "the surcharge is forgotten": {
    papers: [...LOAD, BILL, invoice("S-1", [["ULSD", 7950, 2.5], charge("Freight", 210)])],
    answer: ["freight certain 21.00 us"],
    hasLane: true,
  },
  "a line without a rate bills more than was ordered": {
    papers: [...LOAD, SALE, invoice("B-1", [["ULSD", 7950, 2.4, { rate: null, amount: 20_080 }]])],
    answer: ["order-price certain 1000.00 us"],
  },
  "a line without a rate bills more gallons than were delivered": {
    papers: [...LOAD, SALE, invoice("B-1", [["ULSD", 8450, 2.4, { rate: null, amount: 20_280 }]])],
    answer: ["quantity certain 1200.00 us"],
  },
  "gallons, their price and their tax are wrong, and together it is what was paid too much": {
    papers: [...LOAD, SALE, invoice("B-1", [["ULSD", 8450, 2.45]], { taxLines: [BAD_TAX] })],
    // 500 gallons at what was billed, and the rest of the price and the tax on 7,950 gallons.
    answer: [
      "quantity certain 1347.00 us",
      "order-price certain 397.50 us",
      "tax-rate certain 795.00 us",
    ],
  },
  "of one product at two prices each line is compared with the one that was ordered for it": {
    papers: [
      TWO_PRICES,
      ticket("DT-1", "4711", [["ULSD", 8000, 7950]]),
      SALE,
      invoice("B-1", [
        ["ULSD", 5000, 2.45],
        ["ULSD", 2950, 2.45],
      ]),
    ],
    answer: ["order-price certain 250.00 us"],
  },
  "a part of the load is another product than is billed": {
    papers: [
      order("O-1", 0, {
        lines: [
          { product: "ULSD", quantity: 5000, unitCode: "gal", buyPrice: 2.4, sellPrice: 2.5 },
          { product: "KERO", quantity: 3000, unitCode: "gal", buyPrice: 2.9, sellPrice: 3 },
        ],
      }),
      ticket("DT-1", "4711", [
        ["ULSD", 5000, 4970],
        ["KERO", 3000, 2980],
      ]),
      invoice("S-1", [
        ["ULSD", 4970, 2.5],
        ["KERO", 2980, 3],
      ]),
      invoice("B-1", [["ULSD", 7950, 2.4]]),
    ],
    answer: ["wrong-product certain 1490.00 them"],
  },
  "freight of a load that is billed twice, and no rate of the lane is known": {
    papers: [
      ...LOAD,
      SALE,
      invoice("B-1", [["ULSD", 7950, 2.4], charge("Freight", 385)]),
      invoice("B-2", [["ULSD", 7950, 2.4], charge("Freight", 385)]),
    ],
    answer: ["billed-twice certain 19465.00 us"],
  },
  "a load of which no ticket is here is billed twice, with freight at the rate of its lane": {
    papers: [LOAD[0] as Paper, SALE, invoice("S-2", [["ULSD", 7950, 2.5, NET], ...FREIGHT])],
    hasLane: true,
    settings: { patienceDays: 30 },
    answer: ["billed-twice certain 20106.00 them"],
  },
  "freight of a load that nobody delivered": {
    papers: [
      ...LOAD,
      SALE,
      BILL,
      invoice("B-2", [["ULSD", 7000, 2.4, { bolNumber: "99" }], charge("Freight", 385)]),
    ],
    answer: ["no-delivery certain 17185.00 us"],
  },
  "fees that were agreed for a lane, one of them at another amount": {
    papers: [
      ...LOAD,
      BILL,
      invoice("S-1", [
        ["ULSD", 7950, 2.5],
        ...FREIGHT,
        charge("Pump-off fee", 75),
        charge("Hose fee, 7950 gallons", 79.5),
        charge("Detention, 2 hours", 170),
      ]),
    ],
    fees: FEES,
    hasLane: true,
    answer: ["freight certain 40.00 them"],
  },
  "fees that were agreed for a lane are part of its freight": {
    papers: [...LOAD, BILL, invoice("S-1", [["ULSD", 7950, 2.5], charge("Freight", 345.5)])],
    fees: FEES,
    hasLane: true,
    answer: [],
  },
  "a sale is at the list of the terminal that it names itself": {
    papers: [
      order("O-1", 8000, {}, { sellPrice: null }),
      ...LOAD.slice(1),
      BILL,
      invoice("S-1", [["ULSD", 7950, 2.5, { rackPrice: 2.4, margin: 0.1, location: "T-2" }]]),
    ],
    ours: { "T-1": 2.3, "T-2": 2.4 },
    answer: [],
  },
  "a sale is not at the list of the terminal that it names itself": {
    papers: [
      order("O-1", 8000, {}, { sellPrice: null }),
      ...LOAD.slice(1),
      BILL,
      invoice("S-1", [["ULSD", 7950, 2.4, { rackPrice: 2.3, margin: 0.1, location: "T-2" }]]),
    ],
    ours: { "T-1": 2.3, "T-2": 2.4 },
    answer: ["rack-price probable 795.00 us"],
  },
  "one line of a bill for several loads is there twice": {
    papers: [
      ...LOAD,
      SALE,
      order("O-2", 3000),
      ticket("DT-2", "4712", [["ULSD", 3000, 2990]], SECOND),
      invoice("B-1", [
        ["ULSD", 7950, 2.4],
        ["ULSD", 2990, 2.4, { bolNumber: "4712" }],
        ["ULSD", 2990, 2.4, { bolNumber: "4712" }],
      ]),
      toTheOther("ULSD", 2990),
    ],
    answer: ["billed-twice certain 7176.00 us"],
  },
  "of one product at two prices one line bills more than was ordered for it": {
    papers: [
      TWO_PRICES,
      ...LOAD.slice(1),
      SALE,
      invoice("B-1", [
        ["ULSD", 5000, 2.4],
        ["ULSD", 3450, 2.45],
      ]),
    ],
    answer: ["quantity certain 1225.00 us"],
  },
  "of one product at two prices nobody knows which line bills too much": {
    papers: [
      order("O-1", 8000, {}, { buyPrice: null }),
      ...LOAD.slice(1),
      SALE,
      invoice("B-1", [
        ["ULSD", 4000, 2.4],
        ["ULSD", 4450, 2.44],
      ]),
    ],
    // Of each line its part: 20,458.00 for 8,450 gallons.
    answer: ["quantity certain 1210.53 us"],
  },
  "the line that bills too much is at another price than was ordered, and the rest of it, too": {
    papers: [
      TWO_PRICES,
      ...LOAD.slice(1),
      SALE,
      invoice("B-1", [
        ["ULSD", 5000, 2.4],
        ["ULSD", 3450, 2.55],
      ]),
    ],
    answer: ["quantity certain 1275.00 us", "order-price certain 295.00 us"],
  },
  "gallons that nobody loaded are billed at nothing": {
    papers: [
      ...LOAD,
      BILL,
      invoice("S-1", [
        ["ULSD", 7950, 2.5],
        ["ULSD", 200, 0],
      ]),
    ],
    answer: ["quantity certain null null"],
  },
  "a short load is below the least freight of its lane": {
    papers: [
      ...LOAD,
      BILL,
      invoice("S-1", [
        ["ULSD", 7950, 2.5],
        charge("Freight, minimum", 250),
        charge("Fuel surcharge", 25),
      ]),
    ],
    hasLane: true,
    lane: { minCharge: "250" },
    answer: [],
  },
  "the least freight of a lane is not billed": {
    papers: [...LOAD, BILL, SALE],
    hasLane: true,
    lane: { minCharge: "250" },
    answer: ["freight certain 44.00 us"],
  },
  "a deposit on a tank is billed, and given back": {
    papers: [
      ...LOAD,
      BILL,
      invoice("S-1", [["ULSD", 7950, 2.5], ...FREIGHT, charge("Tank deposit", 500)]),
      invoice("CM-1", [charge("Tank deposit returned", -500)]),
    ],
    hasLane: true,
    answer: [],
  },
  "a carrier bills us its freight": {
    papers: [
      ...LOAD,
      BILL,
      SALE,
      invoice("B-F", [charge("Freight 4711", 385, { bolNumber: "4711" })], { companyId: RIVAL }),
    ],
    hasLane: true,
    answer: [],
  },
  "a credit memo names the order alone, and it is billed again": {
    papers: [
      ...LOAD,
      BILL,
      invoice("S-1", [["ULSD", 7950, 2.55], ...FREIGHT], {}, 7950),
      invoice("CM-1", credited([["ULSD", 7950, 2.55, NAMELESS], ...FREIGHT]), {}, -7950),
      invoice("S-2", [["ULSD", 7950, 2.5], ...FREIGHT], {}, 7950),
    ],
    hasLane: true,
    answer: [],
  },
  "one bill has a load of a state that is billed gross and one of a state that is billed net": {
    papers: [
      order("O-1", 15_500),
      ...LOAD.slice(1),
      ticket("DT-2", "4712", [["ULSD", 7500, 7440]]),
      invoice("B-1", [
        ["ULSD", 8000, 2.4, NET],
        ["ULSD", 7440, 2.4, { bolNumber: "4712", grossGallons: 7500, netGallons: 7440 }],
      ]),
      invoice("S-1", [
        ["ULSD", 8000, 2.5, NET],
        ["ULSD", 7440, 2.5, { deliveryTicket: "DT-2", grossGallons: 7500, netGallons: 7440 }],
      ]),
    ],
    settings: { basis: () => null },
    answer: [],
  },
  "gross is billed, and nobody said on which basis": {
    papers: [...LOAD, BILL, invoice("S-1", [["ULSD", 8000, 2.5]])],
    settings: { basis: () => null },
    answer: [],
  },
  "a ticket is corrected after both sides were billed": {
    papers: [order("O-1", 7950), ticket("DT-1", "4711", [["ULSD", 7950, 7900]]), BILL, SALE],
    answer: ["quantity certain 132.20 us", "quantity certain 137.20 them"],
  },
  "a ticket is corrected after billing, and the customer is credited": {
    papers: [
      order("O-1", 7950),
      ticket("DT-1", "4711", [["ULSD", 7950, 7900]]),
      invoice("B-1", [["ULSD", 7900, 2.4]]),
      SALE,
      invoice("CM-1", [["ULSD", -50, 2.5]], {}, -50),
    ],
    answer: [],
  },
  "one lifting is dropped at three customers": {
    papers: [
      order("O-1", 3000),
      order("O-2", 5000),
      ticket("DT-1", "4711", [["ULSD", 3000, 2980]]),
      ticket("DT-2", "4711", [["ULSD", 3000, 2980]], SECOND),
      ticket("DT-3", "4711", [["ULSD", 2000, 1990]], SECOND),
      BILL,
      invoice("S-1", [["ULSD", 2980, 2.5]]),
      toTheOther("ULSD", 2980),
      invoice("S-3", [["ULSD", 1990, 2.5, { deliveryTicket: "DT-3" }]], {
        payerCompanyId: OTHER,
        orderId: id("O-2"),
      }),
    ],
    answer: [],
  },
  "a truck loads two products at two terminals of two suppliers": {
    papers: [
      order("O-1", 0, {
        lines: [
          { product: "ULSD", quantity: 5000, unitCode: "gal", buyPrice: 2.4, sellPrice: 2.5 },
          { product: "REG87", quantity: 3000, unitCode: "gal", buyPrice: 2.1, sellPrice: 2.2 },
        ],
      }),
      ticket("DT-1", "4711, 4712", [
        ["ULSD", 5000, 4970],
        ["REG87", 3000, 2960],
      ]),
      invoice("B-1", [["ULSD", 4970, 2.4]]),
      invoice("B-7", [["REG87", 2960, 2.1, { bolNumber: "4712" }]], { companyId: RIVAL }),
      invoice("S-1", [
        ["ULSD", 4970, 2.5],
        ["REG87", 2960, 2.2],
      ]),
    ],
    answer: [],
  },
  "a truck loads one product at two terminals of two suppliers": {
    papers: [
      ...TWO_LIFTINGS,
      invoice("B-1", [["ULSD", 7950, 2.4]]),
      invoice("B-7", [["ULSD", 7450, 2.4, { bolNumber: "4712" }]], { companyId: RIVAL }),
      invoice("S-1", [["ULSD", 15_400, 2.5]]),
    ],
    answer: [],
  },
  "two compartments of as many gallons are billed, and less than was delivered": {
    papers: [
      order("O-1", 8200),
      ticket("DT-1", "4711", [["ULSD", 8250, 8200]]),
      invoice("S-1", [["ULSD", 8200, 2.5]]),
      invoice("B-1", [
        ["ULSD", 3975, 2.4],
        ["ULSD", 3975, 2.4],
      ]),
    ],
    answer: ["quantity certain 600.00 them"],
  },
  "it was delivered three working days ago, and is not billed": {
    papers: [...LOAD, BILL],
    settings: { today: "2026-11-13" },
    answer: [],
  },
  "it was delivered four working days ago, and is not billed": {
    papers: [...LOAD, BILL],
    settings: { today: "2026-11-16" },
    answer: ["not-billed certain 19875.00 us"],
  },
  "nobody has signed for it, and it is not billed": {
    papers: [
      LOAD[0] as Paper,
      ticket("DT-1", "4711", [["ULSD", 8000, 7950]], { status: "ISSUED" }),
      BILL,
    ],
    answer: [],
  },
  "two loads are at a wrong price, and one of them is credited": {
    papers: [
      order("O-1", 16_000),
      ...LOAD.slice(1),
      ticket("DT-2", "4712", [["ULSD", 8000, 7950]]),
      BILL,
      invoice("B-2", [["ULSD", 7950, 2.4, { bolNumber: "4712" }]]),
      invoice("S-1", [["ULSD", 7950, 2.55]]),
      invoice("S-2", [["ULSD", 7950, 2.55, { deliveryTicket: "DT-2" }]]),
      invoice("CM-1", [charge("Price of one load", -397.5)]),
    ],
    answer: ["order-price certain 397.50 them"],
  },
  "a wrong price is put right by a credit per gallon for a part of the gallons": {
    papers: [
      ...LOAD,
      invoice("B-1", [["ULSD", 7950, 2.45]]),
      invoice("BCM-1", [["ULSD", 5000, -0.05]]),
      SALE,
    ],
    answer: ["order-price certain 147.50 us"],
  },
  "a line that names nothing bills fewer gallons than were delivered": {
    papers: [...LOAD, BILL, invoice("S-1", [["ULSD", 7600, 2.5, NAMELESS]], { orderId: null })],
    answer: ["no-delivery probable 19000.00 them", "not-billed certain 19875.00 us"],
  },
  "two lines name nothing, and there is one delivery": {
    papers: [
      ...LOAD,
      BILL,
      invoice("S-1", [["ULSD", 7950, 2.5, NAMELESS]], { orderId: null }),
      invoice("S-2", [["ULSD", 7950, 2.5, NAMELESS]], { orderId: null }),
    ],
    answer: ["no-delivery probable 19875.00 them"],
  },
  "the number of a ticket comes again after half a year": {
    papers: [
      ...LOAD,
      BILL,
      SALE,
      order("O-0", 3000, LAST_MAY),
      ticket("DT-1", "88", [["ULSD", 3000, 2990]], {
        ...LAST_MAY,
        id: id("OLD"),
        orderId: id("O-0"),
      }),
      invoice("S-0", [["ULSD", 2990, 2.5, { bolNumber: null, deliveredDate: MAY }]], {
        createdAt: MAY,
        orderId: id("O-0"),
      }),
    ],
    answer: [],
  },
};

test.each(Object.entries(books))("%s", (_, book) => {
  expect(toldOf(book)).toEqual(book.answer);
});
