/** Rack prices from the ERP, up to 200 a call (specification part 4, POST /pricing/bulk/rack). */
import type { Outgoing, Sink } from "../../core/contract.ts";
import { Decimal } from "../../core/decimal.ts";
import { parseExact } from "../../core/json.ts";
import type { Finding } from "../../core/outcome.ts";
import { BulkRackPrice } from "../contract/pricing.ts";
import { prices, settledIn } from "./policy.ts";
import { listAll, reading, type Surroundings, writeSink } from "./write.ts";

const PRICES_MAX = 200;

export function rackPrices(surroundings: Surroundings): Sink {
  return writeSink(surroundings, {
    operation: "rack-price.upsert",
    writes: "upsert",
    itemsMax: PRICES_MAX,
    policy: settledIn(prices, surroundings.settleMs),
    path: "/pricing/bulk/rack",
    body: BulkRackPrice,
    wrap: (items) => ({ prices: items.map(({ document }) => document) }),
    // Prices have no ids of their own to us: terminal and product name them.
    ids: (data) => {
      const { updated, created } = (data ?? {}) as { updated?: unknown; created?: unknown };
      return typeof updated === "number" && typeof created === "number" ? [] : null;
    },
    find: (request) => reading(() => find(surroundings, request)),
  });
}

interface Price {
  readonly terminalId: string;
  readonly product: string;
  readonly price: Decimal;
  readonly unit?: string;
}

async function find(surroundings: Surroundings, { body }: Outgoing): Promise<Finding> {
  const ours = (parseExact(body) as unknown as { prices: readonly Price[] }).prices;
  const theirs = new Map<string, Price>();
  for await (const row of listAll(surroundings, "/pricing/rack", { pageSize: "500" })) {
    const price = row as unknown as Price;
    theirs.set(nameOf(price), price);
  }
  const off = ours.filter((price) => {
    const there = theirs.get(nameOf(price));
    return (
      there === undefined || !there.price.equals(price.price) || unitOf(there) !== unitOf(price)
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

const nameOf = ({ terminalId, product }: Price): string => `${terminalId} ${product}`;

/** Written as `ltr`, read as `liter`. */
const unitOf = ({ unit = "gal" }: Price): string => (unit === "ltr" ? "liter" : unit);
