import { type Book, DAY, type RawRecord } from "./book.ts";
import { taxesOn } from "./catalog.ts";
import type { Load } from "./load.ts";
import { centsFor, dollars, halfEven, rateOf } from "./money.ts";
import type { Random } from "./random.ts";

export interface InvoiceFacts {
  readonly status: string;
  readonly age: number;
  readonly touched: number;
  readonly number: string;
  readonly payerCompanyId: string | null;
  readonly termsDays: number;
  readonly lines: readonly Line[];
  /** The state whose taxes are due; null for what is not taxed (freight). */
  readonly state: string | null;
  readonly orderId?: string | null;
  readonly notes?: string | null;
}

/** A line before it has an invoice. The amount is given in cents only where there are no gallons to multiply. */
export type Line =
  | {
      readonly load: Load;
      readonly rate: number;
      readonly deliveredAge: number;
      readonly at: Place;
    }
  | { readonly description: string; readonly gallons: number; readonly rate: number }
  | { readonly description: string; readonly cents: number };

interface Place {
  readonly location: string | null;
  readonly ticket: string | null;
  readonly carrier: string | null;
}

/** Lines are rounded to the cent one by one; subtotal, tax and total are sums of what stands on the lines. */
export function invoice(book: Book, facts: InvoiceFacts) {
  const { random } = book;
  const id = random.uuid();
  const lines = facts.lines.map((line) => lineItem(book, id, line));
  const taxes = facts.state === null ? [] : taxLines(book, id, facts.state, facts.lines);
  const subtotal = sum(lines);
  const tax = sum(taxes);
  return {
    id,
    companyId: book.owner,
    orderId: facts.orderId ?? null,
    invoiceNumber: facts.number,
    status: facts.status,
    subtotal: dollars(subtotal),
    tax: dollars(tax),
    total: dollars(subtotal + tax),
    dueDate: facts.status === "DRAFT" ? null : book.day(facts.age, facts.termsDays),
    paidAt: facts.status === "PAID" ? book.ago(Math.min(facts.touched, facts.age)) : null,
    notes: facts.notes ?? null,
    payerCompanyId: facts.payerCompanyId,
    contractNumber: random.chance(0.25) ? `K-${random.digits(5)}` : null,
    poNumber: random.chance(0.5) ? `PO-${random.digits(5)}` : null,
    lineItems: lines.map((line) => line.item),
    taxLines: taxes.map((line) => line.item),
    ...book.stamps(facts.age, facts.touched),
  } satisfies RawRecord;
}

function lineItem(book: Book, invoiceId: string, line: Line) {
  const load = "load" in line ? line.load : null;
  const at = "load" in line ? line.at : null;
  const gallons = load ? Math.round(load.net) : "gallons" in line ? line.gallons : null;
  const cents = "cents" in line ? line.cents : centsFor(gallons ?? 0, line.rate);
  const item = {
    id: book.random.uuid(),
    invoiceId,
    description: load ? load.product.name : "description" in line ? line.description : "",
    product: load?.product.code ?? null,
    location: at?.location ?? null,
    spec: load?.product.spec ?? null,
    bolNumber: load?.bol ?? null,
    deliveryTicket: at?.ticket ?? null,
    carrier: at?.carrier ?? null,
    gallons,
    grossGallons: load ? Math.round(load.gross) : null,
    netGallons: load ? gallons : null,
    rate: "cents" in line ? null : rateOf(line.rate),
    rackPrice: load ? rateOf(load.cost) : null,
    margin: "load" in line ? rateOf(line.rate - line.load.cost) : null,
    amount: dollars(cents),
    deliveredDate: "load" in line ? book.ago(line.deliveredAge) : null,
  };
  return { item, cents };
}

/** One line for each product and tax, as a distributor prints them. */
function taxLines(book: Book, invoiceId: string, state: string, lines: readonly Line[]) {
  const fuel = lines.filter((line) => "load" in line);
  const kinds = new Set(fuel.map((line) => line.load.product));
  return [...kinds].flatMap((product) => {
    const same = fuel.filter((line) => line.load.product === product);
    const gallons = same.reduce((total, line) => total + Math.round(line.load.net), 0);
    const base = same.reduce(
      (total, line) => total + centsFor(Math.round(line.load.net), line.rate),
      0,
    );
    return taxesOn(product, state).map((tax) => {
      const perGallon = tax.per === "gallon";
      const cents = perGallon ? centsFor(gallons, tax.rate) : halfEven(base * tax.rate, 1_000_000);
      const item = {
        id: book.random.uuid(),
        invoiceId,
        taxType: tax.type,
        authority: tax.authority,
        productRef: product.code,
        rateDisplay: perGallon ? `$${rateOf(tax.rate)}/gal` : `${tax.rate / 10_000}%`,
        rate: rateOf(tax.rate),
        gallons: perGallon ? gallons : null,
        amount: dollars(cents),
      };
      return { item, cents };
    });
  });
}

const sum = (lines: readonly { cents: number }[]): number =>
  lines.reduce((total, line) => total + line.cents, 0);

/** What became of an invoice of that age: nothing is overdue before its day, nor outstanding after it. */
export function settled(
  random: Random,
  age: number,
  termsDays: number,
): "PAID" | "OVERDUE" | "OUTSTANDING" {
  const days = age / DAY;
  if (days > termsDays + 1) return random.chance(0.75) ? "PAID" : "OVERDUE";
  return days < termsDays - 1 && random.chance(0.8) ? "OUTSTANDING" : "PAID";
}

export interface PaymentFacts {
  readonly invoiceId: string;
  readonly cents: number;
  readonly status: string;
  readonly age: number;
}

export function payment(book: Book, facts: PaymentFacts) {
  const { random } = book;
  const method = random.pick(["ACH", "ACH", "WIRE", "CHECK", "CARD"]);
  return {
    id: random.uuid(),
    ownerCompanyId: book.owner,
    invoiceId: facts.invoiceId,
    amount: dollars(facts.cents),
    method,
    reference: random.chance(0.8) ? `${method}-${random.digits(6)}` : null,
    processorChargeId: method === "CARD" ? `ch_${random.digits(16)}` : null,
    status: facts.status,
    failureReason: facts.status === "FAILED" ? "Insufficient funds" : null,
    surchargeAmount: method === "CARD" ? dollars(halfEven(facts.cents * 25, 1000)) : null,
    paidAt: book.ago(facts.age),
    // Not shown; lists go by it.
    ...book.stamps(facts.age, facts.age),
  } satisfies RawRecord;
}
