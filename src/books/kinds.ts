/** Mappings name kinds of links, and stores keep them by these names; holdings have names of their own. */
import type { HoldingKind } from "../core/holdings.ts";

const KINDS: Readonly<Record<string, HoldingKind>> = {
  invoice: "invoice",
  bill: "bill",
  "supplier-invoice": "bill",
  payment: "payment",
  "bill-payment": "bill-payment",
  customer: "party",
  supplier: "party",
  "rack-price": "price",
};

/**
 * What records of a mapping's kind are called among holdings. Null: both sides hold no such record that could be
 * compared (orders, delivery tickets), or it is a state of another one (`invoice-payment`: a paid invoice).
 */
export const holdingKindOf = (mappingKind: string): HoldingKind | null =>
  KINDS[mappingKind] ?? null;
