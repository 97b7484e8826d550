/** What happens on the platform to invoices that are in the books. */
import type { Members, Site } from "./site.ts";

/** An invoice as the control interface shows and takes it. */
export interface Bill {
  readonly id: string;
  readonly companyId: string;
  readonly payerCompanyId: string;
  readonly invoiceNumber: string;
  readonly status: string;
  readonly subtotal: number;
  readonly total: number;
  readonly lineItems: readonly {
    readonly gallons: number | null;
    readonly rate: number | null;
    readonly amount: number;
  }[];
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
async function pay({ control }: Pick<Site, "control">, bill: Bill, part = 1): Promise<void> {
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

/** A cent apart, on the side where the line's amount is still that of its gallons and rate (rule I1). */
function oneCentApart({ subtotal, total, lineItems }: Bill): Record<string, unknown> {
  const [line, ...rest] = lineItems;
  const { gallons, rate, amount = 0 } = line ?? {};
  const cent = (gallons ?? 0) * (rate ?? 0) < amount ? -1 : 1;
  const more = (sum: number): number => Math.round(sum * 100 + cent) / 100;
  return {
    subtotal: more(subtotal),
    total: more(total),
    lineItems: [{ ...line, amount: more(amount) }, ...rest],
  };
}

/** Invoices that are in the books, by what becomes of each on the platform. */
export interface Changing {
  /** Paid by half. */
  readonly part: Bill;
  /** Paid by a payment. */
  readonly full: Bill;
  /** Said to be paid, and no payment comes. */
  readonly lone: Bill;
  /** Void. */
  readonly taken: Bill;
  readonly disputed: Bill;
  /** One cent more. */
  readonly corrected: Bill;
  /** A supplier's, which we pay. */
  readonly bill: Bill;
}

/** Does it. Records as they were of those that the books hold on to, by their ids. */
export async function changeOnPlatform(
  site: Pick<Site, "control" | "records">,
  { part, full, lone, taken, disputed, corrected, bill }: Changing,
): Promise<ReadonlyMap<string, Members>> {
  const { control } = site;
  const was = await site.records("invoices");
  const paidAt = new Date().toISOString();
  await pay(site, part, 0.5);
  await pay(site, full);
  await control.patch("invoices", full.id, { status: "PAID", paidAt });
  await control.patch("invoices", lone.id, { status: "PAID", paidAt });
  await control.patch("invoices", taken.id, { status: "VOID" });
  await control.patch("invoices", disputed.id, { status: "DISPUTED" });
  await control.patch("invoices", corrected.id, oneCentApart(corrected));
  await pay(site, bill);
  await control.patch("invoices", bill.id, { status: "PAID", paidAt });
  return new Map(
    [corrected, lone].map(({ id }) => [id, was.find((one) => one["id"] === id) as Members]),
  );
}
