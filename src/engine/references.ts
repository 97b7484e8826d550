/** What a mapping can look up while documents are mapped for a flow: tables, and the ids and amounts that the store knows. */
import { type References, referencesBy } from "../core/contract.ts";
import { Decimal } from "../core/decimal.ts";
import { otherId, ownId } from "../store/deliveries.ts";
import { hasForgotten } from "./breakers.ts";
import type { Engine, Flow } from "./engine.ts";

/**
 * For documents that are mapped in one go: a row is looked up for the first of them, and is the same for all. `used`: told
 * of each row that was asked for and is there, once.
 */
export function referencesOf(
  engine: Engine,
  { side, flow }: Flow,
  used?: (table: string, key: string) => void,
): References {
  const { links, incidents } = engine.store;
  const find: References["find"] = (kind, id): string | null => {
    const link = links.find(kind, side, id);
    return link === null ? null : otherId(link, side);
  };
  const amountOf: References["amountOf"] = (kind, id) => {
    const amount = links.find(kind, side, id)?.amount ?? null;
    return amount === null ? null : Decimal.of(amount);
  };
  const wasLost = (id: string): boolean => incidents.ever(flow, id, "gone") || hasForgotten(engine);
  const numbered: References["numbered"] = (kind, number) => {
    const link = links.numbered(kind, number, side);
    return link === null ? null : ownId(link, side);
  };
  const references = { ...referencesBy(engine, find), amountOf, numbered, wasLost };
  const rows = new Map<string, ReturnType<References["row"]>>();
  return {
    ...references,
    row(table, key) {
      const name = `${table}\n${key}`;
      const known = rows.get(name);
      if (known !== undefined) return known;
      const row = references.row(table, key);
      used?.(table, key);
      rows.set(name, row);
      return row;
    },
  };
}
