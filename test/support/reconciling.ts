/** What a runner hands to `reconcile`, for holdings at hand. */
import type { Case, Told } from "../../src/reconcile/case.ts";
import { match } from "../../src/reconcile/match.ts";
import type { Asked } from "../../src/reconcile/report.ts";
import type { TwoSides } from "./two-sides.ts";

export function askedOf(
  { platform, books, links }: Pick<TwoSides, "platform" | "books" | "links">,
  told: (one: Case) => Told | null,
  more: Partial<Asked> = {},
): Asked {
  const records = { platform, books };
  return {
    period: { from: "2026-10-01", to: "2026-10-31" },
    now: "2026-11-22T05:00:00Z",
    today: "2026-11-22",
    currency: "USD",
    records,
    cases: match({ records, links }),
    told,
    stored: () => ({}),
    ignore: {},
    lists: [],
    previous: [],
    strength: [],
    unasked: [],
    ledger: [],
    ...more,
  };
}
