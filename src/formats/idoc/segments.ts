/**
 * The segments that are written and read here: each field with its length and what stands in it, in SAP's order. Writer,
 * reader and tests use this table and no other. Source: SAP's own description of EDI_DC40 (the lengths add up to 524) and
 * of the segments of INVOIC02, ORDERS05, DELVRY03 (classes made of SAP's own schema: E1EDL41's qualifier is QUALI), DEBMAS06,
 * CREMAS05, COND_A01, ALEAUD01 and SYSTAT01. Newer releases
 * append fields; what is not in the table is not read.
 */

/**
 * `code`: identifies something and is taken as it is. `text`: words for people. `number`: decimal point, minus at the end,
 * with a fixed number of decimals or as many as there are. `date`: `YYYYMMDD`. `time`: `HHMMSS`.
 */
type FieldKind = "code" | "text" | "number" | "date" | "time";

export interface FieldType {
  /** Characters, as SAP counts them: UTF-16 units. */
  readonly length: number;
  readonly kind: FieldKind;
  /** Of a number; null: as many as there are. */
  readonly decimals: number | null;
}

/**
 * Each field as `NAME:LENGTH`, a code; `NAME:tLENGTH`, a text; `NAME:nLENGTH.DECIMALS`, a number, with as many decimals as there
 * are where none are said; `NAME:date` and `NAME:time`. The platform's money has two decimals, SAP keeps three of quantities.
 */
const SEGMENTS = {
  EDI_DC40: `
    TABNAM:10 MANDT:3 DOCNUM:16 DOCREL:4 STATUS:2 DIRECT:1 OUTMOD:1 EXPRSS:1 TEST:1 IDOCTYP:30
    CIMTYP:30 MESTYP:30 MESCOD:3 MESFCT:3 STD:1 STDVRS:6 STDMES:6 SNDPOR:10 SNDPRT:2 SNDPFC:2
    SNDPRN:10 SNDSAD:21 SNDLAD:70 RCVPOR:10 RCVPRT:2 RCVPFC:2 RCVPRN:10 RCVSAD:21 RCVLAD:70
    CREDAT:date CRETIM:time REFINT:14 REFGRP:14 REFMES:14 ARCKEY:70 SERIAL:20`,

  // ORDERS05 and INVOIC02
  E1EDK01: `
    ACTION:3 KZABS:1 CURCY:3 HWAER:3 WKURS:n12 ZTERM:17 KUNDEUINR:20 EIGENUINR:20 BSART:4 BELNR:35`,
  E1EDK14: "QUALF:3 ORGID:35",
  E1EDK03: "IDDAT:3 DATUM:date UZEIT:time",
  E1EDKA1: "PARVW:3 PARTN:17 LIFNR:17 NAME1:t35",
  E1EDK02: "QUALF:3 BELNR:35 POSNR:6 DATUM:date UZEIT:time",
  E1EDK04: "MWSKZ:7 MSATZ:n17 MWSBT:n18.2 TXJCD:15 KTEXT:t50",
  E1EDKT1: "TDID:4 TSSPRAS:3 TSSPRAS_ISO:2",
  E1EDKT2: "TDLINE:t70 TDFORMAT:2",
  E1EDP01: `
    POSEX:6 ACTION:3 PSTYP:1 KZABS:1 MENGE:n15.3 MENEE:3 BMNG2:n15.3 PMENE:3 ABFTZ:n7 VPREI:n15
    PEINH:n9.0 NETWR:n18.2 ANETW:n18.2 SKFBP:n18.2 NTGEW:n18.3 GEWEI:3 EINKZ:1 CURCY:3 PREIS:n18
    MATKL:9 UEPOS:6 GRKOR:3 EVERS:7 BPUMN:n6 BPUMZ:n6 ABGRU:2 ABGRT:t40 ANTLF:1 FIXMG:1 KZAZU:1
    BRGEW:n18.3 PSTYV:4 EMPST:t25 ABTNR:4 ABRVW:3 WERKS:4`,
  E1EDP02: "QUALF:3 BELNR:35 ZEILE:6 DATUM:date UZEIT:time BSARK:35 IHREZ:30",
  E1EDP03: "IDDAT:3 DATUM:date UZEIT:time",
  E1EDP04: "MWSKZ:7 MSATZ:n17 MWSBT:n18.2 TXJCD:15 KTEXT:t50",
  E1EDP05: `
    ALCKZ:3 KSCHL:4 KOTXT:t80 BETRG:n18.2 KPERC:n8 KRATE:n15 UPRBS:n9.0 MEAUN:3 KOBTR:n18.2
    MENGE:n15.3 PREIS:n15 MWSKZ:7 MSATZ:n17 KOEIN:3`,
  E1EDP19: "QUALF:3 IDTNR:35 KTEXT:t70",
  E1EDP20: "WMENG:n15.3 AMENG:n15.3 EDATU:date EZEIT:time",
  E1EDP26: "QUALF:3 BETRG:n18.2",
  E1EDPT1: "TDID:4 TSSPRAS:3 TSSPRAS_ISO:2",
  E1EDPT2: "TDLINE:t70 TDFORMAT:2",
  E1EDS01: "SUMID:3 SUMME:n18.2 SUNIT:3 WAERQ:3",

  // DELVRY03 and later
  E1EDL20: `
    VBELN:10 VSTEL:4 VKORG:4 LSTEL:2 VKBUR:4 LGNUM:3 ABLAD:t25 INCO1:3 INCO2:t28 ROUTE:6 VSBED:2
    BTGEW:n17.3 NTGEW:n15.3 GEWEI:3 VOLUM:n15.3 VOLEH:3 ANZPK:5 BOLNR:35 TRATY:4 TRAID:20 XABLN:10
    LIFEX:35`,
  E1EDL18: "QUALF:3",
  E1EDL19: "QUALF:3",
  E1ADRM1: "PARTNER_Q:3 PARTNER_ID:17",
  E1EDT13: `
    QUALF:3 VSTZW:4 VSTZW_BEZ:t20 NTANF:date NTANZ:time NTEND:date NTENZ:time TZONE_BEG:6 ISDD:date
    ISDZ:time`,
  E1TXTH8: "FUNCTION:3 TDOBJECT:10 TDOBNAME:70 TDID:4 TDSPRAS:1 TDTEXTTYPE:6 LANGUA_ISO:2",
  E1TXTP8: "TDFORMAT:2 TDLINE:t132",
  E1TXTH9: "FUNCTION:3 TDOBJECT:10 TDOBNAME:70 TDID:4 TDSPRAS:1 TDTEXTTYPE:6 LANGUA_ISO:2",
  E1TXTP9: "TDFORMAT:2 TDLINE:t132",
  E1EDL24: `
    POSNR:6 MATNR:18 MATWA:18 ARKTX:t40 ORKTX:t40 SUGRD:4 SUDRU:1 MATKL:9 WERKS:4 LGORT:4 CHARG:10
    KDMAT:22 LFIMG:n15.3 VRKME:3 LGMNG:n15.3 MEINS:3 NTGEW:n15.3 BRGEW:n15.3 GEWEI:3 VOLUM:n15.3
    VOLEH:3 LGPBE:10 HIPOS:6 HIEVW:1 LADGR:4 TRAGR:4 VKBUR:4 VKGRP:3 VTWEG:2 SPART:2 GRKOR:3
    EAN11:18 SERNR:8 AESKD:17 EMPST:t25 MFRGR:8 VBRST:14 LABNK:17 ABRDT:date MFRPN:40 MFRNR:10
    ABRVW:3 KDMAT35:35 KANNR:35 POSEX:6`,
  E1EDL41: "QUALI:3 BSTNR:35 BSTDT:date BSARK:4 IHREZ:12 POSEX:6",

  // DEBMAS and CREMAS
  E1KNA1M: `
    MSGFN:3 KUNNR:10 AUFSD:2 KTOKD:4 LAND1:3 LOEVM:1 NAME1:t35 NAME2:t35 NAME3:t35 NAME4:t35
    ORT01:t35 PSTLZ:10 REGIO:3 STRAS:t35 TELF1:16`,
  E1LFA1M: `
    MSGFN:3 LIFNR:10 KTOKK:4 LAND1:3 LOEVM:1 NAME1:t35 NAME2:t35 NAME3:t35 NAME4:t35 ORT01:t35
    PSTLZ:10 REGIO:3 SPERR:1 SPERM:1 STRAS:t35 TELF1:16`,

  // COND_A
  E1KOMG: "KVEWE:1 KOTABNR:3 KAPPL:2 KSCHL:4 VAKEY:50 VAKEY_LONG:100 MATNR:18 WERKS:4",
  E1KONH: "KNUMH:10 DATAB:date DATBI:date",
  E1KONP: "KSCHL:4 KRECH:1 KBETR:n16 KONWA:5 KPEIN:n5 KMEIN:3 LOEVM_KO:1",

  // ALEAUD01 and SYSTAT01
  E1STATE: `
    DOCNUM:16 STATUS:2 STAMQU:3 STAMID:20 STAMNO:3 STATYP:1 STAPA1:t50 STAPA2:t50 STAPA3:t50
    STAPA4:t50 STATXT:t70`,
  E1STATS: `
    TABNAM:10 MANDT:3 DOCNUM:16 LOGDAT:date LOGTIM:time STATUS:2 STATXT:t70 STAPA1:t20 STAPA2:t20
    STAPA3:t20 STAPA4:t20`,
} as const;

export type SegmentName = keyof typeof SEGMENTS;
export type FieldName<S extends SegmentName> = NamesIn<(typeof SEGMENTS)[S]>;

/** The names before the colons of a text. */
type NamesIn<Text extends string, Found = never> = Text extends `${infer Word} ${infer Rest}`
  ? NamesIn<Rest, Found | NameOf<Word>>
  : Found | NameOf<Text>;
type NameOf<Word extends string> = Word extends `${infer Name}:${string}` ? Name : never;

const LENGTHS = { date: 8, time: 6 } as const;
const KINDS = { "": "code", t: "text", n: "number" } as const;

function fieldsIn(text: string): Record<string, FieldType> {
  const fields = text.matchAll(/(\w+):(?:(date|time)|([tn]?)(\d+)(?:\.(\d+))?)/g);
  return Object.fromEntries(
    Array.from(fields, ([, name, moment, kind = "", length, decimals]) => [
      name,
      moment === undefined
        ? {
            length: Number(length),
            kind: KINDS[kind as keyof typeof KINDS],
            decimals: decimals === undefined ? null : Number(decimals),
          }
        : { length: LENGTHS[moment as keyof typeof LENGTHS], kind: moment, decimals: null },
    ]),
  ) as Record<string, FieldType>;
}

/** {@link SEGMENTS}, taken apart. */
export const segments = Object.fromEntries(
  Object.entries(SEGMENTS).map(([name, text]) => [name, fieldsIn(text)]),
) as { readonly [S in SegmentName]: Readonly<Record<FieldName<S>, FieldType>> };

/**
 * What SAP keeps of a field where that is less than the segment has room for: a vendor's invoice number ends up in
 * XBLNR, which has 16 characters.
 */
export const kept = { invoiceNumber: 16 } as const;

/** How often a segment may stand below the document or the item; INVOIC02's and ORDERS01's numbers. */
export const most = {
  INVOIC: { E1EDK02: 20, E1EDK03: 20, E1EDK04: 25, E1EDP04: 25, E1EDP01: 99_999 },
  ORDERS: { E1EDK02: 10, E1EDK03: 10, E1EDP01: 99_999 },
} as const;
