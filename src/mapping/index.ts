/**
 * `fuelbridge/mapping`: all that a site's own mappings may import. docs/site-mappings.md explains it; every name here is
 * kept from version to version.
 */
export type {
  About,
  Figures,
  Mapping,
  References,
  Skip,
  WrittenMapping,
} from "../core/contract.ts";
export { skip } from "../core/contract.ts";
export { Decimal } from "../core/decimal.ts";
export { NotMapped, Refused, WaitsFor } from "../core/errors.ts";
export type { Fault } from "../core/record.ts";
export { z } from "zod";
export { defineMapping } from "./define.ts";
export { type DocumentOf, extend, type RecordOf, shippedMapping } from "./define.ts";
export type { Extension, Given, Rule, ShippedName } from "./define.ts";
