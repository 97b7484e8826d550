/**
 * Codes that people use in Tryton, and the database ids behind them. What people set up once is kept for a while; a
 * party is asked for each time: a database restored from a backup may give its id to another one.
 */
import type { Surroundings } from "../../src/core/contract.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Tryton } from "./wire.ts";

export interface Product {
  readonly id: number;
  /** The accounts of its category; null where it has none. */
  readonly revenue: number | null;
  readonly expense: number | null;
  /** The unit it is kept in. */
  readonly unit: number;
}

export interface Unit {
  readonly id: number;
  /** Decimal places that a quantity may have. */
  readonly digits: number;
}

export interface PartyRow {
  readonly id: number;
  readonly name: string;
  /** The first of its addresses. */
  readonly address: number | null;
}

/** @throws Refused with code `not-in-tryton` (or `twice-in-tryton`), TrytonFault */
export interface Lookup {
  account(code: string): Promise<number>;
  journal(code: string): Promise<number>;
  location(code: string): Promise<number>;
  product(code: string): Promise<Product>;
  /** By its symbol: `gal`. */
  unit(symbol: string): Promise<Unit>;
  tax(name: string): Promise<number>;
  paymentTerm(name: string): Promise<number>;
  paymentMethod(name: string): Promise<number>;
  currency(code: string): Promise<number>;
  company(name: string): Promise<number>;
  party(code: string): Promise<PartyRow>;
  /** The same, or null: it may be created. */
  findParty(code: string): Promise<PartyRow | null>;
}

interface Kind {
  readonly model: string;
  /** The field that people name it by. */
  readonly field: string;
  /** What people call it. */
  readonly what: string;
  readonly reads: readonly string[];
  /** Every company has its own. */
  readonly ofCompany?: true;
}

const kinds = {
  account: { model: "account.account", field: "code", what: "account", reads: [], ofCompany: true },
  journal: { model: "account.journal", field: "code", what: "journal", reads: [] },
  location: { model: "stock.location", field: "code", what: "location", reads: [] },
  product: {
    model: "product.product",
    field: "code",
    what: "product",
    reads: [
      "account_category.account_revenue_used",
      "account_category.account_expense_used",
      "default_uom",
    ],
  },
  unit: { model: "product.uom", field: "symbol", what: "unit", reads: ["digits"] },
  tax: { model: "account.tax", field: "name", what: "tax", reads: [], ofCompany: true },
  paymentTerm: {
    model: "account.invoice.payment_term",
    field: "name",
    what: "payment term",
    reads: [],
  },
  paymentMethod: {
    model: "account.invoice.payment.method",
    field: "name",
    what: "invoice payment method",
    reads: [],
    ofCompany: true,
  },
  currency: { model: "currency.currency", field: "code", what: "currency", reads: [] },
  company: { model: "company.company", field: "party.name", what: "company", reads: [] },
  party: { model: "party.party", field: "code", what: "party", reads: ["name", "addresses"] },
} as const satisfies Record<string, Kind>;

interface Row {
  readonly id: number;
  readonly [field: string]: unknown;
}

const KEPT_MS = 600_000;

export function openLookup(tryton: Tryton, { now }: Pick<Surroundings, "now">): Lookup {
  const kept = new Map<string, { readonly row: Row; readonly until: number }>();

  async function find(kind: Kind, value: string): Promise<Row | null> {
    const { model, field, reads, ofCompany } = kind;
    const domain: unknown[] = [[field, "=", value]];
    if (ofCompany) domain.push(["company", "=", (await tryton.session()).company]);
    const params = [domain, 0, 2, null, [...reads]];
    const [row, another] = await tryton.call<Row[]>(`model.${model}.search_read`, params);
    if (another !== undefined) throw twice(kind, value);
    return row ?? null;
  }

  async function expect(kind: Kind, value: string): Promise<Row> {
    const key = `${kind.model} ${value}`;
    const known = kept.get(key);
    if (known !== undefined && now().getTime() < known.until) return known.row;
    const row = await find(kind, value);
    if (row === null) throw missing(kind, value);
    kept.set(key, { row, until: now().getTime() + KEPT_MS });
    return row;
  }

  const id = (kind: Kind) => async (value: string) => (await expect(kind, value)).id;
  const findParty = async (code: string): Promise<PartyRow | null> => {
    const row = await find(kinds.party, code);
    return row && partyOf(row);
  };
  return {
    account: id(kinds.account),
    journal: id(kinds.journal),
    location: id(kinds.location),
    tax: id(kinds.tax),
    paymentTerm: id(kinds.paymentTerm),
    paymentMethod: id(kinds.paymentMethod),
    currency: id(kinds.currency),
    company: id(kinds.company),
    product: async (code) => productOf(await expect(kinds.product, code)),
    unit: async (symbol) => (await expect(kinds.unit, symbol)) as Row & Unit,
    findParty,
    async party(code) {
      const party = await findParty(code);
      if (party === null) throw missing(kinds.party, code);
      return party;
    },
  };
}

const partyOf = ({ id, ...row }: Row): PartyRow => ({
  id,
  name: row["name"] as string,
  address: (row["addresses"] as readonly number[])[0] ?? null,
});

function productOf({ id, ...row }: Row): Product {
  const category = (row["account_category."] ?? {}) as Readonly<Record<string, number | null>>;
  return {
    id,
    revenue: category["account_revenue_used"] ?? null,
    expense: category["account_expense_used"] ?? null,
    unit: row["default_uom"] as number,
  };
}

const missing = ({ what, field }: Kind, value: string): Refused =>
  new Refused({
    code: "not-in-tryton",
    message: `Tryton has no ${what} ${value}`,
    next: `Create the ${what} in Tryton (${nameOf(field)} "${value}"), or correct the cross-reference or the setting that says ${value}; then retry.`,
    field: what,
  });

const twice = ({ what, field }: Kind, value: string): Refused =>
  new Refused({
    code: "twice-in-tryton",
    message: `Tryton has more than one ${what} ${value}`,
    next: `Give all but one of them another ${nameOf(field)} in Tryton, or deactivate them; then retry.`,
    field: what,
  });

const nameOf = (field: string): string => field.replace(/^.*\./, "");
