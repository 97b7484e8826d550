/** What can only be asked whether it is there at all. */
import { type Delivered, gone, type Inspection, thereAsBrought } from "../../src/core/contract.ts";

/** @param missing of these receiver's ids those that are no longer there */
export async function inspectionsOf(
  delivered: readonly Delivered[],
  missing: (ids: readonly string[]) => Promise<readonly string[]>,
): Promise<Inspection[]> {
  const absent = new Set(await missing(delivered.map(({ counterpart }) => counterpart)));
  return delivered.map(({ counterpart }) => (absent.has(counterpart) ? gone : thereAsBrought));
}
