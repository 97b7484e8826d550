/** Invoices from the ERP (specification part 4, POST /invoices). */
import type { Outgoing, Sink } from "../../core/contract.ts";
import { Decimal } from "../../core/decimal.ts";
import type { Fault } from "../../core/fault.ts";
import { parseExact } from "../../core/json.ts";
import { sameNumber } from "../../core/keys.ts";
import type { Finding } from "../../core/outcome.ts";
import { CreateInvoice, ListedInvoice } from "../contract/invoice.ts";
import { targetOf } from "../contract/operations.ts";
import { toDecimal } from "../contract/primitives.ts";
import { money, settledIn } from "./policy.ts";
import { foundIn, listAll, reading } from "./read-back.ts";
import { accepted, type Surroundings, writeSink } from "./write.ts";

export function invoices(surroundings: Surroundings): Sink {
  return writeSink(surroundings, {
    operation: "invoice.create",
    writes: "create",
    itemsMax: 1,
    policy: settledIn(money, surroundings.settleMs),
    write: ([item]) => ({
      target: targetOf("createInvoice"),
      body: accepted(CreateInvoice, item?.document),
    }),
    find: (request) => reading(() => find(surroundings, request)),
    recognise,
    openIn: draftIn,
    unfinished: {
      fault: DRAFT,
      async still(ids) {
        const drafts = new Set<string>();
        const query = { role: "issuer", status: "DRAFT", pageSize: "100" };
        const listing = { list: "listInvoices", query, item: ListedInvoice, names: ids } as const;
        for await (const { id } of listAll(surroundings, listing)) drafts.add(id);
        return ids.map((id) => drafts.has(id));
      },
    },
  });
}

/** Which status a new invoice has is not specified (part 3): a draft is nothing that its payer sees. */
const DRAFT: Fault = {
  code: "draft-at-receiver",
  message: "the platform has it as a draft: its payer does not see it, and it counts for nothing",
  next: "Issue it on the platform; this clears by itself within the hour.",
};

const draftIn = (data: unknown): Fault | null =>
  (data as { status?: unknown } | undefined)?.status === "DRAFT" ? DRAFT : null;

function recognise({ body }: Outgoing, record: unknown): readonly string[] | null {
  const ours = CreateInvoice.parse(parseExact(body));
  const { success, data: invoice } = ListedInvoice.safeParse(record);
  const isOurs = success && invoice.invoiceNumber === ours.invoiceNumber && !differs(ours, invoice);
  // That of a draft is said by the read-back.
  return isOurs && draftIn(invoice) === null ? [invoice.id] : null;
}

/**
 * By invoice number, compared with what we froze. Numbers are not said to be unique, so the amounts, the payer and
 * the lines must agree too; the same number with others is for a person. So is one whose number is written otherwise and
 * is the same as people read it; and once ours was sent, one that agrees in all of that and has our number with other
 * signs: how a number is kept is not specified.
 */
async function find(surroundings: Surroundings, request: Outgoing): Promise<Finding> {
  const ours = CreateInvoice.parse(parseExact(request.body));
  const number = ours.invoiceNumber;
  const wasSent = request.firstSentAt !== null;
  const query = { role: "issuer", search: searchedFor(number), pageSize: "100" };
  // A page may repeat what slid down from the one before.
  const exact = new Set<string>();
  let open: Fault | null = null;
  let other: string | null = null;
  const listing = { list: "listInvoices", query, item: ListedInvoice, names: [number] } as const;
  for await (const invoice of listAll(surroundings, listing)) {
    const theirs = invoice.invoiceNumber;
    const difference = differs(ours, invoice);
    if (theirs !== number) {
      const isKept = difference === null && wasSent && bare(theirs) === bare(number);
      if (isKept || sameNumber(theirs, number))
        other = `${invoice.id}: number ${theirs} instead of ${number}`;
    } else if (difference === null) {
      exact.add(invoice.id);
      open = draftIn(invoice);
    } else other = `${invoice.id}: ${difference}`;
  }
  if (exact.size === 0 && other !== null)
    return { found: "different", detail: `invoice number ${number} is used by ${other}` };
  const finding = foundIn(exact, `invoice ${number}`);
  return finding.found === "exact" && open !== null ? { ...finding, unfinished: open } : finding;
}

/** The platform finds a part of a number, in any case: of one with blanks its longest piece, where that says enough. */
function searchedFor(number: string): string {
  const pieces = number.trim().split(/\s+/);
  const longest = pieces.toSorted((one, other) => other.length - one.length)[0] ?? number;
  return pieces.length === 1 || longest.length >= PIECE_LEAST ? longest : number.trim();
}
const PIECE_LEAST = 4;

/** A number without its case, white space and signs. */
const bare = (number: string): string => number.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

/** In what a platform invoice differs from the frozen one; null when in nothing that we can see. */
function differs(ours: CreateInvoice, theirs: ListedInvoice): string | null {
  for (const field of ["total", "subtotal", "tax"] as const) {
    const wanted = toDecimal(ours[field]);
    if (!wanted.equals(theirs[field]))
      return `${field} ${theirs[field].text} instead of ${wanted.text}`;
  }
  if ((ours.payerCompanyId ?? null) !== theirs.payerCompanyId) return "another payer";
  const lines = theirs.lineItems;
  if (lines === undefined) return null;
  if (lines.length !== ours.lineItems.length)
    return `${lines.length} lines instead of ${ours.lineItems.length}`;
  const amounts = ours.lineItems.flatMap(({ amount }) => amount ?? []).map(toDecimal);
  const sum = Decimal.sum(amounts);
  const theirSum = Decimal.sum(lines.map(({ amount }) => amount));
  // A line without an amount is computed by the platform, and how it rounds is not specified.
  return amounts.length < lines.length || sum.equals(theirSum)
    ? null
    : `lines of ${theirSum.text} instead of ${sum.text}`;
}
