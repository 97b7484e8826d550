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
  /** Those of these codes that are there, in one call. */
  findParties(codes: readonly string[]): Promise<ReadonlyMap<string, PartyRow>>;
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
    reads: ["account_category", "default_uom"],
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

export function openLookup(tryton: Tryton, surroundings: Pick<Surroundings, "now">): Lookup {
  const kept = keeper(surroundings);

  async function find(kind: Kind, value: string): Promise<Row | null> {
    const { model, field, reads, ofCompany } = kind;
    const domain: unknown[] = [[field, "=", value]];
    if (ofCompany) domain.push(["company", "=", (await tryton.session()).company]);
    const params = [domain, 0, 2, null, [...reads]];
    const [row, another] = await tryton.call<Row[]>(`model.${model}.search_read`, params);
    if (another !== undefined) throw twice(kind, value);
    return row ?? null;
  }

  async function expected(kind: Kind, value: string): Promise<Row> {
    const row = await find(kind, value);
    if (row === null) throw missing(kind, value);
    return row;
  }

  /** A category may leave its accounts to the one above it. */
  async function accountsOf(
    category: number | null,
  ): Promise<Pick<Product, "revenue" | "expense">> {
    if (category === null) return { revenue: null, expense: null };
    const fields = ["account_parent", "parent", "account_revenue", "account_expense"];
    const [row] = await tryton.call<[Row]>("model.product.category.read", [[category], fields]);
    if (row["account_parent"]) return accountsOf(row["parent"] as number | null);
    const [revenue, expense] = [row["account_revenue"], row["account_expense"]] as (
      number | null
    )[];
    return { revenue: revenue ?? null, expense: expense ?? null };
  }

  async function productOf(code: string): Promise<Product> {
    const { id, ...row } = await expected(kinds.product, code);
    const accounts = await accountsOf(row["account_category"] as number | null);
    return { id, unit: row["default_uom"] as number, ...accounts };
  }

  const row = (kind: Kind, value: string): Promise<Row> =>
    kept(`${kind.what} ${value}`, () => expected(kind, value));
  const id = (kind: Kind) => async (value: string) => (await row(kind, value)).id;
  return {
    account: id(kinds.account),
    journal: id(kinds.journal),
    location: id(kinds.location),
    tax: id(kinds.tax),
    paymentTerm: id(kinds.paymentTerm),
    paymentMethod: id(kinds.paymentMethod),
    currency: id(kinds.currency),
    company: id(kinds.company),
    product: (code) => kept(`product ${code}`, () => productOf(code)),
    unit: async (symbol) => (await row(kinds.unit, symbol)) as Row & Unit,
    party: async (code) => partyOf(await expected(kinds.party, code)),
    async findParty(code) {
      const found = await find(kinds.party, code);
      return found && partyOf(found);
    },
    async findParties(codes) {
      const { model, field, reads } = kinds.party;
      const params = [[[field, "in", codes]], 0, null, null, [field, ...reads]];
      const rows = await tryton.call<Row[]>(`model.${model}.search_read`, params);
      return new Map(rows.map((found) => [found[field] as string, partyOf(found)]));
    },
  };
}

const KEPT_MS = 600_000;

/** What is missing is asked for again each time: somebody may have created it. */
function keeper({ now }: Pick<Surroundings, "now">) {
  const kept = new Map<string, { readonly value: unknown; readonly until: number }>();
  return async <T>(key: string, load: () => Promise<T>): Promise<T> => {
    const known = kept.get(key);
    if (known !== undefined && now().getTime() < known.until) return known.value as T;
    const value = await load();
    kept.set(key, { value, until: now().getTime() + KEPT_MS });
    return value;
  };
}

const partyOf = ({ id, ...row }: Row): PartyRow => ({
  id,
  name: row["name"] as string,
  address: (row["addresses"] as readonly number[])[0] ?? null,
});

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
