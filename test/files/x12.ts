/**
 * Interchanges written by hand, segment by segment, as X12 004010 has them, and what is needed to write and read them. No
 * code of ours made them.
 */
import type { Change, Item } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { type Json, parseExact } from "../../src/core/json.ts";
import type { CustomerInvoiceDocument, OrderDocument } from "../../src/formats/documents.ts";
import type { RecordsRead } from "../../src/formats/format.ts";
import { X12Options } from "../../src/formats/x12/config.ts";
import { x12Reader } from "../../src/formats/x12/read.ts";

export const d = (text: string): Decimal => Decimal.of(text);

/** What one side of the two has agreed on; SUPPLIERCO is us. */
export const agreed = {
  us: { id: "SUPPLIERCO" },
  partner: { id: "ACMEOIL" },
  usage: "test",
  ourCode: "SUP01",
  taxes: { "FED-EX": "FT" },
  gross: "QQ1",
  net: "QQ2",
};
export const options = (more: object = {}): X12Options => X12Options.parse({ ...agreed, ...more });

export const context = (more: object = {}) => ({
  options: options(more),
  currency: "USD",
  dayOf: (instant: string) => instant.slice(0, 10),
});

interface Enveloped {
  readonly functionalId: string;
  readonly sets: readonly (readonly string[])[];
  readonly control?: string;
  readonly from?: string;
  readonly to?: string;
}

/** One group in one interchange, with the counts and numbers that it has to have. */
export function envelope({
  functionalId,
  sets,
  control = "117",
  from = "ACMEOIL",
  to = "SUPPLIERCO",
}: Enveloped): string {
  const numbered = sets.map((segments, at) => {
    const [id = "", ...rest] = segments;
    const number = String(at + 1).padStart(4, "0");
    return [`ST*${id}*${number}`, ...rest, `SE*${rest.length + 2}*${number}`];
  });
  return `${[
    // 00 and ten blanks twice: no authorisation, no security. ZZ: agreed between the two. Ids are 15 wide.
    `ISA*00*          *00*          *ZZ*${from.padEnd(15)}*ZZ*${to.padEnd(15)}*261118*0915*U*00401*${control.padStart(9, "0")}*0*T*>`,
    `GS*${functionalId}*${from}*${to}*20261118*0915*${control}*X*004010`,
    ...numbered.flat(),
    `GE*${sets.length}*${control}`,
    `IEA*1*${control.padStart(9, "0")}`,
  ].join("~")}~`;
}

/** 7998 x 2.3457 = 18760.9086, which is 18760.91; with 1951.51 of tax 20712.42, which is 2071242 as N2. */
export const golden810 = [
  "810",
  "BIG*20261118*INV2026000118ACME**PO-88121",
  "NTE*GEN*Gate B, dock 3",
  "CUR*SE*USD",
  // CT: contract.
  "REF*CT*CN-2026-14",
  // SE: seller, BT: bill to. 92: a code of the buyer's.
  "N1*SE**92*SUP01",
  "N1*BT**92*ACME",
  // 01, 3: basic terms, from the invoice's date on.
  "ITD*01*3****20261128",
  // GA: US gallons. VP: the vendor's part number.
  "IT1*1*7998*GA*2.3457**VP*ULSD2",
  // The tax of this line; VD: who levies it is a code that two partners agreed on.
  "TXI*FT*1951.51**VD*IRS",
  "MEA*PD*QQ1*8050*GA",
  "MEA*PD*QQ2*7998*GA",
  "PID*F****ULSD NO 2",
  // BM: bill of lading.
  "REF*BM*4471182",
  // 011: shipped.
  "DTM*011*20261117",
  // A charge without a product: one piece.
  "IT1*2*1*EA*-478.9",
  "PID*F****Credit, freight",
  "TDS*2023352",
  "CTT*2",
];

export const invoice = (more: Partial<CustomerInvoiceDocument> = {}): CustomerInvoiceDocument => ({
  id: "0b6f7a52-4c1e-4d8a-9f5e-1c2d3e4f5a6b",
  number: "INV2026000118ACME",
  version: "2026-11-18T09:15:00.123Z",
  status: "OUTSTANDING",
  customer: "ACME",
  payerId: "5d0f2c7e-9b1a-4c3d-8e5f-6a7b8c9d0e1f",
  orderId: null,
  invoiceDate: "2026-11-18T04:30:00Z",
  dueDate: "2026-11-28T00:00:00Z",
  paidDate: null,
  poNumber: "PO-88121",
  contractNumber: "CN-2026-14",
  subtotal: d("18282.01"),
  taxTotal: d("1951.51"),
  total: d("20233.52"),
  notes: "Gate B, dock 3",
  lines: [
    {
      item: "ULSD2",
      product: "ULSD-CLR",
      description: "ULSD NO 2",
      spec: null,
      gallons: d("7998"),
      grossGallons: d("8050"),
      netGallons: d("7998"),
      rate: d("2.3457"),
      amount: d("18760.91"),
      bolNumber: "4471182",
      deliveryTicket: null,
      location: null,
      carrier: null,
      deliveredDate: "2026-11-17T15:00:00Z",
    },
    {
      item: null,
      product: null,
      description: "Credit, freight",
      spec: null,
      gallons: null,
      grossGallons: null,
      netGallons: null,
      rate: null,
      amount: d("-478.90"),
      bolNumber: null,
      deliveryTicket: null,
      location: null,
      carrier: null,
      deliveredDate: null,
    },
  ],
  taxes: [
    {
      taxCode: "FED-EX",
      taxType: "Federal excise",
      authority: "IRS",
      product: null,
      gallons: null,
      rate: null,
      amount: d("1951.51"),
    },
  ],
  ...more,
});

export const golden850 = [
  "850",
  // 00: original, SA: stand-alone.
  "BEG*00*SA*LN-88121**20261112",
  "CUR*BY*USD",
  // 002: delivery requested.
  "DTM*002*20261117",
  "N1*BY**92*SUP01",
  "N1*ST**92*ACME-BP2",
  "PO1*1*8000*GA*2.3457**VP*ULSD2",
  "PID*F****ULSD-CLR",
  // SF: ship from, the terminal.
  "N1*SF*Tulsa Terminal*92*T-73-OK-2700",
  "CTT*1",
];

export const order = (more: Partial<OrderDocument> = {}): OrderDocument => ({
  id: "1c6f7a52-4c1e-4d8a-9f5e-1c2d3e4f5a6b",
  number: "LN-88121",
  version: "2026-11-12T09:15:00Z",
  status: "CONFIRMED",
  orderType: "BUY",
  urgency: "NORMAL",
  companyId: "5d0f2c7e-9b1a-4c3d-8e5f-6a7b8c9d0e1f",
  locationId: "ACME-BP2",
  carrierId: null,
  loadingNumber: "LN-88121",
  requestedDate: "2026-11-17T06:00:00Z",
  deliveryDate: null,
  deliveryStart: null,
  deliveryEnd: null,
  notes: null,
  lines: [
    {
      item: "ULSD2",
      product: "ULSD-CLR",
      productCode: null,
      terminal: "Tulsa Terminal",
      terminalCode: "T-73-OK-2700",
      supplierId: null,
      quantity: d("8000"),
      unit: "gal",
      gallons: d("8000"),
      rate: d("2.3457"),
      buyPrice: null,
      sellPrice: null,
      lineLoadingNumber: null,
    },
  ],
  ...more,
});

/** As public samples have it: BAK03 our number, BAK08 theirs; ACK after each PO1, 068 the day that is planned. */
export const golden855 = [
  "855",
  "BAK*00*AC*LN-88121*20261113****SO-7714",
  "N1*SE*GULF COAST REFINING*92*V-0007",
  "PO1*1*8000*GA*2.3457**VP*ULSD2",
  "ACK*IA*8000*GA*068*20261117",
  "PO1*2*2000*GA*2.1188**VP*E10REG",
  "ACK*IB*2000*GA*068*20261119",
  "CTT*2",
];

/** As public samples have it: shipment, order, items; REF BM, DTM 011 shipped, 035 delivered; CTT counts the HL. */
export const golden856 = [
  "856",
  "BSN*00*SHP-4471*20261117*1530*0001",
  "HL*1**S",
  "TD5*B*2*BAYO*M*BAYOU TRUCKING",
  "REF*BM*4471182",
  "DTM*011*20261117*1405",
  "DTM*035*20261118",
  "N1*SF*TULSA TERMINAL*92*T-73-OK-2700",
  "N1*ST*DEPOT 9*92*ACME-BP2",
  "N1*SU*GULF COAST REFINING*92*V-0007",
  "HL*2*1*O",
  "PRF*LN-88121***20261112",
  "HL*3*2*I",
  "LIN*1*VP*ULSD2",
  "SN1*1*7998*GA",
  "MEA*PD*QQ1*8050*GA",
  "MEA*PD*QQ2*7998*GA",
  "MEA*PD*TE*71.3",
  "MEA*PD*GV*36.2",
  "HL*4*2*I",
  "LIN*2*VP*E10REG",
  "SN1*2*1000*GA",
  "CTT*4",
];

export const golden832 = [
  "832",
  "BCT*PC*RACK20261118",
  // 007: effective.
  "DTM*007*20261118*1800",
  "N1*SU*RACK SUPPLIER CO*92*RS1",
  "N1*SF*TULSA TERMINAL*92*T-73-OK-2700",
  "LIN*1*VP*ULSD2",
  "PID*F****ULSD NO 2",
  // UCP: the price of one unit.
  "CTP**UCP*2.3457*1*GA",
  "LIN*2*VP*E10REG",
  "PID*F****E10 REGULAR 87",
  "CTP**UCP*2.1188*1*GA",
  "CTT*2",
];

export const golden820 = [
  "820",
  // I: remittance advice only, C: a credit. The day of payment is element 16.
  "BPR*I*20712.42*C*ACH************20261128",
  "TRN*1*PMT-889",
  "CUR*PR*USD",
  "N1*PR*ACME OIL CO*92*ACME",
  "N1*PE*SUPPLIER FUELS INC*92*SUP01",
  "ENT*1",
  // IV: an invoice. Element 4 is what was paid, 5 what it comes to.
  "RMR*IV*INV2026000118ACME**20712.42*20712.42",
  "DTM*003*20261118",
];

export const itemOf = (document: CustomerInvoiceDocument | OrderDocument): Item => ({
  number: document.number,
  id: document.id,
  revision: "rev-a",
  document,
  counterpart: null,
});

type Layout = Parameters<typeof x12Reader>[0]["layout"];

/** Reads a file as a source with this layout does, at noon of the day that everything is dated. */
export const read = (
  layout: Layout,
  text: string | Buffer,
  more: object = {},
  now = "2026-11-19T12:00:00Z",
): RecordsRead =>
  x12Reader(
    { layout, x12: options(more) },
    {
      currency: "USD",
      now: () => new Date(now),
      dayOf: (instant) => instant.slice(0, 10),
    },
  ).read(Buffer.from(text), "file.edi");

export const records = (changes: readonly Change[]): Record<string, Json>[] =>
  changes
    .filter(({ fault }) => fault === undefined)
    .map(({ text }) => parseExact(text) as Record<string, Json>);
