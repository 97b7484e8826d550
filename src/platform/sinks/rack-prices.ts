/** Rack prices from the ERP, up to 200 a call (specification part 4, POST /pricing/bulk/rack). */
import type { Outgoing, Sink } from "../../core/contract.ts";
import { parseExact } from "../../core/json.ts";
import type { Finding } from "../../core/outcome.ts";
import { targetOf } from "../contract/operations.ts";
import { BulkRackPrice, hasEnded, RackPrice } from "../contract/pricing.ts";
import { toDecimal } from "../contract/primitives.ts";
import { prices, settledIn } from "./policy.ts";
import { listAll, reading } from "./read-back.ts";
import { accepted, type Surroundings, writeSink } from "./write.ts";

const PRICES_MAX = 200;

export function rackPrices(surroundings: Surroundings): Sink {
  return writeSink(surroundings, {
    operation: "rack-price.upsert",
    writes: "upsert",
    itemsMax: PRICES_MAX,
    policy: settledIn(prices, surroundings.settleMs),
    write: (items) => ({
      target: targetOf("upsertRackPrices"),
      body: accepted(BulkRackPrice, { prices: items.map(({ document }) => document) }),
    }),
    // Prices have no ids of their own to us: terminal and product name them.
    ids: (data) => {
      const { updated, created } = (data ?? {}) as { updated?: unknown; created?: unknown };
      return typeof updated === "number" && typeof created === "number" ? [] : null;
    },
    find: (request) => reading(() => find(surroundings, request)),
  });
}

async function find(surroundings: Surroundings, { body }: Outgoing): Promise<Finding> {
  const ours = BulkRackPrice.parse(parseExact(body)).prices;
  const theirs = new Map<string, RackPrice>();
  const listing = {
    list: "listRackPrices",
    query: { pageSize: "500" },
    item: RackPrice,
    names: ours.map(({ terminalId }) => terminalId),
  } as const;
  const nowMs = surroundings.clock.now().wallMs;
  for await (const price of listAll(surroundings, listing)) {
    if (hasEnded(price, nowMs)) continue;
    // Whether older prices of the same thing stay listed is not specified: the latest counts.
    const other = theirs.get(nameOf(price));
    if (other === undefined || isLater(price, other)) theirs.set(nameOf(price), price);
  }
  const off = ours.filter((price) => {
    const there = theirs.get(nameOf(price));
    return (
      there === undefined ||
      !there.price.equals(toDecimal(price.price)) ||
      unitOf(there) !== unitOf(price)
    );
  });
  const [first] = off;
  if (first === undefined)
    return { found: "exact", ids: [], detail: `all ${ours.length} prices are there` };
  return {
    found: off.length === ours.length ? "none" : "different",
    detail: `${off.length} of ${ours.length} prices are not there, first ${nameOf(first)}`,
  };
}

const nameOf = ({ terminalId, product }: { terminalId: string; product: string }): string =>
  JSON.stringify([terminalId, product]);

const isLater = (one: RackPrice, other: RackPrice): boolean =>
  Date.parse(one.effectiveAt) > Date.parse(other.effectiveAt);

/** Written as `ltr`, read as `liter`. */
const unitOf = ({ unit }: { unit: string }): string => (unit === "ltr" ? "liter" : unit);
