/** What invoices we issue and invoices we pay have in common: amounts as the platform says, to the cent. */
import type { InvoiceDocument, Party } from "../../src/ledger/documents.ts";
import type { Figures, References, Skip } from "../../src/core/contract.ts";
import { Decimal } from "../../src/core/decimal.ts";
import { Refused } from "../../src/core/errors.ts";
import { type Invoice, invoiceStatuses } from "../../src/platform/contract/invoice.ts";
import { codeOf } from "../canonical/codes.ts";
import { inWholeCents } from "../canonical/invoice-body.ts";
import { joined, labelled, ledgerAccount, symbolOf } from "./codes.ts";
import { type ChargeOptions, dayOrNone } from "./company.ts";
import { statusOf } from "./statuses.ts";

type Type = InvoiceDocument["type"];
type Line = InvoiceDocument["lines"][number];
type LineItem = Invoice["lineItems"][number];

const STATUSES = {
  what: "invoice",
  known: invoiceStatuses,
  booked: { OUTSTANDING: "open", OVERDUE: "open", PAID: "paid", DISPUTED: "disputed" },
  ended: { VOID: "void" },
} as const;

/**
 * Notes stay on the platform: they change after posting (a payment may replace them), and the booked text does not.
 * @throws Refused, NotMapped
 */
export function booked(
  invoice: Invoice,
  references: References,
  options: ChargeOptions,
  type: Type,
  party: () => Party,
): InvoiceDocument | Skip {
  const kind = type === "out" ? "invoice" : "bill";
  const status = statusOf(references, { kind, ...STATUSES }, invoice);
  if (typeof status !== "string") return status;
  invoice.lineItems.forEach(expectPriced);
  const { lineItems, taxLines } = inWholeCents(invoice);
  return {
    id: invoice.id,
    number: invoice.invoiceNumber,
    party: party(),
    type,
    status,
    // The platform has no invoice date: the day it was made is taken.
    invoiceDate: references.dayOf(invoice.createdAt),
    dueDate: dayOrNone(references, invoice.dueDate),
    paidDate: invoice.paidAt === null ? null : references.dayOf(invoice.paidAt),
    // The platform says no more of when it became void than when it last changed.
    ...(status === "void" ? { endedDate: references.dayOf(invoice.updatedAt) } : {}),
    description:
      joined(labelled("PO", invoice.poNumber), labelled("contract", invoice.contractNumber)) ||
      null,
    lines: lineItems.map((line) => lineOf(line, references, options, type)),
    taxes: taxLines.map((tax) => ({
      account: ledgerAccount(references, "taxes", tax.taxType, type),
      description: tax.authority === null ? tax.taxType : `${tax.taxType} (${tax.authority})`,
      base: baseOf(tax.productRef, lineItems, invoice.subtotal),
      amount: tax.amount.round(2),
    })),
    subtotal: invoice.subtotal.round(2),
    tax: invoice.tax.round(2),
    total: invoice.total.round(2),
  };
}

/** Gallons of lines without a product (freight by the gallon) were counted where the fuel is. */
export const bookedFigures = ({ total, lines }: InvoiceDocument): Figures => ({
  amount: total,
  gallons: Decimal.sum(lines.map(({ unit, quantity }) => (unit === null ? ZERO : quantity))),
});

const ZERO = Decimal.zero;
const ONE = Decimal.of("1");
/** How far the platform lets an amount be from rate times gallons (specification part 4, rule I1). */
const CENT = Decimal.of("0.01");

/**
 * By product and gallons where it has them, and by the amount alone where it does not. Amounts are the platform's: it
 * rounds half cents as it likes, and what the books make of them is for the connector to compare.
 */
function lineOf(
  line: LineItem,
  references: References,
  { chargeAccount }: ChargeOptions,
  type: Type,
): Line {
  const amount = line.amount.round(2);
  const description = describe(line, references);
  const { product, gallons, rate } = line;
  if (product === null || gallons === null || gallons.sign === 0 || rate === null) {
    const account =
      product === null && chargeAccount !== undefined
        ? chargeAccount
        : ledgerAccount(references, "accounts", product ?? "charge", type);
    const alone = { product: null, account, quantity: ONE, unit: null, unitPrice: amount };
    return { ...alone, amount, description };
  }
  return {
    product: codeOf(references, "items", product),
    account: null,
    quantity: gallons,
    unit: symbolOf(references, "gal"),
    unitPrice: rate,
    amount,
    description,
  };
}

/** By the amount as the platform wrote it, before a fraction of a cent is rounded. @throws Refused */
function expectPriced({ amount, rate, gallons, product }: LineItem): void {
  if (product === null || gallons === null || gallons.sign === 0 || rate === null) return;
  const priced = gallons.times(rate);
  if (priced.minus(amount).abs().compare(CENT) <= 0) return;
  throw new Refused({
    code: "does-not-add-up",
    message: `a line of ${product} says ${amount.fixed(2)}, and ${gallons.text} gallons at ${rate.text} are ${priced.round(2).text}`,
    next: "Ask whoever issued it to correct it on the platform; the corrected version is delivered by itself.",
    field: "lineItems",
  });
}

/** As people look for it. Gallons and rate are said where they are no fields of the line. */
function describe(line: LineItem, references: References): string {
  const { gallons, rate } = line;
  const text = line.description.trim() || (line.product ?? "Charge");
  return joined(
    text,
    line.product === null ? labelled("gallons", gallons?.plain() ?? null) : null,
    line.product === null ? labelled("rate", rate?.plain() ?? null) : null,
    line.bolNumber !== null && text.includes(line.bolNumber)
      ? null
      : labelled("BOL", line.bolNumber),
    labelled("ticket", line.deliveryTicket),
    labelled("gross", line.grossGallons?.plain() ?? null, " gal"),
    labelled("net", line.netGallons?.plain() ?? null, " gal"),
    labelled("carrier", line.carrier),
    labelled("delivered", dayOrNone(references, line.deliveredDate)),
  );
}

/** The lines of the product that it taxes, or else all of them. */
function baseOf(
  productRef: string | null,
  lineItems: readonly LineItem[],
  subtotal: Decimal,
): Decimal {
  const taxed = lineItems.filter(({ product }) => product !== null && product === productRef);
  const base = taxed.length === 0 ? subtotal : Decimal.sum(taxed.map(({ amount }) => amount));
  return base.round(2);
}
