/** Transaction set 832 as prices of the books: a rack price for each terminal and product. */
import type { PriceRecord } from "../../../src/books/records.ts";
import type { Change } from "../../../src/core/contract.ts";
import { Refused } from "../../../src/core/errors.ts";
import {
  all,
  at,
  codeOf,
  day,
  expectCount,
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

export const readCatalogue: SetReader = (reading, set) => {
  const segments = set.segments.slice(1, -1);
  const { before, loops: lines } = loops(segments, "LIN", ["CTT"]);
  expectCount(segments, lines.length);
  const terminal = codeOf(first(before, "N1", "SF", "TM", "ST"));
  return lines.flatMap((line) => {
    const own = codeOf(first(line, "N1", "SF", "TM", "ST")) ?? terminal;
    return priceOf(reading, set, line, own);
  });
};

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
    const code = needed(at(ctp, 5), "CTP05").split(/[>:^]/, 1)[0] ?? "";
    const unit = needed(unitIn(reading.options, code), "CTP05");
    const record: PriceRecord = { list, product: named, price, unit };
    return [recordOf(`${list.trim()}|${named}`, origin, record)];
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return [faulty(id, origin, set, error.fault)];
  }
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
