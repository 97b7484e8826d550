/** What people of the office enter in Tryton by hand. */
import { Decimal } from "../../src/core/decimal.ts";
import { day, payForm, type Rpc } from "./rpc.ts";

/** A customer has terms with us; one that carries the platform's id of its company is known there. */
export async function newCustomer(
  tryton: Rpc,
  code: string,
  name: string,
  companyId: string | null = null,
): Promise<number> {
  const term = await tryton.one("account.invoice.payment_term", "name", "Net 30");
  return tryton.create("party.party", {
    code,
    name,
    customer_payment_term: term,
    addresses: [["create", [{ street: "12 Gin Road", city: "Seguin" }]]],
    ...(companyId === null ? {} : { identifiers: [["create", [{ code: companyId }]]] }),
  });
}

/** An invoice that was made in Tryton: one line of diesel. */
export interface OwnInvoice {
  readonly id: number;
  readonly number: string;
  readonly party: string;
  readonly date: string;
  readonly total: Decimal;
  readonly paid: boolean;
}

/** Made and posted, with Tryton's own number. */
export async function newInvoice(
  tryton: Rpc,
  party: string,
  date: string,
  [gallons, price]: readonly [string, string],
  more: object = {},
): Promise<OwnInvoice> {
  const [company] = await tryton.call<[number]>("company.company.search", [], 0, 1, null);
  const partyId = await tryton.one("party.party", "code", party);
  const total = Decimal.of(gallons).times(Decimal.of(price)).round(2);
  const line = {
    type: "line",
    product: await tryton.one("product.product", "code", "ULSD-CLR"),
    quantity: Number(gallons),
    unit: await tryton.one("product.uom", "symbol", "gal"),
    unit_price: Decimal.of(price),
    account: await tryton.one("account.account", "code", "4000"),
    description: "ULSD, cash and carry",
  };
  const id = await tryton.create("account.invoice", {
    type: "out",
    company,
    party: partyId,
    invoice_address: await tryton.one("party.address", "party.code", party),
    currency: await tryton.one("currency.currency", "code", "USD"),
    journal: await tryton.one("account.journal", "code", "REV"),
    account: await tryton.one("account.account", "code", "1200"),
    invoice_date: day(date),
    payment_term: await tryton.one("account.invoice.payment_term", "name", "Net 30"),
    lines: [["create", [line]]],
    ...more,
  });
  await tryton.call("account.invoice.post", [id]);
  const [row] = await tryton.rows<{ number: string }>(
    "account.invoice",
    [["id", "=", id]],
    "number",
  );
  return { id, number: (row as { number: string }).number, party, date, total, paid: false };
}

/** All that is open of it, at the counter. */
export async function settle(tryton: Rpc, invoice: number, date: string): Promise<void> {
  const [row] = await tryton.rows<{
    company: number;
    account: number;
    party: number;
    amount_to_pay: Decimal;
  }>("account.invoice", [["id", "=", invoice]], "company", "account", "party", "amount_to_pay");
  const start = {
    company: row?.company,
    currency: await tryton.one("currency.currency", "code", "USD"),
    ...payForm(row?.party),
    invoice_account: row?.account,
    amount: row?.amount_to_pay,
    payment_method: await tryton.one("account.invoice.payment.method", "name", "Bank transfer"),
    date: day(date),
    description: "check 1047, at the counter",
  };
  await tryton.wizard("account.invoice.pay", "choice", start, ["account.invoice", invoice]);
}

/** A price list is named after its terminal; prices by product code. */
export async function newPriceList(
  tryton: Rpc,
  name: string,
  prices: Readonly<Record<string, string>>,
): Promise<void> {
  const [company] = await tryton.call<[number]>("company.company.search", [], 0, 1, null);
  const lines: object[] = [];
  for (const [code, formula] of Object.entries(prices))
    lines.push({ product: await tryton.one("product.product", "code", code), formula });
  await tryton.create("product.price_list", { name, company, lines: [["create", lines]] });
}

export async function newPrice(tryton: Rpc, code: string, formula: string): Promise<void> {
  const line = await tryton.one("product.price_list.line", "product.code", code);
  await tryton.call("product.price_list.line.write", [line], { formula });
}
