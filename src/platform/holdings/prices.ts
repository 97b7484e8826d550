/** Rack prices in force, as the platform shows them now (specification 2.6; part 4, Pricing). */
import type { Holding } from "../../core/holdings.ts";
import { rackPages } from "../contract/primitives.ts";
import { BulkRackPrice, hasEnded, RackPrice } from "../contract/pricing.ts";
import { toDecimal } from "../contract/primitives.ts";
import { changeOf } from "../walk.ts";
import { listed, readWhole, type Reader, recordIn, type KindHoldings } from "./reading.ts";

const Price = BulkRackPrice.shape.prices.element;

/** Terminal and product name a price. Whether older ones stay listed is not specified: the latest in force counts. */
export function priceHoldings(reader: Reader): KindHoldings {
  async function read(signal: AbortSignal) {
    const inForce = new Map<string, { readonly price: RackPrice; readonly atMs: number }>();
    const unreadable: Holding[] = [];
    const ids = new Set<string>();
    let serverTime: string | null = null;
    let total: number | null = null;
    const list = listed(reader, "listRackPrices", { pageSize: String(rackPages.max) }, signal);
    for await (const page of list) {
      serverTime = page.serverTime;
      total = page.total ?? total;
      const now = Date.parse(serverTime ?? "") || reader.clock.now().wallMs;
      for (const record of page.records) {
        const price = recordIn(RackPrice, record);
        ids.add(changeOf(record, true).id);
        if (price === null) unreadable.push(unread(record));
        else if (counts(price, inForce.get(nameOf(price))?.price, now))
          inForce.set(nameOf(price), { price, atMs: now });
      }
    }
    const missing = Math.max((total ?? 0) - ids.size, 0);
    const prices = [...inForce.values()].map(({ price, atMs }) => holdingOf(price, atMs));
    const holdings = [...prices, ...unreadable];
    return { holdings, serverTime, total: holdings.length + missing };
  }

  return {
    ...readWhole(read),
    expect({ document }) {
      const price = Price.parse(document);
      return {
        facts: {
          number: nameOf(price),
          money: { price: toDecimal(price.price) },
          words: { unit: unitOf(price.unit) },
        },
      };
    },
  };
}

const nameOf = ({ terminalId, product }: { terminalId: string; product: string }): string =>
  `${terminalId} ${product}`;

/** A price that has ended, or is announced for later, does not count while there is one in force. */
function counts(price: RackPrice, other: RackPrice | undefined, nowMs: number): boolean {
  if (other === undefined) return true;
  if (hasEnded(price, nowMs) !== hasEnded(other, nowMs)) return hasEnded(other, nowMs);
  const [at, otherAt] = [Date.parse(price.effectiveAt), Date.parse(other.effectiveAt)];
  const [isFuture, otherIsFuture] = [at > nowMs, otherAt > nowMs];
  return isFuture === otherIsFuture ? at > otherAt : otherIsFuture;
}

const holdingOf = (price: RackPrice, nowMs: number): Holding => ({
  kind: "price",
  id: nameOf(price),
  version: price.updatedAt,
  mark: null,
  change: null,
  facts: {
    number: nameOf(price),
    state: hasEnded(price, nowMs) ? "ended" : "open",
    money: { price: price.price },
    words: { unit: unitOf(price.unit) },
  },
});

/** Written as `ltr`, read as `liter`. */
const unitOf = (unit: string): string => (unit === "ltr" ? "liter" : unit);

const unread = (record: string): Holding => {
  const change = changeOf(record, true);
  return { kind: "price", id: change.id, version: null, mark: null, change, facts: {} };
};
