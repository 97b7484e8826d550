/** Transaction set 832 as prices of the books: a rack price for each terminal and product. */
import type { PriceRecord } from "../../ledger/records.ts";
import type { Change } from "../../core/contract.ts";
import { Refused } from "../../core/errors.ts";
import {
  all,
  at,
  codeOf,
  day,
  expectCount,
  expectKnown,
  first,
  faulty,
  loops,
  money,
  needed,
  placeOf,
  productIn,
  type Reading,
  recordOf,
  refused,
  type SetReader,
  unitIn,
} from "./records.ts";
import type { Segment, TransactionSet } from "./syntax.ts";
import { componentsOf } from "./values.ts";

export const readCatalogue: SetReader = (reading, set) => {
  const segments = set.segments.slice(1, -1);
  const { before, loops: lines } = loops(segments, "LIN", ["CTT"]);
  expectCount(segments, lines.length);
  expectKnown(first(before, "BCT"), 10, PURPOSES, OTHER_PURPOSE);
  expectCurrency(reading, segments);
  const terminal = codeOf(first(before, "N1", "SF", "TM", "ST"));
  return lines.flatMap((line) => {
    const own = codeOf(first(line, "N1", "SF", "TM", "ST")) ?? terminal;
    return priceOf(reading, set, line, own);
  });
};

/** Original, addition, change, replacement, duplicate: data element 353. */
const PURPOSES = ["00", "02", "04", "05", "07"];
const OTHER_PURPOSE = {
  code: "other-purpose",
  message: "it tells no prices that hold, such as one that deletes them",
};
/** Changed, added, reinstated: data element 875. */
const OFFERED = ["001", "021", "025"];
const NOT_OFFERED = {
  code: "not-offered",
  message: "the product is not offered any more, or what is meant is not known",
};

/** @throws Refused: a rack price has no currency of its own */
function expectCurrency({ currency }: Reading, segments: readonly Segment[]): void {
  const other = all(segments, "CUR").find((cur) => at(cur, 2) !== currency);
  if (other !== undefined)
    throw refused(
      "other-currency",
      `CUR02 is ${at(other, 2) ?? "empty"}; the company's currency is ${currency}`,
      "CUR02",
    );
}

/** One that cannot be read leaves the others alone. */
function priceOf(
  reading: Reading,
  set: TransactionSet,
  line: readonly Segment[],
  terminal: string | null,
): Change[] {
  const [lin] = line;
  const product = productIn(lin, 2, reading.options.product);
  const id = terminal === null || product === null ? null : `${terminal}|${product}`;
  const origin = placeOf(reading, set, lin);
  try {
    const list = needed(terminal, "the terminal (N104 of N1 SF)");
    const named = needed(product, `the product (LIN03 with LIN02 ${reading.options.product})`);
    const prices = all(line, "CTP").filter((ctp) => (at(ctp, 2) ?? "UCP") === "UCP");
    const [ctp, second] = prices;
    if (second !== undefined)
      throw refused("several-prices", `${named} has ${prices.length} unit prices`, "CTP");
    const quantity = money(at(ctp, 4));
    if (quantity !== null && !quantity.isInteger)
      throw refused("quantity-break", `the price is for ${quantity.text}`, "CTP04");
    if (quantity !== null && quantity.plain() !== "1" && quantity.sign !== 0)
      throw refused("quantity-break", `the price holds from ${quantity.plain()} on`, "CTP04");
    const price = needed(money(at(ctp, 3)), "CTP03");
    expectKnown(first(line, "G53"), 1, OFFERED, NOT_OFFERED);
    expectForOne(ctp);
    const [code = ""] = componentsOf(needed(at(ctp, 5), "CTP05"));
    const unit = needed(unitIn(reading.options, code), "CTP05");
    const record: PriceRecord = { list, product: named, price, unit };
    return [recordOf(`${list.trim()}|${named}`, origin, record)];
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return [faulty(id, origin, set, error.fault)];
  }
}

/** Per piece and per unit of measure: data element 639. */
const PER_UNIT = ["PE", "UM"];

/** @throws Refused: CTP03 is not what one of the unit costs */
function expectForOne(ctp: Segment | undefined): void {
  const other = { code: "other-price", message: "the price is not that of one unit" };
  const [, ...factors] = componentsOf(at(ctp, 5) ?? "");
  if (factors.some((factor) => factor !== "" && money(factor)?.plain() !== "1"))
    throw refused(other.code, `CTP05 is ${at(ctp, 5) ?? ""}: ${other.message}`, "CTP05");
  if (at(ctp, 7) !== null && money(at(ctp, 7))?.plain() !== "1")
    throw refused(other.code, `CTP07 is ${at(ctp, 7) ?? ""}: the price has a factor`, "CTP07");
  expectKnown(ctp, 9, PER_UNIT, other);
  expectKnown(ctp, 11, ["1"], other);
}

/** When the prices of a set begin to hold: the latest of them, `2026-11-18T18:00` at the company; null: at once. */
export function effectiveFrom(set: TransactionSet): string | null {
  const moments = set.segments
    .filter((segment) => segment.id === "DTM" && at(segment, 1) === "007")
    .flatMap((dtm) => {
      const date = day(at(dtm, 2));
      const [, hour = "00", minute = "00"] = /^(\d\d)(\d\d)/.exec(at(dtm, 3) ?? "") ?? [];
      return date === null ? [] : [`${date}T${hour}:${minute}`];
    });
  return moments.toSorted().at(-1) ?? null;
}
