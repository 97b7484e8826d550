/** The documents that the cases of all mappings expect, as the items that a sink is given. */
import { globSync } from "node:fs";
import { join } from "node:path";
import { mappings } from "../../mappings/index.ts";
import type { Item } from "../../src/core/contract.ts";
import { readCases } from "../../src/mapping/cases.ts";

const MAPPINGS = join(import.meta.dirname, "../../mappings");

/** By the form that a sink takes: `files.orders`, `books.orders`. */
export function itemsOfCases(): ReadonlyMap<string, readonly Item[]> {
  const items = new Map<string, Item[]>();
  for (const file of globSync("*/cases/*.json", { cwd: MAPPINGS }).toSorted()) {
    const { mapping, cases } = readCases(join(MAPPINGS, file));
    const form = mappings.find(({ name }) => name === mapping)?.writes;
    if (form === undefined) continue;
    for (const { name, expected } of cases)
      if ("document" in expected)
        items.set(form, [...(items.get(form) ?? []), itemOf(name, expected)]);
  }
  return items;
}

/** The case's name is its revision: cases change one record, and no two of them are one request. */
function itemOf(name: string, { document, number }: { document: unknown; number: string }): Item {
  const { id = name } = document as { readonly id?: string };
  return { id, number, revision: name, document, counterpart: null };
}
