/**
 * What SAP's inbound processing demands of an IDoc beside its form. It reads the file with a parser and code of its own, and
 * knows nothing of our writer. Sources:
 *
 * - INVOIC: SAP Help, "Inbound processing of INVOIC in logistics invoice verification" (46C, 3.6): vendor, company code,
 *   reference, dates, purchase order with its item, item amounts, taxes; SAP posts sums as they stand, so they must agree.
 * - ORDERS: SAP Help (AFS 5.0, 6.0) of E1EDK14, E1EDP19, E1EDK02; without a sales area error VG204.
 * - DESADV: a public copy of the function module IDOC_INPUT_DESADV1 answers status 51, message VL 243, where E1EDL24-LFIMG,
 *   E1EDL41-BSTNR or E1EDL41-POSEX (QUALI 001) is initial; it takes LIFEX, KDMAT and E1EDT13 007.
 * - SHPCON: SAP's wiki "WHSCON and SHPCON IDoc": E1EDL20-VBELN, E1EDL18-QUALF, E1EDL24-POSNR, -MATNR, -LFIMG, and E1EDL19
 *   QUA where quantities count.
 */
import { XMLParser } from "fast-xml-parser";
import { Decimal } from "../../src/core/decimal.ts";

interface Segment {
  readonly name: string;
  readonly below: readonly Segment[];
  readonly text: string;
}

type Ordered = Readonly<Record<string, unknown>>;

const segmentsIn = (list: readonly Ordered[]): Segment[] =>
  list.flatMap((one) =>
    Object.entries(one).flatMap(([name, content]) => {
      if (name === ":@" || name === "#text" || !Array.isArray(content)) return [];
      const [first] = content as readonly Ordered[];
      const text = first === undefined || !("#text" in first) ? "" : String(first["#text"]);
      return [{ name, text, below: segmentsIn(content as readonly Ordered[]) }];
    }),
  );

const parser = new XMLParser({ preserveOrder: true, parseTagValue: false, trimValues: false });

class Tree {
  readonly #of: Segment;
  constructor(of: Segment) {
    this.#of = of;
  }
  all(name: string): Tree[] {
    return this.#of.below.filter((one) => one.name === name).map((one) => new Tree(one));
  }
  /** The first segment of the name whose first field is this qualifier. */
  one(name: string, qualifier?: string): Tree | null {
    return (
      this.all(name).find(
        (one) => qualifier === undefined || one.#of.below[0]?.text === qualifier,
      ) ?? null
    );
  }
  field(name: string): string {
    return this.#of.below.find((one) => one.name === name)?.text ?? "";
  }
}

/** SAP's number: the minus stands behind. */
const amount = (text: string): Decimal =>
  text.endsWith("-") ? Decimal.of(text.slice(0, -1)).negated() : Decimal.of(text || "0");
const sum = (texts: readonly string[]): Decimal => Decimal.sum(texts.map(amount));

type Rules = (idoc: Tree) => [rule: string, holds: boolean][];

const isDay = (text: string | undefined): boolean => /^20\d{6}$/.test(text ?? "");
const isItem = (text: string | undefined): boolean => /^0*[1-9]\d{0,5}$/.test(text ?? "");
const areTwice = (all: readonly string[]): boolean => new Set(all).size !== all.length;

const INVOIC: Rules = (idoc) => {
  const head = idoc.one("E1EDK01");
  const items = idoc.all("E1EDP01");
  const total = (id: string): Decimal => amount(idoc.one("E1EDS01", id)?.field("SUMME") ?? "");
  const itemTaxes = items.flatMap((item) => item.all("E1EDP04"));
  const number = idoc.one("E1EDK02", "009")?.field("BELNR") ?? "";
  return [
    ["E1EDK01-CURCY is a currency", /^[A-Z]{3}$/.test(head?.field("CURCY") ?? "")],
    ["E1EDK01-BSART is INVO or CRME", /^(INVO|CRME)$/.test(head?.field("BSART") ?? "")],
    ["E1EDKA1 RS names the vendor", idoc.one("E1EDKA1", "RS")?.field("PARTN") !== ""],
    [
      "E1EDKA1 RE has number and name, for T076B",
      ["PARTN", "NAME1"].every((name) => (idoc.one("E1EDKA1", "RE")?.field(name) ?? "") !== ""),
    ],
    ["E1EDK02 009 fits XBLNR", number !== "" && number.length <= 16],
    ["E1EDK03 012 is the document date", isDay(idoc.one("E1EDK03", "012")?.field("DATUM"))],
    ["E1EDK03 024 is the baseline date", isDay(idoc.one("E1EDK03", "024")?.field("DATUM"))],
    ["there are items", items.length > 0],
    ["E1EDP01-POSEX is unique", !areTwice(items.map((item) => item.field("POSEX")))],
    [
      "each item has quantity and unit",
      items.every((one) => one.field("MENGE") && one.field("MENEE")),
    ],
    [
      "each item names its purchase order and item (E1EDP02 001)",
      items.every((item) => {
        const order = item.one("E1EDP02", "001");
        return (order?.field("BELNR") ?? "") !== "" && isItem(order?.field("ZEILE"));
      }),
    ],
    [
      "each item names its material (E1EDP19 001 or 002)",
      items.every((item) => item.all("E1EDP19").some((one) => one.field("IDTNR") !== "")),
    ],
    [
      "E1EDP19 001 is there once, before 002",
      items.every((item) => {
        const qualifiers = item.all("E1EDP19").map((one) => one.field("QUALF"));
        return /^(001)?(002)?$/.test(qualifiers.join(""));
      }),
    ],
    [
      "each item has its amount (E1EDP26 003)",
      items.every((one) => one.one("E1EDP26", "003") !== null),
    ],
    [
      "items come to E1EDS01 010",
      sum(items.map((one) => one.one("E1EDP26", "003")?.field("BETRG") ?? "")).equals(total("010")),
    ],
    [
      "taxes of the head come to E1EDS01 005",
      sum(idoc.all("E1EDK04").map((one) => one.field("MWSBT"))).equals(total("005")),
    ],
    [
      "each tax code comes to the same in head and items",
      [...new Set([...idoc.all("E1EDK04"), ...itemTaxes].map((one) => one.field("MWSKZ")))].every(
        (code) => {
          const of = (taxes: readonly Tree[]) =>
            sum(
              taxes.filter((one) => one.field("MWSKZ") === code).map((one) => one.field("MWSBT")),
            );
          return of(idoc.all("E1EDK04")).equals(of(itemTaxes));
        },
      ),
    ],
    ["010 and 005 come to 011", total("010").plus(total("005")).equals(total("011"))],
  ];
};

const ORDERS: Rules = (idoc) => {
  const items = idoc.all("E1EDP01");
  const reference = idoc.one("E1EDK02", "001")?.field("BELNR") ?? "";
  const day = idoc.one("E1EDK03", "002")?.field("DATUM");
  return [
    [
      "E1EDK14 has the sales area and the order type",
      ["006", "007", "008", "012"].every(
        (one) => (idoc.one("E1EDK14", one)?.field("ORGID") ?? "") !== "",
      ),
    ],
    ["E1EDKA1 AG is the sold-to", (idoc.one("E1EDKA1", "AG")?.field("PARTN") ?? "") !== ""],
    ["E1EDKA1 WE is the ship-to", (idoc.one("E1EDKA1", "WE")?.field("PARTN") ?? "") !== ""],
    ["E1EDK02 001 is a PO number of SAP's length", reference !== "" && reference.length <= 35],
    ["E1EDK03 002 is the requested day, where one is told", day === undefined || isDay(day)],
    ["there are items", items.length > 0],
    ["E1EDP01-POSEX is unique", !areTwice(items.map((item) => item.field("POSEX")))],
    [
      "each item has quantity and unit",
      items.every((one) => one.field("MENGE") && one.field("MENEE")),
    ],
    [
      "all items have a plant, or none",
      new Set(items.map((one) => one.field("WERKS") !== "")).size === 1,
    ],
    [
      "each schedule line has the item's quantity and the day",
      items.every((item) => {
        const line = item.one("E1EDP20");
        return line?.field("WMENG") === item.field("MENGE") && line.field("EDATU") === (day ?? "");
      }),
    ],
    [
      "each item names the customer's PO and its item",
      items.every((item) => {
        const order = item.one("E1EDP02", "001");
        return order?.field("BELNR") === reference && order.field("ZEILE") === item.field("POSEX");
      }),
    ],
    ["each item names our material (E1EDP19 002)", items.every((one) => one.one("E1EDP19", "002"))],
  ];
};

const delivery = (idoc: Tree, action: RegExp): [string, boolean][] => {
  const head = idoc.one("E1EDL20");
  const items = head?.all("E1EDL24") ?? [];
  return [
    ["E1EDL18 says what is done", action.test(head?.one("E1EDL18")?.field("QUALF") ?? "")],
    ["there are items", items.length > 0],
    ["E1EDL24-POSNR is unique", !areTwice(items.map((item) => item.field("POSNR")))],
    [
      "each item has material, quantity and unit (VL 243)",
      items.every(
        (one) => one.field("MATNR") && one.field("VRKME") && amount(one.field("LFIMG")).sign > 0,
      ),
    ],
  ];
};

const DESADV: Rules = (idoc) => {
  const head = idoc.one("E1EDL20");
  const items = head?.all("E1EDL24") ?? [];
  return [
    ...delivery(idoc, /^ORI$/),
    ["E1EDL20-LIFEX is the vendor's delivery", head?.field("LIFEX") !== ""],
    ["E1ADRM1 LF is the vendor", (head?.one("E1ADRM1", "LF")?.field("PARTNER_ID") ?? "") !== ""],
    ["E1EDT13 007 is the day of delivery", isDay(head?.one("E1EDT13", "007")?.field("NTANF"))],
    [
      "each item has KDMAT and POSEX",
      items.every((one) => one.field("KDMAT") && isItem(one.field("POSEX"))),
    ],
    [
      "each item names its purchase order and item (E1EDL41 001, VL 243)",
      items.every((item) => {
        const order = item.one("E1EDL41", "001");
        return (order?.field("BSTNR") ?? "") !== "" && isItem(order?.field("POSEX"));
      }),
    ],
  ];
};

const SHPCON: Rules = (idoc) => {
  const head = idoc.one("E1EDL20");
  return [
    ...delivery(idoc, /^(PGI|PIC|CHG)$/),
    ["E1EDL20-VBELN is SAP's delivery", /^\d{10}$/.test(head?.field("VBELN") ?? "")],
    ["E1EDT13 006 is the day of goods issue", isDay(head?.one("E1EDT13", "006")?.field("ISDD"))],
    [
      "each item's quantity counts (E1EDL19 QUA)",
      (head?.all("E1EDL24") ?? []).every((item) => item.one("E1EDL19", "QUA")),
    ],
  ];
};

const RULES: Readonly<Record<string, Rules>> = { INVOIC, ORDERS, DESADV, SHPCON };

/** The rules that an IDoc breaks, in words; none: inbound processing has nothing to say. */
export function brokenRules(xml: string): string[] {
  const [root] = segmentsIn(parser.parse(xml) as readonly Ordered[]).filter(
    ({ name }) => !name.startsWith("?"),
  );
  const idoc = root === undefined ? null : new Tree(root).one("IDOC");
  const control = idoc?.one("EDI_DC40");
  const message = control?.field("MESTYP") ?? "";
  const rules = RULES[message];
  if (idoc === null || control === undefined || control === null || rules === undefined)
    return [`there is no IDoc of a known message: ${message}`];
  const common: [string, boolean][] = [
    ["DOCNUM has 16 digits and is not 0", /^(?!0{16})\d{16}$/.test(control.field("DOCNUM"))],
    ["DIRECT is 2, inbound", control.field("DIRECT") === "2"],
    [
      "sender and receiver are named (WE20)",
      ["SNDPRT", "SNDPRN", "RCVPRT", "RCVPRN"].every((name) => control.field(name) !== ""),
    ],
  ];
  return [...common, ...rules(idoc)].flatMap(([rule, holds]) => (holds ? [] : [rule]));
}

/** The text that lines of SAP's make: `*` begins a paragraph, a blank goes on after a blank, `=` goes on without one. */
export const textOfLines = (
  lines: readonly Readonly<Record<"TDLINE" | "TDFORMAT", string>>[],
): string =>
  lines
    .map(({ TDLINE, TDFORMAT }, at) => {
      if (at === 0) return TDLINE;
      return `${TDFORMAT === "*" ? "\n" : TDFORMAT === "=" ? "" : " "}${TDLINE}`;
    })
    .join("");
