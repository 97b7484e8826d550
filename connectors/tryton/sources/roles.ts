/**
 * Tryton keeps no role of a party. Besides its payment term and its categories, a posted invoice says what it is to us.
 * Invoices that came from the platform do not count: their parties are companies of the platform already.
 */
import type { Books } from "../books.ts";
import { markOf } from "../../../src/ledger/marks.ts";
import { ids } from "../rows.ts";
import { type Domain, either, ofCompany, rowsOf, where } from "../search.ts";
import type { Part } from "./feed.ts";

type Type = "out" | "in";

const MODEL = "account.invoice";
const ROWS = 500;

/** Posted invoices that make their party a customer or a supplier, as parts of the parties' feed. */
export function roleInvoices({ config: { roles } }: Books): Part[] {
  const types: Type[] = [
    ...(roles.customer.includes("invoice") ? (["out"] as const) : []),
    ...(roles.supplier.includes("invoice") ? (["in"] as const) : []),
  ];
  return types.map((type) => ({
    name: `${MODEL} ${type}`,
    model: MODEL,
    record: "party",
    domain: counting(type),
    once: true,
  }));
}

/**
 * Which of these parties (database ids) have a posted invoice of this type; none where the configuration does not count
 * invoices. @throws TrytonError
 */
export async function invoicedParties(
  books: Books,
  type: Type,
  parties: readonly number[],
  signal: AbortSignal,
): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  const { roles } = books.config;
  const signs = type === "out" ? roles.customer : roles.supplier;
  if (!signs.includes("invoice")) return found;
  const counted = [...counting(type), ...where(await ofCompany(books))];
  const search = { most: ROWS, signal };
  // One party may have thousands: those that are found are not asked for again.
  for (let left = [...parties]; left.length > 0;) {
    const domain = [...counted, ["party", "in", left]];
    const rows = await rowsOf(books, MODEL, domain, ids("party"), search);
    for (const { party } of rows) found.add(party);
    left = rows.length < ROWS ? [] : left.filter((id) => !found.has(id));
  }
  return found;
}

/** A posted invoice leaves this only when it is cancelled: then its party stays what it was told to be. */
const counting = (type: Type): Domain => [
  ...where({ "type =": type, "state in": ["posted", "paid"] }),
  either({ "comment =": null, "comment not like": `%${markOf("_")}%` }),
];
