/** Every request body that quickbooks-online can send: of the cases of mappings/books, and of random documents per kind. */
import { join } from "node:path";
import * as fc from "fast-check";
import {
  amendment,
  bodyOf,
  type DocumentKind,
  type Writing,
} from "../../connectors/quickbooks-online/documents.ts";
import { orderBody, orderChange } from "../../connectors/quickbooks-online/orders.ts";
import { partyBody } from "../../connectors/quickbooks-online/parties.ts";
import { paymentBody } from "../../connectors/quickbooks-online/payments.ts";
import { NAME_MOST, oneLine, partyName } from "../../connectors/quickbooks/text.ts";
import { InvoiceDocument, OrderDocument, PaymentDocument } from "../../src/ledger/documents.ts";
import { Refused } from "../../src/core/errors.ts";
import { stringifyExact } from "../../src/core/json.ts";
import { readCases } from "../../src/mapping/cases.ts";
import { anyInvoice, anyOrder, anyParty, anyPayment } from "./documents.ts";
import type { Emitted } from "./emitted.ts";

const CASES = join(import.meta.dirname, "../../mappings/books/cases");

/** What a company names otherwise: both ways of each setting. */
const settings = [
  { salesTax: "not-taxable", multicurrency: "refuse" },
  { salesTax: "off", multicurrency: "home" },
] as const;

const idOf = (name: string): string => String((name.length * 7919) % 9973);

const writingOf = (at: number): Writing => ({
  ...(settings[at % 2] ?? settings[0]),
  items: { charge: "Charge" },
  accounts: { expense: "5000", paymentsMade: "1010" },
  currency: "USD",
  party: "58",
  itemId: idOf,
  accountId: idOf,
});

export function* quickbooksOnlineBodies(seed: number, count: number): Generator<Emitted> {
  for (const [name, kind] of [
    ["customer-invoices", "invoice"],
    ["supplier-invoices", "bill"],
  ] as const) {
    for (const [at, one] of casesOf(name).entries())
      yield* documentFiles(kind, `case-${at + 1}`, at, InvoiceDocument.parse(one));
    for (const [at, one] of fc
      .sample(anyInvoice(kind === "invoice" ? "out" : "in"), { seed, numRuns: count })
      .entries())
      yield* documentFiles(kind, `random-${at + 1}`, at, one);
  }
  for (const [at, one] of casesOf("orders").entries())
    yield* orderFiles(`case-${at + 1}`, at, OrderDocument.parse(one));
  for (const type of ["sale", "purchase"] as const)
    for (const [at, one] of fc.sample(anyOrder(type), { seed, numRuns: count }).entries())
      yield* orderFiles(`random-${at + 1}`, at, one);
  for (const [name, type] of [
    ["payments-received", "out"],
    ["payments-made", "in"],
  ] as const) {
    for (const [at, one] of casesOf(name).entries())
      yield paymentFile(`case-${at + 1}`, at, PaymentDocument.parse(one));
    for (const [at, one] of fc.sample(anyPayment(type), { seed, numRuns: count }).entries())
      yield paymentFile(`random-${at + 1}`, at, one);
  }
  for (const entity of ["customer", "vendor"])
    for (const [at, one] of fc.sample(anyParty, { seed, numRuns: count }).entries())
      yield* written(`${entity}/random-${at + 1}`, () =>
        partyBody(one, partyName(one.code, NAME_MOST.online, oneLine)),
      );
}

const casesOf = (name: string): unknown[] =>
  readCases(join(CASES, `${name}.json`)).cases.flatMap(({ expected }) =>
    "document" in expected ? [expected.document] : [],
  );

function* documentFiles(
  kind: DocumentKind,
  name: string,
  at: number,
  document: InvoiceDocument,
): Generator<Emitted> {
  yield* written(`${kind}/${name}`, () => bodyOf(kind, writingOf(at), document));
  if (kind === "bill") return;
  const row = { Id: "145", SyncToken: String(at) };
  yield* written(`${kind}/${name}-amended`, () => amendment(row, document));
  yield* written(`${kind}/${name}-void`, () => row);
}

/** An order without lines is looked for and never written. */
function* orderFiles(name: string, at: number, order: OrderDocument): Generator<Emitted> {
  if (order.lines.length === 0) return;
  const writing = writingOf(at);
  const entity = order.type === "sale" ? "estimate" : "purchaseorder";
  yield* written(`${entity}/${name}`, () => orderBody(writing, order));
  if (order.type === "purchase") return;
  const row = { Id: "145", SyncToken: String(at) };
  for (const to of ["amended", "posted", "cancelled"] as const)
    yield* written(`${entity}/${name}-${to}`, () => orderChange(to, row, writing, order));
}

function paymentFile(name: string, at: number, payment: PaymentDocument): Emitted {
  const billPayments = at % 2 === 0 ? "check" : "credit-card";
  const account = payment.type === "out" && at % 2 === 0 ? null : "35";
  const body = paymentBody({ billPayments }, { party: "58", document: "145", account }, payment);
  const entity = payment.type === "out" ? "payment" : "billpayment";
  return fileOf(`${entity}/${name}`, body);
}

/** What these books refuse is no file. */
function* written(path: string, make: () => object): Generator<Emitted> {
  try {
    yield fileOf(path, make());
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
  }
}

const fileOf = (path: string, body: object): Emitted => ({
  path: `${path}.json`,
  bytes: Buffer.from(`${stringifyExact(body)}\n`),
});
