/** References in which every code is mapped and every document is there: what mappings are tried with as a whole. */
import type { References } from "../src/core/contract.ts";

/** Alike for every key, but different from key to key: a change of a code shows. `us`: our own company's id. */
export const everything = (us: string): References => ({
  currency: "USD",
  dayOf: (instant) => instant.slice(0, 10),
  find: () => null,
  counterpart: (kind, id) => `${kind} ${id}`,
  row: (table, key) =>
    new Proxy(
      {},
      { get: (_, column) => (table === "own-company" ? us : `${key} ${String(column)}`) },
    ),
});
