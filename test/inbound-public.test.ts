/**
 * Files of public samples and layouts of others, let in by settings alone. Each says where it is from, what is known of it and
 * what is a guess: values are ours where the source has a layout only. What cannot be let in says why.
 */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectFate, type Fate, lines } from "./files/inbound.ts";
import { emptyFolder, readAll } from "./files/idoc.ts";
import { d, read, records } from "./files/x12.ts";

const INVOICE = `
layout: books.invoices
columns:
  type: { constant: out }
  state: { constant: posted }
  currency: { constant: USD }
  paidByPlatform: { constant: "0" }`;

const samples: readonly (readonly [name: string, profile: string, file: string, fate: Fate])[] = [
  // huskeroil.com/kyimport.html, its own example rows: no header, 22 columns; the last row is an inventory, not a manifest.
  [
    "Kentucky manifests: rows of another schedule are left out by the number of a column",
    `
layout: plain/delivery-tickets
header: 0
dates: [MM/dd/yyyy]
record: { same: [number] }
leaveOut: { "19": [15C] }
columns:
  number: { column: 15 }
  bolNumber: { column: 15 }
  status: { constant: ISSUED }
  carrier: { column: 1 }
  terminal: { column: 6 }
  receiver: { column: 11 }
  destination: { column: 7 }
  delivered: { column: 14 }
lists: { lines: { columns: { product: { column: 16 }, netGallons: { column: 17 } } } }`,
    lines(
      "Wildcat Trucking,111111111,J,Lexington,KY,,,,T72KY2345,Kentucky Oil Inc.,987654321,,,03/24/2013,C22X410,065,1500,0,5D,0,,",
      "Acme Consignors,223344556,J,Lexington,KY,,Nashville,TN,,My Gas Co,444444444,,,03/24/2013,C22X411,065,1500,0,14,0,,",
      "Wildcat Trucking,111111111,J,,,,,,,My Gas Co,444444444,,,03/24/2013,C22X412,065,1500,0,15A,0,,",
      ",,,,,,,,,,,,,03/24/2013,C22X413,065,,,15C,0,12000,9500",
    ),
    {
      read: ["C22X410", "C22X411", "C22X412"].map((number) => ({
        number,
        delivered: "2013-03-24",
        lines: [{ product: "065", netGallons: "1500" }],
      })),
    },
  ],
  // helpcenter.energyforce.net, "Cenex AFD File Technical Specifications": records 1, 2 and 3 of different lengths with these
  // fields in this order. Guess: the delimiter, for the source has lengths and no positions.
  [
    "Cenex AFD: a file header, a customer above his tanks, rows of three lengths",
    `
layout: plain/delivery-tickets
delimiter: "|"
header: 0
dates: ["MM/dd/yy[ HH:mm:ss]"]
tag: { column: 1 }
record: { tag: "3" }
leaveOut: { tag: ["1"] }
heading: { tag: "2", columns: { receiver: { column: 3 }, destination: { column: 7 } } }
columns:
  number: { column: 7 }
  status: { constant: ISSUED }
  delivered: { column: 8 }
lists: { lines: { tag: "3", columns: { product: { column: 2 }, netGallons: { column: 9 } } } }`,
    lines(
      "1|0100|0000012345|11/18/2026",
      "2|004711|0000000417|PRAIRIE PETE|RR 2||HOPE|ND|58046|11/18/2026",
      "3|FLD-D|FIELDMASTER DYED|1|2|1000.0|88121|11/17/26 14:05:00|812.5",
      "3|UL|UNLEADED|1|3|500.0|88122|11/17/26 14:25:00|310.0",
      "2|004712|0000000512|OTTO|RR 3||HOPE|ND|58046|11/18/2026",
      "3|FLD-D|FIELDMASTER DYED|1|1|1000.0|88123|11/17/26 15:05:00",
    ),
    {
      read: [
        {
          number: "88121",
          receiver: "0000000417",
          delivered: "2026-11-17",
          lines: [{ product: "FLD-D", netGallons: "812.5" }],
        },
        {
          number: "88122",
          receiver: "0000000417",
          lines: [{ product: "UL", netGallons: "310.0" }],
        },
      ],
      refused: ["6 : The row has 8 cells, the profile needs 9"],
    },
  ],
  // Epicor Eclipse, "Invoice Batch File Layout": all fields in quotes, the line type first; HDR, ITM, CMT, DSC, FTR (totals, tax,
  // freight, count of items), SUM (number of invoices). Guess: which column has what.
  [
    "Eclipse invoice batch: totals stand below the items, and a batch summary ends the file",
    `${INVOICE}
  id: { column: 2 }
  number: { column: 2 }
  partyCode: { column: 3 }
  invoiceDate: { column: 4 }
header: 0
dates: [MM/dd/yyyy]
tag: { column: 1 }
record: { tag: HDR }
leaveOut: { tag: [VER, CMT, DSC] }
footer: { tag: FTR, columns: { total: { column: 2 }, tax: { column: 3 }, untaxed: { plus: [{ column: 2 }], minus: [{ column: 3 }] } } }
trailer: { tag: SUM, records: { column: 2 }, sums: { total: { column: 3 } } }
lists:
  lines: { tag: ITM, columns: { product: { column: 2 }, quantity: { column: 3 }, unitPrice: { column: 4 }, amount: { column: 5 }, description: { column: 2 } } }
  taxes: { tag: TAX, columns: { description: { column: 2 }, amount: { column: 3 } } }`,
    lines(
      '"VER","9.1"',
      '"HDR","S1001","000417","11/02/2026"',
      '"ITM","ULSD2","8000","2.3456","18764.80"',
      '"DSC","ULSD No. 2"',
      '"FTR","20708.80","1944.00","1"',
      '"HDR","S1002","000512","11/02/2026"',
      '"ITM","E10","500","2.10","1050.00"',
      '"SUM","2","20708.80"',
    ),
    {
      read: [
        {
          number: "S1001",
          untaxed: "18764.80",
          tax: "1944.00",
          total: "20708.80",
          lines: [{ product: "ULSD2", amount: "18764.80" }],
        },
      ],
      refused: ['6 : The row has no row "FTR" below it'],
    },
  ],
  // github, an export of QuickBooks' customers (File, Utilities, Export): !HDR and !CUSTNAMEDICT before !CUST, which has 60
  // columns. These are some of them in their order; the values are ours.
  [
    "QuickBooks customers as IIF: each kind of row says where its columns stand",
    `
layout: books.parties
delimiter: "\\t"
header: tags
quotes: none
record: { tag: CUST }
leaveOut: { tag: [HDR, CUSTNAMEDICT, ENDCUSTNAMEDICT] }
columns:
  code: NAME
  name: COMPANYNAME
  street: BADDR2
  phone: PHONE1
  email: EMAIL
  isCustomer: { constant: "1" }
  isSupplier: { constant: "0" }
  active: { label: HIDDEN, values: { N: "1", Y: "0" } }`,
    lines(
      "!HDR\tPROD\tVER\tREL\tIIFVER\tDATE\tTIME",
      "HDR\tQuickBooks Desktop Pro\tVersion 27.0D\tRelease R5P\t1\t2017-07-29\t1501191278",
      "!CUSTNAMEDICT\tINDEX\tLABEL\tCUSTOMER\tVENDOR\tEMPLOYEE",
      "!ENDCUSTNAMEDICT",
      "CUSTNAMEDICT\t8\t\tN\tN\tN",
      "ENDCUSTNAMEDICT",
      "!CUST\tNAME\tREFNUM\tTIMESTAMP\tBADDR1\tBADDR2\tPHONE1\tEMAIL\tNOTE\tCOMPANYNAME\tHIDDEN\tDELCOUNT",
      "CUST\tAldred\t12\t1154536740\tAldred Oil\t1 Main St\t555-0100\tap@aldred.example\t\tAldred Oil Co\tN\t0",
      "CUST\tOld\t13\t1154536741\t\t\t\t\t\tOld Co\tY\t0",
    ),
    {
      read: [
        {
          code: "Aldred",
          name: "Aldred Oil Co",
          street: "1 Main St",
          email: "ap@aldred.example",
          active: true,
        },
        { code: "Old", active: false },
      ],
    },
  ],
  [
    "an IIF whose header lacks a column is refused",
    `
layout: books.parties
delimiter: "\\t"
header: tags
quotes: none
record: { tag: CUST }
columns: { code: NAME, name: COMPANYNAME, isCustomer: { constant: "1" }, isSupplier: { constant: "0" }, active: { constant: "1" } }`,
    lines("!CUST\tNAME\tREFNUM", "CUST\tAldred\t12"),
    { file: "line 1: the file has no column COMPANYNAME after !CUST" },
  ],
];
test.each(samples)("%s", (_name, profile, file, fate) => expectFate(profile, file, fate));

/* X12 of others. */

// help.sap.com, "Integration Advisor", its own sample: release 008010.
const SAP_810 =
  "ISA*00*          *00*          *14*1111           *14*VAL_79080      *210526*1236*U*00401*000004688*0*P*^~GS*IN*AW_SND_B2B_SYS*MCC_REC_B2B_SYS*20210526*1236*1843*X*008010~ST*810*000006638~BIG*20091130*02709444*20091021*2562120~REF*VR*9999~N1*ST*AW DISTRIBUTION, INC*54*N101~N1*RE*MyCloudCompany*9*23320228920~ITD*01*15*****60~DTM*011*20091128~FOB*PP*OR*FREDERICKPA 17026~IT1**83*CA*33.72*CP*UI*01000999999*PI*999999~PID*F****Item Description~PO4*12~TDS*277077*277077*277077~SAC*A*ZZZZ***2799*******02***SPOILS/DAMAGES~ISS*83*CA~CTT*1~SE*16*000006638~GE*1*1843~IEA*1*000004688~";

test("SAP's sample 810: its partners are let in by settings, its release is not read, and that is told", () => {
  const more = {
    us: { qualifier: "14", id: "VAL_79080".replace("_", "-") },
    partner: { qualifier: "14", id: "1111" },
    usage: "production",
  };
  const { changes } = read("books.invoices", SAP_810.replace("VAL_79080", "VAL-79080"), more);
  expect(changes[0]?.fault?.message).toContain("the version is not supported (2)");
});

test("the same in release 004010 comes to its TDS01, less the allowance; of another company it is none of ours", () => {
  const more = {
    us: { qualifier: "14", id: "VAL-79080" },
    partner: { qualifier: "14", id: "1111" },
    usage: "production",
    ourCode: "23320228920",
    product: "PI",
    units: { case: "CA" },
  };
  const text = SAP_810.replace("VAL_79080", "VAL-79080").replace("X*008010", "X*004010");
  const read810 = (one: string) => read("books.invoices", one, more).changes;
  expect(read810(text)[0]?.fault?.code).toBe("other-issuer");
  const ours = text.replace("N1*ST*", "N1*BT*").replace("N1*RE*", "N1*RI*");
  expect(records(read810(ours))).toMatchObject([
    {
      number: "02709444",
      reference: "2562120",
      untaxed: d("2770.77"),
      total: d("2770.77"),
      lines: [
        { product: "999999", quantity: d("83"), unit: "case", amount: d("2798.76") },
        { description: "SPOILS/DAMAGES", amount: d("-27.99") },
      ],
    },
  ]);
});

// A public 832 of a demo (github, "CARREFOUR"): CTP02 is RES, so the price is the resale price where the partners agreed on it.
const PRICES_832 =
  "ISA*00*          *00*          *ZZ*CARREFOUR      *ZZ*NOVADIST       *260908*1200*U*00401*000000832*0*P*>~\nGS*SC*CARREFOUR*NOVADIST*20260908*1200*83201*X*004010~\nST*832*0001~\nBCT*PC*CAT-2026-Q3~\nCUR*BY*USD~\nDTM*007*20260908~\nN1*SF*Nova Distribution Inc*91*NOVA-HQ~\nLIN*1*BP*CRF-MILK-1L*VN*NV-MILK-1L*UP*6291041000101~\nPID*F****Full Cream Fresh Milk 1L~\nCTP*WS*RES*4.50*1*CA~\nLIN*2*BP*CRF-YOGURT-500G*VN*NV-YOG-500*UP*6291041000202~\nCTP*WS*CON*6.10*1*CA~\nCTP*WS*RES*6.25*1*CA~\nCTT*2~\nSE*13*0001~\nGE*1*83201~\nIEA*1*000000832~";

test("which price of an 832 counts is a setting", () => {
  const more = {
    us: { id: "NOVADIST" },
    partner: { id: "CARREFOUR" },
    usage: "production",
    product: "VN",
    units: { case: "CA" },
  };
  const told = (price: string) =>
    read("books.prices", PRICES_832, { ...more, price }).changes.map(
      ({ id, text, fault }) =>
        fault?.message ?? `${id} ${(JSON.parse(text) as { price: number }).price}`,
    );
  expect(told("RES")).toEqual(["NOVA-HQ|NV-MILK-1L 4.5", "NOVA-HQ|NV-YOG-500 6.25"]);
  expect(told("CON")).toEqual(["CTP03 is missing", "NOVA-HQ|NV-YOG-500 6.1"]);
});

// A public 820 (github, lockbox demo): RMR05 is left out, so nobody can tell whether an invoice is paid in full.
test("an 820 without the amounts of its invoices is for a person, invoice by invoice", () => {
  const text =
    "ISA*00*          *00*          *ZZ*VERTEXMFG      *ZZ*HARBORLINE     *260918*1200*U*00401*000000121*0*P*:~\nGS*RA*VERTEXMFG*HARBORLINE*20260918*1200*121*X*004010~\nST*820*0001~\nBPR*C*11050.00*C*ACH*CTX*01*021000021*DA*123456789*9876543210**01*071000013*DA*555019900*20260918~\nTRN*1*820-20260918-VM*1211403990~\nREF*AC*VM-30881~\nN1*PR*VERTEX MANUFACTURING LLC~\nN1*PE*HARBORLINE INDUSTRIAL SUPPLY~\nENT*1~\nRMR*IV*INV-10530**8900.00~\nREF*PO*VM-77421~\nRMR*IV*INV-10531**2150.00~\nREF*PO*VM-77455~\nSE*12*0001~\nGE*1*121~\nIEA*1*000000121~\n";
  const more = { us: { id: "HARBORLINE" }, partner: { id: "VERTEXMFG" }, usage: "production" };
  const { changes } = read("books.paidInvoices", text, more);
  expect(changes.map(({ id, fault }) => [id, fault?.message])).toEqual([
    ["INV-10530", "RMR05 is missing"],
    ["INV-10531", "RMR05 is missing"],
  ]);
});

// Adobe's 810 as a public test has it (github, v004010 tests of a parser in Rust): the blanks of ISA were lost.
test("an ISA whose blanks were lost is refused with its reason", () => {
  expect(() =>
    read(
      "books.invoices",
      "ISA*00* *00* *16*102096559TEST *14*PARTNERTEST*071214*1406*U*00040*810000263*1*T*>~\nGS*IN*102096559TEST*PARTNER*20071214*1406*810000263*X*004010~\n",
    ),
  ).toThrow("has an ISA segment whose elements are not of their fixed widths");
});

/* IDocs of others. */

const readIdoc = async (file: string, settings: Parameters<typeof readAll>[1]) => {
  const folder = emptyFolder(mkdtempSync(join(tmpdir(), "public-")), "in");
  writeFileSync(join(folder, "it.xml"), file);
  return readAll(folder, settings);
};

// github, a price of a car as S/4HANA sent it to an integration suite (COND_A03), all fields as they stand there.
test("a COND_A03 as S/4HANA wrote it: the key is cut out of VAKEY, another unit by a setting", async () => {
  const { changes } = await readIdoc(
    '<COND_A03><IDOC BEGIN="1"><EDI_DC40 SEGMENT="1"><TABNAM>EDI_DC40</TABNAM><MANDT>100</MANDT><DOCNUM>0000000000116617</DOCNUM><DOCREL>755</DOCREL><STATUS>30</STATUS><DIRECT>1</DIRECT><OUTMOD>2</OUTMOD><IDOCTYP>COND_A03</IDOCTYP><MESTYP>COND_A</MESTYP><SNDPOR>SAPPS4</SNDPOR><SNDPRT>LS</SNDPRT><SNDPRN>PS4CLNT100</SNDPRN><RCVPOR>CPI_PRI_2E</RCVPOR><RCVPRT>LS</RCVPRT><RCVPRN>CPIPRD_4EU</RCVPRN><CREDAT>20230306</CREDAT><CRETIM>093036</CRETIM><SERIAL>20230306013036693001</SERIAL></EDI_DC40><E1KOMG SEGMENT="1"><KVEWE>A</KVEWE><KOTABNR>910</KOTABNR><KAPPL>V</KAPPL><KSCHL>ZTP2</KSCHL><VAKEY>ZVEHHX1ETD3A61EU010417</VAKEY><MATNR>HX1ETD3A61EU010417</MATNR><EVRTP>00000</EVRTP><MTART>ZVEH</MTART><POSNR>000000</POSNR><ANZSN>0000000000</ANZSN><VAKEY_LONG>ZVEHHX1ETD3A61EU010417</VAKEY_LONG><MATNR_LONG>HX1ETD3A61EU010417</MATNR_LONG><E1KONH SEGMENT="1"><KNUMH>0000101692</KNUMH><DATAB>20230306</DATAB><DATBI>99991231</DATBI><E1KONP SEGMENT="1"><KSCHL>ZTP2</KSCHL><STFKZ>A</STFKZ><KSTBM>0.000</KSTBM><KSTBW>0.00</KSTBW><KRECH>C</KRECH><KBETR>25500.00</KBETR><KONWA>USD</KONWA><KPEIN>1</KPEIN><KMEIN>PCE</KMEIN><KUMZA>0</KUMZA><VALDT>00000000</VALDT></E1KONP></E1KONH></E1KOMG></IDOC></COND_A03>',
    {
      message: "COND_A",
      conditionTypes: ["ZTP2"],
      terminal: { from: 1, length: 4 },
      units: { PCE: "each" },
    },
  );
  expect(records(changes)).toMatchObject([
    { list: "ZVEH", product: "HX1ETD3A61EU010417", unit: "each" },
  ]);
});

// github, a customer of ECC 6.0 EhP6 as a test of an adapter has it (DEBMAS01), without a region.
test("a DEBMAS01 of ECC: the customer with both lines of his name", async () => {
  const { changes } = await readIdoc(
    '<?xml version="1.0" encoding="UTF-8"?><DEBMAS01><IDOC BEGIN="1"><EDI_DC40 SEGMENT="1"><TABNAM>EDI_DC40</TABNAM><MANDT>800</MANDT><DOCNUM>0000000001086095</DOCNUM><DOCREL>731</DOCREL><STATUS>30</STATUS><DIRECT>1</DIRECT><OUTMOD>2</OUTMOD><IDOCTYP>DEBMAS01</IDOCTYP><MESTYP>DEBMAS</MESTYP><SNDPOR>SAPEH6</SNDPOR><SNDPRT>LS</SNDPRT><SNDPRN>EH6CLNT800</SNDPRN><RCVPOR>MULESOFT</RCVPOR><RCVPRT>LS</RCVPRT><RCVPRN>MULESOFT</RCVPRN><CREDAT>20140716</CREDAT><CRETIM>125035</CRETIM><SERIAL>20140716125035</SERIAL></EDI_DC40><E1KNA1M SEGMENT="1"><MSGFN>005</MSGFN><KUNNR>0000099009</KUNNR><ANRED>Mr.</ANRED><BBBNR>0000000</BBBNR><BBSNR>00000</BBSNR><BUBKZ>0</BUBKZ><KTOKD>ZAG2</KTOKD><LAND1>SK</LAND1><NAME1>Janko Hrasko</NAME1><NAME2>Hrasko 2</NAME2><SPRAS>E</SPRAS><UMJAH>0000</UMJAH><CIVVE>X</CIVVE><SPRAS_ISO>EN</SPRAS_ISO><E1KNVKM SEGMENT="1"><MSGFN>005</MSGFN></E1KNVKM></E1KNA1M></IDOC></DEBMAS01>',
    { message: "DEBMAS", accountGroups: ["ZAG2"] },
  );
  expect(records(changes)).toMatchObject([
    { code: "0000099009", name: "Janko Hrasko Hrasko 2", country: "SK", state: null, active: true },
  ]);
});
