/**
 * Codes that people use in Tryton, and the database ids behind them (src/books/codes.ts). Parties are not among them: see
 * parties.ts.
 */
import { type CodeKind, openCodes } from "../../src/books/codes.ts";
import type { Surroundings } from "../../src/core/contract.ts";
import { ofCompany as ours, rowOf, rowsOf } from "./search.ts";
import type { Tryton } from "./wire.ts";

type Account = Readonly<{ id: number; code: string }>;

interface Product {
  readonly id: number;
  /** The accounts of its category; null where it has none. */
  readonly revenue: Account | null;
  readonly expense: Account | null;
}

/** Codes by what they name. */
type Wanted = Readonly<Record<"account" | "product" | "unit", readonly string[]>>;

/** What a code names is asked for once in ten minutes. @throws Refused with code `not-in-tryton` (or `twice-in-tryton`), TrytonError */
export type Lookup = ReturnType<typeof openLookup>;

interface Kind extends CodeKind {
  readonly model: string;
  /** The field that has the code. */
  readonly field: string;
  readonly reads: string;
  /** Every company has its own. */
  readonly ofCompany?: true;
}

const CATEGORY = "account_parent parent account_revenue.code account_expense.code";

const kind = (model: string, what: string, field: string, more: Partial<Kind> = {}): Kind => ({
  model,
  what,
  field,
  called: field.replace(/^.*\./, ""),
  reads: "",
  ...more,
});
const ofCompany = { ofCompany: true } as const;

const kinds = {
  account: kind("account.account", "account", "code", ofCompany),
  journal: kind("account.journal", "journal", "code"),
  location: kind("stock.location", "location", "code"),
  product: kind("product.product", "product", "code", {
    reads: `account_category(${CATEGORY})`,
  }),
  unit: kind("product.uom", "unit", "symbol", { reads: "digits" }),
  paymentTerm: kind("account.invoice.payment_term", "payment term", "name"),
  paymentMethod: kind(
    "account.invoice.payment.method",
    "invoice payment method",
    "name",
    ofCompany,
  ),
  currency: kind("currency.currency", "currency", "code"),
  company: kind("company.company", "company", "party.name"),
};

interface Row {
  readonly id: number;
  readonly [field: string]: unknown;
}

export function openLookup(tryton: Tryton, { now }: Pick<Surroundings, "now">) {
  const codes = openCodes<Kind, Row>({
    books: "Tryton",
    now,
    async rowsOf({ model, field, reads, ofCompany }, wanted, most) {
      const domain = [[field, "in", wanted], ...(ofCompany ? [await ours({ tryton })] : [])];
      const search = most === null ? {} : { most };
      return rowsOf<Row>({ tryton }, model, domain, `${field} ${reads}`, search);
    },
    codeOf: ({ field }, row) => row[field] as string,
  });

  /** A category may leave its accounts to the one above it. */
  async function accountsOf(category: Row | null): Promise<Pick<Product, "revenue" | "expense">> {
    if (category === null) return { revenue: null, expense: null };
    const above = category["parent"] as number | null;
    if (category["account_parent"] && above !== null) {
      return accountsOf(await rowOf<Row>({ tryton }, "product.category", above, CATEGORY));
    }
    const accountIn = (field: string): Account | null => {
      const account = category[field] as Account | null | undefined;
      return account ? { id: account.id, code: account.code } : null;
    };
    return { revenue: accountIn("account_revenue."), expense: accountIn("account_expense.") };
  }

  const productOf = async ({ id, ...row }: Row): Promise<Product> => ({
    id,
    ...(await accountsOf(row["account_category."] as Row | null)),
  });

  const id = (kind: Kind) => async (code: string) => (await codes.row(kind, code)).id;
  return {
    /** One call per kind for those not known yet. What is not there, or twice, is told to whoever needs it. */
    async load({ account, product, unit }: Wanted): Promise<void> {
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
    /** Decimal places that a unit price may have. */
    pricePlaces: () => codes.kept({ what: "price places" }, "", () => pricePlacesOf(tryton)),
    /** Those of these codes that name nothing, or more than one thing: 500 in one call. */
    faults: (kind: "account" | "product" | "unit", wanted: readonly string[]) =>
      codes.faults(kinds[kind], wanted),
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
