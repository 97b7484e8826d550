import type { Surroundings } from "../../src/core/contract.ts";
import type { TrytonConfig } from "./config.ts";
import type { Lookup } from "./lookup.ts";
import type { Tryton } from "./wire.ts";

/** What every source and sink of this connector works with: the books of one company. */
export interface Books {
  /** With the company's currency, ISO 4217. */
  readonly config: TrytonConfig & { readonly currency: string };
  readonly tryton: Tryton;
  readonly lookup: Lookup;
  readonly surroundings: Surroundings;
}
