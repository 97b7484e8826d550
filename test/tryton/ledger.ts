/**
 * What is in the books, and what should be. The first is asked of Tryton's ledger; the second is added up from the
 * platform's raw records and the cross-reference tables as their people read them. No code of fuelbridge's between.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { Decimal } from "../../src/core/decimal.ts";
import type { Json } from "../../src/core/json.ts";
import type { OwnInvoice } from "./office.ts";
import type { Rpc } from "./rpc.ts";
import type { Members, Site } from "./site.ts";

/** Amounts by what they are of: `account 1200`, `1200 of A-1001`, `out 2026-11 A-1001`. Nothing is left out. */
export type Figures = Readonly<Record<string, string>>;

export class Sums {
  readonly #sums = new Map<string, { amount: Decimal; count: number }>();

  add(name: string, amount: Decimal): void {
    const { amount: before, count } = this.#sums.get(name) ?? { amount: Decimal.zero, count: 0 };
    this.#sums.set(name, { amount: before.plus(amount), count: count + 1 });
  }

  balances(): Figures {
    const entries = [...this.#sums].filter(([, { amount }]) => amount.sign !== 0);
    return Object.fromEntries(entries.map(([name, { amount }]) => [name, amount.fixed(2)]));
  }

  counted(): Figures {
    const entries = [...this.#sums].map(([name, { amount, count }]) => [
      name,
      `${count}: ${amount.fixed(2)}`,
    ]);
    return Object.fromEntries(entries);
  }
}

const OWED = ["1200", "2100"];

/** Debit less credit of every account; receivables and payables by party too. */
export async function balances({ tryton }: Site): Promise<Figures> {
  const sums = new Sums();
  const posted = [["move.state", "=", "posted"]];
  const fields = ["account.code", "party.code", "debit", "credit"] as const;
  for (const row of await tryton.rows<LedgerRow>("account.move.line", posted, ...fields)) {
    const { code } = row["account."];
    const amount = exact(row.debit).minus(exact(row.credit));
    sums.add(`account ${code}`, amount);
    if (OWED.includes(code)) sums.add(`${code} of ${row["party."]?.code}`, amount);
  }
  return sums.balances();
}

interface LedgerRow {
  readonly "account.": { readonly code: string };
  readonly "party.": { readonly code: string } | null;
  readonly debit: Decimal | number;
  readonly credit: Decimal | number;
}

export interface BookedInvoice {
  readonly id: number;
  readonly number: string | null;
  readonly type: "out" | "in";
  readonly state: string;
  readonly invoice_date: string;
  readonly total_amount: Decimal | number;
  readonly comment: string | null;
  readonly "party.": { readonly code: string };
}

/** Every invoice there is, whatever its state. */
export const bookedInvoices = (tryton: Rpc): Promise<BookedInvoice[]> =>
  tryton.rows<BookedInvoice>(
    "account.invoice",
    [],
    "number",
    "type",
    "state",
    "invoice_date",
    "total_amount",
    "comment",
    "party.code",
  );

/** Posted invoices by kind, month and party. What was taken back, and the credit note that did it, count for nothing. */
export async function invoicesByMonth({ tryton }: Site): Promise<Figures> {
  const sums = new Sums();
  for (const invoice of await bookedInvoices(tryton)) {
    if (invoice.state !== "posted" && invoice.state !== "paid") continue;
    const month = invoice.invoice_date.slice(0, 7);
    const total = exact(invoice.total_amount);
    if (total.sign >= 0) sums.add(`${invoice.type} ${month} ${invoice["party."].code}`, total);
  }
  return sums.counted();
}

/** SQLite's driver makes numbers of some. */
const exact = (value: Decimal | number): Decimal =>
  value instanceof Decimal ? value : Decimal.of(String(value));

/** What the platform holds, and the tables of the site. */
export type Side = Pick<Site, "records" | "companyId" | "folder">;

export interface Expected {
  readonly balances: Figures;
  readonly invoicesByMonth: Figures;
}

/**
 * @param asBooked records that are in quarantine: as they were when they were booked, or null when they never were
 * @param own what was made in Tryton: it is in the books, and the platform's records of it are its echoes
 */
export async function expected(
  site: Side,
  asBooked: ReadonlyMap<string, Members | null>,
  own: readonly OwnInvoice[],
): Promise<Expected> {
  const table = tablesOf(site);
  const ledger = new Sums();
  const invoices = new Sums();
  const debts = new Map<string, Debt>();
  const book = (account: string, amount: Decimal): void => ledger.add(`account ${account}`, amount);
  const numbers = new Set(own.map((one) => one.number));

  /** Debit is positive on our side of a sale; everything is the other way round for what we owe. */
  function owe(type: "out" | "in", party: string, date: string, total: Decimal): Debt {
    const [account, sign] = type === "out" ? ["1200", ONE] : ["2100", ONE.negated()];
    const change = (amount: Decimal): void => {
      book(account, sign.times(amount));
      ledger.add(`${account} of ${party}`, sign.times(amount));
    };
    change(total);
    invoices.add(`${type} ${date.slice(0, 7)} ${party}`, total);
    const debt: Debt = {
      rest: total,
      for: (code, amount) => book(code, sign.times(amount).negated()),
      pay(amount) {
        change(amount.negated());
        book("1000", sign.times(amount));
        debt.rest = debt.rest.minus(amount);
      },
    };
    return debt;
  }

  const records = (await site.records("invoices")).flatMap((now) => {
    const was = asBooked.get(text(now["id"]));
    return was === undefined ? [now] : was === null ? [] : [was];
  });
  for (const invoice of records) {
    const type = sideOf(site, invoice);
    if (type === null || UNFINISHED.has(text(invoice["status"]))) continue;
    if (type === "out" && numbers.has(text(invoice["invoiceNumber"]))) continue;
    const [column, fuel, party] =
      type === "out"
        ? ([
            "sales",
            "4000",
            table("customers", text(invoice["payerCompanyId"]), "account"),
          ] as const)
        : (["purchases", "5000", table("vendors", text(invoice["companyId"]), "account")] as const);
    const debt = owe(type, party, dayOf(text(invoice["createdAt"])), number(invoice["total"]));
    debts.set(text(invoice["id"]), debt);
    for (const { product, gallons, rate, amount } of invoice["lineItems"] as Members[]) {
      const charge = product === null || gallons === null || rate === null;
      debt.for(charge ? table("charge-accounts", "charge", column) : fuel, number(amount));
    }
    for (const { taxType, amount } of invoice["taxLines"] as Members[])
      debt.for(table("tax-accounts", text(taxType), column), number(amount));
  }
  for (const { id, status, invoiceId, amount } of await site.records("payments"))
    if (status === "SUCCEEDED" && !asBooked.has(text(id)))
      debts.get(text(invoiceId))?.pay(number(amount));
  for (const { id, status } of records) {
    const debt = debts.get(text(id));
    if (status === "PAID") debt?.pay(debt.rest);
  }
  for (const { party, date, total, paid } of own) {
    const debt = owe("out", party, date, total);
    debt.for("4000", total);
    if (paid) debt.pay(total);
  }
  return { balances: ledger.balances(), invoicesByMonth: invoices.counted() };
}

interface Debt {
  rest: Decimal;
  /** What it is for: the other side of the entry. */
  for(account: string, amount: Decimal): void;
  pay(amount: Decimal): void;
}

const ONE = Decimal.of("1");
const UNFINISHED = new Set(["DRAFT", "VOID"]);

/** `out`: we issued it; `in`: we must pay it; null: it is not ours. */
export const sideOf = (
  { companyId }: Pick<Site, "companyId">,
  invoice: Members,
): "out" | "in" | null =>
  invoice["companyId"] === companyId
    ? "out"
    : invoice["payerCompanyId"] === companyId
      ? "in"
      : null;

/** A cell of a cross-reference table: the row whose first cell is `key`. */
function tablesOf(site: Pick<Site, "folder">) {
  const tables = new Map<string, Map<string, Record<string, string>>>();
  const load = (name: string) => {
    const file = readFileSync(join(site.folder, "config", "crossref", `${name}.csv`), "utf8");
    const rows = parse<Record<string, string>>(file, { columns: true, bom: true });
    return new Map(rows.map((row) => [Object.values(row)[0] ?? "", row]));
  };
  return (name: string, key: string, column: string): string => {
    const table = tables.get(name) ?? load(name);
    tables.set(name, table);
    const cell = table.get(key)?.[column];
    if (cell === undefined) throw new Error(`${name}.csv has no ${column} for ${key}`);
    return cell;
  };
}

const CALENDAR = new Intl.DateTimeFormat("sv-SE", { timeZone: "America/Chicago" });
/** The day that it is in the company's books. */
export const dayOf = (instant: string): string => CALENDAR.format(new Date(instant));
/** Asked anew for each entry: a test may run past midnight, and numbers go up with their days. */
export const today = (): string => CALENDAR.format(new Date());

export const number = (value: Json | undefined): Decimal => {
  if (value instanceof Decimal) return value;
  throw new Error(`${JSON.stringify(value)} is no number`);
};
export const text = (value: Json | undefined): string => {
  if (typeof value === "string") return value;
  throw new Error(`${JSON.stringify(value)} is no text`);
};
