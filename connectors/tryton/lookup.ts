/**
 * Codes that people use in Tryton, and the database ids behind them. What people set up once is kept for a while; a
 * party is asked for each time: a database restored from a backup may give its id to another one.
 */
import type { Surroundings } from "../../src/core/contract.ts";
import { Refused } from "../../src/core/errors.ts";
import type { Fault } from "../../src/core/fault.ts";
import { isWithin } from "../../src/core/moment.ts";
import type { Tryton } from "./wire.ts";

export interface Account {
  readonly id: number;
  readonly code: string;
}

export interface Product {
  readonly id: number;
  /** The accounts of its category; null where it has none. */
  readonly revenue: Account | null;
  readonly expense: Account | null;
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
  readonly code: string;
  readonly name: string;
  /** The first of its addresses. */
  readonly address: number | null;
}

/** Codes by what they name. */
export interface Codes {
  readonly account: readonly string[];
  readonly product: readonly string[];
  readonly unit: readonly string[];
}

/** @throws Refused with code `not-in-tryton` (or `twice-in-tryton`), TrytonFault */
export interface Lookup {
  /** One call per kind for those not known yet. What is not there, or twice, is told to whoever needs it. */
  load(codes: Codes): Promise<void>;
  account(code: string): Promise<number>;
  journal(code: string): Promise<number>;
  location(code: string): Promise<number>;
  product(code: string): Promise<Product>;
  /** By its symbol: `gal`. */
  unit(symbol: string): Promise<Unit>;
  tax(name: string): Promise<number>;
  /** Decimal places that a unit price may have. */
  pricePlaces(): Promise<number>;
  paymentTerm(name: string): Promise<number>;
  paymentMethod(name: string): Promise<number>;
  /** Those of these codes that name nothing, or more than one thing: 500 in one call. */
  faults(
    kind: "account" | "product" | "unit",
    codes: readonly string[],
  ): Promise<ReadonlyMap<string, Fault>>;
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

const CATEGORY = ["account_parent", "parent", "account_revenue.code", "account_expense.code"];

const kinds = {
  account: { model: "account.account", field: "code", what: "account", reads: [], ofCompany: true },
  journal: { model: "account.journal", field: "code", what: "journal", reads: [] },
  location: { model: "stock.location", field: "code", what: "location", reads: [] },
  product: {
    model: "product.product",
    field: "code",
    what: "product",
    reads: ["default_uom", ...CATEGORY.map((field) => `account_category.${field}`)],
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

  async function rowsOf(
    { model, field, reads, ofCompany }: Kind,
    [is, value]: readonly ["=", string] | readonly ["in", readonly string[]],
    most: number | null,
  ): Promise<Row[]> {
    const domain: unknown[] = [[field, is, value]];
    if (ofCompany) domain.push(["company", "=", (await tryton.session()).company]);
    const params = [domain, 0, most, null, [...new Set([field, ...reads])]];
    return tryton.call<Row[]>(`model.${model}.search_read`, params);
  }

  async function find(kind: Kind, value: string): Promise<Row | null> {
    const [row, another] = await rowsOf(kind, ["=", value], 2);
    if (another !== undefined) throw twice(kind, value);
    return row ?? null;
  }

  /** Those that one record has. */
  async function findAll(kind: Kind, values: readonly string[]): Promise<Map<string, Row>> {
    const rows = await rowsOf(kind, ["in", values], null);
    const named = Map.groupBy(rows, (row) => row[kind.field] as string);
    return new Map(
      [...named].flatMap(([value, [row, another]]) =>
        row === undefined || another !== undefined ? [] : [[value, row] as const],
      ),
    );
  }

  async function expected(kind: Kind, value: string): Promise<Row> {
    const row = await find(kind, value);
    if (row === null) throw missing(kind, value);
    return row;
  }

  /** A category may leave its accounts to the one above it. */
  async function accountsOf(category: Row | null): Promise<Pick<Product, "revenue" | "expense">> {
    if (category === null) return { revenue: null, expense: null };
    const above = category["parent"] as number | null;
    if (category["account_parent"] && above !== null) {
      const method = "model.product.category.read";
      const [parent] = await tryton.call<[Row]>(method, [[above], CATEGORY]);
      return accountsOf(parent);
    }
    const accountIn = (field: string): Account | null => {
      const account = category[field] as Account | null | undefined;
      return account ? { id: account.id, code: account.code } : null;
    };
    return { revenue: accountIn("account_revenue."), expense: accountIn("account_expense.") };
  }

  async function productOf({ id, ...row }: Row): Promise<Product> {
    const accounts = await accountsOf(row["account_category."] as Row | null);
    return { id, unit: row["default_uom"] as number, ...accounts };
  }

  const row = (kind: Kind, value: string): Promise<Row> =>
    kept.get(keyOf(kind, value), () => expected(kind, value));
  const id = (kind: Kind) => async (value: string) => (await row(kind, value)).id;
  return {
    async load(codes) {
      for (const name of ["account", "product", "unit"] as const) {
        const kind = kinds[name];
        const unknown = new Set(codes[name].filter((code) => !kept.has(keyOf(kind, code))));
        if (unknown.size === 0) continue;
        for (const [code, found] of await findAll(kind, [...unknown]))
          kept.keep(keyOf(kind, code), name === "product" ? await productOf(found) : found);
      }
    },
    account: id(kinds.account),
    journal: id(kinds.journal),
    location: id(kinds.location),
    tax: id(kinds.tax),
    pricePlaces: () => kept.get("price places", () => pricePlacesOf(tryton)),
    faults: (kind, codes) =>
      faultsOf(kinds[kind], codes, (some) => rowsOf(kinds[kind], ["in", some], null)),
    paymentTerm: id(kinds.paymentTerm),
    paymentMethod: id(kinds.paymentMethod),
    currency: id(kinds.currency),
    company: id(kinds.company),
    product: (code) =>
      kept.get(keyOf(kinds.product, code), async () =>
        productOf(await expected(kinds.product, code)),
      ),
    unit: async (symbol) => (await row(kinds.unit, symbol)) as Row & Unit,
    party: async (code) => partyOf(await expected(kinds.party, code)),
    async findParty(code) {
      const found = await find(kinds.party, code);
      return found && partyOf(found);
    },
    async findParties(codes) {
      const rows = await findAll(kinds.party, codes);
      return new Map([...rows].map(([code, found]) => [code, partyOf(found)]));
    },
  };
}

async function faultsOf(
  kind: Kind,
  codes: readonly string[],
  rowsOf: (codes: readonly string[]) => Promise<readonly Row[]>,
): Promise<Map<string, Fault>> {
  const faults = new Map<string, Fault>();
  for (let at = 0; at < codes.length; at += CODES_MAX) {
    const asked = codes.slice(at, at + CODES_MAX);
    const named = Map.groupBy(await rowsOf(asked), (row) => row[kind.field] as string);
    for (const code of asked) {
      const count = named.get(code)?.length ?? 0;
      if (count !== 1) faults.set(code, (count === 0 ? missing : twice)(kind, code).fault);
    }
  }
  return faults;
}

async function pricePlacesOf(tryton: Tryton): Promise<number> {
  const method = "model.account.invoice.line.fields_get";
  const fields = await tryton.call<{ unit_price: { digits: string } }>(method, [["unit_price"]]);
  const [, places] = JSON.parse(fields.unit_price.digits) as [number, number];
  return places;
}

const keyOf = ({ what }: Kind, value: string): string => `${what} ${value}`;

/** Values of one `in`. */
export const CODES_MAX = 500;

const KEPT_MS = 600_000;

/** What is missing is asked for again each time: somebody may have created it. */
function keeper({ now }: Pick<Surroundings, "now">) {
  const kept = new Map<string, { readonly value: unknown; readonly sinceMs: number }>();
  const has = (key: string): boolean => {
    const known = kept.get(key);
    return known !== undefined && isWithin(known.sinceMs, KEPT_MS, now().getTime());
  };
  const keep = (key: string, value: unknown): void =>
    void kept.set(key, { value, sinceMs: now().getTime() });
  return {
    has,
    keep,
    async get<T>(key: string, load: () => Promise<T>): Promise<T> {
      if (!has(key)) keep(key, await load());
      return kept.get(key)?.value as T;
    },
  };
}

const partyOf = ({ id, ...row }: Row): PartyRow => ({
  id,
  code: row["code"] as string,
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
