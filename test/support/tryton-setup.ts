/**
 * The books of a small fuel distributor in an empty Tryton, made as its people would: company, chart, fiscal years,
 * journals, units, products, places, users. All of it by the names and codes that the tests use.
 */
import { readFileSync } from "node:fs";
import { Decimal } from "../../src/core/decimal.ts";
import { openTryton, type Tryton, type TrytonOptions } from "../../connectors/tryton/wire.ts";
import { day } from "../../connectors/tryton/rows.ts";
import { type Series, testedSeries } from "./tryton-releases.ts";

export const COMPANY = "Prairie Fuel";
/** The synchronisation's user, with the rights of the connector's README and no more. */
export const SYNC = { user: "fuelbridge", password: "sync-4719-box" };
/** Somebody of the office, with the same rights. */
export const CLERK = { user: "clerk", password: "desk-8203-lamp" };

/** Code, name, and the account of the chart that it takes over (null: of its own name) or whose type it shares. */
const ACCOUNTS = [
  { code: "1000", name: "Main Cash", of: null },
  { code: "1200", name: "Main Receivable", of: null },
  { code: "2100", name: "Main Payable", of: null },
  { code: "2200", name: "Main Tax", of: null },
  { code: "4000", name: "Main Revenue", of: null },
  { code: "5000", name: "Main Expense", of: null },
  { code: "2300", name: "Federal excise tax payable", of: "Main Tax" },
  { code: "2310", name: "State fuel tax payable", of: "Main Tax" },
  { code: "2320", name: "Sales tax payable", of: "Main Tax" },
  { code: "4100", name: "Freight revenue", of: "Main Revenue" },
  { code: "5100", name: "Freight expense", of: "Main Expense" },
  { code: "5900", name: "Rounding differences", of: "Main Expense" },
];

/** The chart that the release brings, and what it calls these accounts, by its codes. */
const CHARTS = {
  "6.0": {
    name: "Minimal Account Chart",
    codes: {},
    moves: { field: "post_move_sequence", model: "ir.sequence" },
  },
  "8.0": {
    name: "Universal Chart of Accounts",
    codes: {
      "1.1.1": "Main Cash",
      "1.2.1": "Main Receivable",
      "2.1.1": "Main Payable",
      "2.2.3": "Main Tax",
      "4.1.1": "Main Revenue",
      "5.1.1": "Main Expense",
    },
    moves: { field: "move_sequence", model: "ir.sequence.strict" },
  },
} as const satisfies Record<Series, object>;
const CHART: (typeof CHARTS)[Series] = CHARTS[testedSeries];
const FISCAL_YEARS = [2025, 2026, 2027];
const TERMINALS = ["T-76-TX-2799", "T-75-TX-2688"];
const GROUPS = [
  testedSeries === "6.0" ? "Account" : "Accounting",
  "Payment",
  "Payment Approval",
  "Sales",
  "Purchase",
  "Stock",
  "Party Administration",
  "Product Administration",
  ...(testedSeries === "6.0" ? [] : ["Stock Force Assignment"]),
];

/** `admin` is the first user of the empty database. */
export async function setUpBooks(admin: TrytonOptions): Promise<void> {
  const currency = await within(admin, currencyAndCompany);
  // From here on the session's context names the company.
  await within(admin, async (tryton) => {
    const company = (await tryton.session()).company as number;
    await chart(tryton, company);
    await fiscalYears(tryton, company);
    await terms(tryton);
    await payingBy(tryton, company, currency);
    await products(tryton);
    await places(tryton);
    await users(tryton, company);
  });
}

/**
 * One more company in the database, with a chart, periods and ways to pay as the first has them. `admin` works for it from
 * then on; the synchronisation's user may work for both and sees what both have.
 */
export async function addCompany(admin: TrytonOptions, name: string): Promise<void> {
  const currency = await within(admin, async (tryton) => {
    const usd = await one(tryton, "currency.currency", ["code", "=", "USD"]);
    await companyIn(tryton, name, usd);
    return usd;
  });
  await within({ ...admin, company: name }, async (tryton) => {
    const company = (await tryton.session()).company as number;
    await chart(tryton, company);
    await fiscalYears(tryton, company);
    await payingBy(tryton, company, currency);
    const user = await one(tryton, "res.user", ["login", "=", SYNC.user]);
    const both = { companies: [["add", [company]]], company_filter: "all" };
    await tryton.call("model.res.user.write", [[user], both]);
  });
}

async function within<T>(options: TrytonOptions, work: (tryton: Tryton) => Promise<T>): Promise<T> {
  const tryton = openTryton(options, { note: () => {}, now: () => new Date() });
  try {
    return await work(tryton);
  } finally {
    await tryton.close();
  }
}

async function create(tryton: Tryton, model: string, values: object): Promise<number> {
  const [id] = await tryton.call<[number]>(`model.${model}.create`, [[values]]);
  return id;
}

async function one(tryton: Tryton, model: string, ...domain: unknown[]): Promise<number> {
  const found = await tryton.call<number[]>(`model.${model}.search`, [domain, 0, 2, null]);
  if (found.length !== 1) throw new Error(`${found.length} of ${model} ${JSON.stringify(domain)}`);
  return found[0] as number;
}

async function wizard(
  tryton: Tryton,
  name: string,
  steps: readonly (readonly [string, object])[],
): Promise<void> {
  const [id] = await tryton.call<[number]>(`wizard.${name}.create`, []);
  for (const [state, values] of steps)
    await tryton.call(`wizard.${name}.execute`, [id, values, state]);
  await tryton.call(`wizard.${name}.delete`, [id]);
}

async function currencyAndCompany(tryton: Tryton): Promise<number> {
  const currency = await create(tryton, "currency.currency", {
    name: "US Dollar",
    code: "USD",
    symbol: "$",
    rounding: Decimal.of("0.01"),
    digits: 2,
    rates: [["create", [{ date: day("2020-01-01"), rate: Decimal.of("1") }]]],
  });
  await companyIn(tryton, COMPANY, currency);
  return currency;
}

/** A company that the user of the session works for from the next one on. */
async function companyIn(tryton: Tryton, name: string, currency: number): Promise<void> {
  const code = name === COMPANY ? "SELF" : name;
  const party = await create(tryton, "party.party", { name, code });
  const company = await create(tryton, "company.company", { party, currency });
  const { user } = await tryton.session();
  await tryton.call("model.res.user.write", [[user], { companies: [["add", [company]]], company }]);
}

async function chart(tryton: Tryton, company: number): Promise<void> {
  const template = await one(
    tryton,
    "account.account.template",
    ["name", "=", CHART.name],
    ["parent", "=", null],
  );
  // Its last step, the defaults, is made below: by code.
  await wizard(tryton, "account.create_chart", [
    ["account", { start: {} }],
    ["create_account", { account: { company, account_template: template } }],
  ]);
  for (const [code, name] of Object.entries(CHART.codes))
    await tryton.call("model.account.account.write", [
      [await one(tryton, "account.account", ["code", "=", code])],
      { name },
    ]);
  const accounts = await tryton.call<{ id: number; name: string; type: number; parent: number }[]>(
    "model.account.account.search_read",
    [[["company", "=", company]], 0, null, null, ["name", "type", "parent"]],
  );
  for (const { code, name, of } of ACCOUNTS) {
    const known = accounts.find((account) => account.name === (of ?? name));
    if (known === undefined) throw new Error(`no account ${of ?? name}`);
    const { type, parent } = known;
    if (of === null) await tryton.call("model.account.account.write", [[known.id], { code }]);
    else await create(tryton, "account.account", { code, name, type, parent, company });
  }
  const account = (code: string) => one(tryton, "account.account", ["code", "=", code]);
  await tryton.call("model.account.configuration.write", [
    [1],
    {
      default_account_receivable: await account("1200"),
      default_account_payable: await account("2100"),
      default_category_account_revenue: await account("4000"),
      default_category_account_expense: await account("5000"),
    },
  ]);
}

async function fiscalYears(tryton: Tryton, company: number): Promise<void> {
  const moves = await one(tryton, "ir.sequence.type", ["name", "=", "Account Move"]);
  const invoices = await one(tryton, "ir.sequence.type", ["name", "=", "Invoice"]);
  for (const year of FISCAL_YEARS) {
    const strict = (name: string) =>
      create(tryton, "ir.sequence.strict", {
        name: `${name} ${year}`,
        sequence_type: invoices,
        company,
        prefix: `${name}-${year}-`,
        padding: 5,
      });
    const fiscalYear = await create(tryton, "account.fiscalyear", {
      name: String(year),
      company,
      start_date: day(`${year}-01-01`),
      end_date: day(`${year}-12-31`),
      [CHART.moves.field]: await create(tryton, CHART.moves.model, {
        name: `Moves ${year}`,
        sequence_type: moves,
        company,
      }),
      invoice_sequences: [
        [
          "create",
          [
            {
              company,
              out_invoice_sequence: await strict("INV"),
              out_credit_note_sequence: await strict("CRN"),
              in_invoice_sequence: await strict("BILL"),
              in_credit_note_sequence: await strict("BCR"),
            },
          ],
        ],
      ],
    });
    await tryton.call("model.account.fiscalyear.create_period", [[fiscalYear], 1, 31]);
  }
}

async function terms(tryton: Tryton): Promise<void> {
  for (const days of [10, 30])
    await create(tryton, "account.invoice.payment_term", {
      name: `Net ${days}`,
      lines: [["create", [{ type: "remainder", relativedeltas: [["create", [{ days }]]] }]]],
    });
}

async function payingBy(tryton: Tryton, company: number, currency: number): Promise<void> {
  const journal = await one(tryton, "account.journal", ["code", "=", "CASH"]);
  const cash = await one(tryton, "account.account", ["code", "=", "1000"]);
  await create(tryton, "account.invoice.payment.method", {
    name: "Bank transfer",
    company,
    journal,
    credit_account: cash,
    debit_account: cash,
  });
  await create(tryton, "account.payment.journal", {
    name: "Bank",
    company,
    currency,
    process_method: "manual",
  });
}

/** What config/crossref/items.csv calls the ERP's products, and freight. */
async function products(tryton: Tryton): Promise<void> {
  const gallon = await one(tryton, "product.uom", ["symbol", "=", "gal"]);
  const unit = await one(tryton, "product.uom", ["symbol", "=", "u"]);
  // Meters read tenths of thousandths; what Tryton ships takes hundredths.
  for (const symbol of ["gal", "l"])
    await tryton.call("model.product.uom.write", [
      [await one(tryton, "product.uom", ["symbol", "=", symbol])],
      { digits: 4, rounding: Decimal.of("0.0001").toJSON() },
    ]);
  await create(tryton, "product.uom", {
    name: "Barrel",
    symbol: "bbl",
    category: await one(tryton, "product.uom.category", ["name", "=", "Volume"]),
    factor: Decimal.of("158.987294928").toJSON(),
    rate: Decimal.of("0.006289810770").toJSON(),
    digits: 4,
    rounding: Decimal.of("0.0001").toJSON(),
  });
  const category = async (name: string, revenue: string, expense: string) =>
    create(tryton, "product.category", {
      name,
      accounting: true,
      account_revenue: await one(tryton, "account.account", ["code", "=", revenue]),
      account_expense: await one(tryton, "account.account", ["code", "=", expense]),
    });
  const product = (code: string, name: string, values: object) =>
    create(tryton, "product.template", {
      name,
      list_price: Decimal.zero,
      cost_price_method: "fixed",
      salable: true,
      purchasable: true,
      products: [["create", [{ suffix_code: code, cost_price: Decimal.zero }]]],
      ...values,
    });
  const inUnit = (id: number) => ({ default_uom: id, sale_uom: id, purchase_uom: id });
  const fuel = await category("Fuel", "4000", "5000");
  for (const [code, name] of items())
    await product(code, name, { type: "goods", account_category: fuel, ...inUnit(gallon) });
  const freight = await category("Freight", "4100", "5100");
  await product("FREIGHT", "Freight", {
    type: "service",
    account_category: freight,
    ...inUnit(unit),
  });
}

function items(): Map<string, string> {
  const text = readFileSync(new URL("../../config/crossref/items.csv", import.meta.url), "utf8");
  const rows = text.trim().split(/\r?\n/).slice(1);
  const found = new Map<string, string>();
  for (const row of rows) {
    const [, name = "", code = ""] = /^("(?:[^"]|"")*"|[^,]*),([^,]*)/.exec(row) ?? [];
    if (!found.has(code)) found.set(code, name.replaceAll(/^"|"$/g, "").replaceAll('""', '"'));
  }
  return found;
}

/** Terminals are places of the warehouse's storage. */
async function places(tryton: Tryton): Promise<void> {
  const parent = await one(tryton, "stock.location", ["code", "=", "STO"]);
  for (const code of TERMINALS)
    await create(tryton, "stock.location", {
      name: `Terminal ${code}`,
      code,
      type: "storage",
      parent,
    });
}

async function users(tryton: Tryton, company: number): Promise<void> {
  const groups: number[] = [];
  for (const name of GROUPS) groups.push(await one(tryton, "res.group", ["name", "=", name]));
  for (const { user, password } of [SYNC, CLERK])
    await create(tryton, "res.user", {
      name: user,
      login: user,
      password,
      groups: [["add", groups]],
      companies: [["add", [company]]],
      company,
    });
}
