/** What is in books that the tests keep, added up as test/tryton/ledger.ts adds up what should be. No code of fuelbridge's. */
import { Decimal } from "../../src/core/decimal.ts";
import { type Expected, Sums } from "../tryton/ledger.ts";
import { cells } from "./books-site.ts";

export interface Booked {
  /** `out`: an invoice of ours; `in`: a bill. */
  readonly type: "out" | "in";
  readonly party: string;
  /** `YYYY-MM-DD` */
  readonly date: string;
  /** 0: it is void. */
  readonly total: Decimal;
  /** By the item or account that they are booked on. */
  readonly lines: readonly { readonly code: string; readonly amount: Decimal }[];
}

export type Paid = Pick<Booked, "type" | "party"> & { readonly amount: Decimal };

const SIDES = {
  out: { account: "1200", fuel: "4000", sign: Decimal.of("1") },
  in: { account: "2100", fuel: "5000", sign: Decimal.of("-1") },
} as const;

/** @param folder of the site: what its tables name as items is fuel */
export function figuresIn(
  folder: string,
  booked: readonly Booked[],
  paid: readonly Paid[],
): Expected {
  const [ledger, invoices] = [new Sums(), new Sums()];
  const fuels = new Set(cells(folder, "items", "item"));
  for (const { type, party, date, total, lines } of booked) {
    if (total.sign === 0) continue;
    const { account, fuel, sign } = SIDES[type];
    ledger.add(`account ${account}`, sign.times(total));
    ledger.add(`${account} of ${party}`, sign.times(total));
    invoices.add(`${type} ${date.slice(0, 7)} ${party}`, total);
    for (const { code, amount } of lines)
      ledger.add(`account ${fuels.has(code) ? fuel : code}`, sign.times(amount).negated());
  }
  for (const { type, party, amount } of paid) {
    const { account, sign } = SIDES[type];
    ledger.add("account 1000", sign.times(amount));
    ledger.add(`account ${account}`, sign.times(amount).negated());
    ledger.add(`${account} of ${party}`, sign.times(amount).negated());
  }
  return { balances: ledger.balances(), invoicesByMonth: invoices.counted() };
}
