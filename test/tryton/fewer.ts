/** Less work than the demo's month is, and what it comes to. */
import { isLongRun, runs } from "../support/runs.ts";
import { isHalf } from "../support/tryton-releases.ts";
import type { Site } from "./site.ts";

/** The others are drafts, and their payments have failed. */
export async function leaveAFew({ control }: Site): Promise<void> {
  // Orders and tickets are one document in one call each, and their totals are in no account: a few will do.
  for (const [resource, order] of [
    ["orders", "id"],
    ["delivery-tickets", "orderId"],
  ] as const)
    for (const row of await control.stored(resource, "supplier"))
      if (!(row[order] as string).startsWith("a")) await control.patch(resource, row["id"], DRAFT);
  if (isLongRun) return;
  const isKept = (id: unknown): boolean => (isHalf ? /^0/ : /^[01]/).test(id as string);
  for (const { id } of await control.stored("invoices"))
    if (!isKept(id)) await control.patch("invoices", id, DRAFT);
  for (const { id, invoiceId } of await control.stored("payments"))
    if (!isKept(invoiceId)) await control.patch("payments", id, { status: "FAILED" });
}

const DRAFT = { status: "DRAFT" };

/** `half`: where the ordinary run takes half of what it takes elsewhere. */
const counted = (half: number, ordinary: number, long: number): number =>
  isHalf ? half : runs(ordinary, long);

/** The whole month's invoices and payments in the long run, an eighth or less of them in the ordinary one. */
export const ISSUED = {
  received: 240,
  delivered: counted(6, 26, 227),
  skipped: counted(234, 214, 13),
  quarantined: 0,
};
export const FROM_PLATFORM = {
  "invoices-issued": ISSUED,
  "invoices-payable": {
    // Another company's drafts are not shown to us.
    received: counted(3, 8, 60),
    delivered: counted(2, 7, 59),
    skipped: 1,
    quarantined: 0,
  },
  "payments-received": {
    received: 158,
    delivered: counted(2, 12, 133),
    skipped: counted(156, 146, 25),
    quarantined: 0,
  },
  "payments-made": {
    received: counted(2, 4, 44),
    delivered: counted(2, 4, 41),
    skipped: runs(0, 3),
    quarantined: 0,
  },
};
