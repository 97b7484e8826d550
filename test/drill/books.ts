/**
 * The ERP of a drill: it makes customers, invoices and prices from a seed, exports them as an ERP does (whole files,
 * lists that say again what they said before), and knows to the cent what the platform must hold in the end.
 */
import { mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Decimal } from "../../src/core/decimal.ts";
import type { Habits } from "./readings.ts";
import type { Random } from "../../src/sandbox/scenes/random.ts";

export interface Bill {
  /** What the ERP keeps it by: its first number. */
  readonly id: string;
  readonly number: string;
  readonly customer: string;
  readonly subtotal: Decimal;
  readonly tax: Decimal;
  readonly total: Decimal;
  /** Amounts of the lines, in their order. */
  readonly lines: readonly Line[];
}

export interface Line {
  readonly product: string;
  readonly gallons: number;
  readonly rate: string;
  readonly amount: Decimal;
}

export interface Party {
  readonly code: string;
  readonly name: string;
}

/** An invoice that was made on the platform: the ERP must import it once. */
export interface Sale {
  readonly number: string;
  /** It is committed three days late: its times of creation and change lie before what was walked. */
  readonly isLate: boolean;
  readonly subtotal: Decimal;
  readonly tax: Decimal;
  readonly lines: readonly Line[];
}

/** ERP code, and the platform's name of it (config/crossref/products.csv). */
export const PRODUCTS = [
  ["ULSD-CLR", "ULSD-CLR"],
  ["ULSD-DYE", "ULSD-DYE"],
  ["087", "UNL-87"],
  ["089", "UNL-89"],
  ["093", "UNL-93"],
  ["E10-87", "E10-87"],
  ["KERO-K1", "KERO-K1"],
  ["DEF", "DEF-32"],
] as const;

type Cell = string | number;
/** By column; what is left out is empty. */
type Row = Readonly<Record<string, Cell>>;

export class Books {
  readonly customers: readonly Party[];
  readonly suppliers: readonly Party[];
  readonly #sales: Sale[];
  readonly #bills: Bill[];
  /** New number → old number, of bills that were renumbered. */
  readonly renumbered = new Map<string, string>();
  readonly #prices: string[];
  readonly #random: Random;
  readonly #folder: string;
  readonly #portions: number;
  readonly #habits: Habits;
  #exports = 0;
  #priceLists = 0;

  /**
   * Of `documents`, two in twenty are customers, one a supplier, one an invoice of the platform's own, and five are
   * prices; they are exported in `portions`.
   */
  constructor(random: Random, folder: string, documents: number, portions: number, habits: Habits) {
    const customers = Math.max(2, Math.round(documents * 0.1));
    const suppliers = Math.max(2, Math.round(documents * 0.05));
    const sales = Math.max(2, Math.round(documents * 0.05));
    const prices = Math.round(documents * 0.25);
    this.#random = random;
    this.#folder = folder;
    this.#portions = portions;
    this.#habits = habits;
    this.customers = Array.from({ length: customers }, (_, at) => party("D", at));
    this.suppliers = Array.from({ length: suppliers }, (_, at) => ({
      ...party("S", at),
      ...(habits.sharedCodes ? { code: `D${at}` } : {}),
    }));
    this.#sales = Array.from({ length: sales }, (_, at) => ({
      ...sale(random, at),
      isLate: habits.lateCommits && at % 3 === 1,
    }));
    const bills = documents - customers - suppliers - sales - prices;
    // Some are for customers that are exported only later: they wait for them.
    const known = (at: number): number =>
      Math.min(customers, Math.ceil(customers * (at / bills + 2 / portions)));
    this.#bills = Array.from({ length: bills }, (_, at) =>
      bill(random, at, random.pick(this.customers.slice(0, known(at))).code),
    );
    this.#prices = Array.from({ length: prices }, () => price(random));
    mkdirSync(folder, { recursive: true });
  }

  get bills(): readonly Bill[] {
    return this.#bills;
  }

  get sales(): readonly Sale[] {
    return this.#sales;
  }

  get isExported(): boolean {
    return this.#exports >= this.#portions;
  }

  /** `terminal product` → the price that was exported last. */
  get prices(): ReadonlyMap<string, string> {
    return new Map(
      this.#prices.map((value, at) => {
        const [, product] = productAt(at);
        return [`${terminalAt(at)} ${product}`, value];
      }),
    );
  }

  /**
   * All parties and prices of now, the next invoices, and some older ones again as paid. Returns the invoices that the
   * platform makes by itself meanwhile.
   */
  exportNext(): readonly Sale[] {
    const at = this.#exports++;
    const upTo = (all: number): number => Math.ceil((all * (at + 1)) / this.#portions);
    this.exportPrices();
    const before = Math.ceil((this.bills.length * at) / this.#portions);
    const again = [...this.#bills.slice(0, before).keys()]
      .filter(() => this.#random.chance(0.05))
      .map((one) => this.#again(one));
    const fresh = this.bills.slice(before, upTo(this.bills.length));
    const heads = [
      ...again.map((one) => headRow(one, true)),
      ...fresh.map((one) => headRow(one, false)),
    ];
    const bills = [...again, ...fresh];
    const stamp = String(at).padStart(4, "0");
    this.#write(`customer-invoice-taxes-${stamp}`, TAX_COLUMNS, bills.map(taxRow));
    this.#write(`customer-invoice-lines-${stamp}`, LINE_COLUMNS, bills.flatMap(lineRows));
    this.#write(`customer-invoices-${stamp}`, HEAD_COLUMNS, heads);
    const known = this.customers.slice(0, upTo(this.customers.length));
    this.#writeList(
      `customers-${stamp}`,
      `${PARTY_COLUMNS},Customer Payment Term`,
      known.map(partyRow),
    );
    const vendors = this.suppliers.slice(0, upTo(this.suppliers.length));
    this.#writeList(
      `suppliers-${stamp}`,
      `${PARTY_COLUMNS},Supplier Payment Term`,
      vendors.map(partyRow),
    );
    const sold = Math.ceil((this.sales.length * at) / this.#portions);
    return this.sales.slice(sold, upTo(this.sales.length));
  }

  /** A bill that is exported once more: now and then under another number, once. */
  #again(at: number): Bill {
    const bill = this.#bills[at] as Bill;
    if (!this.#habits.renumbering || bill.number !== bill.id || !this.#random.chance(0.4))
      return bill;
    const number = bill.id.replace("DRILL", "ANEW");
    this.renumbered.set(number, bill.number);
    return (this.#bills[at] = { ...bill, number });
  }

  /** Some of the platform's invoices that are there already get another number, each once. */
  renumberSales(): readonly (readonly [old: string, number: string])[] {
    const there = Math.ceil((this.#sales.length * this.#exports) / this.#portions);
    if (!this.#habits.renumbering) return [];
    return this.#sales.slice(0, there).flatMap((sale, at) => {
      if (sale.number.endsWith("-N") || !this.#random.chance(0.05)) return [];
      const number = `${sale.number}-N`;
      this.#sales[at] = { ...sale, number };
      return [[sale.number, number] as const];
    });
  }

  /** Each price changes with one chance in three; of a few values, so that some come back. */
  exportPrices(): void {
    const random = this.#random;
    for (const at of this.#prices.keys()) if (random.chance(0.33)) this.#prices[at] = price(random);
    const rows = this.#prices.map((value, at): Row => {
      const line = at % PRODUCTS.length;
      const list = { ID: terminalAt(at), Name: terminalAt(at), "Tax Included": "0" };
      const row = { "Lines/Sequence": line + 1, "Lines/Product/Code": productAt(at)[0] };
      return { ...(line === 0 ? list : {}), ...row, "Lines/Formula": value };
    });
    this.#writeList(
      `price-lists-${String(this.#priceLists++).padStart(6, "0")}`,
      PRICE_COLUMNS,
      rows,
    );
  }

  /** What was taken is dropped again, under the names it had: after a restored backup nobody else has it. */
  exportAgain(): void {
    const archive = join(this.#folder, "archive");
    for (const name of readdirSync(archive))
      renameSync(join(archive, name), join(this.#folder, name.replace(/\.[0-9a-f]{8}(?=\.)/, "")));
  }

  /** Whole; before it, now and then, one that ends behind a third of its rows. */
  #writeList(name: string, columns: string, rows: readonly Row[]): void {
    if (this.#habits.shrinkingLists && this.#random.chance(0.3))
      this.#write(`${name}-a`, columns, rows.slice(0, Math.ceil(rows.length / 3)));
    this.#write(`${name}-b`, columns, rows);
  }

  #write(name: string, columns: string, rows: readonly Row[]): void {
    const lines = rows.map((row) =>
      columns
        .split(",")
        .map((column) => quoted(row[column] ?? ""))
        .join(","),
    );
    const path = join(this.#folder, `${name}.csv`);
    writeFileSync(`${path}.tmp`, [columns, ...lines, ""].join("\r\n"));
    renameSync(`${path}.tmp`, path);
  }
}

/** Some have the name of another, and many a name that another one's name begins with. */
function party(letter: "D" | "S", at: number): Party {
  const kind = letter === "D" ? "Farms" : "Supply";
  const name = at % 9 === 4 ? `Twin ${kind}` : `Drill ${kind} ${at}`;
  return { code: `${letter}${at}`, name };
}

function sale(random: Random, at: number): Sale {
  const { subtotal, tax, lines } = bill(random, at, "");
  return { number: `PLATFORM-${1_000 + at}`, isLate: false, subtotal, tax, lines };
}

/** Every seventh number begins with the number before it: a search for that one finds both. */
function bill(random: Random, at: number, customer: string): Bill {
  const number = at % 7 === 6 ? `DRILL-${1_000 + at - 1}A` : `DRILL-${1_000 + at}`;
  const lines = Array.from({ length: random.int(1, 3) }, () => {
    const rate = `${random.int(1, 4)}.${random.digits(random.int(3, 6))}`;
    const gallons = random.int(100, 9_000);
    const amount = Decimal.of(rate)
      .times(Decimal.of(String(gallons)))
      .round(2);
    return { product: random.pick(PRODUCTS)[0], gallons, rate, amount };
  });
  const subtotal = Decimal.sum(lines.map(({ amount }) => amount));
  const tax = Decimal.of(`${random.int(0, 900)}.${random.digits(2)}`);
  return { id: number, number, customer, subtotal, tax, total: subtotal.plus(tax), lines };
}

const price = (random: Random): string => `${random.int(1, 3)}.${random.int(10, 99)}`;
const productAt = (at: number) => PRODUCTS[at % PRODUCTS.length] ?? PRODUCTS[0];
const terminalAt = (at: number): string =>
  `T-75-TX-${String(2_000 + Math.floor(at / PRODUCTS.length))}`;

const PARTY_COLUMNS =
  "ID,Code,Name,Phone,Mobile,E-Mail,Addresses/Building Name,Addresses/Street,Addresses/Postal Code," +
  "Addresses/City,Addresses/Subdivision/Code,Addresses/Country/Code";
const HEAD_COLUMNS =
  "ID,Number,Reference,Description,State,Invoice Date,Party/Code,Party,Currency/Code,Payment Term," +
  "Lines to Pay/Maturity Date,Untaxed,Tax,Total,Amount to Pay,Reconciled,Comment,Edited at";
const LINE_COLUMNS =
  "ID,Invoice/ID,Invoice/Number,Sequence,Type,Product/Code,Product/Product Template/Name,Description," +
  "Quantity,Unit/Symbol,Unit Price,Amount";
const TAX_COLUMNS = "ID,Invoice/ID,Invoice/Number,Sequence,Description,Tax,Base,Amount,Manual";
const PRICE_COLUMNS =
  "ID,Name,Unit,Tax Included,Lines/Sequence,Lines/Product/Code,Lines/Product,Lines/Category," +
  "Lines/Quantity,Lines/Formula,Edited at,Created at";

const partyRow = ({ code, name }: Party): Row => ({
  ID: code.slice(1),
  Code: code,
  Name: name,
  "Addresses/Street": "1 Drill Road",
  "Addresses/Postal Code": "77001",
  "Addresses/City": "Houston",
  "Addresses/Subdivision/Code": "US-TX",
  "Addresses/Country/Code": "US",
});

const headRow = ({ id, number, customer, subtotal, tax, total }: Bill, isPaid: boolean): Row => ({
  ID: id,
  Number: number,
  State: isPaid ? "paid" : "posted",
  "Invoice Date": "11/21/2026",
  "Party/Code": customer,
  "Currency/Code": "USD",
  Untaxed: subtotal.fixed(2),
  Tax: tax.fixed(2),
  Total: total.fixed(2),
  "Amount to Pay": isPaid ? "0" : total.fixed(2),
  Reconciled: isPaid ? "11/22/2026" : "",
});

const lineRows = ({ id, number, lines }: Bill): Row[] =>
  lines.map(({ product, gallons, rate, amount }, at) => ({
    ID: `${id}-${at}`,
    "Invoice/ID": id,
    "Invoice/Number": number,
    Sequence: at + 1,
    Type: "line",
    "Product/Code": product,
    Description: `Fuel ${at}`,
    Quantity: gallons,
    "Unit/Symbol": "gal",
    "Unit Price": rate,
    Amount: amount.fixed(2),
  }));

const taxRow = ({ id, number, tax }: Bill): Row => ({
  ID: `${id}-t`,
  "Invoice/ID": id,
  "Invoice/Number": number,
  Description: "State Tax",
  Tax: "State Tax",
  Amount: tax.fixed(2),
});

const quoted = (cell: Cell): string => `"${String(cell).replaceAll('"', '""')}"`;
