/**
 * The segments that are written and read here: each field with its length and what stands in it, in SAP's order. Writer,
 * reader and tests use this table and no other. Source: SAP's own description of EDI_DC40 (the lengths add up to 524) and
 * of the segments of INVOIC02, ORDERS05, DELVRY03, DEBMAS06, CREMAS05, COND_A01, ALEAUD01 and SYSTAT01. Newer releases
 * append fields; what is not in the table is not read.
 */

/**
 * `code`: identifies something and is taken as it is. `text`: words for people. `number`: decimal point, minus at the end,
 * with a fixed number of decimals or as many as there are. `date`: `YYYYMMDD`. `time`: `HHMMSS`.
 */
export type FieldKind = "code" | "text" | "number" | "date" | "time";

export interface FieldType {
  /** Characters, as SAP counts them: UTF-16 units. */
  readonly length: number;
  readonly kind: FieldKind;
  /** Of a number; null: as many as there are. */
  readonly decimals: number | null;
}

const code = (length: number): FieldType => ({ length, kind: "code", decimals: null });
const text = (length: number): FieldType => ({ length, kind: "text", decimals: null });
const num = (length: number, decimals: number | null = null): FieldType => ({
  length,
  kind: "number",
  decimals,
});
const date: FieldType = { length: 8, kind: "date", decimals: null };
const time: FieldType = { length: 6, kind: "time", decimals: null };

/** Of the platform's money and of quantities (SAP keeps three decimals of them). */
const money = num(18, 2);
const quantity = num(15, 3);

/** A party of a document: E1EDKA1 and E1EDPA1 have the same fields; the first of them are used. */
const partner = { PARVW: code(3), PARTN: code(17), LIFNR: code(17), NAME1: text(35) };
const textLine = { TDLINE: text(70), TDFORMAT: code(2) };
const dated = { IDDAT: code(3), DATUM: date, UZEIT: time };
const tax = { MWSKZ: code(7), MSATZ: num(17), MWSBT: money, TXJCD: code(15), KTEXT: text(50) };

export const segments = {
  EDI_DC40: {
    TABNAM: code(10),
    MANDT: code(3),
    DOCNUM: code(16),
    DOCREL: code(4),
    STATUS: code(2),
    DIRECT: code(1),
    OUTMOD: code(1),
    EXPRSS: code(1),
    TEST: code(1),
    IDOCTYP: code(30),
    CIMTYP: code(30),
    MESTYP: code(30),
    MESCOD: code(3),
    MESFCT: code(3),
    STD: code(1),
    STDVRS: code(6),
    STDMES: code(6),
    SNDPOR: code(10),
    SNDPRT: code(2),
    SNDPFC: code(2),
    SNDPRN: code(10),
    SNDSAD: code(21),
    SNDLAD: code(70),
    RCVPOR: code(10),
    RCVPRT: code(2),
    RCVPFC: code(2),
    RCVPRN: code(10),
    RCVSAD: code(21),
    RCVLAD: code(70),
    CREDAT: date,
    CRETIM: time,
    REFINT: code(14),
    REFGRP: code(14),
    REFMES: code(14),
    ARCKEY: code(70),
    SERIAL: code(20),
  },

  // ORDERS05 and INVOIC02
  E1EDK01: {
    ACTION: code(3),
    KZABS: code(1),
    CURCY: code(3),
    HWAER: code(3),
    WKURS: num(12),
    ZTERM: code(17),
    KUNDEUINR: code(20),
    EIGENUINR: code(20),
    BSART: code(4),
    BELNR: code(35),
  },
  E1EDK14: { QUALF: code(3), ORGID: code(35) },
  E1EDK03: dated,
  E1EDKA1: partner,
  E1EDK02: { QUALF: code(3), BELNR: code(35), POSNR: code(6), DATUM: date, UZEIT: time },
  E1EDK04: tax,
  E1EDKT1: { TDID: code(4), TSSPRAS: code(3), TSSPRAS_ISO: code(2) },
  E1EDKT2: textLine,
  E1EDP01: {
    POSEX: code(6),
    ACTION: code(3),
    PSTYP: code(1),
    KZABS: code(1),
    MENGE: quantity,
    MENEE: code(3),
    BMNG2: quantity,
    PMENE: code(3),
    ABFTZ: num(7),
    VPREI: num(15),
    PEINH: num(9, 0),
    NETWR: money,
  },
  E1EDP02: {
    QUALF: code(3),
    BELNR: code(35),
    ZEILE: code(6),
    DATUM: date,
    UZEIT: time,
    BSARK: code(35),
    IHREZ: code(30),
  },
  E1EDP03: dated,
  E1EDP04: tax,
  E1EDP05: {
    ALCKZ: code(3),
    KSCHL: code(4),
    KOTXT: text(80),
    BETRG: money,
    KPERC: num(8),
    KRATE: num(15),
    UPRBS: num(9, 0),
    MEAUN: code(3),
    KOBTR: money,
    MENGE: quantity,
    PREIS: num(15),
    MWSKZ: code(7),
    MSATZ: num(17),
    KOEIN: code(3),
  },
  E1EDP19: { QUALF: code(3), IDTNR: code(35), KTEXT: text(70) },
  E1EDP20: { WMENG: quantity, AMENG: quantity, EDATU: date, EZEIT: time },
  E1EDP26: { QUALF: code(3), BETRG: money },
  E1EDPT1: { TDID: code(4), TSSPRAS: code(3), TSSPRAS_ISO: code(2) },
  E1EDPT2: textLine,
  E1EDS01: { SUMID: code(3), SUMME: money, SUNIT: code(3), WAERQ: code(3) },

  // DELVRY03 and later
  E1EDL20: {
    VBELN: code(10),
    VSTEL: code(4),
    VKORG: code(4),
    LSTEL: code(2),
    VKBUR: code(4),
    LGNUM: code(3),
    ABLAD: text(25),
    INCO1: code(3),
    INCO2: text(28),
    ROUTE: code(6),
    VSBED: code(2),
    BTGEW: num(17, 3),
    NTGEW: quantity,
    GEWEI: code(3),
    VOLUM: quantity,
    VOLEH: code(3),
    ANZPK: code(5),
    BOLNR: code(35),
    TRATY: code(4),
    TRAID: code(20),
    XABLN: code(10),
    LIFEX: code(35),
  },
  E1ADRM1: { PARTNER_Q: code(3), PARTNER_ID: code(17) },
  E1EDT13: { QUALF: code(3), VSTZW: code(4), VSTZW_BEZ: text(20), NTANF: date, NTANZ: time },
  E1EDL24: {
    POSNR: code(6),
    MATNR: code(18),
    MATWA: code(18),
    ARKTX: text(40),
    ORKTX: text(40),
    SUGRD: code(4),
    SUDRU: code(1),
    MATKL: code(9),
    WERKS: code(4),
    LGORT: code(4),
    CHARG: code(10),
    KDMAT: code(22),
    LFIMG: quantity,
    VRKME: code(3),
    LGMNG: quantity,
    MEINS: code(3),
    NTGEW: quantity,
    BRGEW: quantity,
    GEWEI: code(3),
    VOLUM: quantity,
    VOLEH: code(3),
  },
  E1EDL41: { QUALF: code(3), BSTNR: code(35) },

  // DEBMAS and CREMAS
  E1KNA1M: {
    MSGFN: code(3),
    KUNNR: code(10),
    AUFSD: code(2),
    KTOKD: code(4),
    LAND1: code(3),
    LOEVM: code(1),
    NAME1: text(35),
    NAME2: text(35),
    NAME3: text(35),
    NAME4: text(35),
    ORT01: text(35),
    PSTLZ: code(10),
    REGIO: code(3),
    STRAS: text(35),
    TELF1: code(16),
  },
  E1LFA1M: {
    MSGFN: code(3),
    LIFNR: code(10),
    KTOKK: code(4),
    LAND1: code(3),
    LOEVM: code(1),
    NAME1: text(35),
    NAME2: text(35),
    NAME3: text(35),
    NAME4: text(35),
    ORT01: text(35),
    PSTLZ: code(10),
    REGIO: code(3),
    SPERR: code(1),
    SPERM: code(1),
    STRAS: text(35),
    TELF1: code(16),
  },

  // COND_A
  E1KOMG: {
    KVEWE: code(1),
    KOTABNR: code(3),
    KAPPL: code(2),
    KSCHL: code(4),
    VAKEY: code(50),
    VAKEY_LONG: code(100),
    MATNR: code(18),
    WERKS: code(4),
  },
  E1KONH: { KNUMH: code(10), DATAB: date, DATBI: date },
  E1KONP: {
    KSCHL: code(4),
    KRECH: code(1),
    KBETR: num(16),
    KONWA: code(5),
    KPEIN: num(5),
    KMEIN: code(3),
    LOEVM_KO: code(1),
  },

  // ALEAUD01 and SYSTAT01
  E1STATE: {
    DOCNUM: code(16),
    STATUS: code(2),
    STAMQU: code(3),
    STAMID: code(20),
    STAMNO: code(3),
    STATYP: code(1),
    STAPA1: text(50),
    STAPA2: text(50),
    STAPA3: text(50),
    STAPA4: text(50),
    STATXT: text(70),
  },
  E1STATS: {
    TABNAM: code(10),
    MANDT: code(3),
    DOCNUM: code(16),
    LOGDAT: date,
    LOGTIM: time,
    STATUS: code(2),
    STATXT: text(70),
    STAPA1: text(20),
    STAPA2: text(20),
    STAPA3: text(20),
    STAPA4: text(20),
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, FieldType>>>>;

export type SegmentName = keyof typeof segments;
export type FieldName<S extends SegmentName> = keyof (typeof segments)[S] & string;

/**
 * What SAP keeps of a field where that is less than the segment has room for: a vendor's invoice number ends up in
 * XBLNR, which has 16 characters.
 */
export const kept = { invoiceNumber: 16 } as const;

/** How often a segment may stand below the document or the item; INVOIC02's and ORDERS01's numbers. */
export const most = {
  INVOIC: { E1EDK02: 20, E1EDK03: 20, E1EDK04: 25, E1EDKT2: 999, E1EDPT2: 999, E1EDP01: 99_999 },
  ORDERS: { E1EDK02: 10, E1EDK03: 10, E1EDKT2: 999, E1EDPT2: 999, E1EDP01: 99_999 },
} as const;
