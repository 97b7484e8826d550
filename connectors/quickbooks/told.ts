/** What sources of both tell alike: where a party is, what is gone, the taxes of an invoice, and who paid it. */
import type { Entry } from "../../src/ledger/port.ts";
import { MONEY, type Payers, payersOf } from "../../src/ledger/changes.ts";
import { invoiceRecord, some } from "../../src/ledger/facts.ts";
import type { PartyRecord } from "../../src/ledger/records.ts";
import type { Change } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { Facts, FactLine, FactTax } from "../../src/core/holdings.ts";
import { stringifyExact } from "../../src/core/json.ts";

const AMERICA = /^(?:|US|USA|U\.S\.A\.|UNITED STATES(?: OF AMERICA)?)$/;

/**
 * Country (ISO 3166-1) and state (ISO 3166-2) of an address; null: there is none. People write a country as they like: what is no code and not
 * America is left out, and a state without a country, too.
 */
export function regionOf(
  address: { readonly country: string | null; readonly state: string | null } | null,
): Pick<PartyRecord, "country" | "state"> {
  if (address === null) return { country: null, state: null };
  const upper = address.country?.trim().toUpperCase() ?? "";
  const country = AMERICA.test(upper) ? "US" : /^[A-Z]{2}$/.test(upper) ? upper : null;
  const state = address.state?.trim().toUpperCase() ?? "";
  const isCode = country !== null && /^[A-Z]{2,3}$/.test(state);
  return { country, state: isCode ? `${country}-${state}` : null };
}

/** A party that was deleted, of which its code and at most a name are left: it is told as inactive. */
export const inactiveParty = (
  head: Pick<PartyRecord, "code" | "name" | "isCustomer" | "isSupplier">,
): PartyRecord => ({
  ...head,
  companyId: null,
  email: null,
  phone: null,
  street: null,
  city: null,
  state: null,
  zip: null,
  country: null,
  active: false,
});

/** An invoice that was deleted, of which hardly more than its id is left: its mapping sees whether it was told before. */
export function deletedInvoice(
  id: string,
  state: "cancelled" | "deleted",
  facts: Required<Pick<Facts, "party" | "days" | "words">>,
): Change {
  const money = { untaxed: Decimal.zero, tax: Decimal.zero, total: Decimal.zero };
  const record = invoiceRecord(
    { ...facts, money },
    {
      number: id,
      id,
      state,
      partyCompanyId: null,
      dueDate: null,
      open: Decimal.zero,
      paidDate: null,
      paidByPlatform: false,
      paidByOthers: null,
      clearedBy: MONEY,
      platformId: null,
    },
  );
  return { id, version: null, text: stringifyExact(record) };
}

/** Lines of tax items, and QuickBooks' own sales tax. @param base what both are computed from */
export const taxesOf = (
  lines: readonly Pick<FactLine, "product" | "amount" | "text">[],
  salesTax: Decimal,
  base: Decimal,
): FactTax[] => [
  ...lines.map(({ product, amount, text }) => ({
    code: product ?? "",
    text: some(text) ?? product ?? "",
    base,
    amount,
  })),
  ...(salesTax.sign === 0
    ? []
    : [{ code: "Sales tax", text: "Sales tax", base, amount: salesTax }]),
];

/** Who paid it, and with what, by the payments of its entry. */
export const paidBy = (
  { status, payments }: Pick<Entry, "status" | "payments">,
  total: Decimal,
  open: Decimal,
): Payers =>
  payersOf({
    state: status === "settled" ? "paid" : status,
    total,
    open,
    // One of nothing was voided.
    settling: payments
      .filter(({ amount }) => amount.sign !== 0)
      .map((one) => ({ ...one, isOurs: one.mark !== null, isReconciled: true })),
  });
