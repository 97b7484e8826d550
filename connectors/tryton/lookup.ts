/**
 * Codes that people use in Tryton, and the database ids behind them (src/ledger/codes.ts). Parties are not among them: see
 * parties.ts.
 */
import { type CodeKind, openCodes } from "../../src/ledger/codes.ts";
import type { Surroundings } from "../../src/core/contract.ts";
import * as row from "./rows.ts";
import { ofCompany, rowOf, rowsOf, where } from "./search.ts";
import type { Tryton } from "./wire.ts";

type Account = Readonly<{ id: number; code: string }>;

interface Product {
  readonly id: number;
  /** The accounts of its category, by their codes; null where it has none. */
  readonly revenue: Account | null;
  readonly expense: Account | null;
}

/** Codes by what they name. */
type Desired = Readonly<Record<"account" | "product" | "unit", readonly string[]>>;

/** What a code names is asked for once in ten minutes. @throws Refused with code `not-in-tryton` (or `twice-in-tryton`), TrytonError */
export type Lookup = ReturnType<typeof openLookup>;

interface Kind extends CodeKind {
  readonly model: string;
  /** The field that has the code. */
  readonly field: string;
  /** What is read besides. */
  readonly reads?: row.Fields;
  /** Every company has its own. */
  readonly isOfCompany?: boolean;
}

const CATEGORY = {
  ...row.flags("account_parent"),
  ...row.idsOrNone("parent"),
  account_revenue: row.oneOrNone(row.texts("code")),
  account_expense: row.oneOrNone(row.texts("code")),
};

/** What rows of the kinds have; those of products and units have more. */
interface Row {
  readonly id: number;
  readonly code: string;
  readonly account_category?: row.RowOf<typeof CATEGORY> | null;
  readonly digits?: number;
}

const kind = (model: string, what: string, field: string, more: Partial<Kind> = {}): Kind => ({
  model,
  what,
  field,
  called: field.replace(/^.*\./, ""),
  ...more,
});
const own = { isOfCompany: true };
const METHOD = "account.invoice.payment.method";

const kinds = {
  account: kind("account.account", "account", "code", own),
  journal: kind("account.journal", "journal", "code"),
  location: kind("stock.location", "location", "code"),
  product: kind("product.product", "product", "code", {
    reads: { account_category: row.oneOrNone(CATEGORY) },
  }),
  unit: kind("product.uom", "unit", "symbol", { reads: row.ids("digits") }),
  paymentTerm: kind("account.invoice.payment_term", "payment term", "name"),
  paymentMethod: kind(METHOD, "invoice payment method", "name", own),
  currency: kind("currency.currency", "currency", "code"),
  company: kind("company.company", "company", "party.name"),
};

export function openLookup(tryton: Tryton, { now }: Pick<Surroundings, "now">) {
  const codes = openCodes<Kind, Row>({
    books: "Tryton",
    now,
    async rowsOf({ model, field, reads, isOfCompany = false }, desired, most) {
      const company = isOfCompany ? await ofCompany({ tryton }) : {};
      const domain = where({ [`${field} in`]: desired, ...company });
      const fields = { code: row.called(field, row.as<string>()), ...reads };
      return rowsOf({ tryton }, model, domain, fields, most === null ? {} : { most });
    },
    codeOf: (_, { code }) => code,
  });

  /** A category may leave its accounts to the one above it. */
  async function accountsOf(
    category: row.RowOf<typeof CATEGORY> | null,
  ): Promise<Pick<Product, "revenue" | "expense">> {
    if (category === null) return { revenue: null, expense: null };
    const { account_parent, parent, account_revenue: revenue, account_expense: expense } = category;
    if (account_parent && parent !== null)
      return accountsOf(await rowOf({ tryton }, "product.category", parent, CATEGORY));
    return { revenue, expense };
  }

  const productOf = async ({ id, account_category = null }: Row): Promise<Product> => ({
    id,
    ...(await accountsOf(account_category)),
  });

  const id = (kind: Kind) => async (code: string) => (await codes.row(kind, code)).id;
  return {
    /** One call per kind for those not known yet. What is not there, or twice, is told to whoever needs it. */
    async load({ account, product, unit }: Desired): Promise<void> {
      await codes.load(kinds.account, account);
      await codes.load(kinds.product, product, productOf);
      await codes.load(kinds.unit, unit);
    },
    account: id(kinds.account),
    journal: id(kinds.journal),
    location: id(kinds.location),
    paymentTerm: id(kinds.paymentTerm),
    paymentMethod: id(kinds.paymentMethod),
    currency: id(kinds.currency),
    company: id(kinds.company),
    forget: () => codes.forget(),
    /** Decimal places that a unit price may have. */
    pricePlaces: () => codes.kept({ what: "price places" }, "", () => pricePlacesOf(tryton)),
    /** Those of these codes that name nothing, or more than one thing: 500 in one call. */
    faults: (kind: "account" | "product" | "unit", desired: readonly string[]) =>
      codes.faults(kinds[kind], desired),
    product: (code: string): Promise<Product> =>
      codes.kept(kinds.product, code, async () =>
        productOf(await codes.expected(kinds.product, code)),
      ),
    /** By its symbol: `gal`. `digits`: decimal places that a quantity may have. */
    unit: async (symbol: string) =>
      (await codes.row(kinds.unit, symbol)) as Row & { readonly digits: number },
  };
}

async function pricePlacesOf(tryton: Tryton): Promise<number> {
  const method = "model.account.invoice.line.fields_get";
  const fields = await tryton.call<{ unit_price: { digits: string } }>(method, [["unit_price"]]);
  const [, places] = JSON.parse(fields.unit_price.digits) as [number, number];
  return places;
}
