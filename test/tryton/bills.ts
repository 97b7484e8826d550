/** What happens on the platform to invoices that are in the books. */
import type { Site } from "./site.ts";

/** An invoice as the control interface shows and takes it. */
export interface Bill {
  readonly id: string;
  readonly companyId: string;
  readonly payerCompanyId: string;
  readonly invoiceNumber: string;
  readonly status: string;
  readonly subtotal: number;
  readonly total: number;
  readonly lineItems: readonly { readonly amount: number }[];
}

/** Those that came from the platform and that nobody has paid. */
export async function bookedOf(
  site: Pick<Site, "control" | "companyId">,
  type: "out" | "in",
): Promise<Bill[]> {
  const field = type === "out" ? "companyId" : "payerCompanyId";
  const bills = (await site.control.stored("invoices")) as unknown as Bill[];
  return bills.filter(
    (one) =>
      one[field] === site.companyId &&
      one.status === "OUTSTANDING" &&
      !one.invoiceNumber.startsWith("INV-"),
  );
}

/** A payment that went through, of a part or of all. */
export async function pay({ control }: Pick<Site, "control">, bill: Bill, part = 1): Promise<void> {
  const amount = Math.round(bill.total * part * 100) / 100;
  const paidAt = new Date().toISOString();
  await control.records("payments", [
    {
      ownerCompanyId: bill.companyId,
      invoiceId: bill.id,
      amount,
      method: "ACH",
      reference: "ACH-471147",
      status: "SUCCEEDED",
      paidAt,
    },
  ]);
}

export function oneCentMore({ subtotal, total, lineItems }: Bill): Record<string, unknown> {
  const more = (amount: number): number => Math.round(amount * 100 + 1) / 100;
  const [line, ...rest] = lineItems;
  return {
    subtotal: more(subtotal),
    total: more(total),
    lineItems: [{ ...line, amount: more(line?.amount ?? 0) }, ...rest],
  };
}
