/** Invoices from the ERP (specification part 4, POST /invoices). */
import type { Outgoing, Sink } from "../../core/contract.ts";
import { Decimal } from "../../core/decimal.ts";
import { type Json, parseExact } from "../../core/json.ts";
import type { Finding } from "../../core/outcome.ts";
import { CreateInvoice } from "../contract/invoice.ts";
import { money, settledIn } from "./policy.ts";
import { listAll, reading, type Surroundings, writeSink } from "./write.ts";

export function invoices(surroundings: Surroundings): Sink {
  return writeSink(surroundings, {
    operation: "invoice.create",
    writes: "create",
    itemsMax: 1,
    policy: settledIn(money, surroundings.settleMs),
    path: "/invoices",
    body: CreateInvoice,
    wrap: ([item]) => item?.document,
    ids: (data) => {
      const id = (data as { id?: unknown } | undefined)?.id;
      return typeof id === "string" ? [id] : null;
    },
    find: (request) => reading(() => find(surroundings, request)),
  });
}

type Members = Readonly<Record<string, Json>>;

/**
 * By invoice number, compared with what we froze. Numbers are not said to be unique, so the amounts, the payer and
 * the lines must agree too; the same number with others is for a person.
 */
async function find(surroundings: Surroundings, request: Outgoing): Promise<Finding> {
  const ours = parseExact(request.body) as Members;
  const number = String(ours["invoiceNumber"]);
  const query = { role: "issuer", search: number, pageSize: "100" };
  const exact: string[] = [];
  let other: string | null = null;
  for await (const invoice of listAll(surroundings, "/invoices", query)) {
    if (invoice["invoiceNumber"] !== number) continue;
    const difference = differs(ours, invoice);
    if (difference === null) exact.push(String(invoice["id"]));
    else other = `${String(invoice["id"])}: ${difference}`;
  }
  const [first] = exact;
  if (exact.length > 1)
    return { found: "several", detail: `invoice ${number} is there as ${exact.join(" and ")}` };
  if (first !== undefined)
    return { found: "exact", ids: [first], detail: `invoice ${number} is ${first}` };
  if (other !== null)
    return { found: "different", detail: `invoice number ${number} is used by ${other}` };
  return { found: "none", detail: `no invoice ${number}` };
}

/** In what a platform invoice differs from the frozen one; null when in nothing that we can see. */
function differs(ours: Members, theirs: Members): string | null {
  for (const field of ["total", "subtotal", "tax"])
    if (!amount(ours[field]).equals(amount(theirs[field])))
      return `${field} ${amount(theirs[field]).text} instead of ${amount(ours[field]).text}`;
  const payer = ours["payerCompanyId"] ?? null;
  if (payer !== (theirs["payerCompanyId"] ?? null)) return "another payer";
  const lines = theirs["lineItems"];
  const count = (ours["lineItems"] as readonly Json[]).length;
  if (Array.isArray(lines) && lines.length !== count)
    return `${lines.length} lines instead of ${count}`;
  return null;
}

const amount = (value: Json | undefined): Decimal =>
  value instanceof Decimal ? value : Decimal.zero;
