/** Payment of our invoices, as far as the platform takes it: paid in full (specification part 4, mark-paid). */
import type { Outgoing, Sink } from "../../core/contract.ts";
import { parseExact } from "../../core/json.ts";
import type { Finding } from "../../core/outcome.ts";
import { PaidInvoice } from "../contract/documents.ts";
import { ListedInvoice, MarkPaid } from "../contract/invoice.ts";
import { pathOf, targetOf } from "../contract/operations.ts";
import { payments, settledIn } from "./policy.ts";
import { isSameInstant, reading, recordAt } from "./read-back.ts";
import { accepted, idIn, type Surroundings, writeSink } from "./write.ts";

export function markPaid(surroundings: Surroundings): Sink {
  return writeSink(surroundings, {
    operation: "invoice.mark-paid",
    writes: "create",
    itemsMax: 1,
    policy: settledIn(payments, surroundings.settleMs),
    write([item]) {
      const { invoiceId, ...body } = accepted(PaidInvoice, item?.document);
      return { target: targetOf("markInvoicePaid", invoiceId), body };
    },
    find: (request) => reading(() => find(surroundings, request)),
  });
}

/** An invoice that is void or in dispute is never marked: a person decides. */
async function find(surroundings: Surroundings, request: Outgoing): Promise<Finding> {
  const { paidAt } = MarkPaid.parse(parseExact(request.body));
  const id = idIn(request);
  const invoice = await recordAt(surroundings, pathOf("getInvoice", id), ListedInvoice);
  if (invoice === null) return { found: "none", detail: `no invoice ${id}` };
  const { status, invoiceNumber: number } = invoice;
  const detail = `invoice ${number} is ${status}`;
  if (status === "VOID" || status === "DISPUTED") return { found: "different", detail };
  if (status !== "PAID") return { found: "none", detail };
  return paidAt === undefined || isSameInstant(paidAt, invoice.paidAt ?? "")
    ? { found: "exact", ids: [id], detail }
    : { found: "none", detail: `${detail} at ${invoice.paidAt}, not at ${paidAt}` };
}
