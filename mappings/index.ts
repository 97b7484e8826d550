/** The list of mappings: a new one is an export of the module of its kind. */
import type { Mapping } from "../src/core/contract.ts";
import * as goods from "./goods.ts";
import * as invoices from "./invoices.ts";
import * as places from "./places.ts";
import * as lists from "./platform/lists.ts";
import * as records from "./platform/records.ts";

/** By name, and with their types, for what extends one of them by its name. */
export const shipped = [
  ...Object.values(goods),
  ...Object.values(invoices),
  ...Object.values(places),
  ...Object.values(lists),
  ...Object.values(records),
].toSorted(({ name: one }, { name: other }) => (one < other ? -1 : 1));

export const mappings: readonly Mapping[] = [...shipped];
