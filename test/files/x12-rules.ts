/**
 * What a partner's accounting demands of our sets beside their grammar. It splits the text itself, and knows nothing of our writer:
 * lines and taxes of an 810 come to TDS01 (each line to the cent, however halves are rounded), a tax stands once, numbers have their room (BIG02, BEG03: 22
 * characters), CTT01 counts the lines, and each invoice names its payer, each order its buyer.
 */
import { Decimal } from "../../src/core/decimal.ts";

type Segment = readonly string[];

const number = (text: string | undefined): Decimal =>
  Decimal.of((text || "0").replace(/^(-?)\./, "$10."));

const RULES: Readonly<Record<string, (set: readonly Segment[]) => [string, boolean][]>> = {
  810: (set) => {
    const all = (id: string): Segment[] => set.filter(([name]) => name === id);
    const lines = all("IT1").map(([, , quantity, , price]) =>
      number(quantity).times(number(price)).round(2),
    );
    const taxes = all("TXI").map(([, , amount]) => number(amount));
    const told = number(all("TDS")[0]?.[1]).times(Decimal.of("0.01"));
    const total = set.findIndex(([name]) => name === "TDS");
    const places = set.flatMap(([name], at) => (name === "TXI" ? [at < total] : []));
    return [
      ["lines and taxes come to TDS01", Decimal.sum([...lines, ...taxes]).equals(told)],
      ["taxes stand with the lines, or all after TDS", new Set(places).size < 2],
      [
        "TXI04 and TXI05 stand together",
        all("TXI").every(([, , , , one, other]) => !one === !other),
      ],
      ["BIG02 has its room", /^.{1,22}$/.test(all("BIG")[0]?.[2] ?? "")],
      ["CTT01 counts the lines", all("CTT")[0]?.[1] === String(lines.length)],
      [
        "N1 BT names the payer",
        all("N1").some(([, role, , , code]) => role === "BT" && code !== ""),
      ],
    ];
  },
  850: (set) => {
    const all = (id: string): Segment[] => set.filter(([name]) => name === id);
    const beg = all("BEG")[0]?.[3] ?? "";
    const long = all("REF").some(([, qualifier]) => qualifier === "IL");
    return [
      ["BEG03 has its room", /^.{1,22}$/.test(beg)],
      ["a derived BEG03 tells the long number", /^FL[0-9A-Z]{20}$/.test(beg) === long],
      ["CTT01 counts the lines", all("CTT")[0]?.[1] === String(all("PO1").length)],
      [
        "N1 BY names the buyer",
        all("N1").some(([, role, , , code]) => role === "BY" && code !== ""),
      ],
      [
        "each line has quantity, unit, price and product",
        all("PO1").every((po1) => [2, 3, 4, 7].every((at) => po1[at])),
      ],
    ];
  },
  997: () => [],
};

/** The sets of an interchange, and the rules that each breaks. */
export function judgedX12(text: string): { readonly id: string; readonly broken: string[] }[] {
  const [element = "*", terminator = "~"] = [text[3], text[105]];
  const segments = text
    .split(terminator)
    .map((one) => one.replace(/^[\r\n]+/, "").split(element))
    .filter(([name]) => name !== "");
  return segments.flatMap(([name, id = ""], at) => {
    if (name !== "ST") return [];
    const set = segments.slice(
      at,
      segments.findIndex(([other], place) => other === "SE" && place > at),
    );
    const rules = RULES[id]?.(set) ?? [[`no rules of ${id}`, false] as [string, boolean]];
    return [{ id, broken: rules.flatMap(([rule, holds]) => (holds ? [] : [rule])) }];
  });
}
