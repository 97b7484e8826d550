/** Credit notes that were made of invoices in Tryton, by their lines' origins. */
import type { Books } from "./books.ts";
import type { Entry } from "./invoice-facts.ts";
import { rowsOf } from "./search.ts";
import type { Decimal } from "../../src/core/decimal.ts";
import { exact } from "./values.ts";

/** A credit note of it that is posted or paid. */
export interface Credit {
  readonly id: number;
  readonly name: string;
  readonly move: number | null;
  /** Negative. */
  readonly total: Decimal;
  /** What of it has not been used yet; negative or zero. */
  readonly toPay: Decimal;
}

/** By the ids of the invoices that they credit; in one call. @throws TrytonError */
export async function creditsOf(
  books: Books,
  entries: readonly Pick<Entry, "id" | "lineIds">[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<number, readonly Credit[]>> {
  if (entries.length === 0) return new Map();
  const domain = [
    ["origin.invoice", "in", entries.map(({ id }) => id), "account.invoice.line"],
    ["invoice.state", "in", ["posted", "paid"]],
  ];
  const rows = await rowsOf<Row>(books, "account.invoice.line", domain, FIELDS, { signal });
  return new Map(
    entries.map(({ id, lineIds }) => {
      const of = rows.filter(({ origin }) => lineIds.some((line) => origin === originOf(line)));
      const credits = new Map(of.map((row) => [row["invoice."].id, creditIn(row["invoice."])]));
      return [id, [...credits.values()]] as const;
    }),
  );
}

const FIELDS = "origin invoice(number move total_amount amount_to_pay)";

interface Row {
  readonly origin: string;
  readonly "invoice.": {
    readonly id: number;
    readonly number: string | null;
    readonly move: number | null;
    readonly total_amount: unknown;
    readonly amount_to_pay: unknown;
  };
}

const originOf = (line: number): string => `account.invoice.line,${line}`;

const creditIn = ({ id, number, move, total_amount, amount_to_pay }: Row["invoice."]): Credit => ({
  id,
  name: number ?? `#${id}`,
  move,
  total: exact(total_amount),
  toPay: exact(amount_to_pay),
});
