/** What a request wants of the books: its documents with the records that these books would keep of them. */
import { z } from "zod";
import type { Item } from "../core/contract.ts";
import { Refused } from "../core/errors.ts";
import type { HoldingKind } from "../core/holdings.ts";
import { parseExact, stringifyExact } from "../core/json.ts";
import type {
  LedgerAdapter,
  LedgerKind,
  Books,
  Call,
  Documents,
  GoodsKind,
  EntryStatus,
  Desired,
} from "./port.ts";
import {
  InvoiceDocument,
  OrderDocument,
  Party,
  PaymentDocument,
  ShipmentDocument,
} from "./documents.ts";
import type { PartyOf } from "./parties.ts";

/** A document as a request's body has it. */
export interface Carried {
  readonly document: Documents[LedgerKind];
  readonly counterpart: string | null;
  /** Until when it waits for its payments, ISO 8601 UTC; null: it is settled at once. */
  readonly until: string | null;
}

const schemas: { readonly [K in LedgerKind]: z.ZodType<Documents[K]> } = {
  invoice: InvoiceDocument,
  bill: InvoiceDocument,
  payment: PaymentDocument,
  party: Party,
  order: OrderDocument,
  shipment: ShipmentDocument,
};

/** @throws Refused when these books can never keep one of them */
export function bodyOf(books: Books, kind: LedgerKind, items: readonly Item[]): string {
  const carried = items.map(({ document, counterpart, settledSince }) => {
    const parsed = schemas[kind].parse(document);
    adapterOf(books, kind).accept?.(parsed);
    const isPaid = "status" in parsed && parsed.status === "paid";
    const waits = isPaid && settledSince !== undefined && books.settleAfterMs > 0;
    const until = waits
      ? new Date(Date.parse(settledSince) + books.settleAfterMs).toISOString()
      : null;
    return frozenAs(kind, { document: parsed, counterpart, until });
  });
  return stringifyExact(carried);
}

/** Goods wait for no payments; a ticket is found again by its number. Bytes of a kind never change. */
function frozenAs(kind: LedgerKind, { until, ...carried }: Carried): object {
  if (kind === "shipment") return carried.document;
  return kind === "order" ? carried : { ...carried, until };
}

/** Of this version and of older ones: a payment was frozen alone, an invoice without `until`. */
export function carriedIn(kind: LedgerKind, body: string): Carried[] {
  const frozen = parseExact(body);
  const schema = z.array(
    z.object({
      document: schemas[kind],
      counterpart: z.string().nullable(),
      until: z.string().nullable().default(null),
    }),
  );
  const all = (Array.isArray(frozen) ? frozen : [frozen]) as readonly object[];
  return schema.parse(
    all.map((one) => ("document" in one ? one : { document: one, counterpart: null })),
  );
}

/** @param parties theirs, in the order of the documents @throws LedgerError */
export async function desiredOf(
  adapter: Pick<LedgerAdapter, "expected">,
  carried: readonly Carried[],
  parties: readonly PartyOf[],
  call: Call,
): Promise<Desired[]> {
  const records = await adapter.expected(
    carried.map(({ document }) => document),
    call,
  );
  return carried.map(({ document, counterpart, until }, at) => {
    const { code: party, entry: payer, refusal: unknown } = parties[at] ?? NO_PARTY;
    const record = records[at] ?? {};
    const facts = record instanceof Refused ? {} : record;
    const refusal = record instanceof Refused ? record.fault : unknown;
    return {
      document,
      expected: party === null || record instanceof Refused ? facts : { ...facts, party },
      ...(refusal === undefined ? {} : { refusal }),
      mark: "companyId" in document ? document.companyId : document.id,
      number: "companyId" in document ? document.code : document.number,
      party,
      payer,
      target: "status" in document ? TARGETS[document.status] : "posted",
      disputed: "status" in document && document.status === "disputed",
      binding: counterpart,
      until,
    };
  });
}

const NO_PARTY: PartyOf = { code: null, entry: null };

type Status = (InvoiceDocument | OrderDocument | ShipmentDocument)["status"];

const TARGETS: Readonly<Record<Status, EntryStatus>> = {
  open: "posted",
  disputed: "posted",
  paid: "settled",
  void: "cancelled",
  draft: "draft",
  confirmed: "posted",
  waiting: "draft",
  done: "posted",
  cancelled: "cancelled",
  "taken-back": "cancelled",
};

/** Of the comparison: a payment's kind is that of its direction. */
export const holdingKindOf = (
  kind: Exclude<LedgerKind, GoodsKind>,
  document: Documents[LedgerKind],
): HoldingKind =>
  kind === "payment" && "type" in document && document.type === "in" ? "bill-payment" : kind;

export function adapterOf(books: Books, kind: LedgerKind): LedgerAdapter {
  const adapter = books.adapters[kind];
  if (adapter === undefined) throw new Error(`${books.name} has no adapter for ${kind}`);
  return adapter as LedgerAdapter;
}
